//! Floats of the scalar unit (RDNA 3.5).
//!
//! They give what the vector unit gives, with MODE's rounding and denormals. f16 is in the low half of a register, and
//! a result has zeros in the high half (RDNA 4 ISA guide, «Scalar Floating Point», 6.8). There is one value and not a
//! wave of them, so all are computed as the vector unit's rare cases are, by `rustc_apfloat`.

use std::cmp::Ordering;

use rustc_apfloat::ieee::{Half, Single};

use super::{
    float::{Arithmetic, Format, Settings, convert, evaluate, integral, ordering, rounded},
    lanes::Binder,
    operation::{Flow, Handler, Operation},
    wave::{Mode, Round},
};
use ferrowave_isa::run::{
    Floats, ScalarFloatArithmetic, ScalarFloatConversions, ScalarFloatRounding,
};

impl<const C: usize> Binder<C> {
    fn scalar_float<F>(self, f: F) -> Handler
    where
        F: Fn(Mode, &Operation, [u64; 3]) -> u64 + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let sources = std::array::from_fn(|n| u64::from(w.read32(&o.src[n])));
                let result = f(w.mode, o, sources);
                w.set_scalar(o.dst, result as u32);
                Flow::Next
            },
        )
    }

    fn scalar_compare<F>(self, f: F) -> Handler
    where
        F: Fn(Mode, &Operation, [u64; 2]) -> bool + Copy + 'static,
    {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let sources = std::array::from_fn(|n| u64::from(w.read32(&o.src[n])));
                w.scc = f(w.mode, o, sources);
                Flow::Next
            },
        )
    }
}

/// The bits of a number in a register.
fn number<T: Format>(register: u64) -> u64 {
    register & (T::SIGN | T::EXPONENT | T::FRACTION)
}

fn evaluated<T: Format>(mode: Mode, o: &Operation, sources: [u64; 3]) -> u64 {
    let what = Arithmetic::from_detail(o.detail);
    evaluate::<T>(what, sources.map(number::<T>), T::settings(mode))
}

pub(super) fn arithmetic<const C: usize>(
    b: Binder<C>,
    op: ScalarFloatArithmetic,
) -> (Handler, Arithmetic) {
    use ScalarFloatArithmetic as Op;
    let singles = || b.scalar_float(evaluated::<Single>);
    let halves = || b.scalar_float(evaluated::<Half>);
    match op {
        Op::s_add_f32 => (singles(), Arithmetic::Add),
        Op::s_sub_f32 => (singles(), Arithmetic::Sub),
        Op::s_mul_f32 => (singles(), Arithmetic::Mul),
        Op::s_min_f32 => (singles(), Arithmetic::Min),
        Op::s_max_f32 => (singles(), Arithmetic::Max),
        Op::s_minimum_f32 => (singles(), Arithmetic::Minimum),
        Op::s_maximum_f32 => (singles(), Arithmetic::Maximum),
        Op::s_minimum_f16 => (halves(), Arithmetic::Minimum),
        Op::s_maximum_f16 => (halves(), Arithmetic::Maximum),
        Op::s_fmac_f32 | Op::s_fmaak_f32 | Op::s_fmamk_f32 => (singles(), Arithmetic::Fma),
        Op::s_add_f16 => (halves(), Arithmetic::Add),
        Op::s_sub_f16 => (halves(), Arithmetic::Sub),
        Op::s_mul_f16 => (halves(), Arithmetic::Mul),
        Op::s_min_f16 => (halves(), Arithmetic::Min),
        Op::s_max_f16 => (halves(), Arithmetic::Max),
        Op::s_fmac_f16 => (halves(), Arithmetic::Fma),
    }
}

fn whole<T: Format>(mode: Mode, o: &Operation, [bits, ..]: [u64; 3]) -> u64 {
    let round = Round::from_bits(o.detail.into());
    integral::<T>(number::<T>(bits), round, T::settings(mode))
}

