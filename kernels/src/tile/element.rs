//! The types of elements, in memory and in sums.

use core::{intrinsics::simd::simd_fexp2, simd::Simd};

/// A smooth activation function, `x · σ(linear · x + cubic · x³)`, where `σ(z) = 1 / (1 + e⁻ᶻ)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activation {
    /// −log₂ e times the factors: the power is 2 to the power of their sum.
    linear: f32,
    cubic: f32,
}

impl Activation {
    /// The Gaussian error linear unit in its tanh form. With `u = √(2/π) · (x + 0.044715·x³)`, `½ · (1 + tanh u) = σ(2u)`.
    pub const GELU: Self = Self {
        linear: -2.302_208_2,
        cubic: -0.102_943_24,
    };

    /// The sigmoid linear unit.
    pub const SILU: Self = Self {
        linear: -core::f32::consts::LOG2_E,
        cubic: 0.0,
    };

    /// One of the two, by selects.
    #[inline(always)]
    pub const fn new(is_gelu: bool) -> Self {
        Self {
            linear: if is_gelu {
                Self::GELU.linear
            } else {
                Self::SILU.linear
            },
            cubic: if is_gelu {
                Self::GELU.cubic
            } else {
                Self::SILU.cubic
            },
        }
    }
}

/// A type in which products are accumulated and scaled.
pub trait Accumulator: Copy + PartialEq {
    /// Whether such sums are converted to other types in memory on request.
    const CONVERTS: bool;
    /// The types in memory to which they are converted; `Self` for types that are not converted.
    type AsF32: Stored<Sum = Self>;
    /// The same for binary16.
    type AsF16: Stored<Sum = Self>;
    /// The same for bfloat16.
    type AsBf16: Stored<Sum = Self>;
    /// The same for E4M3 in the GPU's encoding, if it has one.
    type AsFp8: Stored<Sum = Self>;
    /// The same for E5M2.
    type AsBf8: Stored<Sum = Self>;

    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// The value nearest to `value`. For integers the host passes only values that the type can represent.
    #[must_use]
    fn from_f64(value: f64) -> Self;

    /// `self · factor`. Integers wrap around.
    #[must_use]
    fn mul(self, factor: Self) -> Self;

    /// `self + addend`. Integers wrap around.
    #[must_use]
    fn add(self, addend: Self) -> Self;

    /// `self · factor + addend`, rounded once. Integers wrap around.
    #[must_use]
    fn mul_add(self, factor: Self, addend: Self) -> Self;

    /// Zero if `self` is negative, else `self`. NaN stays NaN.
    #[must_use]
    fn relu(self) -> Self;

    /// The bits of the magnitude. They are in the order of magnitudes, with NaN behind all others. f64 and integers return 0;
    /// the host does not request it for them.
    #[inline(always)]
    #[must_use]
    fn magnitude_bits(self) -> u32 {
        0
    }

    /// The value of an activation function. f64 and integers return `self`; the host does not request it for them.
    #[inline(always)]
    #[must_use]
    fn activated(self, _: Activation) -> Self {
        self
    }

    /// The derivative of an activation function, likewise.
    #[inline(always)]
    #[must_use]
    fn gradient(self, _: Activation) -> Self {
        self
    }

    /// The derivative of ReLU, likewise: 0 if `self` is not positive, else 1; 1 for NaN.
    #[inline(always)]
    #[must_use]
    fn relu_gradient(self) -> Self {
        self
    }
}

impl Accumulator for f32 {
    const CONVERTS: bool = true;
    type AsF32 = Self;
    type AsF16 = f16;
    type AsBf16 = Bf16;
    type AsFp8 = float8::Fp8;
    type AsBf8 = float8::Bf8;

    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn mul(self, factor: Self) -> Self {
        self * factor
    }

    #[inline(always)]
    fn add(self, addend: Self) -> Self {
        self + addend
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        core::f32::math::mul_add(self, factor, addend)
    }

