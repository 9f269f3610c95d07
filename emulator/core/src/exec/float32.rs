//! f32 operations of the vector unit.

use std::{
    ops::{BitOr, Range},
    simd::{StdFloat, prelude::*},
};

use rustc_apfloat::ieee::Single;

use super::{
    Wave,
    array::{Mapped, array},
    float::{Arithmetic, Format, division, evaluate, modify_result},
    lanes::{Binder, chunks, joined, mask_of},
    operation::{Flow, Handler, Operation},
    simd::{F, I, M, U},
    wave::{Fetched, lanes_of},
};
use ferrowave_isa::run::{Float32Arithmetic, Float32Quotient, Float32Unary};

/// Applies source modifiers: `abs` first, then `neg`.
#[inline(always)]
pub(crate) fn modified(o: &Operation, slot: usize, value: U) -> F {
    with_modifiers(o.abs, o.neg, slot, value)
}

#[inline(always)]
fn with_modifiers(abs: u8, neg: u8, slot: usize, value: U) -> F {
    let and = if abs >> slot & 1 == 1 {
        0x7fff_ffff
    } else {
        !0
    };
    let xor = u32::from(neg >> slot & 1) << 31;
    F::from_bits((value & U::splat(and)) ^ U::splat(xor))
}

/// Applies source modifiers to one lane.
pub(crate) fn modified_lane(o: &Operation, slot: usize, bits: u32) -> u32 {
    let bits = if o.abs >> slot & 1 == 1 {
        bits & 0x7fff_ffff
    } else {
        bits
    };
    bits ^ u32::from(o.neg >> slot & 1) << 31
}

/// Quiets NaNs, which not all host operations do.
#[inline(always)]
pub(crate) fn quieted(value: F) -> F {
    let quiet = F::from_bits(value.to_bits() | U::splat(0x40_0000));
    value.is_nan().select(quiet, value)
}

/// Flushes denormals to zeros of their sign, unless they are kept.
#[inline(always)]
pub(crate) fn flushed_unless(kept: bool, value: F) -> F {
    let least = F::splat(if kept { 0.0 } else { f32::MIN_POSITIVE });
    let zero = F::from_bits(value.to_bits() & U::splat(1 << 31));
    value.abs().simd_lt(least).select(zero, value)
}

/// Replaces NaN results by the hardware's: the first NaN source, quieted, or the positive quiet NaN.
#[inline(always)]
pub(crate) fn settled<const N: usize>(result: F, sources: [F; N]) -> F {
    let nan = sources
        .into_iter()
        .rev()
        .fold(F::splat(f32::from_bits(0x7fc0_0000)), |nan, s| {
            s.is_nan().select(quieted(s), nan)
        });
    result.is_nan().select(nan, result)
}

/// The clamp to [0, 1], for results that are not NaN.
#[inline(always)]
pub(crate) fn clamped(clamp: bool, value: F) -> F {
    if clamp {
        // −0 becomes +0, so the sign bit decides.
        value
            .is_sign_negative()
            .select(F::splat(0.0), value.simd_min(F::splat(1.0)))
    } else {
        value
    }
}

impl<const C: usize> Binder<C> {
    /// An arithmetic operation of `N` sources: `f` on the host if MODE allows it and no result is NaN, otherwise
    /// [`evaluate`]. `f` gives NaN for every lane that it cannot compute.
    pub(crate) fn arithmetic32<const N: usize, G>(self, f: G) -> Handler
    where
        G: Fn([F; N]) -> F + Copy + 'static,
    {
        if self.plain {
            return self.bind(
                #[inline(always)]
                move |w, c, o| {
                    let sources = array(|slot| Fetched::vector(o.src[slot].register));
                    if let Some(result) = fast_results(w, false, sources, 0, 0, f) {
                        w.commit(o.dst, result);
                        return Flow::Next;
                    }
                    c.cold_path(
                        w,
                        o,
                        #[inline(always)]
                        move |w, _, o| careful_arithmetic(w, o, f),
                    )
                },
            );
        }
        self.bind(
            #[inline(always)]
            move |w, c, o| {
                let sources = array(|slot| w.fetch(slot as u16, &o.src[slot]));
                if let Some(result) = fast_results(w, o.clamp, sources, o.abs, o.neg, f) {
                    w.commit(o.dst, result);
                    return Flow::Next;
                }
                c.cold_path(
                    w,
                    o,
                    #[inline(always)]
                    move |w, _, o| careful_arithmetic(w, o, f),
                )
            },
        )
    }

