//! The steps of a division that compilers emit: `v_div_scale`, `v_div_fmas` and `v_div_fixup`.

use std::ops::Range;

use rustc_apfloat::{Float as _, FloatConvert, ieee::Quad};

use super::{
    Arithmetic, Format, Settings, ap_round, evaluate, flushed, is_denormal, is_nan, quiet,
    quiet_bit,
};

/// Per format: half of the exponent range by which operands are scaled, and limits of the exponent.
struct Limits {
    scale: i32,
    far_apart: i64,
    tiny: i64,
    underflow: i64,
}

fn limits<T: Format>() -> Limits {
    if T::SIGN == 0x8000_0000 {
        Limits {
            scale: 64,
            far_apart: 96,
            tiny: 23,
            underflow: -150,
        }
    } else {
        Limits {
            scale: 128,
            far_apart: 768,
            tiny: 53,
            underflow: -1075,
        }
    }
}

fn exponent<T: Format>(bits: u64) -> i64 {
    ((bits & T::EXPONENT) / (T::FRACTION + 1)) as i64
}

fn value<T: Format>(bits: u64) -> T {
    T::from_bits(u128::from(bits))
}

fn ldexp<T: Format>(bits: u64, by: i32) -> u64 {
    value::<T>(bits).scalbn(by).to_bits() as u64
}

/// `v_div_scale`: source 0, scaled (it is the denominator in source 1 or the numerator in source 2), and whether the
/// quotient must be scaled back.
pub(crate) fn scale<T: Format>(s0: u64, s1: u64, s2: u64) -> (u64, bool) {
    match is_moderate::<T>(s1, s2) {
        true => (s0, false),
        false => scale_extreme::<T>(s0, s1, s2),
    }
}

/// Whether nothing is scaled, by the exponents alone. Saves [`scale_extreme`] two divisions of a software float.
fn is_moderate<T: Format>(denominator: u64, numerator: u64) -> bool {
    let [denominators, numerators, differences] = moderate::<T>();
    let (low, high) = (exponent::<T>(denominator), exponent::<T>(numerator));
    denominators.contains(&low) && numerators.contains(&high) && differences.contains(&(high - low))
}

/// The exponent fields of denominators and numerators with which nothing is scaled, and numerators' minus denominators':
/// neither the denominator nor its reciprocal nor the quotient is denormal or far away. With these, `v_div_fixup` has
/// nothing to correct but the sign, unless the quotient is NaN.
pub(crate) fn moderate<T: Format>() -> [Range<i64>; 3] {
    let l = limits::<T>();
    let infinite = exponent::<T>(T::EXPONENT);
    let bias = infinite / 2;
    [1..infinite - 2, l.tiny + 1..infinite, 2 - bias..l.far_apart]
}

/// [`scale`], of any operands.
fn scale_extreme<T: Format>(s0: u64, s1: u64, s2: u64) -> (u64, bool) {
    let l = limits::<T>();
    let one = T::from_u128(1).value;
    let quotient_denormal =
        |n: T, d: u64| is_denormal::<T>((n / value::<T>(d)).value.to_bits() as u64);
    if value::<T>(s2).is_zero() || value::<T>(s1).is_zero() {
        (T::EXPONENT | quiet_bit::<T>(), false)
    } else if exponent::<T>(s2) - exponent::<T>(s1) >= l.far_apart {
        (
            if s0 == s1 {
                ldexp::<T>(s0, l.scale)
            } else {
                s0
            },
            true,
        )
    } else if is_denormal::<T>(s1) {
        (ldexp::<T>(s0, l.scale), false)
    } else if quotient_denormal(one, s1) && quotient_denormal(value::<T>(s2), s1) {
        // AMD's text scales the denominator up here, which would make it infinite: its reciprocal is denormal because
        // it is already large. Scaled down, the division gives the right result.
        (
            if s0 == s1 {
                ldexp::<T>(s0, -l.scale)
            } else {
                s0
            },
            true,
        )
    } else if quotient_denormal(one, s1) {
        (ldexp::<T>(s0, -l.scale), false)
    } else if quotient_denormal(value::<T>(s2), s1) {
        (
            if s0 == s2 {
                ldexp::<T>(s0, l.scale)
            } else {
                s0
            },
            true,
        )
    } else if exponent::<T>(s2) <= l.tiny {
        (ldexp::<T>(s0, l.scale), false)
    } else {
        (s0, false)
    }
}

