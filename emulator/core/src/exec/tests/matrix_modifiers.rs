//! Modifiers of matrix instructions: shared blocks of A, permuted lanes of B, signs, and constants as C.

use ferrowave_gpu::Gpu;

use super::{Bench, wave};
use crate::exec::{ACCUMULATORS, Code, SimdLevel};

/// An inline constant is used for all elements of C.
#[test]
fn constants_as_c() {
    let bench = Bench::new(
        Gpu::Gfx942,
        &["v_mfma_f32_16x16x4_f32 v[16:19], v0, v8, 1.0"],
    );
    for level in bench.levels() {
        let mut wave = wave();
        *wave.lanes_mut(0) = crate::exec::Lanes::splat(2_f32.to_bits());
        *wave.lanes_mut(8) = crate::exec::Lanes::splat(3_f32.to_bits());
        bench.step(level, 0, &mut wave);
        for register in 16..20 {
            assert_eq!(*wave.lanes(register).as_array(), [25_f32.to_bits(); 64]);
        }
    }
}

/// Shared blocks of A, and permuted lanes of B.
#[test]
fn broadcasts() {
    let lines = [
        "v_mfma_f32_4x4x1f32 a[0:3], v0, v8, a[0:3] cbsz:2 abid:3",
        "v_mfma_f32_16x16x1f32 a[16:31], v0, v8, a[16:31] blgp:1",
    ];
    let bench = Bench::new(Gpu::Gfx908, &lines);
    for level in bench.levels() {
        let mut wave = wave();
        for lane in 0..64 {
            wave.lanes_mut(0).as_mut_array()[lane] = (1.0 + lane as f32).to_bits();
            wave.lanes_mut(8).as_mut_array()[lane] = (100.0 + lane as f32).to_bits();
        }
        bench.step(level, 0, &mut wave);
        for block in 0..16 {
            // Each four blocks use A of the last of them.
            let a_block = block / 4 * 4 + 3;
            for (row, column) in [(0, 0), (3, 1)] {
                let expected = (1 + 4 * a_block + row) as f32 * (100 + 4 * block + column) as f32;
                let result = wave.lanes(ACCUMULATORS + row as u16).as_array()[4 * block + column];
                assert_eq!(f32::from_bits(result), expected);
            }
        }
        bench.step(level, 1, &mut wave);
        for block in 0..4 {
            // The upper half of B's lanes reads the lower half.
            let b_lane = (16 * block) % 32 + 5;
            let expected = (1 + 16 * block + 6) as f32 * (100 + b_lane) as f32;
            let result = wave
                .lanes(ACCUMULATORS + (16 + 4 * block + 2) as u16)
                .as_array()[16 + 5];
            assert_eq!(f32::from_bits(result), expected, "block {block}");
        }
    }
}

/// All permutations of B's lanes and all shared blocks of A, in every kind of product.
#[test]
fn patterns_of_lanes_and_blocks() {
    for blgp in 0..8_usize {
        for (cbsz, abid) in [(0, 0), (1, 1)] {
            let text = format!(
                "v_mfma_f32_16x16x4f16 a[0:15], v[0:1], v[8:9], a[0:15] cbsz:{cbsz} abid:{abid} blgp:{blgp}"
            );
            let small = format!(
                "v_mfma_i32_4x4x4i8 a[16:19], v0, v8, a[16:19] cbsz:{cbsz} abid:{abid} blgp:{blgp}"
            );
            let bench = Bench::new(Gpu::Gfx90a, &[&text, &small]);
            for level in bench.levels() {
                // K is 1: the value is the lane number.
                let mut wave = wave();
                for register in [0, 1, 8, 9] {
                    *wave.lanes_mut(register) = crate::exec::Lanes::splat(0);
                }
                for register in ACCUMULATORS..ACCUMULATORS + 20 {
                    *wave.lanes_mut(register) = crate::exec::Lanes::splat(0);
                }
                for lane in 0..64 {
                    let half = u32::from((lane as f16).to_bits());
                    wave.lanes_mut(0).as_mut_array()[lane] = half;
                    wave.lanes_mut(8).as_mut_array()[lane] = half;
                }
                bench.step(level, 0, &mut wave);
                let b_lane = |lane: usize| match blgp {
                    0 => lane,
                    1 => lane % 32,
                    2 => 32 + lane % 32,
                    3 => (lane + 16) % 64,
                    _ => lane % 16 + 16 * (blgp - 4),
                };
                let a_block = |block: usize| {
                    if cbsz == 0 {
                        block
                    } else {
                        block / 2 * 2 + abid
                    }
                };
                for block in 0..4 {
                    for (row, column) in [(0, 0), (7, 3), (15, 12)] {
                        let a = 16 * a_block(block) + row;
                        let expected = (a * b_lane(16 * block + column)) as f32;
                        let register = ACCUMULATORS + (4 * block + row % 4) as u16;
                        let result = wave.lanes(register).as_array()[16 * (row / 4) + column];
                        assert_eq!(f32::from_bits(result), expected, "{text}, block {block}");
                    }
                }
                for lane in 0..64 {
                    wave.lanes_mut(0).as_mut_array()[lane] = lane as u32;
                    wave.lanes_mut(8).as_mut_array()[lane] = lane as u32;
                }
                bench.step(level, 1, &mut wave);
                for block in 0..16 {
                    for (row, column) in [(0, 1), (3, 2)] {
                        let expected = (4 * a_block(block) + row) * b_lane(4 * block + column);
                        let register = ACCUMULATORS + 16 + row as u16;
                        let result = wave.lanes(register).as_array()[4 * block + column];
                        assert_eq!(result as usize, expected, "{small}, block {block}");
                    }
                }
            }
        }
    }
}

