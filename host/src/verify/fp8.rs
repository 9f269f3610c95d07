//! Floats of 8, 6 and 4 bits.
//!
//! | | OCP E4M3 ([`Encoding::OCP`]) | E4M3 FNUZ ([`Encoding::FNUZ`]) | OCP E5M2 ([`Encoding::E5M2`]) |
//! |---|---|---|---|
//! | source | OCP, *8-bit Floating Point Specification*, revision 1.0 | AMD, *CDNA 3 ISA* guide; Noune and others, *8-bit numerical formats for deep neural networks*, 2022 | as E4M3 |
//! | exponent bias | 7 | 8 | 15 |
//! | fraction bits | 3 | 3 | 2 |
//! | NaN | `0x7f`, `0xff` | `0x80` | `0x7d` to `0x7f`, `0xfd` to `0xff` |
//! | infinity | none | none | `0x7c`, `0xfc` |
//! | zero | both signs | `0x00` only | both signs |
//! | largest | 448 | 240 | 57,344 |
//! | smallest normal, denormal | 2⁻⁶, 2⁻⁹ | 2⁻⁷, 2⁻¹⁰ | 2⁻¹⁴, 2⁻¹⁶ |
//!
//! E5M2 FNUZ ([`Encoding::E5M2_FNUZ`]; the sources of E4M3 FNUZ) has a bias of 16, two fraction bits, and NaN and zero as E4M3
//! FNUZ: 2⁻¹⁷ is its smallest number, 57,344 its largest.
//!
//! E2M1 ([`Encoding::E2M1`]; OCP, *Microscaling Formats Specification*, version 1.0) has 4 bits, a bias of 1, one fraction bit,
//! both zeros, and neither NaN nor infinity: 0.5 is its only denormal, 6 its largest number. E2M3 ([`Encoding::E2M3`]; the same
//! source) has 6 bits and three fraction bits: 0.125 is its smallest number, 7.5 its largest. E3M2 ([`Encoding::E3M2`]) has 6 bits,
//! a bias of 3 and two fraction bits: 0.0625 is its smallest number, 28 its largest.

/// An encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    bits: u32,
    fraction_bits: u32,
    bias: i32,
    /// The codes of NaN.
    nan: &'static [u8],
    /// The codes of infinities.
    infinite: &'static [u8],
}

impl Encoding {
    /// The OCP's encoding with three fraction bits, on gfx950 and RDNA 4.
    pub(super) const OCP: Self = Self {
        bits: 8,
        fraction_bits: 3,
        bias: 7,
        nan: &[0x7f, 0xff],
        infinite: &[],
    };

    /// «Finite, NaN, unsigned zero», on gfx942.
    pub(super) const FNUZ: Self = Self {
        bits: 8,
        fraction_bits: 3,
        bias: 8,
        nan: &[0x80],
        infinite: &[],
    };

    /// «Finite, NaN, unsigned zero» with two fraction bits, on gfx942.
    pub(super) const E5M2_FNUZ: Self = Self {
        fraction_bits: 2,
        bias: 16,
        ..Self::FNUZ
    };

    /// The OCP's encoding with two fraction bits, on gfx950 and RDNA 4.
    pub(super) const E5M2: Self = Self {
        bits: 8,
        fraction_bits: 2,
        bias: 15,
        nan: &[0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff],
        infinite: &[0x7c, 0xfc],
    };

    /// The OCP's encoding of MXFP4.
    pub(super) const E2M1: Self = Self {
        bits: 4,
        fraction_bits: 1,
        bias: 1,
        nan: &[],
        infinite: &[],
    };

    /// The OCP's encoding of MXFP6 with three fraction bits.
    pub(super) const E2M3: Self = Self {
        bits: 6,
        fraction_bits: 3,
        ..Self::E2M1
    };

    /// The OCP's encoding of MXFP6 with two fraction bits.
    pub(super) const E3M2: Self = Self {
        bits: 6,
        fraction_bits: 2,
        bias: 3,
        ..Self::E2M1
    };

    /// A code of NaN.
    pub(super) const fn nan(self) -> u8 {
        self.nan[0]
    }

    /// Whether a code is a number.
    pub(super) fn is_number(self, code: u8) -> bool {
        !self.nan.contains(&code)
    }

    /// The code nearest to `value`, ties to even. Numbers saturate; an infinity is NaN if the encoding has none.
    pub(super) fn nearest(self, value: f64) -> u8 {
        let sign = 1 << (self.bits - 1);
        let infinite = value.is_infinite().then(|| self.infinite.first());
        if value.is_nan() || infinite == Some(None) {
            return self.nan();
        }
        let magnitude = match infinite.flatten() {
            Some(&infinity) => infinity,
            None => self.nearest_magnitude(value.abs()),
        };
        // FNUZ has one zero: the other's code is NaN.
        if value.is_sign_negative() && (magnitude != 0 || self.is_number(sign)) {
            magnitude | sign
        } else {
            magnitude
        }
    }

