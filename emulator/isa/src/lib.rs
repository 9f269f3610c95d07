//! The instruction sets of AMD's GPUs: the tables of instructions, the decoder, the disassembler, and what each
//! instruction reads, writes and costs.
//!
//! Each family of GPUs has a module with its table, its encodings and its syntax: `cdna`, `rdna`. Everything else is the
//! same for all: [`Instruction`], and what follows from an instruction's row.

mod category;
mod cdna;
mod data_type;
mod decode;
mod decoder;
mod effects;
mod error;
mod image;
mod instruction;
mod lookup;
mod operand;
mod ops;
mod rdna;
mod row;
mod text;
mod uses;
mod wait_counts;
mod waits_of;
mod writer;

pub use category::{Category, Effect, Relative};
pub use data_type::DataType;
pub use decode::{decode, decode_for_wave};
pub use error::{DecodeError, DecodeErrorKind};
pub use image::{Dimension, ImageControl};
pub use instruction::*;
pub use operand::{Operand, Source};
pub use ops::{Op, run};
pub use row::Rate;
pub use text::Text;
pub use uses::{Read, Register, RegisterName, Registers, Role, Uses, registers};
pub use wait_counts::{Counter, WaitCounts};
