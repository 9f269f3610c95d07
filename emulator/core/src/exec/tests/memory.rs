//! Global memory, LDS and scalar memory.

use ferrowave_gpu::Gpu;

use super::{Bench, Random, wave};
use crate::exec::{FaultKind, Wave};
use crate::memory::{AllocationKind, BLOCK_BYTES, DeviceMemory, PADDING, PAGE_BYTES};

/// Arrangements of the lanes' addresses.
pub(super) fn patterns(size: u64) -> Vec<(&'static str, [u64; 64])> {
    let mut random = Random(9);
    vec![
        (
            "consecutive",
            std::array::from_fn(|lane| size * lane as u64),
        ),
        ("uniform", [3 * size; 64]),
        (
            "rows",
            std::array::from_fn(|lane| size * (lane as u64 % 16) + 1024 * (lane as u64 / 16)),
        ),
        (
            "broadcast rows",
            std::array::from_fn(|lane| 1024 * (lane as u64 / 16)),
        ),
        ("strided", std::array::from_fn(|lane| 48 * lane as u64)),
        (
            "backwards",
            std::array::from_fn(|lane| 4032 - 64 * lane as u64),
        ),
        ("random", std::array::from_fn(|_| random.next() % 1000 * 4)),
        (
            "unaligned",
            std::array::from_fn(|lane| 1 + size * lane as u64),
        ),
    ]
}

pub(super) const BYTES: usize = 8192;

pub(super) fn filled() -> Vec<u8> {
    let mut random = Random(4);
    (0..BYTES).map(|_| random.next() as u8).collect()
}

pub(super) fn set_addresses(wave: &mut Wave, base: u64, offsets: &[u64; 64]) {
    for (lane, offset) in offsets.iter().enumerate() {
        let address = base + offset;
        wave.lanes_mut(0).as_mut_array()[lane] = address as u32;
        wave.lanes_mut(1).as_mut_array()[lane] = (address >> 32) as u32;
        wave.lanes_mut(2).as_mut_array()[lane] = *offset as u32;
    }
    wave.set_scalar_pair(8, base);
}

