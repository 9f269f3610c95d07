//! A launch's layouts, bias, prologue and epilogue, packed into one argument.

/// An operation on every element of a fragment of C, with one constant for all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum FragmentOp {
    /// Leaves the element unchanged.
    #[default]
    None = 0,
    /// Replaces the element by the constant.
    Set = 1,
    /// Multiplies the element by the constant.
    Scale = 2,
    /// Replaces a negative element by 0. NaN stays NaN.
    Relu = 3,
    /// The Gaussian error linear unit in its tanh form,
    /// `x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))`. Only as an epilogue.
    Gelu = 4,
    /// The sigmoid linear unit, `x / (1 + e⁻ˣ)`. Only as an epilogue.
    Silu = 5,
    /// Replaces the element by the derivative of [`FragmentOp::Relu`] at it: 0 if it is not positive, else 1; 1 for NaN. Only as
    /// a prologue, as the next two.
    ReluGradient = 6,
    /// Replaces the element by the derivative of [`FragmentOp::Gelu`] at it.
    GeluGradient = 7,
    /// Replaces the element by the derivative of [`FragmentOp::Silu`] at it.
    SiluGradient = 8,
}

/// The vector that is added to the product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Bias {
    /// None.
    #[default]
    None = 0,
    /// One element for each row of C: m of them.
    Row = 1,
    /// One element for each column of C: n of them.
    Column = 2,
}

/// The type of C's elements and of the bias in memory, if a launch may choose it ([`ElementTypes::outputs`]).
///
/// [`ElementTypes::outputs`]: crate::ElementTypes::outputs
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum OutputType {
    /// That of the kernel's catalogue row.
    #[default]
    OfKernel = 0,
    /// IEEE binary32.
    F32 = 1,
    /// IEEE binary16.
    F16 = 2,
    /// bfloat16.
    Bf16 = 3,
    /// The 8-bit float of A's and B's elements. Results are [scaled] and saturate; the bias is in the kernel's type.
    ///
    /// [scaled]: crate::GemmParameters::output_scale
    Float8 = 4,
}

/// What a launch computes beyond the plain product of row-major matrices, packed into 32 bits:
///
/// ```text
/// C ← epilogue(α · A · B + β · prologue(C) + bias)
/// C ← epilogue(α · A · B + bias) · β · prologue(C)        with a gate
/// ```
///
/// | bits | meaning |
/// |---|---|
/// | 0 | A is column-major |
/// | 1 | B is column-major |
/// | 2, 3 | [`Bias`] |
/// | 4 to 7 | the prologue, a [`FragmentOp`] |
/// | 8 to 11 | the epilogue, a [`FragmentOp`] |
/// | 12 to 14 | [`OutputType`] |
/// | 15 | the launch computes a [group](Options::is_group) |
/// | 16 | a [gate](Options::is_gate) |
/// | 17 | the [largest magnitude](Options::has_amax) of the results |
/// | 18 | the [epilogue's input](Options::keeps_input) is stored, too |
///
/// ```
/// use ferrowave_shared::{Bias, FragmentOp, Options};
///
/// let options = Options::NONE
///     .with_column_major(false, true)
///     .with_bias(Bias::Column)
///     .with_epilogue(FragmentOp::Relu);
/// assert!(options.column_major_b() && !options.column_major_a());
/// assert_eq!(options.bias(), Bias::Column);
/// assert_eq!(options.prologue(), FragmentOp::None);
/// assert_eq!(options.epilogue(), FragmentOp::Relu);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(transparent)]
pub struct Options(u32);

impl Options {
    /// Row-major matrices, no bias, no operations.
    pub const NONE: Self = Self(0);

    /// With these layouts of A and B.
    #[must_use]
    pub const fn with_column_major(self, a: bool, b: bool) -> Self {
        Self(self.0 & !0b11 | a as u32 | (b as u32) << 1)
    }

    /// With this bias.
    #[must_use]
    pub const fn with_bias(self, bias: Bias) -> Self {
        Self(self.0 & !(0b11 << 2) | (bias as u32) << 2)
    }

    /// With this operation on the old C, before it is scaled by β.
    #[must_use]
    pub const fn with_prologue(self, operation: FragmentOp) -> Self {
        Self(self.0 & !(0b1111 << 4) | (operation as u32) << 4)
    }

    /// With this operation on the result.
    #[must_use]
    pub const fn with_epilogue(self, operation: FragmentOp) -> Self {
        Self(self.0 & !(0b1111 << 8) | (operation as u32) << 8)
    }

    /// With this type of C's elements and of the bias.
    #[must_use]
    pub const fn with_output(self, output: OutputType) -> Self {
        Self(self.0 & !(0b111 << 12) | (output as u32) << 12)
    }

    /// With or without a [group](Self::is_group).
    #[must_use]
    pub const fn with_group(self, group: bool) -> Self {
        Self(self.0 & !(1 << 15) | (group as u32) << 15)
    }

    /// With or without a [gate](Self::is_gate).
    #[must_use]
    pub const fn with_gate(self, gate: bool) -> Self {
        Self(self.0 & !(1 << 16) | (gate as u32) << 16)
    }

    /// With or without the [largest magnitude](Self::has_amax).
    #[must_use]
    pub const fn with_amax(self, amax: bool) -> Self {
        Self(self.0 & !(1 << 17) | (amax as u32) << 17)
    }

