//! The GPU: the only place with intrinsics and assembly.

mod ids;
mod lds;
mod matrix;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod multiply;
mod panic;
mod registers;

use ferrowave_shared::GpuSet;

/// The GPU that this crate is being compiled for.
pub(crate) const GPU: GpuSet = if cfg!(ferrowave_gpu = "gfx908") {
    GpuSet::GFX908
} else if cfg!(ferrowave_gpu = "gfx90a") {
    GpuSet::GFX90A
} else if cfg!(ferrowave_gpu = "gfx942") {
    GpuSet::GFX942
} else if cfg!(ferrowave_gpu = "gfx950") {
    GpuSet::GFX950
} else {
    panic!("the catalogue has no kernels for this GPU")
};

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
pub(crate) use matrix::{mfma_f32_16x16x1_4b, mfma_f32_16x16x4};
#[cfg(not(ferrowave_gpu = "gfx908"))]
pub(crate) use multiply::*;
pub(crate) use registers::opaque_zero;
