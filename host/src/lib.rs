//! HIP from Rust (result and safe layers), matrix products, their verification, and AMD's libraries for comparison.
//!
//! The feature `emulator` adds emulated devices, and `gemm` all but [`hip`] and [`tuning`].

mod dynamic;

#[cfg(feature = "gemm")]
pub mod gemm;
pub mod hip;
pub mod tuning;
#[cfg(feature = "gemm")]
pub mod vendor;
#[cfg(feature = "gemm")]
pub mod verify;
