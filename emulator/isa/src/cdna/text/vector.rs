//! Prints VOP1, VOP2, VOPC, VOP3, VOP3P and MAI.

use std::fmt;

use crate::instruction::{Dpp, Extension, Format, Instruction, Sdwa, SdwaSelect, SdwaUnused};
use crate::operand::Source;
use crate::row::{SdwaModifiers, flag};
use crate::writer::Writer;

/// `op_sel` bits that only lane swaps have. They correspond to DPP's bits of the same names.
const LANE_SWAP_BITS: u8 = 0b11;

impl Writer<'_, '_> {
    /// Writes the operands of VOP1, VOP2, VOPC, VOP3.
    pub(super) fn vector(&mut self, i: &Instruction) -> fmt::Result {
        self.operand(&i.dst)?;
        self.operand(&i.sdst)?;
        for n in 0..3 {
            self.source(i, n)?;
        }
        if self.row.has(flag::BITOP3) {
            self.bitop3(i)?;
        }
        match i.extension {
            Extension::Sdwa(sdwa) => {
                self.clamp_and_omod(i)?;
                self.sdwa(i, &sdwa)
            }
            Extension::Dpp(dpp) => self.dpp(&dpp),
            Extension::None | Extension::Dpp8(_) => {
                self.op_sel(i)?;
                self.clamp_and_omod(i)
            }
        }
    }

    fn bitop3(&mut self, i: &Instruction) -> fmt::Result {
        match i.modifiers.bitop3 {
            0 => Ok(()),
            table @ 1..=10 => write!(self.f, " bitop3:{table}"),
            table => write!(self.f, " bitop3:{table:#x}"),
        }
    }

    /// Writes a source with its modifiers.
    fn source(&mut self, i: &Instruction, n: usize) -> fmt::Result {
        let operand = &i.src[n];
        if operand.source == Source::None {
            return Ok(());
        }
        self.separate()?;
        if let Source::Literal(value) = operand.source
            && n > 0
            && usize::from(self.row.k) == n
        {
            return write!(self.f, "{value:#x}");
        }
        if let Extension::Sdwa(sdwa) = i.extension
            && sdwa.sext.get(n) == Some(&true)
        {
            self.f.write_str("sext(")?;
            self.bare(operand)?;
            return self.f.write_str(")");
        }
        let (open, close) = self.modifiers(i, n);
        self.f.write_str(open)?;
        self.bare(operand)?;
        self.f.write_str(close)
    }

    /// Writes the selected halves of 16-bit operands: the sources, then the destination (bit 3).
    fn op_sel(&mut self, i: &Instruction) -> fmt::Result {
        if i.modifiers.op_sel == 0 {
            return Ok(());
        }
        if self.row.sel == LANE_SWAP_BITS {
            self.word_if(i.modifiers.op_sel & 0b10 != 0, "bound_ctrl:1")?;
            return self.word_if(i.modifiers.op_sel & 0b01 != 0, "fi:1");
        }
        self.bits("op_sel", i.modifiers.op_sel, self.row.sel)
    }

    fn sdwa(&mut self, i: &Instruction, sdwa: &Sdwa) -> fmt::Result {
        if i.format != Format::Vopc && !self.row.has(flag::WHOLE_IN_SDWA) {
            let unused = match sdwa.dst_unused {
                SdwaUnused::Pad => "PAD",
                SdwaUnused::Sext => "SEXT",
                SdwaUnused::Preserve => "PRESERVE",
            };
            let sel = select(sdwa.dst_sel);
            write!(self.f, " dst_sel:{sel} dst_unused:UNUSED_{unused}")?;
        }
        let kinds = self.row.sdwa.unwrap_or([SdwaModifiers::Ignored; 2]);
        for n in 0..kinds.len() {
            if self.row.src[n].exists() {
                write!(self.f, " src{n}_sel:{}", select(sdwa.src_sel[n]))?;
            }
        }
        Ok(())
    }

