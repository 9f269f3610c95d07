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
    /// Two's complement, 32 bits: the accumulator of [`ElementType::I8`] products.
    I32,
    /// IEEE binary32 in memory; the matrix cores use only the ten leading bits of its fraction
    /// («xf32», on gfx942).
    Xf32,
    /// E4M3 of the OCP 8-bit floating-point specification: four exponent bits with a bias of 7, three
    /// fraction bits. The largest value is ±448; `0x7f` and `0xff` are NaN. On gfx950, gfx1200 and gfx1201.
    Fp8,
    /// E4M3 FNUZ: a bias of 8, no negative zero. The largest value is ±240; `0x80` is NaN. On gfx942.
    Fp8Fnuz,
    /// E5M2 of the OCP specification: the upper half of a binary16. On gfx950, gfx1200 and gfx1201.
    Bf8,
    /// E5M2 FNUZ: a bias of 16, no negative zero, no infinities; `0x80` is NaN. On gfx942.
    Bf8Fnuz,
    /// MXFP8 of the OCP's microscaling specification: [`ElementType::Fp8`] with scales. On gfx950.
    Mxfp8,
    /// MXFP8 with fewer fraction bits: E5M2 ([`ElementType::Bf8`]) with scales. On gfx950.
    Mxbf8,
    /// MXFP4: E2M1 with scales, two elements in a byte, the first one in its low half. One sign bit, two exponent bits
    /// with a bias of 1, one fraction bit: 0, 0.5, 1, 1.5, 2, 3, 4, 6. On gfx950.
    Mxfp4,
    /// MXFP6: E2M3 with scales, four elements in three bytes, the first one in the lowest bits. One sign bit, two exponent bits
    /// with a bias of 1, three fraction bits: multiples of 0.125 up to 1.875, and up to ±7.5 in all. On gfx950.
    Mxfp6,
    /// MXFP6 with fewer fraction bits: E3M2 with scales, in memory as [`ElementType::Mxfp6`]. One sign bit, three exponent bits
    /// with a bias of 3, two fraction bits: multiples of 0.0625 up to 0.4375, and up to ±28 in all. On gfx950.
    Mxbf6,
    /// E8M0, the type of scales: 2 to the power of (code − 127); `0xff` is NaN.
    E8m0,
}

/// Elements along k that share a scale, in the types that have scales (OCP, *Microscaling Formats Specification*).
pub const SCALE_BLOCK: u32 = 32;

