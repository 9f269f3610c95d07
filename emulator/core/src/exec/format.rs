//! Formats of typed buffers and images: where the components of an element are, and how they convert to and from registers.
//!
//! Codes are those of AMD's CDNA4 ISA guide, table 41. The first component of a packed element has the lowest bits
//! (Mesa uses 10_11_11 for R11G11B10, 2_10_10_10 for R10G10B10A2). The guide says that floats and normalized numbers
//! are floats in registers and integers are integers, but not how they are rounded. Rounding here follows Direct3D's
//! data conversion rules for GPUs: normalized numbers to nearest, floats to smaller floats towards zero, integers and
//! scaled numbers to the nearest representable one.

use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Half, Single},
};

/// What a component's bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// [0, 1] in equal steps.
    Unorm,
    /// [-1, 1] in equal steps.
    Snorm,
    /// An unsigned integer that is a float in registers.
    Uscaled,
    /// A signed integer that is a float in registers.
    Sscaled,
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// A float. One of 10 or 11 bits is unsigned and has f16's exponent.
    Float,
}

/// A valid format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of each component.
    widths: &'static [u8],
    pub(super) number: Number,
}

/// Where a component is: in which unit of memory, and in which of its bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComponentPlace {
    /// The unit's first byte in the element.
    pub(super) at: u64,
    /// The unit's bytes.
    pub(super) bytes: u32,
    shift: u32,
    bits: u32,
}

/// Why there is no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoFormat {
    /// The invalid format: the buffer is unbound.
    Unbound,
    /// The combination of codes has no meaning.
    Unknown,
}

impl Format {
    /// The format with these codes of a data format and a number format.
    pub(super) fn new(data: u8, number: u8) -> Result<Self, NoFormat> {
        let widths: &[u8] = match data {
            0 => return Err(NoFormat::Unbound),
            1 => &[8],
            2 => &[16],
            3 => &[8; 2],
            4 => &[32],
            5 => &[16; 2],
            6 => &[11, 11, 10],
            7 => &[10, 11, 11],
            8 => &[2, 10, 10, 10],
            9 => &[10, 10, 10, 2],
            10 => &[8; 4],
            11 => &[32; 2],
            12 => &[16; 4],
            13 => &[32; 3],
            14 => &[32; 4],
            _ => return Err(NoFormat::Unknown),
        };
        let number = match number {
            0 => Number::Unorm,
            1 => Number::Snorm,
            2 => Number::Uscaled,
            3 => Number::Sscaled,
            4 => Number::Uint,
            5 => Number::Sint,
            7 => Number::Float,
            _ => return Err(NoFormat::Unknown),
        };
        let exists = match number {
            Number::Uint | Number::Sint => true,
            // Floats have neither 8-bit components nor the 2 bits beside three of 10.
            Number::Float => widths.iter().all(|bits| *bits > 8),
            _ => widths[0] != 32,
        };
        if !exists {
            return Err(NoFormat::Unknown);
        }
        Ok(Format { widths, number })
    }

    /// RDNA 3's format with this code, which stands for a data format and a number format (LLVM's `AMDGPUAsmUtils`,
    /// `UfmtGFX11`).
    pub(super) fn unified(code: u8) -> Result<Self, NoFormat> {
        // Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float: 0 to 5 and 7.
        let (data, number) = match code {
            0 => return Err(NoFormat::Unbound),
            1..=6 => (1, code - 1),
            7..=13 => (2, number_from(code - 7)),
            14..=19 => (3, code - 14),
            20..=22 => (4, [4, 5, 7][usize::from(code - 20)]),
            23..=29 => (5, number_from(code - 23)),
            30 => (6, 7),
            31 => (7, 7),
            32 => (8, 0),
            33 => (8, 1),
            34 => (8, 4),
            35 => (8, 5),
            36..=41 => (9, code - 36),
            42..=47 => (10, code - 42),
            48..=50 => (11, [4, 5, 7][usize::from(code - 48)]),
            51..=57 => (12, number_from(code - 51)),
            58..=60 => (13, [4, 5, 7][usize::from(code - 58)]),
            61..=63 => (14, [4, 5, 7][usize::from(code - 61)]),
            _ => return Err(NoFormat::Unknown),
        };
        Self::new(data, number)
    }

    /// The format of components of the same bits.
    pub(super) fn of(components: usize, bits: u8, number: Number) -> Option<Self> {
        let mut formats = codes().filter_map(|(data, code)| Self::new(data, code).ok());
        formats.find(|format| {
            let alike = format.widths.iter().all(|width| *width == bits);
            alike && format.components() == components && format.number == number
        })
    }

    /// The codes of the data format and the number format.
    pub(super) fn codes(&self) -> (u8, u8) {
        let mut codes = codes();
        let found = codes.find(|&(data, number)| Self::new(data, number) == Ok(*self));
        found.unwrap_or_default()
    }

    /// RDNA 3's code. A few formats have none.
    pub(super) fn unified_code(&self) -> Option<u8> {
        (1..64).find(|&code| Self::unified(code) == Ok(*self))
    }

