//! Floating-point formats of 8 bits and fewer, by their definition: a table of values.

/// A format: bits of the exponent and the fraction, bias, and what it has besides numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) exponent: u32,
    pub(super) fraction: u32,
    pub(super) bias: i32,
    pub(super) specials: Specials,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Specials {
    /// All patterns are numbers.
    None,
    /// 0x80 is NaN (AMD's FNUZ).
    Fnuz,
    /// 0x7f and 0xff are NaN (OCP E4M3).
    Finite,
    /// ∞ and NaN as IEEE 754 (OCP E5M2).
    Ieee,
}

const fn format(exponent: u32, fraction: u32, bias: i32, specials: Specials) -> Format {
    Format {
        exponent,
        fraction,
        bias,
        specials,
    }
}

pub(super) const FP8: Format = format(4, 3, 7, Specials::Finite);
pub(super) const BF8: Format = format(5, 2, 15, Specials::Ieee);
pub(super) const FP8_FNUZ: Format = format(4, 3, 8, Specials::Fnuz);
pub(super) const BF8_FNUZ: Format = format(5, 2, 16, Specials::Fnuz);
pub(super) const FP6: Format = format(2, 3, 1, Specials::None);
pub(super) const BF6: Format = format(3, 2, 3, Specials::None);
pub(super) const FP4: Format = format(2, 1, 1, Specials::None);

impl Format {
    pub(super) const fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// The value of a pattern.
    pub(super) fn value(self, bits: u32) -> f64 {
        let magnitude = bits & ((1 << (self.bits() - 1)) - 1);
        let negative = bits >> (self.bits() - 1) & 1 == 1;
        let exponent = (magnitude >> self.fraction) as i32;
        let fraction = f64::from(magnitude & ((1 << self.fraction) - 1));
        let steps = f64::from(1 << self.fraction);
        let all_ones = (1 << self.exponent) - 1;
        let size = match self.specials {
            Specials::Fnuz if negative && magnitude == 0 => f64::NAN,
            Specials::Finite if magnitude == 0x7f => f64::NAN,
            Specials::Ieee if exponent == all_ones && fraction == 0.0 => f64::INFINITY,
            Specials::Ieee if exponent == all_ones => f64::NAN,
            _ if exponent == 0 => fraction / steps * 2_f64.powi(1 - self.bias),
            _ => (1.0 + fraction / steps) * 2_f64.powi(exponent - self.bias),
        };
        if negative { -size } else { size }
    }
}
