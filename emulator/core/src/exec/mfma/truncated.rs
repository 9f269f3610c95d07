//! gfx942's sums of f16, bf16, xf32, fp8 and bf8: fused, of limited width, and not symmetric.
//!
//! A finite number is s·2^e, where e is the exponent of its normal form, or for a denormal number that of its format's
//! smallest normal number. A product's exponent is the sum of its factors' (its s may reach 4). cut(x, u) rounds
//! towards zero and floor(x, u) down, to a multiple of u:
//!
//! - [`Truncated`]: e = largest exponent of the group's products that are not 0; t = Σ cut(pᵢ, 2^(e−24)).
//! - [`Halved`]: the same for even and for odd k; e = larger of both; t = floor(t₀, 2^(e−24)) + floor(t₁, 2^(e−24)).
//! - Then g = max(e, e of C) with −126 for C = 0; r = floor(t, 2^(g−32)) + floor(C, 2^(g−24)); [`Halved`] takes C
//!   as 0 if its exponent is below g − 25.
//! - r is rounded down to 32 bits, none below 2⁻¹⁵⁷, then to f32, to nearest, ties to even.
//!
//! (MMA-Sim's TR-FDPA and GTR-FDPA, F = 24, F₂ = 31: arXiv 2511.10909, v2, algorithms 10 and 11, with the two roundings
//! down of its program `mmasim` 2.1.1, in `fdpa.py`.) A product of [`Truncated`] from 2¹²⁸ on is ∞. ∞ and NaN give what
//! IEEE 754 gives for the sum. Zero is +0.

use std::simd::{StdFloat, prelude::*};

use super::sum::{Sum, Term};
use crate::exec::simd::{D, E, F, I, U};

/// Groups of `GROUP` products. `WIDE`: the exponents of products may be outside of f32's range.
pub(super) struct Truncated<const GROUP: usize, const WIDE: bool>;

/// Groups of sixteen products, even and odd ones separate.
pub(super) struct Halved<const WIDE: bool>;

/// Exponent of a zero: lower than all others, with any factor.
const ZERO: i32 = -2000;
/// Exponent of ∞ and NaN: higher than all others, with any factor.
const SPECIAL: i32 = 5000;
/// The exponent from which products may be too large for f32.
const OVERFLOW: i32 = 127;

/// Sixteen elements. `WIDE`: the exponents of their products may be outside of f32's range.
#[derive(Clone, Copy)]
pub(super) struct Parts<const WIDE: bool> {
    /// The number, or its significand; 0 for ∞ and NaN.
    value: F,
    exponent: I,
    /// ±∞ or NaN; ±1 for other numbers; 0 for zero.
    class: F,
}

impl<const WIDE: bool> Term for Parts<WIDE> {
    #[inline(always)]
    fn new(elements: F, lowest_exponent: i32) -> Self {
        let bits = elements.to_bits();
        let field = (bits >> U::splat(23) & U::splat(0xff)).cast::<i32>();
        let special = field.simd_eq(I::splat(255));
        let zero = elements.simd_eq(F::splat(0.0));
        let one = F::splat(1.0).copysign(elements);
        let own = field - I::splat(127);
        let lowest = I::splat(lowest_exponent);
        let exponent = zero.select(I::splat(ZERO), own.simd_max(lowest));
        let value = if WIDE {
            let normal = F::from_bits(bits & U::splat(0x807f_ffff) | U::splat(0x3f80_0000));
            let denormal =
                elements * F::from_bits(U::splat((127 - lowest_exponent) as u32) << U::splat(23));
            own.simd_ge(lowest).select(normal, denormal)
        } else {
            elements
        };
        Parts {
            value: special.select(F::splat(0.0), value),
            exponent: special.select(I::splat(SPECIAL), exponent),
            class: special.select(elements, zero.select(F::splat(0.0), one)),
        }
    }

    #[inline(always)]
    fn splat(&self, lane: usize) -> Self {
        Parts {
            value: F::splat(self.value.as_array()[lane]),
            exponent: I::splat(self.exponent.as_array()[lane]),
            class: F::splat(self.class.as_array()[lane]),
        }
    }
}

impl<const WIDE: bool> Parts<WIDE> {
    /// The elements times 2^(scale − 127); a scale of 255 is NaN.
    #[inline(always)]
    pub(super) fn scaled(self, scale: U) -> Self {
        let nan = scale.simd_eq(U::splat(255));
        Parts {
            value: nan.select(F::splat(0.0), self.value),
            exponent: nan.select(
                I::splat(SPECIAL),
                self.exponent + scale.cast() - I::splat(127),
            ),
            class: nan.select(F::splat(f32::NAN), self.class),
        }
    }
}

/// Products with the exponent `exponent`, cut and added: the sum is `sum` · 2^(exponent − 24).
#[derive(Clone, Copy)]
struct Products {
    sum: I,
    exponent: I,
}

