//! The instruction set: tables, decoder, disassembler.

mod instruction;
mod tables;

pub use instruction::*;
pub use tables::Op;
