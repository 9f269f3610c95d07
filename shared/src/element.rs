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
    /// Four exponent bits, three mantissa bits.
    Fp8,
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
            Self::Fp8 => "fp8",
        }
    }

    /// The size of one element in memory, in bytes.
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::I8 | Self::Fp8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 => 4,
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
    pub const F32: Self = Self {
        input: ElementType::F32,
        output: ElementType::F32,
        accumulator: ElementType::F32,
    };
}
