//! The only module with intrinsics and assembly.

#[cfg(ferrowave_family = "cdna")]
mod buffer;
#[cfg(any(
    ferrowave_gpu = "gfx942",
    ferrowave_gpu = "gfx950",
    ferrowave_family = "rdna4"
))]
pub(crate) mod float8;
mod ids;
mod lds;
pub(crate) mod mfma;
mod panic;
mod registers;
mod visibility;
#[cfg(not(ferrowave_family = "cdna"))]
#[cfg_attr(ferrowave_family = "rdna4", path = "wmma_gfx12.rs")]
pub(crate) mod wmma;

#[cfg(not(any(
    ferrowave_family = "cdna",
    ferrowave_family = "rdna3",
    ferrowave_family = "rdna4"
)))]
compile_error!("the catalogue has no kernels for this GPU");

/// Whether the GPU is of the family RDNA: the wait instruction has other fields there, or there are several.
const IS_RDNA: bool = !cfg!(ferrowave_family = "cdna");

/// Banks of LDS, of 4 bytes each.
pub(crate) const LDS_BANKS: usize = if cfg!(ferrowave_gpu = "gfx950") {
    64
} else {
    32
};

/// Bytes of a line of the vector L1 cache (`Gpu::line_bytes`).
pub(crate) const LINE_BYTES: usize =
    if cfg!(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx90a")) {
        64
    } else {
        128
    };

#[cfg(ferrowave_family = "cdna")]
pub(crate) use buffer::Buffer;
pub(crate) use ids::{
    largest_in_wave, readfirstlane, thread, thread_2d, thread_and_wave, workgroup,
};
pub(crate) use lds::{
    Workgroup, barrier, interleave, interleave_store, launch_lds, read_transposed, sched_barrier,
    sched_barrier_matrix, set_priority, settled, wait_for_lds,
};
#[cfg(ferrowave_gpu = "gfx950")]
pub(crate) use lds::{load_unit_to_lds, wait_for_loads_until};
pub(crate) use registers::{
    at_once, computed, in_neighbouring_registers, opaque, opaque_zero, permuted,
};
pub(crate) use visibility::{acquire, raise, release_and_count, wait_for_stores};
