//! gfx950's products of fp8, bf8, fp6, bf6 and fp4, with or without scales.
//!
//! `cbsz` is A's format and `blgp` is B's: 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4. A scale is a power of two (E8M0: 2^(byte
//! − 127), 0xff is NaN) for 32 elements, adjacent in k, of one row of A or column of B. The lane of group g (of M
//! lanes) and row i holds the scales of k from 32g on; `op_sel` and `op_sel_hi` select one of its four bytes.

use std::simd::prelude::*;

use super::{
    panel::{IN_ORDER, Panel, Shape},
    product::{self, Addend, add_product, row},
    sum::{Single, Sum, Term, room},
    truncated::{Halved, Parts},
};
use crate::exec::{
    Context, Wave64,
    minifloat::{Bf6, Bf8, Fp4, Fp6, Fp8, power_of_scale},
    operation::{Flow, Operation},
    simd::{CHUNKS, F, U},
};

/// Elements that share a scale.
const BLOCK: usize = 32;
/// The largest scale whose products with all elements of all formats are finite in f32.
const LARGE: u32 = 127 + 111;

/// Reads A and B in the formats that the operation names.
#[inline(always)]
fn read(w: &Wave64, context: &Context<'_>, o: &Operation, shape: Shape) -> [Panel; 2] {
    let [a_format, _, b_format] = o.control;
    let mut panels = [Panel::new(), Panel::new()];
    let formats = [a_format, b_format];
    for ((panel, format), source) in panels.iter_mut().zip(formats).zip(&o.src) {
        let register = source.register;
        match format {
            0 => panel.read::<Fp8>(w, context, register, shape, IN_ORDER),
            1 => panel.read::<Bf8>(w, context, register, shape, IN_ORDER),
            2 => panel.read::<Fp6>(w, context, register, shape, IN_ORDER),
            3 => panel.read::<Bf6>(w, context, register, shape, IN_ORDER),
            _ => panel.read::<Fp4>(w, context, register, shape, IN_ORDER),
        }
    }
    panels
}

/// The scales in a register's selected byte, by chunk of lanes.
#[inline(always)]
fn scales(w: &Wave64, o: &Operation, register: u16, source: u8) -> [U; CHUNKS] {
    let byte = o.op_sel >> source & 1 | (o.op_sel_hi >> source & 1) << 1;
    let shift = U::splat(8 * u32::from(byte));
    w.lanes(register)
        .0
        .map(|bits| bits >> shift & U::splat(0xff))
}

/// The chunk of scales for a vector of a panel.
#[inline(always)]
const fn scale_of<const W: usize>(at: usize) -> usize {
    (at / W / BLOCK * W + at % W) & (CHUNKS - 1)
}

/// M×M×K without scales.
#[inline(always)]
pub(super) fn multiply<S: Sum, const W: usize, const K: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
) -> Flow {
    let shape = const { Shape::new(W, K, 1) };
    let [a, b] = read(w, context, o, shape);
    product::add::<S, W, 1>(w, context, o, shape, &a, &b);
    Flow::Next
}

/// M×M×K with scales: A's in the register of source 3, B's in that of the scalar destination.
#[inline(always)]
pub(super) fn multiply_scaled<const W: usize, const K: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
) -> Flow {
    let [a, b] = read(w, context, o, Shape::new(W, K, 1));
    let a_scales = scales(w, o, o.src[3].register, 0);
    let b_scales = scales(w, o, o.sdst, 1);
    let (mut a_room, mut b_room) = (room(), room());
    let a = Term::changed(&a, &mut a_room, |at, term: Parts<true>| {
        term.scaled(a_scales[scale_of::<W>(at)])
    });
    let b = Term::changed(&b, &mut b_room, |at, term: Parts<true>| {
        term.scaled(b_scales[scale_of::<W>(at)])
    });
    let c = Addend::of(w, o, (4 * W * W) as u16);
    add_product::<Halved<true>, W, 1>(w, o.dst, c, 0, a, b);
    Flow::Next
}

/// The same as a chain of fused multiply-adds.
#[inline(always)]
pub(super) fn multiply_scaled_fast<const W: usize, const K: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
) -> Flow {
    let shape = const { Shape::new(W, K, 1) };
    let [mut a, mut b] = read(w, context, o, shape);
    let a_scales = scales(w, o, o.src[3].register, 0);
    let b_scales = scales(w, o, o.sdst, 1);
    let large = |scale: &U| (scale.simd_gt(U::splat(LARGE)) & scale.simd_ne(U::splat(0xff))).any();
    if a_scales.iter().chain(&b_scales).any(large) {
        let c = Addend::of(w, o, (4 * W * W) as u16);
        multiply_wide::<W>(
            w,
            o,
            c,
            (a.elements(), b.elements()),
            (&a_scales, &b_scales),
        );
        return Flow::Next;
    }
    for (panel, scales) in [(&mut a, &a_scales), (&mut b, &b_scales)] {
        for (at, value) in panel.elements_mut().iter_mut().enumerate() {
            *value *= power_of_scale(scales[scale_of::<W>(at)]);
        }
    }
    product::add::<Single, W, 1>(w, context, o, shape, &a, &b);
    Flow::Next
}

/// The same with scales that f32 cannot hold together with the elements: products in f64, each sum rounded to f32.
#[cold]
#[inline(never)]
fn multiply_wide<const W: usize>(
    w: &mut Wave64,
    o: &Operation,
    c: Addend,
    (a, b): (&[F], &[F]),
    (a_scales, b_scales): (&[U; CHUNKS], &[U; CHUNKS]),
) {
    let value = |panel: &[F], scales: &[U; CHUNKS], k: usize, index: usize| {
        let (at, lane) = (k * W + index / 16, index % 16);
        let scale = scales[scale_of::<W>(at)][lane];
        let power = if scale == 0xff {
            f64::NAN
        } else {
            2_f64.powi(scale as i32 - 127)
        };
        f64::from(panel[at][lane]) * power
    };
    for register in 0..4 * W * W {
        for chunk in 0..CHUNKS {
            let mut sums = F::from_bits(c.bits(w, register, chunk)).to_array();
            for (lane, sum) in sums.iter_mut().enumerate() {
                let (row, column) = (row::<W>(register, chunk), 16 * (chunk % W) + lane);
                for k in 0..a.len() / W {
                    let product = value(a, a_scales, k, row) * value(b, b_scales, k, column);
                    *sum = (product + f64::from(*sum)) as f32;
                }
            }
            w.lanes_mut(o.dst + register as u16).0[chunk] = F::from_array(sums).to_bits();
        }
    }
}
