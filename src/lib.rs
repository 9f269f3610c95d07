//! Matrix multiplication for AMD GPUs in Rust, with the kernels embedded.
//!
//! The build script compiles the kernels of `kernels/` to code objects. [`ferrowave_host`] launches them: through HIP on an AMD
//! GPU, or on the emulator.

pub mod embedded;

pub use ferrowave_host::*;

/// Compiles and runs the example of `docs/library.md`.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Example;
