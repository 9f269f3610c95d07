//! Operands, the operand codes that all families have in common, and the values of inline constants and literals.

use super::data_type::DataType;

/// First operand code of `vcc`.
pub(super) const VCC: u32 = 106;
/// First operand code of the trap handler's registers.
pub(super) const TTMP: u32 = 108;
/// Operand code of `m0`; the decoder of a family with another one translates it.
pub(super) const M0: u32 = 124;
/// First operand code of `exec`.
pub(super) const EXEC: u32 = 126;
/// Codes from 128 to below this one are integers: 0 to 64, then -1 to -16.
pub(super) const INLINE_INTEGERS_END: u32 = 209;
/// 0.5 to 1/2π.
pub(super) const INLINE_FLOATS: std::ops::RangeInclusive<u32> = 240..=248;
/// Operand code of a literal.
pub(super) const LITERAL: u32 = 255;
/// First operand code of the vector registers.
pub(super) const VGPRS: u32 = 256;

/// The register or constant of an operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Source {
    /// None (`off`, or a slot that the instruction does not have).
    #[default]
    None,
    /// No register (RDNA): reads as 0, and what is written to it is lost.
    Null,
    /// Vector register, 0 to 255.
    Vgpr(u16),
    /// Accumulator register, 0 to 255.
    Agpr(u16),
    /// Scalar register by its operand code, 0 to 127: SGPRs, `flat_scratch`, `xnack_mask`, `vcc`,
    /// `ttmp`, `m0` (124) and `exec` (126).
    Sgpr(u16),
    /// An inline constant or a special scalar source by its operand code, 128 to 254
    /// (128 to 208 integers, 235 to 239 apertures, 240 to 248 floats, 251 `vccz`, 252 `execz`, 253 `scc`).
    Inline(u16),
    /// The 32-bit literal after the instruction, or the sign-extended 16-bit immediate of SOPK.
    Literal(u32),
    /// LDS, as a direct source (code 254).
    LdsDirect,
}

/// One operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Register or constant.
    pub source: Source,
    /// Width in bits, as the instruction uses it (a lane mask has 64 on CDNA, as many as the wave has lanes on RDNA).
    pub bits: u16,
    /// How the bits are interpreted.
    pub ty: DataType,
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
            (DataType::F, 16) | (DataType::PackedF16, _) => u64::from(FLOATS[index].f16),
            (DataType::Bf16 | DataType::PackedBf16, _) => u64::from(FLOATS[index].f32 >> 16),
            (DataType::PackedF32, 64) => u64::from(FLOATS[index].f32),
            (DataType::PackedF64, _) | (_, 64) => FLOATS[index].f64,
            _ => u64::from(FLOATS[index].f32),
        })
    }
}

/// An inline float in each format of the hardware.
struct Float {
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
