//! gfx908's sums of f16 and bf16: C and a group of products are added exactly and rounded once.
//!
//! D ← round(C + p₀ + p₁ + …), to nearest, ties to even, denormals kept; then the next group (MMA-Sim's E-FDPA: arXiv
//! 2511.10909, v2, algorithm 6).
//!
//! Products are exact in f64, and usually their sums are, too ([`InF64`]). If not, a sum's error is bounded: if the
//! whole interval rounds to one f32, that is the result. Otherwise (mostly ties) the sum is computed in exact
//! fixed-point arithmetic.

use std::simd::{StdFloat, prelude::*};

use super::sum::{Sum, Term};
use crate::exec::array::array;
use crate::exec::simd::{E, F, U};

/// Groups of `GROUP` products.
pub(super) struct Exact<const GROUP: usize>;

/// The same where f64 holds each sum: all numbers are multiples of a power of two and less than 2⁵² times it.
pub(super) struct InF64<const GROUP: usize>;

/// Sixteen elements, and their magnitudes.
#[derive(Clone, Copy)]
pub(super) struct Wide {
    value: E,
    magnitude: F,
}

impl Term for Wide {
    #[inline(always)]
    fn new(elements: F, _: i32) -> Self {
        Wide {
            value: elements.cast(),
            magnitude: elements.abs(),
        }
    }

    #[inline(always)]
    fn splat(&self, lane: usize) -> Self {
        Wide {
            value: E::splat(self.value.as_array()[lane]),
            magnitude: F::splat(self.magnitude.as_array()[lane]),
        }
    }
}

impl<const GROUP: usize> Sum for Exact<GROUP> {
    const GROUP: usize = GROUP;
    type Term = Wide;
    type Plain = InF64<GROUP>;

    #[inline(always)]
    fn is_plain(a: &[Wide], b: &[Wide], c: impl Iterator<Item = U>) -> bool {
        let ((a_unit, a_most), (b_unit, b_most)) = (extent(a), extent(b));
        // Sums rounded to f32 remain multiples of it if it is at most 1.
        let unit = (a_unit * b_unit).min(1.0);
        if unit < 2_f64.powi(-100) {
            return false;
        }
        let per_unit = F::splat((1.0 / unit) as f32);
        let (mut most, mut is_multiple) = (F::splat(0.0), Mask::splat(true));
        for c in c {
            let c = F::from_bits(c);
            let units = c * per_unit;
            most = most.simd_max(c.abs());
            is_multiple &= units.trunc().simd_eq(units);
        }
        let sum = f64::from(most.reduce_max()) + a.len() as f64 * a_most * b_most;
        is_multiple.all() && sum < 2_f64.powi(52) * unit
    }

    #[inline(always)]
    fn add(sum: F, count: usize, pair: impl Fn(usize) -> (Wide, Wide)) -> F {
        let c: E = sum.cast();
        let (mut near, mut magnitudes) = (c, sum.abs());
        for n in 0..count {
            let (a, b) = pair(n);
            near = a.value.mul_add(b.value, near);
            magnitudes = a.magnitude.mul_add(b.magnitude, magnitudes);
        }
        // Each of at most four sums has an error of half of 2⁻⁵² of the magnitudes, and so have the next two
        // operations. The magnitudes may lack products that underflow in f32.
        let magnitudes: E = magnitudes.cast();
        let bound = E::splat(2_f64.powi(-49));
        let off = magnitudes.mul_add(bound, E::splat(2_f64.powi(-190)));
        let (low, high): (F, F) = ((near - off).cast(), (near + off).cast());
        let sure = low.simd_eq(high);
        let mut result: F = near.cast();
        if !sure.all() {
            for lane in 0..16 {
                if !sure.test(lane) {
                    let products = array::<f64, GROUP>(|n| {
                        let (a, b) = pair(n % count);
                        if n < count {
                            a.value[lane] * b.value[lane]
                        } else {
                            0.0
                        }
                    });
                    result[lane] = rounded_once(near[lane], c[lane], &products);
                }
            }
        }
        result
    }
}

impl<const GROUP: usize> Sum for InF64<GROUP> {
    const GROUP: usize = GROUP;
    type Term = Wide;
    type Plain = Self;

