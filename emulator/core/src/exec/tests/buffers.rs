//! Untyped buffers, and loads to LDS.

use ferrowave_gpu::Gpu;

use super::{
    Bench, Random, UNTOUCHED,
    memory::{BYTES, dword, filled, set_addresses},
    wave,
};
use crate::exec::{FaultKind, Wave};
use crate::memory::{AllocationKind, DeviceMemory};

/// A buffer resource as its bit fields.
#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    stride: u32,
    records: u32,
    swizzle: bool,
    /// 0 to 3: 8, 16, 32 or 64 structures.
    index_stride: u32,
    add_tid: bool,
}

impl Resource {
    fn raw(records: u32) -> Self {
        Resource {
            records,
            ..Self::default()
        }
    }

    fn words(self, base: u64) -> [u32; 4] {
        let high =
            (base >> 32) as u32 | (self.stride & 0x3fff) << 16 | u32::from(self.swizzle) << 31;
        let format = if self.add_tid {
            // The upper bits of the stride replace the data format.
            self.stride >> 14 << 15 | 1 << 23
        } else {
            0x0002_7000
        };
        [
            base as u32,
            high,
            self.records,
            format | self.index_stride << 21,
        ]
    }

    /// Offset of byte `at` of a lane's data, or `None` if it is out of range; checks are per dword (or less). The
    /// scalar offset is subtracted from the bytes of raw buffers.
    fn place(
        self,
        lane: u64,
        index: Option<u32>,
        [offset, scalar]: [u64; 2],
        bytes: u64,
    ) -> Option<u64> {
        let structures = index.is_some() && self.stride != 0;
        let checked = u64::from(index.unwrap_or(0));
        let index = checked + if self.add_tid { lane } else { 0 };
        let records = u64::from(self.records);
        if structures && checked >= records
            || !structures && !self.add_tid && offset + bytes + scalar > records
        {
            return None;
        }
        let stride = u64::from(self.stride);
        if !self.swizzle {
            return Some(scalar + offset + stride * index);
        }
        let group = 8 << self.index_stride;
        let row = (index / group * stride + offset / 4 * 4) * group;
        Some(scalar + row + index % group * 4 + offset % 4)
    }
}

fn set_resource(w: &mut Wave, resource: Resource, base: u64) {
    for (register, word) in (4..).zip(resource.words(base)) {
        w.set_scalar(register, word);
    }
}

/// How an instruction is addressed, and its registers: `v0` is index or offset, `v[0:1]` both.
struct Form {
    text: &'static str,
    idxen: bool,
    offen: bool,
    soffset: u32,
    offset: u64,
}

const FORMS: [Form; 5] = [
    Form {
        text: "v0, s[4:7], 0 offen",
        idxen: false,
        offen: true,
        soffset: 0,
        offset: 0,
    },
    Form {
        text: "v0, s[4:7], s2 offen offset:24",
        idxen: false,
        offen: true,
        soffset: 64,
        offset: 24,
    },
    Form {
        text: "off, s[4:7], s2 offset:40",
        idxen: false,
        offen: false,
        soffset: 64,
        offset: 40,
    },
    Form {
        text: "v0, s[4:7], 8 idxen offset:4",
        idxen: true,
        offen: false,
        soffset: 8,
        offset: 4,
    },
    Form {
        text: "v[0:1], s[4:7], s2 idxen offen offset:16",
        idxen: true,
        offen: true,
        soffset: 64,
        offset: 16,
    },
];

/// Resources with everything that changes addresses; all lanes stay inside the memory.
fn resources() -> Vec<Resource> {
    let structured = Resource {
        stride: 24,
        records: 40,
        ..Resource::default()
    };
    vec![
        Resource::raw(0),
        Resource::raw(1000),
        Resource::raw(1022),
        Resource::raw(4096),
        structured,
        Resource {
            swizzle: true,
            stride: 16,
            index_stride: 1,
            ..structured
        },
        Resource {
            swizzle: true,
            stride: 32,
            index_stride: 3,
            ..structured
        },
        Resource {
            add_tid: true,
            swizzle: true,
            index_stride: 3,
            stride: 0,
            records: 0,
        },
        Resource {
            add_tid: true,
            stride: 4,
            ..structured
        },
    ]
}

