//! Matrix products of RDNA 3 (WMMA): D ← A·B + C, all of 16×16, over the registers of a whole wave, whatever EXEC is.
//!
//! Lane maps (RDNA 3 ISA guide, «Wave Matrix Multiply Accumulate», 7.9), with rows i, columns j and inner index k:
//! - `A[i][k]` is element k of lane i's registers, `B[k][j]` element k of lane j's. Lanes from 16 on must hold what the
//!   first sixteen do; the emulator reads these.
//! - `C[i][j]` and `D[i][j]` of 32 bits: in a wave of L lanes, register ⌊i / (L/16)⌋ of lane 16·(i mod (L/16)) + j.
//! - of 16 bits: the same with one element in each register, in the half that bit 2 of `op_sel` names; D's other half
//!   keeps its value.
//!
//! For f16 and bf16, `neg` and `neg_hi` negate A's and B's elements with even and odd k; C's are its negation and its
//! absolute value. For integers, `neg` says whether A and B are signed; `clamp` saturates.
//!
//! AMD does not say how the hardware adds. Here each product is added to the sum in the order of k with one rounding to
//! f32, and results of 16 bits are rounded once more.

pub(super) mod split;

use std::simd::{StdFloat, prelude::*};

use super::{
    Wave,
    array::array,
    half,
    lanes::Binder,
    mfma::{Bf16, Element, F16},
    operation::{Flow, Handler, Operation, Source, SourceKind},
    simd::{F, I, U},
};
use ferrowave_isa::run::Wmma;

/// Rows, columns and inner size.
const SIZE: usize = 16;

pub(super) fn handler<const C: usize>(b: Binder<C>, op: Wmma) -> Handler {
    match op {
        Wmma::v_wmma_f32_16x16x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<F16, Single, C>(w, o),
        ),
        Wmma::v_wmma_f32_16x16x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf16, Single, C>(w, o),
        ),
        Wmma::v_wmma_f16_16x16x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<F16, Halves, C>(w, o),
        ),
        Wmma::v_wmma_bf16_16x16x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf16, Brains, C>(w, o),
        ),
        Wmma::v_wmma_i32_16x16x16_iu8 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<8, C>(w, o),
        ),
        Wmma::v_wmma_i32_16x16x16_iu4 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<4, C>(w, o),
        ),
    }
}

/// The elements of C and D.
trait Sum {
    /// Whether an element is half a register.
    const HALF: bool;
    fn read(bits: U) -> F;
    fn write(sum: F) -> U;
}

/// f32.
struct Single;
/// f16.
struct Halves;
/// bf16.
struct Brains;

impl Sum for Single {
    const HALF: bool = false;
    #[inline(always)]
    fn read(bits: U) -> F {
        F::from_bits(bits)
    }
    #[inline(always)]
    fn write(sum: F) -> U {
        // A NaN is the positive quiet one.
        sum.is_nan().select(U::splat(0x7fc0_0000), sum.to_bits())
    }
}

impl Sum for Halves {
    const HALF: bool = true;
    #[inline(always)]
    fn read(bits: U) -> F {
        half::to_f32(bits)
    }
    #[inline(always)]
    fn write(sum: F) -> U {
        sum.is_nan().select(U::splat(0x7e00), half::from_f32(sum))
    }
}

impl Sum for Brains {
    const HALF: bool = true;
    #[inline(always)]
    fn read(bits: U) -> F {
        F::from_bits(bits << U::splat(16))
    }
    #[inline(always)]
    fn write(sum: F) -> U {
        let bits = sum.to_bits();
        // To nearest, ties to even.
        let odd = (bits >> U::splat(16)) & U::splat(1);
        let rounded = (bits + U::splat(0x7fff) + odd) >> U::splat(16);
        sum.is_nan().select(U::splat(0x7fc0), rounded)
    }
}

/// Where row `i` of C and D is: the register's number and the chunk of lanes in it.
const fn place<const C: usize>(i: usize) -> (u16, usize) {
    ((i / C) as u16, i % C)
}

