//! Compiles Rust crates of AMD GPU kernels to code objects, and inspects the result.

mod assemble;
mod bounds;
mod build;
mod dep_info;
mod environment;
mod tool;
mod toolchain;

pub use assemble::{AssembleError, Assembly, Disassembled, assemble, disassemble};
pub use bounds::LaunchBounds;
pub use build::{Build, BuildError, Built};
pub use tool::ToolError;
pub use toolchain::{Toolchain, ToolchainError};