    pub(super) fn components(&self) -> usize {
        self.widths.len()
    }

    /// Whether components share a dword.
    pub(super) fn is_packed(&self) -> bool {
        self.widths.iter().any(|bits| bits % 8 != 0)
    }

    /// Bytes of an element.
    pub(super) fn bytes(&self) -> u32 {
        self.widths.iter().map(|&bits| u32::from(bits)).sum::<u32>() / 8
    }

    /// The place of a component.
    pub(super) fn place(&self, component: usize) -> ComponentPlace {
        let before = self.widths[..component]
            .iter()
            .map(|&bits| u32::from(bits))
            .sum::<u32>();
        let bits = u32::from(self.widths[component]);
        if self.is_packed() {
            return ComponentPlace {
                at: 0,
                bytes: 4,
                shift: before,
                bits,
            };
        }
        ComponentPlace {
            at: u64::from(before / 8),
            bytes: bits / 8,
            shift: 0,
            bits,
        }
    }

    /// The value 1 in a register.
    pub(super) fn one(&self) -> u32 {
        match self.number {
            Number::Uint | Number::Sint => 1,
            _ => 1_f32.to_bits(),
        }
    }

    /// Converts a component to its value in a register.
    pub(super) fn in_register(&self, place: ComponentPlace, unit: u32) -> u32 {
        let raw = unit >> place.shift & ones(place.bits);
        let signed = ((raw << (32 - place.bits)) as i32) >> (32 - place.bits);
        match self.number {
            Number::Unorm => ((f64::from(raw) / largest(place.bits)) as f32).to_bits(),
            Number::Snorm => {
                // The lowest pattern is -1, like the one above it.
                let value = f64::from(signed) / largest(place.bits - 1);
                (value.max(-1.0) as f32).to_bits()
            }
            Number::Uscaled => (raw as f32).to_bits(),
            Number::Sscaled => (signed as f32).to_bits(),
            Number::Uint => raw,
            Number::Sint => signed as u32,
            Number::Float if place.bits == 32 => raw,
            Number::Float if place.bits == 16 => widened(raw),
            // Unsigned floats have f16's exponent and a shorter fraction.
            Number::Float => widened(raw << (15 - place.bits)),
        }
    }

    /// Converts a register's value to a component, in its bits of the unit.
    pub(super) fn in_unit(&self, place: ComponentPlace, register: u32) -> u32 {
        let value = f32::from_bits(register);
        let bits = place.bits;
        let raw = match self.number {
            Number::Unorm => {
                (f64::from(value).clamp(0.0, 1.0) * largest(bits)).round_ties_even() as u32
            }
            Number::Snorm => {
                let scaled = f64::from(value).clamp(-1.0, 1.0) * largest(bits - 1);
                scaled.round_ties_even() as i32 as u32
            }
            Number::Uscaled => (value as u32).min(ones(bits)),
            Number::Sscaled => saturated(value as i32, bits),
            Number::Uint => register.min(ones(bits)),
            Number::Sint => saturated(register as i32, bits),
            Number::Float if bits == 32 => register,
            Number::Float if bits == 16 => narrowed(register),
            Number::Float if value < 0.0 => 0,
            Number::Float => (narrowed(register) & 0x7fff) >> (15 - bits),
        };
        (raw & ones(bits)) << place.shift
    }

    /// A register's value in 16 bits (D16): floats become f16, integers keep their lower bits.
    pub(super) fn halved(&self, register: u32) -> u32 {
        match self.number {
            Number::Uint | Number::Sint => register & 0xffff,
            _ => narrowed(register),
        }
    }

    /// The inverse of [`Self::halved`].
    pub(super) fn unhalved(&self, half: u32) -> u32 {
        match self.number {
            Number::Uint => half,
            Number::Sint => half as u16 as i16 as u32,
            _ => widened(half),
        }
    }
}

/// All pairs of codes of a data format and a number format.
fn codes() -> impl Iterator<Item = (u8, u8)> {
    (0..16).flat_map(|data| (0..8).map(move |number| (data, number)))
}

/// The number format at a place among all seven.
fn number_from(place: u8) -> u8 {
    match place {
        6 => 7,
        other => other,
    }
}

/// A mask of the lowest `bits` bits.
fn ones(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

fn largest(bits: u32) -> f64 {
    f64::from(ones(bits))
}

/// The nearest integer of `bits` bits.
fn saturated(value: i32, bits: u32) -> u32 {
    let high = (ones(bits) >> 1) as i32;
    value.clamp(-high - 1, high) as u32
}

/// f16 as f32.
fn widened(half: u32) -> u32 {
    let mut loses_info = false;
    let single: Single = Half::from_bits(u128::from(half))
        .convert(&mut loses_info)
        .value;
    single.to_bits() as u32
}

/// f32 as f16, towards zero.
fn narrowed(single: u32) -> u32 {
    let mut loses_info = false;
    let half: Half = Single::from_bits(u128::from(single))
        .convert_r(Round::TowardZero, &mut loses_info)
        .value;
    half.to_bits() as u32
}