pub(super) fn dword(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[test]
fn global_loads() {
    let lines = [
        ("global_load_dword v8, v[0:1], off", 1, 0),
        ("global_load_dwordx2 v[8:9], v[0:1], off offset:16", 2, 16),
        ("global_load_dwordx3 v[8:10], v2, s[8:9]", 3, 0),
        ("global_load_dwordx4 v[8:11], v2, s[8:9] offset:32", 4, 32),
        ("flat_load_dwordx2 v[8:9], v[0:1]", 2, 0),
    ];
    let texts: Vec<&str> = lines.iter().map(|l| l.0).collect();
    let bench = Bench::new(Gpu::Gfx942, &texts);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let data = filled();
    memory.write(base, &data).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        for (index, (text, dwords, offset)) in lines.iter().enumerate() {
            for (pattern, offsets) in patterns(4 * *dwords as u64) {
                for exec in [!0, 0x0f0f_1234_ffff_0001] {
                    let mut wave = wave();
                    wave.exec = exec;
                    set_addresses(&mut wave, base, &offsets);
                    bench
                        .step_with(level, index, &mut wave, &view, &mut [])
                        .unwrap();
                    for lane in 0..64 {
                        for part in 0..*dwords {
                            let at = offsets[lane] as usize + offset + 4 * part;
                            let active = exec >> lane & 1 == 1;
                            let expected = if active {
                                dword(&data, at)
                            } else {
                                super::UNTOUCHED
                            };
                            let result = wave.lanes(8 + part as u16).as_array()[lane];
                            assert_eq!(result, expected, "{text}, {pattern}, lane {lane}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn global_stores() {
    let lines = [
        ("global_store_dword v[0:1], v8, off", 1),
        ("global_store_dwordx2 v2, v[8:9], s[8:9]", 2),
        ("global_store_dwordx4 v[0:1], v[8:11], off", 4),
        ("flat_store_dword v[0:1], v8", 1),
    ];
    let texts: Vec<&str> = lines.iter().map(|l| l.0).collect();
    let bench = Bench::new(Gpu::Gfx90a, &texts);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        for (index, (text, dwords)) in lines.iter().enumerate() {
            for (pattern, offsets) in patterns(4 * *dwords as u64) {
                for exec in [!0, 0x8000_4321_ffff_0007] {
                    let mut expected = filled();
                    memory.write(base, &expected).unwrap();
                    let mut wave = wave();
                    wave.exec = exec;
                    set_addresses(&mut wave, base, &offsets);
                    let mut random = Random(2);
                    for lane in 0..64 {
                        for part in 0..*dwords {
                            let value = random.next() as u32;
                            wave.lanes_mut(8 + part as u16).as_mut_array()[lane] = value;
                            if exec >> lane & 1 == 1 {
                                let at = offsets[lane] as usize + 4 * part;
                                expected[at..at + 4].copy_from_slice(&value.to_le_bytes());
                            }
                        }
                    }
                    bench
                        .step_with(level, index, &mut wave, &view, &mut [])
                        .unwrap();
                    let mut result = vec![0; BYTES];
                    memory.read(base, &mut result).unwrap();
                    assert!(result == expected, "{text}, {pattern}, exec {exec:#x}");
                }
            }
        }
    }
}

#[test]
fn parts_of_dwords() {
    let lines = [
        "global_load_ubyte v8, v[0:1], off",
        "global_load_sbyte v8, v[0:1], off",
        "global_load_ushort v8, v[0:1], off",
        "global_load_sshort v8, v[0:1], off",
        "global_load_short_d16 v8, v[0:1], off",
        "global_load_short_d16_hi v8, v[0:1], off",
        "global_load_ubyte_d16_hi v8, v[0:1], off",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let data = filled();
    memory.write(base, &data).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        for (index, text) in lines.iter().enumerate() {
            let offsets: [u64; 64] = std::array::from_fn(|lane| 3 * lane as u64);
            let mut wave = wave();
            set_addresses(&mut wave, base, &offsets);
            bench
                .step_with(level, index, &mut wave, &view, &mut [])
                .unwrap();
            for lane in 0..64 {
                let at = offsets[lane] as usize;
                let (byte, half) = (data[at], u16::from_le_bytes([data[at], data[at + 1]]));
                let expected = match index {
                    0 => u32::from(byte),
                    1 => i32::from(byte as i8) as u32,
                    2 => u32::from(half),
                    3 => i32::from(half as i16) as u32,
                    4 => u32::from(half),
                    5 => u32::from(half) << 16,
                    _ => u32::from(byte) << 16,
                };
                assert_eq!(
                    wave.lanes(8).as_array()[lane],
                    expected,
                    "{text}, lane {lane}"
                );
            }
        }
    }
}

/// AMD's CDNA4 ISA guide, 9.1.6: with ECC, 16-bit loads write all 32 bits; unused ones become 0.
#[test]
fn loads_of_halves_zero_the_other_half() {
    // The mnemonic after `load_` of memory instructions and after `read_` of LDS instructions, and the result from two
    // bytes.
    type Made = fn(u8, u16) -> u32;
    let kinds: [(&str, &str, Made); 6] = [
        ("ubyte_d16", "u8_d16", |byte, _| byte.into()),
        ("ubyte_d16_hi", "u8_d16_hi", |byte, _| u32::from(byte) << 16),
        ("sbyte_d16", "i8_d16", |byte, _| {
            i32::from(byte as i8) as u32 & 0xffff
        }),
        ("sbyte_d16_hi", "i8_d16_hi", |byte, _| {
            (i32::from(byte as i8) as u32) << 16
        }),
        ("short_d16", "u16_d16", |_, half| half.into()),
        ("short_d16_hi", "u16_d16_hi", |_, half| {
            u32::from(half) << 16
        }),
    ];
    let lines: Vec<String> = kinds
        .iter()
        .flat_map(|(memory, lds, _)| {
            [
                format!("ds_read_{lds} v8, v2"),
                format!("global_load_{memory} v8, v[0:1], off"),
                format!("flat_load_{memory} v8, v[0:1]"),
            ]
        })
        .collect();
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let data = filled();
    memory.write(base, &data).unwrap();
    let view = memory.view();
    let mut lds = data.clone();
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx942, Gpu::Gfx950] {
        let bench = Bench::new(gpu, &texts);
        for level in bench.levels() {
            for (index, text) in texts.iter().enumerate() {
                let offsets: [u64; 64] = std::array::from_fn(|lane| 3 * lane as u64);
                let mut wave = wave();
                wave.exec = !(1 << 7);
                set_addresses(&mut wave, base, &offsets);
                if text.starts_with("ds") {
                    set_addresses(&mut wave, 0, &offsets);
                }
                bench
                    .step_with(level, index, &mut wave, &view, &mut lds)
                    .unwrap();
                for lane in 0..64 {
                    let at = offsets[lane] as usize;
                    let half = u16::from_le_bytes([data[at], data[at + 1]]);
                    let expected = match lane {
                        7 => super::UNTOUCHED,
                        _ => kinds[index / 3].2(data[at], half),
                    };
                    let result = wave.lanes(8).as_array()[lane];
                    assert_eq!(result, expected, "{text} on {gpu}, lane {lane}");
                }
            }
        }
    }
}

#[test]
fn global_atomics() {
    let lines = [
        "global_atomic_add v8, v[0:1], v4, off sc0",
        "global_atomic_smax v8, v[0:1], v4, off sc0",
        "global_atomic_cmpswap v8, v[0:1], v[4:5], off sc0",
        "global_atomic_inc v8, v[0:1], v4, off sc0",
        "global_atomic_add_f32 v8, v[0:1], v4, off sc0",
        "global_atomic_xor v[0:1], v4, off",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(64, AllocationKind::Device).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        let run = |index: usize, start: u32, data: &dyn Fn(u32) -> [u32; 2]| {
            memory.write(base, &start.to_le_bytes()).unwrap();
            let mut wave = wave();
            set_addresses(&mut wave, base, &[0; 64]);
            for lane in 0..64 {
                let [first, second] = data(lane as u32);
                wave.lanes_mut(4).as_mut_array()[lane] = first;
                wave.lanes_mut(5).as_mut_array()[lane] = second;
            }
            bench
                .step_with(level, index, &mut wave, &view, &mut [])
                .unwrap();
            let mut bytes = [0; 4];
            memory.read(base, &mut bytes).unwrap();
            (u32::from_le_bytes(bytes), wave.lanes(8).as_array()[63])
        };
        // All lanes add to one dword: each gets what the lanes before it left.
        assert_eq!(run(0, 10, &|lane| [lane, 0]), (10 + 63 * 32, 10 + 63 * 31));
        assert_eq!(run(1, 5, &|lane| [lane.wrapping_sub(32), 0]), (31, 30));
        assert_eq!(run(2, 7, &|lane| [100 + lane, 7]), (100, 100));
        assert_eq!(run(3, 0, &|_| [40, 0]), (64 - 41, 63 - 41));
        assert_eq!(
            run(4, 0, &|_| [0x3f80_0000, 0]),
            (64_f32.to_bits(), 63_f32.to_bits())
        );
        assert_eq!(run(5, 0, &|lane| [1 << (lane % 32), 0]).0, 0);
        // A misaligned access faults and names its lane.
        let mut wave = wave();
        set_addresses(
            &mut wave,
            base,
            &std::array::from_fn(|lane| if lane == 6 { 2 } else { 4 }),
        );
        let fault = bench
            .step_with(level, 0, &mut wave, &view, &mut [])
            .unwrap_err();
        assert_eq!(
            fault.kind,
            FaultKind::Misaligned {
                address: base + 2,
                bytes: 4,
                lane: 6
            }
        );
    }
}

#[test]
fn accesses_outside_are_faults() {
    let lines = [
        "global_load_dword v8, v[0:1], off",
        "global_store_dwordx4 v[0:1], v[8:11], off",
        "s_load_dwordx4 s[4:7], s[8:9], 0x0",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(4096, AllocationKind::Host).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        let fault = |index: usize, exec: u64, offsets: [u64; 64], base: u64| {
            let mut wave = wave();
            wave.exec = exec;
            set_addresses(&mut wave, base, &offsets);
            bench
                .step_with(level, index, &mut wave, &view, &mut [])
                .map_err(|fault| fault.kind)
        };
        let far = std::array::from_fn(|lane| {
            if lane == 20 {
                4093
            } else {
                4 * (lane as u64 % 32)
            }
        });
        let expected = FaultKind::Memory {
            address: base + 4093,
            bytes: 4,
            write: false,
            lane: Some(20),
            lanes: 1 << 20,
        };
        assert_eq!(fault(0, !0, far, base), Err(expected));
        assert!(
            fault(0, !(1 << 20), far, base).is_ok(),
            "an inactive lane accesses nothing"
        );
        let expected = FaultKind::Memory {
            address: base + 4093,
            bytes: 16,
            write: true,
            lane: Some(20),
            lanes: 1 << 20,
        };
        assert_eq!(fault(1, 1 << 20, far, base), Err(expected));
        let expected = FaultKind::Memory {
            address: 0,
            bytes: 4,
            write: false,
            lane: Some(0),
            lanes: !0,
        };
        assert_eq!(fault(0, !0, [0; 64], 0), Err(expected));
        let last = u64::MAX - 1;
        let expected = FaultKind::Memory {
            address: last,
            bytes: 4,
            write: false,
            lane: Some(0),
            lanes: 1,
        };
        assert_eq!(
            fault(0, 1, [0; 64], last),
            Err(expected),
            "addresses do not wrap around"
        );
        let expected = FaultKind::Memory {
            address: base + 4084,
            bytes: 16,
            write: false,
            lane: None,
            lanes: 0,
        };
        assert_eq!(fault(2, !0, [0; 64], base + 4084), Err(expected));
    }
}

#[test]
fn lds_reads_and_writes() {
    let lines = [
        ("ds_read_b32 v8, v2 offset:8", vec![8, 4]),
        ("ds_read_b64 v[8:9], v2", vec![0, 8]),
        ("ds_read_b96 v[8:10], v2", vec![0, 12]),
        ("ds_read_b128 v[8:11], v2 offset:64", vec![64, 16]),
        (
            "ds_read2_b32 v[8:9], v2 offset0:1 offset1:7",
            vec![4, 4, 28, 4],
        ),
        (
            "ds_read2_b64 v[8:11], v2 offset0:2 offset1:5",
            vec![16, 8, 40, 8],
        ),
        (
            "ds_read2st64_b32 v[8:9], v2 offset0:1 offset1:3",
            vec![256, 4, 768, 4],
        ),
        (
            "ds_read2st64_b64 v[8:11], v2 offset1:2",
            vec![0, 8, 1024, 8],
        ),
    ];
    let texts: Vec<&str> = lines.iter().map(|l| l.0).collect();
    let bench = Bench::new(Gpu::Gfx942, &texts);
    let view = DeviceMemory::new(0).view();
    let mut lds = filled();
    let data = lds.clone();
    for level in bench.levels() {
        for (index, (text, ranges)) in lines.iter().enumerate() {
            for (pattern, offsets) in patterns(ranges[1] as u64) {
                for exec in [!0, 0xffff_0000_1234_ffff] {
                    let mut wave = wave();
                    wave.exec = exec;
                    set_addresses(&mut wave, 0, &offsets);
                    bench
                        .step_with(level, index, &mut wave, &view, &mut lds)
                        .unwrap();
                    for lane in 0..64 {
                        let mut register = 8;
                        for range in ranges.chunks(2) {
                            for part in 0..range[1] / 4 {
                                let at = offsets[lane] as usize + range[0] + 4 * part;
                                let active = exec >> lane & 1 == 1;
                                let expected = if active {
                                    dword(&data, at)
                                } else {
                                    super::UNTOUCHED
                                };
                                let result = wave.lanes(register).as_array()[lane];
                                assert_eq!(result, expected, "{text}, {pattern}, lane {lane}");
                                register += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    let writes = [
        ("ds_write_b32 v2, v8 offset:4", vec![4, 4]),
        ("ds_write_b128 v2, v[8:11]", vec![0, 16]),
        (
            "ds_write2_b32 v2, v8, v9 offset0:1 offset1:9",
            vec![4, 4, 36, 4],
        ),
        (
            "ds_write2st64_b32 v2, v8, v9 offset0:2 offset1:1",
            vec![512, 4, 256, 4],
        ),
        (
            "ds_write2_b64 v2, v[8:9], v[10:11] offset1:2",
            vec![0, 8, 16, 8],
        ),
    ];
    let texts: Vec<&str> = writes.iter().map(|l| l.0).collect();
    let bench = Bench::new(Gpu::Gfx90a, &texts);
    for level in bench.levels() {
        for (index, (text, ranges)) in writes.iter().enumerate() {
            // No two lanes share bytes, so the order does not matter.
            let stride = if text.contains("st64") { 4 } else { 64 };
            let offsets: [u64; 64] = std::array::from_fn(|lane| stride * (lane as u64 ^ 5));
            let mut expected = filled();
            let mut lds = expected.clone();
            let mut wave = wave();
            wave.exec = 0x7fff_ffff_ffff_fffe;
            set_addresses(&mut wave, 0, &offsets);
            for lane in 0..64 {
                let mut register = 8;
                for range in ranges.chunks(2) {
                    for part in 0..range[1] / 4 {
                        let value = (lane * 100 + register as usize) as u32;
                        wave.lanes_mut(register).as_mut_array()[lane] = value;
                        if (1..63).contains(&lane) {
                            let at = offsets[lane] as usize + range[0] + 4 * part;
                            expected[at..at + 4].copy_from_slice(&value.to_le_bytes());
                        }
                        register += 1;
                    }
                }
            }
            bench
                .step_with(level, index, &mut wave, &view, &mut lds)
                .unwrap();
            assert!(lds == expected, "{text}");
        }
    }
}

#[test]
fn lds_atomics_and_permutations() {
    let lines = [
        "ds_add_rtn_u32 v8, v2, v4",
        "ds_max_i32 v2, v4",
        "ds_cmpst_rtn_b32 v8, v2, v4, v5",
        "ds_add_f32 v2, v4",
        "ds_bpermute_b32 v8, v2, v4",
        "ds_permute_b32 v8, v2, v4",
        "ds_swizzle_b32 v8, v4 offset:swizzle(BITMASK_PERM,\\\"0000p\\\")",
    ];
    let lines = lines.map(|line| line.replace('\\', ""));
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    let bench = Bench::new(Gpu::Gfx942, &texts);
    let view = DeviceMemory::new(0).view();
    for level in bench.levels() {
        let run = |index: usize, start: u32, exec: u64, lane_values: &dyn Fn(u32) -> [u32; 3]| {
            let mut lds = vec![0; 64];
            lds[..4].copy_from_slice(&start.to_le_bytes());
            let mut wave = wave();
            wave.exec = exec;
            for lane in 0..64 {
                for (register, value) in [2, 4, 5].into_iter().zip(lane_values(lane as u32)) {
                    wave.lanes_mut(register).as_mut_array()[lane] = value;
                }
            }
            bench
                .step_with(level, index, &mut wave, &view, &mut lds)
                .unwrap();
            (dword(&lds, 0), *wave.lanes(8).as_array())
        };
        let (sum, olds) = run(0, 3, !0, &|lane| [0, lane, 0]);
        assert_eq!((sum, olds[0], olds[63]), (3 + 63 * 32, 3, 3 + 63 * 31));
        assert_eq!(
            run(1, -5_i32 as u32, !0, &|lane| [0, lane.wrapping_sub(60), 0]).0,
            3
        );
        let (value, olds) = run(2, 9, !0, &|lane| [0, 9, 50 + lane]);
        assert_eq!((value, olds[0], olds[1]), (50, 9, 50));
        assert_eq!(
            run(3, 0, !0, &|_| [0, 1.5_f32.to_bits(), 0]).0,
            96_f32.to_bits()
        );
        // Lane l reads lane 63 - l; lanes 0 to 3 are inactive and give 0.
        let (_, moved) = run(4, 0, !15, &|lane| [4 * (63 - lane), 1000 + lane, 0]);
        assert_eq!([5, 59, 60, 63].map(|i| moved[i]), [1058, 1004, 0, 0]);
        assert_eq!(moved[0], super::UNTOUCHED);
        // Lane l sends to lane l + 1; lane 0 receives from the last lane.
        let (_, moved) = run(5, 0, !0, &|lane| [4 * (lane + 1), 1000 + lane, 0]);
        assert_eq!([0, 1, 63].map(|i| moved[i]), [1063, 1000, 1062]);
        let (_, moved) = run(6, 0, !0, &|lane| [0, 1000 + lane, 0]);
        assert_eq!([0, 1, 31, 33].map(|i| moved[i]), [1000, 1001, 1001, 1033]);
    }
}

#[test]
fn scalar_loads() {
    let lines = [
        "s_load_dword s4, s[8:9], 0x14",
        "s_load_dwordx2 s[4:5], s[8:9], s2",
        "s_load_dwordx8 s[16:23], s[8:9], 0x20",
        "s_load_dwordx4 s[4:7], s[8:9], s2 offset:0x8",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let data = filled();
    memory.write(base, &data).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        let mut wave = wave();
        wave.set_scalar_pair(8, base);
        wave.set_scalar(2, 100);
        for (index, (first, count, at)) in [(4, 1, 0x14), (4, 2, 100), (16, 8, 0x20), (4, 4, 108)]
            .into_iter()
            .enumerate()
        {
            bench
                .step_with(level, index, &mut wave, &view, &mut [])
                .unwrap();
            for part in 0..count {
                assert_eq!(
                    wave.scalar(first + part),
                    dword(&data, at + 4 * usize::from(part)),
                    "{}",
                    lines[index]
                );
            }
        }
    }
}

/// Memory past an allocation can be read and written up to the end of its page, or of its block if `hipMalloc` gave it.
#[test]
fn accesses_behind_an_allocation_end_with_its_page_or_block() {
    const PAGE: u64 = PAGE_BYTES as u64;
    let lines = [
        ("global_load_dwordx4 v[8:11], v[0:1], off", 16_u64, false),
        ("global_load_dword v8, v2, s[8:9]", 4, false),
        ("global_load_ubyte v8, v[0:1], off", 1, false),
        ("flat_load_dwordx2 v[8:9], v[0:1]", 8, false),
        (
            "buffer_load_dwordx3 v[8:10], v2, s[12:15], 0 offen",
            12,
            false,
        ),
        ("buffer_load_ushort v8, v2, s[12:15], 0 offen", 2, false),
        ("s_load_dwordx4 s[4:7], s[8:9], 0x0", 16, false),
        ("s_buffer_load_dwordx2 s[4:5], s[12:15], s16", 8, false),
        ("global_store_dword v[0:1], v8, off", 4, true),
        ("global_store_byte v[0:1], v8, off", 1, true),
        ("flat_store_dword v[0:1], v8", 4, true),
        ("global_atomic_add v[0:1], v8, off", 4, true),
        ("buffer_store_dword v8, v2, s[12:15], 0 offen", 4, true),
        ("buffer_atomic_add v8, v2, s[12:15], 0 offen", 4, true),
    ];
    let bench = Bench::new(Gpu::Gfx90a, &lines.map(|line| line.0));
    let data: [u8; 12] = std::array::from_fn(|byte| 7 * byte as u8 + 1);
    let byte = |at: u64| match at {
        0..12 => data[at as usize],
        12..PAGE => PADDING,
        _ => 0,
    };
    for (level, kind) in bench
        .levels()
        .flat_map(|level| [AllocationKind::Host, AllocationKind::Device].map(|kind| (level, kind)))
    {
        for (index, (text, bytes, write)) in lines.into_iter().enumerate() {
            let last = match kind {
                AllocationKind::Device => BLOCK_BYTES as u64,
                _ => PAGE,
            };
            let memory = DeviceMemory::new(1 << 20);
            let base = memory.allocate(12, kind).unwrap();
            memory.write(base, &data).unwrap();
            let view = memory.view();
            let is_scalar = text.starts_with("s_");
            // One lane accesses `at`; all others are at the start or inactive.
            let run = |at: u64, exec: u64| {
                let mut wave = wave();
                wave.exec = exec;
                set_addresses(
                    &mut wave,
                    base,
                    &std::array::from_fn(|lane| [0, at][lane / 63]),
                );
                for (register, value) in [
                    (12, base as u32),
                    (13, (base >> 32) as u32),
                    (14, !0),
                    (15, 4 << 15),
                    (16, at as u32),
                ] {
                    wave.set_scalar(register, value);
                }
                if text.starts_with("s_load") {
                    wave.set_scalar_pair(8, base + at);
                }
                let ran = bench.step_with(level, index, &mut wave, &view, &mut []);
                let loaded: Vec<u8> = (0..bytes.div_ceil(4) as u16)
                    .flat_map(|part| match is_scalar {
                        true => wave.scalar(4 + part).to_le_bytes(),
                        false => wave.lanes(8 + part).as_array()[63].to_le_bytes(),
                    })
                    .collect();
                ran.map(|_| loaded[..bytes as usize].to_vec())
                    .map_err(|fault| fault.kind)
            };
            let fault = |at: u64| FaultKind::Memory {
                address: base + at,
                bytes: bytes as u32,
                write,
                lane: (!is_scalar).then_some(63),
                lanes: if is_scalar { 0 } else { 1 << 63 },
            };
            for exec in [!0, 1 << 63] {
                for at in [
                    0,
                    4,
                    8,
                    12,
                    64,
                    PAGE - bytes,
                    last - bytes,
                    last - bytes + 4,
                    last,
                ] {
                    // Buffer loads of the scalar unit are checked dword by dword.
                    if text.starts_with("s_buffer") && at + bytes > last {
                        assert!(run(at & !3, exec).is_err(), "{text} at {at}");
                        continue;
                    }
                    let at = if is_scalar { at & !3 } else { at };
                    let expected = match at + bytes <= last {
                        true => Ok((at..at + bytes).map(byte).collect::<Vec<u8>>()),
                        false => Err(fault(at)),
                    };
                    match run(at, exec) {
                        Ok(_) if write => assert!(expected.is_ok(), "{text} at {at}"),
                        ran => assert_eq!(ran, expected, "{text} at {at}"),
                    }
                    memory.write(base, &data).unwrap();
                }
            }
        }
    }
}

/// What is written behind an allocation can be read again, and the host does not see it.
#[test]
fn what_is_written_behind_an_allocation_stays() {
    let lines = [
        "global_store_dword v2, v8, s[8:9] offset:12",
        "global_atomic_add v2, v8, s[8:9] offset:12",
        "global_load_dwordx3 v[4:6], v2, s[8:9] offset:8",
    ];
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(12, AllocationKind::Device).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        let mut wave = wave();
        wave.exec = 1;
        set_addresses(&mut wave, base, &[0; 64]);
        wave.lanes_mut(8).as_mut_array()[0] = 5;
        memory.write(base, &[1; 12]).unwrap();
        for line in 0..lines.len() {
            bench
                .step_with(level, line, &mut wave, &view, &mut [])
                .unwrap();
        }
        let read = [4, 5, 6].map(|register| wave.lanes(register).as_array()[0]);
        let padding = u32::from_le_bytes([PADDING; 4]);
        assert_eq!(read, [0x0101_0101, 10, padding]);
        let mut own = [0; 12];
        memory.read(base, &mut own).unwrap();
        assert_eq!(own, [1; 12]);
    }
}
