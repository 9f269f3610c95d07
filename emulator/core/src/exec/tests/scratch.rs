//! Scratch instructions, and flat instructions in apertures.

use ferrowave_gpu::Gpu;

use super::{Bench, UNTOUCHED, wave};
use crate::exec::{FaultKind, PRIVATE_APERTURE, SHARED_APERTURE, Segment, Wave};
use crate::memory::{AllocationKind, DeviceMemory};

/// Private bytes per lane.
const BYTES: usize = 64;

/// The initial value of a lane's private byte.
fn byte(lane: usize, at: usize) -> u8 {
    (lane * 7 + at * 13 + 5) as u8
}

/// Offset of a lane's private byte in the wave's memory.
fn place(lane: usize, at: usize) -> usize {
    at / 4 * 256 + 4 * lane + at % 4
}

fn filled() -> Vec<u8> {
    let mut data = vec![0; 64 * BYTES];
    for lane in 0..64 {
        for at in 0..BYTES {
            data[place(lane, at)] = byte(lane, at);
        }
    }
    data
}

/// A lane's private dword at any byte offset.
fn dword(data: &[u8], lane: usize, at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| data[place(lane, at + i)]))
}

/// Offsets of the lanes: all equal, all different, and all different and misaligned.
fn patterns() -> [[u32; 64]; 3] {
    [
        [12; 64],
        std::array::from_fn(|lane| 4 * (lane as u32 * 5 % 11)),
        std::array::from_fn(|lane| lane as u32 * 5 % 41),
    ]
}

fn prepared(gpu: Gpu, base: u64, exec: u64, offsets: &[u32; 64]) -> Wave {
    let mut wave = wave();
    wave.exec = exec;
    // Up to gfx90a, the kernel has written the address to `flat_scratch`.
    let architected = matches!(gpu, Gpu::Gfx942 | Gpu::Gfx950);
    wave.set_scalar_pair(102, base);
    wave.private = Segment {
        base: architected.then_some(base),
        bytes: BYTES as u32,
    };
    wave.set_scalar(2, 4);
    for lane in 0..64 {
        wave.lanes_mut(2).as_mut_array()[lane] = offsets[lane];
        let address = PRIVATE_APERTURE + u64::from(offsets[lane]);
        wave.lanes_mut(0).as_mut_array()[lane] = address as u32;
        wave.lanes_mut(1).as_mut_array()[lane] = (address >> 32) as u32;
        for register in 8..12 {
            let value = (lane as u32 * 0x0101_0007) ^ u32::from(register) << 8;
            wave.lanes_mut(register).as_mut_array()[lane] = value;
        }
    }
    wave
}

