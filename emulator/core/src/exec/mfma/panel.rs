//! Panels: A's columns and B's rows as f32 vectors, read from registers.

use std::mem::MaybeUninit;

use super::element::Element;
use crate::exec::{
    Context, Wave64,
    minifloat::read_across,
    simd::{CHUNKS, F},
};

/// Vectors of the largest panel: 32 elements in each of 64 lanes.
pub(super) const MOST: usize = 128;

/// How a panel's elements are arranged in lanes.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// M/16: vectors of a column of A or a row of B.
    pub(super) width: usize,
    pub(super) k: usize,
    /// Number of blocks that share the wave's lanes.
    pub(super) blocks: usize,
    /// Number of consecutive groups of M lanes that share the k of a block.
    groups: usize,
    /// Elements per lane.
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

/// The chunks of lanes in order.
pub(super) const IN_ORDER: [usize; CHUNKS] = [0, 1, 2, 3];

/// A or B as f32, whatever its element type, so one product serves all types: for each block and k, column k of A or
/// row k of B.
pub(super) struct Panel {
    elements: [MaybeUninit<F>; MOST],
    /// Number of initialized elements.
    count: usize,
    /// Exponent of the smallest normal number of the elements' own type.
    pub(super) lowest_exponent: i32,
}

impl Panel {
    /// An empty panel.
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Panel {
            elements: [const { MaybeUninit::uninit() }; MOST],
            count: 0,
            lowest_exponent: 0,
        }
    }

    /// Reads the panel from registers; `from` names the chunk of lanes to read in place of each chunk.
    #[inline(always)]
    pub(super) fn read<T: Element>(
        &mut self,
        w: &Wave64,
        context: &Context<'_>,
        register: u16,
        shape: Shape,
        from: [usize; CHUNKS],
    ) {
        // One copy for all shapes: this is much code on hosts without conversion instructions.
        context.share(
            #[inline(always)]
            || self.read_here::<T>(w, register, shape, from),
        );
    }

    /// As [`Self::read`], inlined.
    ///
    /// Lanes are in groups of M, and the groups of a block follow each other in k. The elements of an operand of up to
    /// 128 bits are adjacent in k. An operand of 256 bits is two such operands, each with half of all k (AMD,
    /// composable_kernel: `mx_mfma_op.hpp`; measured on gfx950 for the sparse forms' B).
    #[inline(always)]
    pub(super) fn read_here<T: Element>(
        &mut self,
        w: &Wave64,
        register: u16,
        shape: Shape,
        from: [usize; CHUNKS],
    ) {
        let (parts, run) = match shape.per_lane * T::BITS {
            256 => (2, shape.per_lane / 2),
            _ => (1, shape.per_lane),
        };
        let Shape { width, k, .. } = shape;
        // Elements that fill whole registers.
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
        // SAFETY: `read` wrote `count` elements, each once.
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
fn element<T: Element>(w: &Wave64, register: u16, chunk: usize, index: usize) -> F {
    let bit = index * T::BITS;
    let lanes = |r: usize| w.lanes(register + r as u16).0[chunk];
    if 32 % T::BITS == 0 {
        return T::read(lanes(bit / 32), (bit % 32) as u32);
    }
    T::read(read_across(lanes, bit, T::BITS), 0)
}
