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
use crate::decoder;
use crate::error::{DecodeError, DecodeErrorKind as Refused};
use crate::instruction::{Format, Instruction};
use crate::ops::run::Run;
use crate::row::{Encoding, Field};

/// As [`crate::decode_for_wave`].
pub(crate) fn decode(
    gpu: Gpu,
    lanes: u32,
    words: &[u32],
    offset: u64,
) -> Result<Instruction, DecodeError> {
    let (target, instruction) = ((gpu, Generation::of(gpu)), Decoder::instruction);
    decoder::decode(target, lanes, (words, offset), lookup::find, instruction)
}

type Decoder<'a> = decoder::Decoder<'a, Generation>;

impl Decoder<'_> {
    fn instruction(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        Ok(match encoding {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc => self.scalar_alu(encoding)?,
            Encoding::Sopk => self.sopk()?,
            Encoding::Sopp => self.sopp()?,
            Encoding::Smem if self.target == Generation::Gfx12 => self.smem_gfx12()?,
            Encoding::Smem => self.smem()?,
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => self.vector_short(encoding)?,
            Encoding::Vop3 => self.vop3()?,
            Encoding::Vop3p => self.vop3p()?,
            Encoding::Vopd => self.pair()?,
            Encoding::Ds => self.ds()?,
            Encoding::Flat | Encoding::Global | Encoding::Scratch => match self.target {
                Generation::Gfx12 => self.flat_gfx12(encoding)?,
                _ => self.flat(encoding)?,
            },
            Encoding::Mubuf | Encoding::Mtbuf => match self.target {
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
        })
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
