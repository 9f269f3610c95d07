//! Conversions from formats of 8, 6 and 4 bits to f32, f16 and bf16.
//!
//! Scaled forms multiply by the power of two in the exponent field of the scale. In f32 each product is exact or ∞.

use std::simd::prelude::*;

use ferrowave_gpu::Gpu;

use super::{
    super::{
        Wave, half,
        lanes::{Binder, chunks},
        mfma::{Bf16, Element, F16, F32},
        minifloat::{Bf6, Bf8, Bf8Fnuz, Fp4, Fp6, Fp8, Fp8Fnuz, power_of_scale, read_across},
        operation::{Flow, Handler, Operation},
        simd::{F, U},
        wave::Lanes,
    },
    to_bf16,
};
use crate::exec::array::{Mapped, array};
use ferrowave_isa::run::{WideningScaled, WideningUnscaled};

/// A result format.
trait Result: Element {
    fn bits(value: F) -> U;
}

impl Result for F32 {
    #[inline(always)]
    fn bits(value: F) -> U {
        value.to_bits()
    }
}

impl Result for F16 {
    #[inline(always)]
    fn bits(value: F) -> U {
        half::from_f32(value)
    }
}

impl Result for Bf16 {
    #[inline(always)]
    fn bits(value: F) -> U {
        to_bf16(value)
    }
}

/// The powers of two of the scale in source 1.
#[inline(always)]
fn powers<const C: usize>(w: &mut Wave<C>, o: &Operation) -> [F; C] {
    let scale = w.fetch(1, &o.src[1]);
    chunks(|c| power_of_scale(w.chunk(scale, c) >> U::splat(23) & U::splat(0xff)))
}

/// One number, from the source's lowest bits.
fn one<T: Element, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let a = w.fetch(0, &o.src[0]);
            // The byte's number, whose bits are reversed (RDNA 4 ISA, `V_CVT_F32_FP8`; CDNA has none).
            let byte = o.op_sel >> 1 & 1 | (o.op_sel & 1) << 1;
            let shift = U::splat(8 * u32::from(byte));
            let results = chunks(|c| T::read(w.chunk(a, c) >> shift, 0).to_bits());
            w.commit(o.dst, results);
            Flow::Next
        },
    )
}

/// Two numbers, from the source's lowest bits.
fn two<T: Element, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let a = w.fetch(0, &o.src[0]);
            let [low, high] =
                [0, T::BITS as u32].mapped(|at| chunks(|c| T::read(w.chunk(a, c), at).to_bits()));
            w.commit(o.dst, low);
            w.commit(o.dst + 1, high);
            Flow::Next
        },
    )
}

/// The byte of the source that `op_sel` names, times a scale.
fn one_scaled<T: Element, R: Result, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let powers = powers(w, o);
            let a = w.fetch(0, &o.src[0]);
            let shift = U::splat(8 * u32::from(o.op_sel & 3));
            let results = chunks(|c| R::bits(T::read(w.chunk(a, c) >> shift, 0) * powers[c]));
            if R::BITS == 32 {
                w.commit(o.dst, results);
            } else {
                // The other half of the destination is kept.
                let at = 16 * u32::from(o.op_sel >> 3 & 1);
                let old = *w.lanes(o.dst).chunks::<C>();
                let merged =
                    chunks(|c| old[c] & U::splat(!(0xffff << at)) | results[c] << U::splat(at));
                w.commit(o.dst, merged);
            }
            Flow::Next
        },
    )
}

/// Two adjacent numbers, in the part of the source that `op_sel` names, times a scale.
fn two_scaled<T: Element, R: Result, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let powers = powers(w, o);
            let a = w.fetch(0, &o.src[0]);
            let shift = U::splat(if T::BITS == 4 {
                8 * u32::from(o.op_sel & 3)
            } else {
                16 * u32::from(o.op_sel & 1)
            });
            let [low, high] = [0, T::BITS as u32]
                .mapped(|at| chunks(|c| R::bits(T::read(w.chunk(a, c) >> shift, at) * powers[c])));
            if R::BITS == 32 {
                w.commit(o.dst, low);
                w.commit(o.dst + 1, high);
            } else {
                let both = chunks(|c| low[c] | high[c] << U::splat(16));
                w.commit(o.dst, both);
            }
            Flow::Next
        },
    )
}

