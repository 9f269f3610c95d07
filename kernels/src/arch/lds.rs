//! LDS and the barrier that orders accesses to it.

use crate::tile::lds::Barrier;
use core::{
    arch::amdgpu::{self, s_barrier},
    intrinsics::gpu::gpu_launch_sized_workgroup_mem,
    sync::atomic::{Ordering, compiler_fence},
};

unsafe extern "llvm-intrinsic" {
    #[link_name = "llvm.amdgcn.s.waitcnt"]
    fn llvm_s_waitcnt(counters: i32);

    #[link_name = "llvm.amdgcn.s.setprio"]
    fn llvm_s_setprio(priority: i16);
}

/// `s_waitcnt lgkmcnt(0)` on gfx9: the other counters at their maxima, which waits for none.
const LGKMCNT_0: i32 = 0xc07f;

/// The same for `vmcnt(0)`.
#[cfg(ferrowave_gpu = "gfx950")]
const VMCNT_0: i32 = 0x0f70;

/// Lets every wave of the workgroup arrive before any goes on. Does not wait for accesses to LDS.
///
/// Fences of the compiler alone: those that Rust has for the hardware are system-wide and would write back
/// and invalidate caches, for global memory, which is not what waits here.
#[inline(always)]
pub(crate) fn barrier() {
    compiler_fence(Ordering::Release);
    s_barrier();
    compiler_fence(Ordering::Acquire);
}

/// Waits for the wave's accesses to LDS: what it read is in registers, what it wrote is there for all. Fences as in
/// [`barrier`].
#[inline(always)]
pub(crate) fn wait_for_lds() {
    compiler_fence(Ordering::Release);
    // SAFETY: waiting for counters has no other effect.
    unsafe { llvm_s_waitcnt(LGKMCNT_0) };
    compiler_fence(Ordering::Acquire);
}

/// Keeps the compiler from moving any instruction across.
#[inline(always)]
pub(crate) fn sched_barrier() {
    // SAFETY: it is no instruction.
    unsafe { amdgpu::sched_barrier::<0>() };
}

/// Asks the compiler to place `reads` accesses to LDS evenly among the `multiplications` of the matrix cores
/// before this point, up to the last such wish or order that is to be kept. Constants, once this is inlined.
#[inline(always)]
pub(crate) fn interleave(multiplications: usize, reads: usize) {
    let each = multiplications / reads;
    for _ in 0..reads {
        // SAFETY: these are no instructions.
        unsafe {
            amdgpu::sched_group_barrier::<LDS_READS, 1, 0>();
            for _ in 0..each {
                amdgpu::sched_group_barrier::<MATRIX, 1, 0>();
            }
        }
    }
}

/// Kinds of instructions, as `sched_group_barrier` takes them.
const MATRIX: u32 = 1 << 3;
const LDS_READS: u32 = 1 << 8;

/// Keeps the compiler from moving instructions of the matrix cores across, and those alone.
#[inline(always)]
pub(crate) fn sched_barrier_mfma() {
    const VECTOR: u32 = 1 << 1;
    const SCALAR: u32 = 1 << 2;
    const GLOBAL: u32 = 1 << 4;
    const LDS: u32 = 1 << 7;
    // SAFETY: it is no instruction.
    unsafe { amdgpu::sched_barrier::<{ VECTOR | SCALAR | GLOBAL | LDS }>() };
}

/// Sets the priority of the wave on its SIMD, from 0 to 3: a constant, once this is inlined.
#[inline(always)]
pub(crate) fn set_priority<const PRIORITY: i16>() {
    // SAFETY: priorities change no result.
    unsafe { llvm_s_setprio(PRIORITY) };
}

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

/// `global_load_lds_dwordx4`: loads 16 bytes a lane from the lane's address to LDS, those of lane l to `to`,
/// which is the same in all lanes, plus 16 l.
///
/// # Safety
/// The bytes are readable and the LDS is the wave's to write, until a
/// [wait](wait_for_loads_until) has passed: the compiler does not know of either.
#[cfg(ferrowave_gpu = "gfx950")]
#[inline(always)]
pub(crate) unsafe fn load_unit_to_lds(from: *const u8, to: *mut crate::tile::operand::Unit) {
    // An LDS address is the lower half of the flat address that Rust has for it.
    let to = amdgpu::readfirstlane_u32(to as usize as u32);
    compiler_fence(Ordering::Release);
    // It overwrites m0, which Rust has no name for and the compiler so does not know of. LLVM keeps nothing in
    // m0: it reserves the register and sets it right before an instruction that reads it, of which the kernels
    // have none but this one; tests/well_compiled.rs looks.
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "s_mov_b32 m0, {to}",
            "s_nop 0",
            "global_load_lds_dwordx4 {from}, off",
            to = in(sgpr32) to,
            from = in(vgpr64) from,
            options(nostack),
        );
    }
    compiler_fence(Ordering::Acquire);
}

/// Waits until at most `left` of the wave's loads from global memory are not done; a counter of six bits.
#[cfg(ferrowave_gpu = "gfx950")]
#[inline(always)]
pub(crate) fn wait_for_loads_until(left: usize) {
    /// The operand is a constant, and so is `left` once this is inlined.
    macro_rules! wait {
        ($($count:literal)*) => {
            match left {
                // SAFETY: waiting for counters has no other effect.
                $($count => unsafe { llvm_s_waitcnt(VMCNT_0 | $count) },)*
                // All of them is never too few. Of the six bits, the upper two are bits 14 and 15.
                // SAFETY: as above.
                _ => unsafe { llvm_s_waitcnt(VMCNT_0) },
            }
        };
    }
    compiler_fence(Ordering::Release);
    wait!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    compiler_fence(Ordering::Acquire);
}
