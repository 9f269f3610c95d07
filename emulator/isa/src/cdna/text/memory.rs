//! Prints DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF.

use std::fmt;

use ferrowave_gpu::Gpu;

use crate::instruction::{Format, Instruction, MemoryControl};
use crate::operand::{Operand, Source};
use crate::ops::Op;
use crate::row::flag;
use crate::writer::Writer;

/// Names of MTBUF's data formats; 1 is the default.
const DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
/// Names of MTBUF's number formats; 0 is the default.
const NUMBER_FORMATS: [&str; 8] = [
    "UNORM",
    "SNORM",
    "USCALED",
    "SSCALED",
    "UINT",
    "SINT",
    "RESERVED_6",
    "FLOAT",
];

impl Writer<'_, '_> {
    pub(super) fn is_gfx942_or_later(&self) -> bool {
        matches!(self.gpu, Gpu::Gfx942 | Gpu::Gfx950)
    }

    pub(super) fn ds(&mut self, i: &Instruction) -> fmt::Result {
        self.operand(&i.dst)?;
        for source in &i.src {
            self.operand(source)?;
        }
        let offset = i.memory.offset;
        if i.op == Op::ds_swizzle_b32 {
            self.swizzle(offset as u32)?;
        } else if self.row.has(flag::TWO) {
            self.number_unless_0("offset0", offset & 0xff)?;
            self.number_unless_0("offset1", offset >> 8)?;
        } else {
            self.number_unless_0("offset", offset)?;
        }
        self.word_if(i.memory.gds, "gds")
    }

    pub(super) fn flat(&mut self, i: &Instruction) -> fmt::Result {
        self.operand(&i.dst)?;
        if i.format == Format::Flat || i.src[0].source != Source::None {
            self.operand(&i.src[0])?;
        } else {
            self.off()?;
        }
        self.operand(&i.src[1])?;
        if i.format != Format::Flat {
            self.separate()?;
            self.bare(&i.src[2])?;
        }
        self.number_unless_0("offset", i.memory.offset)?;
        self.cache_bits(&i.memory)?;
        self.word_if(i.memory.lds, "lds")
    }

    fn off(&mut self) -> fmt::Result {
        self.separate()?;
        self.f.write_str("off")
    }

    pub(super) fn cache_bits(&mut self, m: &MemoryControl) -> fmt::Result {
        let names = match self.is_gfx942_or_later() {
            true => ["sc0", "nt", "sc1"],
            false => ["glc", "slc", "scc"],
        };
        for (set, name) in [m.sc0, m.nt, m.sc1].into_iter().zip(names) {
            self.word_if(set, name)?;
        }
        Ok(())
    }

    pub(super) fn buffer(&mut self, i: &Instruction) -> fmt::Result {
        if self.row.has(flag::CACHE) || self.row.has(flag::CACHE_BARE) {
            return self.cache_bits(&i.memory);
        }
        let data = match i.src[1].source {
            Source::None => &i.dst,
            _ => &i.src[1],
        };
        // LLVM prints the status word after the data as part of the data operand.
        let status = if i.memory.tfe { 32 } else { 0 };
        self.operand(&Operand {
            bits: data.bits.max(32) + status,
            ..*data
        })?;
        match i.src[0].source {
            // Without an address the operand is `off`.
            Source::None => self.off()?,
            _ => self.operand(&i.src[0])?,
        }
        self.operand(&i.src[2])?;
        self.operand(&i.src[3])?;
        if i.format == Format::Mtbuf {
            self.buffer_format(i.memory.format)?;
        }
        self.word_if(i.memory.idxen, "idxen")?;
        self.word_if(i.memory.offen, "offen")?;
        self.number_unless_0("offset", i.memory.offset)?;
        self.cache_bits(&i.memory)?;
        self.word_if(i.memory.lds, "lds")?;
        self.word_if(i.memory.tfe, "tfe")
    }

    fn buffer_format(&mut self, format: u8) -> fmt::Result {
        let (data, number) = (usize::from(format & 15), usize::from(format >> 4));
        let (data_name, number_name) = (DATA_FORMATS[data], NUMBER_FORMATS[number & 7]);
        match (data, number) {
            (1, 0) => Ok(()),
            (_, 0) => write!(self.f, " format:[BUF_DATA_FORMAT_{data_name}]"),
            (1, _) => write!(self.f, " format:[BUF_NUM_FORMAT_{number_name}]"),
            _ => write!(
                self.f,
                " format:[BUF_DATA_FORMAT_{data_name},BUF_NUM_FORMAT_{number_name}]"
            ),
        }
    }
}
