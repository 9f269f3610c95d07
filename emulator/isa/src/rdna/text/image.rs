//! Prints MIMG, VIMAGE and VSAMPLE.

use std::fmt;

use super::super::generation::Generation;
use super::memory::cache_bits;
use crate::instruction::Instruction;
use crate::operand::Source;
use crate::writer::Writer;

pub(super) fn image(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    // LLVM prints one space more here.
    let spaced = i.image.first_count > 0 && i.src[3].source != Source::None;
    if spaced && Generation::of(w.gpu) != Generation::Gfx12 {
        w.f.write_str(" ")?;
    }
    w.image_data(i)?;
    addresses(w, i)?;
    w.operand(&i.src[2])?;
    w.operand(&i.src[3])?;
    w.dmask(i)?;
    write!(w.f, " dim:SQ_RSRC_IMG_{}", i.image.dimension.name())?;
    w.word_if(i.image.unnormalized, "unorm")?;
    cache_bits(w, i)?;
    w.word_if(i.image.r128, "r128")?;
    w.word_if(i.image.a16, "a16")?;
    w.word_if(i.memory.tfe, "tfe")?;
    w.word_if(i.image.lwe, "lwe")?;
    w.word_if(i.image.d16, "d16")
}

fn addresses(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    let first = &i.image.first[..usize::from(i.image.first_count)];
    if first.is_empty() {
        return w.operand(&i.src[0]);
    }
    w.separate()?;
    w.f.write_str("[")?;
    for register in first {
        write!(w.f, "v{register}, ")?;
    }
    w.bare(&i.src[0])?;
    w.f.write_str("]")
}