/// The lanes' index and offset, small enough that every address is inside the memory.
fn lanes(form: &Form, resource: Resource, random: &mut Random) -> [[u32; 2]; 64] {
    // Private memory takes more room: a lane's dwords are 256 bytes apart.
    let most = if resource.add_tid { 32 } else { 1040 };
    let consecutive = random.next() % 2 == 0;
    std::array::from_fn(|lane| {
        let drawn = random.next();
        let index = (drawn % 60) as u32;
        let offset = match consecutive {
            true => (16 * lane as u32) % most,
            false => (drawn >> 32) as u32 % most & !3,
        };
        let offset = if form.idxen && form.offen {
            offset % 64
        } else {
            offset
        };
        match (form.idxen, form.offen) {
            (true, true) => [index, offset],
            (true, false) => [index, 0],
            _ => [offset, 0],
        }
    })
}

/// Offset of byte `at` of a lane's data from the resource's base.
fn place(
    form: &Form,
    resource: Resource,
    lane: usize,
    values: [u32; 2],
    at: u64,
    bytes: u64,
) -> Option<u64> {
    let index = form.idxen.then_some(values[0]);
    let vector = match (form.idxen, form.offen) {
        (true, true) => values[1],
        (false, true) => values[0],
        _ => 0,
    };
    let offset = u64::from(vector) + form.offset + at;
    resource.place(lane as u64, index, [offset, form.soffset.into()], bytes)
}

/// Runs `check` for all forms, all resources and some masks of lanes.
fn combinations(mut check: impl FnMut(usize, Resource, u64, [[u32; 2]; 64])) {
    let mut random = Random(11);
    for (number, form) in FORMS.iter().enumerate() {
        for resource in resources() {
            for exec in [!0, random.next(), 0xffff_0000_ffff_8001] {
                let lanes = lanes(form, resource, &mut random);
                check(number, resource, exec, lanes);
            }
        }
    }
}

fn prepared(resource: Resource, base: u64, exec: u64, lanes: &[[u32; 2]; 64]) -> Wave {
    let mut wave = wave();
    wave.exec = exec;
    wave.set_scalar(2, 64);
    set_resource(&mut wave, resource, base);
    for (lane, values) in lanes.iter().enumerate() {
        wave.lanes_mut(0).as_mut_array()[lane] = values[0];
        wave.lanes_mut(1).as_mut_array()[lane] = values[1];
    }
    wave
}

#[test]
fn buffer_loads() {
    let widths = ["dword", "dwordx2", "dwordx3", "dwordx4"];
    let texts: Vec<String> = FORMS
        .iter()
        .flat_map(|form| {
            (1..=4).map(move |n| {
                let last = 8 + n - 1;
                let register = if n == 1 {
                    "v8".into()
                } else {
                    format!("v[8:{last}]")
                };
                format!("buffer_load_{} {register}, {}", widths[n - 1], form.text)
            })
        })
        .collect();
    let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let data = filled();
    memory.write(base, &data).unwrap();
    let view = memory.view();
    for gpu in [Gpu::Gfx908, Gpu::Gfx942] {
        let bench = Bench::new(gpu, &lines);
        for level in bench.levels() {
            combinations(|number, resource, exec, lanes| {
                for n in 1..=4 {
                    let mut wave = prepared(resource, base, exec, &lanes);
                    let line = 4 * number + n - 1;
                    bench
                        .step_with(level, line, &mut wave, &view, &mut [])
                        .unwrap();
                    for lane in 0..64 {
                        for part in 0..4 {
                            let place =
                                place(&FORMS[number], resource, lane, lanes[lane], 4 * part, 4);
                            let expected = match place {
                                _ if exec >> lane & 1 == 0 || part >= n as u64 => UNTOUCHED,
                                Some(at) => dword(&data, at as usize),
                                None => 0,
                            };
                            let result = wave.lanes(8 + part as u16).as_array()[lane];
                            assert_eq!(
                                result, expected,
                                "{} with {resource:?}, lane {lane} of {exec:#x}, part {part}",
                                lines[line]
                            );
                        }
                    }
                }
            });
        }
    }
}

