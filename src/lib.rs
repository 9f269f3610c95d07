//! Matrix multiplication for AMD GPUs in Rust, with the kernels embedded.
//!
//! The kernels of `kernels/`, compiled to code objects by the build script, and everything of
//! [`ferrowave_host`] to launch them: through HIP on an AMD GPU, or on the emulator where there is none.

pub mod embedded;

pub use ferrowave_host::*;

/// The example of the library's page.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Example;
