//! Decodes SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.

use super::super::operand::Refused;
use super::super::tables::{
    SMEM_GLC, SMEM_IMM, SMEM_OFFSET, SMEM_SBASE, SMEM_SDATA, SMEM_SOFFSET, SMEM_SOFFSET_EN,
    SOP1_SDST, SOP1_SSRC0, SOP2_SDST, SOP2_SSRC0, SOP2_SSRC1, SOPC_SSRC0, SOPC_SSRC1, SOPK_SDST,
    SOPK_SIMM16, SOPP_SIMM16,
};
use super::Decoder;
use crate::data_type::DataType;
use crate::instruction::{Format, Instruction};
use crate::operand::{M0, Operand, Source};
use crate::row::{Encoding, Immediate, Slot, flag};

/// The slot of an immediate that is a source.
const IMMEDIATE: Slot = Slot::new(32, DataType::I);

impl Decoder<'_> {
    pub(super) fn scalar_alu(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        let (format, sdst, sources) = match encoding {
            Encoding::Sop1 => (Format::Sop1, Some(SOP1_SDST), [Some(SOP1_SSRC0), None]),
            Encoding::Sop2 => (
                Format::Sop2,
                Some(SOP2_SDST),
                [Some(SOP2_SSRC0), Some(SOP2_SSRC1)],
            ),
            _ => (Format::Sopc, None, [Some(SOPC_SSRC0), Some(SOPC_SSRC1)]),
        };
        let mut i = self.blank(format);
        if let Some(field) = sdst.filter(|_| self.row.dst.exists()) {
            i.dst = self.row.dst.sgpr(self.field(field))?;
        }
        for (n, field) in sources.into_iter().enumerate() {
            let slot = self.row.src[n];
            let Some(field) = field.filter(|_| slot.exists()) else {
                continue;
            };
            let code = self.field(field);
            i.src[n] = match self.row.imm {
                Immediate::GprIdx if n == 1 => slot.holding(Source::Literal(code)),
                _ => self.scalar_source(slot, code)?,
            };
        }
        Ok(i)
    }

    pub(super) fn sopk(&mut self) -> Result<Instruction, Refused> {
        let mut i = self.blank(Format::Sopk);
        let code = self.field(SOPK_SDST);
        let mut sources = 0;
        if self.row.dst.exists() {
            i.dst = self.row.dst.sgpr(code)?;
        }
        if self.row.src[0].exists() {
            i.src[0] = self.row.src[0].sgpr(code)?;
            sources = 1;
        }
        i.src[sources] = immediate(self.field(SOPK_SIMM16));
        if self.row.has(flag::LITERAL) {
            i.src[sources + 1] = IMMEDIATE.holding(Source::Literal(self.literal()?));
        }
        Ok(i)
    }

    pub(super) fn sopp(&mut self) -> Result<Instruction, Refused> {
        let mut i = self.blank(Format::Sopp);
        match self.row.imm {
            Immediate::None => self.reserved(SOPP_SIMM16.mask())?,
            _ => i.src[0] = immediate(self.field(SOPP_SIMM16)),
        }
        Ok(i)
    }

    pub(super) fn smem(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let mut i = self.blank(Format::Smem);
        let row = self.row;
        let sdata = self.field(SMEM_SDATA);
        let has_data = row.dst.exists() || row.src[2].exists();
        if has_data && sdata >= M0 {
            return Err(Refused::Operand { code: sdata });
        }
        if row.dst.exists() {
            i.dst = row.dst.sgpr(sdata)?;
        }
        if !row.src[0].exists() {
            self.reserved(SMEM_IMM.mask())?;
        }
        if row.src[0].exists() {
            i.src[0] = row.src[0].sgpr(self.field(SMEM_SBASE) << 1)?;
            self.smem_offset(&mut i)?;
        }
        if row.src[2].exists() {
            i.src[2] = row.src[2].sgpr(sdata)?;
        }
        if row.imm == Immediate::Probe {
            i.src[2] = IMMEDIATE.holding(Source::Literal(sdata));
        }
        if row.has(flag::GLC) {
            i.memory.sc0 = self.is_set(SMEM_GLC);
        }
        if row.has(flag::RETURNS) && !i.memory.sc0 {
            i.dst = Operand::default();
        }
        Ok(i)
    }

    /// Decodes the offset: an immediate, a register, or both.
    fn smem_offset(&mut self, i: &mut Instruction) -> Result<(), Refused> {
        let slot = self.row.src[1];
        let offset = self.field(SMEM_OFFSET);
        let both = self.is_set(SMEM_SOFFSET_EN);
        if self.is_set(SMEM_IMM) {
            // Sign-extends 21 bits.
            i.memory.offset = (offset << 11) as i32 >> 11;
            if both {
                i.src[1] = slot.sgpr(self.field(SMEM_SOFFSET))?;
            }
        } else if both {
            i.src[1] = slot.sgpr(self.field(SMEM_SOFFSET))?;
        } else {
            i.src[1] = slot.sgpr(offset & 0x7f)?;
        }
        Ok(())
    }
}

/// A 16-bit immediate, sign-extended.
fn immediate(value: u32) -> Operand {
    IMMEDIATE.holding(Source::Literal(value as u16 as i16 as u32))
}