    #[inline(always)]
    fn relu(self) -> Self {
        if self < 0.0 { 0.0 } else { self }
    }

    #[inline(always)]
    fn magnitude_bits(self) -> u32 {
        self.to_bits() & 0x7fff_ffff
    }

    /// If the power overflows, the quotient is 0, which is correct.
    #[inline(always)]
    fn activated(self, function: Activation) -> Self {
        // Beyond, the power is 0 or ∞ for both functions. 0 · ∞ would be NaN.
        let bounded = self.min(1e9);
        let exponent = bounded * function.cubic.mul_add(bounded * bounded, function.linear);
        // SAFETY: the intrinsic is defined for all floats.
        let [power] = unsafe { simd_fexp2(Simd::from_array([exponent])) }.to_array();
        let unit = self / (1.0 + power);
        // −∞ / ∞ would be NaN, where the limit is 0.
        if self < -128.0 { -0.0 } else { unit }
    }

    /// σ(z) + x · z' · σ(z) · σ(−z), where z = linear · x + cubic · x³. The power is that of −|z|, so that it does not overflow.
    #[inline(always)]
    fn gradient(self, function: Activation) -> Self {
        // Beyond, the derivative is 0 or 1, but 0 · ∞ would be NaN.
        let x = self.clamp(-1e3, 1e3);
        let exponent = x * function.cubic.mul_add(x * x, function.linear);
        // SAFETY: the intrinsic is defined for all floats.
        let [power] = unsafe { simd_fexp2(Simd::from_array([-exponent.abs()])) }.to_array();
        let larger = 1.0 / (1.0 + power);
        let smaller = power * larger;
        let sigmoid = if exponent < 0.0 { larger } else { smaller };
        let slope = (3.0 * function.cubic).mul_add(x * x, function.linear);
        (-core::f32::consts::LN_2 * x * slope).mul_add(larger * smaller, sigmoid)
    }

    #[inline(always)]
    fn relu_gradient(self) -> Self {
        if self <= 0.0 { 0.0 } else { 1.0 }
    }
}

impl Accumulator for f64 {
    const CONVERTS: bool = false;
    type AsF32 = Self;
    type AsF16 = Self;
    type AsBf16 = Self;
    type AsFp8 = Self;
    type AsBf8 = Self;

    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn mul(self, factor: Self) -> Self {
        self * factor
    }

    #[inline(always)]
    fn add(self, addend: Self) -> Self {
        self + addend
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        core::f64::math::mul_add(self, factor, addend)
    }

    #[inline(always)]
    fn relu(self) -> Self {
        if self < 0.0 { 0.0 } else { self }
    }
}

impl Accumulator for i32 {
    const CONVERTS: bool = false;
    type AsF32 = Self;
    type AsF16 = Self;
    type AsBf16 = Self;
    type AsFp8 = Self;
    type AsBf8 = Self;

    const ZERO: Self = 0;
    const ONE: Self = 1;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn mul(self, factor: Self) -> Self {
        self.wrapping_mul(factor)
    }

    #[inline(always)]
    fn add(self, addend: Self) -> Self {
        self.wrapping_add(addend)
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self.wrapping_mul(factor).wrapping_add(addend)
    }

    #[inline(always)]
    fn relu(self) -> Self {
        self.max(0)
    }
}

/// A type of C's elements in memory.
pub trait Stored: Copy {
    /// The type of their sums.
    type Sum: Accumulator;

    /// The element's value.
    fn load(self) -> Self::Sum;

    /// The element nearest to `sum`.
    fn store(sum: Self::Sum) -> Self;

    /// The elements nearest to `sums`.
    #[inline(always)]
    fn store_run<const RUN: usize>(sums: [Self::Sum; RUN]) -> [Self; RUN] {
        each(sums, Self::store)
    }
}

