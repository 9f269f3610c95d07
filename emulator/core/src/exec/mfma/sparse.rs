//! Products of a sparse A (SMFMAC): of each four elements in k, A stores two and their positions.
//!
//! A has half of B's registers. Its elements 2g and 2g + 1 belong to the four k from 4g on; bits 4g to 4g + 3 of the
//! index say which, two bits each. D is also C.
//!
//! A lane's index register has room for several sets; `abid` selects one if `cbsz` is 0 (AMD's «matrix instruction
//! calculator», README on compression indices; for gfx950's longer forms, whose sets have 16 bits for f16 and 32 for
//! bytes, LLVM's pull request 193541).

use super::{
    element::Element,
    panel::{IN_ORDER, MOST, Panel, Shape},
    product::row,
    sum::{Sum, Term, room},
};
use crate::exec::{
    Context, Wave64,
    operation::{Flow, Operation},
    simd::{CHUNKS, F},
};

/// M×M×K; `HALF` is K/2, the stored elements of a row of A.
#[inline(always)]
pub(super) fn multiply<A, B, S, const W: usize, const K: usize, const HALF: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
) -> Flow
where
    A: Element,
    B: Element,
    S: Sum,
{
    const {
        assert!(HALF >= S::GROUP);
    };
    let (stored, all) = const { (Shape::new(W, HALF, 1), Shape::new(W, K, 1)) };
    let (mut a, mut b) = (Panel::new(), Panel::new());
    a.read::<A>(w, context, o.src[0].register, stored, IN_ORDER);
    b.read::<B>(w, context, o.src[1].register, all, IN_ORDER);
    add::<S, W>(w, context, o, &a, &b);
    Flow::Next
}

/// The same for panels, whatever their types are.
#[inline(always)]
fn add<S: Sum, const W: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
    a: &Panel,
    b: &Panel,
) {
    context.share(
        #[inline(always)]
        || {
            let (mut a_room, mut b_room) = (room(), room());
            let a = S::Term::all(a, &mut a_room);
            let b = S::Term::all(b, &mut b_room);
            let [cbsz, abid, _] = o.control;
            // Elements of A per lane; a set has twice as many bits.
            let stored = a.len() / CHUNKS;
            let sets = 32 / (2 * stored);
            let set = match cbsz {
                0 => usize::from(abid) % sets,
                _ => 0,
            };
            // For each stored element, where its row of B begins.
            let mut rows = [[0_u8; 16]; MOST];
            for (at, rows) in rows.iter_mut().enumerate().take(a.len()) {
                let (s, part) = (at / W, at % W);
                let (group, index) = (s / stored, s % stored);
                let chunk = (group * W + part) & (CHUNKS - 1);
                let indices = w.lanes(o.src[2].register).0[chunk].to_array();
                for (row, bits) in rows.iter_mut().zip(indices) {
                    let position = bits >> (2 * (set * stored + index)) & 3;
                    *row = (W * (4 * (s / 2) + position as usize)) as u8;
                }
            }
            for register in 0..4 * W * W {
                let mut sums = [F::splat(0.0); CHUNKS];
                let old = w.lanes(o.dst + register as u16).0;
                for (sum, c) in sums.iter_mut().zip(old) {
                    *sum = S::start(c);
                }
                let groups = a.chunks_exact(S::GROUP * W);
                for (a, rows) in groups.zip(rows.chunks_exact(S::GROUP * W)) {
                    for (chunk, sum) in sums.iter_mut().enumerate() {
                        let row = row::<W>(register, chunk);
                        let (part, lane) = (row / 16 % W, row % 16);
                        *sum = S::add(
                            *sum,
                            S::GROUP,
                            #[inline(always)]
                            |n| {
                                let at = n * W + part;
                                let b = b[usize::from(rows[at][lane]) + chunk % W];
                                (a[at].splat(lane), b)
                            },
                        );
                    }
                }
                let lanes = w.lanes_mut(o.dst + register as u16);
                for (chunk, sum) in sums.into_iter().enumerate() {
                    lanes.0[chunk] = S::finish(old[chunk], sum);
                }
            }
        },
    );
}
