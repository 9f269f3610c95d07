//! 16-bit operations of the vector unit: f16 and integers.
//!
//! On these GPUs most of them write zeros to the register's high half; those that came with gfx9 preserve it
//! (`Instruction::keeps`). In the long encodings, `op_sel` selects halves.

use std::simd::{StdFloat, prelude::*};

use rustc_apfloat::ieee::Half;

use super::{
    Wave,
    array::{Mapped, array},
    float::{Arithmetic, Format, division, evaluate, scale},
    float32::{self, quieted},
    lanes::{Binder, chunks, sext16},
    operation::{Flow, Handler, Operation},
    simd::{E, F, I, M, U},
    wave::{Fetched, Lanes, Mode},
};
use ferrowave_isa::run::{HalfArithmetic, HalfIntegers, HalfUnary};

/// Sixteen f16 lanes.
type H = Simd<f16, 16>;

/// f16 in the low halves, as f32.
#[inline(always)]
pub(crate) fn to_f32(bits: U) -> F {
    // SAFETY: both are sixteen 16-bit lanes, and every bit pattern is valid.
    let half: H = unsafe { std::mem::transmute(bits.cast::<u16>()) };
    half.cast::<f32>()
}

/// To f16 in the low halves, rounded to nearest even.
#[inline(always)]
pub(crate) fn from_f32(value: F) -> U {
    let half = value.cast::<f16>();
    // SAFETY: as in `to_f32`.
    let bits: Simd<u16, 16> = unsafe { std::mem::transmute(half) };
    bits.cast::<u32>()
}

/// As [`from_f32`]. Hosts convert f64 to f16 by a function call for each lane, but f32 at once: so it becomes f32 first, whose
/// last bit tells whether lower ones were not 0. Rounding it to f16 rounds the f64.
#[inline(always)]
fn from_f64(value: E) -> U {
    let bits = value.to_bits();
    let below = Simd::splat((1_u64 << 29) - 1);
    let inexact = (bits & below).simd_ne(Simd::splat(0));
    let kept = bits & !below;
    let odd = inexact.select(kept | Simd::splat(1 << 29), kept);
    from_f32(E::from_bits(odd).cast::<f32>())
}

/// As [`float32::settled`], for f16 bits and one source.
#[inline(always)]
fn settled(result: U, source: F) -> U {
    let nan = source
        .is_nan()
        .select(from_f32(quieted(source)), U::splat(0x7e00));
    let is_nan = (result & U::splat(0x7fff)).simd_gt(U::splat(0x7c00));
    is_nan.select(nan, result)
}

/// f16 results: an ∞ that comes from no source becomes the largest number, if MODE says so.
#[inline(always)]
pub(crate) fn saturated(mode: Mode, bits: U, infinite_source: M) -> U {
    if !mode.saturates_overflow() {
        return bits;
    }
    let infinite = (bits & U::splat(0x7fff)).simd_eq(U::splat(0x7c00));
    (infinite & !infinite_source).select(bits - U::splat(1), bits)
}

/// The bits of a 16-bit source: the half that `op_sel` selects, then `abs`, then `neg`.
#[inline(always)]
pub(crate) fn source_bits(o: &Operation, slot: usize, value: U) -> U {
    let shifted = if o.op_sel >> slot & 1 == 1 {
        value >> U::splat(16)
    } else {
        value
    };
    let and = if o.abs >> slot & 1 == 1 {
        0x7fff
    } else {
        0xffff
    };
    let xor = u32::from(o.neg >> slot & 1) << 15;
    (shifted & U::splat(and)) ^ U::splat(xor)
}

/// A 16-bit source as f32; denormals as MODE says.
#[inline(always)]
pub(crate) fn source<const C: usize>(w: &Wave<C>, o: &Operation, slot: usize, value: U) -> F {
    let bits = source_bits(o, slot, value);
    if w.mode.denormals16_64().0 {
        to_f32(bits)
    } else {
        let denormal = (bits & U::splat(0x7c00)).simd_eq(U::splat(0));
        to_f32(denormal.select(bits & U::splat(0x8000), bits))
    }
}