    /// An operation of one f32 source that is not rounded by MODE. Denormals are as MODE says: LLVM relies on all of
    /// these operations to flush them (`SITargetLowering::isCanonicalized`).
    pub(crate) fn f1<G: Fn(F) -> F + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let (sources, results) = w.mode.denormals32();
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = flushed_unless(sources, modified(o, 0, w.chunk(a, c)));
                        settled(flushed_unless(results, f(x)), [x]).to_bits()
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// As [`Self::f1`], lane by lane.
    pub(crate) fn f1_scalar<G: Fn(f32) -> f32 + Copy + 'static>(self, f: G) -> Handler {
        self.f1(move |x| F::from_array(x.to_array().mapped(f)))
    }
}

/// The results of fetched sources with their modifiers, if the host's are right in all lanes.
#[inline(always)]
pub(crate) fn fast_results<const N: usize, G: Fn([F; N]) -> F, const C: usize>(
    w: &Wave<C>,
    clamp: bool,
    sources: [Fetched; N],
    abs: u8,
    neg: u8,
    f: G,
) -> Option<[U; C]> {
    let results = host_results(w, sources, abs, neg, f);
    let nan = results.mapped(|r| r.is_nan());
    let none = !joined::<C, _>(|c| nan[c], M::bitor).any();
    (w.mode.plain32() && none).then(|| results.mapped(|r| clamped(clamp, r).to_bits()))
}

/// An arithmetic operation where the host's results are not right in all lanes.
#[inline(always)]
fn careful_arithmetic<const N: usize, G, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    f: G,
) -> Flow
where
    G: Fn([F; N]) -> F,
{
    let sources = array(|slot| w.fetch(slot as u16, &o.src[slot]));
    let result = careful_results(w, o, sources, o.abs, o.neg, f);
    w.commit(o.dst, result);
    Flow::Next
}

#[inline(always)]
fn host_results<const N: usize, G: Fn([F; N]) -> F, const C: usize>(
    w: &Wave<C>,
    sources: [Fetched; N],
    abs: u8,
    neg: u8,
    f: G,
) -> [F; C] {
    if abs | neg == 0 {
        return chunks(
            #[inline(always)]
            |c| f(sources.mapped(|source| F::from_bits(w.chunk(source, c)))),
        );
    }
    chunks(
        #[inline(always)]
        |c| {
            let mut values = [F::splat(0.0); N];
            for (slot, value) in values.iter_mut().enumerate() {
                *value = with_modifiers(abs, neg, slot, w.chunk(sources[slot], c));
            }
            f(values)
        },
    )
}

/// The results if MODE differs from the host, or some results are NaN.
#[inline(always)]
pub(crate) fn careful_results<const N: usize, G: Fn([F; N]) -> F, const C: usize>(
    w: &Wave<C>,
    o: &Operation,
    sources: [Fetched; N],
    abs: u8,
    neg: u8,
    f: G,
) -> [U; C] {
    let results = host_results(w, sources, abs, neg, f);
    let lanes = match w.mode.plain32() {
        true => mask_of::<C>(
            #[inline(always)]
            |c| results[c].is_nan(),
        ),
        false => w.all_lanes(),
    };
    let bits = results.mapped(|r| clamped(o.clamp, r).to_bits());
    let mut all = [Fetched::default(); 3];
    all[..N].copy_from_slice(&sources);
    slow_results(w, o, all, abs, neg, lanes & w.active(), bits)
}

/// Replaces the results of some lanes by those of the slow path.
#[cold]
#[inline(never)]
fn slow_results<const C: usize>(
    w: &Wave<C>,
    o: &Operation,
    sources: [Fetched; 3],
    abs: u8,
    neg: u8,
    lanes: u64,
    results: [U; C],
) -> [U; C] {
    let settings = Single::settings(w.mode);
    let what = Arithmetic::from_detail(o.detail);
    let mut results = super::wave::Lanes::of(results);
    for lane in (0..16 * C).filter(|lane| lanes >> lane & 1 == 1) {
        let mut bits = [0; 3];
        for (slot, source) in sources.into_iter().enumerate() {
            let value = with_modifiers(abs, neg, slot, w.chunk(source, lane / 16));
            bits[slot] = u64::from(value.to_bits()[lane % 16]);
        }
        let value = evaluate::<Single>(what, bits, settings);
        let value = modify_result::<Single>(value, 0, o.clamp, settings);
        results.as_mut_array()[lane] = value as u32;
    }
    *results.chunks()
}

