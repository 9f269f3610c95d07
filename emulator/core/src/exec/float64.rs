//! f64 operations of the vector unit.

use std::{
    ops::Range,
    simd::{StdFloat, prelude::*},
};

use rustc_apfloat::ieee::Double;

use super::{
    Wave,
    array::{Mapped, array},
    float::{Arithmetic, Format, division, evaluate, scale},
    lanes::{Binder, chunks, vcc},
    operation::{Flow, Handler, Operation},
    simd::{D, E, U},
    two_over_pi,
    wave::{Fetched, lanes_of},
};
use ferrowave_isa::run::{Float64Arithmetic, Float64Other};

const SIGN: u64 = 0x8000_0000_0000_0000;

/// Applies source modifiers: `abs` first, then `neg`.
#[inline(always)]
pub(crate) fn modified(o: &Operation, slot: usize, value: D) -> E {
    let and = if o.abs >> slot & 1 == 1 { !SIGN } else { !0 };
    let xor = u64::from(o.neg >> slot & 1) << 63;
    E::from_bits((value & D::splat(and)) ^ D::splat(xor))
}

/// Quiets NaNs, which not all host operations do.
#[inline(always)]
fn quieted(value: E) -> E {
    let quiet = E::from_bits(value.to_bits() | D::splat(0x8_0000_0000_0000));
    value.is_nan().select(quiet, value)
}

/// As [`super::float32::settled`], for one source.
#[inline(always)]
fn settled(result: E, source: E) -> E {
    let made = E::from_bits(D::splat(0x7ff8_0000_0000_0000));
    let nan = source.is_nan().select(quieted(source), made);
    result.is_nan().select(nan, result)
}

impl<const C: usize> Binder<C> {
    /// As [`Binder::arithmetic32`], in f64.
    fn arithmetic64<const N: usize, G>(self, f: G) -> Handler
    where
        G: Fn([E; N]) -> E + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let sources: [[Fetched; 2]; N] = array(|i| w.fetch64(i as u16, &o.src[i]));
                // Out of line, these closures would not have the level's host instructions: `fma` would be a call.
                let result: [E; C] = chunks(
                    #[inline(always)]
                    |c| {
                        f(array(
                            #[inline(always)]
                            |i| modified(o, i, w.chunk64(sources[i], c)),
                        ))
                    },
                );
                let bits = result.mapped(|r| r.to_bits());
                let lanes = match w.mode.plain16_64() {
                    true => {
                        w.active()
                            & mask64::<C>(
                                #[inline(always)]
                                |c| result[c].is_nan(),
                            )
                    }
                    false => w.active(),
                };
                if lanes == 0 {
                    w.commit64(o.dst, bits);
                } else {
                    let settings = Double::settings(w.mode);
                    let what = Arithmetic::from_detail(o.detail);
                    lane_by_lane(w, o, N, lanes, bits, |_, s| {
                        evaluate::<Double>(what, s, settings)
                    });
                }
                Flow::Next
            },
        )
    }

    /// An operation of one f64 source that is not rounded by MODE.
    fn e1<G: Fn(E) -> E + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch64(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = modified(o, 0, w.chunk64(a, c));
                        settled(f(x), x).to_bits()
                    },
                );
                w.commit64(o.dst, result);
                Flow::Next
            },
        )
    }
}

/// One result per lane from `count` modified sources.
fn each_lane<const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    count: usize,
    f: impl FnMut(usize, [u64; 3]) -> u64,
) {
    lane_by_lane(w, o, count, w.active(), [D::splat(0); C], f);
}

/// Writes the results, those of `lanes` computed one by one from `count` modified sources.
#[inline(never)]
fn lane_by_lane<const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    count: usize,
    lanes: u64,
    mut results: [D; C],
    mut f: impl FnMut(usize, [u64; 3]) -> u64,
) {
    let sources: [[Fetched; 2]; 3] = array(|i| w.fetch64(i as u16, &o.src[i]));
    for (chunk, results) in results.iter_mut().enumerate() {
        let lanes = lanes >> (16 * chunk) & 0xffff;
        if lanes == 0 {
            continue;
        }
        let mut values = [[0; 16]; 3];
        for (i, values) in values.iter_mut().enumerate().take(count) {
            *values = modified(o, i, w.chunk64(sources[i], chunk))
                .to_bits()
                .to_array();
        }
        for lane in lanes_of(lanes) {
            results[lane] = f(16 * chunk + lane, array(|i| values[i][lane]));
        }
    }
    w.commit64(o.dst, results);
}

/// A lane mask from one of 16 lanes per chunk.
#[inline(always)]
fn mask64<const C: usize>(mut f: impl FnMut(usize) -> Mask<i64, 16>) -> u64 {
    let mut mask = 0;
    for chunk in 0..C {
        mask |= f(chunk).to_bitmask() << (16 * chunk);
    }
    mask
}