impl ElementType {
    /// The name on the command line and in kernel symbols.
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
            Self::Bf8 => "bf8",
            Self::Bf8Fnuz => "bf8_fnuz",
            Self::Mxfp8 => "mxfp8",
            Self::Mxbf8 => "mxbf8",
            Self::Mxfp4 => "mxfp4",
            Self::Mxfp6 => "mxfp6",
            Self::Mxbf6 => "mxbf6",
            Self::E8m0 => "e8m0",
        }
    }

    /// The size of one element in memory, in bits.
    pub const fn bits(self) -> usize {
        match self {
            Self::Mxfp4 => 4,
            Self::Mxfp6 | Self::Mxbf6 => 6,
            Self::I8
            | Self::Fp8
            | Self::Fp8Fnuz
            | Self::Bf8
            | Self::Bf8Fnuz
            | Self::Mxfp8
            | Self::Mxbf8
            | Self::E8m0 => 8,
            Self::F16 | Self::Bf16 => 16,
            Self::F32 | Self::Xf32 | Self::I32 => 32,
            Self::F64 => 64,
        }
    }

    /// The size of that many elements in memory, in whole bytes.
    pub const fn bytes(self, elements: u128) -> u128 {
        (elements * self.bits() as u128).div_ceil(8)
    }

    /// The least number of elements that fill whole bytes: 2 of 4 bits, 4 of 6 bits; 1 for types of at least 8 bits.
    pub const fn packed(self) -> u32 {
        let mut elements = 1;
        while !(elements as usize * self.bits()).is_multiple_of(8) {
            elements += 1;
        }
        elements
    }

    /// The size in memory of the fewest [packs](Self::packed) that hold that many elements, in bytes.
    pub const fn bytes_of_packs(self, elements: u128) -> u128 {
        self.bytes(elements.next_multiple_of(self.packed() as u128))
    }

    /// What kernels count instead of that many elements, which are whole [packs](Self::packed): bytes, of elements of less
    /// than 8 bits.
    ///
    /// ```
    /// use ferrowave_shared::ElementType;
    ///
    /// assert_eq!(ElementType::Mxfp6.counted(32), 24);
    /// assert_eq!(ElementType::F16.counted(32), 32);
    /// ```
    pub const fn counted(self, elements: u64) -> u64 {
        match self.bits() {
            // Packs first: the bits of all elements may not fit.
            ..8 => elements / self.packed() as u64 * self.bytes(self.packed() as u128) as u64,
            _ => elements,
        }
    }

    /// Whether it is a float of 8 bits without a scale.
    pub const fn is_float8(self) -> bool {
        matches!(self, Self::Fp8 | Self::Fp8Fnuz | Self::Bf8 | Self::Bf8Fnuz)
    }

    /// Whether it is in the encoding of gfx942 («finite, NaN, unsigned zero»).
    pub const fn is_fnuz(self) -> bool {
        matches!(self, Self::Fp8Fnuz | Self::Bf8Fnuz)
    }

    /// The same in the encoding of gfx942, for 8-bit floats without a scale.
    #[must_use]
    pub const fn fnuz(self) -> Self {
        match self {
            Self::Fp8 => Self::Fp8Fnuz,
            Self::Bf8 => Self::Bf8Fnuz,
            other => other,
        }
    }

    /// Whether [`SCALE_BLOCK`] elements along k share a scale of type [`ElementType::E8m0`].
    pub const fn is_scaled(self) -> bool {
        matches!(
            self,
            Self::Mxfp8 | Self::Mxbf8 | Self::Mxfp6 | Self::Mxbf6 | Self::Mxfp4
        )
    }

    /// The types that C may have if A and B are of this one: [`ElementTypes::outputs`].
    pub const fn outputs(self) -> &'static [Self] {
        match self {
            Self::F16 => &[Self::F16, Self::F32],
            Self::Bf16 => &[Self::Bf16, Self::F32],
            // `mfma_pingpong_lines` has no registers left for conversions of elements of 4 and 6 bits.
            Self::F32 | Self::Xf32 | Self::Mxfp4 | Self::Mxfp6 | Self::Mxbf6 => &[Self::F32],
            Self::F64 => &[Self::F64],
            Self::I8 => &[Self::I32],
            // Elements of MXFP8 are of this type, too; C has no scales of blocks.
            Self::Fp8 | Self::Mxfp8 => &[Self::F32, Self::F16, Self::Bf16, Self::Fp8],
            Self::Fp8Fnuz => &[Self::F32, Self::F16, Self::Bf16, Self::Fp8Fnuz],
            Self::Bf8 | Self::Mxbf8 => &[Self::F32, Self::F16, Self::Bf16, Self::Bf8],
            Self::Bf8Fnuz => &[Self::F32, Self::F16, Self::Bf16, Self::Bf8Fnuz],
            // No kernels multiply these.
            Self::I32 | Self::E8m0 => &[],
        }
    }

    /// The size of an element of C or of a sum in memory, in bytes; the size of a whole byte for smaller types.
    pub const fn size_bytes(self) -> usize {
        self.bits().div_ceil(8)
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
    /// Of A.
    pub a: ElementType,
    /// Of B: that of A, or another float of 8 bits, with a scale if A's has one.
    pub b: ElementType,
    /// Of C.
    pub output: ElementType,
    /// Of the sums, α and β.
    pub accumulator: ElementType,
    /// Whether A is sparse: of each four elements along k, it has two ([`sparse`](crate::sparse)).
    pub is_sparse: bool,
}