impl Products {
    #[inline(always)]
    fn new<const WIDE: bool>(
        numbers: impl Iterator<Item = usize> + Clone,
        pair: &impl Fn(usize) -> (Parts<WIDE>, Parts<WIDE>),
    ) -> Self {
        let mut exponent = I::splat(2 * ZERO);
        for n in numbers.clone() {
            let (a, b) = pair(n);
            exponent = exponent.simd_max(a.exponent + b.exponent);
        }
        // 2^(24 − exponent), where a product is a number other than 0.
        let bounded = exponent.simd_clamp(I::splat(-100), I::splat(100));
        let scale = F::from_bits(((I::splat(24 + 127) - bounded) << I::splat(23)).cast());
        let mut sum = I::splat(0);
        for n in numbers {
            let (a, b) = pair(n);
            let scale = if WIDE {
                let power = a.exponent + b.exponent - exponent + I::splat(24 + 127);
                F::from_bits((power.simd_max(I::splat(0)) << I::splat(23)).cast())
            } else {
                scale
            };
            let product = a.value * b.value * scale;
            // SAFETY: a product is less than 4 times 2 to its exponent, so less than 2²⁶ here. ∞ and NaN have the value
            // 0, and a group with one of them has a smaller scale.
            sum += unsafe { product.to_int_unchecked::<i32>() };
        }
        Products { sum, exponent }
    }
}

/// 2 to the power of each lane.
#[inline(always)]
fn power(exponent: I) -> E {
    E::from_bits((exponent + I::splat(1023)).cast::<u64>() << D::splat(52))
}

/// The sum of products and C, rounded down and then to f32.
#[inline(always)]
fn combine(products: Products, c: F, drops_small_c: bool) -> F {
    let bits = c.to_bits();
    let field = (bits >> U::splat(23) & U::splat(0xff)).cast::<i32>();
    let normal = field.simd_min(I::splat(1));
    let c_exponent = field - normal - I::splat(126);
    let fraction = (bits & U::splat(0x7f_ffff)).cast::<i32>() | normal << I::splat(23);
    let sign = bits.cast::<i32>() >> I::splat(31);
    let significand = (fraction ^ sign) - sign;
    let exponent = products.exponent.simd_max(c_exponent);
    let c_down = exponent - c_exponent;
    // In units of 2^(exponent − 24).
    let mut c_part = (significand << I::splat(1)) >> c_down.simd_min(I::splat(31));
    if drops_small_c {
        c_part = c_down.simd_gt(I::splat(25)).select(I::splat(0), c_part);
    }
    // In units of 2^(exponent − 32), like all that follows.
    let down = (exponent - products.exponent).simd_min(I::splat(60));
    let product_part = (products.sum.cast::<f64>() * power(I::splat(8) - down)).floor();
    let mut sum = c_part.cast::<f64>().mul_add(E::splat(256.0), product_part);
    let lowest = exponent.simd_eq(I::splat(-126)) & products.sum.simd_ne(I::splat(0));
    if lowest.any() {
        let denormal = sum.abs().simd_lt(E::splat(2_f64.powi(32))) & lowest.cast();
        let even = (sum * E::splat(0.5)).floor() * E::splat(2.0);
        sum = denormal.select(even, sum);
    }
    // Down to 32 bits, which is away from zero for negative sums.
    let bits = sum.to_bits();
    let less = D::splat((1 << 21) - 1);
    let away = (bits.cast::<i64>() >> Simd::splat(63)).cast::<u64>() & less;
    let kept = E::from_bits((bits + away) & !less);
    let result: F = (kept * power(exponent - I::splat(32))).cast();
    field.simd_eq(I::splat(255)).select(c + c, result)
}

/// What a sum becomes if products include ∞ or NaN.
#[cold]
#[inline(always)]
fn with_specials<const WIDE: bool>(
    overflows: bool,
    sum: F,
    result: F,
    count: usize,
    pair: &impl Fn(usize) -> (Parts<WIDE>, Parts<WIDE>),
) -> F {
    let mut specials = F::splat(0.0);
    for n in 0..count {
        let (a, b) = pair(n);
        let class = a.class * b.class;
        let carry = (a.value * b.value).abs().simd_ge(F::splat(2.0));
        let exponent = a.exponent + b.exponent + carry.select(I::splat(1), I::splat(0));
        let over = exponent.simd_gt(I::splat(OVERFLOW)) & class.is_finite();
        specials += if overflows {
            over.select(class * F::splat(f32::INFINITY), class)
        } else {
            class
        };
    }
    specials.is_finite().select(result, sum + specials)
}

impl<const GROUP: usize, const WIDE: bool> Sum for Truncated<GROUP, WIDE> {
    const GROUP: usize = GROUP;
    type Term = Parts<WIDE>;
    type Plain = Self;

    #[inline(always)]
    fn add(sum: F, count: usize, pair: impl Fn(usize) -> (Parts<WIDE>, Parts<WIDE>)) -> F {
        let products = Products::new(0..count, &pair);
        let result = combine(products, sum, false);
        if products.exponent.simd_ge(I::splat(OVERFLOW)).any() {
            return with_specials(WIDE, sum, result, count, &pair);
        }
        result
    }
}

impl<const WIDE: bool> Sum for Halved<WIDE> {
    const GROUP: usize = 16;
    type Term = Parts<WIDE>;
    type Plain = Self;

    #[inline(always)]
    fn add(sum: F, count: usize, pair: impl Fn(usize) -> (Parts<WIDE>, Parts<WIDE>)) -> F {
        let even = Products::new((0..count).step_by(2), &pair);
        let odd = Products::new((1..count).step_by(2), &pair);
        let exponent = even.exponent.simd_max(odd.exponent);
        let floor = |half: Products| half.sum >> (exponent - half.exponent).simd_min(I::splat(31));
        let products = Products {
            sum: floor(even) + floor(odd),
            exponent,
        };
        let result = combine(products, sum, true);
        if exponent.simd_ge(I::splat(OVERFLOW)).any() {
            return with_specials(false, sum, result, count, &pair);
        }
        result
    }
}
