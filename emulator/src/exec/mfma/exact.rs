//! gfx908's sums of f16 and bf16: C and a group of products are added exactly and rounded once.
//!
//! D ← round(C + p₀ + p₁ + …), to nearest, ties to even, denormals kept; then the next group
//! (MMA-Sim's E-FDPA: arXiv 2511.10909, v2, algorithm 6).
//!
//! Products are exact in f64, their sum is off by little. Where all that it may be off by rounds to the same
//! f32, that is the result; elsewhere (ties, mostly) it is computed with as many bits as there may be.

use std::simd::{StdFloat, prelude::*};

use super::sum::{Sum, Term};
use crate::exec::simd::{E, F};

/// Groups of so many products.
pub(super) struct Exact<const GROUP: usize>;

/// Sixteen elements, and what they are without their signs.
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

    #[inline(always)]
    fn add(sum: F, count: usize, pair: impl Fn(usize) -> (Wide, Wide)) -> F {
        let c: E = sum.cast();
        let (mut near, mut magnitudes) = (c, sum.abs());
        for n in 0..count {
            let (a, b) = pair(n);
            near = a.value.mul_add(b.value, near);
            magnitudes = a.magnitude.mul_add(b.magnitude, magnitudes);
        }
        // Each of at most four sums was off by a half of 2⁻⁵² of the magnitudes, and so is each of the next two. The
        // magnitudes may lack what is no number in f32.
        let magnitudes: E = magnitudes.cast();
        let bound = E::splat(2_f64.powi(-49));
        let off = magnitudes.mul_add(bound, E::splat(2_f64.powi(-190)));
        let (low, high): (F, F) = ((near - off).cast(), (near + off).cast());
        let sure = low.simd_eq(high);
        let mut result: F = near.cast();
        if !sure.all() {
            for lane in 0..16 {
                if !sure.test(lane) {
                    let products = std::array::from_fn::<f64, GROUP, _>(|n| {
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

/// Words of a fixed-point number that all sums of a group fit into.
const WORDS: usize = 10;
/// What its lowest bit is worth: 2 to this. Products of bf16 are multiples of 2⁻²⁶⁶.
const LOWEST: i32 = -320;

/// C and products, rounded once. `near` is their sum in f64, of which only NaN and ∞ are used.
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
    // The highest 62 bits, and whether there is anything below them in one bit more: enough for each later rounding
    // to be the only one.
    let first = highest.saturating_sub(61);
    let (word, bit) = ((first / 64) as usize, first % 64);
    let above = total.get(word + 1).copied().unwrap_or(0);
    let kept = (u128::from(above) << 64 | u128::from(total[word])) >> bit;
    let below = total[..word].iter().any(|&w| w != 0) || total[word] & ((1 << bit) - 1) != 0;
    let significand = (kept as u64) << 1 | u64::from(below);
    // To f64 with 53 bits, the last of which says whether anything was lost.
    let lost = (64 - significand.leading_zeros()).saturating_sub(53);
    let odd = (significand >> lost) | u64::from(significand & ((1 << lost) - 1) != 0);
    let magnitude = odd as f64 * 2_f64.powi(first as i32 + LOWEST - 1 + lost as i32);
    (if is_negative { -magnitude } else { magnitude }) as f32
}

/// Adds a number, two's complement.
fn accumulate(total: &mut [u64; WORDS], number: f64) {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    if exponent == 0 {
        // Zero: nothing that comes here is a denormal f64.
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
