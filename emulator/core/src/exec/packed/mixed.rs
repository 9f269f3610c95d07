//! Operations on f16 or bf16 with f32 results: dot products and the mixed-precision FMA.

use std::simd::{StdFloat, prelude::*};

use rustc_apfloat::ieee::{Half, Single};

use super::negated_halves;
use crate::exec::{
    Mode, Wave,
    array::{Mapped, array},
    convert::to_bf16,
    float::{Arithmetic, Format, Settings, convert, evaluate},
    float32, half,
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation},
    simd::{F, M, U},
    wave::Fetched,
};
use ferrowave_isa::run::Mixed;

/// The handler of one of these operations.
pub(in crate::exec) fn handler<const C: usize>(b: Binder<C>, op: Mixed) -> Handler {
    let flushed_halves = |bits: U| half::to_f32(without_denormals(bits, 0x7c00, 0x8000));
    let flushed_bf16 = |bits: U| flushed(F::from_bits(bits << U::splat(16)));
    match op {
        // The hardware ignores the clamp of this one: ROCm's device library sets it in every call (`__ockl_fdot2` in
        // `dots.cl`), and AMD's hip-tests expect 14 of 1 · 3 + 3 · 3 + 2 with it (`hiprtc_fp16_HeaderTst.cc`).
        Mixed::v_dot2_f32_f16 => b.dot2(
            flushed_halves,
            |first, second, sum| sum + first + second,
            |_, _, sum| sum,
        ),
        Mixed::v_dot2c_f32_f16 => b.dot2(
            flushed_halves,
            |first, second, sum| sum + first + second,
            clamped,
        ),
        // The accumulating form starts with the sum, the other ends with it.
        Mixed::v_dot2_f32_bf16 => b.dot2(
            flushed_bf16,
            |first, second, sum| first + second + sum,
            clamped,
        ),
        Mixed::v_dot2c_f32_bf16 => b.dot2(
            flushed_bf16,
            |first, second, sum| sum + first + second,
            clamped,
        ),
        Mixed::v_dot2_f16_f16 => b.dot2_halves(half::to_f32, |sum| {
            sum.is_nan().select(U::splat(0x7e00), half::from_f32(sum))
        }),
        Mixed::v_dot2_bf16_bf16 => b.dot2_halves(flushed_bf16, |sum| {
            sum.is_nan().select(U::splat(0x7fc0), to_bf16(flushed(sum)))
        }),
        Mixed::v_mad_mix_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let result = sums(w, o).mapped(|(sum, _)| clamped(o, w.mode, sum).to_bits());
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
        Mixed::v_mad_mixlo_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let result = half_sums(w, o);
                let old = *w.lanes(o.dst).chunks::<C>();
                let merged = chunks(
                    #[inline(always)]
                    |c| result[c] | (old[c] & U::splat(0xffff_0000)),
                );
                w.commit(o.dst, merged);
                Flow::Next
            },
        ),
        Mixed::v_mad_mixhi_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let result = half_sums(w, o);
                let old = *w.lanes(o.dst).chunks::<C>();
                let merged = chunks(
                    #[inline(always)]
                    |c| result[c] << U::splat(16) | (old[c] & U::splat(0xffff)),
                );
                w.commit(o.dst, merged);
                Flow::Next
            },
        ),
    }
}

impl<const C: usize> Binder<C> {
    /// Two products and a sum, which `add` adds in order; `read` widens the elements, `finish` clamps the sum.
    ///
    /// The products are exact in f32; the sums round to nearest one after the other, as in AMD's pseudocode. MODE has
    /// no effect; denormal inputs and results are 0 (CDNA4 ISA guide, «Denormalized and Rounding Modes», 6.4).
    fn dot2<R, A, E>(self, read: R, add: A, finish: E) -> Handler
    where
        R: Fn(U) -> F + Copy + 'static,
        A: Fn(F, F, F) -> F + Copy + 'static,
        E: Fn(&Operation, Mode, F) -> F + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let s: [Fetched; 3] = array(|i| w.fetch(i as u16, &o.src[i]));
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let [x, y, z] = s.mapped(|source| w.chunk(source, c));
                        let (p, q) = (parts(o, 0, x).mapped(read), parts(o, 1, y).mapped(read));
                        let sum = z ^ U::splat(u32::from(o.neg >> 2 & 1) << 31);
                        let sum = flushed(F::from_bits(sum));
                        let total = flushed(add(p[0] * q[0], p[1] * q[1], sum));
                        let total = float32::settled(total, [p[0], q[0], p[1], q[1], sum]);
                        finish(o, w.mode, total).to_bits()
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }
}

impl<const C: usize> Binder<C> {
    /// A dot product whose sum is half a register: products and sums in f32, in order, and then one rounding to nearest
    /// (AMD does not say how the hardware adds). f16 keeps denormals, bf16 does not, and MODE has no effect (RDNA 3 ISA
    /// guide, «Denormalized and Rounding Modes», 7.2.4). `abs` and `neg` belong to both halves of a pair.
    fn dot2_halves<R, W>(self, read: R, write: W) -> Handler
    where
        R: Fn(U) -> F + Copy + 'static,
        W: Fn(F) -> U + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let s: [Fetched; 3] = std::array::from_fn(|i| w.fetch(i as u16, &o.src[i]));
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let pair = |slot: usize| {
                            let bits = w.chunk(s[slot], c);
                            [bits, bits >> U::splat(16)]
                                .map(|bits| read(with_sign(o, slot, bits & U::splat(0xffff))))
                        };
                        let (x, y) = (pair(0), pair(1));
                        let sum = read(half::source_bits(o, 2, w.chunk(s[2], c)));
                        write(sum + x[0] * y[0] + x[1] * y[1])
                    },
                );
                half::commit16(w, o, result);
                Flow::Next
            },
        )
    }
}