#[test]
fn buffer_stores() {
    let texts: Vec<String> = FORMS
        .iter()
        .flat_map(|form| {
            [
                format!("buffer_store_dwordx4 v[8:11], {}", form.text),
                format!("buffer_store_dword v8, {}", form.text),
            ]
        })
        .collect();
    let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let view = memory.view();
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    for level in bench.levels() {
        combinations(|number, resource, exec, lanes| {
            for (which, parts) in [4, 1].into_iter().enumerate() {
                let mut expected = filled();
                memory.write(base, &expected).unwrap();
                let mut wave = prepared(resource, base, exec, &lanes);
                // A lane's data depends only on its address, so lanes with one address agree.
                for part in 0..parts {
                    for lane in 0..64 {
                        let form = &FORMS[number];
                        let at = place(form, resource, lane, lanes[lane], 4 * part, 4);
                        let value = at.map_or(UNTOUCHED, |at| 0x5000_0000 + at as u32);
                        wave.lanes_mut(8 + part as u16).as_mut_array()[lane] = value;
                        if let Some(at) = at.filter(|_| exec >> lane & 1 == 1) {
                            let at = at as usize;
                            expected[at..at + 4].copy_from_slice(&value.to_le_bytes());
                        }
                    }
                }
                let line = 2 * number + which;
                bench
                    .step_with(level, line, &mut wave, &view, &mut [])
                    .unwrap();
                let mut result = vec![0; BYTES];
                memory.read(base, &mut result).unwrap();
                assert!(result == expected, "{} with {resource:?}", lines[line]);
            }
        });
    }
}

/// Private memory at any byte offset (LLVM's `FeatureUnalignedScratchAccess`): each byte of a lane's data is where the
/// interleaving by dwords puts it.
#[test]
fn swizzled_buffers_hold_data_at_any_byte() {
    let accesses = [
        ("load_dword", "v8", 4),
        ("load_dwordx3", "v[8:10]", 12),
        ("load_ushort", "v8", 2),
        ("store_dword", "v8", 4),
        ("store_dwordx3", "v[8:10]", 12),
        ("store_short", "v8", 2),
    ];
    let texts = accesses
        .map(|(name, data, _)| format!("buffer_{name} {data}, v0, s[4:7], 0 offen offset:3"));
    let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
    let resource = Resource {
        add_tid: true,
        swizzle: true,
        index_stride: 3,
        ..Resource::default()
    };
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let view = memory.view();
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    let mut random = Random(12);
    for level in bench.levels() {
        for (line, (name, _, bytes)) in accesses.into_iter().enumerate() {
            for exec in [!0, random.next()] {
                let offsets: [[u32; 2]; 64] =
                    std::array::from_fn(|_| [random.next() as u32 % 60, 0]);
                // Some are negative until the constant is added.
                let registers = offsets.map(|[offset, index]| [offset.wrapping_sub(3), index]);
                let mut wave = prepared(resource, base, exec, &registers);
                let mut image = filled();
                memory.write(base, &image).unwrap();
                for lane in (0..64).filter(|lane| exec >> lane & 1 == 1) {
                    for part in 0..3 {
                        wave.lanes_mut(8 + part).as_mut_array()[lane] = random.next() as u32;
                    }
                }
                let before: [[u8; 12]; 64] = std::array::from_fn(|lane| data(&wave, lane));
                bench
                    .step_with(level, line, &mut wave, &view, &mut [])
                    .unwrap();
                for lane in 0..64 {
                    let mut expected = before[lane];
                    if exec >> lane & 1 == 1 {
                        if bytes == 2 && name.starts_with("load") {
                            expected[..4].fill(0);
                        }
                        for at in 0..bytes {
                            let offset = u64::from(offsets[lane][0]) + at as u64;
                            let place = resource.place(lane as u64, None, [offset, 0], 1);
                            let place = place.expect("it is in range") as usize;
                            match name.starts_with("load") {
                                true => expected[at] = image[place],
                                false => image[place] = expected[at],
                            }
                        }
                    }
                    assert_eq!(
                        data(&wave, lane),
                        expected,
                        "{name}, lane {lane} of {exec:#x}"
                    );
                }
                let mut result = vec![0; BYTES];
                memory.read(base, &mut result).unwrap();
                assert!(result == image, "{name} of {exec:#x}");
            }
        }
    }
}

