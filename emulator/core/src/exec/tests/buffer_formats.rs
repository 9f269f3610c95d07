//! Buffer instructions that convert, tested against the formats by LLVM's names, which list widths from the highest
//! bits down: the first component is the last number in a packed format's name.

mod values;

use ferrowave_gpu::Gpu;

use self::values::{
    DATA, NUMBERS, as_half, float, formats, from_half, loaded, patterns, same, stored, widths,
};
use super::{Bench, Random, UNTOUCHED, wave};
use crate::exec::{FaultKind, Wave};
use crate::memory::{AllocationKind, DeviceMemory};

const CHANNELS: [&str; 4] = ["x", "xy", "xyz", "xyzw"];

const BYTES: usize = 64 * 20;
const BASE_REGISTER: u16 = 4;

/// The last word of a resource: selects of four components, number and data format.
fn last_word(selects: [u32; 4], number: usize, data: usize) -> u32 {
    let selects = (0..).zip(selects).map(|(i, select)| select << (3 * i));
    selects.sum::<u32>() | (number as u32) << 12 | (data as u32) << 15
}

const IDENTITY: [u32; 4] = [4, 5, 6, 7];

/// A wave whose lanes are 20 bytes apart, with random data in `v[8:11]`.
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

/// Floats around those that formats can represent, small integers, and any bits.
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
            // MTBUF ignores the resource's format.
            let selects = match own {
                true => IDENTITY,
                false => [5, 1, 7, 4],
            };
            let last = match own {
                true => 0,
                false => last_word(selects, number, data),
            };
            // The last lanes' elements are partly out of range.
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
                                // The other half of the last register becomes zero.
                                None if 2 * register < values.len() => 0,
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
                        None => 0,
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
                // The gap after the element.
                let gap = at + size..at + 20;
                assert_eq!(result[gap.clone()], bytes[gap], "{text}, lane {lane}");
            }
        },
    );
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
        let (wave, _, _) = run(0, sixteen, &mut []);
        let value = wave.lanes(8).as_array()[4];
        assert_eq!(value, half(&bytes, 4) << 16);

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