/// A row of C as registers hold it.
#[inline(always)]
fn row<const C: usize>(w: &Wave<C>, source: &Source, i: usize) -> U {
    let (register, chunk) = place::<C>(i);
    match source.kind {
        SourceKind::Vector => w.lanes(source.register + register).chunks::<C>()[chunk],
        _ => U::splat(source.value as u32),
    }
}

/// The elements of A or B by k; each vector has the rows of A or the columns of B.
#[inline(always)]
fn elements<E: Element, const C: usize>(w: &Wave<C>, o: &Operation, slot: u8) -> [F; SIZE] {
    let first = o.src[usize::from(slot)].register;
    array(|k| {
        let bits = w.lanes(first + k as u16 / 2).chunks::<C>()[0];
        let negated = if k % 2 == 0 { o.neg } else { o.neg_hi } >> slot & 1;
        let value = E::read(bits, 16 * (k as u32 % 2));
        F::from_bits(value.to_bits() ^ U::splat(u32::from(negated) << 31))
    })
}

#[inline(always)]
fn floats<E: Element, S: Sum, const C: usize>(w: &mut Wave<C>, o: &Operation) -> Flow {
    let (a, b) = (elements::<E, C>(w, o, 0), elements::<E, C>(w, o, 1));
    let high = S::HALF && o.op_sel & 4 != 0;
    let is_constant = o.src[2].kind != SourceKind::Vector;
    let (absolute, negated) = (o.neg_hi & 4 != 0, o.neg & 4 != 0);
    let results: [U; SIZE] = array(|i| {
        let bits = row(w, &o.src[2], i);
        let bits = match high && !is_constant {
            true => bits >> U::splat(16),
            false if S::HALF => bits & U::splat(0xffff),
            false => bits,
        };
        let mut sum = S::read(bits);
        if absolute {
            sum = sum.abs();
        }
        if negated {
            sum = -sum;
        }
        for k in 0..SIZE {
            sum = F::splat(a[k].as_array()[i]).mul_add(b[k], sum);
        }
        S::write(sum)
    });
    for (i, result) in results.into_iter().enumerate() {
        let (register, chunk) = place::<C>(i);
        let place = &mut w.lanes_mut(o.dst + register).chunks_mut::<C>()[chunk];
        *place = match (S::HALF, high) {
            (false, _) => result,
            (true, false) => *place & U::splat(0xffff_0000) | result,
            (true, true) => *place & U::splat(0xffff) | result << U::splat(16),
        };
    }
    Flow::Next
}

/// Elements of `BITS` bits.
#[inline(always)]
fn integers<const BITS: u32, const C: usize>(w: &mut Wave<C>, o: &Operation) -> Flow {
    let elements = |w: &Wave<C>, slot: u8| -> [I; SIZE] {
        let first = o.src[usize::from(slot)].register;
        let signed = o.neg >> slot & 1 != 0;
        array(|k| {
            let per_register = (32 / BITS) as usize;
            let bits = w.lanes(first + (k / per_register) as u16).chunks::<C>()[0];
            let top = bits << U::splat(32 - BITS * (1 + (k % per_register) as u32));
            match signed {
                true => top.cast::<i32>() >> I::splat(32 - BITS as i32),
                false => (top >> U::splat(32 - BITS)).cast::<i32>(),
            }
        })
    };
    let (a, b) = (elements(w, 0), elements(w, 1));
    let results: [U; SIZE] = array(|i| {
        let c = row(w, &o.src[2], i).cast::<i32>();
        // No sum of the products overflows.
        let products = (0..SIZE).fold(I::splat(0), |sum, k| {
            sum + I::splat(a[k].as_array()[i]) * b[k]
        });
        let sum = match o.clamp {
            true => c.saturating_add(products),
            false => c + products,
        };
        sum.cast::<u32>()
    });
    for (i, result) in results.into_iter().enumerate() {
        let (register, chunk) = place::<C>(i);
        w.lanes_mut(o.dst + register).chunks_mut::<C>()[chunk] = result;
    }
    Flow::Next
}
