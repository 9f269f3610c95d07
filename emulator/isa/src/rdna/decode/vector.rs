//! Decodes VOP1, VOP2, VOPC, VOP3 and VOP3P.

use super::super::generation::Generation;
use super::super::tables::{
    VOP1_SRC0, VOP1_VDST, VOP2_SRC0, VOP2_VDST, VOP2_VSRC1, VOP3_ABS, VOP3_CLAMP, VOP3_NEG,
    VOP3_OMOD, VOP3_OP_SEL, VOP3_SDST, VOP3_SRC0, VOP3_SRC1, VOP3_SRC2, VOP3_VDST, VOP3P_CLAMP,
    VOP3P_NEG, VOP3P_NEG_HI, VOP3P_OP_SEL, VOP3P_OP_SEL_HI, VOP3P_OP_SEL_HI2, VOP3P_SRC0,
    VOP3P_SRC1, VOP3P_SRC2, VOP3P_VDST, VOPC_SRC0, VOPC_VSRC1,
};
use super::{Decoder, Refused};
use crate::instruction::{Format, Instruction};
use crate::operand::{LITERAL, Source, VCC, VGPRS};
use crate::row::{Class, Encoding, Field, flag};

/// The bit of `op_sel` that belongs to the result.
const RESULT: u8 = 8;

