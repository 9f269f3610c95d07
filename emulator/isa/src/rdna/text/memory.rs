//! Prints DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF.

use std::fmt;

use super::super::generation::Generation;
use crate::category::Effect;
use crate::instruction::{Format, Instruction};
use crate::operand::{Operand, Source};
use crate::ops::Op;
use crate::row::flag;
use crate::writer::Writer;

/// Names of MTBUF's formats (RDNA 3 ISA guide, «Data Formats»); 1 is the default.
const FORMATS: [&str; 64] = [
    "INVALID",
    "8_UNORM",
    "8_SNORM",
    "8_USCALED",
    "8_SSCALED",
    "8_UINT",
    "8_SINT",
    "16_UNORM",
    "16_SNORM",
    "16_USCALED",
    "16_SSCALED",
    "16_UINT",
    "16_SINT",
    "16_FLOAT",
    "8_8_UNORM",
    "8_8_SNORM",
    "8_8_USCALED",
    "8_8_SSCALED",
    "8_8_UINT",
    "8_8_SINT",
    "32_UINT",
    "32_SINT",
    "32_FLOAT",
    "16_16_UNORM",
    "16_16_SNORM",
    "16_16_USCALED",
    "16_16_SSCALED",
    "16_16_UINT",
    "16_16_SINT",
    "16_16_FLOAT",
    "10_11_11_FLOAT",
    "11_11_10_FLOAT",
    "10_10_10_2_UNORM",
    "10_10_10_2_SNORM",
    "10_10_10_2_UINT",
    "10_10_10_2_SINT",
    "2_10_10_10_UNORM",
    "2_10_10_10_SNORM",
    "2_10_10_10_USCALED",
    "2_10_10_10_SSCALED",
    "2_10_10_10_UINT",
    "2_10_10_10_SINT",
    "8_8_8_8_UNORM",
    "8_8_8_8_SNORM",
    "8_8_8_8_USCALED",
    "8_8_8_8_SSCALED",
    "8_8_8_8_UINT",
    "8_8_8_8_SINT",
    "32_32_UINT",
    "32_32_SINT",
    "32_32_FLOAT",
    "16_16_16_16_UNORM",
    "16_16_16_16_SNORM",
    "16_16_16_16_USCALED",
    "16_16_16_16_SSCALED",
    "16_16_16_16_UINT",
    "16_16_16_16_SINT",
    "16_16_16_16_FLOAT",
    "32_32_32_UINT",
    "32_32_32_SINT",
    "32_32_32_FLOAT",
    "32_32_32_32_UINT",
    "32_32_32_32_SINT",
    "32_32_32_32_FLOAT",
];

pub(super) fn ds(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    w.operand(&i.dst)?;
    w.operand(&i.src[0])?;
    let (first, second) = match w.row.has(flag::SWAPPED) {
        true => (&i.src[2], &i.src[1]),
        false => (&i.src[1], &i.src[2]),
    };
    w.operand(first)?;
    w.operand(second)?;
    let offset = i.memory.offset;
    if i.op == Op::ds_swizzle_b32 {
        w.swizzle(offset as u32)?;
    } else if w.row.has(flag::TWO) {
        w.number_unless_0("offset0", offset & 0xff)?;
        w.number_unless_0("offset1", offset >> 8)?;
    } else {
        w.number_unless_0("offset", offset)?;
    }
    w.word_if(i.memory.gds, "gds")
}

pub(super) fn flat(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    if w.row.has(flag::CACHE) {
        return cache_policy(w, i);
    }
    w.operand(&i.dst)?;
    match i.format {
        Format::Scratch if i.src[0].source == Source::None => off(w)?,
        _ => w.operand(&i.src[0])?,
    }
    w.operand(&i.src[1])?;
    if i.format != Format::Flat {
        w.separate()?;
        w.bare(&i.src[2])?;
    }
    w.number_unless_0("offset", i.memory.offset)?;
    cache_bits(w, i)
}

fn off(w: &mut Writer<'_, '_>) -> fmt::Result {
    w.separate()?;
    w.f.write_str("off")
}

pub(super) fn cache_bits(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    if Generation::of(w.gpu) == Generation::Gfx12 {
        return cache_policy(w, i);
    }
    let m = &i.memory;
    w.word_if(m.sc0, "glc")?;
    w.word_if(m.nt, "slc")?;
    w.word_if(m.dlc, "dlc")
}

/// gfx12's temporal hint and scope.
pub(super) fn cache_policy(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    /// The scopes of an agent and of the whole system.
    const DEVICE: u8 = 2;
    const SYSTEM: u8 = 3;
    let (hint, scope) = (i.memory.hint, i.memory.scope);
    let effect = w.row.memory;
    match (effect, hint) {
        (_, 0) => {}
        (Effect::Atomic, _) => {
            let name = match hint {
                4.. if scope < DEVICE => "",
                4 | 5 => "CASCADE_RT",
                6 | 7 => "CASCADE_NT",
                1 => "RETURN",
                2 => "NT",
                _ => "NT_RETURN",
            };
            match name {
                "" => write!(w.f, " th:TH_ATOMIC_{hint:#x}")?,
                name => write!(w.f, " th:TH_ATOMIC_{name}")?,
            }
        }
        (_, 7) if effect != Effect::Store => write!(w.f, " th:{hint:#x}")?,
        _ => {
            let (kind, third) = match effect {
                Effect::Store => ("STORE", "WB"),
                _ => ("LOAD", "LU"),
            };
            let name = match hint {
                1 => "NT",
                2 => "HT",
                3 if scope == SYSTEM => "BYPASS",
                3 => third,
                4 => "NT_RT",
                5 => "RT_NT",
                6 => "NT_HT",
                _ => "NT_WB",
            };
            write!(w.f, " th:TH_{kind}_{name}")?;
        }
    }
    match scope {
        0 => {}
        1 => w.f.write_str(" scope:SCOPE_SE")?,
        DEVICE => w.f.write_str(" scope:SCOPE_DEV")?,
        _ => w.f.write_str(" scope:SCOPE_SYS")?,
    }
    w.word_if(i.memory.nv, "nv")
}

pub(super) fn buffer(w: &mut Writer<'_, '_>, i: &Instruction) -> fmt::Result {
    if w.row.has(flag::CACHE) {
        return Ok(());
    }
    let data = match i.src[1].source {
        Source::None => &i.dst,
        _ => &i.src[1],
    };
    // LLVM prints the status word after the data as part of the data operand.
    let status = if i.memory.tfe { 32 } else { 0 };
    w.operand(&Operand {
        bits: data.bits.max(32) + status,
        ..*data
    })?;
    match i.src[0].source {
        Source::None => off(w)?,
        _ => w.operand(&i.src[0])?,
    }
    w.operand(&i.src[2])?;
    w.operand(&i.src[3])?;
    if i.format == Format::Mtbuf {
        match i.memory.format {
            1 => {}
            format => match FORMATS.get(usize::from(format)) {
                Some(name) => write!(w.f, " format:[BUF_FMT_{name}]")?,
                None => write!(w.f, " format:{format}")?,
            },
        }
    }
    w.word_if(i.memory.idxen, "idxen")?;
    w.word_if(i.memory.offen, "offen")?;
    w.number_unless_0("offset", i.memory.offset)?;
    cache_bits(w, i)?;
    w.word_if(i.memory.tfe, "tfe")
}
