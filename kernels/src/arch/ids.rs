//! The calling thread's IDs: its workgroup, and its number and wave in the workgroup; and values that all lanes of a wave share.

use crate::tile::index::{Index, Thread};
use core::arch::amdgpu;
use ferrowave_shared::BlockShape;

/// The position of a workgroup in its grid.
#[derive(Clone, Copy)]
pub(crate) struct WorkgroupId {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u32,
}

/// The calling thread's workgroup.
#[inline(always)]
pub(crate) fn workgroup() -> WorkgroupId {
    WorkgroupId {
        x: amdgpu::workgroup_id_x(),
        y: amdgpu::workgroup_id_y(),
        z: amdgpu::workgroup_id_z(),
    }
}

/// The calling thread's x and y in its workgroup.
///
/// # Safety
/// The kernel was launched with workgroups of `X` × `Y` × 1 threads.
#[inline(always)]
pub(crate) unsafe fn thread_2d<const X: usize, const Y: usize>() -> (Index<X>, Index<Y>) {
    // SAFETY: the hardware counts from 0 to the workgroup's extents, which the caller promises.
    unsafe {
        (
            Index::new_unchecked(amdgpu::workitem_id_x()),
            Index::new_unchecked(amdgpu::workitem_id_y()),
        )
    }
}

/// The calling thread's number in its workgroup.
///
/// # Safety
/// The kernel was launched with workgroups of `THREADS` × 1 × 1 threads.
#[inline(always)]
pub(crate) unsafe fn thread<const THREADS: usize>() -> Thread<THREADS> {
    // SAFETY: the hardware counts from 0 to the workgroup's extent, which the caller promises, and
    // each thread has a different number since the workgroup extends along x only.
    unsafe { Thread::new(Index::new_unchecked(amdgpu::workitem_id_x())) }
}

/// The calling thread's number in its workgroup, where x varies fastest, and the number of its wave of `lanes`, which
/// the compiler knows to be uniform.
///
/// # Safety
/// The kernel was launched with workgroups of `block.x` × `block.y` × 1 threads.
#[inline(always)]
pub(crate) unsafe fn thread_and_wave(block: BlockShape, lanes: usize) -> (u32, u32) {
    let thread = if block.y == 1 {
        amdgpu::workitem_id_x()
    } else {
        amdgpu::workitem_id_y() * block.x as u32 + amdgpu::workitem_id_x()
    };
    // SAFETY: the hardware counts from 0 to the workgroup's extents, which the caller promises.
    unsafe { core::hint::assert_unchecked((thread as usize) < block.threads()) };
    (thread, amdgpu::readfirstlane_u32(thread) / lanes as u32)
}

/// The first active lane's value. Tells the compiler that a value is uniform where it cannot prove it.
#[inline(always)]
pub(crate) fn readfirstlane(value: u32) -> u32 {
    amdgpu::readfirstlane_u32(value)
}

unsafe extern "llvm-intrinsic" {
    #[link_name = "llvm.amdgcn.wave.reduce.umax.i32"]
    fn wave_reduce_umax(value: u32, strategy: u32) -> u32;
}

/// The largest value of the wave's active lanes.
#[inline(always)]
pub(crate) fn largest_in_wave(value: u32) -> u32 {
    // SAFETY: the intrinsic is defined for all values; 0 is the default strategy.
    unsafe { wave_reduce_umax(value, 0) }
}
