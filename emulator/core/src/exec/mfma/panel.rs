//! From registers to panels: A's columns and B's rows as vectors.

use std::mem::MaybeUninit;

use super::element::Element;
use crate::exec::{
    Context, Wave,
    minifloat::read_across,
    simd::{CHUNKS, F},
};

/// Vectors of the largest panel: 32 elements in each of 64 lanes.
pub(super) const MOST: usize = 128;

/// How a panel's elements stand in the lanes.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// M/16: vectors of a column of A or a row of B.
    pub(super) width: usize,
    pub(super) k: usize,
    /// How many blocks share the wave's lanes.
    pub(super) blocks: usize,
    /// How many groups of M lanes, one behind the other, share the k of a block.
    groups: usize,
    /// Elements in a lane.
    per_lane: usize,
}

impl Shape {
    pub(super) const fn new(width: usize, k: usize, blocks: usize) -> Self {
        let groups = CHUNKS / width / blocks;
        Shape {
            width,
            k,
            blocks,
            groups,
            per_lane: k / groups,
        }
    }
}

/// Each chunk of lanes in its own place.
pub(super) const IN_ORDER: [usize; CHUNKS] = [0, 1, 2, 3];

/// A or B as f32, whatever type its elements have, so that one product serves all types: of each block, column k of A or row
/// k of B, for each k.
pub(super) struct Panel {
    elements: [MaybeUninit<F>; MOST],
    /// So many of them are there.
    count: usize,
    /// Exponent of the smallest normal number of the elements' own type.
    pub(super) lowest_exponent: i32,
}

impl Panel {
    /// With nothing in it.
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Panel {
            elements: [const { MaybeUninit::uninit() }; MOST],
            count: 0,
            lowest_exponent: 0,
        }
    }

    /// Reads it from registers; `from` are the chunks of lanes that stand in the place of each.
    #[inline(always)]
    pub(super) fn read<T: Element>(
        &mut self,
        w: &Wave,
        context: &Context<'_>,
        register: u16,
        shape: Shape,
        from: [usize; CHUNKS],
    ) {
        // Of all shapes one, as this is much code on hosts that must convert by hand.
        context.share(
            #[inline(always)]
            || self.read_here::<T>(w, register, shape, from),
        );
    }

    /// The same as part of the caller.
    ///
    /// Lanes are in groups of M, and those of a block follow each other in k. Operands of 128 bits have their elements
    /// side by side in k. Those of 256 bits are two such operands one after the other, each with half of all k (AMD,
    /// composable_kernel: `mx_mfma_op.hpp`; measured on gfx950 for the sparse forms' B).
    #[inline(always)]
    pub(super) fn read_here<T: Element>(
        &mut self,
        w: &Wave,
        register: u16,
        shape: Shape,
        from: [usize; CHUNKS],
    ) {
        let (parts, run) = match shape.per_lane * T::BITS {
            256 => (2, shape.per_lane / 2),
            _ => (1, shape.per_lane),
        };
        let Shape { width, k, .. } = shape;
        // Elements that fill registers.
        let unit = const { if 32 % T::BITS == 0 { 32 / T::BITS } else { 16 } };
        let mut from = from.into_iter();
        for block in 0..shape.blocks {
            for group in 0..shape.groups {
                for vector in 0..width {
                    let chunk = from.next().unwrap_or(0) & (CHUNKS - 1);
                    for part in 0..parts {
                        let this = block * k + (part * shape.groups + group) * run;
                        for first in (0..run).step_by(unit) {
                            let bit = (part * run + first) * T::BITS;
                            let register = register + (bit / 32) as u16;
                            for index in 0..unit {
                                let at = (this + first + index) * width + vector;
                                let element = element::<T>(w, register, chunk, index);
                                self.elements[at & (MOST - 1)].write(element);
                            }
                        }
                    }
                }
            }
        }
        self.count = CHUNKS * shape.per_lane;
        self.lowest_exponent = T::LOWEST_EXPONENT;
    }

    #[inline(always)]
    pub(super) fn elements(&self) -> &[F] {
        // SAFETY: `read` wrote so many, one to each place.
        unsafe { self.elements[..self.count].assume_init_ref() }
    }

    #[inline(always)]
    pub(super) fn elements_mut(&mut self) -> &mut [F] {
        // SAFETY: as above.
        unsafe { self.elements[..self.count].assume_init_mut() }
    }
}

/// Element `index` of a chunk of lanes, in registers from `register` on.
#[inline(always)]
fn element<T: Element>(w: &Wave, register: u16, chunk: usize, index: usize) -> F {
    let bit = index * T::BITS;
    let lanes = |r: usize| w.lanes(register + r as u16).0[chunk];
    if 32 % T::BITS == 0 {
        return T::read(lanes(bit / 32), (bit % 32) as u32);
    }
    T::read(read_across(lanes, bit, T::BITS), 0)
}