/// Writes 16-bit results to the half that `op_sel` selects.
#[inline(always)]
pub(crate) fn commit16<const C: usize>(w: &mut Wave<C>, o: &Operation, result: [U; C]) {
    let low = U::splat(0xffff);
    let old = *w.lanes(o.dst).chunks::<C>();
    let merged = chunks(
        #[inline(always)]
        |c| {
            if o.op_sel & 8 != 0 {
                (old[c] & low) | result[c] << U::splat(16)
            } else if o.control[0] != 0 {
                (old[c] & !low) | (result[c] & low)
            } else {
                result[c] & low
            }
        },
    );
    w.commit(o.dst, merged);
}

impl<const C: usize> Binder<C> {
    /// As [`Binder::arithmetic32`] for f16: `f` computes in f32, whose 24 bits make the second rounding harmless for
    /// sums and products of f16.
    fn arithmetic16<const N: usize, G>(self, f: G) -> Handler
    where
        G: Fn([F; N]) -> F + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let s: [Fetched; N] = array(|i| w.fetch(i as u16, &o.src[i]));
                let result: [F; C] = chunks(
                    #[inline(always)]
                    |c| f(array(|i| source(w, o, i, w.chunk(s[i], c)))),
                );
                if !w.mode.plain16() || result.iter().any(|r| r.is_nan().any()) {
                    evaluate_lanes(w, o, &s);
                } else {
                    commit16(w, o, result.mapped(from_f32));
                }
                Flow::Next
            },
        )
    }

    /// An operation of one f16 source that is not rounded by MODE, computed in f32.
    fn h1<G: Fn(F) -> F + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = source(w, o, 0, w.chunk(a, c));
                        from_f32(float32::settled(f(x), [x]))
                    },
                );
                commit16(w, o, result);
                Flow::Next
            },
        )
    }

    fn h1_scalar<G: Fn(f32) -> f64 + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = source(w, o, 0, w.chunk(a, c));
                        let result = settled(from_f64(E::from_array(x.to_array().mapped(f))), x);
                        saturated(w.mode, result, x.is_infinite())
                    },
                );
                commit16(w, o, result);
                Flow::Next
            },
        )
    }

    /// A 16-bit integer operation of `N` sources; `f` gets them zero-extended.
    fn integer16<const N: usize, G>(self, f: G) -> Handler
    where
        G: Fn([U; N], bool) -> U + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let s: [Fetched; N] = array(|i| w.fetch(i as u16, &o.src[i]));
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let sources =
                            array(|i| source_bits(o, i, w.chunk(s[i], c)) & U::splat(0xffff));
                        f(sources, o.clamp)
                    },
                );
                commit16(w, o, result);
                Flow::Next
            },
        )
    }
}

#[cold]
fn evaluate_lanes<const N: usize, const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    sources: &[Fetched; N],
) {
    let settings = Half::settings(w.mode);
    let what = Arithmetic::from_detail(o.detail);
    let mut result = Lanes::splat(0);
    for lane in 0..16 * C {
        let mut bits = [0; 3];
        for (i, fetched) in sources.iter().enumerate() {
            let value = source_bits(o, i, w.chunk(*fetched, lane / 16));
            bits[i] = u64::from(value[lane % 16]);
        }
        result.as_mut_array()[lane] = evaluate::<Half>(what, bits, settings) as u32;
    }
    commit16(w, o, *result.chunks());
}

/// `x·y + z` of f16 values, rounded once.
///
/// The product is exact in f64. If the sum is not, its last bit is made odd, so that rounding it to f16 rounds the
/// exact sum.
#[inline(always)]
pub(crate) fn fma(x: F, y: F, z: F) -> U {
    let (p, z) = (x.cast::<f64>() * y.cast::<f64>(), z.cast::<f64>());
    let sum = p + z;
    let from_z = sum - p;
    let error = (p - (sum - from_z)) + (z - from_z);
    let bits = sum.to_bits();
    let inexact = error.simd_ne(E::splat(0.0)) & error.is_finite() & sum.is_finite();
    let even = (bits & Simd::splat(1)).simd_eq(Simd::splat(0));
    let away = error
        .is_sign_negative()
        .to_simd()
        .simd_eq(sum.is_sign_negative().to_simd());
    let odd = away.select(bits + Simd::splat(1), bits - Simd::splat(1));
    from_f64(E::from_bits((inexact & even).select(odd, bits)))
}