/// Flushes a denormal to a zero of its sign, as the transcendental unit does.
pub(crate) fn flush(x: f32) -> f32 {
    if x.is_subnormal() {
        0_f32.copysign(x)
    } else {
        x
    }
}

/// NaN where `any` source is NaN, so that the slow path decides.
#[inline(always)]
pub(crate) fn nan_if(any: Mask<i32, 16>, value: F) -> F {
    any.select(F::splat(f32::NAN), value)
}

#[inline(always)]
fn min2(a: F, b: F) -> F {
    // Equal values differ at most in the sign of a zero; −0 is smaller.
    let equal = F::from_bits(a.to_bits() | b.to_bits());
    a.simd_eq(b).select(equal, a.simd_lt(b).select(a, b))
}

#[inline(always)]
fn max2(a: F, b: F) -> F {
    let equal = F::from_bits(a.to_bits() & b.to_bits());
    a.simd_eq(b).select(equal, a.simd_gt(b).select(a, b))
}

/// The median: the larger of the two values that are left without the largest. Zeros of either sign equal the largest,
/// as in AMD's pseudocode.
#[inline(always)]
pub(crate) fn med3(x: F, y: F, z: F) -> F {
    let largest = max2(max2(x, y), z);
    let without_y = y.simd_eq(largest).select(max2(x, z), max2(x, y));
    x.simd_eq(largest).select(max2(y, z), without_y)
}

/// A multiply-add that rounds twice; always uses the slow path.
fn two_roundings<const C: usize>(b: Binder<C>) -> Handler {
    b.bind(
        #[inline(always)]
        |w, _, o| {
            let sources = [0, 1, 2].mapped(|slot| w.fetch(slot, &o.src[usize::from(slot)]));
            let none = [U::splat(0); C];
            let result = slow_results(w, o, sources, o.abs, o.neg, w.active(), none);
            w.commit(o.dst, result);
            Flow::Next
        },
    )
}

