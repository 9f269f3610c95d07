//! gfx90a's sums of f16 and bf16: products and sums are f32, each rounded to nearest, and denormals are flushed.
//!
//! D ← C + ((p₀ + p₁) + (p₂ + p₃)), then the next four; or C + (p₀ + p₁), then the next two.
//! Denormal elements and a denormal C count as +0; denormal products and sums become zeros of their sign
//! (MMA-Sim's FTZ-AddMul: arXiv 2511.10909, v2, algorithms 1 and 2).

use std::simd::prelude::*;

use super::{element::flushed, sum::Sum};
use crate::exec::simd::{F, U};

/// Groups of two or four products. `SMALL`: sums and products may be denormal. Those of f16 cannot: products are
/// multiples of 2⁻⁴⁸, and a normal C of similar size is a multiple of 2⁻⁷².
pub(super) struct Pairs<const GROUP: usize, const SMALL: bool>;

impl<const GROUP: usize, const SMALL: bool> Sum for Pairs<GROUP, SMALL> {
    const GROUP: usize = GROUP;
    type Term = F;
    type Plain = Self;

    #[inline(always)]
    fn start(c: U) -> F {
        let c = F::from_bits(c);
        let zero = c.abs().simd_lt(F::splat(f32::MIN_POSITIVE));
        zero.select(F::splat(0.0), c)
    }

    #[inline(always)]
    fn add(sum: F, _: usize, pair: impl Fn(usize) -> (F, F)) -> F {
        let flushed = |value| if SMALL { flushed(value) } else { value };
        let product = |n| {
            let (a, b) = pair(n);
            flushed(a * b)
        };
        let two = flushed(product(0) + product(1));
        let group = if GROUP == 4 {
            flushed(two + flushed(product(2) + product(3)))
        } else {
            two
        };
        flushed(sum + group)
    }
}