#[inline(always)]
pub(crate) fn min2(a: F, b: F) -> F {
    let equal = F::from_bits(a.to_bits() | b.to_bits());
    let number = a.simd_eq(b).select(equal, a.simd_lt(b).select(a, b));
    (a.is_nan() | b.is_nan()).select(F::splat(f32::NAN), number)
}

#[inline(always)]
pub(crate) fn max2(a: F, b: F) -> F {
    let equal = F::from_bits(a.to_bits() & b.to_bits());
    let number = a.simd_eq(b).select(equal, a.simd_gt(b).select(a, b));
    (a.is_nan() | b.is_nan()).select(F::splat(f32::NAN), number)
}

pub(super) fn arithmetic<const C: usize>(
    b: Binder<C>,
    op: HalfArithmetic,
) -> (Handler, Arithmetic) {
    use Arithmetic::*;
    match op {
        HalfArithmetic::v_add_f16 => (b.arithmetic16(|[x, y]| x + y), Add),
        HalfArithmetic::v_sub_f16 => (b.arithmetic16(|[x, y]| x - y), Sub),
        HalfArithmetic::v_subrev_f16 => (b.arithmetic16(|[x, y]| y - x), SubReverse),
        HalfArithmetic::v_mul_f16 => (b.arithmetic16(|[x, y]| x * y), Mul),
        HalfArithmetic::v_min_f16 => (b.arithmetic16(|[x, y]| min2(x, y)), Min),
        HalfArithmetic::v_max_f16 => (b.arithmetic16(|[x, y]| max2(x, y)), Max),
        HalfArithmetic::v_min3_f16 => (b.arithmetic16(|[x, y, z]| min2(min2(x, y), z)), Min3),
        HalfArithmetic::v_max3_f16 => (b.arithmetic16(|[x, y, z]| max2(max2(x, y), z)), Max3),
        HalfArithmetic::v_minimum_f16 => (b.arithmetic16(|[x, y]| min2(x, y)), Minimum),
        HalfArithmetic::v_maximum_f16 => (b.arithmetic16(|[x, y]| max2(x, y)), Maximum),
        HalfArithmetic::v_minimum3_f16 => {
            (b.arithmetic16(|[x, y, z]| min2(min2(x, y), z)), Minimum3)
        }
        HalfArithmetic::v_maximum3_f16 => {
            (b.arithmetic16(|[x, y, z]| max2(max2(x, y), z)), Maximum3)
        }
        HalfArithmetic::v_minimummaximum_f16 => (
            b.arithmetic16(|[x, y, z]| max2(min2(x, y), z)),
            MinimumMaximum,
        ),
        HalfArithmetic::v_maximumminimum_f16 => (
            b.arithmetic16(|[x, y, z]| min2(max2(x, y), z)),
            MaximumMinimum,
        ),
        HalfArithmetic::v_minmax_f16 => (b.arithmetic16(|[x, y, z]| max2(min2(x, y), z)), MinMax),
        HalfArithmetic::v_maxmin_f16 => (b.arithmetic16(|[x, y, z]| min2(max2(x, y), z)), MaxMin),
        HalfArithmetic::v_med3_f16 => (
            b.arithmetic16(|[x, y, z]| {
                let nan = x.is_nan() | y.is_nan() | z.is_nan();
                float32::nan_if(nan, float32::med3(x, y, z))
            }),
            Med3,
        ),
        HalfArithmetic::v_fma_f16 | HalfArithmetic::v_fma_legacy_f16 => (
            b.bind(
                #[inline(always)]
                |w, _, o| {
                    let s: [Fetched; 3] = array(|i| w.fetch(i as u16, &o.src[i]));
                    let sources: [[F; 3]; C] = chunks(
                        #[inline(always)]
                        |c| array(|i| source(w, o, i, w.chunk(s[i], c))),
                    );
                    let result = sources.mapped(|[x, y, z]| fma(x, y, z));
                    let nan = result
                        .iter()
                        .any(|r| (r & U::splat(0x7fff)).simd_gt(U::splat(0x7c00)).any());
                    if nan || !w.mode.plain16() {
                        evaluate_lanes(w, o, &s);
                    } else {
                        commit16(w, o, result);
                    }
                    Flow::Next
                },
            ),
            Fma,
        ),
        // Two roundings: the product's and the sum's.
        HalfArithmetic::v_mad_f16
        | HalfArithmetic::v_mad_legacy_f16
        | HalfArithmetic::v_mac_f16
        | HalfArithmetic::v_madmk_f16
        | HalfArithmetic::v_madak_f16 => (
            b.bind(
                #[inline(always)]
                |w, _, o| {
                    let s: [Fetched; 3] = array(|i| w.fetch(i as u16, &o.src[i]));
                    evaluate_lanes(w, o, &s);
                    Flow::Next
                },
            ),
            Mad,
        ),
    }
}