/// As `map`, which is not always inlined and then keeps the elements in memory.
#[inline(always)]
pub fn each<const RUN: usize, S: Copy, T: Copy>(
    elements: [S; RUN],
    convert: impl Fn(S) -> T,
) -> [T; RUN] {
    let mut converted = [convert(elements[0]); RUN];
    for k in 1..RUN {
        converted[k] = convert(elements[k]);
    }
    converted
}

macro_rules! stored_as_summed {
    ($($type:ty),*) => {
        $(impl Stored for $type {
            type Sum = $type;

            #[inline(always)]
            fn load(self) -> Self {
                self
            }

            #[inline(always)]
            fn store(sum: Self) -> Self {
                sum
            }
        })*
    };
}

stored_as_summed!(f32, f64, i32);

impl Stored for f16 {
    type Sum = f32;

    #[inline(always)]
    fn load(self) -> f32 {
        self as f32
    }

    #[inline(always)]
    fn store(sum: f32) -> Self {
        sum as Self
    }
}

/// A bfloat16: the upper half of a binary32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl Stored for Bf16 {
    type Sum = f32;

    #[inline(always)]
    fn load(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// Rounds to nearest, ties to even. A NaN keeps its upper half and becomes quiet, so that it does
    /// not round to infinity.
    #[inline(always)]
    fn store(sum: f32) -> Self {
        let bits = sum.to_bits();
        let tie_to_even = 0x7fff + (bits >> 16 & 1);
        let (quiet, rounded) = (bits | 0x40_0000, bits.wrapping_add(tie_to_even));
        // A branch would take longer than both results.
        let result = core::hint::select_unpredictable(sum.is_nan(), quiet, rounded);
        Self((result >> 16) as u16)
    }
}

/// Floats of 8 bits, which some GPUs convert.
#[cfg(any(
    ferrowave_gpu = "gfx942",
    ferrowave_gpu = "gfx950",
    ferrowave_family = "rdna4"
))]
pub mod float8 {
    use super::{Stored, each};
    use crate::arch::float8;

    /// A float of 8 bits: its type, its largest number, and its conversions.
    macro_rules! float8 {
        ($(#[$doc:meta])* $name:ident, $largest:expr, $load:path, $store:path) => {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[repr(transparent)]
            pub struct $name(u8);

            impl Stored for $name {
                type Sum = f32;

                #[inline(always)]
                fn load(self) -> f32 {
                    $load(self.0)
                }

                /// Rounds to nearest, ties to even. Numbers saturate, infinities do not, as in hipBLASLt.
                #[inline(always)]
                fn store(sum: f32) -> Self {
                    let [element] = Self::store_run([sum]);
                    element
                }

                /// An instruction converts two elements.
                #[inline(always)]
                fn store_run<const RUN: usize>(sums: [f32; RUN]) -> [Self; RUN] {
                    let sums = each(sums, |sum| {
                        let saturated = sum.clamp(-$largest, $largest);
                        let is_number = sum.abs() < f32::INFINITY;
                        core::hint::select_unpredictable(is_number, saturated, sum)
                    });
                    let mut elements = [Self(0); RUN];
                    for k in 0..RUN {
                        let pair = $store(sums[k / 2 * 2], sums[(k | 1).min(RUN - 1)]);
                        elements[k] = Self(pair[k % 2]);
                    }
                    elements
                }
            }
        };
    }

    float8! {
        /// E4M3: FNUZ on gfx942, else the OCP's.
        Fp8, if cfg!(ferrowave_gpu = "gfx942") { 240.0 } else { 448.0 }, float8::from_fp8, float8::to_fp8
    }

    float8! {
        /// E5M2, likewise.
        Bf8, 57_344.0, float8::from_bf8, float8::to_bf8
    }
}

/// No kernel has elements of these types.
#[cfg(not(any(
    ferrowave_gpu = "gfx942",
    ferrowave_gpu = "gfx950",
    ferrowave_family = "rdna4"
)))]
pub mod float8 {
    /// Stands in for E4M3.
    pub type Fp8 = f32;
    /// Stands in for E5M2.
    pub type Bf8 = f32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bfloat16_rounds_to_nearest_even() {
        let rounded = |bits| Bf16::store(f32::from_bits(bits)).0;
        assert_eq!(rounded(0x3f80_0000), 0x3f80);
        assert_eq!(rounded(0x3f80_8000), 0x3f80, "a tie goes to even");
        assert_eq!(rounded(0x3f81_8000), 0x3f82, "a tie goes to even");
        assert_eq!(rounded(0x3f80_8001), 0x3f81);
        assert_eq!(rounded(0x7f7f_ffff), 0x7f80, "overflow is infinity");
        assert_eq!(rounded(0x7f80_0000), 0x7f80);
        assert_eq!(rounded(0x7f80_0001), 0x7fc0, "a NaN stays one");
        assert_eq!(rounded(0xffff_ffff), 0xffff);
        assert_eq!(Bf16(0xc049).load(), -3.140_625);
    }