    fn dpp(&mut self, dpp: &Dpp) -> fmt::Result {
        let control = dpp.control;
        let lanes = control & 0xf;
        match control {
            0..=0xff => {
                let lane = |n: u16| control >> (2 * n) & 3;
                let (a, b, c, d) = (lane(0), lane(1), lane(2), lane(3));
                write!(self.f, " quad_perm:[{a},{b},{c},{d}]")?;
            }
            0x100..=0x10f => write!(self.f, " row_shl:{lanes}")?,
            0x110..=0x11f => write!(self.f, " row_shr:{lanes}")?,
            0x120..=0x12f => write!(self.f, " row_ror:{lanes}")?,
            0x130 => self.f.write_str(" wave_shl:1")?,
            0x134 => self.f.write_str(" wave_rol:1")?,
            0x138 => self.f.write_str(" wave_shr:1")?,
            0x13c => self.f.write_str(" wave_ror:1")?,
            0x140 => self.f.write_str(" row_mirror")?,
            0x141 => self.f.write_str(" row_half_mirror")?,
            0x142 => self.f.write_str(" row_bcast:15")?,
            0x143 => self.f.write_str(" row_bcast:31")?,
            _ => write!(self.f, " row_newbcast:{lanes}")?,
        }
        let (row_mask, bank_mask) = (dpp.row_mask, dpp.bank_mask);
        write!(self.f, " row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}")?;
        self.word_if(dpp.bound_ctrl, "bound_ctrl:1")
    }

    pub(super) fn packed(&mut self, i: &Instruction) -> fmt::Result {
        self.operand(&i.dst)?;
        let m = &i.modifiers;
        if self.row.has(flag::MIX) {
            for n in 0..3 {
                self.source(i, n)?;
            }
        } else {
            for source in &i.src {
                self.operand(source)?;
            }
        }
        let all = (1 << self.row.sources()) - 1;
        if m.op_sel != 0 {
            self.bits("op_sel", m.op_sel, all)?;
        }
        let default = if self.row.has(flag::MIX) { 0 } else { all };
        if m.op_sel_hi != default && !self.row.has(flag::NO_SEL) {
            self.bits("op_sel_hi", m.op_sel_hi, all)?;
        }
        if !self.row.has(flag::MIX) {
            if m.neg != 0 {
                self.bits("neg_lo", m.neg, all)?;
            }
            if m.neg_hi != 0 {
                self.bits("neg_hi", m.neg_hi, all)?;
            }
        }
        self.word_if(m.clamp, "clamp")
    }

    pub(super) fn matrix(&mut self, i: &Instruction) -> fmt::Result {
        self.operand(&i.dst)?;
        for source in &i.src {
            self.operand(source)?;
        }
        for scale in &i.matrix.scale {
            self.operand(scale)?;
        }
        if i.matrix.scale[0].source != Source::None {
            if i.modifiers.op_sel != 0 {
                self.bits("op_sel", i.modifiers.op_sel, 0b111)?;
            }
            self.bits("op_sel_hi", i.modifiers.op_sel_hi, 0b111)?;
        }
        self.number_unless_0("cbsz", i.matrix.cbsz)?;
        self.number_unless_0("abid", i.matrix.abid)?;
        match i.matrix.blgp {
            0 => Ok(()),
            neg if self.row.has(flag::NEG) && self.is_gfx942_or_later() => {
                self.bits("neg", neg, 0b111)
            }
            blgp => self.number_unless_0("blgp", blgp),
        }
    }
}

fn select(part: SdwaSelect) -> &'static str {
    match part {
        SdwaSelect::Byte0 => "BYTE_0",
        SdwaSelect::Byte1 => "BYTE_1",
        SdwaSelect::Byte2 => "BYTE_2",
        SdwaSelect::Byte3 => "BYTE_3",
        SdwaSelect::Word0 => "WORD_0",
        SdwaSelect::Word1 => "WORD_1",
        SdwaSelect::Dword => "DWORD",
    }
}
