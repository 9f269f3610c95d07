//! Products of a sparse A (SMFMAC): of each four elements in k, A stores two and says which.
//!
//! A has half of B's registers. Its elements 2g and 2g + 1 belong to the four k from 4g on; bits 4g to
//! 4g + 3 of the index say which of them, two bits each. D is C as well.
//!
//! The index register of a lane has room for several sets; `abid` picks one while `cbsz` is 0
//! (AMD's «matrix instruction calculator», README on compression indices; for gfx950's longer forms,
//! whose sets have 16 bits for f16 and 32 for bytes, LLVM's pull request 193541).

use super::{
    element::Element,
    panel::{self, Panel},
    product::row,
    sum::Sum,
};
use crate::exec::{
    Wave,
    operation::{Flow, Operation},
    simd::{CHUNKS, F},
};

/// M×M×K; `HALF` is K/2, what A stores of a row.
#[inline(always)]
pub(super) fn multiply<A, B, S, const W: usize, const K: usize, const HALF: usize>(
    w: &mut Wave,
    o: &Operation,
) -> Flow
where
    A: Element,
    B: Element,
    S: Sum,
{
    let [cbsz, abid, _] = o.control;
    let rows = 16 * W;
    // Elements of A in a lane, and so bits of an index set by two.
    let stored = HALF * rows / 64;
    let sets = 32 / (2 * stored);
    let set = if cbsz == 0 {
        usize::from(abid) % sets
    } else {
        0
    };
    let b: Panel<S, W, K> = panel::read::<B, S, W, K>(
        w,
        o.src[1].register,
        (1, 0),
        #[inline(always)]
        |chunk| chunk,
    );
    let mut a = [[S::term::<A>(F::splat(0.0)); W]; HALF];
    // The k of each stored element.
    let mut positions = [[[0_u8; 16]; W]; HALF];
    for s in 0..HALF {
        let (group, index) = (s / stored, s % stored);
        for part in 0..W {
            let chunk = (group * W + part) & 3;
            let elements = panel::element::<A>(w, o.src[0].register, chunk, index);
            a[s][part] = S::term::<A>(elements);
            let indices = w.lanes(o.src[2].register).0[chunk].to_array();
            for (lane, bits) in indices.into_iter().enumerate() {
                let position = bits >> (2 * (set * stored + index)) & 3;
                positions[s][part][lane] = (4 * (s / 2)) as u8 + position as u8;
            }
        }
    }
    for register in 0..4 * W * W {
        let mut sums = [F::splat(0.0); CHUNKS];
        let old = w.lanes(o.dst + register as u16).0;
        for (sum, c) in sums.iter_mut().zip(old) {
            *sum = S::start(c);
        }
        let group = S::GROUP.min(HALF);
        for first in (0..HALF).step_by(group) {
            for (chunk, sum) in sums.iter_mut().enumerate() {
                let row = row::<W>(register, chunk);
                let (part, lane) = (row / 16, row % 16);
                *sum = S::add(
                    *sum,
                    group,
                    #[inline(always)]
                    |n| {
                        let s = first + n;
                        let k = usize::from(positions[s][part][lane]) % K;
                        (S::splat(&a[s][part], lane), b[k][chunk % W])
                    },
                );
            }
        }
        let lanes = w.lanes_mut(o.dst + register as u16);
        for (chunk, sum) in sums.into_iter().enumerate() {
            lanes.0[chunk] = S::finish(old[chunk], sum);
        }
    }
    Flow::Next
}
