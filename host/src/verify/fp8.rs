//! 8-bit floats with four exponent and three fraction bits.
//!
//! | | OCP E4M3 ([`Encoding::OCP`]) | E4M3 FNUZ ([`Encoding::FNUZ`]) |
//! |---|---|---|
//! | source | OCP, *8-bit Floating Point Specification*, revision 1.0 | AMD, *CDNA 3 ISA* guide; Noune and others, *8-bit numerical formats for deep neural networks*, 2022 |
//! | exponent bias | 7 | 8 |
//! | NaN | `0x7f`, `0xff` | `0x80` |
//! | infinity | none | none |
//! | zero | both signs | `0x00` only |
//! | largest | 448 | 240 |
//! | smallest normal, denormal | 2⁻⁶, 2⁻⁹ | 2⁻⁷, 2⁻¹⁰ |

/// Bits of the fraction.
const FRACTION_BITS: u32 = 3;

/// One of the two encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    bias: i32,
    /// The codes of NaN.
    nan: [u8; 2],
}

impl Encoding {
    /// The OCP's encoding, on gfx950.
    pub(super) const OCP: Self = Self {
        bias: 7,
        nan: [0x7f, 0xff],
    };

    /// «Finite, NaN, unsigned zero», on gfx942.
    pub(super) const FNUZ: Self = Self {
        bias: 8,
        nan: [0x80; 2],
    };

    /// A code of NaN.
    pub(super) const fn nan(self) -> u8 {
        self.nan[0]
    }

    /// Whether a code is a number.
    pub(super) fn is_number(self, code: u8) -> bool {
        !self.nan.contains(&code)
    }

    /// The value of a code.
    pub(super) fn value(self, code: u8) -> f64 {
        if !self.is_number(code) {
            return f64::NAN;
        }
        let fraction = f64::from(code & 0b111);
        let exponent = i32::from(code >> FRACTION_BITS & 0b1111);
        let magnitude = if exponent == 0 {
            // Denormals have the exponent of the smallest normal numbers, without the leading one.
            fraction * power_of_two(1 - self.bias - FRACTION_BITS as i32)
        } else {
            (8.0 + fraction) * power_of_two(exponent - self.bias - FRACTION_BITS as i32)
        };
        if code & 0x80 != 0 {
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

    #[test]
    fn codes_are_in_the_order_of_their_values() {
        for encoding in [Encoding::OCP, Encoding::FNUZ] {
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