/// 32 numbers in six registers, times a scale.
fn all<T: Element, R: Result, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let powers = powers(w, o);
            let source: [Lanes; 6] = array(|r| *w.lanes(o.src[0].register + r as u16));
            for register in 0..R::BITS {
                let per_register = 32 / R::BITS;
                let results = chunks(|c| {
                    let mut bits = U::splat(0);
                    for part in 0..per_register {
                        let at = (register * per_register + part) * T::BITS;
                        let value =
                            T::read(read_across(|r| source[r].0[c], at, T::BITS), 0) * powers[c];
                        bits |= R::bits(value) << U::splat((part * R::BITS) as u32);
                    }
                    bits
                });
                w.commit(o.dst + register as u16, results);
            }
            Flow::Next
        },
    )
}

/// The handler of a conversion from the GPU's own narrow formats.
pub(in crate::exec) fn unscaled<const C: usize>(
    b: Binder<C>,
    gpu: Gpu,
    op: WideningUnscaled,
) -> Handler {
    match gpu {
        Gpu::Gfx942 => unscaled_from::<Fp8Fnuz, Bf8Fnuz, C>(b, op),
        _ => unscaled_from::<Fp8, Bf8, C>(b, op),
    }
}

fn unscaled_from<Fp: Element, Bf: Element, const C: usize>(
    b: Binder<C>,
    op: WideningUnscaled,
) -> Handler {
    match op {
        WideningUnscaled::v_cvt_f32_fp8 => one::<Fp, C>(b),
        WideningUnscaled::v_cvt_f32_bf8 => one::<Bf, C>(b),
        WideningUnscaled::v_cvt_pk_f32_fp8 => two::<Fp, C>(b),
        WideningUnscaled::v_cvt_pk_f32_bf8 => two::<Bf, C>(b),
    }
}

pub(in crate::exec) fn scaled<const C: usize>(b: Binder<C>, op: WideningScaled) -> Handler {
    match op {
        WideningScaled::v_cvt_scalef32_f32_fp8 => one_scaled::<Fp8, F32, C>(b),
        WideningScaled::v_cvt_scalef32_f32_bf8 => one_scaled::<Bf8, F32, C>(b),
        WideningScaled::v_cvt_scalef32_f16_fp8 => one_scaled::<Fp8, F16, C>(b),
        WideningScaled::v_cvt_scalef32_f16_bf8 => one_scaled::<Bf8, F16, C>(b),
        WideningScaled::v_cvt_scalef32_pk_f32_fp8 => two_scaled::<Fp8, F32, C>(b),
        WideningScaled::v_cvt_scalef32_pk_f32_bf8 => two_scaled::<Bf8, F32, C>(b),
        WideningScaled::v_cvt_scalef32_pk_f32_fp4 => two_scaled::<Fp4, F32, C>(b),
        WideningScaled::v_cvt_scalef32_pk_f16_fp8 => two_scaled::<Fp8, F16, C>(b),
        WideningScaled::v_cvt_scalef32_pk_f16_bf8 => two_scaled::<Bf8, F16, C>(b),
        WideningScaled::v_cvt_scalef32_pk_f16_fp4 => two_scaled::<Fp4, F16, C>(b),
        WideningScaled::v_cvt_scalef32_pk_bf16_fp8 => two_scaled::<Fp8, Bf16, C>(b),
        WideningScaled::v_cvt_scalef32_pk_bf16_bf8 => two_scaled::<Bf8, Bf16, C>(b),
        WideningScaled::v_cvt_scalef32_pk_bf16_fp4 => two_scaled::<Fp4, Bf16, C>(b),
        WideningScaled::v_cvt_scalef32_pk32_f32_fp6 => all::<Fp6, F32, C>(b),
        WideningScaled::v_cvt_scalef32_pk32_f32_bf6 => all::<Bf6, F32, C>(b),
        WideningScaled::v_cvt_scalef32_pk32_f16_fp6 => all::<Fp6, F16, C>(b),
        WideningScaled::v_cvt_scalef32_pk32_f16_bf6 => all::<Bf6, F16, C>(b),
        WideningScaled::v_cvt_scalef32_pk32_bf16_fp6 => all::<Fp6, Bf16, C>(b),
        WideningScaled::v_cvt_scalef32_pk32_bf16_bf6 => all::<Bf6, Bf16, C>(b),
    }
}
