//! Floating-point formats of 8, 6 and 4 bits: widening to f32, and rounding to them.
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
//! OCP: «8-bit Floating Point Specification» 1.0 and «Microscaling Formats» 1.0, to which AMD's CDNA4 guide refers;
//! FNUZ: CDNA3 ISA guide, «FP8 data formats».

use std::simd::prelude::*;

use super::simd::{F, U};

/// The values of a format that are not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Specials {
    /// None: all patterns are numbers.
    None,
    /// The sign bit alone, which would be −0, is NaN.
    NegativeZero,
    /// All ones below the sign is NaN.
    AllOnes,
    /// The highest exponent is ∞ and NaN.
    HighestExponent,
}

/// A floating-point format of at most 16 bits.
pub(crate) trait Narrow: 'static {
    const EXPONENT_BITS: u32;
    const FRACTION_BITS: u32;
    const BIAS: i32;
    const SPECIALS: Specials;

    /// Bits of an element.
    const BITS: u32 = 1 + Self::EXPONENT_BITS + Self::FRACTION_BITS;
    /// Exponent and fraction of the largest number.
    const LARGEST: u32 = {
        let all = (1 << (Self::BITS - 1)) - 1;
        match Self::SPECIALS {
            Specials::None | Specials::NegativeZero => all,
            Specials::AllOnes => all - 1,
            Specials::HighestExponent => all - (1 << Self::FRACTION_BITS),
        }
    };
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
    /// IEEE 754's binary16, as a target of rounding.
    Fp16: 5, 10, 15, HighestExponent;
    /// bfloat16, as a target of rounding.
    Brain16: 8, 7, 127, HighestExponent;
}

/// A power of two that is a normal f32.
const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// The elements at bit `shift` of each lane, as f32. Bits above them are ignored.
#[inline(always)]
pub(crate) fn read<T: Narrow>(bits: U, shift: u32) -> F {
    // Exponent and fraction in f32's place, with the format's own bias: a denormal or very small f32, which the
    // multiplication corrects for normal and denormal numbers alike.
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
            // A NaN keeps its fraction and is quieted.
            let fraction = magnitude & U::splat(0x7f_ffff);
            let infinity = U::splat(0x7f80_0000) | sign;
            let quiet = infinity | U::splat(0x40_0000) | fraction;
            let value = fraction.simd_eq(U::splat(0)).select(infinity, quiet);
            special(magnitude.simd_ge(U::splat(highest)), F::from_bits(value))
        }
    }
}

/// The bits from bit `bit` of adjacent registers on; the lowest `size` bits are an element.
#[inline(always)]
pub(crate) fn read_across(register: impl Fn(usize) -> U, bit: usize, size: usize) -> U {
    let (first, shift) = (bit / 32, (bit % 32) as u32);
    let low = register(first) >> U::splat(shift);
    if shift as usize + size <= 32 {
        return low;
    }
    // The element begins in one register and ends in the next.
    low | register(first + 1) << U::splat(32 - shift)
}

/// A scale of gfx950's conversions and products (E8M0): 2^(byte − 127), 0xff is NaN.
#[inline(always)]
pub(crate) fn power_of_scale(scale: U) -> F {
    let denormal = U::splat(0x0040_0000);
    let bits = scale
        .simd_eq(U::splat(0))
        .select(denormal, scale << U::splat(23));
    let nan = U::splat(0x7fc0_0000);
    F::from_bits(scale.simd_eq(U::splat(0xff)).select(nan, bits))
}

/// How a number is rounded to a narrower format.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Up with a probability: adds `random` below the last bit that the format keeps, then truncates.
    Stochastic {
        /// Random bits; the highest ones are used.
        random: u32,
        /// Bits of the fraction in the source's format; no random bits are added below them.
        source_fraction: u32,
    },
}

/// Rounds `value` · 2^-`exponent` to a narrow format.
///
/// Values above the format's largest number, including ∞, become the largest number if `saturate` (MODE's `FP16_OVFL`)
/// is set or the format has no special values; otherwise ∞, or NaN if the format has no ∞ (RDNA4 ISA guide, whose table
/// the CDNA guides omit).
///
/// Stochastic rounding is that of AMD's library (`amd_hip_ocp_host.hpp`) and of its simulator. The ISA guides'
/// pseudocode for `v_cvt_sr_fp8_f32` rounds to nearest after the addition and drops its carry, which would favour the
/// larger neighbour and halve numbers just below a power of two.
pub(crate) fn round<T: Narrow>(
    value: f32,
    exponent: i32,
    rounding: Rounding,
    saturate: bool,
) -> u32 {
    let sign = u32::from(value.is_sign_negative()) << (T::BITS - 1);
    let all_ones = (1 << (T::BITS - 1)) - 1;
    if value.is_nan() {
        return match T::SPECIALS {
            Specials::NegativeZero => 1 << (T::BITS - 1),
            _ => sign | all_ones,
        };
    }
    let magnitude = if value.is_infinite() {
        u32::MAX
    } else {
        round_magnitude::<T>(value, exponent, rounding)
    };
    if magnitude > T::LARGEST {
        return match T::SPECIALS {
            Specials::None => sign | T::LARGEST,
            _ if saturate => sign | T::LARGEST,
            Specials::NegativeZero => 1 << (T::BITS - 1),
            Specials::AllOnes => sign | all_ones,
            Specials::HighestExponent => sign | (T::LARGEST + 1),
        };
    }
    if magnitude == 0 && T::SPECIALS == Specials::NegativeZero {
        return 0;
    }
    sign | magnitude
}

/// Exponent and fraction of a finite number, before the check against the format's largest.
fn round_magnitude<T: Narrow>(value: f32, exponent: i32, rounding: Rounding) -> u32 {
    let bits = value.to_bits() & 0x7fff_ffff;
    if bits == 0 {
        return 0;
    }
    // The fraction with its leading one at bit 23, and the exponent of that one.
    let (fraction, power) = if bits >> 23 == 0 {
        let up = bits.leading_zeros() - 8;
        (bits << up, -126 - up as i32)
    } else {
        (bits & 0x7f_ffff | 0x80_0000, (bits >> 23) as i32 - 127)
    };
    let above = power - exponent - (1 - T::BIAS);
    if above > 1 << T::EXPONENT_BITS {
        return u32::MAX;
    }
    // Bits that the format drops; denormals drop more.
    let dropped = 23 - T::FRACTION_BITS;
    let below = (-above).clamp(0, 31) as u32;
    let units = match rounding {
        Rounding::Nearest => {
            let exact = u64::from(fraction) << 32 >> below;
            let unit = 1_u64 << (32 + dropped);
            let (down, rest) = (exact / unit, exact % unit);
            let up = rest > unit / 2 || rest == unit / 2 && down % 2 == 1;
            (down + u64::from(up)) as u32
        }
        Rounding::Stochastic {
            random,
            source_fraction,
        } => {
            let bits = source_fraction - T::FRACTION_BITS;
            let added = random >> (32 - bits) << (23 - source_fraction);
            ((fraction >> below) + added) >> dropped
        }
    };
    // The leading one of `units` adds to the exponent field, as does a carry.
    ((above.max(0) as u32) << T::FRACTION_BITS) + units
}
