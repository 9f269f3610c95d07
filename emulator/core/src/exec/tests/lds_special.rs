//! LDS operations other than plain reads, writes and atomics.

use ferrowave_gpu::Gpu;

use super::{
    Bench, UNTOUCHED,
    memory::{dword, filled},
    wave,
};
use crate::exec::Wave;
use crate::memory::DeviceMemory;

const M0: u16 = 124;

fn fill(w: &mut Wave, register: u16, f: impl Fn(usize) -> u32) {
    for lane in 0..64 {
        w.lanes_mut(register).as_mut_array()[lane] = f(lane);
    }
}

/// The `bits` bits from bit `at` on.
fn bits(data: &[u8], at: usize, bits: usize) -> u128 {
    (0..bits).fold(0, |value, bit| {
        let place = at + bit;
        value | u128::from(data[place / 8] >> (place % 8) & 1) << bit
    })
}

#[test]
fn transposing_reads() {
    // Text, bits of an element, elements per lane.
    let lines = [
        ("ds_read_b64_tr_b16 v[8:9], v2 offset:8", 16, 4),
        ("ds_read_b64_tr_b8 v[8:9], v2 offset:8", 8, 8),
        ("ds_read_b64_tr_b4 v[8:9], v2 offset:8", 4, 16),
        ("ds_read_b96_tr_b6 v[8:10], v2 offset:8", 6, 16),
    ];
    let texts = lines.map(|line| line.0);
    let bench = Bench::new(Gpu::Gfx950, &texts);
    let view = DeviceMemory::new(0).view();
    let data = filled();
    for level in bench.levels() {
        for (line, (text, size, elements)) in lines.into_iter().enumerate() {
            // Rows are 112 bytes apart; each sixteen lanes have a matrix of their own.
            let lanes_a_row = 16 / elements;
            let address = |lane: usize| {
                let (group, lane) = (lane / 16, lane % 16);
                let piece = lane % lanes_a_row * elements * size / 8;
                1792 * group + 112 * (lane / lanes_a_row) + piece
            };
            let mut wave = wave();
            fill(&mut wave, 2, |lane| address(lane) as u32);
            bench
                .step_with(level, line, &mut wave, &view, &mut data.clone())
                .unwrap();
            for lane in 0..64 {
                let column = lane % 16;
                let expected = (0..elements).fold(0, |value, row| {
                    let start = 1792 * (lane / 16) + 112 * row + 8;
                    value | bits(&data, 8 * start + size * column, size) << (size * row)
                });
                let result = (0..3).fold(0, |value, part| {
                    let dword = wave.lanes(8 + part).as_array()[lane];
                    let used = usize::from(part) < size * elements / 32;
                    value | u128::from(if used { dword } else { 0 }) << (32 * part)
                });
                assert_eq!(result, expected, "{text}, lane {lane}");
            }
        }
    }
}

