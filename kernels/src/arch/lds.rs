//! LDS and the barrier that orders accesses to it.

use crate::tile::lds::Barrier;
use core::{
    arch::amdgpu::s_barrier,
    intrinsics::gpu::gpu_launch_sized_workgroup_mem,
    sync::atomic::{Ordering, compiler_fence},
};

unsafe extern "llvm-intrinsic" {
    #[link_name = "llvm.amdgcn.s.waitcnt"]
    fn llvm_s_waitcnt(counters: i32);
}

/// `s_waitcnt lgkmcnt(0)` on gfx9: the other counters at their maxima, which waits for none.
const LGKMCNT_0: i32 = 0xc07f;

/// The LDS that the host sized at launch, aligned for `T`. The same address on every call.
#[inline(always)]
pub(crate) fn launch_lds<T>() -> *mut T {
    gpu_launch_sized_workgroup_mem::<T>()
}

/// The calling thread's workgroup, to wait for.
#[derive(Clone, Copy)]
pub(crate) struct Workgroup;

// SAFETY: `s_barrier` lets no wave pass before all have arrived, and none arrives before its own
// LDS writes are done, since `lgkmcnt` has counted down to 0. The fences keep the compiler from
// moving accesses across.
unsafe impl Barrier for Workgroup {
    /// Fences of the compiler alone: those that Rust has for the hardware are system-wide and would
    /// write back and invalidate caches, for global memory, which is not what waits here.
    #[inline(always)]
    fn wait(self) {
        compiler_fence(Ordering::Release);
        // SAFETY: waiting for counters has no other effect.
        unsafe { llvm_s_waitcnt(LGKMCNT_0) };
        s_barrier();
        compiler_fence(Ordering::Acquire);
    }
}
