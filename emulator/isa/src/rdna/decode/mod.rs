//! Decodes instruction words to an [`Instruction`].

mod image;
mod memory;
mod memory_gfx12;
mod modifiers;
mod operands;
mod pair;
mod scalar;
mod vector;

use ferrowave_gpu::Gpu;

use super::generation::Generation;
use super::lookup;
use super::tables::MIMG_NSA;
use crate::error::{DecodeError, DecodeErrorKind as Refused};
use crate::instruction::{Extension, Format, Instruction};
use crate::operand::Operand;
use crate::ops::run::Run;
use crate::row::{Encoding, Field, Row, RowRef};

/// As [`crate::decode_for_wave`].
pub(crate) fn decode(
    gpu: Gpu,
    lanes: u32,
    words: &[u32],
    offset: u64,
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
    let generation = Generation::of(gpu);
    let (encoding, row) =
        lookup::find(generation, first).ok_or_else(|| fail(Refused::Unknown, first))?;
    let mut decoder = Decoder {
        generation,
        lanes: lanes as u16,
        words,
        row,
        bits: u128::from(first),
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
    generation: Generation,
    /// Lanes of a wave.
    lanes: u16,
    words: &'a [u32],
    row: &'static Row,
    /// The words of the encoding that have been read, the first in the lowest bits.
    bits: u128,
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
            Encoding::Smem if self.generation == Generation::Gfx12 => self.smem_gfx12()?,
            Encoding::Smem => self.smem()?,
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => self.vector_short(encoding)?,
            Encoding::Vop3 => self.vop3()?,
            Encoding::Vop3p => self.vop3p()?,
            Encoding::Vopd => self.pair()?,
            Encoding::Ds => self.ds()?,
            Encoding::Flat | Encoding::Global | Encoding::Scratch => match self.generation {
                Generation::Gfx12 => self.flat_gfx12(encoding)?,
                _ => self.flat(encoding)?,
            },
            Encoding::Mubuf | Encoding::Mtbuf => match self.generation {
                Generation::Gfx12 => self.buffer_gfx12(encoding)?,
                _ => self.buffer(encoding)?,
            },
            Encoding::Mimg | Encoding::Vimage | Encoding::Vsample
                if !matches!(self.row.run, Run::Refused(_)) =>
            {
                self.image(encoding)?
            }
            Encoding::Mimg
            | Encoding::Vimage
            | Encoding::Vsample
            | Encoding::Exp
            | Encoding::Vinterp
            | Encoding::Ldsdir => self.graphics(encoding)?,
            Encoding::Mai | Encoding::Vop3px2 => return Err(Refused::Unknown),
        };
        i.size = 4 * self.used as u8;
        Ok(i)
    }

    /// Only the words are read, not the operands.
    fn graphics(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        let more = match encoding {
            Encoding::Ldsdir => 0,
            // More addresses may follow.
            Encoding::Mimg if self.is_set(MIMG_NSA) => 2,
            Encoding::Vimage | Encoding::Vsample => 2,
            _ => 1,
        };
        for _ in 0..more {
            self.next_word()?;
        }
        Ok(self.blank(Format::Graphics))
    }

    /// An instruction of the current row, without operands.
    fn blank(&self, format: Format) -> Instruction {
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

    fn field(&self, field: Field) -> u32 {
        field.of_wide(self.bits)
    }

    fn is_set(&self, field: Field) -> bool {
        self.field(field) != 0
    }

    /// Reads the second word.
    fn extend(&mut self) -> Result<(), Refused> {
        let word = self.next_word()?;
        self.bits |= u128::from(word) << (32 * (self.used - 1));
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

    /// Refuses the instruction if any bit of a field is set.
    fn reserved(&self, field: Field) -> Result<(), Refused> {
        self.reserved_bits(field, u32::MAX)
    }

    /// Refuses the instruction if any of these bits of a field is set.
    fn reserved_bits(&self, field: Field, mask: u32) -> Result<(), Refused> {
        match self.field(field) & mask {
            0 => Ok(()),
            set => Err(Refused::Reserved {
                bits: set << (field.low % 32),
            }),
        }
    }
}
