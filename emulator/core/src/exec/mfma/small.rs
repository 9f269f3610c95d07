//! Products of sixteen blocks of 4×4×K, with K elements per lane.

use std::simd::prelude::*;

use super::{
    element::Element,
    panel::{IN_ORDER, Panel, Shape},
    product::{Addend, a_block, b_chunks},
    sum::{Sum, Term},
};
use crate::exec::{
    Context, Wave64,
    array::array,
    operation::{Flow, Operation},
    simd::{CHUNKS, F},
    wave::Lanes,
};

/// Lane `row` of each group of four lanes, in all four.
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

/// Each block's A if blocks share it: lane 4·block + row.
fn shared(values: [F; CHUNKS], cbsz: u8, abid: u8) -> [F; CHUNKS] {
    array(|chunk| {
        F::from_array(array(|lane| {
            let from = 4 * a_block(4 * chunk + lane / 4, cbsz, abid, 16) + lane % 4;
            values[from / 16][from % 16]
        }))
    })
}

/// Most elements per lane.
const MOST_K: usize = 4;

/// The product. A register of D holds one row; a lane of A holds one row of a block.
#[inline(always)]
pub(super) fn multiply<T: Element, S: Sum, const K: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
) -> Flow {
    // Each lane's elements, read as one block of 64 rows.
    let shape = const { Shape::new(CHUNKS, K, 1) };
    let (mut a, mut b) = (Panel::new(), Panel::new());
    a.read::<T>(w, context, o.src[0].register, shape, IN_ORDER);
    b.read::<T>(w, context, o.src[1].register, shape, b_chunks(o.control[2]));
    if const { K >= S::GROUP } {
        add::<S, 1>(w, context, o, &a, &b);
    } else if const { 2 * K >= S::GROUP } {
        add::<S, 2>(w, context, o, &a, &b);
    } else {
        add::<S, 4>(w, context, o, &a, &b);
    }
    Flow::Next
}

/// The same for panels, whatever their types are. The sum's groups have 1/`PART` of their full size.
#[inline(always)]
fn add<S: Sum, const PART: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
    a: &Panel,
    b: &Panel,
) {
    context.share(
        #[inline(always)]
        || {
            let [cbsz, abid, _] = o.control;
            let lowest = a.lowest_exponent;
            let columns = a.elements().as_chunks::<CHUNKS>().0;
            let rows = b.elements().as_chunks::<CHUNKS>().0;
            let count = columns.len().min(MOST_K);
            let mut own = [[F::splat(0.0); CHUNKS]; MOST_K];
            for (own, &column) in own.iter_mut().zip(columns) {
                *own = match cbsz {
                    0 => column,
                    _ => shared(column, cbsz, abid),
                };
            }
            let c = Addend::of(w, o, 4);
            let group = const { S::GROUP / PART };
            for row in 0..4 {
                let mut result = Lanes::splat(0);
                for (chunk, result) in result.0.iter_mut().enumerate() {
                    let addend = c.bits(w, row, chunk);
                    let mut sum = S::start(addend);
                    let groups = own[..count].chunks_exact(group);
                    for (columns, rows) in groups.zip(rows.chunks_exact(group)) {
                        sum = S::add(
                            sum,
                            group,
                            #[inline(always)]
                            |n| {
                                let a = spread(columns[n][chunk], row);
                                let b = rows[n][chunk];
                                (S::Term::new(a, lowest), S::Term::new(b, lowest))
                            },
                        );
                    }
                    *result = S::finish(addend, sum);
                }
                *w.lanes_mut(o.dst + row as u16) = result;
            }
        },
    );
}
