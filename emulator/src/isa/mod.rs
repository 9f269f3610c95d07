//! The instruction set: tables, decoder, disassembler.

mod decode;
mod error;
mod instruction;
mod lookup;
mod operand;
mod row;
mod tables;
mod text;

pub use decode::decode;
pub use error::{DecodeError, DecodeErrorKind};
pub use instruction::*;
pub use tables::Op;
pub use text::Text;
