//! Operand codes: registers, inline constants, literals.

use ferrowave_gpu::Gpu;

use crate::data_type::DataType;
use crate::error::DecodeErrorKind;
use crate::instruction::{Operand, Source};
use crate::row::{Class, Slot};

/// First operand code of `flat_scratch`.
pub(super) const FLAT_SCRATCH: u32 = 102;
/// First operand code of `xnack_mask`.
pub(super) const XNACK_MASK: u32 = 104;
/// First operand code of `vcc`.
pub(super) const VCC: u32 = 106;
/// First operand code of the trap handler's registers.
pub(super) const TTMP: u32 = 108;
/// Operand code of `m0`.
pub(super) const M0: u32 = 124;
/// First operand code of `exec`.
pub(super) const EXEC: u32 = 126;
/// Codes from 128 to below this one are integers: 0 to 64, then -1 to -16.
const INLINE_INTEGERS_END: u32 = 209;
/// `src_shared_base` to `src_pops_exiting_wave_id`.
const APERTURES: std::ops::RangeInclusive<u32> = 235..=239;
/// 0.5 to 1/2π.
const INLINE_FLOATS: std::ops::RangeInclusive<u32> = 240..=248;
/// `src_vccz`, `src_execz`, `src_scc`.
const FLAGS: std::ops::RangeInclusive<u32> = 251..=253;
/// Operand code that marks SDWA in place of the first source.
pub(super) const SDWA: u32 = 249;
/// Operand code that marks DPP in place of the first source.
pub(super) const DPP: u32 = 250;
/// Operand code of LDS as a direct source.
const LDS_DIRECT: u32 = 254;
/// Operand code of a literal.
pub(super) const LITERAL: u32 = 255;
/// First operand code of the vector registers.
pub(super) const VGPRS: u32 = 256;

/// Why an operand code is refused.
pub(super) type Refused = DecodeErrorKind;

impl Slot {
    /// An operand with this slot's width and type.
    pub(super) fn holding(self, source: Source) -> Operand {
        Operand {
            source,
            bits: self.bits,
            ty: self.ty,
        }
    }

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

impl Operand {
    /// The bit pattern of an inline constant or literal as the instruction reads it. `None` for registers and for
    /// constants whose value depends on the wave (apertures, `vccz`, `execz`, `scc`).
    ///
    /// - Integers -16 to 64 are sign-extended to the operand's width, or to 32 bits if that is larger. So a 16-bit
    ///   operand reads the low half of 32 bits. A packed operand has the integer in the low half and its sign in the
    ///   high half.
    /// - Floats are f16 or bf16 for operands of these types, with 0 in the high half of a packed operand; f64 for
    ///   64-bit operands that are not packed; otherwise f32 (16-bit integers read its low half). Packed f32 has the f32
    ///   in the low half and 0 in the high half: LLVM sets `op_sel_hi` so that both results read the low half.
    /// - A literal is the high half of an f64. It is zero-extended for 64-bit bit patterns and unsigned integers, and
    ///   sign-extended for signed integers.
    /// - Operands of more than 64 bits (matrices) get the pattern of one element.
    pub fn constant(&self) -> Option<u64> {
        match self.source {
            Source::Inline(code) => self.inline(u32::from(code)),
            Source::Literal(value) => Some(match (self.ty, self.bits) {
                (DataType::F, 64) | (DataType::PackedF64, _) => u64::from(value) << 32,
                (DataType::I, 64) => value as i32 as u64,
                _ => u64::from(value),
            }),
            _ => None,
        }
    }

    fn inline(&self, code: u32) -> Option<u64> {
        if (128..INLINE_INTEGERS_END).contains(&code) {
            let value = match code {
                128..193 => i64::from(code) - 128,
                _ => 192 - i64::from(code),
            };
            let wide = self.bits == 64 || self.ty == DataType::PackedF64;
            return Some(if wide {
                value as u64
            } else {
                u64::from(value as u32)
            });
        }
        let index = INLINE_FLOATS
            .contains(&code)
            .then(|| (code - 240) as usize)?;
        Some(match (self.ty, self.bits) {
            (DataType::F, 16) | (DataType::PackedF16, 32) => u64::from(FLOATS[index].f16),
            (DataType::Bf16 | DataType::PackedBf16, 16 | 32) => u64::from(FLOATS[index].f32 >> 16),
            (DataType::PackedF32, 64) => u64::from(FLOATS[index].f32),
            (DataType::PackedF64, _) | (_, 64) => FLOATS[index].f64,
            _ => u64::from(FLOATS[index].f32),
        })
    }
}

/// An inline float in each format of the hardware.
pub(super) struct Float {
    f16: u16,
    f32: u32,
    f64: u64,
}

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4 and 1/2π. The f64 of 1/2π is the one in AMD's manual, not the nearest double.
static FLOATS: [Float; 9] = [
    Float {
        f16: 0x3800,
        f32: 0x3f00_0000,
        f64: 0x3fe0_0000_0000_0000,
    },
    Float {
        f16: 0xb800,
        f32: 0xbf00_0000,
        f64: 0xbfe0_0000_0000_0000,
    },
    Float {
        f16: 0x3c00,
        f32: 0x3f80_0000,
        f64: 0x3ff0_0000_0000_0000,
    },
    Float {
        f16: 0xbc00,
        f32: 0xbf80_0000,
        f64: 0xbff0_0000_0000_0000,
    },
    Float {
        f16: 0x4000,
        f32: 0x4000_0000,
        f64: 0x4000_0000_0000_0000,
    },
    Float {
        f16: 0xc000,
        f32: 0xc000_0000,
        f64: 0xc000_0000_0000_0000,
    },
    Float {
        f16: 0x4400,
        f32: 0x4080_0000,
        f64: 0x4010_0000_0000_0000,
    },
    Float {
        f16: 0xc400,
        f32: 0xc080_0000,
        f64: 0xc010_0000_0000_0000,
    },
    Float {
        f16: 0x3118,
        f32: 0x3e22_f983,
        f64: 0x3fc4_5f30_6dc9_c882,
    },
];
