//! HIP from Rust (result and safe layers), matrix products, verification, AMD's own libraries to compare with.

mod dynamic;

pub mod gemm;
pub mod hip;
pub mod vendor;
pub mod verify;
