//! LDS, barriers, waits, and hints for the compiler's instruction scheduler.

use super::IS_RDNA;
use crate::tile::lds::Barrier;
use core::{
    arch::amdgpu::{self, s_barrier},
    intrinsics::gpu::gpu_launch_sized_workgroup_mem,
    mem::transmute_copy,
    simd::{u32x2, u32x4, u32x8},
    sync::atomic::{Ordering, compiler_fence},
};

unsafe extern "llvm-intrinsic" {
    #[cfg(not(ferrowave_family = "rdna4"))]
    #[link_name = "llvm.amdgcn.s.waitcnt"]
    fn llvm_s_waitcnt(counters: i32);

    #[cfg(ferrowave_family = "rdna4")]
    #[link_name = "llvm.amdgcn.s.wait.dscnt"]
    fn llvm_s_wait_dscnt(left: i16);

    #[link_name = "llvm.amdgcn.s.setprio"]
    fn llvm_s_setprio(priority: i16);
}

/// `s_waitcnt lgkmcnt(0)`: the other counters are at their maxima, which waits for nothing.
#[cfg(not(ferrowave_family = "rdna4"))]
const LGKMCNT_0: i32 = if IS_RDNA { 0xfc07 } else { 0xc07f };

/// The same for `vmcnt(0)`.
#[cfg(ferrowave_gpu = "gfx950")]
const VMCNT_0: i32 = 0x0f70;

/// Waits until the counter of LDS is 0: `s_waitcnt lgkmcnt(0)`, which also waits for scalar memory, or on RDNA 4
/// `s_wait_dscnt 0`.
#[inline(always)]
fn wait_for_counter() {
    // SAFETY: waiting for counters has no other effect.
    unsafe {
        #[cfg(not(ferrowave_family = "rdna4"))]
        llvm_s_waitcnt(LGKMCNT_0);
        #[cfg(ferrowave_family = "rdna4")]
        llvm_s_wait_dscnt(0);
    }
}

/// `s_barrier` (RDNA 4: `s_barrier_signal` and `s_barrier_wait`): waits until every wave of the workgroup has arrived, but
/// not for accesses to LDS.
///
/// The fences are for the compiler only: Rust's hardware fences are system-wide, and would write back and invalidate
/// caches for global memory, which need not be ordered here.
#[inline(always)]
pub(crate) fn barrier() {
    compiler_fence(Ordering::Release);
    s_barrier();
    compiler_fence(Ordering::Acquire);
}

/// Waits for the wave's accesses to LDS: what it read is in registers, what it wrote is visible to all. Fences as in
/// [`barrier`].
#[inline(always)]
pub(crate) fn wait_for_lds() {
    compiler_fence(Ordering::Release);
    wait_for_counter();
    compiler_fence(Ordering::Acquire);
}

/// Keeps the compiler from moving any instruction across.
#[inline(always)]
pub(crate) fn sched_barrier() {
    // SAFETY: it emits no instruction.
    unsafe { amdgpu::sched_barrier::<0>() };
}

/// Asks the compiler to distribute `reads` LDS reads evenly among the `multiplications` matrix instructions between
/// the last scheduling barrier and this point. Both are constants once this is inlined.
#[inline(always)]
pub(crate) fn interleave(multiplications: usize, reads: usize) {
    let each = multiplications / reads;
    for _ in 0..reads {
        // SAFETY: these emit no instructions.
        unsafe {
            amdgpu::sched_group_barrier::<LDS_READS, 1, 0>();
            for _ in 0..each {
                amdgpu::sched_group_barrier::<MATRIX, 1, 0>();
            }
        }
    }
}

/// Asks the compiler to distribute loads from global memory, and the writes to LDS of what was loaded before, among the matrix
/// instructions between the last scheduling barrier and this point: a load, a write and `BETWEEN` vector instructions behind
/// each. About 7 instructions are issued during a product of 16 × 16 sums.
#[inline(always)]
pub(crate) fn interleave_store<const BETWEEN: u32>(multiplications: usize) {
    for _ in 0..multiplications {
        // SAFETY: these emit no instructions.
        unsafe {
            amdgpu::sched_group_barrier::<MATRIX, 1, 0>();
            amdgpu::sched_group_barrier::<VECTOR, BETWEEN, 0>();
            amdgpu::sched_group_barrier::<LDS_WRITES, 1, 0>();
            amdgpu::sched_group_barrier::<GLOBAL_READS, 1, 0>();
        }
    }
}

/// Kinds of instructions in the mask of `sched_group_barrier`.
const VECTOR: u32 = 1 << 1;
const MATRIX: u32 = 1 << 3;
const GLOBAL_READS: u32 = 1 << 5;
const LDS_WRITES: u32 = 1 << 9;
const LDS_READS: u32 = 1 << 8;

/// Keeps the compiler from moving matrix instructions across; all others may cross.
#[inline(always)]
pub(crate) fn sched_barrier_matrix() {
    const VECTOR: u32 = 1 << 1;
    const SCALAR: u32 = 1 << 2;
    const GLOBAL: u32 = 1 << 4;
    const LDS: u32 = 1 << 7;
    // SAFETY: it emits no instruction.
    unsafe { amdgpu::sched_barrier::<{ VECTOR | SCALAR | GLOBAL | LDS }>() };
}

