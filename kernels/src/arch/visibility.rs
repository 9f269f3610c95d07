//! What a workgroup writes to global memory, visible to other workgroups of the GPU.
//!
//! Rust's fences are for the whole system. These are LLVM's sequences for its scope «agent», one GPU (LLVM's
//! `AMDGPUUsage`, «Memory Model GFX6-GFX9», «GFX90A», «GFX942», which is also gfx950's, «GFX10-GFX11» and «GFX12»;
//! `SIMemoryLegalizer.cpp`):
//!
//! | | gfx908, gfx90a | gfx942, gfx950 | RDNA 3 and 3.5 | RDNA 4 |
//! |---|---|---|---|---|
//! | caches | an L1 for each compute unit, which writes through; one L2 | the same, but an L2 for each XCD | an L0 for each compute unit, an L1 for several, both write through; one L2 | an L0 for each workgroup processor, which writes through; one L2 |
//! | release | wait for stores | the same, then `buffer_wbl2 sc1`: the L2 writes back what other XCDs may read | wait for stores, which have a counter of their own | the same |
//! | atomic | `glc`: returns the old value | `sc0`: returns the old value (`sc1` would be system scope) | `glc`: returns the old value | `th:TH_ATOMIC_RETURN scope:SCOPE_DEV` |
//! | acquire | `buffer_wbinvl1_vol`: invalidates L1 | `buffer_inv sc1`: invalidates L1, and in L2 what may be old | `buffer_gl1_inv`, `buffer_gl0_inv`: invalidate L1 and L0 | `global_inv scope:SCOPE_DEV`: invalidates L0 |
//!
//! A write-back by one wave covers the stores of all waves of its workgroup if these have waited for them: they share
//! an L2. An invalidation is only ordered before later loads of the wave that issues it, so each wave has its own.

use core::arch::asm;

/// Waits until the wave's stores have reached L2, as each wave must before the barrier that precedes
/// [`release_and_count`].
#[inline(always)]
pub(crate) fn wait_for_stores() {
    // SAFETY: waiting for counters has no other effect. The compiler moves no access across, as it takes the assembly
    // for an access to all of memory.
    unsafe {
        asm!(
            #[cfg(ferrowave_family = "cdna")]
            "s_waitcnt vmcnt(0)",
            #[cfg(ferrowave_family = "rdna3")]
            "s_waitcnt_vscnt null, 0x0",
            #[cfg(ferrowave_family = "rdna4")]
            "s_wait_storecnt 0x0",
            options(nostack),
        );
    }
}

/// Makes what the workgroup has stored visible to all workgroups that [`acquire`] after they have counted, adds 1 to
/// `counter` and returns its old value.
///
/// # Safety
/// One thread of the workgroup calls this, after a barrier before which all waves have [waited](wait_for_stores).
/// `counter` is accessed by atomic operations only.
#[inline(always)]
pub(crate) unsafe fn release_and_count(counter: *mut u32) -> u32 {
    let old;
    // SAFETY: as the caller promises. The compiler moves no access across, as above.
    unsafe {
        asm!(
            #[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
            "buffer_wbl2 sc1",
            #[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
            "s_waitcnt vmcnt(0)",
            #[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
            "global_atomic_add {old}, {counter}, {one}, off sc0",
            #[cfg(ferrowave_family = "rdna4")]
            "global_atomic_add_u32 {old}, {counter}, {one}, off th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
            // LLVM's assembler takes the name `global_atomic_add_u32` of RDNA 3 by this name, too.
            #[cfg(not(any(
                ferrowave_gpu = "gfx942",
                ferrowave_gpu = "gfx950",
                ferrowave_family = "rdna4"
            )))]
            "global_atomic_add {old}, {counter}, {one}, off glc",
            #[cfg(not(ferrowave_family = "rdna4"))]
            "s_waitcnt vmcnt(0)",
            #[cfg(ferrowave_family = "rdna4")]
            "s_wait_loadcnt 0x0",
            old = out(vgpr32) old,
            counter = in(vgpr64) counter,
            one = in(vgpr32) 1_u32,
            options(nostack),
        );
    }
    old
}

/// Makes visible to the wave what was released before the counts that its workgroup has seen.
#[inline(always)]
pub(crate) fn acquire() {
    // SAFETY: it changes no memory. The compiler moves no access across, as above.
    unsafe {
        asm!(
            #[cfg(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx90a"))]
            "buffer_wbinvl1_vol",
            #[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
            "buffer_inv sc1",
            #[cfg(ferrowave_family = "rdna3")]
            "buffer_gl1_inv",
            #[cfg(ferrowave_family = "rdna3")]
            "buffer_gl0_inv",
            #[cfg(ferrowave_family = "rdna4")]
            "global_inv scope:SCOPE_DEV",
            options(nostack),
        );
    }
}

/// Raises `place` to `value` if it is less.
///
/// # Safety
/// `place` is accessed by atomic operations only.
#[inline(always)]
pub(crate) unsafe fn raise(place: *mut u32, value: u32) {
    // SAFETY: as the caller promises.
    unsafe {
        asm!(
            // LLVM's assembler takes the name `global_atomic_max_u32` of RDNA 3 by this name, too.
            #[cfg(not(ferrowave_family = "rdna4"))]
            "global_atomic_umax {place}, {value}, off",
            #[cfg(ferrowave_family = "rdna4")]
            "global_atomic_max_u32 {place}, {value}, off scope:SCOPE_DEV",
            place = in(vgpr64) place,
            value = in(vgpr32) value,
            options(nostack),
        );
    }
}
