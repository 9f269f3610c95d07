//! Matrix products of RDNA 4 (WMMA), and those of a sparse A (SWMMAC). No element is in two lanes.
//!
//! Lane maps (AMD's «matrix instruction calculator» 1.3.2, which has them for both sizes of waves), with rows i, columns j and
//! inner index k. In a wave of 32 lanes:
//! - A row of A, or a column of B, is in lanes i and i + 16 in turns: eight bytes of it in the first, the next eight in the
//!   second, and so on; in a sparse product, B takes turns of sixteen bytes. A row that has less is in equal halves.
//! - `C[i][j]` and `D[i][j]` are element i mod 8 of lane j + 16·⌊i/8⌋; two elements of 16 bits share a register.
//!
//! In a wave of 64 lanes, the first half of each matrix's registers is in the first 32 lanes, the second half in the others.
//! One register is not halved: then the other lanes have no part of that matrix.
//!
//! A sparse A has two of each four elements of a row; four bits of the index (the third source) tell where, two for each. The
//! index of a lane's elements is in that lane, in their order. `op_sel` selects one of the sets that fit into the register.
//! D is C, too.
//!
//! Modifiers, and the order in which products are added, are those of RDNA 3. Products of fp8 and bf8 have modifiers of C
//! only, sparse ones of A and B only.

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
/// Rows of C and D that a lane holds in a wave of 32 lanes.
const HELD: usize = SIZE / 2;

pub(crate) fn handler<const C: usize>(b: Binder<C>, op: WmmaSplit) -> Handler {
    match op {
        WmmaSplit::v_wmma_f32_16x16x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<F16, F16, Single, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf16, Bf16, Single, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_f16_16x16x16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<F16, F16, Halves, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_bf16_16x16x16_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf16, Bf16, Brains, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_fp8_fp8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Fp8, Fp8, Single, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_fp8_bf8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Fp8, Bf8, Single, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_bf8_fp8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf8, Fp8, Single, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_f32_16x16x16_bf8_bf8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf8, Bf8, Single, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_i32_16x16x16_iu8 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<8, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_i32_16x16x16_iu4 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<4, 16, 16, C>(w, o),
        ),
        WmmaSplit::v_wmma_i32_16x16x32_iu4 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<4, 32, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_f32_16x16x32_f16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<F16, F16, Single, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_f32_16x16x32_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf16, Bf16, Single, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_f16_16x16x32_f16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<F16, F16, Halves, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_bf16_16x16x32_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf16, Bf16, Brains, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_f32_16x16x32_fp8_fp8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Fp8, Fp8, Single, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_f32_16x16x32_fp8_bf8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Fp8, Bf8, Single, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_f32_16x16x32_bf8_fp8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf8, Fp8, Single, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_f32_16x16x32_bf8_bf8 => b.bind(
            #[inline(always)]
            |w, _, o| floats::<Bf8, Bf8, Single, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_i32_16x16x32_iu8 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<8, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_i32_16x16x32_iu4 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<4, 16, 32, C>(w, o),
        ),
        WmmaSplit::v_swmmac_i32_16x16x64_iu4 => b.bind(
            #[inline(always)]
            |w, _, o| integers::<4, 32, 64, C>(w, o),
        ),
    }
}

/// Where an element is.
struct Place {
    register: u16,
    shift: u32,
    /// Its sixteen lanes in the wave.
    chunk: usize,
}

/// The place of what a wave of 32 lanes has at bit `bit` of `registers` registers in lanes of `chunk`.
const fn place<const C: usize>(registers: usize, bit: usize, chunk: usize) -> Place {
    let (register, held) = (bit / 32, in_wave::<C>(registers));
    Place {
        register: (register % held) as u16,
        shift: bit as u32 % 32,
        chunk: chunk + 2 * (register / held),
    }
}

/// How many registers hold a matrix that has `registers` in a wave of 32 lanes.
const fn in_wave<const C: usize>(registers: usize) -> usize {
    if C == 2 || registers == 1 {
        registers
    } else {
        registers / 2
    }
}

/// Registers of A or B in a wave of 32 lanes, of which each holds half of a row.
const fn registers(bits: usize, inner: usize) -> usize {
    (inner / 2 * bits).div_ceil(32)
}

/// The place of the k-th of `inner` elements of a row of A or a column of B; lanes take turns of `turn` bits.
const fn input<const C: usize>(bits: usize, inner: usize, turn: usize, k: usize) -> Place {
    let half = inner / 2;
    let turn = if turn / bits < half {
        turn / bits
    } else {
        half
    };
    let held = k / (2 * turn) * turn + k % turn;
    place::<C>(registers(bits, inner), held * bits, k / turn % 2)
}

/// Bits of A, and of B in a dense product, that a lane holds before it is the next one's turn.
const TURN: usize = 64;

/// The same of B, by the number of elements that are stored of a row of A.
const fn turn_of_b(stored: usize, inner: usize) -> usize {
    TURN * inner / stored
}

/// The place of a row of C and D.
const fn output<const C: usize>(bits: usize, i: usize) -> Place {
    place::<C>(HELD * bits / 32, i % HELD * bits, i / HELD)
}

#[inline(always)]
fn lanes<const C: usize>(w: &Wave<C>, first: u16, place: &Place) -> U {
    w.lanes(first + place.register).chunks::<C>()[place.chunk]
}

