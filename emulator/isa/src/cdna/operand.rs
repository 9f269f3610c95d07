//! Operand codes: registers, inline constants, literals.

use ferrowave_gpu::Gpu;

use crate::error::DecodeErrorKind;
use crate::operand::{
    EXEC, INLINE_FLOATS, INLINE_INTEGERS_END, M0, Operand, Source, TTMP, VCC, VGPRS,
};
use crate::row::{Class, Slot};

/// First operand code of `flat_scratch`.
pub(super) const FLAT_SCRATCH: u32 = 102;
/// First operand code of `xnack_mask`.
pub(super) const XNACK_MASK: u32 = 104;
/// `src_shared_base` to `src_pops_exiting_wave_id`.
const APERTURES: std::ops::RangeInclusive<u32> = 235..=239;
/// `src_vccz`, `src_execz`, `src_scc`.
const FLAGS: std::ops::RangeInclusive<u32> = 251..=253;
/// Operand code that marks SDWA in place of the first source.
pub(super) const SDWA: u32 = 249;
/// Operand code that marks DPP in place of the first source.
pub(super) const DPP: u32 = 250;
/// Operand code of LDS as a direct source.
const LDS_DIRECT: u32 = 254;

/// Why an operand code is refused.
pub(super) type Refused = DecodeErrorKind;

impl Slot {
    /// The vector register tuple that starts at `index`.
    pub(super) fn vgpr(self, gpu: Gpu, index: u32) -> Result<Operand, Refused> {
        self.check_tuple(gpu, index)?;
        Ok(self.holding(Source::Vgpr(index as u16)))
    }

    /// The accumulator register tuple that starts at `index`.
    pub(super) fn agpr(self, gpu: Gpu, index: u32) -> Result<Operand, Refused> {
        self.check_tuple(gpu, index)?;
        if index + u32::from(self.bits.div_ceil(32)) > 256 {
            return Err(Refused::Operand { code: index });
        }
        Ok(self.holding(Source::Agpr(index as u16)))
    }

    fn check_tuple(self, gpu: Gpu, register: u32) -> Result<(), Refused> {
        let aligned = gpu != Gpu::Gfx908 && self.class != Class::Odd;
        if self.bits > 32 && register % 2 != 0 && aligned {
            return Err(Refused::Misaligned { register });
        }
        Ok(())
    }

    /// The scalar register with this operand code. Tuples start at multiples of 2 or 4; for plain and trap registers
    /// the hardware ignores the low bits.
    pub(super) fn sgpr(self, code: u32) -> Result<Operand, Refused> {
        let refused = Err(Refused::Operand { code });
        let dwords = u32::from(self.bits).div_ceil(32).max(1);
        let align = match dwords {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        let (base, end) = match code {
            0..FLAT_SCRATCH => (0, VCC - 2),
            TTMP..M0 => (TTMP, M0),
            _ if dwords == 1 && code != M0 + 1 => {
                return Ok(self.holding(Source::Sgpr(code as u16)));
            }
            FLAT_SCRATCH | XNACK_MASK | VCC | EXEC if dwords == 2 => {
                return Ok(self.holding(Source::Sgpr(code as u16)));
            }
            _ => return refused,
        };
        let first = base + (code - base) / align * align;
        if first + dwords > end {
            return refused;
        }
        Ok(self.holding(Source::Sgpr(first as u16)))
    }

    /// A scalar destination in an 8-bit field; codes from 128 on are refused.
    pub(super) fn sgpr_or_vcc(self, code: u32) -> Result<Operand, Refused> {
        match code {
            0..128 => self.sgpr(code),
            _ => Err(Refused::Operand { code }),
        }
    }

    /// The scalar register that receives the value of a lane. `m0` is not allowed.
    pub(super) fn lane_destination(self, code: u32) -> Result<Operand, Refused> {
        match code {
            M0 | 128.. => Err(Refused::Operand { code }),
            _ => self.sgpr(code),
        }
    }

    /// The scalar source with this operand code, below 256. The caller handles literals.
    pub(super) fn scalar(self, code: u32) -> Result<Operand, Refused> {
        let integer = (128..INLINE_INTEGERS_END).contains(&code);
        let constant = integer || INLINE_FLOATS.contains(&code);
        let special = APERTURES.contains(&code) || FLAGS.contains(&code);
        let taken = match self.class {
            Class::Sgpr => special,
            _ if self.bits > 64 => constant,
            _ => constant || special,
        };
        match code {
            0..128 => self.sgpr(code),
            _ if taken => Ok(self.holding(Source::Inline(code as u16))),
            _ => Err(Refused::Operand { code }),
        }
    }

    /// The vector source with this operand code, below 512. The caller handles literals.
    pub(super) fn vector(self, gpu: Gpu, code: u32) -> Result<Operand, Refused> {
        let refused = Err(Refused::Operand { code });
        match (self.class, code) {
            (Class::Any | Class::Vgpr | Class::Lds, VGPRS..) => self.vgpr(gpu, code - VGPRS),
            (Class::Agpr, VGPRS..) => self.agpr(gpu, code - VGPRS),
            (Class::Any | Class::Lds, LDS_DIRECT) if self.bits <= 32 => {
                Ok(self.holding(Source::LdsDirect))
            }
            (Class::Vgpr | Class::Lds | Class::Agpr, _) => refused,
            (_, VGPRS..) => refused,
            _ => self.scalar(code),
        }
    }
}
