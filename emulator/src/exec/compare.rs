//! Compares of the vector unit.

use std::simd::prelude::*;

use rustc_apfloat::ieee::{Double, Half, Single};

use super::{
    float::class,
    float32, float64, half,
    lanes::{Binder, mask64, set_mask, sext16},
    operation::Handler,
    simd::{CHUNKS, E, F, M, U},
};
use crate::isa::Op;

type M64 = Mask<i64, 16>;

impl Binder {
    fn compare_f32<G: Fn(F, F) -> M + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let keep = w.mode.denormals32().0;
                let read = |value: F| if keep { value } else { flush(value) };
                let mask = mask64(|c| {
                    f(
                        read(float32::modified(o, 0, w.chunk(a, c))),
                        read(float32::modified(o, 1, w.chunk(b, c))),
                    )
                });
                set_mask(w, o, mask)
            },
        )
    }

    fn compare_f16<G: Fn(F, F) -> M + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask64(|c| {
                    f(
                        half::source(w, o, 0, w.chunk(a, c)),
                        half::source(w, o, 1, w.chunk(b, c)),
                    )
                });
                set_mask(w, o, mask)
            },
        )
    }

    fn compare_f64<G: Fn(E, E) -> M64 + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch64(0, &o.src[0]), w.fetch64(1, &o.src[1]));
                let mut mask = 0;
                for c in 0..CHUNKS {
                    let m = f(
                        float64::modified(o, 0, w.chunk64(a, c)),
                        float64::modified(o, 1, w.chunk64(b, c)),
                    );
                    mask |= m.to_bitmask() << (16 * c);
                }
                set_mask(w, o, mask)
            },
        )
    }
}

fn flush(value: F) -> F {
    let zero = F::from_bits(value.to_bits() & U::splat(0x8000_0000));
    value.is_subnormal().select(zero, value)
}

/// The handler of a compare, if `op` is one; true says that it writes `exec`.
pub(crate) fn handler(b: Binder, op: Op) -> Option<(Handler, bool)> {
    let name = op.name();
    let (rest, writes_exec) = match name.strip_prefix("v_cmpx_") {
        Some(rest) => (rest, true),
        None => (name.strip_prefix("v_cmp_")?, false),
    };
    let (relation, ty) = rest.rsplit_once('_')?;
    let handler = match (relation, ty) {
        ("class", _) => class_handler(b, ty)?,
        (_, "f32") => floats(b, relation, FloatType::F32)?,
        (_, "f16") => floats(b, relation, FloatType::F16)?,
        (_, "f64") => floats(b, relation, FloatType::F64)?,
        (_, "i16") => integers::<16, true>(b, relation)?,
        (_, "u16") => integers::<16, false>(b, relation)?,
        (_, "i32") => integers::<32, true>(b, relation)?,
        (_, "u32") => integers::<32, false>(b, relation)?,
        (_, "i64") => integers::<64, true>(b, relation)?,
        (_, "u64") => integers::<64, false>(b, relation)?,
        _ => return None,
    };
    Some((handler, writes_exec))
}

/// A floating-point format that compares take.
#[derive(Clone, Copy)]
enum FloatType {
    F16,
    F32,
    F64,
}