    #[inline(always)]
    fn add(sum: F, count: usize, pair: impl Fn(usize) -> (Wide, Wide)) -> F {
        let mut sum: E = sum.cast();
        for n in 0..count {
            let (a, b) = pair(n);
            sum = a.value.mul_add(b.value, sum);
        }
        sum.cast()
    }
}

/// A power of two that all elements are multiples of, and the largest magnitude.
#[inline(always)]
fn extent(elements: &[Wide]) -> (f64, f64) {
    let infinite = F::splat(f32::INFINITY);
    let (mut least, mut most) = (infinite, F::splat(0.0));
    for Wide { magnitude, .. } in elements {
        let is_zero = magnitude.simd_eq(F::splat(0.0));
        least = least.simd_min(is_zero.select(infinite, *magnitude));
        most = most.simd_max(*magnitude);
    }
    // f16 has 11 bits, bf16 fewer. A denormal f32 leaves nothing, which makes the unit 0.
    let highest_bit = f32::from_bits(least.reduce_min().to_bits() & f32::INFINITY.to_bits());
    let unit = f64::from(highest_bit) * 2_f64.powi(-10);
    (unit, f64::from(most.reduce_max()))
}

/// Words of a fixed-point number that holds every sum of a group.
const WORDS: usize = 10;
/// Exponent of its lowest bit. Products of bf16 are multiples of 2⁻²⁶⁶.
const LOWEST: i32 = -320;

/// C and products, rounded once. `near` is their sum in f64; it is used only if it is NaN or ∞.
#[cold]
#[inline(never)]
fn rounded_once(near: f64, c: f64, products: &[f64]) -> f32 {
    if !near.is_finite() {
        return near as f32;
    }
    let mut total = [0_u64; WORDS];
    for &number in products.iter().chain([&c]) {
        accumulate(&mut total, number);
    }
    let is_negative = total[WORDS - 1] >> 63 != 0;
    if is_negative {
        negate(&mut total);
    }
    let Some(top) = (0..WORDS).rev().find(|&word| total[word] != 0) else {
        return 0.0;
    };
    let highest = 64 * top as u32 + 63 - total[top].leading_zeros();
    // The highest 62 bits, and one more that says whether any bit below is set. This is enough for each later rounding
    // to be the only one.
    let first = highest.saturating_sub(61);
    let (word, bit) = ((first / 64) as usize, first % 64);
    let above = total.get(word + 1).copied().unwrap_or(0);
    let kept = (u128::from(above) << 64 | u128::from(total[word])) >> bit;
    let below = total[..word].iter().any(|&w| w != 0) || total[word] & ((1 << bit) - 1) != 0;
    let significand = (kept as u64) << 1 | u64::from(below);
    // To the 53 bits of f64; the last says whether anything was lost.
    let lost = (64 - significand.leading_zeros()).saturating_sub(53);
    let odd = (significand >> lost) | u64::from(significand & ((1 << lost) - 1) != 0);
    let magnitude = odd as f64 * 2_f64.powi(first as i32 + LOWEST - 1 + lost as i32);
    (if is_negative { -magnitude } else { magnitude }) as f32
}

/// Adds a number in two's complement.
fn accumulate(total: &mut [u64; WORDS], number: f64) {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    if exponent == 0 {
        // Zero; no denormal f64 comes here.
        return;
    }
    let place = (exponent - 1075 - LOWEST) as u32;
    let significand = u128::from(bits & ((1 << 52) - 1) | 1 << 52) << (place % 64);
    let mut addend = [0_u64; WORDS];
    let word = (place / 64) as usize;
    addend[word] = significand as u64;
    addend[word + 1] = (significand >> 64) as u64;
    if number < 0.0 {
        negate(&mut addend);
    }
    let mut carry = false;
    for (total, addend) in total.iter_mut().zip(addend) {
        (*total, carry) = total.carrying_add(addend, carry);
    }
}

fn negate(number: &mut [u64; WORDS]) {
    let mut carry = true;
    for word in number {
        (*word, carry) = (!*word).overflowing_add(u64::from(carry));
    }
}