    #[test]
    fn relu_keeps_nan() {
        assert_eq!((-1.5f32).relu(), 0.0);
        assert_eq!(2.5f32.relu(), 2.5);
        assert!(f32::NAN.relu().is_nan());
        assert_eq!(((-7i32).relu(), 7i32.relu()), (0, 7));
    }

    #[test]
    fn magnitudes_are_ordered_as_their_bits() {
        let ascending = [
            0.0,
            -1e-40,
            1.0,
            -1.5,
            f32::MAX,
            f32::NEG_INFINITY,
            -f32::NAN,
        ];
        assert!(
            ascending.is_sorted_by(|left, right| left.magnitude_bits() < right.magnitude_bits())
        );
        assert_eq!((-0.0_f32).magnitude_bits(), 0);
    }

    #[test]
    fn gradients_are_those_of_the_functions() {
        for (function, of) in [
            (Activation::GELU, gelu as fn(f64) -> f64),
            (Activation::SILU, silu),
        ] {
            for step in -10_000..10_000 {
                let x = f64::from(step) / 500.0;
                let expected = (of(x + 1e-5) - of(x - 1e-5)) / 2e-5;
                let found = f64::from((x as f32).gradient(function));
                // 32 of f32's roundings, and the error of the quotient.
                let bound = 32.0 * f64::from(f32::EPSILON) / 2.0 + 1e-8;
                assert!((found - expected).abs() <= bound, "{x}: {found} {expected}");
            }
            for large in [1e4, 1e30, f32::INFINITY] {
                assert_eq!(
                    (large.gradient(function), (-large).gradient(function)),
                    (1.0, 0.0)
                );
            }
            assert!(f32::NAN.gradient(function).is_nan());
        }
        let gradients = [-1.0, -0.0, 1e-40, f32::NAN].map(Accumulator::relu_gradient);
        assert_eq!(gradients, [0.0, 0.0, 1.0, 1.0]);
    }

    fn gelu(x: f64) -> f64 {
        let u = (2.0 / core::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
        0.5 * x * (1.0 + u.tanh())
    }

    fn silu(x: f64) -> f64 {
        x / (1.0 + (-x).exp())
    }

    #[test]
    fn activations_are_those_of_their_definitions() {
        let close = |found: f32, expected: f64, x: f64| {
            let found = f64::from(found);
            assert!(
                (found - expected).abs() <= 1e-6 * x.abs().max(1e-3),
                "{x}: {found} {expected}"
            );
        };
        for step in -10_000..10_000 {
            let x = f64::from(step) / 50.0;
            close((x as f32).activated(Activation::GELU), gelu(x), x);
            close((x as f32).activated(Activation::SILU), silu(x), x);
        }
        for function in [Activation::GELU, Activation::SILU] {
            for large in [1e15, 1e25, f32::MAX, f32::INFINITY] {
                assert_eq!(large.activated(function), large);
                assert_eq!((-large).activated(function), 0.0);
            }
            assert!(f32::NAN.activated(function).is_nan());
        }
    }
}