/// The exponent fields.
#[inline(always)]
fn exponents(bits: D) -> Simd<i64, 16> {
    (bits >> D::splat(52) & D::splat(0x7ff)).cast()
}

/// Whether an exponent field is a normal number's.
#[inline(always)]
fn is_normal(exponents: Simd<i64, 16>) -> Mask<i64, 16> {
    exponents.simd_gt(Simd::splat(0)) & exponents.simd_lt(Simd::splat(0x7ff))
}

/// Where a division has nothing to scale and nothing to correct but the quotient's sign.
#[inline(always)]
fn is_moderate(denominator: D, numerator: D) -> Mask<i64, 16> {
    let (low, high) = (exponents(denominator), exponents(numerator));
    let [denominators, numerators, differences] = division::moderate::<Double>();
    let within = |value: Simd<i64, 16>, range: Range<i64>| {
        value.simd_ge(Simd::splat(range.start)) & value.simd_lt(Simd::splat(range.end))
    };
    within(low, denominators) & within(high, numerators) & within(high - low, differences)
}

/// A fraction in [0.5, 1) with the sign, and the power of two that gives the number if it multiplies it; for 0, ∞ and
/// NaN the number itself, and 0.
#[inline(always)]
fn fraction_and_exponent(x: E) -> (E, Simd<i64, 16>) {
    let denormal = exponents(x.to_bits()).simd_eq(Simd::splat(0));
    let bits = denormal
        .select(x * E::splat(f64::from_bits((0x3ff + 54) << 52)), x)
        .to_bits();
    let normal = is_normal(exponents(bits));
    let fraction = E::from_bits(bits & D::splat(!(0x7ff << 52)) | D::splat(0x3fe << 52));
    let scaled = denormal.select(Simd::splat(0x3fe + 54), Simd::splat(0x3fe));
    (
        normal.select(fraction, x),
        normal.select(exponents(bits) - scaled, Simd::splat(0)),
    )
}

#[inline(always)]
fn extreme(a: E, b: E, smaller: bool) -> E {
    let (x, y) = (a.to_bits(), b.to_bits());
    let equal = E::from_bits(if smaller { x | y } else { x & y });
    let first = if smaller { a.simd_lt(b) } else { a.simd_gt(b) };
    let number = a.simd_eq(b).select(equal, first.select(a, b));
    (a.is_nan() | b.is_nan()).select(E::splat(f64::NAN), number)
}

pub(super) fn arithmetic<const C: usize>(
    b: Binder<C>,
    op: Float64Arithmetic,
) -> (Handler, Arithmetic) {
    use Arithmetic::*;
    match op {
        Float64Arithmetic::v_add_f64 => (b.arithmetic64(|[x, y]| x + y), Add),
        Float64Arithmetic::v_mul_f64 => (b.arithmetic64(|[x, y]| x * y), Mul),
        Float64Arithmetic::v_fma_f64 | Float64Arithmetic::v_fmac_f64 => {
            (b.arithmetic64(|[x, y, z]| x.mul_add(y, z)), Fma)
        }
        Float64Arithmetic::v_min_f64 => (b.arithmetic64(|[x, y]| extreme(x, y, true)), Min),
        Float64Arithmetic::v_max_f64 => (b.arithmetic64(|[x, y]| extreme(x, y, false)), Max),
        Float64Arithmetic::v_minimum_f64 => (b.arithmetic64(|[x, y]| extreme(x, y, true)), Minimum),
        Float64Arithmetic::v_maximum_f64 => {
            (b.arithmetic64(|[x, y]| extreme(x, y, false)), Maximum)
        }
    }
}

