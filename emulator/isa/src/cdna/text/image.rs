//! Prints MIMG.

use std::fmt;

use crate::instruction::Instruction;
use crate::writer::Writer;

impl Writer<'_, '_> {
    pub(super) fn image(&mut self, i: &Instruction) -> fmt::Result {
        self.image_data(i)?;
        self.operand(&i.src[0])?;
        self.operand(&i.src[2])?;
        self.operand(&i.src[3])?;
        self.dmask(i)?;
        self.word_if(i.image.unnormalized, "unorm")?;
        self.cache_bits(&i.memory)?;
        self.word_if(i.image.a16, "a16")?;
        self.word_if(i.memory.tfe, "tfe")?;
        self.word_if(i.image.lwe, "lwe")?;
        self.word_if(i.image.array, "da")?;
        self.word_if(i.image.d16, "d16")
    }
}