/// A lane's `v[8:10]`.
fn data(wave: &Wave, lane: usize) -> [u8; 12] {
    let words: [[u8; 4]; 3] =
        std::array::from_fn(|part| wave.lanes(8 + part as u16).as_array()[lane].to_le_bytes());
    std::array::from_fn(|at| words[at / 4][at % 4])
}

/// The end of a raw buffer with a scalar offset, and a scalar offset beyond all of it. For a structured buffer only the
/// index counts.
#[test]
fn scalar_offsets_are_part_of_the_range_of_raw_buffers() {
    let lines = [
        "buffer_load_dwordx2 v[8:9], v0, s[4:7], s2 offen offset:8",
        "buffer_store_dword v3, v0, s[4:7], s2 offen offset:8",
        "buffer_atomic_add v8, v0, s[4:7], s2 offen offset:8 glc",
        "buffer_load_format_x v8, v0, s[4:7], s2 offen offset:8",
        "buffer_load_dwordx2 v[8:9], v0, s[4:7], s2 idxen",
    ];
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx942, Gpu::Gfx950] {
        let glc = matches!(gpu, Gpu::Gfx908 | Gpu::Gfx90a);
        let lines = lines.map(|line| line.replace("glc", if glc { "glc" } else { "sc0" }));
        let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
        let bench = Bench::new(gpu, &texts);
        let memory = DeviceMemory::new(1 << 20);
        let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
        let view = memory.view();
        let data = filled();
        let raw = Resource::raw(1000);
        // A swizzled buffer without an index also counts bytes.
        let swizzled = Resource {
            swizzle: true,
            ..raw
        };
        for level in bench.levels() {
            for resource in [raw, swizzled] {
                for (scalar, vector) in [
                    (0, 988),
                    (0, 992),
                    (400, 588),
                    (400, 584),
                    (400, 592),
                    (992, 0),
                    (999, 0),
                    (1000, 0),
                    (1001, 0),
                    (u32::MAX, 0),
                    (0, u32::MAX - 3),
                    (16, u32::MAX - 23),
                ] {
                    for (line, text) in texts[..4].iter().enumerate() {
                        if resource.swizzle && line != 1 {
                            continue;
                        }
                        memory.write(base, &data).unwrap();
                        let mut wave = prepared(resource, base, 1 << 5, &[[vector, 0]; 64]);
                        wave.set_scalar(2, scalar);
                        // The first register selects the format's first component.
                        wave.set_scalar(7, wave.scalar(7) | 4);
                        bench
                            .step_with(level, line, &mut wave, &view, &mut [])
                            .unwrap_or_else(|fault| {
                                panic!("{text} at {vector} + {scalar}: {fault:?}")
                            });
                        let offset = u64::from(vector) + 8;
                        let place = |at: u64| {
                            let offsets = [offset + at, scalar.into()];
                            let place = resource.place(5, None, offsets, 4);
                            let end = offset + at + u64::from(scalar) + 4;
                            assert_eq!(place.is_some(), end <= 1000);
                            place.map(|place| place as usize)
                        };
                        let read = |at| place(at).map_or(0, |place| dword(&data, place));
                        let results = [8, 9].map(|register| wave.lanes(register).as_array()[5]);
                        let expected = match line {
                            0 => [read(0), read(4)],
                            1 => [UNTOUCHED; 2],
                            _ => [read(0), UNTOUCHED],
                        };
                        assert_eq!(results, expected, "{text} on {gpu} at {vector} + {scalar}");
                        let mut after = data.clone();
                        if let Some(place) = place(0).filter(|_| line == 1 || line == 2) {
                            let value = match line {
                                1 => UNTOUCHED,
                                _ => read(0).wrapping_add(UNTOUCHED),
                            };
                            after[place..][..4].copy_from_slice(&value.to_le_bytes());
                        }
                        let mut result = vec![0; BYTES];
                        memory.read(base, &mut result).unwrap();
                        assert!(result == after, "{text} on {gpu} at {vector} + {scalar}");
                    }
                }
            }
            // Two structures of 8 bytes: the scalar offset moves the address but is not part of the check.
            memory.write(base, &data).unwrap();
            let structured = Resource {
                stride: 8,
                records: 2,
                ..Resource::default()
            };
            let lanes = std::array::from_fn(|lane| [lane as u32, 0]);
            let mut wave = prepared(structured, base, !0, &lanes);
            wave.set_scalar(2, 512);
            bench
                .step_with(level, 4, &mut wave, &view, &mut [])
                .unwrap();
            let results = [1, 2].map(|lane| wave.lanes(8).as_array()[lane]);
            assert_eq!(results, [dword(&data, 520), 0], "{gpu}");
        }
    }
}