pub(super) fn arithmetic<const C: usize>(
    b: Binder<C>,
    op: Float32Arithmetic,
) -> (Handler, Arithmetic) {
    use Arithmetic::*;
    match op {
        Float32Arithmetic::v_add_f32 => (b.arithmetic32(|[x, y]| x + y), Add),
        Float32Arithmetic::v_sub_f32 => (b.arithmetic32(|[x, y]| x - y), Sub),
        Float32Arithmetic::v_subrev_f32 => (b.arithmetic32(|[x, y]| y - x), SubReverse),
        Float32Arithmetic::v_mul_f32 => (b.arithmetic32(|[x, y]| x * y), Mul),
        Float32Arithmetic::v_mul_legacy_f32 => (
            b.arithmetic32(|[x, y]| {
                let zero = x.simd_eq(F::splat(0.0)) | y.simd_eq(F::splat(0.0));
                zero.select(F::splat(0.0), x * y)
            }),
            MulLegacy,
        ),
        Float32Arithmetic::v_fma_f32
        | Float32Arithmetic::v_fmac_f32
        | Float32Arithmetic::v_fmamk_f32
        | Float32Arithmetic::v_fmaak_f32 => (b.arithmetic32(|[x, y, z]| x.mul_add(y, z)), Fma),
        Float32Arithmetic::v_mullit_f32 => (
            b.arithmetic32(|[x, y, z]| {
                let zero = x.simd_eq(F::splat(0.0)) | y.simd_eq(F::splat(0.0));
                let lit = y.simd_gt(F::splat(f32::MIN)) & z.simd_gt(F::splat(0.0));
                nan_if(!lit, zero.select(F::splat(0.0), x * y))
            }),
            MulLit,
        ),
        Float32Arithmetic::v_mad_legacy_f32 => (two_roundings(b), MadLegacy),
        Float32Arithmetic::v_mad_f32
        | Float32Arithmetic::v_mac_f32
        | Float32Arithmetic::v_madmk_f32
        | Float32Arithmetic::v_madak_f32 => (two_roundings(b), Mad),
        Float32Arithmetic::v_minimum_f32 => (
            b.arithmetic32(|[x, y]| nan_if(x.is_nan() | y.is_nan(), min2(x, y))),
            Minimum,
        ),
        Float32Arithmetic::v_maximum_f32 => (
            b.arithmetic32(|[x, y]| nan_if(x.is_nan() | y.is_nan(), max2(x, y))),
            Maximum,
        ),
        Float32Arithmetic::v_minimummaximum_f32 => (
            b.arithmetic32(|[x, y, z]| {
                nan_if(x.is_nan() | y.is_nan() | z.is_nan(), max2(min2(x, y), z))
            }),
            MinimumMaximum,
        ),
        Float32Arithmetic::v_maximumminimum_f32 => (
            b.arithmetic32(|[x, y, z]| {
                nan_if(x.is_nan() | y.is_nan() | z.is_nan(), min2(max2(x, y), z))
            }),
            MaximumMinimum,
        ),
        Float32Arithmetic::v_minimum3_f32 => (
            b.arithmetic32(|[x, y, z]| {
                nan_if(x.is_nan() | y.is_nan() | z.is_nan(), min2(min2(x, y), z))
            }),
            Minimum3,
        ),
        Float32Arithmetic::v_maximum3_f32 => (
            b.arithmetic32(|[x, y, z]| {
                nan_if(x.is_nan() | y.is_nan() | z.is_nan(), max2(max2(x, y), z))
            }),
            Maximum3,
        ),
        Float32Arithmetic::v_min_f32 => (
            b.arithmetic32(|[x, y]| nan_if(x.is_nan() | y.is_nan(), min2(x, y))),
            Min,
        ),
        Float32Arithmetic::v_max_f32 => (
            b.arithmetic32(|[x, y]| nan_if(x.is_nan() | y.is_nan(), max2(x, y))),
            Max,
        ),
        Float32Arithmetic::v_min3_f32 => (
            b.arithmetic32(|[x, y, z]| {
                nan_if(x.is_nan() | y.is_nan() | z.is_nan(), min2(min2(x, y), z))
            }),
            Min3,
        ),
        Float32Arithmetic::v_max3_f32 => (
            b.arithmetic32(|[x, y, z]| {
                nan_if(x.is_nan() | y.is_nan() | z.is_nan(), max2(max2(x, y), z))
            }),
            Max3,
        ),
        Float32Arithmetic::v_minmax_f32 => (
            b.arithmetic32(|[x, y, z]| {
                nan_if(x.is_nan() | y.is_nan() | z.is_nan(), max2(min2(x, y), z))
            }),
            MinMax,
        ),
        Float32Arithmetic::v_maxmin_f32 => (
            b.arithmetic32(|[x, y, z]| {
                nan_if(x.is_nan() | y.is_nan() | z.is_nan(), min2(max2(x, y), z))
            }),
            MaxMin,
        ),
        Float32Arithmetic::v_fma_dx9_zero_f32 | Float32Arithmetic::v_fmac_dx9_zero_f32 => (
            b.arithmetic32(|[x, y, z]| {
                let zero = x.simd_eq(F::splat(0.0)) | y.simd_eq(F::splat(0.0));
                zero.select(z, x.mul_add(y, z))
            }),
            FmaLegacy,
        ),
        Float32Arithmetic::v_med3_f32 => (
            b.arithmetic32(|[x, y, z]| nan_if(x.is_nan() | y.is_nan() | z.is_nan(), med3(x, y, z))),
            Med3,
        ),
    }
}

