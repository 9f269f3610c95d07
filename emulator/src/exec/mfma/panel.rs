//! From registers to panels: A's columns and B's rows as vectors.

use super::{element::Element, sum::Sum};
use crate::exec::{Wave, narrow::read_across, simd::F};

/// Column k of A, or row k of B, for each k: M elements in `W` = M/16 vectors, ready to be multiplied.
pub(super) type Panel<S, const W: usize, const K: usize> = [[<S as Sum>::Term; W]; K];

/// Where the elements of an operand stand: lanes are in groups of M, and those of a block follow each
/// other in k.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Group of lanes, counted in the whole wave.
    pub(super) group: usize,
    /// Element in the lane.
    pub(super) index: usize,
}

/// The place of element `k` of block `block`, where `blocks` of M rows and `k_all` elements each share
/// the wave's lanes.
///
/// Operands of 128 bits have their elements side by side in k. Those of 256 bits are two such operands
/// one after the other, each with half of all k (AMD, composable_kernel: `mx_mfma_op.hpp`;
/// measured on gfx950 for the sparse forms' B).
pub(super) const fn place<T: Element>(
    rows: usize,
    k_all: usize,
    blocks: usize,
    block: usize,
    k: usize,
) -> Place {
    let groups = 64 / rows / blocks;
    let per_lane = k_all / groups;
    let parts = if per_lane * T::BITS == 256 { 2 } else { 1 };
    let (part, within) = (k / (k_all / parts), k % (k_all / parts));
    let run = per_lane / parts;
    Place {
        group: block * groups + within / run,
        index: part * run + within % run,
    }
}

/// Element `index` of a chunk of lanes, in registers from `register` on.
#[inline(always)]
pub(super) fn element<T: Element>(w: &Wave, register: u16, chunk: usize, index: usize) -> F {
    let bit = index * T::BITS;
    let lanes = |r: usize| w.lanes(register + r as u16).0[chunk];
    if 32 % T::BITS == 0 {
        return T::read(lanes(bit / 32), (bit % 32) as u32);
    }
    T::read(read_across(lanes, bit, T::BITS), 0)
}

/// Reads a block's panel; `chunk_of` says which sixteen lanes stand in the place of others.
#[inline(always)]
pub(super) fn read<T: Element, S: Sum, const W: usize, const K: usize>(
    w: &Wave,
    register: u16,
    (blocks, block): (usize, usize),
    chunk_of: impl Fn(usize) -> usize,
) -> Panel<S, W, K> {
    std::array::from_fn(
        #[inline(always)]
        |k| {
            let place = place::<T>(16 * W, K, blocks, block, k);
            std::array::from_fn(
                #[inline(always)]
                |part| {
                    let chunk = chunk_of(place.group * W + part);
                    S::term::<T>(element::<T>(w, register, chunk & 3, place.index))
                },
            )
        },
    )
}