/// The elements of A or B by k; each vector has the rows of A or the columns of B.
#[inline(always)]
fn elements<E: Element, const K: usize, const C: usize>(
    w: &Wave<C>,
    o: &Operation,
    slot: u8,
    turn: usize,
) -> [F; K] {
    array(|k| {
        let place = input::<C>(E::BITS, K, turn, k);
        let bits = lanes(w, o.src[usize::from(slot)].register, &place);
        let negated = if k % 2 == 0 { o.neg } else { o.neg_hi } >> slot & 1;
        F::from_bits(E::read(bits, place.shift).to_bits() ^ U::splat(u32::from(negated) << 31))
    })
}

/// For each stored element of a row of A, its k. `bits` is an element's size.
#[inline(always)]
fn positions<const STORED: usize, const C: usize>(
    w: &Wave<C>,
    o: &Operation,
    bits: usize,
) -> [[u8; SIZE]; STORED] {
    // Elements in a lane; a set of the index has two bits for each.
    let held = in_wave::<C>(registers(bits, STORED)) * 32 / bits;
    let set = usize::from(o.op_sel) % (16 / held);
    array(|s| {
        let place = input::<C>(bits, STORED, TURN, s);
        let in_lane = (32 * usize::from(place.register) + place.shift as usize) / bits;
        let shift = U::splat(2 * (set * held + in_lane) as u32);
        let index = w.lanes(o.src[2].register).chunks::<C>()[place.chunk] >> shift & U::splat(3);
        (U::splat(4 * (s as u32 / 2)) + index)
            .cast::<u8>()
            .to_array()
    })
}

/// A row of C.
#[inline(always)]
fn row<const C: usize>(w: &Wave<C>, o: &Operation, bits: usize, is_sparse: bool, i: usize) -> U {
    let source = &o.src[2];
    let first = match (is_sparse, source.kind) {
        (true, _) => o.dst,
        (_, SourceKind::Vector) => source.register,
        _ => return U::splat(source.value as u32 & mask(bits)),
    };
    let place = output::<C>(bits, i);
    lanes(w, first, &place) >> U::splat(place.shift) & U::splat(mask(bits))
}

/// The lowest bits of a register.
const fn mask(bits: usize) -> u32 {
    u32::MAX >> (32 - bits)
}

/// Writes D, by rows of elements that have no other bits.
#[inline(always)]
fn write<const C: usize>(w: &mut Wave<C>, o: &Operation, bits: usize, rows: [U; SIZE]) {
    for (i, row) in rows.into_iter().enumerate() {
        let place = output::<C>(bits, i);
        let register = &mut w.lanes_mut(o.dst + place.register).chunks_mut::<C>()[place.chunk];
        *register = match place.shift {
            0 => row,
            shift => *register | row << U::splat(shift),
        };
    }
}

/// `STORED` of the `K` elements of each row of A are stored: all of them, or half in a sparse product.
#[inline(always)]
fn floats<A, B, S, const STORED: usize, const K: usize, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
) -> Flow
where
    A: Element,
    B: Element,
    S: Sum,
{
    let bits = if S::HALF { 16 } else { 32 };
    let a = elements::<A, STORED, C>(w, o, 0, TURN);
    let b = elements::<B, K, C>(w, o, 1, turn_of_b(STORED, K));
    let is_sparse = STORED < K;
    let positions = is_sparse.then(
        #[inline(always)]
        || positions::<STORED, C>(w, o, A::BITS),
    );
    let (absolute, negated) = (o.neg_hi & 4 != 0, o.neg & 4 != 0);
    let results: [U; SIZE] = array(|i| {
        let mut sum = S::read(row(w, o, bits, is_sparse, i));
        if absolute {
            sum = sum.abs();
        }
        if negated {
            sum = -sum;
        }
        for s in 0..STORED {
            let k = positions.map_or(s, |positions| usize::from(positions[s][i]));
            sum = F::splat(a[s].as_array()[i]).mul_add(b[k], sum);
        }
        S::write(sum)
    });
    write(w, o, bits, results);
    Flow::Next
}

/// Elements of `BITS` bits; otherwise as [`floats`].
#[inline(always)]
fn integers<const BITS: usize, const STORED: usize, const K: usize, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
) -> Flow {
    let a = whole::<BITS, STORED, C>(w, o, 0, TURN);
    let b = whole::<BITS, K, C>(w, o, 1, turn_of_b(STORED, K));
    let is_sparse = STORED < K;
    let positions = is_sparse.then(
        #[inline(always)]
        || positions::<STORED, C>(w, o, BITS),
    );
    let results: [U; SIZE] = array(|i| {
        let c = row(w, o, 32, is_sparse, i).cast::<i32>();
        // No sum of the products overflows.
        let products = (0..STORED).fold(I::splat(0), |sum, s| {
            let k = positions.map_or(s, |positions| usize::from(positions[s][i]));
            sum + I::splat(a[s].as_array()[i]) * b[k]
        });
        let sum = match o.clamp {
            true => c.saturating_add(products),
            false => c + products,
        };
        sum.cast::<u32>()
    });
    write(w, o, 32, results);
    Flow::Next
}

/// As [`elements`] for whole numbers, which `neg` says to be signed.
#[inline(always)]
fn whole<const BITS: usize, const K: usize, const C: usize>(
    w: &Wave<C>,
    o: &Operation,
    slot: u8,
    turn: usize,
) -> [I; K] {
    let signed = o.neg >> slot & 1 != 0;
    array(|k| {
        let place = input::<C>(BITS, K, turn, k);
        let bits = lanes(w, o.src[usize::from(slot)].register, &place);
        let top = bits << U::splat(32 - BITS as u32 - place.shift);
        match signed {
            true => top.cast::<i32>() >> I::splat(32 - BITS as i32),
            false => (top >> U::splat(32 - BITS as u32)).cast::<i32>(),
        }
    })
}
