//! f64 products.

use std::simd::{StdFloat, prelude::*};

use crate::exec::{
    Wave64,
    array::array,
    operation::{Flow, Operation, SourceKind},
    simd::{CHUNKS, D, E},
    wave::join,
};

/// The signs that `blgp` inverts: bit 0 of A, bit 1 of B, bit 2 of C (CDNA3 ISA guide, MFMA «NEG»).
#[inline(always)]
fn sign(o: &Operation, source: u8) -> D {
    D::splat(u64::from(o.control[2] >> source & 1) << 63)
}

/// Sixteen lanes of a register pair.
#[inline(always)]
fn doubles(w: &Wave64, register: u16, chunk: usize) -> D {
    join(w.lanes(register).0[chunk], w.lanes(register + 1).0[chunk])
}

#[inline(always)]
fn operand(w: &Wave64, o: &Operation, source: u8) -> [E; CHUNKS] {
    array(|chunk| {
        let bits = doubles(w, o.src[usize::from(source)].register, chunk);
        E::from_bits(bits ^ sign(o, source))
    })
}

#[inline(always)]
fn addend(w: &Wave64, o: &Operation, pair: usize, chunk: usize) -> E {
    let bits = if o.src[2].kind == SourceKind::Vector {
        doubles(w, o.src[2].register + 2 * pair as u16, chunk)
    } else {
        D::splat(w.read64(&o.src[2]))
    };
    E::from_bits(bits ^ sign(o, 2))
}

#[inline(always)]
fn write(w: &mut Wave64, register: u16, chunk: usize, value: E) {
    let bits = value.to_bits();
    w.lanes_mut(register).0[chunk] = bits.cast::<u32>();
    w.lanes_mut(register + 1).0[chunk] = (bits >> D::splat(32)).cast::<u32>();
}

/// 16×16×4: `A[i][k]` in lane 16k + i, `B[k][j]` in lane 16k + j, `D[i][j]` in pair ⌊i/4⌋ of lane 16 (i mod 4) + j.
#[inline(always)]
pub(super) fn multiply_16(w: &mut Wave64, o: &Operation) -> Flow {
    let (a, b) = (operand(w, o, 0), operand(w, o, 1));
    let mut sums = [[E::splat(0.0); CHUNKS]; 4];
    for (pair, sums) in sums.iter_mut().enumerate() {
        for (chunk, sum) in sums.iter_mut().enumerate() {
            *sum = addend(w, o, pair, chunk);
        }
        for (a, b) in a.iter().zip(b) {
            for (chunk, sum) in sums.iter_mut().enumerate() {
                *sum = E::splat(a.as_array()[4 * pair + chunk]).mul_add(b, *sum);
            }
        }
    }
    for (pair, sums) in sums.into_iter().enumerate() {
        for (chunk, sum) in sums.into_iter().enumerate() {
            write(w, o.dst + 2 * pair as u16, chunk, sum);
        }
    }
    Flow::Next
}

/// Four blocks of 4×4×4: element (i, k) of block b in lane 16k + 4b + i, result (i, j) in 16i + 4b + j.
#[inline(always)]
pub(super) fn multiply_4(w: &mut Wave64, o: &Operation) -> Flow {
    let (a, b) = (operand(w, o, 0), operand(w, o, 1));
    let mut sums: [E; CHUNKS] = array(|chunk| addend(w, o, 0, chunk));
    for (a, b) in a.iter().zip(b) {
        for (row, sum) in sums.iter_mut().enumerate() {
            let spread = E::from_array(array(|lane| a[lane / 4 * 4 + row]));
            *sum = spread.mul_add(b, *sum);
        }
    }
    for (chunk, sum) in sums.into_iter().enumerate() {
        write(w, o.dst, chunk, sum);
    }
    Flow::Next
}
