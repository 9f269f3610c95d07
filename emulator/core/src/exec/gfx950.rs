//! Integer operations new in gfx950: truth tables of three sources, shifts packed into bytes.

use std::simd::prelude::*;

use super::{
    array::{Mapped, array},
    half,
    lanes::{Binder, chunks},
    operation::{Flow, Handler},
    simd::{I, U},
};
use ferrowave_isa::run::Gfx950;

/// Applies a truth table to three sources, bit by bit: bit 4a + 2b + c of the table is the result.
#[inline(always)]
fn truth_table(table: u8, [a, b, c]: [U; 3]) -> U {
    let mut result = U::splat(0);
    for row in 0..8 {
        if table >> row & 1 == 1 {
            let side = |value: U, bit: u8| if row >> bit & 1 == 1 { value } else { !value };
            result |= side(a, 2) & side(b, 1) & side(c, 0);
        }
    }
    result
}

/// Two sources, shifted right by the third and clamped to a byte.
fn shifted_bytes<const LOW: i32, const HIGH: i32, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let [x, y, z] = [0_u16, 1, 2].mapped(|slot| w.fetch(slot, &o.src[usize::from(slot)]));
            let results = chunks(|c| {
                let by = (w.chunk(z, c) & U::splat(31)).cast::<i32>();
                let byte = |value: U| {
                    let shifted = value.cast::<i32>() >> by;
                    let kept = shifted.simd_clamp(I::splat(LOW), I::splat(HIGH));
                    kept.cast::<u32>() & U::splat(0xff)
                };
                byte(w.chunk(x, c)) | byte(w.chunk(y, c)) << U::splat(8)
            });
            half::commit16(w, o, results);
            Flow::Next
        },
    )
}

/// The handler of one of these operations. Its `detail` is the truth table; its first control byte says whether the
/// other half of the destination is kept.
pub(super) fn handler<const C: usize>(b: Binder<C>, op: Gfx950) -> Handler {
    match op {
        Gfx950::v_bitop3_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let s = [0_u16, 1, 2].mapped(|slot| w.fetch(slot, &o.src[usize::from(slot)]));
                let results = chunks(|c| truth_table(o.detail, s.mapped(|s| w.chunk(s, c))));
                w.commit(o.dst, results);
                Flow::Next
            },
        ),
        Gfx950::v_bitop3_b16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let s = [0_u16, 1, 2].mapped(|slot| w.fetch(slot, &o.src[usize::from(slot)]));
                let results = chunks(|c| {
                    let sources = array(|i| half::source_bits(o, i, w.chunk(s[i], c)));
                    truth_table(o.detail, sources)
                });
                half::commit16(w, o, results);
                Flow::Next
            },
        ),
        Gfx950::v_ashr_pk_i8_i32 => shifted_bytes::<-128, 127, C>(b),
        Gfx950::v_ashr_pk_u8_i32 => shifted_bytes::<0, 255, C>(b),
    }
}
