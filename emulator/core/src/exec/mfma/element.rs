//! The elements of A and B, read as f32.

use std::simd::prelude::*;

use crate::exec::{
    half,
    minifloat::{self, Bf6, Bf8, Bf8Fnuz, Fp4, Fp6, Fp8, Fp8Fnuz, Narrow},
    simd::{F, I, U},
};

/// Type of A's or B's elements. Each converts to f32 without loss.
pub(crate) trait Element: 'static {
    /// Bits of an element; elements are adjacent in a lane's registers.
    const BITS: usize;
    /// Exponent of the smallest normal number.
    const LOWEST_EXPONENT: i32 = -126;
    /// Reads the elements at bit `shift` of `bits`, which contains all of their bits.
    fn read(bits: U, shift: u32) -> F;
}

/// f32.
pub(crate) struct F32;
/// f32 of which the matrix cores use the sign, the exponent and ten bits of the fraction. They drop the others without
/// rounding (AMD, in rocm-libraries' pull request 9176).
pub(super) struct Xf32;
/// f16.
pub(crate) struct F16;
/// bfloat16.
pub(crate) struct Bf16;
/// Signed bytes.
pub(super) struct I8;
/// f16; denormals and zeros become +0.
pub(super) struct FlushedF16;
/// bf16; denormals and zeros become +0.
pub(super) struct FlushedBf16;

impl Element for F32 {
    const BITS: usize = 32;
    #[inline(always)]
    fn read(bits: U, _: u32) -> F {
        F::from_bits(bits)
    }
}

impl Element for Xf32 {
    const BITS: usize = 32;
    #[inline(always)]
    fn read(bits: U, _: u32) -> F {
        let value = F::from_bits(bits);
        // A NaN stays NaN, whichever bits of its fraction are set.
        let kept = F::from_bits(bits & U::splat(0xffff_e000));
        value.is_nan().select(value, kept)
    }
}

impl Element for F16 {
    const BITS: usize = 16;
    const LOWEST_EXPONENT: i32 = -14;
    #[inline(always)]
    fn read(bits: U, shift: u32) -> F {
        half::to_f32(bits >> U::splat(shift))
    }
}

impl Element for Bf16 {
    const BITS: usize = 16;
    #[inline(always)]
    fn read(bits: U, shift: u32) -> F {
        if shift == 0 {
            F::from_bits(bits << U::splat(16))
        } else {
            F::from_bits(bits & U::splat(0xffff_0000))
        }
    }
}

impl Element for FlushedF16 {
    const BITS: usize = 16;
    #[inline(always)]
    fn read(bits: U, shift: u32) -> F {
        let half = bits >> U::splat(shift);
        let denormal = (half & U::splat(0x7c00)).simd_eq(U::splat(0));
        half::to_f32(denormal.select(U::splat(0), half))
    }
}

impl Element for FlushedBf16 {
    const BITS: usize = 16;
    #[inline(always)]
    fn read(bits: U, shift: u32) -> F {
        let value = Bf16::read(bits, shift);
        let denormal = value.abs().simd_lt(F::splat(f32::MIN_POSITIVE));
        denormal.select(F::splat(0.0), value)
    }
}

/// Replaces denormals by zeros of their sign.
#[inline(always)]
pub(super) fn flushed(value: F) -> F {
    let zero = F::from_bits(value.to_bits() & U::splat(0x8000_0000));
    let small = value.abs().simd_lt(F::splat(f32::MIN_POSITIVE));
    small.select(zero, value)
}

impl Element for I8 {
    const BITS: usize = 8;
    #[inline(always)]
    fn read(bits: U, shift: u32) -> F {
        ((bits << U::splat(24 - shift)).cast::<i32>() >> I::splat(24)).cast::<f32>()
    }
}

macro_rules! narrow_elements {
    ($($name:ident)*) => {
        $(impl Element for $name {
            const BITS: usize = <$name as Narrow>::BITS as usize;
            const LOWEST_EXPONENT: i32 = 1 - <$name as Narrow>::BIAS;
            #[inline(always)]
            fn read(bits: U, shift: u32) -> F {
                minifloat::read::<$name>(bits, shift)
            }
        })*
    };
}

narrow_elements!(Fp8 Bf8 Fp8Fnuz Bf8Fnuz Fp6 Bf6 Fp4);
