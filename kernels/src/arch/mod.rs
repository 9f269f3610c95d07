//! The only module with intrinsics and assembly.

mod ids;
mod lds;
pub(crate) mod mfma;
mod panic;
mod registers;
mod visibility;
#[cfg(not(any(
    ferrowave_gpu = "gfx908",
    ferrowave_gpu = "gfx90a",
    ferrowave_gpu = "gfx942",
    ferrowave_gpu = "gfx950"
)))]
#[cfg_attr(
    any(ferrowave_gpu = "gfx1200", ferrowave_gpu = "gfx1201"),
    path = "wmma_gfx12.rs"
)]
pub(crate) mod wmma;

#[cfg(not(any(
    ferrowave_gpu = "gfx908",
    ferrowave_gpu = "gfx90a",
    ferrowave_gpu = "gfx942",
    ferrowave_gpu = "gfx950",
    ferrowave_gpu = "gfx1100",
    ferrowave_gpu = "gfx1101",
    ferrowave_gpu = "gfx1102",
    ferrowave_gpu = "gfx1150",
    ferrowave_gpu = "gfx1151",
    ferrowave_gpu = "gfx1200",
    ferrowave_gpu = "gfx1201"
)))]
compile_error!("the catalogue has no kernels for this GPU");

/// Whether the GPU is of the family RDNA: the wait instruction has other fields there, or there are several.
const IS_RDNA: bool = !cfg!(any(
    ferrowave_gpu = "gfx908",
    ferrowave_gpu = "gfx90a",
    ferrowave_gpu = "gfx942",
    ferrowave_gpu = "gfx950"
));

/// Banks of LDS, of 4 bytes each.
pub(crate) const LDS_BANKS: usize = if cfg!(ferrowave_gpu = "gfx950") {
    64
} else {
    32
};

pub(crate) use ids::{readfirstlane, thread, thread_2d, thread_and_wave, workgroup};
pub(crate) use lds::{
    Workgroup, barrier, interleave, launch_lds, sched_barrier, sched_barrier_matrix, set_priority,
    wait_for_lds,
};
#[cfg(ferrowave_gpu = "gfx950")]
pub(crate) use lds::{load_unit_to_lds, wait_for_loads_until};
#[cfg(any(ferrowave_gpu = "gfx1200", ferrowave_gpu = "gfx1201"))]
pub(crate) use registers::permuted;
pub(crate) use registers::{at_once, opaque, opaque_zero};
pub(crate) use visibility::{acquire, release_and_count, wait_for_stores};