impl Decoder<'_> {
    /// Decodes VOP1, VOP2, VOPC.
    pub(super) fn vector_short(&mut self, encoding: Encoding) -> Result<Instruction, Refused> {
        let row = self.row;
        let (format, vdst, src0, vsrc1) = match encoding {
            Encoding::Vop1 => (Format::Vop1, Some(VOP1_VDST), VOP1_SRC0, None),
            Encoding::Vop2 => (Format::Vop2, Some(VOP2_VDST), VOP2_SRC0, Some(VOP2_VSRC1)),
            _ => (Format::Vopc, None, VOPC_SRC0, Some(VOPC_VSRC1)),
        };
        let mut i = self.blank(format);
        let vcc = Source::Sgpr(VCC as u16);
        match vdst {
            Some(field) if row.dst.exists() => self.short_result(&mut i, field)?,
            // `v_nop` and `v_illegal` have no result.
            Some(field) => self.reserved(field)?,
            None if row.dst.exists() => i.dst = self.sized(row.dst).holding(vcc),
            // `v_cmpx` writes `exec` only.
            None => {}
        }
        if row.sdst.exists() {
            i.sdst = self.sized(row.sdst).holding(vcc);
        }
        // The carry in, or the condition of `v_cndmask`.
        if row.src[2].class == Class::Mask {
            i.src[2] = self.sized(row.src[2]).holding(vcc);
        }
        if !row.src[0].exists() {
            // `v_illegal` has no operands; `v_nop` ignores them.
            if let Some(field) = vsrc1 {
                self.reserved(src0)?;
                self.reserved(field)?;
            }
            return Ok(i);
        }
        let code = self.field(src0);
        if !self.dpp(&mut i, code)? {
            self.short_source(&mut i, code)?;
        }
        if let Some(field) = vsrc1 {
            // With a constant after the instruction, the register may be the third source.
            let n = if row.k == 1 { 2 } else { 1 };
            let (operand, high) = self.short_vgpr(row.src[n], self.field(field));
            i.src[n] = operand;
            i.modifiers.op_sel |= u8::from(high) << n;
        }
        if row.k != 0 {
            let k = usize::from(row.k);
            i.src[k] = row.src[k].holding(Source::Literal(self.literal()?));
        }
        Ok(i)
    }

    fn short_source(&mut self, i: &mut Instruction, code: u32) -> Result<(), Refused> {
        let slot = self.row.src[0];
        if code >= VGPRS && slot.bits == 16 {
            let (operand, high) = self.short_vgpr(slot, code - VGPRS);
            i.src[0] = operand;
            i.modifiers.op_sel |= u8::from(high);
        } else {
            i.src[0] = self.vector_source(slot, code)?;
        }
        Ok(())
    }

    fn short_result(&self, i: &mut Instruction, field: Field) -> Result<(), Refused> {
        let (slot, code) = (self.row.dst, self.field(field));
        if slot.class == Class::Sgpr {
            i.dst = self.scalar_result(slot, code)?;
            return Ok(());
        }
        let (operand, high) = self.short_vgpr(slot, code);
        i.dst = operand;
        if high {
            i.modifiers.op_sel |= RESULT;
        }
        Ok(())
    }

    pub(super) fn vop3(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let with_sdst = row.sdst.exists();
        let mut i = self.blank(match with_sdst {
            true => Format::Vop3b,
            false => Format::Vop3,
        });
        let vdst = self.field(VOP3_VDST);
        i.dst = match row.dst.class {
            _ if !row.dst.exists() => i.dst,
            Class::Mask | Class::Sgpr => self.scalar_result(row.dst, vdst)?,
            _ => self.vgpr(row.dst, vdst),
        };
        if with_sdst {
            i.sdst = self.sgpr(row.sdst, self.field(VOP3_SDST))?;
        }
        if !row.src[0].exists() {
            // `v_nop` has no operands.
            for field in [VOP3_VDST, VOP3_ABS, VOP3_NEG, VOP3_OMOD, VOP3_CLAMP] {
                self.reserved(field)?;
            }
            return Ok(i);
        }
        self.long_sources(&mut i, [VOP3_SRC0, VOP3_SRC1, VOP3_SRC2])?;
        self.vop3_modifiers(&mut i, with_sdst)?;
        Ok(i)
    }

    /// The sources of VOP3 or VOP3P, the first of which may be replaced by DPP.
    fn long_sources(&mut self, i: &mut Instruction, fields: [Field; 3]) -> Result<(), Refused> {
        let dpp = {
            let code = self.field(fields[0]);
            self.dpp(i, code)?
        };
        for (n, field) in fields.into_iter().enumerate() {
            let (slot, code) = (self.row.src[n], self.field(field));
            if !slot.exists() || dpp && n == 0 {
                continue;
            }
            // The word after the instruction is taken.
            let literal = dpp && code == LITERAL;
            // RDNA 3.5 and later accept scalar registers and constants too.
            let registers_only = self.target == Generation::Gfx11 || self.row.has(flag::MIX);
            if literal || dpp && n == 1 && code < VGPRS && registers_only {
                return Err(Refused::Operand { code });
            }
            i.src[n] = self.vector_source(slot, code)?;
        }
        Ok(())
    }

    /// The modifiers of gfx12's matrix products.
    fn strict_modifiers(&mut self, i: &mut Instruction) -> Result<(), Refused> {
        let row = self.row;
        let high = self.field(VOP3P_OP_SEL_HI) | self.field(VOP3P_OP_SEL_HI2) << 2;
        if high != 0b111 {
            return Err(Refused::Operand { code: high });
        }
        // In waves of 64 lanes, a lane has half as many elements of a sparse A, if it had more than one register of them.
        let is_halved = self.lanes == 64 && row.has(flag::SPARSE) && row.src[0].bits > 32;
        let sel = if is_halved { row.sel << 1 | 1 } else { row.sel };
        for (field, known) in [
            (VOP3P_NEG, row.mods),
            (VOP3P_NEG_HI, row.neg_hi),
            (VOP3P_OP_SEL, sel),
        ] {
            self.reserved_bits(field, u32::from(!known))?;
        }
        if row.has(flag::NO_CLAMP) {
            self.reserved(VOP3P_CLAMP)?;
        }
        let m = &mut i.modifiers;
        m.neg = self.field(VOP3P_NEG) as u8;
        m.neg_hi = self.field(VOP3P_NEG_HI) as u8;
        m.op_sel = self.field(VOP3P_OP_SEL) as u8;
        m.clamp = self.is_set(VOP3P_CLAMP);
        Ok(())
    }

    fn vop3_modifiers(&mut self, i: &mut Instruction, with_sdst: bool) -> Result<(), Refused> {
        let row = self.row;
        let (abs, neg) = (self.field(VOP3_ABS) as u8, self.field(VOP3_NEG) as u8);
        let op_sel = self.field(VOP3_OP_SEL) as u8;
        let m = &mut i.modifiers;
        let unknown = u32::from(0b111 & !(row.mods | row.mods_ignored));
        self.reserved_bits(VOP3_NEG, unknown)?;
        m.neg = neg & row.mods;
        if !with_sdst {
            self.reserved_bits(VOP3_ABS, unknown)?;
            m.abs = abs & row.mods;
            let unknown = 0b1111 & !(row.sel | row.sel_ignored);
            self.reserved_bits(VOP3_OP_SEL, u32::from(unknown))?;
            m.op_sel = op_sel & row.sel;
        }
        match row.has(flag::OMOD) {
            true => m.omod = self.field(VOP3_OMOD) as u8,
            false => self.reserved(VOP3_OMOD)?,
        }
        match row.has(flag::CLAMP) {
            true => m.clamp = self.is_set(VOP3_CLAMP),
            false => self.reserved(VOP3_CLAMP)?,
        }
        Ok(())
    }

    pub(super) fn vop3p(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let mut i = self.blank(Format::Vop3p);
        i.dst = self.vgpr(row.dst, self.field(VOP3P_VDST));
        self.long_sources(&mut i, [VOP3P_SRC0, VOP3P_SRC1, VOP3P_SRC2])?;
        if row.has(flag::STRICT) {
            self.strict_modifiers(&mut i)?;
            return Ok(i);
        }
        let sources = (1_u8 << row.sources()) - 1;
        let unknown = u32::from(0b111 & !sources);
        for field in [VOP3P_NEG, VOP3P_NEG_HI] {
            self.reserved_bits(field, unknown)?;
        }
        let m = &mut i.modifiers;
        m.neg = self.field(VOP3P_NEG) as u8;
        m.neg_hi = self.field(VOP3P_NEG_HI) as u8;
        if row.has(flag::MIX) {
            m.abs = std::mem::take(&mut m.neg_hi);
        }
        match row.has(flag::NO_CLAMP) {
            true => self.reserved(VOP3P_CLAMP)?,
            false => m.clamp = self.is_set(VOP3P_CLAMP),
        }
        if row.has(flag::NO_SEL) {
            self.reserved(VOP3P_OP_SEL)?;
            return Ok(i);
        }
        self.reserved_bits(VOP3P_OP_SEL, unknown)?;
        m.op_sel = self.field(VOP3P_OP_SEL) as u8;
        let high = self.field(VOP3P_OP_SEL_HI) | self.field(VOP3P_OP_SEL_HI2) << 2;
        m.op_sel_hi = high as u8 & sources;
        if row.has(flag::MIX) {
            i.narrow_mixed_constants();
        }
        Ok(i)
    }
}
