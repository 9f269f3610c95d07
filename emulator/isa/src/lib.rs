//! The instruction set: tables, decoder, disassembler.

mod category;
mod decode;
mod error;
mod instruction;
mod lookup;
mod operand;
mod row;
mod tables;
mod text;
mod uses;
mod wait_counts;

pub use category::{Category, Effect};
pub use decode::decode;
pub use error::{DecodeError, DecodeErrorKind};
pub use instruction::*;
pub use row::Rate;
pub use tables::Op;
pub use tables::run;
pub use text::Text;
pub use uses::{Read, Register, Registers, Role, Uses, registers};
pub use wait_counts::WaitCounts;
