//! f64 operations of the vector unit.

use std::simd::{StdFloat, prelude::*};

use rustc_apfloat::ieee::Double;

use super::{
    Wave,
    array::{Mapped, array},
    float::{Arithmetic, Format, division, evaluate, scale},
    lanes::{Binder, chunks, vcc},
    operation::{Flow, Handler, Operation},
    simd::{D, E},
    two_over_pi,
    wave::Fetched,
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
                let result: [E; C] =
                    chunks(|c| f(array(|i| modified(o, i, w.chunk64(sources[i], c)))));
                let unusual = !w.mode.plain16_64() || result.iter().any(|r| r.is_nan().any());
                if unusual {
                    let settings = Double::settings(w.mode);
                    let what = Arithmetic::from_detail(o.detail);
                    each_lane(w, o, N, |_, s| evaluate::<Double>(what, s, settings));
                } else {
                    w.commit64(o.dst, result.mapped(|r| r.to_bits()));
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
                let result = chunks(|c| {
                    let x = modified(o, 0, w.chunk64(a, c));
                    settled(f(x), x).to_bits()
                });
                w.commit64(o.dst, result);
                Flow::Next
            },
        )
    }

    fn e1_scalar<G: Fn(f64) -> f64 + Copy + 'static>(self, f: G) -> Handler {
        self.e1(move |x| E::from_array(x.to_array().mapped(f)))
    }
}

/// One result per lane from `count` modified sources.
fn each_lane<const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    count: usize,
    mut f: impl FnMut(usize, [u64; 3]) -> u64,
) {
    let sources: [[Fetched; 2]; 3] = array(|i| w.fetch64(i as u16, &o.src[i]));
    let mut result = [D::splat(0); C];
    for lane in 0..16 * C {
        let mut values = [0; 3];
        for i in 0..count {
            values[i] = modified(o, i, w.chunk64(sources[i], lane / 16)).to_bits()[lane % 16];
        }
        result[lane / 16][lane % 16] = f(lane, values);
    }
    w.commit64(o.dst, result);
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
        Float64Other::v_rndne_f64 => b.e1_scalar(f64::round_ties_even),
        // The hardware's results are approximations that compilers refine; the emulator's are the nearest f64.
        Float64Other::v_rcp_f64 => b.e1_scalar(|x| 1.0 / x),
        Float64Other::v_rsq_f64 => b.e1_scalar(|x| 1.0 / x.sqrt()),
        Float64Other::v_sqrt_f64 => b.e1(|x| x.sqrt()),
        Float64Other::v_frexp_mant_f64 => b.e1_scalar(|x| {
            if x == 0.0 || !x.is_finite() {
                x
            } else {
                libm::frexp(x).0
            }
        }),
        Float64Other::v_frexp_exp_i32_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch64(0, &o.src[0]);
                let result = chunks(|c| {
                    let x = modified(o, 0, w.chunk64(a, c)).to_array();
                    Simd::from_array(x.mapped(|x| {
                        if x == 0.0 || !x.is_finite() {
                            0
                        } else {
                            libm::frexp(x).1 as u32
                        }
                    }))
                });
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
        Float64Other::v_ldexp_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let settings = Double::settings(w.mode);
                let exponents = w.fetch(1, &o.src[1]);
                let exponents: [_; C] = chunks(|c| w.chunk(exponents, c));
                each_lane(w, o, 1, |lane, [x, ..]| {
                    let by = exponents[lane / 16][lane % 16] as i32;
                    scale::<Double>(x, by, settings)
                });
                Flow::Next
            },
        ),
        Float64Other::v_trig_preop_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let segments = w.fetch(1, &o.src[1]);
                let segments: [_; C] = chunks(|c| w.chunk(segments, c));
                each_lane(w, o, 1, |lane, [x, ..]| {
                    two_over_pi::segment(x, segments[lane / 16][lane % 16]).to_bits()
                });
                Flow::Next
            },
        ),
        Float64Other::v_div_scale_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let mut flags = 0_u64;
                each_lane(w, o, 3, |lane, [x, y, z]| {
                    let (value, flag) = division::scale::<Double>(x, y, z);
                    flags |= u64::from(flag) << lane;
                    value
                });
                w.set_lane_mask(o.sdst, flags & w.active());
                Flow::Next
            },
        ),
        Float64Other::v_div_fmas_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let vcc = vcc(w);
                let sources: [[Fetched; 2]; 3] = array(|i| w.fetch64(i as u16, &o.src[i]));
                let fused: [E; C] = chunks(|c| {
                    let [x, y, z] = array(|i| modified(o, i, w.chunk64(sources[i], c)));
                    x.mul_add(y, z)
                });
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
                each_lane(w, o, 3, |_, [x, y, z]| division::fixup::<Double>(x, y, z));
                Flow::Next
            },
        ),
    }
}
