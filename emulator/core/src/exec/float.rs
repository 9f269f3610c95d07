//! Floating-point arithmetic under every setting of MODE, one value at a time.
//!
//! The fast paths of the vector unit use the host's arithmetic where it gives the same bits: rounding to nearest,
//! denormals kept, no NaN involved. Everything else is computed here by `rustc_apfloat`.
//!
//! NaN rules: if a source is NaN, the result is the first such source, quieted. A NaN that an operation creates (∞ − ∞,
//! 0 × ∞) is the positive quiet NaN.

pub(crate) mod division;

use std::cmp::Ordering;

use rustc_apfloat::{
    Float,
    ieee::{Double, Half, Single},
};

use super::array::Mapped;
use super::wave::{Mode, Round};

/// What an arithmetic instruction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    SubReverse,
    Mul,
    /// 0 × anything is 0.
    MulLegacy,
    /// One rounding.
    Fma,
    /// Two roundings, denormals flushed.
    Mad,
    Min,
    Max,
    Min3,
    Max3,
    Med3,
    /// Two roundings, denormals flushed, 0 × anything is 0.
    MadLegacy,
    /// As IEEE 754's minimum: NaN if any source is NaN.
    Minimum3,
    /// As IEEE 754's maximum.
    Maximum3,
    /// As IEEE 754's minimum and maximum of two sources, and of one of these and the third source.
    Minimum,
    Maximum,
    MinimumMaximum,
    MaximumMinimum,
    /// The maximum of a minimum and the third source.
    MinMax,
    /// The minimum of a maximum and the third source.
    MaxMin,
    /// One rounding, 0 × anything is nothing.
    FmaLegacy,
    /// A product for lighting, 0 × anything is 0; the least number if the third source is not above 0, or the second is
    /// the least number, −∞ or NaN.
    MulLit,
}

impl Arithmetic {
    const ALL: [Arithmetic; 23] = [
        Arithmetic::Add,
        Arithmetic::Sub,
        Arithmetic::SubReverse,
        Arithmetic::Mul,
        Arithmetic::MulLegacy,
        Arithmetic::Fma,
        Arithmetic::Mad,
        Arithmetic::Min,
        Arithmetic::Max,
        Arithmetic::Min3,
        Arithmetic::Max3,
        Arithmetic::Med3,
        Arithmetic::MadLegacy,
        Arithmetic::Minimum3,
        Arithmetic::Maximum3,
        Arithmetic::Minimum,
        Arithmetic::Maximum,
        Arithmetic::MinimumMaximum,
        Arithmetic::MaximumMinimum,
        Arithmetic::MinMax,
        Arithmetic::MaxMin,
        Arithmetic::FmaLegacy,
        Arithmetic::MulLit,
    ];

    /// The operation in an [`super::operation::Operation`]'s `detail`.
    pub(crate) fn from_detail(detail: u8) -> Self {
        Self::ALL[usize::from(detail) % Self::ALL.len()]
    }
}

/// What MODE says about one format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) round: Round,
    pub(crate) keep_source_denormals: bool,
    pub(crate) keep_result_denormals: bool,
    pub(crate) ieee: bool,
    pub(crate) dx10_clamp: bool,
    /// Whether results that are too large become the largest number.
    pub(crate) saturate: bool,
}

/// A binary floating-point format.
pub(crate) trait Format: Float {
    /// All ones of the exponent field, in place.
    const EXPONENT: u64;
    /// All ones of the fraction field.
    const FRACTION: u64;
    /// The sign bit.
    const SIGN: u64;

    fn settings(mode: Mode) -> Settings;
}

macro_rules! format {
    ($name:ty, $exponent:expr, $fraction:expr, $sign:expr, $round:ident, $denormals:ident, $saturates:expr) => {
        impl Format for $name {
            const EXPONENT: u64 = $exponent;
            const FRACTION: u64 = $fraction;
            const SIGN: u64 = $sign;

            fn settings(mode: Mode) -> Settings {
                let (keep_source_denormals, keep_result_denormals) = mode.$denormals();
                Settings {
                    round: mode.$round(),
                    keep_source_denormals,
                    keep_result_denormals,
                    ieee: mode.ieee(),
                    dx10_clamp: mode.dx10_clamp(),
                    saturate: $saturates && mode.saturates_overflow(),
                }
            }
        }
    };
}

format!(
    Half,
    0x7c00, 0x3ff, 0x8000, round16_64, denormals16_64, true
);
format!(
    Single,
    0x7f80_0000, 0x7f_ffff, 0x8000_0000, round32, denormals32, false
);
format!(
    Double,
    0x7ff0_0000_0000_0000,
    0xf_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    round16_64,
    denormals16_64,
    false
);

