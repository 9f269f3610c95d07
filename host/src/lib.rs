//! HIP from Rust (result and safe layers), matrix products, their verification, and AMD's libraries for comparison.

mod dynamic;

pub mod gemm;
pub mod hip;
pub mod vendor;
pub mod verify;
