//! Types of operands.

/// How an operand's bits are interpreted. This determines the value of an inline constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DataType {
    /// Bits of the operand's width; integer constants are sign-extended, float constants are f32
    /// (f64 in 64-bit operands).
    #[default]
    B,
    /// Signed integer.
    I,
    /// Unsigned integer.
    U,
    /// Floating point of the operand's width.
    F,
    /// bfloat16.
    Bf16,
    /// Two 16-bit integers in 32 bits. Wider operands hold more elements; this applies to all packed types.
    PackedI16,
    /// Two f16 in 32 bits.
    PackedF16,
    /// Two bfloat16 in 32 bits.
    PackedBf16,
    /// Two f32 in 64 bits; in wider operands, f32 elements.
    PackedF32,
    /// f64 elements in an operand wider than 64 bits (the matrix instructions' C and D).
    PackedF64,
}

impl DataType {
    /// Whether the elements are floats.
    pub(super) const fn is_float(self) -> bool {
        !matches!(
            self,
            DataType::B | DataType::I | DataType::U | DataType::PackedI16
        )
    }
}
