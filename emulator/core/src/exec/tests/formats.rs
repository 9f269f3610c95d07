//! Floating-point formats of 8 bits and fewer, defined as tables of values.

/// A format: bits of exponent and fraction, bias, and special values.
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

    /// The largest number's pattern.
    fn largest(self) -> u32 {
        let patterns = 0..1 << (self.bits() - 1);
        patterns.rev().find(|&p| self.value(p).is_finite()).unwrap()
    }

    /// The result for a number that is too large.
    fn overflow(self, saturate: bool) -> u32 {
        match self.specials {
            _ if saturate => self.largest(),
            Specials::None => self.largest(),
            Specials::Fnuz => 0x80,
            Specials::Finite => 0x7f,
            Specials::Ieee => self.largest() + 1,
        }
    }

    /// The pattern with the sign of `value`; FNUZ has neither −0 nor a NaN with a sign.
    fn signed(self, value: f64, pattern: u32) -> u32 {
        let unsigned = self.specials == Specials::Fnuz && matches!(pattern, 0 | 0x80);
        if value.is_sign_negative() && !unsigned {
            pattern | 1 << (self.bits() - 1)
        } else {
            pattern
        }
    }

    /// NaN, or the pattern used instead.
    fn nan(self, value: f64) -> u32 {
        match self.specials {
            Specials::Fnuz => 0x80,
            _ => self.signed(value, (1 << (self.bits() - 1)) - 1),
        }
    }

    /// The largest pattern not above a magnitude, and the width of the gap above it. The gap above the largest number
    /// is as wide as the one below it.
    fn below(self, size: f64) -> (u32, f64) {
        let below = (0..=self.largest())
            .rev()
            .find(|&p| self.value(p) <= size)
            .unwrap();
        let gap = if below == self.largest() {
            self.value(below) - self.value(below - 1)
        } else {
            self.value(below + 1) - self.value(below)
        };
        (below, gap)
    }

    /// The nearest number, ties to even; found by trying all.
    pub(super) fn nearest(self, value: f64, saturate: bool) -> u32 {
        if value.is_nan() {
            return self.nan(value);
        }
        if value.is_infinite() {
            return self.signed(value, self.overflow(saturate));
        }
        let (below, gap) = self.below(value.abs());
        let part = (value.abs() - self.value(below)) / gap;
        let up = part > 0.5 || part == 0.5 && below % 2 == 1;
        self.stepped(value, below, up, saturate)
    }

    /// Stochastic rounding: the number below, or the one above if the dropped bits (the extra bits of a source with
    /// `fraction` bits) plus random bits carry.
    pub(super) fn stochastic(self, value: f64, fraction: u32, random: u32, saturate: bool) -> u32 {
        if value.is_nan() {
            return self.nan(value);
        }
        if value.is_infinite() {
            return self.signed(value, self.overflow(saturate));
        }
        let (below, gap) = self.below(value.abs());
        let bits = fraction - self.fraction;
        let steps = 2_f64.powi(bits as i32);
        let dropped = ((value.abs() - self.value(below)) / gap * steps).floor();
        let up = dropped + f64::from(random >> (32 - bits)) >= steps;
        self.stepped(value, below, up, saturate)
    }

    fn stepped(self, value: f64, below: u32, up: bool, saturate: bool) -> u32 {
        let past = value.abs() >= 2.0 * self.value(self.largest());
        let pattern = below + u32::from(up);
        if past || pattern > self.largest() {
            self.signed(value, self.overflow(saturate))
        } else {
            self.signed(value, pattern)
        }
    }
}
