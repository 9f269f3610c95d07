//! Decodes DPP16 and DPP8: the word after a vector instruction in place of its first source.

use super::super::tables::{
    DPP_BANK_MASK, DPP_BOUND_CTRL, DPP_CONTROL, DPP_FI, DPP_ROW_MASK, DPP_SRC0, DPP_SRC0_ABS,
    DPP_SRC0_NEG, DPP_SRC1_ABS, DPP_SRC1_NEG,
};
use super::{Decoder, Refused};
use crate::instruction::{Dpp, Dpp8, Extension, Format, Instruction};
use crate::row::flag;

/// Operand codes that mark an extension in place of the first source.
const DPP8: u32 = 233;
const DPP8_FETCH_INACTIVE: u32 = 234;
const DPP16: u32 = 250;

impl Decoder<'_> {
    /// Decodes the extension that the first source's code marks, and the first source. Returns whether there is one.
    pub(super) fn dpp(&mut self, i: &mut Instruction, code: u32) -> Result<bool, Refused> {
        if !matches!(code, DPP8 | DPP8_FETCH_INACTIVE | DPP16) {
            return Ok(false);
        }
        if !self.row.has(flag::DPP) {
            return Err(Refused::Operand { code });
        }
        let word = u64::from(self.next_word()?);
        let short = matches!(i.format, Format::Vop1 | Format::Vop2 | Format::Vopc);
        let register = DPP_SRC0.of(word);
        let slot = self.row.src[0];
        if short {
            let (operand, high) = self.short_vgpr(slot, register);
            i.src[0] = operand;
            i.modifiers.op_sel |= u8::from(high);
        } else {
            i.src[0] = self.vgpr(slot, register);
        }
        if code != DPP16 {
            i.extension = Extension::Dpp8(Dpp8 {
                lanes: word as u32 >> 8,
                fetch_inactive: code == DPP8_FETCH_INACTIVE,
            });
            return Ok(true);
        }
        let control = DPP_CONTROL.of(word);
        if !is_control(control) {
            return Err(Refused::Operand { code: control });
        }
        // The long encodings have modifiers of their own.
        if short {
            let fields = [(DPP_SRC0_NEG, DPP_SRC0_ABS), (DPP_SRC1_NEG, DPP_SRC1_ABS)];
            for (n, (neg, abs)) in fields.into_iter().enumerate() {
                if self.row.mods & 1 << n != 0 {
                    i.modifiers.neg |= u8::from(neg.is_set(word)) << n;
                    i.modifiers.abs |= u8::from(abs.is_set(word)) << n;
                } else if self.row.mods_ignored & 1 << n == 0
                    && word & (neg.mask() | abs.mask()) != 0
                {
                    let bits = (word & (neg.mask() | abs.mask())) as u32;
                    return Err(Refused::Reserved { bits });
                }
            }
        }
        i.extension = Extension::Dpp(Dpp {
            control: control as u16,
            row_mask: DPP_ROW_MASK.of(word) as u8,
            bank_mask: DPP_BANK_MASK.of(word) as u8,
            bound_ctrl: DPP_BOUND_CTRL.is_set(word),
            fetch_inactive: DPP_FI.is_set(word),
        });
        Ok(true)
    }
}

/// Whether a permutation exists: `quad_perm`, `row_shl`, `row_shr`, `row_ror`, `row_mirror`, `row_half_mirror`,
/// `row_share`, `row_xmask`.
fn is_control(control: u32) -> bool {
    matches!(
        control,
        0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x140 | 0x141 | 0x150..=0x16f
    )
}