#[test]
fn exchanges() {
    let lines = [
        "ds_wrxchg2_rtn_b32 v[8:9], v2, v4, v5 offset0:1 offset1:3",
        "ds_wrxchg2st64_rtn_b64 v[8:11], v2, v[4:5], v[6:7] offset0:0 offset1:1",
        "ds_condxchg32_rtn_b64 v[8:9], v2, v[4:5]",
        "ds_wrap_rtn_b32 v8, v2, v4, v5",
        "ds_cmpst_rtn_f32 v8, v2, v4, v5",
    ];
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    let view = DeviceMemory::new(0).view();
    for level in bench.levels() {
        let run = |line: usize, lds: &mut [u8], v4: &dyn Fn(usize) -> u32, v5: u32| {
            let mut wave = wave();
            wave.exec = !1;
            fill(&mut wave, 2, |lane| 16 * lane as u32);
            fill(&mut wave, 4, v4);
            fill(&mut wave, 5, |_| v5);
            fill(&mut wave, 6, |_| 6);
            fill(&mut wave, 7, |_| 7);
            bench.step_with(level, line, &mut wave, &view, lds).unwrap();
            std::array::from_fn::<_, 4, _>(|r| *wave.lanes(8 + r as u16).as_array())
        };
        let before = filled();
        let mut lds = before.clone();
        let old = run(0, &mut lds, &|lane| lane as u32, 55);
        for lane in 1..64 {
            assert_eq!(old[0][lane], dword(&before, 16 * lane + 4));
            assert_eq!(old[1][lane], dword(&before, 16 * lane + 12));
            let now = [4, 8, 12].map(|at| dword(&lds, 16 * lane + at));
            assert_eq!(now, [lane as u32, dword(&before, 16 * lane + 8), 55]);
        }
        assert_eq!((old[0][0], old[1][0]), (UNTOUCHED, UNTOUCHED));
        let mut lds = before.clone();
        let old = run(1, &mut lds, &|lane| lane as u32, 5);
        for lane in 1..64 {
            let at = |at: usize| dword(&before, 16 * lane + at);
            // Lanes from 32 on read what the lanes 32 below them wrote at the second address.
            let first = if lane < 33 { [at(0), at(4)] } else { [6, 7] };
            assert_eq!([old[0][lane], old[1][lane]], first, "lane {lane}");
            assert_eq!([old[2][lane], old[3][lane]], [at(512), at(516)]);
            let now = [512, 516].map(|at| dword(&lds, 16 * lane + at));
            let overwritten = lane < 32;
            let expected = if overwritten {
                [lane as u32 + 32, 5]
            } else {
                [6, 7]
            };
            assert_eq!(now, expected, "lane {lane}");
        }
        let mut lds = before.clone();
        let sign = |lane: usize| if lane % 2 == 0 { 1 << 31 } else { 0 };
        let old = run(2, &mut lds, &|lane| sign(lane) | 9, 1 << 31 | 4);
        for lane in 1..64 {
            let at = |data: &[u8], at: usize| dword(data, 16 * lane + at);
            assert_eq!(
                [old[0][lane], old[1][lane]],
                [at(&before, 0), at(&before, 4)]
            );
            let first = if lane % 2 == 0 { 9 } else { at(&before, 0) };
            assert_eq!([at(&lds, 0), at(&lds, 4)], [first, 4]);
        }
        let mut lds = vec![0; 1024];
        for lane in 0..64 {
            lds[16 * lane..16 * lane + 4].copy_from_slice(&(lane as u32).to_le_bytes());
        }
        let old = run(3, &mut lds, &|_| 40, 1000);
        for lane in 1..64 {
            let value = lane as u32;
            let expected = if value >= 40 {
                value - 40
            } else {
                value + 1000
            };
            assert_eq!((old[0][lane], dword(&lds, 16 * lane)), (value, expected));
        }
        // Zeros compare as equal, NaNs with nothing.
        let mut lds = vec![0; 1024];
        for lane in 0..64 {
            let value = if lane % 2 == 0 {
                1 << 31
            } else {
                0x7fc0_0000_u32
            };
            lds[16 * lane..16 * lane + 4].copy_from_slice(&value.to_le_bytes());
        }
        run(
            4,
            &mut lds,
            &|lane| if lane % 2 == 0 { 0 } else { 0x7fc0_0000 },
            77,
        );
        assert_eq!([1, 2].map(|lane| dword(&lds, 16 * lane)), [0x7fc0_0000, 77]);
    }
}

#[test]
fn places_that_m0_names() {
    let lines = [
        "ds_read_addtid_b32 v8 offset:16",
        "ds_write_addtid_b32 v4 offset:16",
        "ds_append v8 offset:4",
        "ds_consume v8 offset:4",
    ];
    let bench = Bench::new(Gpu::Gfx908, &lines);
    let view = DeviceMemory::new(0).view();
    let before = filled();
    let exec = 0xffff_0000_1234_0000;
    for level in bench.levels() {
        let run = |line: usize, lds: &mut [u8]| {
            let mut wave = wave();
            wave.exec = exec;
            wave.set_scalar(M0, 0x7_0100);
            fill(&mut wave, 4, |lane| 7 * lane as u32);
            bench.step_with(level, line, &mut wave, &view, lds).unwrap();
            *wave.lanes(8).as_array()
        };
        let read = run(0, &mut before.clone());
        let mut lds = before.clone();
        run(1, &mut lds);
        for lane in 0..64 {
            let (active, at) = (exec >> lane & 1 == 1, 0x110 + 4 * lane);
            let old = dword(&before, at);
            assert_eq!(read[lane], if active { old } else { UNTOUCHED });
            let expected = if active { 7 * lane as u32 } else { old };
            assert_eq!(dword(&lds, at), expected);
        }
        for (line, change) in [(2, 21), (3, -21_i32)] {
            let mut lds = before.clone();
            let result = run(line, &mut lds);
            let old = dword(&before, 0x104);
            assert_eq!([result[0], result[63]], [UNTOUCHED, old]);
            assert_eq!(dword(&lds, 0x104), old.wrapping_add_signed(change));
        }
    }
}