pub(super) fn other<const C: usize>(b: Binder<C>, op: Float64Other) -> Handler {
    match op {
        Float64Other::v_trunc_f64 => b.e1(|x| x.trunc()),
        Float64Other::v_ceil_f64 => b.e1(|x| x.ceil()),
        Float64Other::v_floor_f64 => b.e1(|x| x.floor()),
        Float64Other::v_fract_f64 => b.e1(|x| x - x.floor()),
        Float64Other::v_rndne_f64 => b.e1(|x| x.round_ties_even()),
        // The hardware's results are approximations that compilers refine; the emulator's are the nearest f64.
        Float64Other::v_rcp_f64 => b.e1(|x| E::splat(1.0) / x),
        Float64Other::v_rsq_f64 => b.e1(|x| E::splat(1.0) / x.sqrt()),
        Float64Other::v_sqrt_f64 => b.e1(|x| x.sqrt()),
        Float64Other::v_frexp_mant_f64 => b.e1(|x| fraction_and_exponent(x).0),
        Float64Other::v_frexp_exp_i32_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch64(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = modified(o, 0, w.chunk64(a, c));
                        fraction_and_exponent(x).1.cast()
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
        Float64Other::v_ldexp_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch64(0, &o.src[0]);
                let powers = w.fetch(1, &o.src[1]);
                let powers: [U; C] = chunks(
                    #[inline(always)]
                    |c| w.chunk(powers, c),
                );
                let bits: [D; C] = chunks(
                    #[inline(always)]
                    |c| modified(o, 0, w.chunk64(a, c)).to_bits(),
                );
                let power = |c: usize| powers[c].cast::<i32>().cast::<i64>();
                // Normal numbers stay normal, exactly, and zeros zeros, whatever MODE says.
                let simple: [Mask<i64, 16>; C] = chunks(
                    #[inline(always)]
                    |c| {
                        let before = exponents(bits[c]);
                        is_normal(before) & is_normal(before + power(c))
                    },
                );
                let results = chunks(
                    #[inline(always)]
                    |c| {
                        let scaled = bits[c] + (power(c) << Simd::splat(52)).cast();
                        simple[c].select(scaled, bits[c])
                    },
                );
                let zero = mask64::<C>(
                    #[inline(always)]
                    |c| (bits[c] << D::splat(1)).simd_eq(D::splat(0)),
                );
                let lanes = w.active()
                    & !zero
                    & !mask64::<C>(
                        #[inline(always)]
                        |c| simple[c],
                    );
                if lanes == 0 {
                    w.commit64(o.dst, results);
                } else {
                    let settings = Double::settings(w.mode);
                    lane_by_lane(w, o, 1, lanes, results, |lane, [x, ..]| {
                        let by = powers[lane / 16][lane % 16] as i32;
                        scale::<Double>(x, by, settings)
                    });
                }
                Flow::Next
            },
        ),
        Float64Other::v_trig_preop_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let segments = w.fetch(1, &o.src[1]);
                let segments: [_; C] = chunks(
                    #[inline(always)]
                    |c| w.chunk(segments, c),
                );
                each_lane(w, o, 1, |lane, [x, ..]| {
                    two_over_pi::segment(x, segments[lane / 16][lane % 16]).to_bits()
                });
                Flow::Next
            },
        ),
        Float64Other::v_div_scale_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let sources: [[Fetched; 2]; 3] = array(|i| w.fetch64(i as u16, &o.src[i]));
                let bits = |i: usize, c| modified(o, i, w.chunk64(sources[i], c)).to_bits();
                let moderate = mask64::<C>(
                    #[inline(always)]
                    |c| is_moderate(bits(1, c), bits(2, c)),
                );
                let results: [D; C] = chunks(
                    #[inline(always)]
                    |c| bits(0, c),
                );
                let lanes = w.active() & !moderate;
                let mut flags = 0_u64;
                if lanes == 0 {
                    w.commit64(o.dst, results);
                } else {
                    lane_by_lane(w, o, 3, lanes, results, |lane, [x, y, z]| {
                        let (value, flag) = division::scale::<Double>(x, y, z);
                        flags |= u64::from(flag) << lane;
                        value
                    });
                }
                w.set_lane_mask(o.sdst, flags);
                Flow::Next
            },
        ),
        Float64Other::v_div_fmas_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let vcc = vcc(w);
                let sources: [[Fetched; 2]; 3] = array(|i| w.fetch64(i as u16, &o.src[i]));
                let fused: [E; C] = chunks(
                    #[inline(always)]
                    |c| {
                        let [x, y, z] = array(|i| modified(o, i, w.chunk64(sources[i], c)));
                        x.mul_add(y, z)
                    },
                );
                let usual = w.mode.plain16_64() && !fused.iter().any(|r| r.is_nan().any());
                if usual && vcc & w.active() == 0 {
                    w.commit64(o.dst, fused.mapped(|r| r.to_bits()));
                    return Flow::Next;
                }
                let settings = Double::settings(w.mode);
                each_lane(w, o, 3, |lane, sources| {
                    if vcc >> lane & 1 == 1 {
                        division::fused_scaled::<Double>(sources, settings)
                    } else {
                        evaluate::<Double>(Arithmetic::Fma, sources, settings)
                    }
                });
                Flow::Next
            },
        ),
        Float64Other::v_div_fixup_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let sources: [[Fetched; 2]; 3] = array(|i| w.fetch64(i as u16, &o.src[i]));
                let source = |i: usize, c| modified(o, i, w.chunk64(sources[i], c));
                let bits = |i: usize, c| source(i, c).to_bits();
                let usual = mask64::<C>(
                    #[inline(always)]
                    |c| is_moderate(bits(1, c), bits(2, c)) & !source(0, c).is_nan(),
                );
                let results: [D; C] = chunks(
                    #[inline(always)]
                    |c| {
                        let sign = (bits(1, c) ^ bits(2, c)) & D::splat(SIGN);
                        sign | bits(0, c) & D::splat(!SIGN)
                    },
                );
                let lanes = w.active() & !usual;
                if lanes == 0 {
                    w.commit64(o.dst, results);
                } else {
                    lane_by_lane(w, o, 3, lanes, results, |_, [x, y, z]| {
                        division::fixup::<Double>(x, y, z)
                    });
                }
                Flow::Next
            },
        ),
    }
}