pub(crate) fn is_nan<T: Format>(bits: u64) -> bool {
    bits & T::EXPONENT == T::EXPONENT && bits & T::FRACTION != 0
}

fn is_signalling<T: Format>(bits: u64) -> bool {
    is_nan::<T>(bits) && bits & quiet_bit::<T>() == 0
}

fn quiet_bit<T: Format>() -> u64 {
    T::FRACTION.wrapping_add(1) >> 1
}

fn quiet<T: Format>(bits: u64) -> u64 {
    bits | quiet_bit::<T>()
}

fn is_denormal<T: Format>(bits: u64) -> bool {
    bits & T::EXPONENT == 0 && bits & T::FRACTION != 0
}

fn flushed<T: Format>(bits: u64) -> u64 {
    if is_denormal::<T>(bits) {
        bits & T::SIGN
    } else {
        bits
    }
}

/// A source: a denormal is a zero of its sign, unless denormals are kept.
fn read<T: Format>(bits: u64, settings: Settings) -> u64 {
    if settings.keep_source_denormals {
        bits
    } else {
        flushed::<T>(bits)
    }
}

pub(crate) fn ap_round(round: Round) -> rustc_apfloat::Round {
    match round {
        Round::NearestEven => rustc_apfloat::Round::NearestTiesToEven,
        Round::Up => rustc_apfloat::Round::TowardPositive,
        Round::Down => rustc_apfloat::Round::TowardNegative,
        Round::Zero => rustc_apfloat::Round::TowardZero,
    }
}

/// Computes `what` of the first two or three of `sources`, as bits.
pub(crate) fn evaluate<T: Format>(what: Arithmetic, sources: [u64; 3], settings: Settings) -> u64 {
    let mad = matches!(what, Arithmetic::Mad | Arithmetic::MadLegacy);
    let keep_sources = settings.keep_source_denormals && !mad;
    let keep_results = settings.keep_result_denormals && !mad;
    let [a, b, c] = sources.mapped(|s| if keep_sources { s } else { flushed::<T>(s) });
    let round = ap_round(settings.round);
    let value = |bits: u64| T::from_bits(u128::from(bits));
    let bits = |value: T| made_nan::<T>(value.to_bits() as u64);
    let flush = |bits: u64| {
        if keep_results {
            bits
        } else {
            flushed::<T>(bits)
        }
    };
    let ieee = settings.ieee;
    let result = match what {
        Arithmetic::Add => {
            nan_of::<T>(&[a, b]).unwrap_or_else(|| bits(value(a).add_r(value(b), round).value))
        }
        Arithmetic::Sub => {
            nan_of::<T>(&[a, b]).unwrap_or_else(|| bits(value(a).sub_r(value(b), round).value))
        }
        Arithmetic::SubReverse => {
            nan_of::<T>(&[a, b]).unwrap_or_else(|| bits(value(b).sub_r(value(a), round).value))
        }
        Arithmetic::Mul => {
            nan_of::<T>(&[a, b]).unwrap_or_else(|| bits(value(a).mul_r(value(b), round).value))
        }
        Arithmetic::MulLit if is_unlit::<T>(b, c) => least::<T>(),
        Arithmetic::MulLegacy | Arithmetic::MulLit => {
            if value(a).is_zero() || value(b).is_zero() {
                0
            } else {
                nan_of::<T>(&[a, b]).unwrap_or_else(|| bits(value(a).mul_r(value(b), round).value))
            }
        }
        Arithmetic::Fma => nan_of::<T>(&[a, b, c])
            .unwrap_or_else(|| bits(value(a).mul_add_r(value(b), value(c), round).value)),
        Arithmetic::FmaLegacy if value(a).is_zero() || value(b).is_zero() => {
            nan_of::<T>(&[c]).unwrap_or(c)
        }
        Arithmetic::FmaLegacy => nan_of::<T>(&[a, b, c])
            .unwrap_or_else(|| bits(value(a).mul_add_r(value(b), value(c), round).value)),
        Arithmetic::MinMax => maximum::<T>(minimum::<T>(a, b, ieee), c, ieee),
        Arithmetic::MaxMin => minimum::<T>(maximum::<T>(a, b, ieee), c, ieee),
        Arithmetic::MadLegacy if value(a).is_zero() || value(b).is_zero() => {
            nan_of::<T>(&[c]).unwrap_or_else(|| bits(T::ZERO.add_r(value(c), round).value))
        }
        Arithmetic::Mad | Arithmetic::MadLegacy => nan_of::<T>(&[a, b, c]).unwrap_or_else(|| {
            let product = flush(bits(value(a).mul_r(value(b), round).value));
            bits(value(product).add_r(value(c), round).value)
        }),
        Arithmetic::Min => minimum::<T>(a, b, ieee),
        Arithmetic::Max => maximum::<T>(a, b, ieee),
        Arithmetic::Min3 => minimum::<T>(minimum::<T>(a, b, ieee), c, ieee),
        Arithmetic::Max3 => maximum::<T>(maximum::<T>(a, b, ieee), c, ieee),
        Arithmetic::Med3 => median::<T>(a, b, c, ieee),
        Arithmetic::Minimum => strict::<T>(a, b, ieee, true),
        Arithmetic::Maximum => strict::<T>(a, b, ieee, false),
        Arithmetic::Minimum3 => strict::<T>(strict::<T>(a, b, ieee, true), c, ieee, true),
        Arithmetic::Maximum3 => strict::<T>(strict::<T>(a, b, ieee, false), c, ieee, false),
        Arithmetic::MinimumMaximum => strict::<T>(strict::<T>(a, b, ieee, true), c, ieee, false),
        Arithmetic::MaximumMinimum => strict::<T>(strict::<T>(a, b, ieee, false), c, ieee, true),
    };
    let infinite = [a, b, c].into_iter().any(is_infinite::<T>);
    saturated::<T>(flush(result), infinite, settings)
}