/// The handler of an operation whose result is a whole number, and how it rounds.
pub(super) fn rounding<const C: usize>(b: Binder<C>, op: ScalarFloatRounding) -> (Handler, Round) {
    use ScalarFloatRounding as Op;
    let singles = || b.scalar_float(whole::<Single>);
    let halves = || b.scalar_float(whole::<Half>);
    match op {
        Op::s_ceil_f32 => (singles(), Round::Up),
        Op::s_floor_f32 => (singles(), Round::Down),
        Op::s_trunc_f32 => (singles(), Round::Zero),
        Op::s_rndne_f32 => (singles(), Round::NearestEven),
        Op::s_ceil_f16 => (halves(), Round::Up),
        Op::s_floor_f16 => (halves(), Round::Down),
        Op::s_trunc_f16 => (halves(), Round::Zero),
        Op::s_rndne_f16 => (halves(), Round::NearestEven),
    }
}

fn narrow(mode: Mode, to: Settings, single: u64) -> u64 {
    convert::<Single, Half>(single, Single::settings(mode), to)
}

fn widen(mode: Mode, half: u64) -> u64 {
    convert::<Half, Single>(half, Half::settings(mode), Single::settings(mode))
}

pub(super) fn conversions<const C: usize>(b: Binder<C>, op: ScalarFloatConversions) -> Handler {
    use ScalarFloatConversions as Op;
    match op {
        Op::s_cvt_f32_i32 => b.scalar_float(|m, _, [a, ..]| {
            rounded::<Single>(i128::from(a as u32 as i32), Single::settings(m))
        }),
        Op::s_cvt_f32_u32 => {
            b.scalar_float(|m, _, [a, ..]| rounded::<Single>(i128::from(a), Single::settings(m)))
        }
        // Truncation that saturates, NaN to 0: Rust's conversions and the hardware's agree.
        Op::s_cvt_i32_f32 => {
            b.scalar_float(|_, _, [a, ..]| f32::from_bits(a as u32) as i32 as u32 as u64)
        }
        Op::s_cvt_u32_f32 => {
            b.scalar_float(|_, _, [a, ..]| u64::from(f32::from_bits(a as u32) as u32))
        }
        Op::s_cvt_f16_f32 => b.scalar_float(|m, _, [a, ..]| narrow(m, Half::settings(m), a)),
        Op::s_cvt_f32_f16 => b.scalar_float(|m, _, [a, ..]| widen(m, number::<Half>(a))),
        Op::s_cvt_hi_f32_f16 => b.scalar_float(|m, _, [a, ..]| widen(m, a >> 16)),
        Op::s_cvt_pk_rtz_f16_f32 => b.scalar_float(|m, _, [x, y, _]| {
            let to = Settings {
                round: Round::Zero,
                ..Half::settings(m)
            };
            narrow(m, to, x) | narrow(m, to, y) << 16
        }),
    }
}

/// Bits for two numbers that are less, equal, greater, and not ordered because one is NaN.
const LT: u8 = 1;
const EQ: u8 = 2;
const GT: u8 = 4;
const NAN: u8 = 8;

fn holds<T: Format>(mode: Mode, o: &Operation, sources: [u64; 2]) -> bool {
    let [a, b] = sources.map(number::<T>);
    let found = match ordering::<T>(a, b, T::settings(mode)) {
        Some(Ordering::Less) => LT,
        Some(Ordering::Equal) => EQ,
        Some(Ordering::Greater) => GT,
        None => NAN,
    };
    o.detail & found != 0
}

/// The handler of a compare of numbers with `bits` bits, and for which orders of the sources it is true.
pub(super) fn floats<const C: usize>(b: Binder<C>, bits: u16, relation: Floats) -> (Handler, u8) {
    let handler = match bits {
        16 => b.scalar_compare(holds::<Half>),
        _ => b.scalar_compare(holds::<Single>),
    };
    let orders = match relation {
        Floats::F => 0,
        Floats::Lt => LT,
        Floats::Eq => EQ,
        Floats::Le => LT | EQ,
        Floats::Gt => GT,
        Floats::Lg => LT | GT,
        Floats::Ge => GT | EQ,
        Floats::O => LT | EQ | GT,
        Floats::U => NAN,
        Floats::Nge => NAN | LT,
        Floats::Nlg => NAN | EQ,
        Floats::Ngt => NAN | LT | EQ,
        Floats::Nle => NAN | GT,
        Floats::Neq => NAN | LT | GT,
        Floats::Nlt => NAN | EQ | GT,
        Floats::Tru => NAN | LT | EQ | GT,
    };
    (handler, orders)
}
