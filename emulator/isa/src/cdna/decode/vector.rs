//! Decodes VOP1, VOP2, VOPC, VOP3, VOP3P and the matrix instructions.

use ferrowave_gpu::Gpu;

use super::super::lookup;
use super::super::operand::{DPP, Refused, SDWA};
use super::super::tables::{
    MAI_ABID, MAI_ACC, MAI_ACC_CD, MAI_BLGP, MAI_CBSZ, MAI_SRC0, MAI_SRC1, MAI_SRC2, MAI_VDST,
    VOP1_SRC0, VOP1_VDST, VOP2_SRC0, VOP2_VDST, VOP2_VSRC1, VOP3_ABS, VOP3_CLAMP, VOP3_NEG,
    VOP3_OMOD, VOP3_OP_SEL, VOP3_SDST, VOP3_SRC0, VOP3_SRC1, VOP3_SRC2, VOP3_VDST, VOP3P_CLAMP,
    VOP3P_NEG, VOP3P_NEG_HI, VOP3P_OP_SEL, VOP3P_OP_SEL_HI, VOP3P_OP_SEL_HI2, VOP3P_SRC0,
    VOP3P_SRC1, VOP3P_SRC2, VOP3P_VDST, VOPC_SRC0, VOPC_VSRC1,
};
use super::Decoder;
use crate::data_type::DataType;
use crate::instruction::{Format, Instruction};
use crate::operand::{LITERAL, Operand, Source, VCC, VGPRS};
use crate::ops::Op;
use crate::row::{Class, Encoding, Field, Slot, flag};

