//! Decodes instruction words to an [`Instruction`].

mod image;
mod memory;
mod modifiers;
mod scalar;
mod vector;

use ferrowave_gpu::Gpu;

use super::lookup;
use super::operand::Refused;
use crate::decoder;
use crate::error::DecodeError;
use crate::instruction::Instruction;
use crate::operand::{LITERAL, Operand, Source};
use crate::row::{Encoding, Slot};

/// As [`crate::decode`].
pub(crate) fn decode(gpu: Gpu, words: &[u32], offset: u64) -> Result<Instruction, DecodeError> {
    let instruction = Decoder::instruction;
    decoder::decode((gpu, gpu), 64, (words, offset), lookup::find, instruction)
}

type Decoder<'a> = decoder::Decoder<'a, Gpu>;

impl Decoder<'_> {
    fn instruction(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        Ok(match encoding {
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
        })
    }

    /// Refuses the instruction if any of these bits is set.
    fn reserved(&self, mask: u64) -> Result<(), Refused> {
        let set = self.bits as u64 & mask;
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
        slot.vector(self.target, code)
    }

    fn has_accumulators_everywhere(&self) -> bool {
        self.target != Gpu::Gfx908
    }

    fn is_gfx942_or_later(&self) -> bool {
        matches!(self.target, Gpu::Gfx942 | Gpu::Gfx950)
    }
}