/// Sets the priority of the wave on its SIMD, from 0 to 3.
#[inline(always)]
pub(crate) fn set_priority<const PRIORITY: i16>() {
    // SAFETY: priorities change no result.
    unsafe { llvm_s_setprio(PRIORITY) };
}

/// The LDS whose size the host sets at launch, aligned for `T`. Every call returns the same address.
#[inline(always)]
pub(crate) fn launch_lds<T>() -> *mut T {
    gpu_launch_sized_workgroup_mem::<T>()
}

/// The calling thread's workgroup, as a [`Barrier`].
#[derive(Clone, Copy)]
pub(crate) struct Workgroup;

// SAFETY: `s_barrier` lets no wave pass before all have arrived, and a wave arrives only after its
// LDS writes are done, since their counter has counted down to 0. The fences keep the compiler from
// moving accesses across.
unsafe impl Barrier for Workgroup {
    /// Compiler fences only, as in [`barrier`].
    #[inline(always)]
    fn wait(self) {
        compiler_fence(Ordering::Release);
        wait_for_counter();
        s_barrier();
        compiler_fence(Ordering::Acquire);
    }
}

/// `global_load_lds_dwordx4`: each lane loads 16 bytes from its address `from` to LDS at `to` + 16 · lane, where `to`
/// is uniform.
///
/// # Safety
/// The bytes are readable, and only this wave accesses the LDS, until a [wait](wait_for_loads_until) for the load has
/// passed. The compiler knows of neither access.
#[cfg(ferrowave_gpu = "gfx950")]
#[inline(always)]
pub(crate) unsafe fn load_unit_to_lds(from: *const u8, to: *mut crate::tile::operand::Unit) {
    // The LDS address is the lower half of the flat address.
    let to = amdgpu::readfirstlane_u32(to as usize as u32);
    compiler_fence(Ordering::Release);
    // This overwrites m0, which Rust's inline assembly cannot name as a clobber. LLVM keeps no value in m0: it
    // reserves the register and sets it right before an instruction that reads it. The kernels have no other such
    // instruction, which tests/well_compiled.rs checks.
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

/// `ds_read_b64_tr_b8`, or for elements of 2 bytes `ds_read_b64_tr_b16`: each lane reads 8 bytes, 16 lanes together some rows of 16
/// elements, one after the other, and each of them gets a column.
///
/// # Safety
/// `SIZE` is 1 or 2, the bytes are in LDS, and all lanes of the wave are active. The compiler does not know when the result is
/// there: the caller [waits](wait_for_lds), and then only uses what [`settled`] returns. The GPU is gfx950.
#[inline(always)]
pub(crate) unsafe fn read_transposed<const SIZE: usize>(from: *const u8) -> u32x2 {
    // The LDS address is the lower half of the flat address.
    let from = from as usize as u32;
    let column;
    // SAFETY: as the caller promises.
    unsafe {
        if SIZE == 1 {
            core::arch::asm!(
                "ds_read_b64_tr_b8 {column}, {from}",
                column = out(vgpr64) column,
                from = in(vgpr32) from,
                options(nostack, readonly),
            );
        } else {
            core::arch::asm!(
                "ds_read_b64_tr_b16 {column}, {from}",
                column = out(vgpr64) column,
                from = in(vgpr32) from,
                options(nostack, readonly),
            );
        }
    }
    column
}

/// The same value as if it had been computed here, if it is of one or two units.
#[inline(always)]
pub(crate) fn settled<T: Copy>(value: T) -> T {
    /// An empty string of instructions that may change the value in a register.
    macro_rules! settled {
        ($bits:ty, $class:ident) => {{
            // SAFETY: both have the same size, and nothing changes.
            unsafe {
                let mut bits: $bits = transmute_copy(&value);
                core::arch::asm!("/* {0} */", inout($class) bits, options(nomem, nostack, preserves_flags));
                transmute_copy(&bits)
            }
        }};
    }
    match size_of::<T>() {
        16 => settled!(u32x4, vgpr128),
        32 => settled!(u32x8, vgpr256),
        _ => value,
    }
}

/// Waits until at most `left` of the wave's loads from global memory are outstanding (`vmcnt`, six bits).
#[cfg(ferrowave_gpu = "gfx950")]
#[inline(always)]
pub(crate) fn wait_for_loads_until(left: usize) {
    /// The operand is a constant, and so is `left` once this is inlined.
    macro_rules! wait {
        ($($count:literal)*) => {
            match left {
                // SAFETY: waiting for counters has no other effect.
                $($count => unsafe { llvm_s_waitcnt(VMCNT_0 | $count) },)*
                // Waiting for all loads is always correct. (The upper two of the counter's six bits are 14 and 15.)
                // SAFETY: as above.
                _ => unsafe { llvm_s_waitcnt(VMCNT_0) },
            }
        };
    }
    compiler_fence(Ordering::Release);
    wait!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    compiler_fence(Ordering::Acquire);
}