#[test]
fn small_buffer_accesses() {
    let loads = [
        "ubyte",
        "sbyte",
        "ushort",
        "sshort",
        "ubyte_d16",
        "ubyte_d16_hi",
        "sbyte_d16",
        "sbyte_d16_hi",
        "short_d16",
        "short_d16_hi",
    ];
    let stores = ["byte", "byte_d16_hi", "short", "short_d16_hi"];
    let texts: Vec<String> = loads
        .iter()
        .map(|kind| format!("buffer_load_{kind} v8, v0, s[4:7], 0 offen"))
        .chain(
            stores
                .iter()
                .map(|kind| format!("buffer_store_{kind} v8, v0, s[4:7], 0 offen")),
        )
        .collect();
    let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let view = memory.view();
    let data = filled();
    let records = 150;
    let bench = Bench::new(Gpu::Gfx942, &lines);
    for level in bench.levels() {
        for (index, text) in lines.iter().enumerate() {
            memory.write(base, &data).unwrap();
            let lanes: [[u32; 2]; 64] = std::array::from_fn(|lane| [3 * lane as u32, 0]);
            let exec = 0x7fff_ffff_ffff_fffe;
            let mut wave = prepared(Resource::raw(records), base, exec, &lanes);
            for lane in 0..64 {
                wave.lanes_mut(8).as_mut_array()[lane] =
                    0x0403_0201_u32.wrapping_mul(lane as u32 + 1);
            }
            let old = *wave.lanes(8).as_array();
            bench
                .step_with(level, index, &mut wave, &view, &mut [])
                .unwrap();
            let mut after = data.clone();
            for lane in 0..64 {
                let at = lanes[lane][0] as usize;
                let bytes = if text.contains("byte") { 1 } else { 2 };
                let inside = at + bytes <= records as usize;
                let active = exec >> lane & 1 == 1;
                if index >= loads.len() {
                    let source = old[lane] >> if text.contains("d16_hi") { 16 } else { 0 };
                    if inside && active {
                        after[at..at + bytes].copy_from_slice(&source.to_le_bytes()[..bytes]);
                    }
                    continue;
                }
                let (byte, half) = match inside {
                    true => (data[at], u16::from_le_bytes([data[at], data[at + 1]])),
                    false => (0, 0),
                };
                let value = match loads[index] {
                    kind if kind.starts_with("ubyte") => u32::from(byte),
                    kind if kind.starts_with("sbyte") => byte as i8 as u32,
                    "sshort" => half as i16 as u32,
                    _ => u32::from(half),
                };
                let expected = match loads[index] {
                    _ if !active => old[lane],
                    kind if kind.ends_with("_d16") => value & 0xffff,
                    kind if kind.ends_with("_hi") => value << 16,
                    _ => value,
                };
                let result = wave.lanes(8).as_array()[lane];
                assert_eq!(result, expected, "{text}, lane {lane}");
            }
            let mut result = vec![0; BYTES];
            memory.read(base, &mut result).unwrap();
            assert!(result == after, "{text}");
        }
    }
}