pub(super) fn unary<const C: usize>(b: Binder<C>, op: HalfUnary) -> Handler {
    match op {
        HalfUnary::v_floor_f16 => b.h1(|x| x.floor()),
        HalfUnary::v_ceil_f16 => b.h1(|x| x.ceil()),
        HalfUnary::v_trunc_f16 => b.h1(|x| x.trunc()),
        HalfUnary::v_fract_f16 => b.h1(|x| x - x.floor()),
        HalfUnary::v_rndne_f16 => b.h1_scalar(|x| f64::from(x.round_ties_even())),
        HalfUnary::v_rcp_f16 => b.h1_scalar(|x| 1.0 / f64::from(x)),
        HalfUnary::v_sqrt_f16 => b.h1_scalar(|x| f64::from(x).sqrt()),
        HalfUnary::v_rsq_f16 => b.h1_scalar(|x| 1.0 / f64::from(x).sqrt()),
        HalfUnary::v_log_f16 => b.h1_scalar(|x| f64::from(x).log2()),
        HalfUnary::v_exp_f16 => b.h1_scalar(|x| f64::from(x).exp2()),
        HalfUnary::v_sin_f16 => {
            b.h1_scalar(|x| (f64::from(x).fract() * std::f64::consts::TAU).sin())
        }
        HalfUnary::v_cos_f16 => {
            b.h1_scalar(|x| (f64::from(x).fract() * std::f64::consts::TAU).cos())
        }
        HalfUnary::v_frexp_mant_f16 => b.h1_scalar(|x| {
            f64::from(if x == 0.0 || !x.is_finite() {
                x
            } else {
                libm::frexpf(x).0
            })
        }),
        HalfUnary::v_frexp_exp_i16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        U::from_array(source(w, o, 0, w.chunk(a, c)).to_array().mapped(|x| {
                            if x == 0.0 || !x.is_finite() {
                                0
                            } else {
                                libm::frexpf(x).1 as u32
                            }
                        }))
                    },
                );
                commit16(w, o, result);
                Flow::Next
            },
        ),
        HalfUnary::v_ldexp_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, e) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let settings = Half::settings(w.mode);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = source_bits(o, 0, w.chunk(a, c)).to_array();
                        let e = sext16(source_bits(o, 1, w.chunk(e, c))).to_array();
                        U::from_array(array(|i| {
                            scale::<Half>(u64::from(x[i]), e[i], settings) as u32
                        }))
                    },
                );
                commit16(w, o, result);
                Flow::Next
            },
        ),
        HalfUnary::v_div_fixup_f16 | HalfUnary::v_div_fixup_legacy_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let s: [Fetched; 3] = array(|i| w.fetch(i as u16, &o.src[i]));
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let [x, y, z] = array(|i| {
                            source_bits(o, i, w.chunk(s[i], c))
                                .to_array()
                                .mapped(u64::from)
                        });
                        U::from_array(array(|i| division::fixup::<Half>(x[i], y[i], z[i]) as u32))
                    },
                );
                commit16(w, o, result);
                Flow::Next
            },
        ),
        HalfUnary::v_pack_b32_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (x, y) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        source_bits(o, 0, w.chunk(x, c))
                            | source_bits(o, 1, w.chunk(y, c)) << U::splat(16)
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
    }
}

