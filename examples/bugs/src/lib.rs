//! Three kernels with a mistake, each beside the same kernel without it: `docs/bugs.md` finds the mistakes.
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
    expect(internal_features, reason = "core has no other name for LDS")
)]

#[cfg(target_arch = "amdgpu")]
mod kernels;
