//! Floating-point formats of 8, 6 and 4 bits: reading them as f32, and rounding to them.
//!
//! | format | exponent, fraction | bias | specials |
//! |---|---|---|---|
//! | [`Fp8`] (OCP E4M3) | 4, 3 | 7 | NaN is all ones under the sign, no ∞ |
//! | [`Bf8`] (OCP E5M2) | 5, 2 | 15 | as IEEE 754 |
//! | [`Fp8Fnuz`] (gfx942) | 4, 3 | 8 | NaN is 0x80, no ∞, no −0 |
//! | [`Bf8Fnuz`] (gfx942) | 5, 2 | 16 | NaN is 0x80, no ∞, no −0 |
//! | [`Fp6`] (OCP E2M3) | 2, 3 | 1 | none |
//! | [`Bf6`] (OCP E3M2) | 3, 2 | 3 | none |
//! | [`Fp4`] (OCP E2M1) | 2, 1 | 1 | none |
//!
//! OCP: «8-bit Floating Point Specification» 1.0 and «Microscaling Formats» 1.0, which AMD's CDNA4 guide
//! refers to; FNUZ: CDNA3 ISA guide, «FP8 data formats».

use std::simd::prelude::*;

use super::simd::{F, U};

/// What a format has besides numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Specials {
    /// Nothing: all patterns are numbers.
    None,
    /// The sign alone, which would be −0, is NaN.
    NegativeZero,
    /// All ones under the sign is NaN.
    AllOnes,
    /// The highest exponent is ∞ and NaN.
    HighestExponent,
}

/// A floating-point format of at most 8 bits.
pub(crate) trait Narrow: 'static {
    const EXPONENT_BITS: u32;
    const FRACTION_BITS: u32;
    const BIAS: i32;
    const SPECIALS: Specials;

    /// Bits of an element.
    const BITS: u32 = 1 + Self::EXPONENT_BITS + Self::FRACTION_BITS;
}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident: $exponent:literal, $fraction:literal, $bias:literal, $specials:ident;)*) => {
        $($(#[$doc])*
        pub(crate) struct $name;
        impl Narrow for $name {
            const EXPONENT_BITS: u32 = $exponent;
            const FRACTION_BITS: u32 = $fraction;
            const BIAS: i32 = $bias;
            const SPECIALS: Specials = Specials::$specials;
        })*
    };
}

formats! {
    /// OCP E4M3.
    Fp8: 4, 3, 7, AllOnes;
    /// OCP E5M2.
    Bf8: 5, 2, 15, HighestExponent;
    /// gfx942's E4M3.
    Fp8Fnuz: 4, 3, 8, NegativeZero;
    /// gfx942's E5M2.
    Bf8Fnuz: 5, 2, 16, NegativeZero;
    /// OCP E2M3.
    Fp6: 2, 3, 1, None;
    /// OCP E3M2.
    Bf6: 3, 2, 3, None;
    /// OCP E2M1.
    Fp4: 2, 1, 1, None;
}

/// A power of two that f32 has as a normal number.
const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// The elements that begin at bit `shift` of each lane, as f32. What stands above them does not matter.
#[inline(always)]
pub(crate) fn read<T: Narrow>(bits: U, shift: u32) -> F {
    // The exponent and fraction at f32's place, with the exponent still biased as it was: a denormal or
    // very small f32, which the multiplication makes right for numbers of both kinds.
    let top = shift + T::BITS;
    let sign = (bits << U::splat(32 - top)) & U::splat(0x8000_0000);
    let to = 23 - T::FRACTION_BITS;
    let moved = if to >= shift {
        bits << U::splat(to - shift)
    } else {
        bits >> U::splat(shift - to)
    };
    let magnitude = moved & U::splat(((1 << (T::BITS - 1)) - 1) << to);
    let number = F::from_bits(sign | magnitude) * F::splat(power_of_two(127 - T::BIAS));
    let special = |mask: Mask<i32, 16>, value: F| mask.select(value, number);
    let nan = F::from_bits(U::splat(0x7fc0_0000));
    match T::SPECIALS {
        Specials::None => number,
        Specials::NegativeZero => special((sign | magnitude).simd_eq(U::splat(0x8000_0000)), nan),
        Specials::AllOnes => {
            let all = U::splat(((1 << (T::BITS - 1)) - 1) << to);
            special(magnitude.simd_eq(all), F::from_bits(nan.to_bits() | sign))
        }
        Specials::HighestExponent => {
            let highest = ((1 << T::EXPONENT_BITS) - 1) << 23;
            // A NaN keeps its fraction, made quiet.
            let fraction = magnitude & U::splat(0x7f_ffff);
            let infinity = U::splat(0x7f80_0000) | sign;
            let quiet = infinity | U::splat(0x40_0000) | fraction;
            let value = fraction.simd_eq(U::splat(0)).select(infinity, quiet);
            special(magnitude.simd_ge(U::splat(highest)), F::from_bits(value))
        }
    }
}
