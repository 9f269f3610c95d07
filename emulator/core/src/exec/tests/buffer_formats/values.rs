//! The values of an element's components, from the names of the formats.

use crate::exec::tests::formats::{Format, Specials};

pub(super) const DATA: [&str; 15] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
];
pub(super) const NUMBERS: [&str; 8] = [
    "UNORM",
    "SNORM",
    "USCALED",
    "SSCALED",
    "UINT",
    "SINT",
    "RESERVED_6",
    "FLOAT",
];

/// Widths of the components, first component first.
pub(super) fn widths(data: &str) -> Vec<u32> {
    let widths = data.split('_').map(|bits| bits.parse().unwrap());
    widths.rev().collect()
}

/// Pairs of a data format and a number format, by their codes.
pub(super) fn formats() -> Vec<(usize, usize)> {
    let exists = |data: &str, number: &str| {
        let widths = widths(data);
        match number {
            "RESERVED_6" => false,
            "UINT" | "SINT" => true,
            "FLOAT" => !widths.contains(&8) && !widths.contains(&2),
            _ => !widths.contains(&32),
        }
    };
    let pairs = (1..DATA.len()).flat_map(|data| (0..NUMBERS.len()).map(move |n| (data, n)));
    pairs
        .filter(|&(data, number)| exists(DATA[data], NUMBERS[number]))
        .collect()
}

pub(super) fn float(bits: u32) -> Format {
    let fraction = match bits {
        16 => 10,
        11 => 6,
        _ => 5,
    };
    Format {
        exponent: 5,
        fraction,
        bias: 15,
        specials: Specials::Ieee,
    }
}

/// A component's value in a register.
pub(super) fn loaded(number: &str, bits: u32, raw: u32) -> u32 {
    let size = 2_f64.powi(bits as i32);
    let unsigned = f64::from(raw);
    let signed = if unsigned < size / 2.0 {
        unsigned
    } else {
        unsigned - size
    };
    let value = match number {
        "UINT" => return raw,
        "SINT" => return signed as i32 as u32,
        "FLOAT" if bits == 32 => return raw,
        "UNORM" => unsigned / (size - 1.0),
        "SNORM" => (signed / (size / 2.0 - 1.0)).max(-1.0),
        "USCALED" => unsigned,
        "SSCALED" => signed,
        _ => float(bits).value(raw),
    };
    (value as f32).to_bits()
}

/// The largest unsigned pattern whose number is not above `value`.
fn towards_zero(bits: u32, value: f64) -> u32 {
    let format = float(bits);
    let infinite = 0x1f << format.fraction;
    match value {
        _ if value.is_nan() => infinite | 1 << (format.fraction - 1),
        _ if value == f64::INFINITY => infinite,
        _ => {
            // Patterns have the order of their numbers.
            let (mut low, mut high) = (0, infinite);
            while high - low > 1 {
                let middle = (low + high) / 2;
                if format.value(middle) <= value {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        }
    }
}

/// A register's f32 as f16.
pub(super) fn halved(value: f32) -> u32 {
    towards_zero(16, f64::from(value.abs())) | u32::from(value.is_sign_negative()) << 15
}

/// The pattern that a register's value is stored as.
pub(super) fn stored(number: &str, bits: u32, register: u32) -> u32 {
    let single = f32::from_bits(register);
    let value = if single.is_nan() {
        0.0
    } else {
        f64::from(single)
    };
    let size = 2_f64.powi(bits as i32);
    let (largest, low, high) = (size - 1.0, -size / 2.0, size / 2.0 - 1.0);
    let pattern = match number {
        "UNORM" => (value.clamp(0.0, 1.0) * largest).round_ties_even(),
        "SNORM" => (value.clamp(-1.0, 1.0) * high).round_ties_even(),
        "USCALED" => value.clamp(0.0, largest).trunc(),
        "SSCALED" => value.clamp(low, high).trunc(),
        "UINT" => f64::from(register).min(largest),
        "SINT" => f64::from(register as i32).clamp(low, high),
        _ if bits == 32 => return register,
        _ if bits == 16 => return halved(single),
        _ if single < 0.0 => 0.0,
        _ => return towards_zero(bits, f64::from(single.abs())),
    };
    (pattern as i64) as u32 & (u32::MAX >> (32 - bits))
}

/// The patterns of an element's components, from the element's bytes.
pub(super) fn patterns(data: &str, bytes: &[u8]) -> Vec<u32> {
    let mut word = [0; 16];
    let widths = widths(data);
    let size = (widths.iter().sum::<u32>() / 8) as usize;
    word[..size].copy_from_slice(&bytes[..size]);
    let mut rest = u128::from_le_bytes(word);
    let take = |bits: &u32| {
        let pattern = rest & ((1 << bits) - 1);
        rest >>= bits;
        pattern as u32
    };
    widths.iter().map(take).collect()
}

/// A number's 16 bits in a register, as with D16.
pub(super) fn as_half(number: &str, register: u32) -> u32 {
    match number {
        "UINT" | "SINT" => register & 0xffff,
        _ => halved(f32::from_bits(register)),
    }
}

/// NaNs equal each other.
pub(super) fn same(number: &str, left: u32, right: u32) -> bool {
    let nan = |bits: u32| number == "FLOAT" && f32::from_bits(bits).is_nan();
    left == right || nan(left) && nan(right)
}

/// The 32 bits that a D16 value represents.
pub(super) fn from_half(number: &str, half: u32) -> u32 {
    match number {
        "UINT" => half,
        "SINT" => half as u16 as i16 as u32,
        _ => (float(16).value(half) as f32).to_bits(),
    }
}
