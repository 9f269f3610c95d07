//! The product of panels: D ← A·B + C by outer products, sixteen vectors of D at a time.

use super::{
    element::Element,
    panel::{IN_ORDER, Panel, Shape},
    sum::{Sum, Term, room},
};
use crate::exec::{
    Context, Wave64,
    operation::{Flow, Operation, SourceKind},
    simd::{CHUNKS, F, U},
    wave::TEMPORARIES,
};

/// Registers that hold a copy of C while D is written.
const STAGED_C: u16 = TEMPORARIES + 64;

/// C while D is written.
#[derive(Clone, Copy)]
pub(super) enum Addend {
    /// One value for all elements.
    Constant(U),
    /// Registers from this one on.
    Registers(u16),
}

impl Addend {
    /// C of an operation whose D has `registers` registers. If D overlaps C without being equal, C is copied, because D
    /// is written while C is read.
    #[inline(always)]
    pub(super) fn of(w: &mut Wave64, o: &Operation, registers: u16) -> Self {
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
    pub(super) fn bits(self, w: &Wave64, register: usize, chunk: usize) -> U {
        match self {
            Addend::Constant(value) => value,
            Addend::Registers(first) => w.lanes(first + register as u16).0[chunk],
        }
    }
}

/// The chunks of lanes that B is read from (AMD's BLGP patterns, which move sixteen lanes at a time).
#[inline(always)]
pub(super) fn b_chunks(pattern: u8) -> [usize; CHUNKS] {
    match pattern {
        1 => [0, 1, 0, 1],
        2 => [2, 3, 2, 3],
        3 => [1, 2, 3, 0],
        4..=7 => [usize::from(pattern - 4); CHUNKS],
        _ => IN_ORDER,
    }
}

/// The block of A for a block of the product: 2^cbsz blocks share the one that `abid` names.
#[inline(always)]
pub(super) fn a_block(block: usize, cbsz: u8, abid: u8, blocks: usize) -> usize {
    ((block >> cbsz << cbsz) + usize::from(abid)) % blocks
}

/// The row of a block in chunk `chunk` of D's register `register`, where M = 16 `W`.
#[inline(always)]
pub(super) const fn row<const W: usize>(register: usize, chunk: usize) -> usize {
    4 * (4 / W) * (register / 4) + 4 * (chunk / W) + register % 4
}

/// M×M×K in `BLOCKS` blocks, M 16 or 32.
#[inline(always)]
pub(super) fn multiply<A, B, S, const W: usize, const K: usize, const BLOCKS: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
) -> Flow
where
    A: Element,
    B: Element,
    S: Sum,
{
    let shape = const { Shape::new(W, K, BLOCKS) };
    let (mut a, mut b) = (Panel::new(), Panel::new());
    a.read::<A>(w, context, o.src[0].register, shape, IN_ORDER);
    b.read::<B>(w, context, o.src[1].register, shape, b_chunks(o.control[2]));
    if const { K >= S::GROUP } {
        add::<S, W, 1>(w, context, o, shape, &a, &b);
    } else if const { 2 * K >= S::GROUP } {
        add::<S, W, 2>(w, context, o, shape, &a, &b);
    } else {
        add::<S, W, 4>(w, context, o, shape, &a, &b);
    }
    Flow::Next
}

/// The same, inlined, for few elements that are f32: calls would cost more than they save.
#[inline(always)]
pub(super) fn multiply_here<T, S, const W: usize, const K: usize, const BLOCKS: usize>(
    w: &mut Wave64,
    o: &Operation,
) -> Flow
where
    T: Element,
    S: Sum,
{
    let shape = const { Shape::new(W, K, BLOCKS) };
    let (mut a, mut b) = (Panel::new(), Panel::new());
    a.read_here::<T>(w, o.src[0].register, shape, IN_ORDER);
    b.read_here::<T>(w, o.src[1].register, shape, b_chunks(o.control[2]));
    add_here::<S, W, 1>(w, o, shape, &a, &b);
    Flow::Next
}

/// The product of panels, whatever their types are. The sum's groups have 1/`PART` of their full size.
#[inline(always)]
pub(super) fn add<S: Sum, const W: usize, const PART: usize>(
    w: &mut Wave64,
    context: &Context<'_>,
    o: &Operation,
    shape: Shape,
    a: &Panel,
    b: &Panel,
) {
    context.share(
        #[inline(always)]
        || add_here::<S, W, PART>(w, o, shape, a, b),
    );
}

/// As [`add`], inlined.
#[inline(always)]
fn add_here<S: Sum, const W: usize, const PART: usize>(
    w: &mut Wave64,
    o: &Operation,
    shape: Shape,
    a: &Panel,
    b: &Panel,
) {
    let (mut a_room, mut b_room) = (room(), room());
    let a = S::Term::all(a, &mut a_room);
    let b = S::Term::all(b, &mut b_room);
    let (registers, size) = (4 * W * W, shape.k * W);
    let c = Addend::of(w, o, (shape.blocks * registers) as u16);
    let [cbsz, abid, _] = o.control;
    let abid = if cbsz == 0 { 0 } else { abid };
    for (block, b) in b.chunks_exact(size).enumerate() {
        let from = size * a_block(block, cbsz, abid, shape.blocks);
        let a = &a[from..from + size];
        let first = block * registers;
        let addends =
            (0..CHUNKS * registers).map(|index| c.bits(w, first + index / CHUNKS, index % CHUNKS));
        if S::is_plain(a, b, addends) {
            add_product::<S::Plain, W, PART>(w, o.dst, c, first, a, b);
        } else {
            add_product::<S, W, PART>(w, o.dst, c, first, a, b);
        }
    }
}

/// One block's D; `first` is the number of its first register in D and C.
#[inline(always)]
pub(super) fn add_product<S: Sum, const W: usize, const PART: usize>(
    w: &mut Wave64,
    dst: u16,
    c: Addend,
    first: usize,
    a: &[S::Term],
    b: &[S::Term],
) {
    let group = const { S::GROUP / PART };
    // Four registers hold rows that are 4 W apart at most; each row of A meets each vector of B.
    for quad in 0..W * W {
        let quad = 4 * quad;
        let mut sums = [[F::splat(0.0); CHUNKS]; 4];
        for (register, sums) in sums.iter_mut().enumerate() {
            for (chunk, sum) in sums.iter_mut().enumerate() {
                *sum = S::start(c.bits(w, first + quad + register, chunk));
            }
        }
        // By an index: a zip of two iterators may stay out of line.
        let mut from = 0;
        while from < a.len() {
            let (a, b) = (&a[from..][..group * W], &b[from..][..group * W]);
            from += group * W;
            for (register, sums) in sums.iter_mut().enumerate() {
                for (chunk, sum) in sums.iter_mut().enumerate() {
                    let row = row::<W>(quad + register, chunk);
                    *sum = S::add(
                        *sum,
                        group,
                        #[inline(always)]
                        |n| {
                            let a = &a[n * W + row / 16 % W];
                            (a.splat(row % 16), b[n * W + chunk % W])
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
