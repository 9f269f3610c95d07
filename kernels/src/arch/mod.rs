//! The GPU: the only place with intrinsics and assembly.

mod ids;
mod lds;
mod matrix;
mod panic;

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

pub(crate) use ids::{thread, thread_2d, workgroup};
pub(crate) use lds::{Workgroup, launch_lds};
pub(crate) use matrix::mfma_f32_16x16x4;
