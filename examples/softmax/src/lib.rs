//! The softmax of each row of a matrix, and the transpose of a matrix, as kernels for AMD GPUs.
//!
//! `cargo gpu-amdgpu build` compiles `kernels` for the GPU. Everything else is compiled for the host as usual.
#![cfg_attr(target_arch = "amdgpu", no_std)]
#![cfg_attr(
    target_arch = "amdgpu",
    feature(
        abi_gpu_kernel,
        asm_experimental_arch,
        core_intrinsics,
        gpu_intrinsics,
        gpu_launch_sized_workgroup_mem,
        stdarch_amdgpu
    ),
    expect(
        internal_features,
        reason = "core has no other name for powers of two and for LDS"
    )
)]

#[cfg(target_arch = "amdgpu")]
mod kernels;

#[cfg(not(target_arch = "amdgpu"))]
mod host;

#[cfg(not(target_arch = "amdgpu"))]
pub use host::{Matrix, code_object, softmax, transpose};
