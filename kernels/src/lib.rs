//! The matrix multiplication kernels, one idea a file.
//!
//! | room | what is in it |
//! |---|---|
//! | `steps` | the kernels, in the order in which to read them |
//! | [`tile`] | where elements are: in global memory, in LDS, in registers; knows no GPU |
//! | [`mfma`] | which lane holds which element of a matrix-core operand; knows no GPU either |
//! | `arch` | the only place with intrinsics and assembly |
//!
//! What knows no GPU compiles on the host too and is tested there. The kernels do not: they run as
//! machine code, on a GPU or in the emulator, or not at all.
#![no_std]
#![feature(core_float_math, core_intrinsics, f16, portable_simd)]
#![cfg_attr(
    target_arch = "amdgpu",
    feature(
        abi_gpu_kernel,
        gpu_intrinsics,
        gpu_launch_sized_workgroup_mem,
        link_llvm_intrinsics,
        simd_ffi,
        stdarch_amdgpu
    )
)]
#![expect(
    internal_features,
    reason = "fused multiply-adds of vectors, launch-sized LDS and LLVM's own intrinsics have no \
              other names; the toolchain is pinned"
)]

pub mod mfma;
pub mod tile;

#[cfg(target_arch = "amdgpu")]
mod arch;
#[cfg(target_arch = "amdgpu")]
mod steps;
