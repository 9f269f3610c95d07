//! The matrix multiplication kernels, one idea a file.
//!
//! | room | what is in it |
//! |---|---|
//! | `steps` | the kernels, in the order in which to read them |
//! | [`tile`] | where elements are: in global memory, in LDS, in registers; knows no GPU |
//! | [`mfma`] | matrix instructions by element type, and which lane holds which element; the maps know no GPU |
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
        asm_experimental_arch,
        gpu_intrinsics,
        gpu_launch_sized_workgroup_mem,
        link_llvm_intrinsics,
        simd_ffi,
        stdarch_amdgpu
    )
)]
#![cfg_attr(
    all(target_arch = "amdgpu", not(ferrowave_gpu = "gfx908")),
    feature(repr_simd)
)]
#![cfg_attr(
    ferrowave_gpu = "gfx908",
    expect(
        dead_code,
        unused_imports,
        reason = "the steps from 11 on, and what only they use, begin with gfx90a"
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
/// Step 12's layout, which knows no GPU: its proof runs on the host.
#[cfg(test)]
#[path = "steps/s12_mfma_swizzled.rs"]
mod s12_mfma_swizzled;
#[cfg(target_arch = "amdgpu")]
mod steps;

#[cfg(target_arch = "amdgpu")]
pub(crate) use arch::opaque_zero;

/// On the host a plain zero does: there is nothing to keep out of registers.
#[cfg(not(target_arch = "amdgpu"))]
fn opaque_zero() -> u32 {
    0
}
