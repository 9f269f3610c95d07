//! Conversions to formats of 8, 6 and 4 bits, and stochastic ones to 16 bits.
//!
//! Scaled forms divide by the power of two in the exponent field of the scale. Random bits for several numbers come
//! from one source: each further number's from the generator of `v_prng_b32`.

use std::simd::prelude::*;

use ferrowave_gpu::Gpu;

use super::super::{
    Wave, float32, half,
    integer::next_random,
    lanes::{Binder, chunks},
    mfma::{Bf16, Element, F16, F32},
    minifloat::{
        Bf6, Bf8, Bf8Fnuz, Brain16, Fp4, Fp6, Fp8, Fp8Fnuz, Fp16, Narrow, Rounding, round,
    },
    operation::{Flow, Handler, Operation},
    simd::{F, U},
    wave::Lanes,
};
use crate::exec::array::{Mapped, array};
use ferrowave_isa::run::{
    NarrowingScaled, NarrowingScaledPacked, NarrowingUnscaled, NarrowingWholeBlocks,
};

/// A source format.
trait Source: Element {
    /// Bits of the fraction.
    const FRACTION: u32;
    /// Source `slot` with its modifiers.
    fn modified(o: &Operation, slot: usize, bits: U) -> F;
}

impl Source for F32 {
    const FRACTION: u32 = 23;
    #[inline(always)]
    fn modified(o: &Operation, slot: usize, bits: U) -> F {
        float32::modified(o, slot, bits)
    }
}

impl Source for F16 {
    const FRACTION: u32 = 10;
    #[inline(always)]
    fn modified(o: &Operation, slot: usize, bits: U) -> F {
        half::to_f32(half::source_bits(o, slot, bits))
    }
}

impl Source for Bf16 {
    const FRACTION: u32 = 7;
    #[inline(always)]
    fn modified(o: &Operation, slot: usize, bits: U) -> F {
        Bf16::read(half::source_bits(o, slot, bits), 0)
    }
}

/// How a wave's numbers are scaled and saturated.
#[derive(Clone, Copy)]
struct Conversion<const C: usize> {
    /// Scales, in the exponent field of f32.
    scales: [U; C],
    saturate: bool,
}

impl<const C: usize> Conversion<C> {
    /// Without a scale.
    fn plain(w: &Wave<C>) -> Self {
        Conversion {
            scales: [U::splat(127 << 23); C],
            saturate: w.mode.saturates_overflow(),
        }
    }

    /// With the scale in source `slot`.
    fn scaled(w: &mut Wave<C>, o: &Operation, slot: u16) -> Self {
        let scale = w.fetch(slot, &o.src[usize::from(slot)]);
        Conversion {
            scales: chunks(|c| w.chunk(scale, c)),
            ..Self::plain(w)
        }
    }

    /// Converts a chunk's numbers, with random bits if the rounding is stochastic.
    fn convert<T: Narrow>(&self, chunk: usize, values: F, random: Option<(U, u32)>) -> U {
        U::from_array(array(|lane| {
            let scale = self.scales[chunk][lane] >> 23 & 0xff;
            let value = if scale == 0xff {
                f32::NAN.copysign(values[lane])
            } else {
                values[lane]
            };
            let rounding = match random {
                None => Rounding::Nearest,
                Some((random, source_fraction)) => Rounding::Stochastic {
                    random: random[lane],
                    source_fraction,
                },
            };
            round::<T>(value, scale as i32 - 127, rounding, self.saturate)
        }))
    }
}

/// Writes results of `bits` bits at bit `shift` of the destination and keeps its other bits.
fn insert<const C: usize>(w: &mut Wave<C>, o: &Operation, results: [U; C], bits: u32, shift: u32) {
    let field = (u32::MAX >> (32 - bits)) << shift;
    let old = *w.lanes(o.dst).chunks::<C>();
    let merged = chunks(|c| (old[c] & U::splat(!field)) | results[c] << U::splat(shift));
    w.commit(o.dst, merged);
}

/// First bit of the destination byte that `op_sel` names.
fn byte_shift(o: &Operation) -> u32 {
    8 * u32::from(o.op_sel >> 2 & 3)
}

/// First bit of the destination half that `op_sel` names.
fn half_shift(o: &Operation) -> u32 {
    16 * u32::from(o.op_sel >> 3 & 1)
}

/// One number, stochastically: the source, random bits, and optionally a scale.
fn one<T: Narrow, S: Source, const SCALED: bool, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(|w, _, o| {
        let conversion = if SCALED {
            Conversion::scaled(w, o, 2)
        } else {
            Conversion::plain(w)
        };
        let (a, random) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
        let results = chunks(|c| {
            let value = S::modified(o, 0, w.chunk(a, c));
            conversion.convert::<T>(c, value, Some((w.chunk(random, c), S::FRACTION)))
        });
        let shift = if T::BITS == 16 {
            half_shift(o)
        } else {
            byte_shift(o)
        };
        insert(w, o, results, T::BITS, shift);
        Flow::Next
    })
}

