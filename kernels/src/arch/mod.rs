//! The GPU: the only place with intrinsics and assembly.

mod ids;
mod lds;
mod matrix;
mod panic;

pub(crate) use ids::{thread, thread_2d, workgroup};
pub(crate) use lds::{Workgroup, launch_lds};
pub(crate) use matrix::mfma_f32_16x16x4;