    /// The code nearest to a positive number: codes are in the order of their values.
    fn nearest_magnitude(self, value: f64) -> u8 {
        let is_finite = |&code: &u8| self.value(code).is_finite();
        let codes = 0..1 << (self.bits - 1);
        let (mut below, mut above) = (0, codes.rev().find(is_finite).unwrap_or(0));
        if value >= self.value(above) {
            return above;
        }
        while above - below > 1 {
            let middle = below.midpoint(above);
            if self.value(middle) <= value {
                below = middle;
            } else {
                above = middle;
            }
        }
        let (down, up) = (value - self.value(below), self.value(above) - value);
        // Of neighbours, one code is even.
        if up < down || up == down && above & 1 == 0 {
            above
        } else {
            below
        }
    }

    /// The value of a code.
    pub(super) fn value(self, code: u8) -> f64 {
        if !self.is_number(code) {
            return f64::NAN;
        }
        let one = 1 << self.fraction_bits;
        let fraction = f64::from(code & (one - 1));
        let sign = 1 << (self.bits - 1);
        let exponent = i32::from((code & (sign - 1)) >> self.fraction_bits);
        let last_bit = -self.bias - self.fraction_bits as i32;
        let magnitude = if self.infinite.contains(&code) {
            f64::INFINITY
        } else if exponent == 0 {
            // Denormals have the exponent of the smallest normal numbers, without the leading one.
            fraction * power_of_two(1 + last_bit)
        } else {
            (f64::from(one) + fraction) * power_of_two(exponent + last_bit)
        };
        if code & sign != 0 {
            -magnitude
        } else {
            magnitude
        }
    }
}

