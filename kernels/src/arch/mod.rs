//! The only module with intrinsics and assembly.

mod ids;
mod lds;
pub(crate) mod mfma;
mod panic;
mod registers;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod visibility;

#[cfg(not(any(
    ferrowave_gpu = "gfx908",
    ferrowave_gpu = "gfx90a",
    ferrowave_gpu = "gfx942",
    ferrowave_gpu = "gfx950"
)))]
compile_error!("the catalogue has no kernels for this GPU");

/// Banks of LDS, of 4 bytes each.
#[cfg(not(ferrowave_gpu = "gfx908"))]
pub(crate) const LDS_BANKS: usize = if cfg!(ferrowave_gpu = "gfx950") {
    64
} else {
    32
};

pub(crate) use ids::{readfirstlane, thread, thread_2d, thread_and_wave, workgroup};
pub(crate) use lds::{
    Workgroup, barrier, interleave, launch_lds, sched_barrier, sched_barrier_mfma, set_priority,
    wait_for_lds,
};
#[cfg(ferrowave_gpu = "gfx950")]
pub(crate) use lds::{load_unit_to_lds, wait_for_loads_until};
pub(crate) use registers::opaque_zero;
#[cfg(not(ferrowave_gpu = "gfx908"))]
pub(crate) use visibility::{acquire, release_and_count, wait_for_stores};
