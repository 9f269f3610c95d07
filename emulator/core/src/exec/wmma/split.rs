//! Matrix products of RDNA 4 (WMMA) in waves of 32 lanes: no element is in two lanes.
//!
//! Lane maps (RDNA 4 ISA guide, «Wave Matrix Multiply Accumulate», 7.12), with rows i, columns j and inner index k of 0 to
//! K - 1:
//! - `A[i][k]` is element k mod (K/2) of the registers of lane i + 16·⌊k / (K/2)⌋, and so is `B[k][j]` of j's.
//! - `C[i][j]` and `D[i][j]` are element i mod 8 of lane j + 16·⌊i/8⌋; two elements of 16 bits share a register.
//!
//! Modifiers, and the order in which products are added, are those of RDNA 3. Products of fp8 and bf8 have modifiers of C
//! only.

use std::simd::{StdFloat, prelude::*};

use super::{Brains, Halves, Single, Sum};
use crate::exec::{
    Wave,
    array::array,
    lanes::Binder,
    mfma::{Bf16, Element, F16},
    minifloat::{Bf8, Fp8},
    operation::{Flow, Handler, Operation, SourceKind},
    simd::{F, I, U},
};
use ferrowave_isa::run::WmmaSplit;

/// Rows and columns.
const SIZE: usize = 16;
/// Rows of C and D that a lane holds.
const HELD: usize = SIZE / 2;

pub(crate) fn handler<const C: usize>(b: Binder<C>, op: WmmaSplit) -> Handler {
    match op {
        WmmaSplit::v_wmma_f32_16x16x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<F16, F16, Single, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf16, Bf16, Single, C>(w, o),
        ),
        WmmaSplit::v_wmma_f16_16x16x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<F16, F16, Halves, C>(w, o),
        ),
        WmmaSplit::v_wmma_bf16_16x16x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf16, Bf16, Brains, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_fp8_fp8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Fp8, Fp8, Single, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_fp8_bf8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Fp8, Bf8, Single, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_bf8_fp8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf8, Fp8, Single, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_bf8_bf8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf8, Bf8, Single, C>(w, o),
        ),
        WmmaSplit::v_wmma_i32_16x16x16_iu8 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<8, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_i32_16x16x16_iu4 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<4, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_i32_16x16x32_iu4 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<4, 32, C>(w, o),
        ),
    }
}

/// The register and the bit of `A[..][k]` or `B[k][..]` in the vectors that hold it, and the number of this half of the lanes.
const fn place(bits: usize, inner: usize, k: usize) -> (u16, u32, usize) {
    let bit = bits * (k % (inner / 2));
    ((bit / 32) as u16, bit as u32 % 32, k / (inner / 2))
}

/// The elements of A or B by k; each vector has the rows of A or the columns of B.
#[inline(always)]
fn elements<E: Element, const C: usize>(w: &Wave<C>, o: &Operation, slot: u8) -> [F; SIZE] {
    let first = o.src[usize::from(slot)].register;
    array(|k| {
        let (register, shift, half) = place(E::BITS, SIZE, k);
        let bits = w.lanes(first + register).chunks::<C>()[half];
        let negated = if k % 2 == 0 { o.neg } else { o.neg_hi } >> slot & 1;
        F::from_bits(E::read(bits, shift).to_bits() ^ U::splat(u32::from(negated) << 31))
    })
}

/// A row of C.
#[inline(always)]
fn row<const C: usize>(w: &Wave<C>, o: &Operation, halved: bool, i: usize) -> U {
    let (element, half) = (i % HELD, i / HELD);
    let source = &o.src[2];
    match (source.kind, halved) {
        (SourceKind::Vector, false) => {
            w.lanes(source.register + element as u16).chunks::<C>()[half]
        }
        (SourceKind::Vector, true) => {
            let bits = w.lanes(source.register + element as u16 / 2).chunks::<C>()[half];
            bits >> U::splat(16 * (element as u32 % 2)) & U::splat(0xffff)
        }
        (_, false) => U::splat(source.value as u32),
        (_, true) => U::splat(source.value as u32 & 0xffff),
    }
}

/// Writes D, by rows.
#[inline(always)]
fn write<const C: usize>(w: &mut Wave<C>, o: &Operation, halved: bool, rows: &[U; SIZE]) {
    for half in 0..2 {
        let rows = &rows[HELD * half..HELD * (half + 1)];
        let mut put = |register: usize, bits: U| {
            w.lanes_mut(o.dst + register as u16).chunks_mut::<C>()[half] = bits;
        };
        if halved {
            for (register, &[low, high]) in rows.as_chunks().0.iter().enumerate() {
                put(register, low | high << U::splat(16));
            }
        } else {
            for (register, &row) in rows.iter().enumerate() {
                put(register, row);
            }
        }
    }
}

#[inline(always)]
fn floats<A: Element, B: Element, S: Sum, const C: usize>(w: &mut Wave<C>, o: &Operation) -> Flow {
    let (a, b) = (elements::<A, C>(w, o, 0), elements::<B, C>(w, o, 1));
    let (absolute, negated) = (o.neg_hi & 4 != 0, o.neg & 4 != 0);
    let results: [U; SIZE] = array(|i| {
        let mut sum = S::read(row(w, o, S::HALF, i));
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
    write(w, o, S::HALF, &results);
    Flow::Next
}

/// Elements of `BITS` bits, `K` of them in each row of A.
#[inline(always)]
fn integers<const BITS: usize, const K: usize, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
) -> Flow {
    let elements = |w: &Wave<C>, slot: u8| -> [I; K] {
        let first = o.src[usize::from(slot)].register;
        let signed = o.neg >> slot & 1 != 0;
        array(|k| {
            let (register, shift, half) = place(BITS, K, k);
            let bits = w.lanes(first + register).chunks::<C>()[half];
            let top = bits << U::splat(32 - BITS as u32 - shift);
            match signed {
                true => top.cast::<i32>() >> I::splat(32 - BITS as i32),
                false => (top >> U::splat(32 - BITS as u32)).cast::<i32>(),
            }
        })
    };
    let (a, b) = (elements(w, 0), elements(w, 1));
    let results: [U; SIZE] = array(|i| {
        let c = row(w, o, false, i).cast::<i32>();
        // No sum of the products overflows.
        let products = (0..K).fold(I::splat(0), |sum, k| {
            sum + I::splat(a[k].as_array()[i]) * b[k]
        });
        let sum = match o.clamp {
            true => c.saturating_add(products),
            false => c + products,
        };
        sum.cast::<u32>()
    });
    write(w, o, false, &results);
    Flow::Next
}