#[test]
fn private_loads_and_stores() {
    // GPU, addressing, whether the vector offset is used, and the bytes added to it (without it, the whole offset).
    let scratch = [
        (Gpu::Gfx908, "scratch", "v2, off offset:4", true, 4),
        (Gpu::Gfx90a, "scratch", "off, s2 offset:8", false, 12),
        (Gpu::Gfx942, "scratch", "v2, s2 offset:4", true, 8),
        (Gpu::Gfx942, "scratch", "off, off offset:20", false, 20),
        (Gpu::Gfx90a, "flat", "v[0:1] offset:4", true, 4),
        (Gpu::Gfx942, "flat", "v[0:1]", true, 0),
    ];
    for (gpu, kind, form, vector, added) in scratch {
        let (first, rest) = form.split_once(" offset").unwrap_or((form, ""));
        let rest = if rest.is_empty() {
            String::new()
        } else {
            format!(" offset{rest}")
        };
        let (vaddr, saddr) = first.split_once(", ").unwrap_or((first, ""));
        let saddr = if saddr.is_empty() {
            String::new()
        } else {
            format!(", {saddr}")
        };
        let load = |what: &str, data: &str| format!("{kind}_load_{what} {data}, {first}{rest}");
        let store =
            |what: &str, data: &str| format!("{kind}_store_{what} {vaddr}, {data}{saddr}{rest}");
        let texts = [
            load("dword", "v20"),
            load("dwordx4", "v[20:23]"),
            load("sshort", "v20"),
            load("ubyte_d16_hi", "v20"),
            store("dwordx3", "v[8:10]"),
            store("short", "v8"),
            store("byte", "v8"),
        ];
        let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
        let bench = Bench::new(gpu, &lines);
        let memory = DeviceMemory::new(1 << 20);
        let base = memory
            .allocate(64 * BYTES, AllocationKind::Private)
            .unwrap();
        let view = memory.view();
        for level in bench.levels() {
            for offsets in patterns() {
                for exec in [!0, 0x8000_1234_ffff_0001_u64] {
                    let at = |lane: usize| added + if vector { offsets[lane] as usize } else { 0 };
                    for (line, text) in lines.iter().enumerate() {
                        memory.write(base, &filled()).unwrap();
                        let mut wave = prepared(gpu, base, exec, &offsets);
                        let result = bench.step_with(level, line, &mut wave, &view, &mut []);
                        assert!(result.is_ok(), "{text}: {result:?}");
                        let mut expected = filled();
                        for lane in 0..64 {
                            let active = exec >> lane & 1 == 1;
                            let old = filled();
                            let from = |part: usize| dword(&old, lane, at(lane) + 4 * part);
                            if line < 4 {
                                let loaded: Vec<u32> = match line {
                                    0 => vec![from(0)],
                                    1 => (0..4).map(from).collect(),
                                    2 => vec![from(0) as i16 as u32],
                                    _ => vec![(from(0) & 0xff) << 16],
                                };
                                for (register, value) in (20..).zip(loaded) {
                                    let value = if active { value } else { UNTOUCHED };
                                    let result = wave.lanes(register).as_array()[lane];
                                    assert_eq!(result, value, "{text}, lane {lane}");
                                }
                            } else if active {
                                let bytes = [12, 2, 1][line - 4];
                                for i in 0..bytes {
                                    let register = wave.lanes(8 + i as u16 / 4).as_array();
                                    let byte = (register[lane] >> (8 * (i % 4))) as u8;
                                    expected[place(lane, at(lane) + i)] = byte;
                                }
                            }
                        }
                        let mut result = vec![0; 64 * BYTES];
                        memory.read(base, &mut result).unwrap();
                        assert!(result == expected, "{text} on {gpu}");
                    }
                }
            }
        }
    }
}

#[test]
fn private_memory_ends() {
    let lines = [
        "scratch_load_dwordx2 v[20:21], v2, off",
        "flat_store_byte v[0:1], v8",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory
        .allocate(64 * BYTES, AllocationKind::Private)
        .unwrap();
    let view = memory.view();
    let mut offsets = [0; 64];
    for (line, offset, bytes) in [(0, 60, 8), (1, 64, 1), (0, u32::MAX, 8)] {
        offsets[17] = offset;
        let run = |exec: u64| {
            let mut wave = prepared(Gpu::Gfx942, base, exec, &offsets);
            bench
                .step_with(0, line, &mut wave, &view, &mut [])
                .map_err(|fault| fault.kind)
        };
        let expected = FaultKind::Private {
            address: offset.into(),
            bytes,
            private_bytes: BYTES as u32,
            lane: 17,
        };
        assert_eq!(run(!0), Err(expected));
        assert!(run(!(1 << 17)).is_ok());
    }
}

#[test]
fn one_flat_access_reaches_all_three() {
    let bench = Bench::new(
        Gpu::Gfx90a,
        &["flat_load_dwordx2 v[20:21], v[0:1] offset:4"],
    );
    let memory = DeviceMemory::new(1 << 20);
    let base = memory
        .allocate(64 * BYTES, AllocationKind::Private)
        .unwrap();
    memory.write(base, &filled()).unwrap();
    let global = memory.allocate(64, AllocationKind::Device).unwrap();
    memory.write(global, &[3; 64]).unwrap();
    let view = memory.view();
    let mut lds = [4; 64];
    for level in bench.levels() {
        let mut wave = prepared(Gpu::Gfx90a, base, !0, &[8; 64]);
        for lane in 0..64 {
            let address = [PRIVATE_APERTURE, SHARED_APERTURE, global][lane % 3] + 8;
            wave.lanes_mut(0).as_mut_array()[lane] = address as u32;
            wave.lanes_mut(1).as_mut_array()[lane] = (address >> 32) as u32;
        }
        bench
            .step_with(level, 0, &mut wave, &view, &mut lds)
            .unwrap();
        for lane in 0..64 {
            for part in 0..2 {
                let private = dword(&filled(), lane, 12 + 4 * part);
                let expected = [private, 0x0404_0404, 0x0303_0303][lane % 3];
                assert_eq!(wave.lanes(20 + part as u16).as_array()[lane], expected);
            }
        }
    }
}
