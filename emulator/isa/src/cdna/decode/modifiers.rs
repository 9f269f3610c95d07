//! Decodes SDWA and DPP: the second word of short vector encodings.

use super::super::operand::Refused;
use super::super::tables::{
    DPP_BANK_MASK, DPP_BOUND_CTRL, DPP_CONTROL, DPP_ROW_MASK, DPP_SRC0, DPP_SRC0_ABS, DPP_SRC0_NEG,
    DPP_SRC1_ABS, DPP_SRC1_NEG, SDWA_CLAMP, SDWA_DST_SEL, SDWA_DST_UNUSED, SDWA_OMOD, SDWA_S0,
    SDWA_S1, SDWA_SD, SDWA_SDST, SDWA_SRC0, SDWA_SRC0_ABS, SDWA_SRC0_NEG, SDWA_SRC0_SEL,
    SDWA_SRC0_SEXT, SDWA_SRC1_ABS, SDWA_SRC1_NEG, SDWA_SRC1_SEL, SDWA_SRC1_SEXT,
};
use super::Decoder;
use crate::instruction::{Dpp, Extension, Instruction, Sdwa, SdwaSelect, SdwaUnused};
use crate::operand::{Operand, Source, VCC};
use crate::row::{Encoding, Field, Row, SdwaModifiers, Slot, flag};

/// Bits of an SDWA word for the second source. Bit 62 is ignored.
const SECOND_SOURCE: u64 = 0xbf << 56;
/// 3-bit selectors from here on are reserved.
const SELECTORS_END: u32 = 7;

impl Row {
    /// Whether the instruction has a second source; in the short encodings it is a vector register.
    fn has_second_source(&self) -> bool {
        self.src[1].exists()
    }
}

