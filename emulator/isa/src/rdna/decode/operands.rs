//! Operand codes. `m0` and `null` get the form that they have in all families.

use super::{Decoder, Refused};
use crate::operand::{
    EXEC, INLINE_FLOATS, INLINE_INTEGERS_END, LITERAL, M0, Operand, Source, TTMP, VCC, VGPRS,
};
use crate::row::{Class, Slot};

/// Operand code of `null`.
pub(super) const NULL: u32 = 124;
/// Operand code of `m0`.
const OWN_M0: u32 = 125;
/// `src_shared_base` to `src_private_limit`.
const APERTURES: std::ops::RangeInclusive<u32> = 235..=238;
/// `src_scc`.
const SCC: u32 = 253;
/// The bit of a register's number that says which half of it a short encoding means.
const HIGH_HALF: u32 = 0x80;

impl Decoder<'_> {
    /// A slot with the width that it has in a wave of this size.
    pub(super) fn sized(&self, slot: Slot) -> Slot {
        let bits = match slot.class {
            Class::Mask => self.lanes,
            Class::Tile | Class::Part => (slot.bits * 32 / self.lanes).max(32),
            _ => slot.bits,
        };
        Slot { bits, ..slot }
    }

    /// The vector registers from `index` on.
    pub(super) fn vgpr(&self, slot: Slot, index: u32) -> Operand {
        self.sized(slot).holding(Source::Vgpr(index as u16))
    }

    /// A vector register of a short encoding, and whether it is the high half of it.
    pub(super) fn short_vgpr(&self, slot: Slot, code: u32) -> (Operand, bool) {
        match slot.bits {
            16 => (self.vgpr(slot, code & !HIGH_HALF), code & HIGH_HALF != 0),
            _ => (self.vgpr(slot, code), false),
        }
    }

    /// The scalar register with this operand code. Tuples start at multiples of 2 or 4; for plain and trap registers
    /// the hardware ignores the low bits.
    pub(super) fn sgpr(&self, slot: Slot, code: u32) -> Result<Operand, Refused> {
        let slot = self.sized(slot);
        let refused = Err(Refused::Operand { code });
        let dwords = u32::from(slot.bits).div_ceil(32).max(1);
        let align = match dwords {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        let (base, end) = match code {
            NULL => return Ok(slot.holding(Source::Null)),
            OWN_M0 if dwords == 1 => return Ok(slot.holding(Source::Sgpr(M0 as u16))),
            0..VCC => (0, VCC),
            TTMP..NULL => (TTMP, NULL),
            VCC | EXEC if dwords <= 2 => return Ok(slot.holding(Source::Sgpr(code as u16))),
            _ if dwords == 1 && code < 128 => return Ok(slot.holding(Source::Sgpr(code as u16))),
            _ => return refused,
        };
        let first = base + (code - base) / align * align;
        if first + dwords > end {
            return refused;
        }
        Ok(slot.holding(Source::Sgpr(first as u16)))
    }

    /// The scalar source with this operand code, below 256, without literals.
    pub(super) fn scalar(&self, slot: Slot, code: u32) -> Result<Operand, Refused> {
        let slot = self.sized(slot);
        let constant = (128..INLINE_INTEGERS_END).contains(&code) || INLINE_FLOATS.contains(&code);
        let special = APERTURES.contains(&code) || code == SCC;
        let taken = match slot.class {
            Class::Mask => false,
            Class::Sgpr => special,
            Class::Tile => constant,
            _ => constant || special,
        };
        match code {
            0..128 if slot.class != Class::Tile => self.sgpr(slot, code),
            _ if taken => Ok(slot.holding(Source::Inline(code as u16))),
            _ => Err(Refused::Operand { code }),
        }
    }

    /// A scalar source that may be a literal.
    pub(super) fn scalar_source(&mut self, slot: Slot, code: u32) -> Result<Operand, Refused> {
        if code == LITERAL && slot.takes_literal() {
            return Ok(slot.holding(Source::Literal(self.literal()?)));
        }
        self.scalar(slot, code)
    }

    /// A vector source with a 9-bit code, which may be a literal.
    pub(super) fn vector_source(&mut self, slot: Slot, code: u32) -> Result<Operand, Refused> {
        match (slot.class, code) {
            (Class::Any | Class::Vgpr | Class::Tile | Class::Part, VGPRS..) => {
                Ok(self.vgpr(slot, code - VGPRS))
            }
            (Class::Vgpr | Class::Part, _) | (_, VGPRS..) => Err(Refused::Operand { code }),
            _ => self.scalar_source(slot, code),
        }
    }

    /// A scalar result.
    pub(super) fn scalar_result(&self, slot: Slot, code: u32) -> Result<Operand, Refused> {
        match code {
            0..128 => self.sgpr(slot, code),
            _ => Err(Refused::Operand { code }),
        }
    }
}