#[inline(always)]
fn signed(result: I, clamp: bool) -> U {
    let result = if clamp {
        result.simd_clamp(I::splat(-0x8000), I::splat(0x7fff))
    } else {
        result
    };
    result.cast::<u32>()
}

#[inline(always)]
fn unsigned(result: I, clamp: bool) -> U {
    let result = if clamp {
        result.simd_clamp(I::splat(0), I::splat(0xffff))
    } else {
        result
    };
    result.cast::<u32>()
}

#[inline(always)]
fn int(x: U) -> I {
    x.cast::<i32>()
}

pub(super) fn integers<const C: usize>(b: Binder<C>, op: HalfIntegers) -> Handler {
    match op {
        HalfIntegers::v_add_u16 => b.integer16(|[x, y], clamp| unsigned(int(x) + int(y), clamp)),
        HalfIntegers::v_sub_u16 => b.integer16(|[x, y], clamp| unsigned(int(x) - int(y), clamp)),
        HalfIntegers::v_subrev_u16 => b.integer16(|[x, y], clamp| unsigned(int(y) - int(x), clamp)),
        HalfIntegers::v_add_i16 => {
            b.integer16(|[x, y], clamp| signed(sext16(x) + sext16(y), clamp))
        }
        HalfIntegers::v_sub_i16 => {
            b.integer16(|[x, y], clamp| signed(sext16(x) - sext16(y), clamp))
        }
        HalfIntegers::v_mul_lo_u16 => b.integer16(|[x, y], _| x * y),
        HalfIntegers::v_mad_u16 | HalfIntegers::v_mad_legacy_u16 => {
            b.integer16(|[x, y, z], clamp| {
                let exact = x.cast::<u64>() * y.cast::<u64>() + z.cast::<u64>();
                let limit = Simd::splat(if clamp { 0xffff } else { u64::MAX });
                exact.simd_min(limit).cast::<u32>()
            })
        }
        HalfIntegers::v_mad_i16 | HalfIntegers::v_mad_legacy_i16 => {
            b.integer16(|[x, y, z], clamp| signed(sext16(x) * sext16(y) + sext16(z), clamp))
        }
        HalfIntegers::v_lshlrev_b16 => b.integer16(|[x, y], _| y << (x & U::splat(15))),
        HalfIntegers::v_lshrrev_b16 => b.integer16(|[x, y], _| y >> (x & U::splat(15))),
        HalfIntegers::v_ashrrev_i16 => {
            b.integer16(|[x, y], _| (sext16(y) >> int(x & U::splat(15))).cast::<u32>())
        }
        HalfIntegers::v_max_u16 => b.integer16(|[x, y], _| x.simd_max(y)),
        HalfIntegers::v_min_u16 => b.integer16(|[x, y], _| x.simd_min(y)),
        HalfIntegers::v_max_i16 => {
            b.integer16(|[x, y], _| signed(sext16(x).simd_max(sext16(y)), false))
        }
        HalfIntegers::v_min_i16 => {
            b.integer16(|[x, y], _| signed(sext16(x).simd_min(sext16(y)), false))
        }
        HalfIntegers::v_min3_u16 => b.integer16(|[x, y, z], _| x.simd_min(y).simd_min(z)),
        HalfIntegers::v_max3_u16 => b.integer16(|[x, y, z], _| x.simd_max(y).simd_max(z)),
        HalfIntegers::v_med3_u16 => {
            b.integer16(|[x, y, z], _| x.simd_min(y).simd_max(x.simd_max(y).simd_min(z)))
        }
        HalfIntegers::v_min3_i16 => b.integer16(|s, _| {
            let [x, y, z] = s.mapped(sext16);
            signed(x.simd_min(y).simd_min(z), false)
        }),
        HalfIntegers::v_max3_i16 => b.integer16(|s, _| {
            let [x, y, z] = s.mapped(sext16);
            signed(x.simd_max(y).simd_max(z), false)
        }),
        HalfIntegers::v_med3_i16 => b.integer16(|s, _| {
            let [x, y, z] = s.mapped(sext16);
            signed(x.simd_min(y).simd_max(x.simd_max(y).simd_min(z)), false)
        }),
    }
}