fn is_infinite<T: Format>(bits: u64) -> bool {
    bits & !T::SIGN == T::EXPONENT
}

/// The least number.
fn least<T: Format>() -> u64 {
    T::SIGN | (T::EXPONENT - 1)
}

/// Whether the last sources of [`Arithmetic::MulLit`] exclude a product.
fn is_unlit<T: Format>(b: u64, c: u64) -> bool {
    let value = |bits: u64| T::from_bits(u128::from(bits));
    let (least, zero) = (value(least::<T>()), T::ZERO);
    let (above_least, positive) = (value(b) > least, value(c) > zero);
    !(above_least && positive)
}

/// Replaces an ∞ that comes from no source by the largest number, if MODE says so.
fn saturated<T: Format>(bits: u64, infinite_source: bool, settings: Settings) -> u64 {
    if settings.saturate && !infinite_source && is_infinite::<T>(bits) {
        bits - 1
    } else {
        bits
    }
}

/// The first NaN among the sources, quieted.
fn nan_of<T: Format>(sources: &[u64]) -> Option<u64> {
    sources
        .iter()
        .copied()
        .find(|&s| is_nan::<T>(s))
        .map(quiet::<T>)
}

/// IEEE 754's minimum or maximum.
fn strict<T: Format>(a: u64, b: u64, ieee: bool, smaller: bool) -> u64 {
    strict_nan::<T>(a, b).unwrap_or_else(|| smaller_or::<T>(a, b, ieee, smaller))
}

/// The NaN of two sources, quieted; a signalling one goes before a quiet one.
fn strict_nan<T: Format>(a: u64, b: u64) -> Option<u64> {
    let found = |is: fn(u64) -> bool| [a, b].into_iter().find(|&s| is(s));
    found(is_signalling::<T>)
        .or_else(|| found(is_nan::<T>))
        .map(quiet::<T>)
}

/// A NaN created from sources that are not NaN is positive; `rustc_apfloat` may choose another sign.
fn made_nan<T: Format>(bits: u64) -> u64 {
    if is_nan::<T>(bits) {
        T::EXPONENT | quiet_bit::<T>()
    } else {
        bits
    }
}

fn minimum<T: Format>(a: u64, b: u64, ieee: bool) -> u64 {
    smaller_or::<T>(a, b, ieee, true)
}

fn maximum<T: Format>(a: u64, b: u64, ieee: bool) -> u64 {
    smaller_or::<T>(a, b, ieee, false)
}

/// AMD's minimum (or maximum): with IEEE mode a signalling NaN is quieted, a quiet NaN loses against a number, and −0
/// is less than +0.
fn smaller_or<T: Format>(a: u64, b: u64, ieee: bool, smaller: bool) -> u64 {
    if ieee && is_signalling::<T>(a) {
        quiet::<T>(a)
    } else if ieee && is_signalling::<T>(b) {
        quiet::<T>(b)
    } else {
        let first = (order::<T>(a) < order::<T>(b)) == smaller;
        if !is_nan::<T>(a) && (is_nan::<T>(b) || first) {
            a
        } else {
            b
        }
    }
}

/// A key that orders numbers, −0 below +0.
fn order<T: Format>(bits: u64) -> i128 {
    let magnitude = i128::from(bits & (T::EXPONENT | T::FRACTION));
    if bits & T::SIGN == 0 {
        magnitude
    } else {
        -1 - magnitude
    }
}

