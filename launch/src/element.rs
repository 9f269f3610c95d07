//! Types of values and of buffers' elements, by their names in Rust.

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

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, element)| *element).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            format!("`{name}` is no type; there are {names}")
        })
    }

    pub(crate) const fn bytes(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 | Element::F16 | Element::Bf16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(
            self,
            Element::F16 | Element::Bf16 | Element::F32 | Element::F64
        )
    }

    pub(crate) fn float(self, value: f64) -> Vec<u8> {
        match self {
            Element::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
            Element::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
            Element::F32 => (value as f32).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().to_vec(),
        }
    }

    /// The value that a text stands for, as bytes.
    pub(crate) fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        let error = || format!("`{text}` is no value of this type");
        if self.is_float() {
            return Ok(self.float(text.parse().map_err(|_| error())?));
        }
        let value: i128 = match text.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).map_err(|_| error())?,
            None => text.parse().map_err(|_| error())?,
        };
        let bits = 8 * self.bytes() as u32;
        let signed = matches!(
            self,
            Element::I8 | Element::I16 | Element::I32 | Element::I64
        );
        let range = match signed {
            true => -(1_i128 << (bits - 1))..1 << (bits - 1),
            false => 0..1 << bits,
        };
        match range.contains(&value) {
            true => Ok(value.to_le_bytes()[..self.bytes()].to_vec()),
            false => Err(error()),
        }
    }
}
