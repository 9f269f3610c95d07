//! Makes handlers of vector operations from functions of lanes.
//!
//! Each method of [`Binder`] takes the arithmetic as a closure over host vectors. All results of a wave are computed
//! before the first is written, because a result register may also be a source.

use std::simd::prelude::*;

use super::{
    Context, Wave,
    array::{Mapped, array},
    operation::{Flow, Handler, Operation, bind},
    simd::{CHUNKS, D, I, M, SimdLevel, U, chunk_mask},
    wave::VCC,
};

/// Makes handlers for one level of host instructions and for waves of `C` chunks.
#[derive(Clone, Copy)]
pub(crate) struct Binder<const C: usize> {
    pub(crate) level: SimdLevel,
    /// Whether the sources are vector registers, and neither they nor the result have modifiers.
    pub(crate) plain: bool,
    /// Whether matrix instructions add in the way that is fastest on the host ([`super::MatrixSums::Fast`]).
    pub(crate) fast_sums: bool,
}

/// Makes handlers of operations that only waves of 64 lanes have.
pub(crate) type Binder64 = Binder<CHUNKS>;

/// Computes all chunks.
#[inline(always)]
pub(crate) fn chunks<T: Copy, const C: usize>(f: impl FnMut(usize) -> T) -> [T; C] {
    array(f)
}

/// What `f` computes of all chunks, joined by `join`.
#[inline(always)]
pub(crate) fn joined<const C: usize, T>(
    mut f: impl FnMut(usize) -> T,
    join: impl Fn(T, T) -> T,
) -> T {
    let mut all = f(0);
    for chunk in 1..C {
        all = join(all, f(chunk));
    }
    all
}

/// A lane mask from one of 16 lanes per chunk.
#[inline(always)]
pub(crate) fn mask_of<const C: usize>(mut f: impl FnMut(usize) -> M) -> u64 {
    let mut mask = 0;
    for chunk in 0..C {
        mask |= f(chunk).to_bitmask() << (16 * chunk);
    }
    mask
}

impl<const C: usize> Binder<C> {
    /// The same for waves of 64 lanes, if these are.
    pub(crate) fn for_64_lanes(self) -> Option<Binder64> {
        self.for_chunks()
    }

    /// The same for waves of 32 lanes, if these are.
    pub(crate) fn for_32_lanes(self) -> Option<Binder<2>> {
        self.for_chunks()
    }

    fn for_chunks<const ONLY: usize>(self) -> Option<Binder<ONLY>> {
        let Binder {
            level,
            plain,
            fast_sums,
        } = self;
        (C == ONLY).then_some(Binder {
            level,
            plain,
            fast_sums,
        })
    }