/// From gfx942 on, in f64 products the bits that permute B's lanes in others negate A, B and C.
#[test]
fn negated_doubles() {
    for blgp in 0..8 {
        let lines = [
            format!(
                "v_mfma_f64_16x16x4_f64 v[16:23], v[0:1], v[8:9], 2.0 {}",
                negations(blgp)
            ),
            format!(
                "v_mfma_f64_4x4x4_4b_f64 v[16:17], v[0:1], v[8:9], 2.0 {}",
                negations(blgp)
            ),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let bench = Bench::new(Gpu::Gfx942, &lines);
        for level in bench.levels() {
            for instruction in 0..2 {
                let mut wave = wave();
                for (register, value) in [(0, 3_f64), (8, 5.0)] {
                    let bits = value.to_bits();
                    *wave.lanes_mut(register) = crate::exec::Lanes::splat(bits as u32);
                    *wave.lanes_mut(register + 1) = crate::exec::Lanes::splat((bits >> 32) as u32);
                }
                bench.step(level, instruction, &mut wave);
                let sign = |bit: i32| if blgp >> bit & 1 == 1 { -1.0 } else { 1.0 };
                let expected = 4.0 * (sign(0) * 3.0) * (sign(1) * 5.0) + sign(2) * 2.0;
                for lane in 0..64 {
                    let [low, high] = [16, 17].map(|r| u64::from(wave.lanes(r).as_array()[lane]));
                    assert_eq!(
                        f64::from_bits(low | high << 32),
                        expected,
                        "{}",
                        lines[instruction]
                    );
                }
            }
        }
    }
}

/// LLVM's syntax of the signs.
fn negations(blgp: i32) -> String {
    let bit = |index: i32| blgp >> index & 1;
    format!("neg:[{},{},{}]", bit(0), bit(1), bit(2))
}

/// Bits that AMD's documents give no meaning are refused, not ignored.
#[test]
fn undocumented_bits() {
    for (gpu, text) in [
        // With one block, there is none to share.
        (
            Gpu::Gfx90a,
            "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[8:9], a[0:3] cbsz:1",
        ),
        // More blocks than the instruction has; a block outside the group.
        (
            Gpu::Gfx908,
            "v_mfma_f32_32x32x1f32 a[0:31], v0, v8, a[0:31] cbsz:2",
        ),
        (
            Gpu::Gfx908,
            "v_mfma_f32_4x4x1f32 a[0:3], v0, v8, a[0:3] cbsz:1 abid:2",
        ),
        // Most instructions lost B's permutations with gfx942; f64 never had any.
        (
            Gpu::Gfx942,
            "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[8:9], a[0:3] blgp:1",
        ),
        (
            Gpu::Gfx90a,
            "v_mfma_f64_16x16x4f64 a[0:7], v[0:1], v[8:9], a[0:7] blgp:1",
        ),
    ] {
        let bytes = ferrowave_kernel_build::assemble(gpu, &format!(".text\n{text}\n")).unwrap();
        let object = ferrowave_code_object::CodeObject::parse(&bytes).unwrap();
        let range = object.text_ranges()[0].clone();
        let words = object
            .file_bytes(range.start, range.end - range.start)
            .unwrap();
        let code = Code::compile(gpu, SimdLevel::Portable, 0x1000, words);
        let refused = &code.unsupported()[0];
        assert_eq!(refused.offset, 0, "{text}");
        assert!(refused.what.contains("does not run"), "{}", refused.what);
    }
}