pub(super) fn unary<const C: usize>(b: Binder<C>, op: Float32Unary) -> Handler {
    match op {
        Float32Unary::v_fract_f32 => b.f1(|x| x - x.floor()),
        Float32Unary::v_trunc_f32 => b.f1(|x| x.trunc()),
        Float32Unary::v_ceil_f32 => b.f1(|x| x.ceil()),
        Float32Unary::v_floor_f32 => b.f1(|x| x.floor()),
        Float32Unary::v_rndne_f32 => b.f1_scalar(f32::round_ties_even),
        // The transcendental unit is accurate to about 1 ulp; the emulator gives the nearest f32.
        Float32Unary::v_exp_f32 | Float32Unary::v_exp_legacy_f32 => {
            b.f1_scalar(|x| flush(f64::from(flush(x)).exp2() as f32))
        }
        Float32Unary::v_log_f32 | Float32Unary::v_log_legacy_f32 => {
            b.f1_scalar(|x| f64::from(flush(x)).log2() as f32)
        }
        Float32Unary::v_rcp_f32 | Float32Unary::v_rcp_iflag_f32 => {
            b.f1_scalar(|x| flush(1.0 / flush(x)))
        }
        Float32Unary::v_rsq_f32 => b.f1_scalar(|x| (1.0 / f64::from(flush(x)).sqrt()) as f32),
        Float32Unary::v_sqrt_f32 => b.f1_scalar(|x| flush(x).sqrt()),
        Float32Unary::v_sin_f32 => b.f1_scalar(|x| turn(x, f64::sin)),
        Float32Unary::v_cos_f32 => b.f1_scalar(|x| turn(x, f64::cos)),
        Float32Unary::v_frexp_mant_f32 => b.f1(|x| fraction_and_exponent(x).0),
        Float32Unary::v_frexp_exp_i32_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = modified(o, 0, w.chunk(a, c));
                        fraction_and_exponent(x).1.cast()
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
        Float32Unary::v_ldexp_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, e) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let bits: [U; C] = chunks(
                    #[inline(always)]
                    |c| modified(o, 0, w.chunk(a, c)).to_bits(),
                );
                let power: [I; C] = chunks(
                    #[inline(always)]
                    |c| w.chunk(e, c).cast(),
                );
                // Normal numbers stay normal, exactly, and zeros zeros, whatever MODE says.
                let simple: [M; C] = chunks(
                    #[inline(always)]
                    |c| {
                        let before = exponents(bits[c]);
                        is_normal(before) & is_normal(before.saturating_add(power[c]))
                    },
                );
                let results: [U; C] = chunks(
                    #[inline(always)]
                    |c| {
                        let scaled = bits[c] + (power[c] << I::splat(23)).cast();
                        simple[c].select(scaled, bits[c])
                    },
                );
                let zero = mask_of::<C>(
                    #[inline(always)]
                    |c| (bits[c] << U::splat(1)).simd_eq(U::splat(0)),
                );
                let lanes = w.active()
                    & !zero
                    & !mask_of::<C>(
                        #[inline(always)]
                        |c| simple[c],
                    );
                if lanes == 0 {
                    w.commit(o.dst, results);
                } else {
                    let settings = Single::settings(w.mode);
                    lane_by_lane(w, o, 1, lanes, results, |lane, [x, ..]| {
                        let by = power[lane / 16][lane % 16];
                        super::float::scale::<Single>(u64::from(x), by, settings) as u32
                    });
                }
                Flow::Next
            },
        ),
    }
}

/// The exponent fields.
#[inline(always)]
fn exponents(bits: U) -> I {
    (bits >> U::splat(23) & U::splat(0xff)).cast()
}

/// Whether an exponent field is a normal number's.
#[inline(always)]
fn is_normal(exponents: I) -> M {
    exponents.simd_gt(I::splat(0)) & exponents.simd_lt(I::splat(0xff))
}

/// Where a division has nothing to scale and nothing to correct but the quotient's sign.
#[inline(always)]
fn is_moderate(denominator: U, numerator: U) -> M {
    let (low, high) = (exponents(denominator), exponents(numerator));
    let [denominators, numerators, differences] = division::moderate::<Single>();
    let within = |value: I, range: Range<i64>| {
        value.simd_ge(I::splat(range.start as i32)) & value.simd_lt(I::splat(range.end as i32))
    };
    within(low, denominators) & within(high, numerators) & within(high - low, differences)
}

/// A fraction in [0.5, 1) with the sign, and the power of two that gives the number if it multiplies it; for 0, ∞ and
/// NaN the number itself, and 0.
#[inline(always)]
fn fraction_and_exponent(x: F) -> (F, I) {
    let denormal = exponents(x.to_bits()).simd_eq(I::splat(0));
    let bits = denormal
        .select(x * F::splat(f32::from_bits((0x7f + 25) << 23)), x)
        .to_bits();
    let normal = is_normal(exponents(bits));
    let fraction = F::from_bits(bits & U::splat(!(0xff << 23)) | U::splat(0x7e << 23));
    let scaled = denormal.select(I::splat(0x7e + 25), I::splat(0x7e));
    (
        normal.select(fraction, x),
        normal.select(exponents(bits) - scaled, I::splat(0)),
    )
}

/// Sine or cosine of a number of turns. The hardware's range is ±256 turns; beyond it the result is the value at 0.
fn turn(x: f32, f: fn(f64) -> f64) -> f32 {
    if !x.is_finite() {
        return f32::NAN;
    }
    if x.abs() > 256.0 {
        return f(0.0) as f32;
    }
    f(f64::from(flush(x)).fract() * std::f64::consts::TAU) as f32
}