/// Writes two adjacent numbers to the destination.
fn insert_pair<T: Narrow, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    low: [U; C],
    high: [U; C],
) {
    let shift = if T::BITS == 4 {
        byte_shift(o)
    } else {
        half_shift(o)
    };
    let both = chunks(|c| low[c] | high[c] << U::splat(T::BITS));
    insert(w, o, both, 2 * T::BITS, shift);
}

/// Two f32 sources, and optionally a scale.
fn two<T: Narrow, const SCALED: bool, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(|w, _, o| {
        let conversion = if SCALED {
            Conversion::scaled(w, o, 2)
        } else {
            Conversion::plain(w)
        };
        let [low, high] = [0_u16, 1].mapped(|slot| {
            let a = w.fetch(slot, &o.src[usize::from(slot)]);
            chunks(|c| {
                let value = float32::modified(o, slot.into(), w.chunk(a, c));
                conversion.convert::<T>(c, value, None)
            })
        });
        insert_pair::<T, C>(w, o, low, high);
        Flow::Next
    })
}

/// Two 16-bit numbers in one source, and a scale.
fn packed<T: Narrow, S: Source, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(|w, _, o| {
        let conversion = Conversion::scaled(w, o, 1);
        let a = w.fetch(0, &o.src[0]);
        let [low, high] = [0, 16]
            .mapped(|at| chunks(|c| conversion.convert::<T>(c, S::read(w.chunk(a, c), at), None)));
        insert_pair::<T, C>(w, o, low, high);
        Flow::Next
    })
}

/// Two numbers in one source, stochastically: f32 in a register pair or 16 bits in one register, random bits, a scale.
fn packed_stochastic<T: Narrow, S: Source, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(|w, _, o| {
        let conversion = Conversion::scaled(w, o, 2);
        let random = w.fetch(1, &o.src[1]);
        let pair = w.fetch64(0, &o.src[0]);
        let (second, at) = if S::BITS == 32 {
            (pair[1], 0)
        } else {
            (pair[0], 16)
        };
        let low = chunks(|c| {
            let value = sign_changed::<S>(o, S::read(w.chunk(pair[0], c), 0));
            conversion.convert::<T>(c, value, Some((w.chunk(random, c), S::FRACTION)))
        });
        let high = chunks(|c| {
            let value = sign_changed::<S>(o, S::read(w.chunk(second, c), at));
            let random = next_random(w.chunk(random, c));
            conversion.convert::<T>(c, value, Some((random, S::FRACTION)))
        });
        insert_pair::<T, C>(w, o, low, high);
        Flow::Next
    })
}

/// Applies the modifiers of source 0 to one of its numbers.
fn sign_changed<S: Source>(o: &Operation, value: F) -> F {
    float32::modified(o, 0, value.to_bits())
}

/// Number `index` of registers from `register` on.
fn number<S: Source, const C: usize>(w: &Wave<C>, register: u16, index: usize, chunk: usize) -> F {
    let bit = index * S::BITS;
    let lanes = w.lanes(register + (bit / 32) as u16);
    S::read(lanes.0[chunk], (bit % 32) as u32)
}

/// Writes 32 adjacent numbers of six bits; `f` computes them by index and chunk, in order.
fn write_all<T: Narrow, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    mut f: impl FnMut(&Wave<C>, usize, usize) -> U,
) {
    let mut results = [Lanes::splat(0); 6];
    for index in 0..32 {
        let (register, shift) = (index * 6 / 32, index * 6 % 32);
        for chunk in 0..C {
            let bits = f(w, index, chunk);
            results[register].0[chunk] |= bits << U::splat(shift as u32);
            if shift > 26 {
                results[register + 1].0[chunk] |= bits >> U::splat(32 - shift as u32);
            }
        }
    }
    for (register, lanes) in results.into_iter().enumerate() {
        w.commit(o.dst + register as u16, *lanes.chunks());
    }
}

/// 32 numbers and a scale.
fn all<T: Narrow, S: Source, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(|w, _, o| {
        let conversion = Conversion::scaled(w, o, 1);
        let source = o.src[0].register;
        write_all::<T, C>(w, o, |w, index, chunk| {
            conversion.convert::<T>(chunk, number::<S, C>(w, source, index, chunk), None)
        });
        Flow::Next
    })
}

/// 32 numbers, random bits, a scale.
fn all_stochastic<T: Narrow, S: Source, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(|w, _, o| {
        let conversion = Conversion::scaled(w, o, 2);
        let seed = w.fetch(1, &o.src[1]);
        let mut random: [U; C] = chunks(|c| w.chunk(seed, c));
        let source = o.src[0].register;
        write_all::<T, C>(w, o, |w, index, chunk| {
            let value = number::<S, C>(w, source, index, chunk);
            let now = random[chunk];
            random[chunk] = next_random(now);
            conversion.convert::<T>(chunk, value, Some((now, S::FRACTION)))
        });
        Flow::Next
    })
}