fn median<T: Format>(a: u64, b: u64, c: u64, ieee: bool) -> u64 {
    if [a, b, c].iter().any(|&s| is_nan::<T>(s)) {
        return minimum::<T>(minimum::<T>(a, b, ieee), c, ieee);
    }
    let largest = maximum::<T>(maximum::<T>(a, b, ieee), c, ieee);
    let equal = |x: u64| T::from_bits(u128::from(x)) == T::from_bits(u128::from(largest));
    if equal(a) {
        maximum::<T>(b, c, ieee)
    } else if equal(b) {
        maximum::<T>(a, c, ieee)
    } else {
        maximum::<T>(a, b, ieee)
    }
}

/// Applies the result modifiers ([`super::output_modifier`]).
pub(crate) fn modify_result<T: Format>(
    bits: u64,
    omod: u8,
    clamp: bool,
    settings: Settings,
) -> u64 {
    let mut bits = bits;
    if omod != 0 && !settings.keep_result_denormals && !settings.ieee {
        let scale = match omod {
            1 => 1,
            2 => 2,
            _ => -1,
        };
        let scaled = T::from_bits(u128::from(bits)).scalbn_r(scale, ap_round(settings.round));
        bits = flushed::<T>(scaled.to_bits() as u64);
        if bits == T::SIGN {
            bits = 0;
        }
    }
    if clamp {
        bits = clamp_bits::<T>(bits, settings.dx10_clamp);
    }
    bits
}

fn clamp_bits<T: Format>(bits: u64, dx10_clamp: bool) -> u64 {
    let one = T::from_u128(1).value.to_bits() as u64;
    if is_nan::<T>(bits) {
        if dx10_clamp { 0 } else { bits }
    } else if bits & T::SIGN != 0 {
        0
    } else {
        bits.min(one)
    }
}

/// Converts between formats under MODE: denormal sources by the source format's setting, rounding and denormal results
/// by the result format's.
pub(crate) fn convert<S, T>(bits: u64, from: Settings, to: Settings) -> u64
where
    S: Format + rustc_apfloat::FloatConvert<T>,
    T: Format,
{
    let bits = read::<S>(bits, from);
    let mut loses_info = false;
    let converted: T = S::from_bits(u128::from(bits))
        .convert_r(ap_round(to.round), &mut loses_info)
        .value;
    let result = saturated::<T>(converted.to_bits() as u64, is_infinite::<S>(bits), to);
    if to.keep_result_denormals {
        result
    } else {
        flushed::<T>(result)
    }
}

/// A whole number as a float.
pub(crate) fn rounded<T: Format>(number: i128, settings: Settings) -> u64 {
    T::from_i128_r(number, ap_round(settings.round))
        .value
        .to_bits() as u64
}

/// A float rounded to a whole number.
pub(crate) fn integral<T: Format>(bits: u64, round: Round, settings: Settings) -> u64 {
    let bits = read::<T>(bits, settings);
    if is_nan::<T>(bits) {
        return quiet::<T>(bits);
    }
    let whole = T::from_bits(u128::from(bits)).round_to_integral(ap_round(round));
    whole.value.to_bits() as u64
}

/// How two floats compare; `None` if one is NaN.
pub(crate) fn ordering<T: Format>(a: u64, b: u64, settings: Settings) -> Option<Ordering> {
    let [a, b] = [a, b].map(|bits| T::from_bits(u128::from(read::<T>(bits, settings))));
    a.partial_cmp(&b)
}

/// `x · 2^exponent` under MODE.
pub(crate) fn scale<T: Format>(bits: u64, exponent: i32, settings: Settings) -> u64 {
    let bits = read::<T>(bits, settings);
    if is_nan::<T>(bits) {
        return quiet::<T>(bits);
    }
    let scaled = T::from_bits(u128::from(bits)).scalbn_r(exponent, ap_round(settings.round));
    let result = saturated::<T>(scaled.to_bits() as u64, is_infinite::<T>(bits), settings);
    if settings.keep_result_denormals {
        result
    } else {
        flushed::<T>(result)
    }
}

/// The class bits of `v_cmp_class`: signalling and quiet NaN, then −∞, −normal, −denormal, −0, +0, +denormal, +normal,
/// +∞.
pub(crate) fn class<T: Format>(bits: u64) -> u32 {
    let negative = bits & T::SIGN != 0;
    let magnitude = bits & (T::EXPONENT | T::FRACTION);
    let bit = if is_signalling::<T>(bits) {
        0
    } else if is_nan::<T>(bits) {
        1
    } else {
        let rank = if magnitude == T::EXPONENT {
            3
        } else if magnitude & T::EXPONENT != 0 {
            2
        } else {
            u32::from(magnitude != 0)
        };
        if negative { 5 - rank } else { 6 + rank }
    };
    1 << bit
}