    /// With or without the [epilogue's input](Self::keeps_input).
    #[must_use]
    pub const fn with_input(self, input: bool) -> Self {
        Self(self.0 & !(1 << 18) | (input as u32) << 18)
    }

    /// Whether A is column-major: element `(i, p)` at `p · lda + i`.
    pub const fn column_major_a(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether B is column-major: element `(p, j)` at `j · ldb + p`.
    pub const fn column_major_b(self) -> bool {
        self.0 >> 1 & 1 != 0
    }

    /// The bias that is added to the product.
    pub const fn bias(self) -> Bias {
        match self.0 >> 2 & 0b11 {
            1 => Bias::Row,
            2 => Bias::Column,
            _ => Bias::None,
        }
    }

    /// The operation on the old C before it is scaled by β.
    pub const fn prologue(self) -> FragmentOp {
        operation(self.0 >> 4)
    }

    /// Whether the product is stored without a bias, an epilogue and its input, or another type of C than the kernel's.
    pub const fn stores_sums(self) -> bool {
        self.0 & (0b11 << 2 | 0b1111 << 8 | 0b111 << 12 | 1 << 18) == 0
    }

    /// The operation on the result.
    pub const fn epilogue(self) -> FragmentOp {
        operation(self.0 >> 8)
    }

    /// Whether the launch computes a group: as many products as the grid has workgroups along z. The workspace is an array of
    /// [`GroupMember`](crate::GroupMember)s, one for each product. The grid has as many workgroups along x as the largest product
    /// has tiles.
    pub const fn is_group(self) -> bool {
        self.0 >> 15 & 1 != 0
    }

    /// Whether the scaled old C is multiplied by the result instead of added before the epilogue.
    pub const fn is_gate(self) -> bool {
        self.0 >> 16 & 1 != 0
    }

    /// Whether the launch raises [`GemmArguments::amax`](crate::GemmArguments::amax) to the largest magnitude of its results,
    /// before they are scaled and converted. Only with [`OutputType::Float8`].
    pub const fn has_amax(self) -> bool {
        self.0 >> 17 & 1 != 0
    }

    /// Whether the launch stores the epilogue's input, α · A · B + β · prologue(C) + bias (with a gate α · A · B + bias), in
    /// [`GemmArguments::input`](crate::GemmArguments::input).
    pub const fn keeps_input(self) -> bool {
        self.0 >> 18 & 1 != 0
    }

    /// The type of C's elements and of the bias.
    pub const fn output(self) -> OutputType {
        match self.0 >> 12 & 0b111 {
            1 => OutputType::F32,
            2 => OutputType::F16,
            3 => OutputType::Bf16,
            4 => OutputType::Float8,
            _ => OutputType::OfKernel,
        }
    }
}

const fn operation(bits: u32) -> FragmentOp {
    match bits & 0b1111 {
        1 => FragmentOp::Set,
        2 => FragmentOp::Scale,
        3 => FragmentOp::Relu,
        4 => FragmentOp::Gelu,
        5 => FragmentOp::Silu,
        6 => FragmentOp::ReluGradient,
        7 => FragmentOp::GeluGradient,
        8 => FragmentOp::SiluGradient,
        _ => FragmentOp::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_comes_back_beside_every_other() {
        let operations = [
            FragmentOp::None,
            FragmentOp::Set,
            FragmentOp::Scale,
            FragmentOp::Relu,
            FragmentOp::Gelu,
            FragmentOp::Silu,
            FragmentOp::ReluGradient,
            FragmentOp::GeluGradient,
            FragmentOp::SiluGradient,
        ];
        let outputs = [
            OutputType::OfKernel,
            OutputType::F32,
            OutputType::F16,
            OutputType::Bf16,
            OutputType::Float8,
        ];
        for a in [false, true] {
            for b in [false, true] {
                for bias in [Bias::None, Bias::Row, Bias::Column] {
                    for prologue in operations {
                        for (epilogue, output) in operations
                            .into_iter()
                            .flat_map(|operation| outputs.map(|output| (operation, output)))
                        {
                            let options = Options::NONE
                                .with_column_major(!a, !b)
                                .with_column_major(a, b)
                                .with_bias(Bias::Column)
                                .with_bias(bias)
                                .with_prologue(FragmentOp::Relu)
                                .with_prologue(prologue)
                                .with_epilogue(FragmentOp::Relu)
                                .with_epilogue(epilogue)
                                .with_output(OutputType::F32)
                                .with_output(output)
                                .with_group(a)
                                .with_gate(b)
                                .with_amax(a)
                                .with_input(b);
                            assert_eq!((options.output(), options.is_group()), (output, a));
                            assert_eq!(options.is_gate(), b);
                            assert_eq!((options.has_amax(), options.keeps_input()), (a, b));
                            assert!(!options.with_input(false).keeps_input());
                            assert!(!options.with_amax(false).has_amax());
                            assert!(!options.with_gate(false).is_gate());
                            assert!(!options.with_group(false).is_group());
                            assert_eq!(
                                (options.column_major_a(), options.column_major_b()),
                                (a, b)
                            );
                            assert_eq!(options.bias(), bias);
                            let stores_sums = bias == Bias::None
                                && epilogue == FragmentOp::None
                                && output == OutputType::OfKernel
                                && !b;
                            assert_eq!(options.stores_sums(), stores_sums);
                            assert_eq!(
                                (options.prologue(), options.epilogue()),
                                (prologue, epilogue)
                            );
                        }
                    }
                }
            }
        }
    }
}