impl Decoder<'_> {
    /// Decodes the first source, the second source's code and the modifiers of an SDWA word. The caller decodes the
    /// destination.
    pub(super) fn sdwa(
        &mut self,
        i: &mut Instruction,
        encoding: Encoding,
        vsrc1: Option<u32>,
    ) -> Result<(), Refused> {
        let Some(kinds) = self.row.sdwa else {
            return Err(Refused::Unknown);
        };
        self.extend()?;
        let mut sdwa = Sdwa::default();
        let fields = [
            (SDWA_SRC0_SEL, SDWA_SRC0_SEXT, SDWA_SRC0_NEG, SDWA_SRC0_ABS),
            (SDWA_SRC1_SEL, SDWA_SRC1_SEXT, SDWA_SRC1_NEG, SDWA_SRC1_ABS),
        ];
        let sources = if self.row.has_second_source() { 2 } else { 1 };
        if sources == 1 {
            self.reserved(SECOND_SOURCE)?;
        }
        for (n, (sel, sext, neg, abs)) in fields.into_iter().take(sources).enumerate() {
            sdwa.src_sel[n] = self.selector(sel)?;
            match kinds[n] {
                SdwaModifiers::Float => {
                    self.reserved(sext.mask())?;
                    i.modifiers.neg |= u8::from(self.is_set(neg)) << n;
                    i.modifiers.abs |= u8::from(self.is_set(abs)) << n;
                }
                SdwaModifiers::Integer => {
                    self.reserved(neg.mask() | abs.mask())?;
                    sdwa.sext[n] = self.is_set(sext);
                }
                SdwaModifiers::Ignored => self.reserved(sext.mask())?,
            }
        }
        i.src[0] = self.sdwa_source(self.row.src[0], self.field(SDWA_SRC0), SDWA_S0)?;
        if let Some(vsrc1) = vsrc1 {
            i.src[1] = self.sdwa_source(self.row.src[1], vsrc1, SDWA_S1)?;
        }
        if encoding == Encoding::Vopc {
            let slot = self.row.dst;
            i.dst = match self.is_set(SDWA_SD) {
                true => slot.sgpr(self.field(SDWA_SDST))?,
                false => slot.holding(Source::Sgpr(VCC as u16)),
            };
        } else {
            sdwa.dst_sel = self.selector(SDWA_DST_SEL)?;
            let whole = self.row.has(flag::WHOLE_IN_SDWA);
            if whole && sdwa.dst_sel != SdwaSelect::Dword {
                return Err(Refused::Operand {
                    code: sdwa.dst_sel as u32,
                });
            }
            sdwa.dst_unused = match self.field(SDWA_DST_UNUSED) {
                0 => SdwaUnused::Pad,
                _ if whole => SdwaUnused::Pad,
                1 => SdwaUnused::Sext,
                2 => SdwaUnused::Preserve,
                _ => return self.reserved(SDWA_DST_UNUSED.mask()),
            };
            i.modifiers.clamp = self.is_set(SDWA_CLAMP);
            match self.row.has(flag::OMOD_IN_SDWA) {
                true => i.modifiers.omod = self.field(SDWA_OMOD) as u8,
                false => self.reserved(SDWA_OMOD.mask())?,
            }
        }
        i.extension = Extension::Sdwa(sdwa);
        Ok(())
    }

    fn selector(&self, field: Field) -> Result<SdwaSelect, Refused> {
        Ok(match self.field(field) {
            0 => SdwaSelect::Byte0,
            1 => SdwaSelect::Byte1,
            2 => SdwaSelect::Byte2,
            3 => SdwaSelect::Byte3,
            4 => SdwaSelect::Word0,
            5 => SdwaSelect::Word1,
            SELECTORS_END.. => {
                self.reserved(field.mask())?;
                SdwaSelect::Dword
            }
            _ => SdwaSelect::Dword,
        })
    }

    /// A vector register, or a scalar source if the bit of `scalar` is set.
    fn sdwa_source(&self, slot: Slot, code: u32, scalar: Field) -> Result<Operand, Refused> {
        match self.is_set(scalar) {
            true => slot.scalar(code),
            false => slot.vgpr(self.target, code),
        }
    }

    /// Decodes the first source and the modifiers of a DPP word.
    pub(super) fn dpp(&mut self, i: &mut Instruction) -> Result<(), Refused> {
        if !self.row.has(flag::DPP) {
            return Err(Refused::Unknown);
        }
        self.extend()?;
        let control = self.field(DPP_CONTROL) as u16;
        // Operands that are masks in scalar registers do not count.
        let wide = i.dst.bits > 32 || self.row.src[..2].iter().any(|slot| slot.bits > 32);
        if !self.takes_dpp_control(control, wide) {
            return Err(Refused::Operand {
                code: u32::from(control),
            });
        }
        let fields = [(DPP_SRC0_NEG, DPP_SRC0_ABS), (DPP_SRC1_NEG, DPP_SRC1_ABS)];
        for (n, (neg, abs)) in fields.into_iter().enumerate() {
            if self.row.mods & 1 << n != 0 {
                i.modifiers.neg |= u8::from(self.is_set(neg)) << n;
                i.modifiers.abs |= u8::from(self.is_set(abs)) << n;
            } else if self.row.mods_ignored & 1 << n == 0 {
                self.reserved(neg.mask() | abs.mask())?;
            }
        }
        i.src[0] = self.row.src[0].vgpr(self.target, self.field(DPP_SRC0))?;
        i.extension = Extension::Dpp(Dpp {
            control,
            row_mask: self.field(DPP_ROW_MASK) as u8,
            bank_mask: self.field(DPP_BANK_MASK) as u8,
            bound_ctrl: self.is_set(DPP_BOUND_CTRL),
            fetch_inactive: false,
        });
        Ok(())
    }

    /// Whether the GPU has this permutation for this width of data.
    fn takes_dpp_control(&self, control: u16, wide: bool) -> bool {
        let newbcast = (0x150..=0x15f).contains(&control);
        if newbcast {
            return self.has_accumulators_everywhere();
        }
        if wide && self.has_accumulators_everywhere() {
            return false;
        }
        match control {
            0..=0xff => true,
            // row_shl, row_shr, row_ror by 1 to 15
            0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f => true,
            // wave_shl, wave_rol, wave_shr, wave_ror by 1, row_mirror, row_half_mirror, row_bcast 15 and 31
            0x130 | 0x134 | 0x138 | 0x13c | 0x140..=0x143 => true,
            _ => false,
        }
    }
}
