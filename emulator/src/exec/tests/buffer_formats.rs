//! Buffer instructions that convert, against the formats as LLVM's names spell them: widths from the highest bits
//! down, so that the first component is the last number of a packed format's name.

use ferrowave_code_object::Gpu;

use super::{
    Bench, Random, UNTOUCHED,
    formats::{Format, Specials},
    wave,
};
use crate::{
    exec::{FaultKind, Wave},
    memory::{AllocationKind, DeviceMemory},
};

const DATA: [&str; 15] = [
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
const NUMBERS: [&str; 8] = [
    "UNORM",
    "SNORM",
    "USCALED",
    "SSCALED",
    "UINT",
    "SINT",
    "RESERVED_6",
    "FLOAT",
];
const CHANNELS: [&str; 4] = ["x", "xy", "xyz", "xyzw"];

/// Widths of the components, the first one first.
fn widths(data: &str) -> Vec<u32> {
    let widths = data.split('_').map(|bits| bits.parse().unwrap());
    widths.rev().collect()
}

/// Pairs of a data format and a number format, by their codes.
fn formats() -> Vec<(usize, usize)> {
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

fn float(bits: u32) -> Format {
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
fn loaded(number: &str, bits: u32, raw: u32) -> u32 {
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

/// The pattern of the number next to `value` in the direction of 0, among those without a sign.
fn towards_zero(bits: u32, value: f64) -> u32 {
    let format = float(bits);
    let infinite = 0x1f << format.fraction;
    match value {
        _ if value.is_nan() => infinite | 1 << (format.fraction - 1),
        _ if value == f64::INFINITY => infinite,
        _ => {
            // The patterns have the order of their numbers.
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
fn halved(value: f32) -> u32 {
    towards_zero(16, f64::from(value.abs())) | u32::from(value.is_sign_negative()) << 15
}

/// The pattern that a register's value is stored as.
fn stored(number: &str, bits: u32, register: u32) -> u32 {
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

/// The patterns of an element's components, from its bytes.
fn patterns(data: &str, bytes: &[u8]) -> Vec<u32> {
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

const BYTES: usize = 64 * 20;
const BASE_REGISTER: u16 = 4;

/// The last word of a resource: selects of four components, number and data format.
fn last_word(selects: [u32; 4], number: usize, data: usize) -> u32 {
    let selects = (0..).zip(selects).map(|(i, select)| select << (3 * i));
    selects.sum::<u32>() | (number as u32) << 12 | (data as u32) << 15
}

const IDENTITY: [u32; 4] = [4, 5, 6, 7];

/// A wave whose lanes point 20 bytes apart, with random data in `v[8:11]`.
fn prepared(base: u64, records: u32, last: u32, random: &mut Random) -> Wave {
    let mut wave = wave();
    wave.exec = 0xffff_ff7f_ffff_fffd;
    let words = [base as u32, (base >> 32) as u32, records, last];
    for (register, word) in (BASE_REGISTER..).zip(words) {
        wave.set_scalar(register, word);
    }
    for lane in 0..64 {
        wave.lanes_mut(0).as_mut_array()[lane] = 20 * lane as u32;
        for register in 8..12 {
            wave.lanes_mut(register).as_mut_array()[lane] = register_value(random);
        }
    }
    wave
}

/// Floats around those that formats can hold, small integers, and any bits.
fn register_value(random: &mut Random) -> u32 {
    let bits = random.next();
    let drawn = (bits >> 32) as u32;
    match bits % 8 {
        0 => [
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x8000_0000,
            0x3f80_0000,
            0xbf80_0000,
        ][drawn as usize % 6],
        1 => drawn,
        2 => drawn & 0xfff,
        3 => (drawn & 0xfff).wrapping_neg(),
        4 | 5 => (drawn as f32 / u32::MAX as f32 * 2.4 - 1.2).to_bits(),
        // From f16's denormals to above its largest number.
        _ => drawn & 0x807f_ffff | (100 + drawn % 45) << 23,
    }
}

/// Random bytes, with an element of 16 bytes at each multiple of 20.
fn filled() -> Vec<u8> {
    let mut random = Random(77);
    (0..BYTES).map(|_| random.next() as u8).collect()
}

/// A number's 16 bits as D16 has them in a register.
fn as_half(number: &str, register: u32) -> u32 {
    match number {
        "UINT" | "SINT" => register & 0xffff,
        _ => halved(f32::from_bits(register)),
    }
}

/// NaNs equal each other.
fn same(number: &str, left: u32, right: u32) -> bool {
    let nan = |bits: u32| number == "FLOAT" && f32::from_bits(bits).is_nan();
    left == right || nan(left) && nan(right)
}

fn assemble(kind: &str, channels: &str, own: Option<(usize, usize)>) -> String {
    let count = if kind.contains("d16") {
        channels.len().div_ceil(2)
    } else {
        channels.len()
    };
    let register = match count {
        1 => "v8".into(),
        _ => format!("v[8:{}]", 7 + count),
    };
    let (prefix, format) = match own {
        None => ("", String::new()),
        Some((data, number)) => (
            "t",
            format!(
                " format:[BUF_DATA_FORMAT_{},BUF_NUM_FORMAT_{}]",
                DATA[data], NUMBERS[number]
            ),
        ),
    };
    format!("{prefix}buffer_{kind}{channels} {register}, v0, s[4:7], 0{format} offen")
}

/// Runs `check` for every format, number of components, and kind of instruction.
fn each(kinds: [&str; 2], mut check: impl FnMut(&Bench, usize, &str, usize, (usize, usize), bool)) {
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx942, Gpu::Gfx950] {
        let formats = formats();
        let mut cases = Vec::new();
        for kind in kinds {
            for channels in CHANNELS {
                for &format in &formats {
                    cases.push((
                        assemble(kind, channels, Some(format)),
                        channels,
                        format,
                        true,
                    ));
                }
                for &format in &formats {
                    cases.push((assemble(kind, channels, None), channels, format, false));
                }
            }
        }
        let lines: Vec<&str> = cases.iter().map(|(text, ..)| text.as_str()).collect();
        let bench = Bench::new(gpu, &lines);
        for (line, (text, channels, format, own)) in cases.iter().enumerate() {
            check(&bench, line, text, channels.len(), *format, *own);
        }
    }
}

#[test]
fn format_loads() {
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let bytes = filled();
    memory.write(base, &bytes).unwrap();
    let view = memory.view();
    let mut random = Random(3);
    each(
        ["load_format_", "load_format_d16_"],
        |bench, line, text, count, (data, number), own| {
            let widths = widths(DATA[data]);
            let size = (widths.iter().sum::<u32>() / 8) as usize;
            // MTBUF looks at no format of the resource.
            let selects = match own {
                true => IDENTITY,
                false => [5, 1, 7, 4],
            };
            let last = match own {
                true => 0,
                false => last_word(selects, number, data),
            };
            // Of the last lanes' elements, none is inside as a whole.
            let records = 20 * 62 + size - 1;
            let mut wave = prepared(base, records as u32, last, &mut random);
            let old: Vec<[u32; 64]> = (8..12).map(|r| *wave.lanes(r).as_array()).collect();
            bench.step_with(0, line, &mut wave, &view, &mut []).unwrap();
            let number = NUMBERS[number];
            for lane in 0..64 {
                let at = 20 * lane;
                let patterns = patterns(DATA[data], &bytes[at.min(BYTES - 16)..]);
                let values: Vec<u32> = (0..count)
                    .map(|register| match selects[register] {
                        1 if matches!(number, "UINT" | "SINT") => 1,
                        1 => 0x3f80_0000,
                        select => match patterns.get(select as usize - 4) {
                            Some(&pattern) if at + size <= records => {
                                loaded(number, widths[select as usize - 4], pattern)
                            }
                            _ => 0,
                        },
                    })
                    .collect();
                for register in 0..4 {
                    let result = wave.lanes(8 + register as u16).as_array()[lane];
                    let old = old[register][lane];
                    if wave.exec >> lane & 1 == 0 {
                        assert_eq!(result, old, "{text}: lane {lane}");
                    } else if text.contains("d16") {
                        for part in 0..2 {
                            let expected = match values.get(2 * register + part) {
                                Some(&value) => as_half(number, value),
                                None => old >> (16 * part) & 0xffff,
                            };
                            let result = result >> (16 * part) & 0xffff;
                            let nan = |bits: u32| bits & 0x7fff > 0x7c00 && number == "FLOAT";
                            assert!(
                                result == expected || nan(result) && nan(expected),
                                "{text}, lane {lane}, part {part}: {result:#x}, not {expected:#x}"
                            );
                        }
                    } else {
                        let expected = values.get(register).copied().unwrap_or(old);
                        assert!(
                            same(number, result, expected),
                            "{text}, lane {lane}: {result:#x}, not {expected:#x}"
                        );
                    }
                }
            }
        },
    );
}

#[test]
fn format_stores() {
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let bytes = filled();
    let view = memory.view();
    let mut random = Random(5);
    each(
        ["store_format_", "store_format_d16_"],
        |bench, line, text, count, (data, number), own| {
            memory.write(base, &bytes).unwrap();
            let widths = widths(DATA[data]);
            let size = (widths.iter().sum::<u32>() / 8) as usize;
            let selects = match own {
                true => IDENTITY,
                false => [6, 4, 0, 5],
            };
            let last = last_word(selects, number, data);
            let records = 20 * 62 + size - 1;
            let mut wave = prepared(base, records as u32, last, &mut random);
            bench.step_with(0, line, &mut wave, &view, &mut []).unwrap();
            let mut result = vec![0; BYTES];
            memory.read(base, &mut result).unwrap();
            let number = NUMBERS[number];
            let packed = widths.iter().any(|bits| bits % 8 != 0);
            for lane in 0..64 {
                let at = 20 * lane;
                let element = &bytes[at.min(BYTES - 16)..];
                let mut expected = patterns(DATA[data], element);
                let written = wave.exec >> lane & 1 == 1 && at + size <= records;
                for (component, pattern) in expected.iter_mut().enumerate() {
                    let register = (0..count).find(|&r| selects[r] as usize == 4 + component);
                    let value = register.map(|r| {
                        let (words, half) = match text.contains("d16") {
                            true => (r / 2, Some(r % 2)),
                            false => (r, None),
                        };
                        let value = wave.lanes(8 + words as u16).as_array()[lane];
                        match half {
                            None => value,
                            Some(half) => from_half(number, value >> (16 * half) & 0xffff),
                        }
                    });
                    *pattern = match value {
                        _ if !written => *pattern,
                        Some(value) => stored(number, widths[component], value),
                        // Some component of the dword is written, and this one with it.
                        None if packed && selects[..count].iter().any(|&s| is_of(s, &widths)) => 0,
                        None => *pattern,
                    };
                }
                let after = patterns(DATA[data], &result[at.min(BYTES - 16)..]);
                assert!(
                    widths
                        .iter()
                        .zip(after.iter().zip(&expected))
                        .all(|(&bits, (&a, &b))| {
                            let nan = |p: u32| match bits {
                                32 => f32::from_bits(p).is_nan(),
                                _ => float(bits).value(p).is_nan(),
                            };
                            a == b || number == "FLOAT" && nan(a) && nan(b)
                        }),
                    "{text}, lane {lane}: {after:x?}, not {expected:x?}"
                );
                // The gap behind the element.
                let gap = at + size..at + 20;
                assert_eq!(result[gap.clone()], bytes[gap], "{text}, lane {lane}");
            }
        },
    );
}

/// Whether a select is a component of an element.
fn is_of(select: u32, widths: &[u32]) -> bool {
    select >= 4 && (select as usize) < 4 + widths.len()
}

/// A D16 value as the 32 bits that it stands for.
fn from_half(number: &str, half: u32) -> u32 {
    match number {
        "UINT" => half,
        "SINT" => half as u16 as i16 as u32,
        _ => (float(16).value(half) as f32).to_bits(),
    }
}

#[test]
fn upper_halves_unbound_buffers_and_unknown_formats() {
    let lines = [
        "buffer_load_format_d16_hi_x v8, v0, s[4:7], 0 offen",
        "buffer_store_format_d16_hi_x v8, v0, s[4:7], 0 offen",
        "buffer_load_format_xyzw v[8:11], v0, s[4:7], 0 offen",
        "buffer_store_format_x v8, v0, s[4:7], 0 offen",
        "tbuffer_load_format_x v8, v0, s[4:7], 0 format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_FLOAT] offen",
        "buffer_load_format_x v0, s[4:7], 0 offen lds",
        "buffer_load_format_xy v[8:10], v0, s[4:7], 0 offen tfe",
        "buffer_load_dword v8, v0, s[4:7], 0 offen",
        "buffer_store_dword v8, v0, s[4:7], 0 offen",
    ];
    let bench = Bench::new(Gpu::Gfx908, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let bytes = filled();
    memory.write(base, &bytes).unwrap();
    let view = memory.view();
    let mut random = Random(9);
    let sixteen = last_word(IDENTITY, 4, 2);
    for level in bench.levels() {
        let mut run = |line: usize, last: u32, lds: &mut [u8]| {
            let mut wave = prepared(base, BYTES as u32, last, &mut random);
            wave.set_scalar(124, 256);
            let old = *wave.lanes(8).as_array();
            let result = bench.step_with(level, line, &mut wave, &view, lds);
            (wave, old, result.map_err(|fault| fault.kind))
        };
        let half = |bytes: &[u8], lane: usize| {
            u32::from(u16::from_le_bytes([bytes[20 * lane], bytes[20 * lane + 1]]))
        };
        let (wave, old, _) = run(0, sixteen, &mut []);
        let value = wave.lanes(8).as_array()[4];
        assert_eq!(value, half(&bytes, 4) << 16 | old[4] & 0xffff);

        let mut lds = [0; 512];
        run(5, sixteen, &mut lds).2.unwrap();
        let passed = u32::from_le_bytes(lds[272..276].try_into().unwrap());
        assert_eq!(passed, half(&bytes, 4));

        let (wave, _, _) = run(6, sixteen, &mut []);
        let registers = [8, 9, 10].map(|r| wave.lanes(r).as_array()[4]);
        assert_eq!(registers, [half(&bytes, 4), 0, 0]);

        // No format: nothing is read or written, even where the selection says 1.
        let unbound = last_word([1; 4], 4, 0);
        let (wave, _, _) = run(2, unbound, &mut []);
        assert_eq!([8, 9, 10, 11].map(|r| wave.lanes(r).as_array()[4]), [0; 4]);
        run(3, unbound, &mut []).2.unwrap();
        let (wave, _, _) = run(7, unbound, &mut []);
        assert_eq!(wave.lanes(8).as_array()[4], 0);
        run(8, unbound, &mut []).2.unwrap();
        let mut after = vec![0; BYTES];
        memory.read(base, &mut after).unwrap();
        assert_eq!(after, bytes);

        for (line, last) in [
            (4, sixteen),
            (2, last_word(IDENTITY, 6, 2)),
            (3, last_word(IDENTITY, 4, 15)),
        ] {
            let fault = run(line, last, &mut []).2.unwrap_err();
            let named = matches!(&fault, FaultKind::Unsupported { what } if what.contains("no buffer format"));
            assert!(named, "{}: {fault:?}", lines[line]);
        }

        let (_, old, _) = run(1, sixteen, &mut []);
        memory.read(base, &mut after).unwrap();
        assert_eq!(half(&after, 4), old[4] >> 16);
        assert_eq!(after[82..100], bytes[82..100]);
        memory.write(base, &bytes).unwrap();
        assert_eq!(wave.lanes(12).as_array()[4], UNTOUCHED);
    }
}
