//! Sums of absolute differences: of bytes, words and dwords, of bytes selected by a mask, and of four windows of eight
//! bytes.

use std::simd::prelude::*;

use super::{
    array::{Mapped, array},
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation},
    simd::U,
    wave::Wave,
};
use ferrowave_isa::run::Sad;

/// A sum, which saturates at all ones of its `bits` bits if the clamp is set.
#[inline(always)]
fn add(o: &Operation, x: U, y: U, bits: u32) -> U {
    if bits == 32 {
        return if o.clamp { x.saturating_add(y) } else { x + y };
    }
    let limit = U::splat((1 << bits) - 1);
    if o.clamp {
        (x + y).simd_min(limit)
    } else {
        (x + y) & limit
    }
}

/// Adds the differences of all fields of `bits` bits. If `masked` is set, fields whose second source is 0 do not count.
#[inline(always)]
fn sum(x: U, y: U, bits: u32, masked: bool) -> U {
    let field = U::splat(u32::MAX >> (32 - bits));
    let mut sum = U::splat(0);
    for part in 0..32 / bits {
        let shift = U::splat(part * bits);
        let (x, y) = (x >> shift & field, y >> shift & field);
        let difference = x.simd_max(y) - x.simd_min(y);
        let counts = !(y.simd_eq(U::splat(0)) & Mask::splat(masked));
        sum += counts.select(difference, U::splat(0));
    }
    sum
}

/// One sum, added to source 2.
fn single<const BITS: u32, const SHIFT: u32, const MASKED: bool, const C: usize>(
    b: Binder<C>,
) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let [x, y, z] = [0_u16, 1, 2].mapped(|slot| w.fetch(slot, &o.src[usize::from(slot)]));
            let results = chunks(|c| {
                let sum = sum(w.chunk(x, c), w.chunk(y, c), BITS, MASKED);
                add(o, sum << U::splat(SHIFT), w.chunk(z, c), 32)
            });
            w.commit(o.dst, results);
            Flow::Next
        },
    )
}

/// The sums of the four windows of four bytes that begin at the first four bytes of source 0.
#[inline(always)]
fn windows<const C: usize>(w: &mut Wave<C>, o: &Operation, masked: bool) -> [[U; C]; 4] {
    let (x, y) = (w.fetch64(0, &o.src[0]), w.fetch(1, &o.src[1]));
    array(|window| {
        chunks(|c| {
            let shift = Simd::splat(8 * window as u64);
            let bytes = (w.chunk64(x, c) >> shift).cast::<u32>();
            sum(bytes, w.chunk(y, c), 8, masked)
        })
    })
}

/// Four 16-bit sums, added to those of source 2.
fn packed<const MASKED: bool, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let sums = windows(w, o, MASKED);
            let addends = w.fetch64(2, &o.src[2]);
            let [low, high] = [0, 1].mapped(|pair: usize| {
                chunks(|c| {
                    let addend = w.chunk(addends[pair], c);
                    let first = add(o, sums[2 * pair][c], addend & U::splat(0xffff), 16);
                    let second = add(o, sums[2 * pair + 1][c], addend >> U::splat(16), 16);
                    first | second << U::splat(16)
                })
            });
            w.commit(o.dst, low);
            w.commit(o.dst + 1, high);
            Flow::Next
        },
    )
}

/// Four 32-bit sums, added to the four registers of source 2.
fn four<const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let sums = windows(w, o, true);
            let addend = o.src[2].register;
            let results: [[U; C]; 4] = array(|window| {
                let addend = *w.lanes(addend + window as u16).chunks::<C>();
                chunks(|c| add(o, sums[window][c], addend[c], 32))
            });
            for (window, result) in results.into_iter().enumerate() {
                w.commit(o.dst + window as u16, result);
            }
            Flow::Next
        },
    )
}

/// The handler of a sum of differences.
pub(super) fn handler<const C: usize>(b: Binder<C>, op: Sad) -> Handler {
    match op {
        Sad::v_sad_u8 => single::<8, 0, false, C>(b),
        Sad::v_sad_hi_u8 => single::<8, 16, false, C>(b),
        Sad::v_sad_u16 => single::<16, 0, false, C>(b),
        Sad::v_sad_u32 => single::<32, 0, false, C>(b),
        Sad::v_msad_u8 => single::<8, 0, true, C>(b),
        Sad::v_qsad_pk_u16_u8 => packed::<false, C>(b),
        Sad::v_mqsad_pk_u16_u8 => packed::<true, C>(b),
        Sad::v_mqsad_u32_u8 => four(b),
    }
}
