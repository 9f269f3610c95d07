//! gfx950's products of fp8, bf8, fp6, bf6 and fp4, with or without scales.
//!
//! `cbsz` is A's format and `blgp` is B's: 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4. A scale is a power of two
//! (E8M0: 2^(byte − 127), 0xff is NaN) for 32 elements side by side in k of one row of A or column of B.
//! The lane of group g (of M lanes) and row i holds those of k from 32g on; which of its four bytes is in
//! `op_sel` and `op_sel_hi`.

use std::simd::prelude::*;

use super::{
    panel::{self, Panel},
    product::{Addend, add_product, row},
    sum::{Single, Sum},
    truncated::Halved,
};
use crate::exec::{
    Wave,
    narrow::{Bf6, Bf8, Fp4, Fp6, Fp8, power_of_scale},
    operation::{Flow, Operation},
    simd::{CHUNKS, F, U},
};

/// Elements that share a scale.
const BLOCK: usize = 32;
/// The largest scale whose products with all elements of all formats are finite in f32.
const LARGE: u32 = 127 + 111;

#[inline(always)]
fn read<S: Sum, const W: usize, const K: usize>(
    w: &Wave,
    register: u16,
    format: u8,
) -> Panel<S, W, K> {
    match format {
        0 => panel::read::<Fp8, S, W, K>(w, register, (1, 0), |chunk| chunk),
        1 => panel::read::<Bf8, S, W, K>(w, register, (1, 0), |chunk| chunk),
        2 => panel::read::<Fp6, S, W, K>(w, register, (1, 0), |chunk| chunk),
        3 => panel::read::<Bf6, S, W, K>(w, register, (1, 0), |chunk| chunk),
        _ => panel::read::<Fp4, S, W, K>(w, register, (1, 0), |chunk| chunk),
    }
}

/// The scales of a register's selected byte, by chunk of lanes.
#[inline(always)]
fn scales(w: &Wave, o: &Operation, register: u16, source: u8) -> [U; CHUNKS] {
    let byte = o.op_sel >> source & 1 | (o.op_sel_hi >> source & 1) << 1;
    let shift = U::splat(8 * u32::from(byte));
    w.lanes(register)
        .0
        .map(|bits| bits >> shift & U::splat(0xff))
}

/// M×M×K without scales.
#[inline(always)]
pub(super) fn multiply<S: Sum, const W: usize, const K: usize>(
    w: &mut Wave,
    o: &Operation,
) -> Flow {
    let [a_format, _, b_format] = o.control;
    let a = read::<S, W, K>(w, o.src[0].register, a_format);
    let b = read::<S, W, K>(w, o.src[1].register, b_format);
    let c = Addend::of(w, o, (4 * W * W) as u16);
    add_product::<S, W, K>(w, o.dst, c, 0, &a, &b);
    Flow::Next
}

/// M×M×K with scales: A's in the register of source 3, B's in that of the scalar destination.
#[inline(always)]
pub(super) fn multiply_scaled<const W: usize, const K: usize>(w: &mut Wave, o: &Operation) -> Flow {
    let [a_format, _, b_format] = o.control;
    let mut a = read::<Halved<true>, W, K>(w, o.src[0].register, a_format);
    let mut b = read::<Halved<true>, W, K>(w, o.src[1].register, b_format);
    let a_scales = scales(w, o, o.src[3].register, 0);
    let b_scales = scales(w, o, o.sdst, 1);
    for (panel, scales) in [(&mut a, &a_scales), (&mut b, &b_scales)] {
        for (k, parts) in panel.iter_mut().enumerate() {
            for (part, elements) in parts.iter_mut().enumerate() {
                *elements = elements.scaled(scales[(k / BLOCK * W + part) & 3]);
            }
        }
    }
    let c = Addend::of(w, o, (4 * W * W) as u16);
    add_product::<Halved<true>, W, K>(w, o.dst, c, 0, &a, &b);
    Flow::Next
}

/// The same as a chain of fused multiply-adds.
#[inline(always)]
pub(super) fn multiply_scaled_fast<const W: usize, const K: usize>(
    w: &mut Wave,
    o: &Operation,
) -> Flow {
    let [a_format, _, b_format] = o.control;
    let mut a = read::<Single, W, K>(w, o.src[0].register, a_format);
    let mut b = read::<Single, W, K>(w, o.src[1].register, b_format);
    let a_scales = scales(w, o, o.src[3].register, 0);
    let b_scales = scales(w, o, o.sdst, 1);
    let c = Addend::of(w, o, (4 * W * W) as u16);
    let large = |scale: &U| (scale.simd_gt(U::splat(LARGE)) & scale.simd_ne(U::splat(0xff))).any();
    if a_scales.iter().chain(&b_scales).any(large) {
        multiply_wide::<W, K>(w, o, c, (&a, &b), (&a_scales, &b_scales));
        return Flow::Next;
    }
    for (panel, scales) in [(&mut a, &a_scales), (&mut b, &b_scales)] {
        for (k, parts) in panel.iter_mut().enumerate() {
            for (part, value) in parts.iter_mut().enumerate() {
                *value *= power_of_scale(scales[(k / BLOCK * W + part) & 3]);
            }
        }
    }
    add_product::<Single, W, K>(w, o.dst, c, 0, &a, &b);
    Flow::Next
}

/// The same with scales that f32 cannot hold together with the elements: each product in f64, each sum
/// rounded to f32.
#[cold]
#[inline(never)]
fn multiply_wide<const W: usize, const K: usize>(
    w: &mut Wave,
    o: &Operation,
    c: Addend,
    (a, b): (&Panel<Single, W, K>, &Panel<Single, W, K>),
    (a_scales, b_scales): (&[U; CHUNKS], &[U; CHUNKS]),
) {
    let value = |panel: &Panel<Single, W, K>, scales: &[U; CHUNKS], k: usize, index: usize| {
        let (part, lane) = (index / 16, index % 16);
        let scale = scales[(k / BLOCK * W + part) & 3][lane];
        let power = if scale == 0xff {
            f64::NAN
        } else {
            2_f64.powi(scale as i32 - 127)
        };
        f64::from(panel[k][part][lane]) * power
    };
    for register in 0..4 * W * W {
        for chunk in 0..CHUNKS {
            let mut sums = F::from_bits(c.bits(w, register, chunk)).to_array();
            for (lane, sum) in sums.iter_mut().enumerate() {
                let (row, column) = (row::<W>(register, chunk), 16 * (chunk % W) + lane);
                for k in 0..K {
                    let product = value(a, a_scales, k, row) * value(b, b_scales, k, column);
                    *sum = (product + f64::from(*sum)) as f32;
                }
            }
            w.lanes_mut(o.dst + register as u16).0[chunk] = F::from_array(sums).to_bits();
        }
    }
}