/// The slot of a matrix product's scale on gfx950.
const SCALE: Slot = Slot::new(32, DataType::B);

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
        let vsrc1 = vsrc1.map(|field| self.field(field));
        match vdst {
            Some(field) if row.dst.exists() => i.dst = self.short_destination(self.field(field))?,
            // `v_nop` and `v_clrexcp` have no result.
            Some(field) => self.reserved(field.mask())?,
            None => i.dst = row.dst.holding(Source::Sgpr(VCC as u16)),
        }
        if row.sdst.exists() {
            i.sdst = row.sdst.holding(Source::Sgpr(VCC as u16));
        }
        // The carry in, or the condition of `v_cndmask`.
        if row.src[2].exists() && row.k == 0 {
            i.src[2] = row.src[2].holding(Source::Sgpr(VCC as u16));
        }
        let code = self.field(src0);
        match code {
            _ if !row.src[0].exists() => {}
            SDWA => self.sdwa(&mut i, encoding, vsrc1)?,
            DPP => {
                self.dpp(&mut i)?;
                if let Some(index) = vsrc1 {
                    i.src[1] = row.src[1].vgpr(self.target, index)?;
                }
            }
            _ if row.k != 0 => {
                let k = usize::from(row.k);
                let value = self.literal()?;
                i.src[0] = self.vector_source(row.src[0], code)?;
                i.src[k] = row.src[k].holding(Source::Literal(value));
                i.src[3 - k] = row.src[3 - k].vgpr(self.target, vsrc1.unwrap_or(0))?;
            }
            _ => {
                i.src[0] = self.vector_source(row.src[0], code)?;
                if let Some(index) = vsrc1 {
                    i.src[1] = row.src[1].vgpr(self.target, index)?;
                }
            }
        }
        Ok(i)
    }

    fn short_destination(&self, code: u32) -> Result<Operand, Refused> {
        let slot = self.row.dst;
        match slot.class {
            Class::Sgpr => slot.lane_destination(code),
            Class::Agpr => slot.agpr(self.target, code),
            _ => slot.vgpr(self.target, code),
        }
    }

    pub(super) fn vop3(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        let row = self.row;
        let with_sdst = row.sdst.exists();
        let mut i = self.blank(if with_sdst {
            Format::Vop3b
        } else {
            Format::Vop3
        });
        let vdst = self.field(VOP3_VDST);
        if !row.dst.exists() {
            // `v_nop` and `v_clrexcp` have no operands.
            let fields = [VOP3_VDST, VOP3_ABS, VOP3_NEG, VOP3_OMOD, VOP3_CLAMP];
            self.reserved(fields.iter().map(|field| field.mask()).sum())?;
            return Ok(i);
        }
        i.dst = match row.encoding {
            Encoding::Vopc => row.dst.sgpr_or_vcc(vdst)?,
            _ => self.short_destination(vdst)?,
        };
        if with_sdst {
            i.sdst = row.sdst.sgpr(self.field(VOP3_SDST))?;
        }
        for (n, field) in [VOP3_SRC0, VOP3_SRC1, VOP3_SRC2].into_iter().enumerate() {
            let slot = row.src[n];
            if slot.exists() {
                i.src[n] = self.long_source(slot, self.field(field))?;
            }
        }
        self.vop3_modifiers(&mut i, with_sdst)?;
        Ok(i)
    }

    /// A source of VOP3 or VOP3P. Only gfx950 accepts literals here.
    fn long_source(&mut self, slot: Slot, code: u32) -> Result<Operand, Refused> {
        if code == LITERAL && self.target != Gpu::Gfx950 {
            return Err(Refused::Operand { code });
        }
        self.vector_source(slot, code)
    }

    fn vop3_modifiers(&mut self, i: &mut Instruction, with_sdst: bool) -> Result<(), Refused> {
        let row = self.row;
        let m = &mut i.modifiers;
        let (abs, neg) = (self.field(VOP3_ABS) as u8, self.field(VOP3_NEG) as u8);
        let (omod, op_sel) = (self.field(VOP3_OMOD) as u8, self.field(VOP3_OP_SEL) as u8);
        if row.has(flag::BITOP3) {
            m.bitop3 = neg | abs << 3 | omod << 6;
        } else {
            let unknown = 0b111 & !(row.mods | row.mods_ignored);
            let in_place = |field: Field, bits: u8| u64::from(bits) << field.low;
            self.reserved(in_place(VOP3_NEG, unknown))?;
            m.neg = neg & row.mods;
            if !with_sdst {
                self.reserved(in_place(VOP3_ABS, unknown))?;
                m.abs = abs & row.mods;
            }
            match row.has(flag::OMOD) {
                true => m.omod = omod,
                false => self.reserved(VOP3_OMOD.mask())?,
            }
        }
        if !with_sdst {
            let unknown = 0b1111 & !(row.sel | row.sel_ignored);
            self.reserved(u64::from(unknown) << VOP3_OP_SEL.low)?;
            m.op_sel = op_sel & row.sel;
        }
        match row.has(flag::CLAMP) {
            true => m.clamp = self.is_set(VOP3_CLAMP),
            false => self.reserved(VOP3_CLAMP.mask())?,
        }
        Ok(())
    }

    /// Decodes VOP3P, the matrix instructions, and a scaled matrix product, which is a pair of the two.
    pub(super) fn vop3p_family(&mut self) -> Result<Instruction, Refused> {
        self.extend()?;
        match self.row.encoding {
            Encoding::Mai => self.mai(),
            _ if self.row.op == Op::v_mfma_ld_scale_b32 => match self.scaled()? {
                Some(scaled) => Ok(scaled),
                None => self.vop3p(),
            },
            _ => self.vop3p(),
        }
    }

    fn vop3p(&mut self) -> Result<Instruction, Refused> {
        let row = self.row;
        let mut i = self.blank(Format::Vop3p);
        match row.dst.exists() {
            true => i.dst = row.dst.vgpr(self.target, self.field(VOP3P_VDST))?,
            false => self.reserved(VOP3P_VDST.mask() | VOP3P_CLAMP.mask())?,
        }
        for (n, field) in [VOP3P_SRC0, VOP3P_SRC1, VOP3P_SRC2].into_iter().enumerate() {
            if row.src[n].exists() {
                i.src[n] = self.long_source(row.src[n], self.field(field))?;
            }
        }
        self.vop3p_modifiers(&mut i)?;
        Ok(i)
    }

    fn vop3p_modifiers(&mut self, i: &mut Instruction) -> Result<(), Refused> {
        let row = self.row;
        let sources = (1_u8 << row.sources()) - 1;
        let unknown = u64::from(0b111 & !sources);
        self.reserved(unknown << VOP3P_NEG.low | unknown << VOP3P_NEG_HI.low)?;
        let m = &mut i.modifiers;
        // `v_mfma_ld_scale` has no result, and its scales have no negation.
        if row.dst.exists() {
            m.neg = self.field(VOP3P_NEG) as u8;
            m.neg_hi = self.field(VOP3P_NEG_HI) as u8;
        }
        if row.has(flag::MIX) {
            m.abs = std::mem::take(&mut m.neg_hi);
        }
        m.clamp = self.is_set(VOP3P_CLAMP);
        let op_sel = self.field(VOP3P_OP_SEL) as u8;
        if row.has(flag::NO_SEL) {
            return self.reserved(VOP3P_OP_SEL.mask());
        }
        self.reserved(unknown << VOP3P_OP_SEL.low)?;
        m.op_sel = op_sel;
        let high = self.field(VOP3P_OP_SEL_HI) | self.field(VOP3P_OP_SEL_HI2) << 2;
        m.op_sel_hi = high as u8 & sources;
        if row.has(flag::MIX) {
            i.narrow_mixed_constants();
        }
        Ok(())
    }

    fn mai(&mut self) -> Result<Instruction, Refused> {
        let row = self.row;
        let mut i = self.blank(Format::Mai);
        let vdst = self.field(MAI_VDST);
        if !row.src[1].exists() {
            return self.accumulator_move(i);
        }
        let acc = self.field(MAI_ACC);
        let accumulates = self.target == Gpu::Gfx908 || self.is_set(MAI_ACC_CD);
        i.matrix.cbsz = self.field(MAI_CBSZ) as u8;
        i.matrix.blgp = self.field(MAI_BLGP) as u8;
        match row.has(flag::F8F6F4) {
            true => self.reserved(MAI_ABID.mask())?,
            false => i.matrix.abid = self.field(MAI_ABID) as u8,
        }
        if row.has(flag::SPARSE) {
            self.reserved(MAI_BLGP.mask())?;
        }
        i.dst = self.register(row.dst, VGPRS + vdst, accumulates)?;
        let (slot_a, slot_b) = match row.has(flag::F8F6F4) {
            true => (
                narrowed(row.src[0], i.matrix.cbsz)?,
                narrowed(row.src[1], i.matrix.blgp)?,
            ),
            false => (row.src[0], row.src[1]),
        };
        i.src[0] = self.register(slot_a, self.field(MAI_SRC0), acc & 1 != 0)?;
        i.src[1] = self.register(slot_b, self.field(MAI_SRC1), acc & 2 != 0)?;
        let code = self.field(MAI_SRC2);
        i.src[2] = match code {
            // The index of a sparse product is never in accumulators.
            VGPRS.. => self.register(row.src[2], code, accumulates && !row.has(flag::SPARSE))?,
            128..=208 | 240..=248 if !row.has(flag::SPARSE) => row.src[2].scalar(code)?,
            _ => return Err(Refused::Operand { code }),
        };
        Ok(i)
    }

    /// Decodes `v_accvgpr_read` and `v_accvgpr_write`.
    fn accumulator_move(&mut self, mut i: Instruction) -> Result<Instruction, Refused> {
        let row = self.row;
        self.reserved(VOP3P_NEG.mask() | VOP3P_NEG_HI.mask() | VOP3P_OP_SEL.mask())?;
        i.dst = self.short_destination(self.field(MAI_VDST))?;
        i.src[0] = self.vector_source(row.src[0], self.field(MAI_SRC0))?;
        Ok(i)
    }

    /// A register operand of a matrix instruction.
    fn register(&self, slot: Slot, code: u32, accumulator: bool) -> Result<Operand, Refused> {
        let Some(index) = code.checked_sub(VGPRS) else {
            return Err(Refused::Operand { code });
        };
        match accumulator {
            true => slot.agpr(self.target, index),
            false => slot.vgpr(self.target, index),
        }
    }

    /// Decodes a scale and the matrix product after it as one instruction.
    fn scaled(&mut self) -> Result<Option<Instruction>, Refused> {
        let scales = self.bits as u64;
        let (Some(&third), Some(&fourth)) = (self.words.get(2), self.words.get(3)) else {
            return Ok(None);
        };
        let product = u64::from(third) | u64::from(fourth) << 32;
        let opcode = (third >> 16 & 0x7f) as usize;
        // This bit of the product's otherwise unused `abid` marks it as scaled.
        const SCALED: u64 = 1;
        let is_product =
            third >> 23 == 0xd380_0000 >> 23 && u64::from(MAI_ABID.of(product)) == SCALED;
        let Some(row) =
            lookup::by_number(self.target, Encoding::Vop3px2, opcode).filter(|_| is_product)
        else {
            return Ok(None);
        };
        self.row = row;
        let mut i = self.blank(Format::Mai);
        i.modifiers.op_sel = VOP3P_OP_SEL.of(scales) as u8 & 0b11;
        i.modifiers.op_sel_hi = VOP3P_OP_SEL_HI.of(scales) as u8;
        i.matrix.scale = [
            self.register(SCALE, VOP3P_SRC0.of(scales), false)?,
            self.register(SCALE, VOP3P_SRC1.of(scales), false)?,
        ];
        self.bits = (product & !MAI_ABID.mask()).into();
        self.used = 4;
        let inner = self.mai()?;
        i.dst = inner.dst;
        i.src = inner.src;
        i.matrix.cbsz = inner.matrix.cbsz;
        i.matrix.blgp = inner.matrix.blgp;
        Ok(Some(i))
    }
}

/// The slot of A or B in a format: formats 0 and 1 have 8 bits per element, 2 and 3 have 6, 4 has 4.
fn narrowed(slot: Slot, format: u8) -> Result<Slot, Refused> {
    let bits = match format {
        0 | 1 => 256,
        2 | 3 => 192,
        4 => 128,
        _ => {
            return Err(Refused::Operand {
                code: u32::from(format),
            });
        }
    };
    Ok(Slot { bits, ..slot })
}
