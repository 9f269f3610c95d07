//! The product of panels: D ← A·B + C by outer products, sixteen vectors of D at a time.

use super::{
    element::Element,
    panel::{self, Panel},
    sum::Sum,
};
use crate::exec::{
    Wave,
    operation::{Flow, Operation, SourceKind},
    simd::{CHUNKS, F, U},
    wave::TEMPORARIES,
};

/// Registers that hold a copy of C while D is written.
const STAGED_C: u16 = TEMPORARIES + 64;

/// C while D is written.
#[derive(Clone, Copy)]
pub(super) enum Addend {
    /// One number in all places.
    Constant(U),
    /// Registers from this one on.
    Registers(u16),
}

impl Addend {
    /// C of an operation whose D has so many registers. Where D overlaps C without being the same, C is
    /// copied, as D is written while C is read.
    #[inline(always)]
    pub(super) fn of(w: &mut Wave, o: &Operation, registers: u16) -> Self {
        if o.src[2].kind != SourceKind::Vector {
            return Addend::Constant(U::splat(w.read32(&o.src[2])));
        }
        let c = o.src[2].register;
        if c == o.dst || c.abs_diff(o.dst) >= registers {
            return Addend::Registers(c);
        }
        for register in 0..registers {
            *w.lanes_mut(STAGED_C + register) = *w.lanes(c + register);
        }
        Addend::Registers(STAGED_C)
    }

    #[inline(always)]
    pub(super) fn bits(self, w: &Wave, register: usize, chunk: usize) -> U {
        match self {
            Addend::Constant(value) => value,
            Addend::Registers(first) => w.lanes(first + register as u16).0[chunk],
        }
    }
}

/// The chunk of lanes that B's chunk is read from (AMD's BLGP patterns, which move sixteen lanes at a
/// time).
#[inline(always)]
pub(super) fn b_chunk(pattern: u8, chunk: usize) -> usize {
    match pattern {
        1 => chunk % 2,
        2 => chunk % 2 + 2,
        3 => (chunk + 1) % CHUNKS,
        4..=7 => usize::from(pattern - 4),
        _ => chunk,
    }
}

/// The block of A that a block is multiplied with: 2^cbsz blocks share the one that abid names.
#[inline(always)]
pub(super) fn a_block(block: usize, cbsz: u8, abid: u8, blocks: usize) -> usize {
    ((block >> cbsz << cbsz) + usize::from(abid)) % blocks
}

/// The row of a block that chunk `chunk` of D's register `register` holds, M = 16 `W`.
#[inline(always)]
pub(super) const fn row<const W: usize>(register: usize, chunk: usize) -> usize {
    4 * (4 / W) * (register / 4) + 4 * (chunk / W) + register % 4
}

/// M×M×K in `BLOCKS` blocks, M 16 or 32.
#[inline(always)]
pub(super) fn multiply<A, B, S, const W: usize, const K: usize, const BLOCKS: usize>(
    w: &mut Wave,
    o: &Operation,
) -> Flow
where
    A: Element,
    B: Element,
    S: Sum,
{
    let [cbsz, abid, blgp] = o.control;
    let (a, b) = (o.src[0].register, o.src[1].register);
    let a: [Panel<S, W, K>; BLOCKS] = std::array::from_fn(
        #[inline(always)]
        |block| panel::read::<A, S, W, K>(w, a, (BLOCKS, block), |chunk| chunk),
    );
    let b: [Panel<S, W, K>; BLOCKS] = if blgp == 0 {
        std::array::from_fn(
            #[inline(always)]
            |block| panel::read::<B, S, W, K>(w, b, (BLOCKS, block), |chunk| chunk),
        )
    } else {
        std::array::from_fn(|block| {
            panel::read::<B, S, W, K>(w, b, (BLOCKS, block), |chunk| b_chunk(blgp, chunk))
        })
    };
    let registers = 4 * W * W;
    let c = Addend::of(w, o, (BLOCKS * registers) as u16);
    for (block, b) in b.iter().enumerate() {
        let from = a_block(block, cbsz, if cbsz == 0 { 0 } else { abid }, BLOCKS);
        add_product::<S, W, K>(w, o.dst, c, block * registers, &a[from], b);
    }
    Flow::Next
}

/// One block's D, in the registers from number `first` of D and C on.
#[inline(always)]
pub(super) fn add_product<S: Sum, const W: usize, const K: usize>(
    w: &mut Wave,
    dst: u16,
    c: Addend,
    first: usize,
    a: &Panel<S, W, K>,
    b: &Panel<S, W, K>,
) {
    // Four registers hold rows that are 4 W apart at most; each row of A meets each vector of B.
    for quad in 0..W * W {
        let quad = 4 * quad;
        let mut sums = [[F::splat(0.0); CHUNKS]; 4];
        for (register, sums) in sums.iter_mut().enumerate() {
            for (chunk, sum) in sums.iter_mut().enumerate() {
                *sum = S::start(c.bits(w, first + quad + register, chunk));
            }
        }
        let group = S::GROUP.min(K);
        for first in (0..K).step_by(group) {
            for (register, sums) in sums.iter_mut().enumerate() {
                for (chunk, sum) in sums.iter_mut().enumerate() {
                    let row = row::<W>(quad + register, chunk);
                    *sum = S::add(
                        *sum,
                        group,
                        #[inline(always)]
                        |n| {
                            let k = first + n;
                            (S::splat(&a[k][row / 16], row % 16), b[k][chunk % W])
                        },
                    );
                }
            }
        }
        for (register, sums) in sums.iter().enumerate() {
            let index = first + quad + register;
            for (chunk, sum) in sums.iter().enumerate() {
                let bits = S::finish(c.bits(w, index, chunk), *sum);
                w.lanes_mut(dst + index as u16).0[chunk] = bits;
            }
        }
    }
}