/// Two sources of 16 f32 each, interleaved in the result, and a scale.
fn interleaved<T: Narrow, const C: usize>(b: Binder<C>) -> Handler {
    b.bind(|w, _, o| {
        let conversion = Conversion::scaled(w, o, 2);
        let sources = [o.src[0].register, o.src[1].register];
        write_all::<T, C>(w, o, |w, index, chunk| {
            let value = number::<F32, C>(w, sources[index % 2], index / 2, chunk);
            conversion.convert::<T>(chunk, value, None)
        });
        Flow::Next
    })
}

/// The handler of a conversion to the GPU's own narrow formats.
pub(in crate::exec) fn unscaled<const C: usize>(
    b: Binder<C>,
    gpu: Gpu,
    op: NarrowingUnscaled,
) -> Handler {
    match gpu {
        Gpu::Gfx942 => unscaled_to::<Fp8Fnuz, Bf8Fnuz, C>(b, op),
        _ => unscaled_to::<Fp8, Bf8, C>(b, op),
    }
}

fn unscaled_to<Fp: Narrow, Bf: Narrow, const C: usize>(
    b: Binder<C>,
    op: NarrowingUnscaled,
) -> Handler {
    match op {
        NarrowingUnscaled::v_cvt_pk_fp8_f32 => two::<Fp, false, C>(b),
        NarrowingUnscaled::v_cvt_pk_bf8_f32 => two::<Bf, false, C>(b),
        NarrowingUnscaled::v_cvt_sr_fp8_f32 => one::<Fp, F32, false, C>(b),
        NarrowingUnscaled::v_cvt_sr_bf8_f32 => one::<Bf, F32, false, C>(b),
        NarrowingUnscaled::v_cvt_sr_f16_f32 => one::<Fp16, F32, false, C>(b),
        NarrowingUnscaled::v_cvt_sr_bf16_f32 => one::<Brain16, F32, false, C>(b),
    }
}

pub(in crate::exec) fn scaled<const C: usize>(b: Binder<C>, op: NarrowingScaled) -> Handler {
    match op {
        NarrowingScaled::v_cvt_scalef32_pk_fp8_f32 => two::<Fp8, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_pk_bf8_f32 => two::<Bf8, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_pk_fp4_f32 => two::<Fp4, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_sr_fp8_f32 => one::<Fp8, F32, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_sr_bf8_f32 => one::<Bf8, F32, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_sr_fp8_f16 => one::<Fp8, F16, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_sr_bf8_f16 => one::<Bf8, F16, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_sr_fp8_bf16 => one::<Fp8, Bf16, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_sr_bf8_bf16 => one::<Bf8, Bf16, true, C>(b),
        NarrowingScaled::v_cvt_scalef32_sr_pk_fp4_f32 => packed_stochastic::<Fp4, F32, C>(b),
    }
}

pub(in crate::exec) fn scaled_packed<const C: usize>(
    b: Binder<C>,
    op: NarrowingScaledPacked,
) -> Handler {
    match op {
        NarrowingScaledPacked::v_cvt_scalef32_pk_fp8_f16 => packed::<Fp8, F16, C>(b),
        NarrowingScaledPacked::v_cvt_scalef32_pk_bf8_f16 => packed::<Bf8, F16, C>(b),
        NarrowingScaledPacked::v_cvt_scalef32_pk_fp8_bf16 => packed::<Fp8, Bf16, C>(b),
        NarrowingScaledPacked::v_cvt_scalef32_pk_bf8_bf16 => packed::<Bf8, Bf16, C>(b),
        NarrowingScaledPacked::v_cvt_scalef32_pk_fp4_f16 => packed::<Fp4, F16, C>(b),
        NarrowingScaledPacked::v_cvt_scalef32_pk_fp4_bf16 => packed::<Fp4, Bf16, C>(b),
        NarrowingScaledPacked::v_cvt_scalef32_sr_pk_fp4_f16 => packed_stochastic::<Fp4, F16, C>(b),
        NarrowingScaledPacked::v_cvt_scalef32_sr_pk_fp4_bf16 => {
            packed_stochastic::<Fp4, Bf16, C>(b)
        }
    }
}

pub(in crate::exec) fn whole_blocks<const C: usize>(
    b: Binder<C>,
    op: NarrowingWholeBlocks,
) -> Handler {
    match op {
        NarrowingWholeBlocks::v_cvt_scalef32_2xpk16_fp6_f32 => interleaved::<Fp6, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_2xpk16_bf6_f32 => interleaved::<Bf6, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_sr_pk32_fp6_f32 => all_stochastic::<Fp6, F32, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_sr_pk32_bf6_f32 => all_stochastic::<Bf6, F32, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_sr_pk32_fp6_f16 => all_stochastic::<Fp6, F16, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_sr_pk32_bf6_f16 => all_stochastic::<Bf6, F16, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_sr_pk32_fp6_bf16 => all_stochastic::<Fp6, Bf16, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_sr_pk32_bf6_bf16 => all_stochastic::<Bf6, Bf16, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_pk32_fp6_f16 => all::<Fp6, F16, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_pk32_bf6_f16 => all::<Bf6, F16, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_pk32_fp6_bf16 => all::<Fp6, Bf16, C>(b),
        NarrowingWholeBlocks::v_cvt_scalef32_pk32_bf6_bf16 => all::<Bf6, Bf16, C>(b),
    }
}