/// `v_div_fmas` of a lane with scaled operands: the multiply-add times a power of two, rounded once.
pub(crate) fn fused_scaled<T>(sources: [u64; 3], settings: Settings) -> u64
where
    T: Format + FloatConvert<Quad>,
    Quad: FloatConvert<T>,
{
    let plain = evaluate::<T>(Arithmetic::Fma, sources, settings);
    if !value::<T>(plain).is_finite() {
        return plain;
    }
    let mut loses_info = false;
    let [a, b, c]: [Quad; 3] = sources.map(|s| {
        let s = if settings.keep_source_denormals {
            s
        } else {
            flushed::<T>(s)
        };
        value::<T>(s).convert(&mut loses_info).value
    });
    let scaled = a.mul_add(b, c).value.scalbn(scale_back::<T>(sources[2]));
    let rounded: T = scaled
        .convert_r(ap_round(settings.round), &mut loses_info)
        .value;
    let bits = rounded.to_bits() as u64;
    if settings.keep_result_denormals {
        bits
    } else {
        flushed::<T>(bits)
    }
}

/// The power of two by which `v_div_fmas` multiplies to undo `v_div_scale`, from the estimate of the quotient.
///
/// AMD's pseudocode uses 2^32 and 2^64, which do not undo the 2^64 and 2^128 of its own `v_div_scale`. The direction
/// depends on which operand was scaled, which the size of the estimate shows. A test checks that the compiler's
/// expansion of a division then rounds correctly.
fn scale_back<T: Format>(estimate: u64) -> i32 {
    let one = T::from_u128(1).value.to_bits() as u64;
    let scale = limits::<T>().scale;
    if exponent::<T>(estimate) > exponent::<T>(one) {
        scale
    } else {
        -scale
    }
}

/// `v_div_fixup`: the quotient in source 0, of denominator source 1 and numerator source 2, with the special cases
/// corrected.
pub(crate) fn fixup<T: Format>(s0: u64, s1: u64, s2: u64) -> u64 {
    let sign = (s1 ^ s2) & T::SIGN;
    let magnitude = |bits: u64| bits & (T::EXPONENT | T::FRACTION);
    let infinite = |bits: u64| magnitude(bits) == T::EXPONENT;
    let zero = |bits: u64| magnitude(bits) == 0;
    let invalid = T::SIGN | T::EXPONENT | quiet_bit::<T>();
    let highest = T::EXPONENT / (T::FRACTION + 1);
    if is_nan::<T>(s2) {
        quiet::<T>(s2)
    } else if is_nan::<T>(s1) {
        quiet::<T>(s1)
    } else if zero(s1) && zero(s2) || infinite(s1) && infinite(s2) {
        invalid
    } else if zero(s1) || infinite(s2) {
        sign | T::EXPONENT
    } else if infinite(s1) || zero(s2) {
        sign
    } else if exponent::<T>(s2) - exponent::<T>(s1) < limits::<T>().underflow {
        // Half of the smallest denormal, rounded to nearest even.
        sign
    } else if exponent::<T>(s1) == highest as i64 || is_nan::<T>(s0) {
        // A NaN estimate of operands that are not NaN has overflowed to ∞ on its way. AMD's text has no case for it,
        // but on the hardware the compiler's expansion divides correctly.
        sign | T::EXPONENT
    } else {
        sign | magnitude(s0)
    }
}

#[cfg(test)]
mod tests {
    use rustc_apfloat::ieee::{Double, Single};

    use super::*;

    /// Pairs of exponents, all or some of them and those around the limits, with fractions of 0, 1 and all ones.
    fn moderate_operands_are_not_scaled<T: Format>(steps: usize) {
        let infinite = exponent::<T>(T::EXPONENT);
        let l = limits::<T>();
        let number =
            |exponent: i64, fraction: u64| (exponent as u64 * (T::FRACTION + 1)) | fraction;
        let mut moderate = 0;
        for low in (0..=infinite).step_by(steps) {
            let around = [
                low + l.far_apart,
                low + 2 - infinite / 2,
                low,
                l.tiny,
                infinite,
            ];
            let around = around.into_iter().flat_map(|limit| limit - 2..=limit + 2);
            let everywhere = (0..=infinite).step_by(steps);
            for high in around
                .chain(everywhere)
                .filter(|high| (0..=infinite).contains(high))
            {
                for (a, b) in [(0, 0), (0, 1), (0, T::FRACTION), (1, 0), (T::FRACTION, 0)] {
                    let (denominator, numerator) = (number(low, a), number(high, b));
                    if !is_moderate::<T>(denominator, numerator) {
                        continue;
                    }
                    moderate += 1;
                    for s0 in [denominator, numerator] {
                        let scaled = scale_extreme::<T>(s0, denominator, numerator);
                        assert_eq!(scaled, (s0, false), "{numerator:#x} / {denominator:#x}");
                    }
                }
            }
        }
        assert!(moderate > 100_000, "{moderate}");
    }

    #[test]
    fn moderate_singles_are_not_scaled() {
        moderate_operands_are_not_scaled::<Single>(1);
    }

    #[test]
    fn moderate_doubles_are_not_scaled() {
        moderate_operands_are_not_scaled::<Double>(7);
    }
}
