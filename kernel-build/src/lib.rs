//! Compiles Rust crates of AMD GPU kernels to code objects, and inspects the result.

mod assemble;
mod tool;
mod toolchain;

pub use assemble::{AssembleError, Assembly, Disassembled, assemble, disassemble};
pub use tool::ToolError;
pub use toolchain::{Toolchain, ToolchainError};