fn power_of_two(exponent: i32) -> f64 {
    2.0_f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_the_ocp_encoding() {
        let value = |code| Encoding::OCP.value(code);
        assert_eq!(value(0x00), 0.0);
        assert!(value(0x80) == 0.0 && value(0x80).is_sign_negative());
        assert_eq!(value(0x01), 0.001_953_125);
        assert_eq!(value(0x07), 0.013_671_875);
        assert_eq!(value(0x08), 0.015_625);
        assert_eq!(value(0x38), 1.0);
        assert_eq!(value(0xbc), -1.5);
        assert_eq!(value(0x7e), 448.0);
        assert_eq!(value(0xfe), -448.0);
        assert!(value(0x7f).is_nan() && value(0xff).is_nan());
    }

    #[test]
    fn corners_of_the_fnuz_encoding() {
        let value = |code| Encoding::FNUZ.value(code);
        assert_eq!(value(0x00), 0.0);
        assert!(value(0x80).is_nan());
        assert_eq!(value(0x01), 0.000_976_562_5);
        assert_eq!(value(0x08), 0.007_812_5);
        assert_eq!(value(0x40), 1.0);
        assert_eq!(value(0xc4), -1.5);
        assert_eq!(value(0x7f), 240.0);
        assert_eq!(value(0xff), -240.0);
    }

    /// The table in the OCP's specification.
    #[test]
    fn e2m1_has_sixteen_values() {
        let values: Vec<_> = (0..16).map(|code| Encoding::E2M1.value(code)).collect();
        let positive = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        assert_eq!(values[..8], positive);
        assert_eq!(values[8..], positive.map(|value| -value));
        assert!(values[8].is_sign_negative());
    }

    /// Every positive code of E3M2, in sixteenths, likewise.
    #[test]
    fn e3m2_has_sixty_four_values() {
        let sixteenths: [[u16; 4]; 8] = [
            [0, 1, 2, 3],
            [4, 5, 6, 7],
            [8, 10, 12, 14],
            [16, 20, 24, 28],
            [32, 40, 48, 56],
            [64, 80, 96, 112],
            [128, 160, 192, 224],
            [256, 320, 384, 448],
        ];
        for (code, &expected) in (0_u8..).zip(sixteenths.as_flattened()) {
            let expected = f64::from(expected) / 16.0;
            assert_eq!(Encoding::E3M2.value(code), expected, "{code:#x}");
            let negative = Encoding::E3M2.value(code | 0x20);
            assert!(
                negative == -expected && negative.is_sign_negative(),
                "{code:#x}"
            );
        }
    }

    /// Every code of E2M3, in eighths: of the fraction, with a leading one unless the exponent is 0, times 2 to the power of
    /// the exponent less 1 (OCP, *Microscaling Formats Specification*, section 5.3.2).
    #[test]
    fn e2m3_has_sixty_four_values() {
        let of_exponent = |exponent| match exponent {
            0 => [0, 1, 2, 3, 4, 5, 6, 7],
            1 => [8, 9, 10, 11, 12, 13, 14, 15],
            2 => [16, 18, 20, 22, 24, 26, 28, 30],
            _ => [32, 36, 40, 44, 48, 52, 56, 60],
        };
        for (exponent, fraction) in (0..4).flat_map(|e| (0..8).map(move |f| (e, f))) {
            let code = exponent << 3 | fraction;
            let expected = f64::from(of_exponent(exponent)[usize::from(fraction)]) / 8.0;
            assert_eq!(Encoding::E2M3.value(code), expected, "{code:#x}");
            let negative = Encoding::E2M3.value(code | 0x20);
            assert!(
                negative == -expected && negative.is_sign_negative(),
                "{code:#x}"
            );
        }
    }

    /// E5M2 is the upper half of binary16.
    #[test]
    fn e5m2_is_half_of_binary16() {
        for code in 0..=u8::MAX {
            let half = half::f16::from_bits(u16::from(code) << 8).to_f64();
            let value = Encoding::E5M2.value(code);
            assert!(
                value.to_bits() == half.to_bits() || value.is_nan() && half.is_nan(),
                "{code:#x}: {value}, {half}"
            );
        }
    }

    /// E5M2 FNUZ has half of E5M2's values, and finite ones at its infinities and NaNs.
    #[test]
    fn e5m2_fnuz_is_half_of_e5m2() {
        for code in (0..=u8::MAX).filter(|code| code & 0x7f < 0x7c) {
            let value = Encoding::E5M2_FNUZ.value(code);
            if code == 0x80 {
                assert!(value.is_nan());
            } else {
                assert_eq!(value, Encoding::E5M2.value(code) / 2.0, "{code:#x}");
            }
        }
        let largest = [0x7c, 0x7d, 0x7e, 0xff].map(|code| Encoding::E5M2_FNUZ.value(code));
        assert_eq!(largest, [32_768.0, 40_960.0, 49_152.0, -57_344.0]);
    }

    #[test]
    fn the_nearest_code_is_that_of_each_value_and_ties_are_even() {
        for encoding in [
            Encoding::OCP,
            Encoding::FNUZ,
            Encoding::E5M2,
            Encoding::E5M2_FNUZ,
        ] {
            let codes = (0..=u8::MAX).filter(|&code| encoding.is_number(code));
            for code in codes.clone() {
                assert_eq!(encoding.nearest(encoding.value(code)), code);
            }
            for code in codes.filter(|code| code & 0x7f < 0x7b) {
                let (low, high) = (encoding.value(code), encoding.value(code + 1));
                let (middle, even) = ((low + high) / 2.0, code + (code & 1));
                assert_eq!(encoding.nearest(middle), even, "{middle}");
                assert_eq!(encoding.nearest(middle + (low - high) / 64.0), code);
                assert_eq!(encoding.nearest(middle + (high - low) / 64.0), code + 1);
            }
        }
    }

    /// The rules for infinities and overflow: AMD's, for conversions that saturate numbers only.
    #[test]
    fn numbers_saturate_and_infinities_do_not() {
        assert_eq!(Encoding::OCP.nearest(1e9), 0x7e);
        assert_eq!(Encoding::OCP.nearest(-464.1), 0xfe);
        assert_eq!(Encoding::OCP.nearest(f64::INFINITY), 0x7f);
        assert_eq!(Encoding::FNUZ.nearest(-1e9), 0xff);
        assert_eq!(Encoding::FNUZ.nearest(f64::NEG_INFINITY), 0x80);
        assert_eq!(Encoding::FNUZ.nearest(-1e-9), 0);
        assert_eq!(Encoding::E5M2.nearest(1e9), 0x7b);
        assert_eq!(Encoding::E5M2.nearest(f64::NEG_INFINITY), 0xfc);
        assert!(
            Encoding::E5M2
                .value(Encoding::E5M2.nearest(f64::NAN))
                .is_nan()
        );
    }

    #[test]
    fn codes_are_in_the_order_of_their_values() {
        for encoding in [
            Encoding::OCP,
            Encoding::FNUZ,
            Encoding::E5M2,
            Encoding::E5M2_FNUZ,
        ] {
            let positive: Vec<_> = (0..0x80)
                .filter(|&code| encoding.is_number(code))
                .map(|code| encoding.value(code))
                .collect();
            assert!(positive.is_sorted_by(|left, right| left < right));
            for code in (1..0x80).filter(|&code| encoding.is_number(code)) {
                assert_eq!(encoding.value(code | 0x80), -encoding.value(code));
            }
        }
    }
}