/// A half with the `abs` and `neg` of its source.
#[inline(always)]
fn with_sign(o: &Operation, slot: usize, bits: U) -> U {
    let and = match o.abs >> slot & 1 {
        0 => 0xffff,
        _ => 0x7fff,
    };
    bits & U::splat(and) ^ U::splat(u32::from(o.neg >> slot & 1) << 15)
}

/// Halves of a dot product's source; the short encodings have no modifiers and use both in order.
#[inline(always)]
fn parts(o: &Operation, slot: usize, value: U) -> [U; 2] {
    if o.op_sel_hi == 0 && o.op_sel == 0 && o.control[0] == 1 {
        [value & U::splat(0xffff), value >> U::splat(16)]
    } else {
        negated_halves(o, slot, value)
    }
}

/// Replaces denormals by zeros of their sign.
#[inline(always)]
fn without_denormals(bits: U, exponent: u32, sign: u32) -> U {
    let denormal = (bits & U::splat(exponent)).simd_eq(U::splat(0));
    denormal.select(bits & U::splat(sign), bits)
}

#[inline(always)]
fn flushed(value: F) -> F {
    F::from_bits(without_denormals(value.to_bits(), 0x7f80_0000, 0x8000_0000))
}

/// The clamp to [0, 1]; MODE decides what NaN becomes.
#[inline(always)]
fn clamped(o: &Operation, mode: Mode, value: F) -> F {
    if !o.clamp {
        return value;
    }
    let nan = if mode.dx10_clamp() {
        F::splat(0.0)
    } else {
        value
    };
    value.is_nan().select(nan, float32::clamped(o.clamp, value))
}

/// The sums of a mixed-precision FMA, rounded and flushed as MODE says, and whether a source is ∞. Each source is f32,
/// or, where `op_sel_hi` is set, f16 in the half that `op_sel` selects.
///
/// There is one rounding (CDNA4 ISA guide, «Packed Math», 6.7).
#[inline(always)]
fn sums<const C: usize>(w: &mut Wave<C>, o: &Operation) -> [(F, M); C] {
    let s: [Fetched; 3] = array(|i| w.fetch(i as u16, &o.src[i]));
    let settings = Single::settings(w.mode);
    chunks(
        #[inline(always)]
        |c| {
            let [x, y, z] = array(|i| mixed_source(w.mode, o, i, w.chunk(s[i], c)));
            let infinite = x.is_infinite() | y.is_infinite() | z.is_infinite();
            let sum = if w.mode.plain32() {
                float32::settled(x.mul_add(y, z), [x, y, z])
            } else {
                each([x, y, z], |sources| {
                    evaluate::<Single>(Arithmetic::Fma, sources, settings) as u32
                })
            };
            (sum, infinite)
        },
    )
}

#[inline(always)]
fn mixed_source(mode: Mode, o: &Operation, slot: usize, bits: U) -> F {
    let value = if o.op_sel_hi >> slot & 1 == 0 {
        F::from_bits(bits)
    } else {
        let half = if o.op_sel >> slot & 1 == 1 {
            bits >> U::splat(16)
        } else {
            bits & U::splat(0xffff)
        };
        half::to_f32(match mode.denormals16_64().0 {
            true => half,
            false => without_denormals(half, 0x7c00, 0x8000),
        })
    };
    let value = if o.abs >> slot & 1 == 1 {
        value.abs()
    } else {
        value
    };
    if o.neg >> slot & 1 == 1 {
        -value
    } else {
        value
    }
}

/// Computes lane by lane.
#[cold]
fn each(sources: [F; 3], f: impl Fn([u64; 3]) -> u32) -> F {
    let [x, y, z] = sources.mapped(|source| source.to_bits().to_array().mapped(u64::from));
    F::from_bits(U::from_array(array(|i| f([x[i], y[i], z[i]]))))
}

/// The sums as f16: a second rounding, by f16's own mode.
#[inline(always)]
fn half_sums<const C: usize>(w: &mut Wave<C>, o: &Operation) -> [U; C] {
    let mode = w.mode;
    sums(w, o).mapped(|(sum, infinite)| {
        let sum = clamped(o, mode, sum);
        let half = if mode.plain16_64() {
            half::from_f32(sum)
        } else {
            narrowed(mode, sum)
        };
        half::saturated(mode, half, infinite)
    })
}

#[cold]
fn narrowed(mode: Mode, sum: F) -> U {
    // Denormal sums have already been flushed; the caller replaces ∞.
    let from = Settings {
        keep_source_denormals: true,
        ..Single::settings(mode)
    };
    let to = Settings {
        saturate: false,
        ..Half::settings(mode)
    };
    let bits = sum.to_bits().to_array();
    U::from_array(bits.mapped(|bits| convert::<Single, Half>(u64::from(bits), from, to) as u32))
}
