//! The element types of matrices.

use core::fmt;

/// The type of a matrix element, in memory or in an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// IEEE binary32.
    F32,
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// IEEE binary64.
    F64,
    /// Two's complement, 8 bits.
    I8,
    /// Two's complement, 32 bits: what products of [`ElementType::I8`] accumulate in.
    I32,
    /// IEEE binary32 in memory; the matrix cores multiply it with the ten leading bits of its
    /// fraction («xf32», on gfx942).
    Xf32,
    /// E4M3 with four exponent bits of bias 7 and three fraction bits, as the OCP 8-bit
    /// floating-point specification has it: ±448 is the largest, `0x7f` and `0xff` are NaN. gfx950's.
    Fp8,
    /// E4M3 with a bias of 8, without negative zero: ±240 is the largest, `0x80` is NaN. gfx942's.
    Fp8Fnuz,
}

impl ElementType {
    /// The name as the command line and kernel symbols spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::I32 => "i32",
            Self::Xf32 => "xf32",
            Self::Fp8 => "fp8",
            Self::Fp8Fnuz => "fp8_fnuz",
        }
    }

    /// The size of one element in memory, in bytes.
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::I8 | Self::Fp8 | Self::Fp8Fnuz => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::Xf32 | Self::I32 => 4,
            Self::F64 => 8,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The element types of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementTypes {
    /// Of A and B.
    pub input: ElementType,
    /// Of C.
    pub output: ElementType,
    /// Of the sums while they grow, and of α and β.
    pub accumulator: ElementType,
}

impl ElementTypes {
    /// Everything in binary32.
    pub const F32: Self = Self::new(ElementType::F32, ElementType::F32, ElementType::F32);
    /// binary32 in memory, multiplied as xf32.
    pub const XF32: Self = Self::new(ElementType::Xf32, ElementType::F32, ElementType::F32);
    /// binary16, summed up in binary32.
    pub const F16: Self = Self::new(ElementType::F16, ElementType::F16, ElementType::F32);
    /// bfloat16, summed up in binary32.
    pub const BF16: Self = Self::new(ElementType::Bf16, ElementType::Bf16, ElementType::F32);
    /// Everything in binary64.
    pub const F64: Self = Self::new(ElementType::F64, ElementType::F64, ElementType::F64);
    /// 8-bit integers with 32-bit sums, which wrap around.
    pub const I8: Self = Self::new(ElementType::I8, ElementType::I32, ElementType::I32);
    /// OCP's 8-bit floats, to binary32.
    pub const FP8: Self = Self::new(ElementType::Fp8, ElementType::F32, ElementType::F32);
    /// The 8-bit floats of gfx942, to binary32.
    pub const FP8_FNUZ: Self = Self::new(ElementType::Fp8Fnuz, ElementType::F32, ElementType::F32);

    /// All that kernels have, in the order in which lists show them. An input type stands once.
    pub const ALL: &[Self] = &[
        Self::F32,
        Self::XF32,
        Self::F16,
        Self::BF16,
        Self::I8,
        Self::FP8_FNUZ,
        Self::FP8,
        Self::F64,
    ];

    const fn new(input: ElementType, output: ElementType, accumulator: ElementType) -> Self {
        Self {
            input,
            output,
            accumulator,
        }
    }
}
