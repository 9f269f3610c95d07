//! Vector compares.

use std::simd::prelude::*;

use rustc_apfloat::ieee::{Double, Half, Single};

use super::{
    array::array,
    float, float32, float64, half,
    lanes::{Binder, INVERTED, WRITES_EXEC, mask_of, set_mask, sext16},
    operation::Handler,
    simd::{E, F, M, U},
};
use ferrowave_isa::{
    DataType, Instruction, Operand,
    run::{CompareClass, Floats, Integers},
};

type M64 = Mask<i64, 16>;

impl<const C: usize> Binder<C> {
    fn compare_f32<G: Fn(F, F) -> M + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let keep = w.mode.denormals32().0;
                let read = |value: F| if keep { value } else { flush(value) };
                let mask = mask_of::<C>(
                    #[inline(always)]
                    |c| {
                        f(
                            read(float32::modified(o, 0, w.chunk(a, c))),
                            read(float32::modified(o, 1, w.chunk(b, c))),
                        )
                    },
                );
                set_mask(w, o, mask)
            },
        )
    }

    fn compare_f16<G: Fn(F, F) -> M + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask_of::<C>(
                    #[inline(always)]
                    |c| {
                        f(
                            half::source(w, o, 0, w.chunk(a, c)),
                            half::source(w, o, 1, w.chunk(b, c)),
                        )
                    },
                );
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
                for c in 0..C {
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

/// The handler of a compare of floats, and its detail.
pub(super) fn floats<const C: usize>(
    b: Binder<C>,
    i: &Instruction,
    relation: Floats,
) -> (Handler, u8) {
    // One expression serves all formats: f16 compares as f32, and the vectors of f32 and f64 have the same methods.
    macro_rules! relation {
        (|$x:ident, $y:ident| $body:expr) => {
            match i.src[0].bits {
                16 => b.compare_f16(|$x, $y| $body),
                32 => b.compare_f32(|$x, $y| $body),
                _ => b.compare_f64(|$x, $y| $body),
            }
        };
    }
    let handler = match relation {
        Floats::F | Floats::Tru => b.compare(|_, _| M::splat(false)),
        Floats::Lt | Floats::Nlt => relation!(|x, y| x.simd_lt(y)),
        Floats::Eq | Floats::Neq => relation!(|x, y| x.simd_eq(y)),
        Floats::Le | Floats::Nle => relation!(|x, y| x.simd_le(y)),
        Floats::Gt | Floats::Ngt => relation!(|x, y| x.simd_gt(y)),
        Floats::Lg | Floats::Nlg => relation!(|x, y| x.simd_lt(y) | x.simd_gt(y)),
        Floats::Ge | Floats::Nge => relation!(|x, y| x.simd_ge(y)),
        Floats::U | Floats::O => relation!(|x, y| x.is_nan() | y.is_nan()),
    };
    let inverted = matches!(
        relation,
        Floats::Tru
            | Floats::Nlt
            | Floats::Neq
            | Floats::Nle
            | Floats::Ngt
            | Floats::Nlg
            | Floats::Nge
            | Floats::O
    );
    (handler, detail(i, inverted))
}

/// The detail of a compare.
fn detail(i: &Instruction, inverted: bool) -> u8 {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    bit(i.writes_exec(), WRITES_EXEC) | bit(inverted, INVERTED)
}

/// The handler of a compare of integers, and its detail.
pub(super) fn integers<const C: usize>(
    b: Binder<C>,
    i: &Instruction,
    relation: Integers,
) -> (Handler, u8) {
    let Operand { bits, ty, .. } = i.src[0];
    let relate = match (bits, ty == DataType::I) {
        (16, false) => relate::<16, false, C>,
        (16, true) => relate::<16, true, C>,
        (32, false) => relate::<32, false, C>,
        (32, true) => relate::<32, true, C>,
        (_, false) => relate::<64, false, C>,
        (_, true) => relate::<64, true, C>,
    };
    let inverted = matches!(
        relation,
        Integers::Ge | Integers::Ne | Integers::Gt | Integers::T
    );
    (relate(b, relation), detail(i, inverted))
}

/// The handler of a relation or of its opposite.
fn relate<const BITS: u32, const SIGNED: bool, const C: usize>(
    b: Binder<C>,
    relation: Integers,
) -> Handler {
    // Signed values compare as unsigned ones with the sign bit inverted.
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
    match relation {
        Integers::F | Integers::T => b.compare(|_, _| M::splat(false)),
        Integers::Lt | Integers::Ge => relation!(|x, y| x.simd_lt(y)),
        Integers::Eq | Integers::Ne => relation!(|x, y| x.simd_eq(y)),
        Integers::Le | Integers::Gt => relation!(|x, y| x.simd_le(y)),
    }
}

#[inline(always)]
fn narrow<const BITS: u32, const SIGNED: bool>(x: U) -> U {
    match (BITS, SIGNED) {
        (16, true) => sext16(x).cast::<u32>(),
        (16, false) => x & U::splat(0xffff),
        _ => x,
    }
}

/// The handler of a test for classes of floats.
pub(super) fn class<const C: usize>(b: Binder<C>, op: CompareClass) -> Handler {
    match op {
        CompareClass::v_cmp_class_f32 | CompareClass::v_cmpx_class_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, s) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask_of::<C>(
                    #[inline(always)]
                    |c| {
                        let x = float32::modified(o, 0, w.chunk(a, c)).to_bits().to_array();
                        let s = w.chunk(s, c).to_array();
                        M::from_array(array(|i| {
                            float::class::<Single>(u64::from(x[i])) & s[i] != 0
                        }))
                    },
                );
                set_mask(w, o, mask)
            },
        ),
        CompareClass::v_cmp_class_f16 | CompareClass::v_cmpx_class_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, s) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask_of::<C>(
                    #[inline(always)]
                    |c| {
                        let x = half::source_bits(o, 0, w.chunk(a, c)).to_array();
                        let s = w.chunk(s, c).to_array();
                        M::from_array(array(|i| float::class::<Half>(u64::from(x[i])) & s[i] != 0))
                    },
                );
                set_mask(w, o, mask)
            },
        ),
        CompareClass::v_cmp_class_f64 | CompareClass::v_cmpx_class_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, s) = (w.fetch64(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let mask = mask_of::<C>(
                    #[inline(always)]
                    |c| {
                        let x = float64::modified(o, 0, w.chunk64(a, c))
                            .to_bits()
                            .to_array();
                        let s = w.chunk(s, c).to_array();
                        M::from_array(array(|i| float::class::<Double>(x[i]) & s[i] != 0))
                    },
                );
                set_mask(w, o, mask)
            },
        ),
    }
}
