//! Decodes SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.

use super::super::tables::{
    SMEM_DLC, SMEM_GLC, SMEM_OFFSET, SMEM_SBASE, SMEM_SDATA, SMEM_SOFFSET, SOP1_SDST, SOP1_SSRC0,
    SOP2_SDST, SOP2_SSRC0, SOP2_SSRC1, SOPC_SSRC0, SOPC_SSRC1, SOPK_SDST, SOPK_SIMM16, SOPP_SIMM16,
};
use super::operands::NULL;
use super::{Decoder, Refused};
use crate::data_type::DataType;
use crate::instruction::{Format, Instruction};
use crate::operand::{Operand, Source};
use crate::row::{Encoding, Immediate, Slot, flag};

/// The slot of an immediate that is a source.
pub(super) const IMMEDIATE: Slot = Slot::new(32, DataType::I);

impl Decoder<'_> {
    pub(super) fn scalar_alu(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        let row = self.row;
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
        if let Some(field) = sdst.filter(|_| row.dst.exists()) {
            i.dst = self.scalar_result(row.dst, self.field(field))?;
        }
        if row.imm == Immediate::Sendmsg {
            i.src[0] = IMMEDIATE.holding(Source::Literal(self.field(SOP1_SSRC0)));
            return Ok(i);
        }
        let k = usize::from(row.k);
        // The operands of the encoding, without the constant after the instruction.
        let places = (0..3).filter(|&n| row.src[n].exists() && (k == 0 || n != k));
        let fields = sources.into_iter().flatten();
        for (n, field) in places.zip(fields) {
            i.src[n] = self.scalar_source(row.src[n], self.field(field))?;
        }
        if k != 0 {
            i.src[k] = row.src[k].holding(Source::Literal(self.literal()?));
        }
        Ok(i)
    }

    pub(super) fn sopk(&mut self) -> Result<Instruction, Refused> {
        let row = self.row;
        let mut i = self.blank(Format::Sopk);
        let code = self.field(SOPK_SDST);
        let mut sources = 0;
        if row.dst.exists() {
            i.dst = self.sgpr(row.dst, code)?;
        }
        if row.src[0].exists() {
            i.src[0] = self.sgpr(row.src[0], code)?;
            sources = 1;
        }
        i.src[sources] = immediate(self.field(SOPK_SIMM16));
        if row.has(flag::LITERAL) {
            i.src[sources + 1] = IMMEDIATE.holding(Source::Literal(self.literal()?));
        }
        Ok(i)
    }

    pub(super) fn sopp(&mut self) -> Result<Instruction, Refused> {
        let mut i = self.blank(Format::Sopp);
        let value = self.field(SOPP_SIMM16);
        match self.row.imm {
            Immediate::None => self.reserved(SOPP_SIMM16)?,
            Immediate::Delay if !is_delay(value) => {
                return Err(Refused::Operand { code: value });
            }
            _ => i.src[0] = immediate(value),
        }
        Ok(i)
    }

    pub(super) fn smem(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(Format::Smem);
        let sdata = self.field(SMEM_SDATA);
        if row.dst.exists() {
            if sdata > NULL {
                return Err(Refused::Operand { code: sdata });
            }
            i.dst = self.sgpr(row.dst, sdata)?;
        }
        if row.src[0].exists() {
            i.src[0] = self.sgpr(row.src[0], self.field(SMEM_SBASE) << 1)?;
        }
        if row.src[1].exists() {
            // 21 bits, signed.
            i.memory.offset = (self.field(SMEM_OFFSET) << 11) as i32 >> 11;
            let soffset = self.field(SMEM_SOFFSET);
            if soffset != NULL {
                i.src[1] = self.sgpr(row.src[1], soffset)?;
            }
        }
        if row.imm == Immediate::Probe {
            i.src[2] = IMMEDIATE.holding(Source::Literal(sdata));
        }
        match row.has(flag::GLC) {
            true => {
                i.memory.sc0 = self.is_set(SMEM_GLC);
                i.memory.dlc = self.is_set(SMEM_DLC);
            }
            false => {
                self.reserved(SMEM_GLC)?;
                self.reserved(SMEM_DLC)?;
            }
        }
        Ok(i)
    }
}

/// A 16-bit immediate, sign-extended.
fn immediate(value: u32) -> Operand {
    IMMEDIATE.holding(Source::Literal(value as u16 as i16 as u32))
}

/// Whether all parts of the constant of `s_delay_alu` have a meaning.
fn is_delay(value: u32) -> bool {
    let (first, skip, second) = (value & 15, value >> 4 & 7, value >> 7 & 15);
    first < 12 && skip < 6 && second < 12
}
