//! The instruction sets of AMD's CDNA GPUs: the table of instructions, the decoder, the disassembler, and what each
//! instruction reads, writes and costs.

mod category;
mod data_type;
mod decode;
mod effects;
mod error;
mod instruction;
mod lookup;
mod operand;
mod ops;
mod row;
mod tables;
mod text;
mod uses;
mod wait_counts;

pub use category::{Category, Effect};
pub use data_type::DataType;
pub use decode::decode;
pub use error::{DecodeError, DecodeErrorKind};
pub use instruction::*;
pub use ops::{Op, run};
pub use row::Rate;
pub use text::Text;
pub use uses::{Read, Register, Registers, Role, Uses, registers};
pub use wait_counts::WaitCounts;