impl ElementTypes {
    /// Everything in binary32.
    pub const F32: Self = Self::new(ElementType::F32, ElementType::F32, ElementType::F32);
    /// binary32 in memory, multiplied as xf32.
    pub const XF32: Self = Self::new(ElementType::Xf32, ElementType::F32, ElementType::F32);
    /// binary16, accumulated in binary32.
    pub const F16: Self = Self::new(ElementType::F16, ElementType::F16, ElementType::F32);
    /// bfloat16, accumulated in binary32.
    pub const BF16: Self = Self::new(ElementType::Bf16, ElementType::Bf16, ElementType::F32);
    /// Everything in binary64.
    pub const F64: Self = Self::new(ElementType::F64, ElementType::F64, ElementType::F64);
    /// 8-bit integers with 32-bit sums, which wrap around.
    pub const I8: Self = Self::new(ElementType::I8, ElementType::I32, ElementType::I32);
    /// OCP's 8-bit floats with three fraction bits, accumulated and stored in binary32.
    pub const FP8: Self = Self::new(ElementType::Fp8, ElementType::F32, ElementType::F32);
    /// The 8-bit floats of gfx942, accumulated and stored in binary32.
    pub const FP8_FNUZ: Self = Self::new(ElementType::Fp8Fnuz, ElementType::F32, ElementType::F32);
    /// OCP's 8-bit floats with two fraction bits, accumulated and stored in binary32.
    pub const BF8: Self = Self::new(ElementType::Bf8, ElementType::F32, ElementType::F32);
    /// The 8-bit floats of gfx942 with two fraction bits, accumulated and stored in binary32.
    pub const BF8_FNUZ: Self = Self::new(ElementType::Bf8Fnuz, ElementType::F32, ElementType::F32);
    /// A as in [`Self::FP8`], B as in [`Self::BF8`].
    pub const FP8_BF8: Self = Self::FP8.with_b(ElementType::Bf8);
    /// A as in [`Self::BF8`], B as in [`Self::FP8`].
    pub const BF8_FP8: Self = Self::BF8.with_b(ElementType::Fp8);
    /// A as in [`Self::FP8_FNUZ`], B as in [`Self::BF8_FNUZ`].
    pub const FP8_BF8_FNUZ: Self = Self::FP8_FNUZ.with_b(ElementType::Bf8Fnuz);
    /// A as in [`Self::BF8_FNUZ`], B as in [`Self::FP8_FNUZ`].
    pub const BF8_FP8_FNUZ: Self = Self::BF8_FNUZ.with_b(ElementType::Fp8Fnuz);
    /// OCP's MXFP8 (E4M3 with scales), accumulated and stored in binary32.
    pub const MXFP8: Self = Self::new(ElementType::Mxfp8, ElementType::F32, ElementType::F32);
    /// OCP's MXFP8 in E5M2 with scales, accumulated and stored in binary32.
    pub const MXBF8: Self = Self::new(ElementType::Mxbf8, ElementType::F32, ElementType::F32);
    /// A as in [`Self::MXFP8`], B as in [`Self::MXBF8`].
    pub const MXFP8_MXBF8: Self = Self::MXFP8.with_b(ElementType::Mxbf8);
    /// A as in [`Self::MXBF8`], B as in [`Self::MXFP8`].
    pub const MXBF8_MXFP8: Self = Self::MXBF8.with_b(ElementType::Mxfp8);
    /// OCP's MXFP4 (E2M1 with scales), accumulated and stored in binary32.
    pub const MXFP4: Self = Self::new(ElementType::Mxfp4, ElementType::F32, ElementType::F32);
    /// OCP's MXFP6 (E2M3 with scales), accumulated and stored in binary32.
    pub const MXFP6: Self = Self::new(ElementType::Mxfp6, ElementType::F32, ElementType::F32);
    /// OCP's MXFP6 in E3M2 with scales, accumulated and stored in binary32.
    pub const MXBF6: Self = Self::new(ElementType::Mxbf6, ElementType::F32, ElementType::F32);

    /// [`Self::F16`] with a sparse A.
    pub const SPARSE_F16: Self = Self::F16.sparse();
    /// [`Self::BF16`] with a sparse A.
    pub const SPARSE_BF16: Self = Self::BF16.sparse();
    /// [`Self::I8`] with a sparse A.
    pub const SPARSE_I8: Self = Self::I8.sparse();
    /// [`Self::FP8`] with a sparse A.
    pub const SPARSE_FP8: Self = Self::FP8.sparse();
    /// [`Self::FP8_FNUZ`] with a sparse A.
    pub const SPARSE_FP8_FNUZ: Self = Self::FP8_FNUZ.sparse();

    /// The types of all kernels, in the order in which lists show them. Each [name](Self::name) occurs once.
    pub const ALL: &[Self] = &[
        Self::F32,
        Self::XF32,
        Self::F16,
        Self::BF16,
        Self::I8,
        Self::FP8_FNUZ,
        Self::BF8_FNUZ,
        Self::FP8_BF8_FNUZ,
        Self::BF8_FP8_FNUZ,
        Self::FP8,
        Self::BF8,
        Self::FP8_BF8,
        Self::BF8_FP8,
        Self::MXFP8,
        Self::MXBF8,
        Self::MXFP8_MXBF8,
        Self::MXBF8_MXFP8,
        Self::MXFP6,
        Self::MXBF6,
        Self::MXFP4,
        Self::SPARSE_F16,
        Self::SPARSE_BF16,
        Self::SPARSE_I8,
        Self::SPARSE_FP8_FNUZ,
        Self::SPARSE_FP8,
        Self::F64,
    ];

