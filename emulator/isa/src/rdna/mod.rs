//! RDNA: gfx11 (RDNA 3), gfx11.5 (RDNA 3.5) and gfx12 (RDNA 4). Only these modules know how their instructions are
//! encoded and written.

mod decode;
mod generation;
mod lookup;
mod tables;
mod text;
mod wait;

pub(super) use decode::decode;
pub(super) use text::write;
pub(super) use wait::wait_counts;