#[test]
fn second_sources() {
    let lines = [
        "ds_add_src2_u32 v2 offset:3",
        "ds_write_src2_b64 v2 offset:65534",
        "ds_max_src2_u32 v2 offset:32768",
    ];
    // The assembler's offset has 16 bits. One distance is positive, one negative (its sign is bit 14), one comes from
    // the address.
    let lines = lines.map(|line| line.replace("65534", "32766"));
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    let bench = Bench::new(Gpu::Gfx908, &texts);
    let view = DeviceMemory::new(0).view();
    let before = filled();
    for level in bench.levels() {
        let run = |line: usize, address: u32| {
            let mut lds = before.clone();
            let mut wave = wave();
            wave.exec = 1 << 7;
            fill(&mut wave, 2, |_| address);
            bench
                .step_with(level, line, &mut wave, &view, &mut lds)
                .unwrap();
            lds
        };
        let at = |at| dword(&before, at);
        assert_eq!(dword(&run(0, 64), 64), at(64).wrapping_add(at(76)));
        let moved = run(1, 64);
        assert_eq!([64, 68].map(|at| dword(&moved, at)), [at(56), at(60)]);
        assert_eq!(dword(&run(2, 5 << 17 | 128), 128), at(128).max(at(148)));
    }
}

/// AMD's guides («Memory Error Checking»): threads out of range write nothing and read 0. Lanes 0 to 31 are inside. Of
/// the others, some are past the end, some below 0, some where Tensile sends lanes that it masks.
#[test]
fn lanes_out_of_range_write_nothing_and_read_zeros() {
    // GPU, text, number of result registers, bytes of one access.
    let lines: [(Gpu, &str, u16, usize); 22] = [
        (Gpu::Gfx942, "ds_read_u8 v8, v2", 1, 1),
        (Gpu::Gfx942, "ds_read_u16_d16_hi v8, v2", 1, 2),
        (Gpu::Gfx942, "ds_read_b32 v8, v2", 1, 4),
        (Gpu::Gfx942, "ds_read_b96 v[8:10], v2", 3, 12),
        (Gpu::Gfx942, "ds_read_b128 v[8:11], v2", 4, 16),
        (Gpu::Gfx942, "ds_read2_b64 v[8:11], v2 offset1:1", 4, 8),
        (Gpu::Gfx942, "ds_write_b8 v2, v4", 0, 1),
        (Gpu::Gfx942, "ds_write_b64 v2, v[4:5]", 0, 8),
        (Gpu::Gfx942, "ds_write2_b32 v2, v4, v5 offset1:1", 0, 4),
        (Gpu::Gfx942, "ds_add_u32 v2, v4", 0, 4),
        (Gpu::Gfx942, "ds_add_rtn_u32 v8, v2, v4", 1, 4),
        (
            Gpu::Gfx942,
            "ds_cmpst_rtn_b64 v[8:9], v2, v[4:5], v[6:7]",
            2,
            8,
        ),
        (
            Gpu::Gfx942,
            "ds_wrxchg2_rtn_b32 v[8:9], v2, v4, v5 offset1:1",
            2,
            4,
        ),
        (Gpu::Gfx908, "ds_add_src2_u32 v2 offset:1", 0, 4),
        (Gpu::Gfx942, "flat_load_dwordx2 v[8:9], v[0:1]", 2, 8),
        (Gpu::Gfx942, "flat_load_sbyte_d16 v8, v[0:1]", 1, 1),
        (Gpu::Gfx942, "flat_store_dwordx3 v[0:1], v[4:6]", 0, 12),
        (Gpu::Gfx942, "flat_atomic_add v8, v[0:1], v4 sc0", 1, 4),
        (Gpu::Gfx90a, "flat_atomic_or_x2 v[0:1], v[4:5]", 0, 8),
        (Gpu::Gfx950, "ds_read_b64_tr_b16 v[8:9], v2", 2, 8),
        (Gpu::Gfx908, "ds_read_addtid_b32 v8", 1, 4),
        (Gpu::Gfx908, "ds_write_addtid_b32 v4", 0, 4),
    ];
    let before = &filled()[..512];
    let view = DeviceMemory::new(0).view();
    for (gpu, text, results, bytes) in lines {
        let bench = Bench::new(gpu, &[text]);
        for level in bench.levels() {
            let run = |exec: u64, far: &dyn Fn(usize) -> u32| {
                let mut lds = before.to_vec();
                let mut wave = wave();
                wave.exec = exec;
                wave.set_scalar(M0, 512 - 32 * 4);
                let address = |lane: usize| match lane {
                    0..32 => 512 - 16 * (lane + 1) as u32,
                    _ => far(lane),
                };
                for register in [0, 2] {
                    fill(&mut wave, register, address);
                }
                let aperture = (crate::exec::SHARED_APERTURE >> 32) as u32;
                fill(&mut wave, 1, |_| aperture);
                for register in 4..8 {
                    fill(&mut wave, register, |lane| lane as u32 * 77);
                }
                bench
                    .step_with(level, 0, &mut wave, &view, &mut lds)
                    .unwrap();
                let results =
                    std::array::from_fn::<_, 4, _>(|r| *wave.lanes(8 + r as u16).as_array());
                (lds, results)
            };
            // The result of the lanes inside, without the others.
            let (expected, alone) = run(0xffff_ffff, &|_| 0);
            let far = |lane: usize| match lane % 4 {
                0 => 512 - bytes as u32 + 1,
                1 => 0_u32.wrapping_sub(64),
                2 => 0xf0_0000,
                _ => 512 + lane as u32,
            };
            let (lds, after) = run(!(1 << 40), &far);
            assert!(lds == expected, "{text}");
            assert!(results > 0 || lds != before, "{text}");
            for lane in 0..64 {
                for register in 0..4 {
                    let expected = match lane {
                        _ if register >= results as usize => UNTOUCHED,
                        0..32 => alone[register][lane],
                        40 => UNTOUCHED,
                        _ => 0,
                    };
                    let result = after[register][lane];
                    assert_eq!(result, expected, "{text}, lane {lane}, register {register}");
                }
            }
        }
    }
}