    /// The name on the command line and in kernel symbols: that of A's and B's type, behind `sparse_` if A is sparse, or those
    /// of both.
    pub const fn name(self) -> &'static str {
        use ElementType::{Bf8, Bf8Fnuz, Bf16, F16, Fp8, Fp8Fnuz, I8, Mxbf8, Mxfp8};
        match (self.is_sparse, self.a, self.b) {
            (true, F16, _) => "sparse_f16",
            (true, Bf16, _) => "sparse_bf16",
            (true, I8, _) => "sparse_i8",
            (true, Fp8, _) => "sparse_fp8",
            (true, Fp8Fnuz, _) => "sparse_fp8_fnuz",
            (_, Fp8, Bf8) => "fp8_bf8",
            (_, Bf8, Fp8) => "bf8_fp8",
            (_, Fp8Fnuz, Bf8Fnuz) => "fp8_bf8_fnuz",
            (_, Bf8Fnuz, Fp8Fnuz) => "bf8_fp8_fnuz",
            (_, Mxfp8, Mxbf8) => "mxfp8_mxbf8",
            (_, Mxbf8, Mxfp8) => "mxbf8_mxfp8",
            (_, a, _) => a.name(),
        }
    }

    /// The same with 8-bit floats in the encoding of gfx942.
    #[must_use]
    pub const fn fnuz(self) -> Self {
        Self {
            a: self.a.fnuz(),
            b: self.b.fnuz(),
            output: self.output.fnuz(),
            ..self
        }
    }

    /// Whether A and B are of different types.
    pub const fn is_mixed(self) -> bool {
        self.a as u8 != self.b as u8
    }

    /// The same with a sparse A.
    #[must_use]
    pub const fn sparse(self) -> Self {
        Self {
            is_sparse: true,
            ..self
        }
    }

    /// The number that k must be a multiple of; 1 for types without blocks along k.
    pub const fn block(self) -> u32 {
        if self.a.is_scaled() || self.is_sparse {
            SCALE_BLOCK
        } else {
            1
        }
    }

    /// How many of the elements of a row of A one of them stands for: 2 if A is sparse, else 1.
    pub const fn compression(self) -> u32 {
        if self.is_sparse { 2 } else { 1 }
    }

    /// The types that C may have: that of the kernels first, then those to which they convert their sums. C can be of 8-bit
    /// floats if A and B are of the same ones.
    ///
    /// ```
    /// use ferrowave_shared::{ElementType, ElementTypes};
    ///
    /// assert_eq!(ElementTypes::F16.outputs(), [ElementType::F16, ElementType::F32]);
    /// assert_eq!(ElementTypes::I8.outputs(), [ElementType::I32]);
    /// ```
    pub const fn outputs(self) -> &'static [ElementType] {
        match self.is_mixed() {
            true => &[ElementType::F32, ElementType::F16, ElementType::Bf16],
            false => self.a.outputs(),
        }
    }

    /// The type of the bias: that of C, or that of the sums if C is of 8-bit floats.
    pub const fn bias(self) -> ElementType {
        if self.output.is_float8() {
            self.accumulator
        } else {
            self.output
        }
    }

    /// The same with another type of C.
    ///
    /// ```
    /// use ferrowave_shared::{ElementType, ElementTypes};
    ///
    /// let types = ElementTypes::BF16.with_output(ElementType::F32);
    /// assert!(types.has_kernels() && types != ElementTypes::BF16);
    /// assert_eq!(types.of_kernels(), ElementTypes::BF16);
    /// ```
    #[must_use]
    pub const fn with_output(self, output: ElementType) -> Self {
        Self { output, ..self }
    }

    /// The types of the kernels that compute these.
    #[must_use]
    pub const fn of_kernels(self) -> Self {
        match self.outputs() {
            [first, ..] => self.with_output(*first),
            [] => self,
        }
    }

    /// Whether there are kernels that compute these.
    pub fn has_kernels(self) -> bool {
        Self::ALL.contains(&self.of_kernels()) && self.outputs().contains(&self.output)
    }

    /// The same with another type of B.
    const fn with_b(self, b: ElementType) -> Self {
        Self { b, ..self }
    }

    const fn new(input: ElementType, output: ElementType, accumulator: ElementType) -> Self {
        Self {
            a: input,
            b: input,
            output,
            accumulator,
            is_sparse: false,
        }
    }
}
