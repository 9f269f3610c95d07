//! gfx950's transposing LDS reads.
//!
//! Sixteen lanes together read a matrix of sixteen columns: each lane reads a piece of a row and gets a column. With
//! `n` elements per lane, element `x` read by lane `i` of the sixteen is in row `(i·n + x) / 16` and column `(i·n + x)
//! mod 16`. The lane with the column's number gets it as the element with the row's number.
//!
//! AMD's CDNA4 ISA guide («MFMA Transpose Load from LDS», 11.4) says which matrices the instructions are for, but not
//! which lane gets what. For bytes, Modular's documentation of `ds_read_tr8_b64` describes two interleaved transposes
//! of 8 × 8 in sixteen lanes, which is the same; the other sizes follow the same rule. Elements of inactive lanes,
//! which the guide forbids, read as 0.

use super::{
    Context, Wave64, access,
    lanes::{Binder64, chunks},
    operation::{Flow, Handler, Operation},
    simd::{CHUNKS, LANES, U},
    wave::Lanes,
};
use ferrowave_isa::run::LdsTranspose;

/// The handler of one of these operations.
pub(super) fn handler(b: Binder64, op: LdsTranspose) -> Handler {
    match op {
        LdsTranspose::ds_read_b64_tr_b16 => b.bind(transposed::<16, 2>),
        LdsTranspose::ds_read_b64_tr_b8 => b.bind(transposed::<8, 2>),
        LdsTranspose::ds_read_b64_tr_b4 => b.bind(transposed::<4, 2>),
        LdsTranspose::ds_read_b96_tr_b6 => b.bind(transposed::<6, 3>),
    }
}

/// Elements of `BITS` bits, in `N` dwords per lane.
#[inline(always)]
fn transposed<const BITS: usize, const N: usize>(
    w: &mut Wave64,
    c: &mut Context<'_>,
    o: &Operation,
) -> Flow {
    let exec = w.exec;
    let addresses: [U; CHUNKS] = chunks(|c| w.lanes(o.src[0].register).0[c]);
    let near = access::reach_lds(c, &addresses, o.imm as u32, exec, 4 * N as u32, false);
    let mut rows = [0_u128; LANES];
    near.by_address().each(|lane, address| {
        // SAFETY: the lane is active, so its bytes were checked.
        let data: [u32; N] = unsafe { access::read(address) };
        for (part, dword) in data.into_iter().enumerate() {
            rows[lane] |= u128::from(dword) << (32 * part);
        }
    });
    let elements = 32 * N / BITS;
    let mask = (1_u128 << BITS) - 1;
    let mut results = [Lanes::splat(0); N];
    for lane in 0..LANES {
        let (group, column) = (lane & !15, lane & 15);
        let mut value = 0;
        for row in 0..elements {
            let flat = 16 * row + column;
            let element = rows[group + flat / elements] >> (BITS * (flat % elements)) & mask;
            value |= element << (BITS * row);
        }
        for (part, result) in results.iter_mut().enumerate() {
            result.as_mut_array()[lane] = (value >> (32 * part)) as u32;
        }
    }
    for (register, result) in (o.dst..).zip(results) {
        w.commit(register, result.0);
    }
    Flow::Next
}
