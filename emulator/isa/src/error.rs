//! Errors of the decoder.

use std::fmt;

use ferrowave_gpu::Gpu;

/// Words that are not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The byte offset of the instruction, as passed by the caller.
    pub offset: u64,
    /// The offending word: the first of the instruction, or the one with the operand in question.
    pub word: u32,
    /// The GPU for which it was decoded.
    pub gpu: Gpu,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

/// What is wrong with an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// The code ends inside the instruction.
    Truncated,
    /// The GPU has no such instruction.
    Unknown,
    /// An operand field holds a code that is reserved or that the instruction does not accept.
    Operand {
        /// The code in the field.
        code: u32,
    },
    /// A vector register tuple starts at an odd register, which GPUs from gfx90a on do not accept.
    Misaligned {
        /// The first register.
        register: u32,
    },
    /// Bits that must be 0 are not.
    Reserved {
        /// These bits of the word.
        bits: u32,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecodeError {
            offset,
            word,
            gpu,
            kind,
        } = self;
        let gpu = gpu.name();
        write!(f, "at {offset:#x}: word {word:#010x} ")?;
        match kind {
            DecodeErrorKind::Truncated => write!(
                f,
                "starts an instruction that extends past the end of the code"
            ),
            DecodeErrorKind::Unknown => write!(f, "is not an instruction of {gpu}"),
            DecodeErrorKind::Operand { code } => {
                write!(
                    f,
                    "has operand code {code}, which this instruction of {gpu} does not accept"
                )
            }
            DecodeErrorKind::Misaligned { register } => write!(
                f,
                "has a register tuple at v{register}, but {gpu} needs an even first register"
            ),
            DecodeErrorKind::Reserved { bits } => {
                write!(f, "has bits {bits:#010x} set, which must be 0 on {gpu}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}
