//! Compiles Rust crates of AMD GPU kernels to code objects, and inspects the result.
//!
//! All kernels of this project are compiled by this crate, and it works for any `no_std` crate with `extern
//! "gpu-kernel"` functions. [`Build`] compiles a crate with the launch bounds that the caller gives, [`inspect`]
//! reports on each kernel, a [`Policy`] refuses kernels with hidden costs, and [`Build::embed`] does all of it in a
//! build script. [`assemble`] and [`disassemble`] convert between text and code objects, for tests.
//!
//! All tools come from one rustup toolchain ([`Toolchain`]); neither ROCm nor a system LLVM is needed.

mod assemble;
mod bounds;
mod build;
mod build_error;
mod cache;
mod dep_info;
mod environment;
mod inspect;
mod parallel;
mod policy;
mod script;
mod settings;
mod tool;
mod toolchain;
mod version;

pub use assemble::{AssembleError, Assembly, Disassembled, assemble, disassemble};
pub use bounds::LaunchBounds;
pub use build::{Build, Built};
pub use build_error::BuildError;
pub use cache::{CACHE_VARIABLE, user_cache};
pub use ferrowave_gpu::Gpu;
pub use inspect::{FlaggedInstruction, KernelReport, inspect};
pub use policy::{Policy, PolicyError, Refused, Violation};
pub use script::{EmbedError, Embedded};
pub use settings::{CrateError, KernelCrate, Settings};
pub use tool::ToolError;
pub use toolchain::{Toolchain, ToolchainError};
