//! The state of decoding one instruction, and how its words are read: the same in all families.

use ferrowave_gpu::Gpu;

use super::error::{DecodeError, DecodeErrorKind as Refused};
use super::instruction::{Extension, Format, Instruction};
use super::operand::Operand;
use super::row::{Encoding, Field, Row, RowRef};

/// Decodes for `T`: a GPU, or a generation of GPUs with the same encodings.
pub(super) struct Decoder<'a, T> {
    pub(super) target: T,
    /// Lanes of a wave.
    pub(super) lanes: u16,
    pub(super) row: &'static Row,
    pub(super) words: &'a [u32],
    /// The words of the encoding that have been read, the first in the lowest bits.
    pub(super) bits: u128,
    /// The number of words read so far.
    pub(super) used: usize,
    literal: Option<u32>,
}

/// Decodes the instruction at the start of `words`, of which `find` finds the row and `instruction` the operands.
pub(super) fn decode<'a, T: Copy>(
    (gpu, target): (Gpu, T),
    lanes: u32,
    (words, offset): (&'a [u32], u64),
    find: fn(T, u32) -> Option<(Encoding, &'static Row)>,
    instruction: fn(&mut Decoder<'a, T>, Encoding) -> Result<Instruction, Refused>,
) -> Result<Instruction, DecodeError> {
    let fail = |kind, word| DecodeError {
        offset,
        word,
        gpu,
        kind,
    };
    let Some(&first) = words.first() else {
        return Err(fail(Refused::Truncated, 0));
    };
    let (encoding, row) = find(target, first).ok_or_else(|| fail(Refused::Unknown, first))?;
    let mut decoder = Decoder {
        target,
        lanes: lanes as u16,
        row,
        words,
        bits: first.into(),
        used: 1,
        literal: None,
    };
    match instruction(&mut decoder, encoding) {
        Ok(instruction) => Ok(Instruction {
            size: 4 * decoder.used as u8,
            ..instruction
        }),
        Err(kind) => {
            let second = decoder.used > 1 && !matches!(kind, Refused::Unknown | Refused::Truncated);
            Err(fail(kind, words[usize::from(second)]))
        }
    }
}

impl<T> Decoder<'_, T> {
    /// An instruction of the current row, without operands.
    pub(super) fn blank(&self, format: Format) -> Instruction {
        Instruction {
            op: self.row.op,
            row: RowRef(self.row),
            format,
            size: 4,
            lanes: self.lanes as u8,
            dst: Operand::default(),
            sdst: Operand::default(),
            src: [Operand::default(); 4],
            modifiers: Default::default(),
            extension: Extension::None,
            matrix: Default::default(),
            memory: Default::default(),
            image: Default::default(),
            second: None,
        }
    }

    pub(super) fn field(&self, field: Field) -> u32 {
        field.of_wide(self.bits)
    }

    pub(super) fn is_set(&self, field: Field) -> bool {
        self.field(field) != 0
    }

    /// Reads the next word of the encoding.
    pub(super) fn extend(&mut self) -> Result<(), Refused> {
        let word = self.next_word()?;
        self.bits |= u128::from(word) << (32 * (self.used - 1));
        Ok(())
    }

    pub(super) fn next_word(&mut self) -> Result<u32, Refused> {
        let word = self.words.get(self.used).ok_or(Refused::Truncated)?;
        self.used += 1;
        Ok(*word)
    }

    /// The literal. Several operands may share it.
    pub(super) fn literal(&mut self) -> Result<u32, Refused> {
        if self.literal.is_none() {
            self.literal = Some(self.next_word()?);
        }
        self.literal.ok_or(Refused::Truncated)
    }
}