fn floats(b: Binder, relation: &str, ty: FloatType) -> Option<Handler> {
    // One expression serves all formats: f16 compares as f32, and both widths have the same methods.
    macro_rules! relation {
        (|$x:ident, $y:ident| $body:expr) => {
            match ty {
                FloatType::F16 => b.compare_f16(|$x, $y| $body),
                FloatType::F32 => b.compare_f32(|$x, $y| $body),
                FloatType::F64 => b.compare_f64(|$x, $y| $body),
            }
        };
    }
    Some(match relation {
        "f" => b.compare(|_, _| M::splat(false)),
        "lt" => relation!(|x, y| x.simd_lt(y)),
        "eq" => relation!(|x, y| x.simd_eq(y)),
        "le" => relation!(|x, y| x.simd_le(y)),
        "gt" => relation!(|x, y| x.simd_gt(y)),
        "lg" => relation!(|x, y| x.simd_lt(y) | x.simd_gt(y)),
        "ge" => relation!(|x, y| x.simd_ge(y)),
        "o" => relation!(|x, y| !(x.is_nan() | y.is_nan())),
        "u" => relation!(|x, y| x.is_nan() | y.is_nan()),
        "nge" => relation!(|x, y| !x.simd_ge(y)),
        "nlg" => relation!(|x, y| !(x.simd_lt(y) | x.simd_gt(y))),
        "ngt" => relation!(|x, y| !x.simd_gt(y)),
        "nle" => relation!(|x, y| !x.simd_le(y)),
        "neq" => relation!(|x, y| x.simd_ne(y)),
        "nlt" => relation!(|x, y| !x.simd_lt(y)),
        "tru" => b.compare(|_, _| M::splat(true)),
        _ => return None,
    })
}

/// Relations of integers of `BITS` bits.
fn integers<const BITS: u32, const SIGNED: bool>(b: Binder, relation: &str) -> Option<Handler> {
    // Signed values compare as unsigned ones with the sign bit turned over.
    macro_rules! relation {
        (|$x:ident, $y:ident| $body:expr) => {
            if BITS == 64 {
                b.compare64(|$x, $y| {
                    let bias = Simd::splat(if SIGNED { 1_u64 << 63 } else { 0 });
                    let ($x, $y) = ($x ^ bias, $y ^ bias);
                    $body
                })
            } else {
                b.compare(|$x, $y| {
                    let bias = U::splat(if SIGNED { 1 << 31 } else { 0 });
                    let ($x, $y) = (
                        narrow::<BITS, SIGNED>($x) ^ bias,
                        narrow::<BITS, SIGNED>($y) ^ bias,
                    );
                    $body
                })
            }
        };
    }
    Some(match relation {
        "f" => b.compare(|_, _| M::splat(false)),
        "lt" => relation!(|x, y| x.simd_lt(y)),
        "eq" => relation!(|x, y| x.simd_eq(y)),
        "le" => relation!(|x, y| x.simd_le(y)),
        "gt" => relation!(|x, y| x.simd_gt(y)),
        "ne" => relation!(|x, y| x.simd_ne(y)),
        "ge" => relation!(|x, y| x.simd_ge(y)),
        "t" => b.compare(|_, _| M::splat(true)),
        _ => return None,
    })
}

#[inline(always)]
fn narrow<const BITS: u32, const SIGNED: bool>(x: U) -> U {
    match (BITS, SIGNED) {
        (16, true) => sext16(x).cast::<u32>(),
        (16, false) => x & U::splat(0xffff),
        _ => x,
    }
}

fn class_handler(b: Binder, ty: &str) -> Option<Handler> {
    Some(match ty {
        "f32" => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, s) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask64(|c| {
                    let x = float32::modified(o, 0, w.chunk(a, c)).to_bits().to_array();
                    let s = w.chunk(s, c).to_array();
                    M::from_array(std::array::from_fn(|i| {
                        class::<Single>(u64::from(x[i])) & s[i] != 0
                    }))
                });
                set_mask(w, o, mask)
            },
        ),
        "f16" => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, s) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask64(|c| {
                    let x = half::source_bits(o, 0, w.chunk(a, c)).to_array();
                    let s = w.chunk(s, c).to_array();
                    M::from_array(std::array::from_fn(|i| {
                        class::<Half>(u64::from(x[i])) & s[i] != 0
                    }))
                });
                set_mask(w, o, mask)
            },
        ),
        "f64" => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, s) = (w.fetch64(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask64(|c| {
                    let x = float64::modified(o, 0, w.chunk64(a, c))
                        .to_bits()
                        .to_array();
                    let s = w.chunk(s, c).to_array();
                    M::from_array(std::array::from_fn(|i| class::<Double>(x[i]) & s[i] != 0))
                });
                set_mask(w, o, mask)
            },
        ),
        _ => return None,
    })
}