#[test]
fn counters_outside_of_lds_and_offsets_that_lead_back() {
    let lines = [
        "ds_append v8 offset:8",
        "ds_read_b32 v8, v2 offset:4096",
        "ds_read2st64_b32 v[8:9], v2 offset1:1",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let view = DeviceMemory::new(0).view();
    let data = &filled()[..256];
    for level in bench.levels() {
        let run = |line: usize, m0: u32, address: u32| {
            let (mut wave, mut lds) = (wave(), data.to_vec());
            wave.set_scalar(M0, m0);
            fill(&mut wave, 2, |_| address);
            bench
                .step_with(level, line, &mut wave, &view, &mut lds)
                .unwrap();
            ([8, 9].map(|r| wave.lanes(r).as_array()[63]), lds == data)
        };
        assert_eq!(run(0, 248, 0), ([0, UNTOUCHED], true));
        assert_eq!(run(0, 244, 0), ([dword(data, 252), UNTOUCHED], false));
        // An address below 0 that the offset brings back, and one that it does not.
        assert_eq!(
            run(1, 0, 0xffff_f000 + 252).0,
            [dword(data, 252), UNTOUCHED]
        );
        assert_eq!(run(1, 0, 0xffff_f000 + 253).0, [0, UNTOUCHED]);
        // One of two addresses may be inside.
        assert_eq!(run(2, 0, 4).0, [dword(data, 4), 0]);
    }
}

/// HIP gives kernels no global data share: nothing is written, results are 0.
#[test]
fn global_data_share_is_out_of_range() {
    let lines = [
        "ds_read_b64 v[8:9], v2 gds",
        "ds_write_b32 v2, v4 gds",
        "ds_add_rtn_u32 v8, v2, v4 gds",
        "ds_append v8 gds",
    ];
    let bench = Bench::new(Gpu::Gfx908, &lines);
    let view = DeviceMemory::new(0).view();
    for level in bench.levels() {
        for (line, results) in [2, 0, 1, 1].into_iter().enumerate() {
            let (mut wave, mut lds) = (wave(), filled());
            wave.exec = !1;
            fill(&mut wave, 2, |_| 0);
            bench
                .step_with(level, line, &mut wave, &view, &mut lds)
                .unwrap();
            assert!(lds == filled(), "{}", lines[line]);
            for register in 0..2 {
                let lanes = wave.lanes(8 + register).as_array();
                let expected = if register < results { 0 } else { UNTOUCHED };
                assert_eq!(
                    [lanes[0], lanes[63]],
                    [UNTOUCHED, expected],
                    "{}",
                    lines[line]
                );
            }
        }
    }
}
