//! The matrix multiplication kernels, one idea per file.
//!
//! | module | contents |
//! |---|---|
//! | `steps` | the kernels, in the order of the ladder (`docs/ladder.md`) |
//! | [`tile`] | tiles in global memory, in LDS and in registers; independent of the GPU |
//! | [`matrix`] | matrix instructions by element type, and the maps of lanes to elements (independent of the GPU) |
//! | `arch` | the only module with intrinsics and assembly |
//!
//! What is independent of the GPU also compiles on the host and is tested there. The kernels compile for GPUs only
//! and run on a GPU or in the emulator.
#![no_std]
#![feature(core_float_math, core_intrinsics, f16, portable_simd)]
#![cfg_attr(
    target_arch = "amdgpu",
    feature(
        abi_gpu_kernel,
        asm_experimental_arch,
        gpu_intrinsics,
        gpu_launch_sized_workgroup_mem,
        link_llvm_intrinsics,
        repr_simd,
        simd_ffi,
        stdarch_amdgpu
    )
)]
#![cfg_attr(
    all(
        target_arch = "amdgpu",
        not(any(
            ferrowave_gpu = "gfx908",
            ferrowave_gpu = "gfx90a",
            ferrowave_gpu = "gfx942",
            ferrowave_gpu = "gfx950"
        ))
    ),
    expect(dead_code, unused_imports, reason = "RDNA does not have all steps")
)]
#![cfg_attr(
    any(ferrowave_part = "0", ferrowave_part = "1"),
    allow(dead_code, unused_imports, reason = "a part does not have all kernels")
)]
#![expect(
    internal_features,
    reason = "fused multiply-adds of vectors, launch-sized LDS and LLVM's own intrinsics have no \
              other names; the toolchain is pinned"
)]

pub mod matrix;
pub mod tile;

#[cfg(target_arch = "amdgpu")]
mod arch;
/// Step 12's layout is independent of the GPU; the tests that prove it run on the host.
#[cfg(test)]
#[path = "steps/s12_mfma_swizzled.rs"]
mod s12_mfma_swizzled;
#[cfg(target_arch = "amdgpu")]
mod steps;

#[cfg(target_arch = "amdgpu")]
pub(crate) use arch::{opaque, opaque_zero};

/// Where this crate's sources are. The build of `ferrowave` compiles them for GPUs.
pub const DIRECTORY: &str = env!("CARGO_MANIFEST_DIR");

/// On the host a plain zero will do: there is no register pressure to avoid.
#[cfg(not(target_arch = "amdgpu"))]
fn opaque_zero() -> u32 {
    0
}

/// On the host the compiler may know the value.
#[cfg(not(target_arch = "amdgpu"))]
const fn opaque(value: u32) -> u32 {
    value
}
