//! Sixteen blocks of 4×4×K, K elements a lane.

use std::simd::prelude::*;

use super::{
    element::Element,
    panel,
    product::{Addend, a_block, b_chunk},
    sum::Sum,
};
use crate::exec::{
    Wave,
    operation::{Flow, Operation},
    simd::{CHUNKS, F},
    wave::Lanes,
};

/// Lane `row` of each four lanes, in all four.
#[inline(always)]
fn spread(value: F, row: usize) -> F {
    match row {
        0 => simd_swizzle!(value, [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]),
        1 => simd_swizzle!(value, [1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13]),
        2 => simd_swizzle!(
            value,
            [2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14]
        ),
        _ => simd_swizzle!(
            value,
            [3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15]
        ),
    }
}

/// Each block's A where others share it: lane 4·block + row.
fn shared(values: [F; CHUNKS], cbsz: u8, abid: u8) -> [F; CHUNKS] {
    std::array::from_fn(|chunk| {
        F::from_array(std::array::from_fn(|lane| {
            let from = 4 * a_block(4 * chunk + lane / 4, cbsz, abid, 16) + lane % 4;
            values[from / 16][from % 16]
        }))
    })
}

/// The product; D's register is the row, and A's row of a block its lane.
#[inline(always)]
pub(super) fn multiply<T: Element, S: Sum, const K: usize>(w: &mut Wave, o: &Operation) -> Flow {
    let [cbsz, abid, blgp] = o.control;
    let (a, b) = (o.src[0].register, o.src[1].register);
    let mut columns = [[F::splat(0.0); CHUNKS]; K];
    let mut rows = columns;
    for k in 0..K {
        let column = std::array::from_fn(|chunk| panel::element::<T>(w, a, chunk, k));
        columns[k] = if cbsz == 0 {
            column
        } else {
            shared(column, cbsz, abid)
        };
        rows[k] =
            std::array::from_fn(|chunk| panel::element::<T>(w, b, b_chunk(blgp, chunk) & 3, k));
    }
    let c = Addend::of(w, o, 4);
    for row in 0..4 {
        let mut result = Lanes::splat(0);
        for (chunk, result) in result.0.iter_mut().enumerate() {
            let addend = c.bits(w, row, chunk);
            let mut sum = S::start(addend);
            let group = S::GROUP.min(K);
            for first in (0..K).step_by(group) {
                sum = S::add(
                    sum,
                    group,
                    #[inline(always)]
                    |n| {
                        let a = spread(columns[first + n][chunk], row);
                        (S::term::<T>(a), S::term::<T>(rows[first + n][chunk]))
                    },
                );
            }
            *result = S::finish(addend, sum);
        }
        *w.lanes_mut(o.dst + row as u16) = result;
    }
    Flow::Next
}