#[test]
fn buffer_atomics() {
    let lines = [
        "buffer_atomic_add v8, v0, s[4:7], 0 offen sc0",
        "buffer_atomic_cmpswap_x2 v[8:11], v0, s[4:7], 0 offen sc0",
        "buffer_atomic_add_f64 v[8:9], v0, s[4:7], 0 offen",
        "buffer_atomic_pk_add_f16 v8, v0, s[4:7], 0 offen",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(256, AllocationKind::Device).unwrap();
    let view = memory.view();
    let mut lanes = [[0; 2]; 64];
    // Lane 5 is out of range.
    lanes[5][0] = 16;
    for level in bench.levels() {
        let run = |line: usize, start: u64, registers: [u32; 4]| {
            memory.write(base, &start.to_le_bytes()).unwrap();
            let mut wave = prepared(Resource::raw(16), base, !1, &lanes);
            for (register, value) in (8..).zip(registers) {
                wave.lanes_mut(register).as_mut_array().fill(value);
            }
            bench
                .step_with(level, line, &mut wave, &view, &mut [])
                .unwrap();
            let mut after = [0; 8];
            memory.read(base, &mut after).unwrap();
            let old = |lane: usize| [8, 9].map(|r| wave.lanes(r).as_array()[lane]);
            (u64::from_le_bytes(after), [0, 1, 5, 63].map(old))
        };
        let (after, old) = run(0, 1000, [3, 9, 9, 9]);
        assert_eq!(after, 1000 + 62 * 3);
        assert_eq!(old, [[3, 9], [1000, 9], [0, 9], [1000 + 61 * 3, 9]]);
        let (after, old) = run(1, 7 << 32 | 5, [1, 2, 5, 7]);
        assert_eq!(after, 2 << 32 | 1);
        assert_eq!(old, [[1, 2], [5, 7], [0, 0], [1, 2]]);
        let half = 0.5_f64.to_bits();
        let (after, _) = run(2, 1_f64.to_bits(), [half as u32, (half >> 32) as u32, 0, 0]);
        assert_eq!(f64::from_bits(after), 32.0);
        // Adds the halves 1 and 2 to 0 and 0, 62 times.
        let (after, _) = run(3, 0, [0x4000_3c00, 0, 0, 0]);
        assert_eq!(after, 0x57c0_53c0);
    }
}

#[test]
fn buffer_accesses_outside_of_allocations_are_faults() {
    let lines = [
        "buffer_load_dwordx4 v[8:11], v0, s[4:7], 0 offen",
        "buffer_store_dword v8, v0, s[4:7], 0 offen",
        "buffer_atomic_add v8, v0, s[4:7], 0 offen",
        "buffer_load_dword v0, s[4:7], 0 offen lds",
    ];
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(4096, AllocationKind::Host).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        for (line, bytes, write) in [(0, 16, false), (1, 4, true), (2, 4, true), (3, 4, false)] {
            let mut lanes = [[0; 2]; 64];
            lanes[9][0] = 4096;
            let run = |records: u32, exec: u64| {
                let mut wave = prepared(Resource::raw(records), base, exec, &lanes);
                wave.set_scalar(124, 0);
                bench
                    .step_with(level, line, &mut wave, &view, &mut [0; 256])
                    .map_err(|fault| fault.kind)
            };
            let expected = FaultKind::Memory {
                address: base + 4096,
                bytes,
                write,
                lane: Some(9),
                lanes: 1 << 9,
            };
            assert_eq!(run(!0, !0), Err(expected), "{}", lines[line]);
            assert!(run(4096, !0).is_ok(), "{}: the resource ends", lines[line]);
            assert!(run(!0, !(1 << 9)).is_ok(), "{}: inactive", lines[line]);
        }
    }
}