pub(super) fn quotient<const C: usize>(b: Binder<C>, op: Float32Quotient) -> Handler {
    match op {
        Float32Quotient::v_div_scale_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                scale_lanes(w, o);
                Flow::Next
            },
        ),
        Float32Quotient::v_div_fmas_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let sources = array(|slot| w.fetch(slot as u16, &o.src[slot]));
                let fused = |[x, y, z]: [F; 3]| x.mul_add(y, z);
                let scaled = super::lanes::vcc(w) & w.active();
                match fast_results(w, false, sources, o.abs, o.neg, fused) {
                    Some(result) if scaled == 0 => w.commit(o.dst, result),
                    _ => fmas_lanes(w, o),
                }
                Flow::Next
            },
        ),
        Float32Quotient::v_div_fixup_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                fixup_lanes(w, o);
                Flow::Next
            },
        ),
    }
}

/// Writes the results, those of `lanes` computed one by one from `count` modified sources.
#[inline(never)]
fn lane_by_lane<const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    count: usize,
    lanes: u64,
    results: [U; C],
    mut f: impl FnMut(usize, [u32; 3]) -> u32,
) {
    let sources: [Fetched; 3] = array(|i| w.fetch(i as u16, &o.src[i]));
    let mut results = super::wave::Lanes::of(results);
    for lane in lanes_of(lanes) {
        let mut values = [0; 3];
        for (i, value) in values.iter_mut().enumerate().take(count) {
            *value = modified_lane(o, i, w.chunk(sources[i], lane / 16)[lane % 16]);
        }
        results.as_mut_array()[lane] = f(lane, values);
    }
    w.commit(o.dst, *results.chunks());
}

#[inline(always)]
fn scale_lanes<const C: usize>(w: &mut Wave<C>, o: &Operation) {
    let sources: [Fetched; 3] = array(|i| w.fetch(i as u16, &o.src[i]));
    let bits = |i: usize, c| modified(o, i, w.chunk(sources[i], c)).to_bits();
    let moderate = mask_of::<C>(
        #[inline(always)]
        |c| is_moderate(bits(1, c), bits(2, c)),
    );
    let results: [U; C] = chunks(
        #[inline(always)]
        |c| bits(0, c),
    );
    let lanes = w.active() & !moderate;
    let mut scaled = 0_u64;
    if lanes == 0 {
        w.commit(o.dst, results);
    } else {
        lane_by_lane(w, o, 3, lanes, results, |lane, sources| {
            let [a, b, c] = sources.mapped(u64::from);
            let (value, flag) = division::scale::<Single>(a, b, c);
            scaled |= u64::from(flag) << lane;
            value as u32
        });
    }
    w.set_lane_mask(o.sdst, scaled);
}

fn fmas_lanes<const C: usize>(w: &mut Wave<C>, o: &Operation) {
    let vcc = super::lanes::vcc(w);
    let settings = Single::settings(w.mode);
    let none = [U::splat(0); C];
    lane_by_lane(w, o, 3, w.active(), none, |lane, sources| {
        let sources = sources.mapped(u64::from);
        let sum = if vcc >> lane & 1 == 1 {
            division::fused_scaled::<Single>(sources, settings)
        } else {
            evaluate::<Single>(Arithmetic::Fma, sources, settings)
        };
        sum as u32
    });
}

#[inline(always)]
fn fixup_lanes<const C: usize>(w: &mut Wave<C>, o: &Operation) {
    let sources: [Fetched; 3] = array(|i| w.fetch(i as u16, &o.src[i]));
    let source = |i: usize, c| modified(o, i, w.chunk(sources[i], c));
    let bits = |i: usize, c| source(i, c).to_bits();
    let usual = mask_of::<C>(
        #[inline(always)]
        |c| is_moderate(bits(1, c), bits(2, c)) & !source(0, c).is_nan(),
    );
    let results: [U; C] = chunks(
        #[inline(always)]
        |c| {
            let sign = (bits(1, c) ^ bits(2, c)) & U::splat(1 << 31);
            sign | bits(0, c) & U::splat(0x7fff_ffff)
        },
    );
    let lanes = w.active() & !usual;
    if lanes == 0 {
        w.commit(o.dst, results);
    } else {
        lane_by_lane(w, o, 3, lanes, results, |_, sources| {
            let [a, b, c] = sources.mapped(u64::from);
            division::fixup::<Single>(a, b, c) as u32
        });
    }
}
