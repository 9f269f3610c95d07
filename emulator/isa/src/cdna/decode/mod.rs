//! Decodes instruction words to an [`Instruction`].

mod image;
mod memory;
mod modifiers;
mod scalar;
mod vector;

use ferrowave_gpu::Gpu;

use super::lookup;
use super::operand::Refused;
use crate::error::{DecodeError, DecodeErrorKind};
use crate::instruction::{Extension, Format, Instruction};
use crate::operand::{LITERAL, Operand, Source};
use crate::row::{Encoding, Field, Row, RowRef, Slot};

/// As [`crate::decode`].
pub(crate) fn decode(gpu: Gpu, words: &[u32], offset: u64) -> Result<Instruction, DecodeError> {
    let Some(&first) = words.first() else {
        return Err(DecodeError {
            offset,
            word: 0,
            gpu,
            kind: DecodeErrorKind::Truncated,
        });
    };
    let fail = |kind, word| DecodeError {
        offset,
        word,
        gpu,
        kind,
    };
    let (encoding, row) =
        lookup::find(gpu, first).ok_or_else(|| fail(DecodeErrorKind::Unknown, first))?;
    let mut decoder = Decoder {
        gpu,
        words,
        row,
        bits: u64::from(first),
        used: 1,
        literal: None,
    };
    decoder.instruction(encoding).map_err(|kind| {
        let second = decoder.used > 1 && !matches!(kind, Refused::Unknown | Refused::Truncated);
        fail(kind, words[usize::from(second)])
    })
}

/// The state of decoding one instruction.
struct Decoder<'a> {
    gpu: Gpu,
    words: &'a [u32],
    row: &'static Row,
    /// The first word. [`Decoder::extend`] adds the second word as the high half.
    bits: u64,
    /// The number of words read so far.
    used: usize,
    literal: Option<u32>,
}

impl Decoder<'_> {
    fn instruction(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        let mut i = match encoding {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc => self.scalar_alu(encoding)?,
            Encoding::Sopk => self.sopk()?,
            Encoding::Sopp => self.sopp()?,
            Encoding::Smem => self.smem()?,
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => self.vector_short(encoding)?,
            Encoding::Vop3 => self.vop3()?,
            Encoding::Vop3p | Encoding::Mai | Encoding::Vop3px2 => self.vop3p_family()?,
            Encoding::Ds => self.ds()?,
            Encoding::Flat | Encoding::Global | Encoding::Scratch => self.flat(encoding)?,
            Encoding::Mubuf => self.mubuf()?,
            Encoding::Mtbuf => self.mtbuf()?,
            Encoding::Mimg => self.image()?,
            Encoding::Vopd
            | Encoding::Exp
            | Encoding::Vinterp
            | Encoding::Ldsdir
            | Encoding::Vimage
            | Encoding::Vsample => return Err(Refused::Unknown),
        };
        i.size = 4 * self.used as u8;
        Ok(i)
    }

    /// An instruction of the current row, without operands.
    fn blank(&self, format: Format) -> Instruction {
        Instruction {
            op: self.row.op,
            row: RowRef(self.row),
            format,
            size: 4,
            lanes: 64,
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

    fn field(&self, field: Field) -> u32 {
        field.of(self.bits)
    }

    fn is_set(&self, field: Field) -> bool {
        field.is_set(self.bits)
    }

    /// Reads the second word.
    fn extend(&mut self) -> Result<(), Refused> {
        let second = self.next_word()?;
        self.bits |= u64::from(second) << 32;
        Ok(())
    }

    fn next_word(&mut self) -> Result<u32, Refused> {
        let word = self.words.get(self.used).ok_or(Refused::Truncated)?;
        self.used += 1;
        Ok(*word)
    }

    /// The literal. Several operands may share it.
    fn literal(&mut self) -> Result<u32, Refused> {
        if self.literal.is_none() {
            self.literal = Some(self.next_word()?);
        }
        self.literal.ok_or(Refused::Truncated)
    }

    /// Refuses the instruction if any of these bits is set.
    fn reserved(&self, mask: u64) -> Result<(), Refused> {
        let set = self.bits & mask;
        if set == 0 {
            return Ok(());
        }
        let bits = if set > u64::from(u32::MAX) {
            set >> 32
        } else {
            set
        };
        Err(Refused::Reserved { bits: bits as u32 })
    }

    /// A scalar source that may be a literal.
    fn scalar_source(&mut self, slot: Slot, code: u32) -> Result<Operand, Refused> {
        if code == LITERAL && slot.takes_literal() {
            return Ok(slot.holding(Source::Literal(self.literal()?)));
        }
        slot.scalar(code)
    }

    /// A vector source that may be a literal.
    fn vector_source(&mut self, slot: Slot, code: u32) -> Result<Operand, Refused> {
        if code == LITERAL {
            if slot.takes_literal() {
                return Ok(slot.holding(Source::Literal(self.literal()?)));
            }
            return Err(Refused::Operand { code });
        }
        slot.vector(self.gpu, code)
    }

    fn has_accumulators_everywhere(&self) -> bool {
        self.gpu != Gpu::Gfx908
    }

    fn is_gfx942_or_later(&self) -> bool {
        matches!(self.gpu, Gpu::Gfx942 | Gpu::Gfx950)
    }
}