#[test]
fn loads_to_lds() {
    // GPU, text, bytes per lane in LDS (three dwords are as far apart as four), bytes read, the instruction's offset.
    let lines = [
        (
            Gpu::Gfx908,
            "buffer_load_dword v0, s[4:7], 0 offen offset:16 lds",
            4,
            4,
            16,
        ),
        (
            Gpu::Gfx908,
            "buffer_load_sbyte v0, s[4:7], 0 offen lds",
            4,
            1,
            0,
        ),
        (
            Gpu::Gfx908,
            "global_load_dword v[0:1], off offset:8 lds",
            4,
            4,
            8,
        ),
        (Gpu::Gfx90a, "global_load_ushort v[0:1], off lds", 4, 2, 0),
        (
            Gpu::Gfx942,
            "global_load_lds_dword v[0:1], off offset:32",
            4,
            4,
            32,
        ),
        (
            Gpu::Gfx942,
            "global_load_lds_ubyte v2, s[8:9] offset:4",
            4,
            1,
            4,
        ),
        (
            Gpu::Gfx950,
            "buffer_load_dwordx3 v0, s[4:7], 0 offen lds",
            12,
            12,
            0,
        ),
        (
            Gpu::Gfx950,
            "buffer_load_dwordx4 v0, s[4:7], 0 offen offset:64 lds",
            16,
            16,
            64,
        ),
        (
            Gpu::Gfx950,
            "global_load_lds_dwordx3 v[0:1], off",
            12,
            12,
            0,
        ),
        (
            Gpu::Gfx950,
            "global_load_lds_dwordx4 v2, s[8:9] offset:16",
            16,
            16,
            16,
        ),
    ];
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(BYTES, AllocationKind::Device).unwrap();
    let data = filled();
    memory.write(base, &data).unwrap();
    let view = memory.view();
    for (gpu, text, size, bytes, offset) in lines {
        let bench = Bench::new(gpu, &[text]);
        for level in bench.levels() {
            for (exec, step) in [(!0, size), (0xfff0_ffff_0000_0001, size), (!0, 20)] {
                let mut wave = wave();
                wave.exec = exec;
                let offsets = std::array::from_fn(|lane| (step * lane) as u64);
                set_addresses(&mut wave, base, &offsets);
                let buffer = text.starts_with("buffer");
                let records = 800;
                if buffer {
                    set_resource(&mut wave, Resource::raw(records), base);
                    let low = wave.lanes(2).as_array().to_owned();
                    *wave.lanes_mut(0).as_mut_array() = low;
                }
                // gfx950's address has more bits; other GPUs drop them.
                let wide = gpu == Gpu::Gfx950;
                let start = if wide { 0x1_2000 } else { 0x2000 };
                wave.set_scalar(124, 0x1_2000);
                let mut lds = vec![0x77; 0x1_4000];
                bench
                    .step_with(level, 0, &mut wave, &view, &mut lds)
                    .unwrap();
                let mut expected = vec![0x77; 0x1_4000];
                for lane in (0..64).filter(|lane| exec >> lane & 1 == 1) {
                    for part in 0..size / 4 {
                        let at = step * lane + offset + 4 * part;
                        let whole = dword(&data, at);
                        let value = match bytes {
                            _ if buffer && at + bytes.min(4) > records as usize => 0,
                            1 if text.contains("sbyte") => whole as i8 as u32,
                            1 => whole & 0xff,
                            2 => whole & 0xffff,
                            _ => whole,
                        };
                        let apart = if size == 12 { 16 } else { size };
                        let to = start + offset + apart * lane + 4 * part;
                        expected[to..to + 4].copy_from_slice(&value.to_le_bytes());
                    }
                }
                assert!(lds == expected, "{text} on {gpu}, {exec:#x}");
                // Lanes past the end of LDS neither write nor read: lane 40's address is not allocated.
                wave.lanes_mut(0).as_mut_array()[40] = u32::MAX / 2;
                wave.lanes_mut(1).as_mut_array()[40] = 0;
                wave.lanes_mut(2).as_mut_array()[40] = u32::MAX / 2;
                if buffer {
                    set_resource(&mut wave, Resource::raw(u32::MAX), base);
                }
                let apart = if size == 12 { 16 } else { size };
                let end = start + offset + apart * 17;
                bench
                    .step_with(level, 0, &mut wave, &view, &mut lds[..end])
                    .unwrap();
                assert_eq!(wave.exec, exec);
                let mut short = vec![0x77; end];
                for lane in (0..17).filter(|lane| exec >> lane & 1 == 1) {
                    let to = start + offset + apart * lane;
                    short[to..to + size].copy_from_slice(&expected[to..to + size]);
                }
                assert!(lds[..end] == short, "{text} on {gpu}, {exec:#x}");
            }
        }
    }
}

#[test]
fn status_words() {
    let bench = Bench::new(
        Gpu::Gfx908,
        &["buffer_load_dwordx2 v[8:10], v0, s[4:7], 0 offen tfe"],
    );
    let memory = DeviceMemory::new(1 << 20);
    let base = memory.allocate(256, AllocationKind::Device).unwrap();
    let view = memory.view();
    for level in bench.levels() {
        let mut wave = prepared(Resource::raw(256), base, 1 << 3, &[[0; 2]; 64]);
        bench
            .step_with(level, 0, &mut wave, &view, &mut [])
            .unwrap();
        let status = wave.lanes(10).as_array();
        assert_eq!([status[3], status[4]], [0, UNTOUCHED]);
    }
}