    pub(crate) fn bind<F>(self, f: F) -> Handler
    where
        F: Fn(&mut Wave<C>, &mut Context<'_>, &Operation) -> Flow + Copy + 'static,
    {
        bind(self.level, f)
    }

    /// A 32-bit result from one 32-bit source.
    pub(crate) fn u1<F: Fn(U) -> U + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| f(w.chunk(a, c)),
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 32-bit result from two 32-bit sources.
    pub(crate) fn u2<F: Fn(U, U) -> U + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let result = chunks(
                    #[inline(always)]
                    |c| f(w.chunk(a, c), w.chunk(b, c)),
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 32-bit result from two 32-bit sources: `wrapping`, or `saturating` with `clamp`.
    pub(crate) fn clamped(
        self,
        wrapping: impl Fn(U, U) -> U + Copy + 'static,
        saturating: impl Fn(U, U) -> U + Copy + 'static,
    ) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let clamp = o.clamp;
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let (a, b) = (w.chunk(a, c), w.chunk(b, c));
                        if clamp {
                            saturating(a, b)
                        } else {
                            wrapping(a, b)
                        }
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 32-bit result from three 32-bit sources.
    pub(crate) fn u3<F: Fn(U, U, U) -> U + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let b = w.fetch(1, &o.src[1]);
                let s = w.fetch(2, &o.src[2]);
                let result = chunks(
                    #[inline(always)]
                    |c| f(w.chunk(a, c), w.chunk(b, c), w.chunk(s, c)),
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 64-bit result from one 64-bit source.
    pub(crate) fn d1<F: Fn(D) -> D + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch64(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| f(w.chunk64(a, c)),
                );
                w.commit64(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 64-bit result from a 32-bit and a 64-bit source (shifts).
    pub(crate) fn ud_d<F: Fn(U, D) -> D + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let b = w.fetch64(1, &o.src[1]);
                let result = chunks(
                    #[inline(always)]
                    |c| f(w.chunk(a, c), w.chunk64(b, c)),
                );
                w.commit64(o.dst, result);
                Flow::Next
            },
        )
    }

    /// A 64-bit result from two 32-bit sources and a 64-bit one, with a carry out of bit 63.
    pub(crate) fn uud_d_carry<F: Fn(U, U, D) -> (D, M) + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let b = w.fetch(1, &o.src[1]);
                let s = w.fetch64(2, &o.src[2]);
                let pairs = chunks(
                    #[inline(always)]
                    |c| f(w.chunk(a, c), w.chunk(b, c), w.chunk64(s, c)),
                );
                let carry = mask_of::<C>(
                    #[inline(always)]
                    |c| pairs[c].1,
                );
                w.commit64(o.dst, pairs.mapped(|p| p.0));
                w.set_lane_mask(o.sdst, carry & w.active());
                Flow::Next
            },
        )
    }

    /// A 32-bit result from two 32-bit sources, with a carry out. With `clamp`, the result is `END` where there is a
    /// carry.
    pub(crate) fn carry_out<const END: u32, F>(self, f: F) -> Handler
    where
        F: Fn(U, U) -> (U, M) + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let pairs = chunks(
                    #[inline(always)]
                    |c| f(w.chunk(a, c), w.chunk(b, c)),
                );
                let carry = mask_of::<C>(
                    #[inline(always)]
                    |c| pairs[c].1,
                );
                let exec = w.active();
                if o.clamp {
                    w.commit(
                        o.dst,
                        pairs.mapped(|(sum, carry)| carry.select(U::splat(END), sum)),
                    );
                } else {
                    w.commit(o.dst, pairs.mapped(|p| p.0));
                }
                w.set_lane_mask(o.sdst, carry & exec);
                Flow::Next
            },
        )
    }

    /// A 32-bit result from two 32-bit sources and a carry in, with a carry out. With `clamp`, the result is `END`
    /// where there is a carry.
    pub(crate) fn carry_in_out<const END: u32, F>(self, f: F) -> Handler
    where
        F: Fn(U, U, U) -> (U, M) + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let carry_in = w.read_lane_mask(&o.src[2]);
                let pairs = chunks(
                    #[inline(always)]
                    |c| {
                        let carry = chunk_mask(carry_in, c).select(U::splat(1), U::splat(0));
                        f(w.chunk(a, c), w.chunk(b, c), carry)
                    },
                );
                let carry = mask_of::<C>(
                    #[inline(always)]
                    |c| pairs[c].1,
                );
                let exec = w.active();
                if o.clamp {
                    w.commit(
                        o.dst,
                        pairs.mapped(|(sum, carry)| carry.select(U::splat(END), sum)),
                    );
                } else {
                    w.commit(o.dst, pairs.mapped(|p| p.0));
                }
                w.set_lane_mask(o.sdst, carry & exec);
                Flow::Next
            },
        )
    }

    /// A compare of 32-bit sources.
    pub(crate) fn compare<F: Fn(U, U) -> M + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask_of::<C>(
                    #[inline(always)]
                    |c| f(w.chunk(a, c), w.chunk(b, c)),
                );
                set_mask(w, o, mask)
            },
        )
    }

    /// A compare of 64-bit sources.
    pub(crate) fn compare64<F: Fn(D, D) -> Mask<i64, 16> + Copy + 'static>(self, f: F) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch64(0, &o.src[0]), w.fetch64(1, &o.src[1]));
                let mut mask = 0;
                for c in 0..C {
                    mask |= f(w.chunk64(a, c), w.chunk64(b, c)).to_bitmask() << (16 * c);
                }
                set_mask(w, o, mask)
            },
        )
    }
}

/// Bits of a compare's detail: `v_cmpx`, which also writes EXEC.
pub(super) const WRITES_EXEC: u8 = 1;
/// The result is where the handler's relation does not hold.
pub(super) const INVERTED: u8 = 2;

/// Writes a compare's mask.
#[inline(always)]
pub(crate) fn set_mask<const C: usize>(w: &mut Wave<C>, o: &Operation, mask: u64) -> Flow {
    let mask = match o.detail & INVERTED {
        0 => mask,
        _ => !mask,
    };
    let mask = mask & w.active();
    w.set_lane_mask(o.dst, mask);
    if o.detail & WRITES_EXEC != 0 {
        w.set_active(mask);
    }
    Flow::Next
}

/// VCC.
#[inline(always)]
pub(crate) fn vcc<const C: usize>(w: &Wave<C>) -> u64 {
    w.lane_mask(VCC)
}

/// Sign extension of the low 16 bits.
#[inline(always)]
pub(crate) fn sext16(a: U) -> I {
    (a.cast::<i32>() << I::splat(16)) >> I::splat(16)
}

/// Sign extension of the low 24 bits.
#[inline(always)]
pub(crate) fn sext24(a: U) -> I {
    (a.cast::<i32>() << I::splat(8)) >> I::splat(8)
}
