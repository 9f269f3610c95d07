//! How an element of D is computed from C and products: the trait, and sums that are chains of fused multiply-adds.
//!
//! `docs/matrix.md` has the sources. In short, for each GPU and type:
//!
//! | | f16 | bf16 (two elements a lane) | xf32 | fp8, bf8 | f32, f64 |
//! |---|---|---|---|---|---|
//! | gfx908 | [`Exact<4>`] | [`Exact<2>`] | | | chain |
//! | gfx90a | [`Pairs<4>`] | [`Pairs<4>`] ([`Pairs<2>`]) | | | chain |
//! | gfx942, gfx950 | [`Truncated<8>`] | [`Truncated<8>`] | [`Truncated<4>`] | [`Halved`] | chain |
//!
//! [`Exact<4>`]: super::exact::Exact
//! [`Exact<2>`]: super::exact::Exact
//! [`Pairs<4>`]: super::pairs::Pairs
//! [`Pairs<2>`]: super::pairs::Pairs
//! [`Truncated<8>`]: super::truncated::Truncated
//! [`Truncated<4>`]: super::truncated::Truncated
//! [`Halved`]: super::truncated::Halved

use std::{
    mem::MaybeUninit,
    simd::{StdFloat, prelude::*},
};

use super::{
    element::flushed,
    panel::{MOST, Panel},
};
use crate::exec::simd::{F, U};

/// Sixteen elements of A or B, prepared for multiplication.
pub(super) trait Term: Copy {
    /// From f32, and the exponent of the smallest normal number in their own type.
    fn new(elements: F, lowest_exponent: i32) -> Self;
    /// One of the sixteen elements, in all lanes.
    fn splat(&self, lane: usize) -> Self;

    /// All elements of a panel. Terms that differ from the panel's f32 are written to `room`.
    #[inline(always)]
    fn all<'a>(panel: &'a Panel, room: &'a mut Room<Self>) -> &'a [Self] {
        Self::changed(panel, room, |_, term| term)
    }

    /// The same, with each term replaced by `change` of its index and itself.
    #[inline(always)]
    fn changed<'a>(
        panel: &Panel,
        room: &'a mut Room<Self>,
        change: impl Fn(usize, Self) -> Self,
    ) -> &'a [Self] {
        let elements = panel.elements();
        let room = &mut room[..elements.len()];
        for (index, (term, &elements)) in room.iter_mut().zip(elements).enumerate() {
            term.write(change(index, Self::new(elements, panel.lowest_exponent)));
        }
        // SAFETY: all of them were written.
        unsafe { room.assume_init_ref() }
    }
}

/// Memory for a panel's terms.
pub(super) type Room<T> = [MaybeUninit<T>; MOST];

/// Uninitialized memory for a panel's terms.
#[inline(always)]
pub(super) const fn room<T>() -> Room<T> {
    [const { MaybeUninit::uninit() }; MOST]
}

impl Term for F {
    #[inline(always)]
    fn new(elements: F, _: i32) -> F {
        elements
    }
    #[inline(always)]
    fn splat(&self, lane: usize) -> F {
        F::splat(self.as_array()[lane])
    }
    #[inline(always)]
    fn all<'a>(panel: &'a Panel, _: &'a mut Room<F>) -> &'a [F] {
        panel.elements()
    }
}

/// Type of C's and D's elements, 32 bits, and how products are added to them.
pub(super) trait Sum: 'static {
    /// How many products are added at a time, group after group in k; fewer if K is smaller.
    const GROUP: usize;
    /// What A's and B's elements are multiplied as.
    type Term: Term;
    /// The same sums in fewer steps, for numbers that [`Self::is_plain`] accepts.
    type Plain: Sum<Term = Self::Term>;

    /// Whether [`Self::Plain`] gives the same results for all rows of A, columns of B and elements of C.
    #[inline(always)]
    fn is_plain(_a: &[Self::Term], _b: &[Self::Term], _c: impl Iterator<Item = U>) -> bool {
        false
    }
    /// What the sum starts with.
    #[inline(always)]
    fn start(c: U) -> F {
        F::from_bits(c)
    }
    /// Adds `count` products, at most [`Self::GROUP`], to a sum.
    fn add(sum: F, count: usize, pair: impl Fn(usize) -> (Self::Term, Self::Term)) -> F;
    /// D from C and the sum.
    #[inline(always)]
    fn finish(_: U, sum: F) -> U {
        sum.to_bits()
    }
}

/// f32 sums that start with C: a chain of fused multiply-adds.
pub(super) struct Single;

/// The same; denormal results are flushed to zero.
pub(super) struct FlushedSingle;

/// i32 sums that wrap. The products of i8 in one instruction add up to 2²⁰ at most, which is exact in f32.
pub(super) struct Integer;

impl Integer {
    /// Where the sum starts, so that the fraction's bits hold the integer: between 2²³ and 2²⁴ an f32's last bit has
    /// the value 1.
    const ZERO: f32 = 12_582_912.0;
}

macro_rules! chain {
    () => {
        const GROUP: usize = 1;
        type Term = F;
        type Plain = Self;
        #[inline(always)]
        fn add(sum: F, _: usize, pair: impl Fn(usize) -> (F, F)) -> F {
            let (a, b) = pair(0);
            a.mul_add(b, sum)
        }
    };
}

impl Sum for Single {
    chain!();
}

impl Sum for FlushedSingle {
    chain!();
    #[inline(always)]
    fn finish(_: U, sum: F) -> U {
        flushed(sum).to_bits()
    }
}

impl Sum for Integer {
    chain!();
    #[inline(always)]
    fn start(_: U) -> F {
        F::splat(Self::ZERO)
    }
    #[inline(always)]
    fn finish(c: U, sum: F) -> U {
        c + sum.to_bits() - U::splat(Self::ZERO.to_bits())
    }
}
