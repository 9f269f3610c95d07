//! Decodes gfx12's SMEM, VFLAT, VGLOBAL, VSCRATCH and VBUFFER.

use super::super::tables::{
    SMEM_GFX12_NV, SMEM_GFX12_OFFSET, SMEM_GFX12_SBASE, SMEM_GFX12_SCALE, SMEM_GFX12_SCOPE,
    SMEM_GFX12_SDATA, SMEM_GFX12_SOFFSET, SMEM_GFX12_TH, VBUFFER_FORMAT, VBUFFER_IDXEN, VBUFFER_NV,
    VBUFFER_OFFEN, VBUFFER_OFFSET, VBUFFER_SCOPE, VBUFFER_SOFFSET, VBUFFER_SRSRC, VBUFFER_TFE,
    VBUFFER_TH, VBUFFER_VADDR, VBUFFER_VDATA, VFLAT_ADDR, VFLAT_DATA, VFLAT_NV, VFLAT_OFFSET,
    VFLAT_SADDR, VFLAT_SCALE, VFLAT_SCOPE, VFLAT_SVE, VFLAT_TH, VFLAT_VDST,
};
use super::operands::NULL;
use super::scalar::IMMEDIATE;
use super::{Decoder, Refused};
use crate::instruction::{Format, Instruction};
use crate::operand::{EXEC, Source};
use crate::row::{Encoding, Field, Immediate, Slot, flag};

/// The bit of an atomic operation's temporal hint that asks for the old value.
const RETURNS: u8 = 1;
/// Bits of a buffer resource.
const BUFFER_RESOURCE: u16 = 128;
/// The largest length of a prefetch and kind of a probe.
const LARGEST_NUMBER: u32 = 31;

impl Decoder<'_> {
    /// A signed offset of 24 bits.
    fn offset(&self, field: Field) -> i32 {
        (self.field(field) << 8) as i32 >> 8
    }

    /// Temporal hint, scope and volatility.
    pub(super) fn cache_policy(&self, i: &mut Instruction, [th, scope, nv]: [Field; 3]) {
        i.memory.hint = self.field(th) as u8;
        i.memory.scope = self.field(scope) as u8;
        i.memory.nv = self.is_set(nv);
        i.memory.sc0 = self.row.is_atomic() && i.memory.hint & RETURNS != 0;
    }

    pub(super) fn smem_gfx12(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(Format::Smem);
        let sdata = self.field(SMEM_GFX12_SDATA);
        if row.dst.exists() {
            if sdata > NULL {
                return Err(Refused::Operand { code: sdata });
            }
            i.dst = self.sgpr(row.dst, sdata)?;
        }
        if row.src[0].exists() {
            i.src[0] = self.sgpr(row.src[0], self.field(SMEM_GFX12_SBASE) << 1)?;
        }
        if row.src[1].exists() {
            if row.src[0].bits == BUFFER_RESOURCE {
                self.reserved_bits(SMEM_GFX12_OFFSET, 1 << 23)?;
            }
            i.memory.offset = self.offset(SMEM_GFX12_OFFSET);
            let soffset = self.field(SMEM_GFX12_SOFFSET);
            if soffset != NULL || row.imm == Immediate::Prefetch {
                i.src[1] = self.sgpr(row.src[1], soffset)?;
            }
        }
        if matches!(row.imm, Immediate::Probe | Immediate::Prefetch) {
            if sdata > LARGEST_NUMBER {
                return Err(Refused::Operand { code: sdata });
            }
            i.src[2] = IMMEDIATE.holding(Source::Literal(sdata));
        }
        if row.has(flag::GLC) {
            self.reserved(SMEM_GFX12_SCALE)?;
        }
        if row.src[1].exists() {
            self.cache_policy(&mut i, [SMEM_GFX12_TH, SMEM_GFX12_SCOPE, SMEM_GFX12_NV]);
        }
        Ok(i)
    }

    pub(super) fn flat_gfx12(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        self.extend()?;
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(match encoding {
            Encoding::Flat => Format::Flat,
            Encoding::Global => Format::Global,
            _ => Format::Scratch,
        });
        self.cache_policy(&mut i, [VFLAT_TH, VFLAT_SCOPE, VFLAT_NV]);
        if row.has(flag::CACHE) {
            let saddr = self.field(VFLAT_SADDR);
            if saddr != NULL {
                return Err(Refused::Operand { code: saddr });
            }
            self.reserved(VFLAT_SVE)?;
            return Ok(i);
        }
        self.reserved(VFLAT_SCALE)?;
        i.memory.offset = self.offset(VFLAT_OFFSET);
        let (vaddr, saddr) = (self.field(VFLAT_ADDR), self.field(VFLAT_SADDR));
        let scalar = saddr != NULL;
        if encoding == Encoding::Scratch {
            // The bit means that a scratch access has a vector address.
            if self.is_set(VFLAT_SVE) {
                i.src[0] = self.data(row.src[0], vaddr);
            }
        } else {
            self.reserved(VFLAT_SVE)?;
            // With a scalar base, the vector address is a 32-bit offset.
            let slot = match scalar && row.src[0].exists() {
                true => Slot {
                    bits: 32,
                    ..row.src[0]
                },
                false => row.src[0],
            };
            i.src[0] = self.data(slot, vaddr);
        }
        if scalar {
            // For addresses of 64 bits, `exec` cannot be the base.
            if encoding == Encoding::Flat
                || saddr > EXEC
                || saddr == EXEC && encoding == Encoding::Global
            {
                return Err(Refused::Operand { code: saddr });
            }
            i.src[2] = self.sgpr(row.src[2], saddr)?;
        }
        i.src[1] = self.data(row.src[1], self.field(VFLAT_DATA));
        if !row.has(flag::RETURNS) || i.memory.sc0 {
            i.dst = self.data(row.dst, self.field(VFLAT_VDST));
        }
        Ok(i)
    }

    pub(super) fn buffer_gfx12(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        self.extend()?;
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(match encoding {
            Encoding::Mubuf => Format::Mubuf,
            _ => Format::Mtbuf,
        });
        self.cache_policy(&mut i, [VBUFFER_TH, VBUFFER_SCOPE, VBUFFER_NV]);
        if encoding == Encoding::Mtbuf {
            i.memory.format = self.field(VBUFFER_FORMAT) as u8;
        }
        if encoding == Encoding::Mtbuf || row.is_atomic() {
            self.reserved(VBUFFER_TFE)?;
        }
        i.memory.tfe = self.is_set(VBUFFER_TFE);
        // Negative offsets are for addresses that are not in a buffer.
        self.reserved_bits(VBUFFER_OFFSET, 1 << 23)?;
        i.memory.offset = self.offset(VBUFFER_OFFSET);
        i.memory.offen = self.is_set(VBUFFER_OFFEN);
        i.memory.idxen = self.is_set(VBUFFER_IDXEN);
        let addresses = u16::from(i.memory.offen) + u16::from(i.memory.idxen);
        if addresses > 0 {
            let slot = Slot {
                bits: 32 * addresses,
                ..row.src[0]
            };
            i.src[0] = self.data(slot, self.field(VBUFFER_VADDR));
        }
        let vdata = self.field(VBUFFER_VDATA);
        i.src[1] = self.data(row.src[1], vdata);
        if !row.has(flag::RETURNS) || i.memory.sc0 {
            i.dst = self.data(row.dst, vdata);
        }
        i.src[2] = self.sgpr(row.src[2], self.field(VBUFFER_SRSRC))?;
        i.src[3] = self.scalar(row.src[3], self.field(VBUFFER_SOFFSET))?;
        Ok(i)
    }
}
