//! Element types of values and buffers, named as in Rust.

use ferrowave_code_object::Scalar;
use half::{bf16, f16};

/// The type of a value or of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `u8`.
    U8,
    /// `i8`.
    I8,
    /// `u16`.
    U16,
    /// `i16`.
    I16,
    /// `u32`.
    U32,
    /// `i32`.
    I32,
    /// `u64`.
    U64,
    /// `i64`.
    I64,
    /// `f16`.
    F16,
    /// `bf16`.
    Bf16,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
}

impl Element {
    const ALL: [(&'static str, Element); 12] = [
        ("u8", Element::U8),
        ("i8", Element::I8),
        ("u16", Element::U16),
        ("i16", Element::I16),
        ("u32", Element::U32),
        ("i32", Element::I32),
        ("u64", Element::U64),
        ("i64", Element::I64),
        ("f16", Element::F16),
        ("bf16", Element::Bf16),
        ("f32", Element::F32),
        ("f64", Element::F64),
    ];

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().map(|(_, element)| element)
    }

    /// Its name in Rust.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// The type with this name.
    ///
    /// # Errors
    /// If there is none; the error lists the names.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, element)| *element).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            format!("`{name}` is no type; there are {names}")
        })
    }

    /// The bytes of a value.
    pub const fn bytes(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 | Element::F16 | Element::Bf16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Element::F16 | Element::Bf16 | Element::F32 | Element::F64
        )
    }

    /// Whether a kernel's parameter of type `scalar` takes values of this type. Signedness is ignored. Integers of up
    /// to 16 bits also match floats of their size, because source languages may lack a type for these.
    pub(crate) fn fits(self, scalar: Scalar) -> bool {
        let is_small_integer = !scalar.is_float && scalar.bytes <= 2;
        self.bytes() as u64 == scalar.bytes
            && (self.is_float() == scalar.is_float || is_small_integer)
    }

    /// The bytes of a float, rounded to this type.
    pub fn float(self, value: f64) -> Vec<u8> {
        match self {
            // By way of f32 on all hosts: `from_f64` goes that way only where the host has F16C.
            Element::F16 => f16::from_f32(value as f32).to_le_bytes().to_vec(),
            Element::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
            Element::F32 => (value as f32).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().to_vec(),
        }
    }

    /// Formats the [`Self::bytes`] bytes of a value as the shortest text that parses to the same value.
    pub(crate) fn text(self, bytes: &[u8]) -> String {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        match self {
            Element::U8 | Element::U16 | Element::U32 | Element::U64 => bits.to_string(),
            Element::I8 => (bits as i8).to_string(),
            Element::I16 => (bits as i16).to_string(),
            Element::I32 => (bits as i32).to_string(),
            Element::I64 => (bits as i64).to_string(),
            Element::F16 => float_text(f16::from_bits(bits as u16).to_f32()),
            Element::Bf16 => float_text(bf16::from_bits(bits as u16).to_f32()),
            Element::F32 => float_text(f32::from_bits(bits as u32)),
            Element::F64 => float_text(f64::from_bits(bits)),
        }
    }

    /// Parses a value into its bytes.
    ///
    /// # Errors
    /// If the text is no value of this type, or one out of its range.
    pub fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        match self.is_float() {
            true => self.parse_float(text),
            false => self.parse_integer(text),
        }
    }

    fn parse_float(self, text: &str) -> Result<Vec<u8>, String> {
        let name = self.name();
        let value: f64 = text.parse().map_err(|_| {
            format!("`{text}` is no {name}: write a number such as 1.5 or -2e-3, inf or nan")
        })?;
        // By way of f64 it could be rounded twice.
        let bytes = match self {
            Element::F32 => (text.parse::<f32>().unwrap_or(value as f32).to_le_bytes()).to_vec(),
            _ => self.float(value),
        };
        // Only the names of infinity have letters other than `e`.
        let is_number = text.bytes().any(|byte| byte.is_ascii_digit());
        match is_number && self.text(&bytes).ends_with("inf") {
            true => Err(format!("`{text}` is too large for {name}")),
            false => Ok(bytes),
        }
    }

    fn parse_integer(self, text: &str) -> Result<Vec<u8>, String> {
        let bits = 8 * self.bytes() as u32;
        let signed = matches!(
            self,
            Element::I8 | Element::I16 | Element::I32 | Element::I64
        );
        let range = match signed {
            true => -(1_i128 << (bits - 1))..1 << (bits - 1),
            false => 0..1 << bits,
        };
        let value = match text.strip_prefix("0x") {
            // A sign behind the prefix would be accepted.
            Some(digits) if digits.starts_with(['+', '-']) => None,
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        match value.filter(|value| range.contains(value)) {
            Some(value) => Ok(value.to_le_bytes()[..self.bytes()].to_vec()),
            None => Err(format!(
                "`{text}` is no {}: write a whole number from {} to {}",
                self.name(),
                range.start,
                range.end - 1
            )),
        }
    }
}

/// Uses an exponent for small and large numbers, which would otherwise print long runs of zeros.
fn float_text(value: impl Into<f64> + std::fmt::Display + std::fmt::LowerExp + Copy) -> String {
    let magnitude = value.into().abs();
    match magnitude == 0.0 || (1e-4..1e7).contains(&magnitude) || !magnitude.is_finite() {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_names_and_texts() {
        for (index, (name, element)) in Element::ALL.into_iter().enumerate() {
            assert_eq!(element as usize, index);
            assert_eq!(element.name(), name);
            let bytes = element.parse("5").expect("a value");
            assert_eq!(element.text(&bytes), "5");
        }
        let check = |element: Element, value: &str| {
            let bytes = element.parse(value).expect("a value");
            assert_eq!(element.text(&bytes), value);
        };
        check(Element::I8, "-128");
        check(Element::I64, "-9223372036854775808");
        check(Element::F32, "0.1");
        check(Element::F32, "1.5e-7");
        check(Element::F64, "-1e300");
        check(Element::Bf16, "-0.5");
        check(Element::F32, "NaN");
        let refused = |element: Element, value: &str, part: &str| {
            let error = element.parse(value).expect_err(value);
            assert!(
                error.contains(&format!("`{value}`")) && error.contains(part),
                "{error}"
            );
        };
        refused(
            Element::I8,
            "300",
            "no i8: write a whole number from -128 to 127",
        );
        refused(Element::U64, "-1", "from 0 to 18446744073709551615");
        refused(Element::U32, "", "no u32");
        refused(Element::I8, "0x-5", "no i8");
        refused(Element::F16, "", "no f16: write a number");
        refused(Element::F16, "1e5", "too large for f16");
        refused(Element::F32, "-1e39", "too large for f32");
        refused(Element::F64, "1e309", "too large for f64");
        check(Element::F16, "-inf");
        assert_eq!(
            Element::F64.parse("-Infinity"),
            Ok(f64::NEG_INFINITY.to_le_bytes().to_vec())
        );
        // Just above the middle of two values of f32, where an f64 does not tell it from the middle.
        let above_half = Element::F32
            .parse("1.0000000596046447754")
            .expect("a value");
        assert_eq!(above_half, 1.000_000_1_f32.to_le_bytes());
        // Half way between two values of f16 once it is rounded to f32.
        let above_half = 1.0 + 0.5_f64.powi(11) + 0.5_f64.powi(40);
        assert_eq!(Element::F16.text(&Element::F16.float(above_half)), "1");
    }
}
