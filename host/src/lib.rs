//! HIP from Rust (result and safe layers), matrix products, verification.

pub mod gemm;
pub mod hip;
pub mod verify;
