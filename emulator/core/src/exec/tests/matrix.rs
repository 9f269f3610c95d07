//! Matrix instructions, tested against products of matrices by AMD's lane maps.

use ferrowave_gpu::Gpu;

use super::{Bench, Random, wave};
use crate::exec::{ACCUMULATORS, Wave};

/// An instruction's shape: M = N, K, blocks, adjacent elements of A and B in a lane, and how many fit in a register.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) size: usize,
    pub(super) k: usize,
    pub(super) blocks: usize,
    pub(super) per_register: usize,
}

impl Shape {
    pub(super) const fn per_lane(self) -> usize {
        self.k * self.size * self.blocks / 64
    }

    /// The lane and the element in it that hold A[row][k] of a block (or B[k][column]).
    pub(super) fn source(self, block: usize, row: usize, k: usize) -> (usize, usize) {
        // Groups of `size` lanes: block after block, each group with its part of k.
        let groups_per_block = 64 / self.size / self.blocks;
        let group = block * groups_per_block + k / self.per_lane();
        (self.size * group + row, k % self.per_lane())
    }

    /// The register and lane that hold D[row][column] of a block.
    pub(super) fn result(self, block: usize, row: usize, column: usize) -> (usize, usize) {
        match self.size {
            32 => {
                let register = 4 * (row / 8) + row % 4;
                (16 * block + register, 32 * (row / 4 % 2) + column)
            }
            16 => (4 * block + row % 4, 16 * (row / 4) + column),
            _ => (row, 4 * block + column),
        }
    }
}

/// How the elements are stored.
trait Stored: Copy {
    /// The bits of a small integer.
    fn bits(value: i32) -> u32;
    /// The bits of a sum.
    fn sum_bits(value: i32) -> u32;
}

#[derive(Clone, Copy)]
struct F32;
#[derive(Clone, Copy)]
struct F16;
#[derive(Clone, Copy)]
struct Bf16;
#[derive(Clone, Copy)]
struct I8;

impl Stored for F32 {
    fn bits(value: i32) -> u32 {
        (value as f32).to_bits()
    }
    fn sum_bits(value: i32) -> u32 {
        (value as f32).to_bits()
    }
}

impl Stored for F16 {
    fn bits(value: i32) -> u32 {
        u32::from((value as f16).to_bits())
    }
    fn sum_bits(value: i32) -> u32 {
        (value as f32).to_bits()
    }
}

impl Stored for Bf16 {
    fn bits(value: i32) -> u32 {
        // Small integers have all their bits in the upper half.
        (value as f32).to_bits() >> 16
    }
    fn sum_bits(value: i32) -> u32 {
        (value as f32).to_bits()
    }
}

impl Stored for I8 {
    fn bits(value: i32) -> u32 {
        value as u32 & 0xff
    }
    fn sum_bits(value: i32) -> u32 {
        value as u32
    }
}

pub(super) fn set_element(
    wave: &mut Wave,
    register: u16,
    shape: Shape,
    (lane, element): (usize, usize),
    bits: u32,
) {
    let width = 32 / shape.per_register;
    let register = register + (element / shape.per_register) as u16;
    let slot = &mut wave.lanes_mut(register).as_mut_array()[lane];
    *slot |= bits << (width * (element % shape.per_register));
}

/// Runs an instruction on matrices of small integers, whose sums are exact in every format. A begins in `v0`, B in
/// `v8`, C in `c` and D in `d`.
fn check<T: Stored>(gpu: Gpu, text: &str, _: T, shape: Shape, c: u16, d: u16) {
    let bench = Bench::new(gpu, &[text]);
    for level in bench.levels() {
        let mut random = Random(6);
        let mut small = || (random.next() % 15) as i32 - 7;
        let mut wave = wave();
        for register in 0..16 {
            *wave.lanes_mut(register) = crate::exec::Lanes::splat(0);
        }
        // EXEC has no effect.
        wave.exec = 0x1234;
        let mut a = vec![vec![vec![0; shape.k]; shape.size]; shape.blocks];
        let mut b = a.clone();
        let mut sums = vec![vec![vec![0; shape.size]; shape.size]; shape.blocks];
        for block in 0..shape.blocks {
            for row in 0..shape.size {
                for k in 0..shape.k {
                    a[block][row][k] = small();
                    b[block][row][k] = small();
                    let place = shape.source(block, row, k);
                    set_element(&mut wave, 0, shape, place, T::bits(a[block][row][k]));
                    set_element(&mut wave, 8, shape, place, T::bits(b[block][row][k]));
                }
                for column in 0..shape.size {
                    sums[block][row][column] = small();
                    let (register, lane) = shape.result(block, row, column);
                    wave.lanes_mut(c + register as u16).as_mut_array()[lane] =
                        T::sum_bits(sums[block][row][column]);
                }
            }
        }
        bench.step(level, 0, &mut wave);
        for block in 0..shape.blocks {
            for row in 0..shape.size {
                for column in 0..shape.size {
                    let products = (0..shape.k).map(|k| a[block][row][k] * b[block][column][k]);
                    let expected = sums[block][row][column] + products.sum::<i32>();
                    let (register, lane) = shape.result(block, row, column);
                    let result = wave.lanes(d + register as u16).as_array()[lane];
                    assert_eq!(
                        result,
                        T::sum_bits(expected),
                        "{text} on {gpu}, block {block}, row {row}, column {column}"
                    );
                }
            }
        }
    }
}

pub(super) const fn shape(size: usize, k: usize, blocks: usize, per_register: usize) -> Shape {
    Shape {
        size,
        k,
        blocks,
        per_register,
    }
}

#[test]
fn singles() {
    let a = ACCUMULATORS;
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a] {
        check(
            gpu,
            "v_mfma_f32_32x32x1f32 a[0:31], v0, v8, a[0:31]",
            F32,
            shape(32, 1, 2, 1),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_16x16x1f32 a[0:15], v0, v8, a[0:15]",
            F32,
            shape(16, 1, 4, 1),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_4x4x1f32 a[0:3], v0, v8, a[0:3]",
            F32,
            shape(4, 1, 16, 1),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_32x32x2f32 a[0:15], v0, v8, a[0:15]",
            F32,
            shape(32, 2, 1, 1),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_16x16x4f32 a[4:7], v0, v8, a[0:3]",
            F32,
            shape(16, 4, 1, 1),
            a,
            a + 4,
        );
    }
    let gpu = Gpu::Gfx942;
    check(
        gpu,
        "v_mfma_f32_32x32x2_f32 v[16:31], v0, v8, v[16:31]",
        F32,
        shape(32, 2, 1, 1),
        16,
        16,
    );
    check(
        gpu,
        "v_mfma_f32_16x16x4_f32 v[20:23], v0, v8, v[16:19]",
        F32,
        shape(16, 4, 1, 1),
        16,
        20,
    );
    // D overlaps C, two registers further.
    check(
        gpu,
        "v_mfma_f32_16x16x4_f32 v[18:21], v0, v8, v[16:19]",
        F32,
        shape(16, 4, 1, 1),
        16,
        18,
    );
    // D overlaps A and B.
    check(
        gpu,
        "v_mfma_f32_16x16x4_f32 v[6:9], v0, v8, v[16:19]",
        F32,
        shape(16, 4, 1, 1),
        16,
        6,
    );
}

#[test]
fn halves() {
    let a = ACCUMULATORS;
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a] {
        check(
            gpu,
            "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[8:9], a[0:15]",
            F16,
            shape(32, 8, 1, 2),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[8:9], a[0:3]",
            F16,
            shape(16, 16, 1, 2),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_32x32x4f16 a[0:31], v[0:1], v[8:9], a[0:31]",
            F16,
            shape(32, 4, 2, 2),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_16x16x4f16 a[0:15], v[0:1], v[8:9], a[0:15]",
            F16,
            shape(16, 4, 4, 2),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[8:9], a[0:3]",
            F16,
            shape(4, 4, 16, 2),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_32x32x4bf16 a[0:15], v0, v8, a[0:15]",
            Bf16,
            shape(32, 4, 1, 2),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_f32_16x16x8bf16 a[0:3], v0, v8, a[0:3]",
            Bf16,
            shape(16, 8, 1, 2),
            a,
            a,
        );
    }
    let gpu = Gpu::Gfx90a;
    check(
        gpu,
        "v_mfma_f32_32x32x8bf16_1k v[16:31], v[0:1], v[8:9], v[16:31]",
        Bf16,
        shape(32, 8, 1, 2),
        16,
        16,
    );
    let gpu = Gpu::Gfx942;
    check(
        gpu,
        "v_mfma_f32_16x16x16_f16 v[16:19], v[0:1], v[8:9], v[16:19]",
        F16,
        shape(16, 16, 1, 2),
        16,
        16,
    );
    check(
        gpu,
        "v_mfma_f32_32x32x8_bf16 v[16:31], v[0:1], v[8:9], v[16:31]",
        Bf16,
        shape(32, 8, 1, 2),
        16,
        16,
    );
    let gpu = Gpu::Gfx950;
    check(
        gpu,
        "v_mfma_f32_16x16x32_f16 v[16:19], v[0:3], v[8:11], v[16:19]",
        F16,
        shape(16, 32, 1, 2),
        16,
        16,
    );
    check(
        gpu,
        "v_mfma_f32_32x32x16_bf16 v[16:31], v[0:3], v[8:11], v[16:31]",
        Bf16,
        shape(32, 16, 1, 2),
        16,
        16,
    );
}

#[test]
fn bytes() {
    let a = ACCUMULATORS;
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a] {
        check(
            gpu,
            "v_mfma_i32_32x32x8i8 a[0:15], v0, v8, a[0:15]",
            I8,
            shape(32, 8, 1, 4),
            a,
            a,
        );
        check(
            gpu,
            "v_mfma_i32_16x16x16i8 a[0:3], v0, v8, a[0:3]",
            I8,
            shape(16, 16, 1, 4),
            a,
            a,
        );
    }
    let gpu = Gpu::Gfx942;
    check(
        gpu,
        "v_mfma_i32_32x32x16_i8 v[16:31], v[0:1], v[8:9], v[16:31]",
        I8,
        shape(32, 16, 1, 4),
        16,
        16,
    );
    check(
        gpu,
        "v_mfma_i32_16x16x32_i8 v[16:19], v[0:1], v[8:9], v[16:19]",
        I8,
        shape(16, 32, 1, 4),
        16,
        16,
    );
}

#[test]
fn doubles() {
    let lines = [
        "v_mfma_f64_16x16x4_f64 v[16:23], v[0:1], v[8:9], v[16:23]",
        "v_mfma_f64_4x4x4_4b_f64 v[16:17], v[0:1], v[8:9], v[16:17]",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    let put = |wave: &mut Wave, register: u16, lane: usize, value: f64| {
        wave.lanes_mut(register).as_mut_array()[lane] = value.to_bits() as u32;
        wave.lanes_mut(register + 1).as_mut_array()[lane] = (value.to_bits() >> 32) as u32;
    };
    let get = |wave: &Wave, register: u16, lane: usize| {
        let [low, high] = [0, 1].map(|i| u64::from(wave.lanes(register + i).as_array()[lane]));
        f64::from_bits(low | high << 32)
    };
    for level in bench.levels() {
        let value = |x: usize, y: usize, z: usize| (x * 7 + y * 3 + z) as f64 * 0.125 - 5.0;
        let mut wave = wave();
        for lane in 0..64 {
            put(&mut wave, 0, lane, value(lane % 16, lane / 16, 1));
            put(&mut wave, 8, lane, value(lane % 16, lane / 16, 2));
            for register in 0..4 {
                put(
                    &mut wave,
                    16 + 2 * register,
                    lane,
                    usize::from(register) as f64,
                );
            }
        }
        bench.step(level, 0, &mut wave);
        for row in 0..16 {
            for column in 0..16 {
                let products = (0..4).map(|k| value(row, k, 1) * value(column, k, 2));
                let expected = (row / 4) as f64 + products.sum::<f64>();
                let result = get(&wave, 16 + 2 * (row / 4) as u16, 16 * (row % 4) + column);
                assert_eq!(result, expected, "row {row}, column {column}");
            }
        }
        for lane in 0..64 {
            put(&mut wave, 16, lane, 0.5);
        }
        bench.step(level, 1, &mut wave);
        for lane in 0..64 {
            let (row, block, column) = (lane / 16, lane / 4 % 4, lane % 4);
            let products =
                (0..4).map(|k| value(4 * block + row, k, 1) * value(4 * block + column, k, 2));
            assert_eq!(
                get(&wave, 16, lane),
                0.5 + products.sum::<f64>(),
                "lane {lane}"
            );
        }
    }
}

/// gfx90a flushes f16 denormals, other GPUs do not.
#[test]
fn denormal_halves() {
    for (gpu, text, kept) in [
        (
            Gpu::Gfx908,
            "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[8:9], a[0:3]",
            true,
        ),
        (
            Gpu::Gfx90a,
            "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[8:9], a[0:3]",
            false,
        ),
        (
            Gpu::Gfx942,
            "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[8:9], a[0:3]",
            true,
        ),
    ] {
        let bench = Bench::new(gpu, &[text]);
        for level in bench.levels() {
            let mut wave = wave();
            for register in [0, 1] {
                // The smallest denormal, 2^-24, times 1.
                *wave.lanes_mut(register) = crate::exec::Lanes::splat(0x0001_0001);
                *wave.lanes_mut(8 + register) = crate::exec::Lanes::splat(0x3c00_3c00);
            }
            bench.step(level, 0, &mut wave);
            let expected = if kept { 16.0 * 2_f32.powi(-24) } else { 0.0 };
            assert_eq!(
                f32::from_bits(wave.lanes(ACCUMULATORS).as_array()[0]),
                expected,
                "{gpu}"
            );
        }
    }
}

#[test]
fn accumulators_are_moved() {
    for (gpu, write, read) in [
        (
            Gpu::Gfx908,
            "v_accvgpr_write_b32 a3, v0",
            "v_accvgpr_read_b32 v6, a3",
        ),
        (
            Gpu::Gfx942,
            "v_accvgpr_write_b32 a3, v0",
            "v_accvgpr_read_b32 v6, a3",
        ),
    ] {
        let bench = Bench::new(gpu, &[write, read]);
        for level in bench.levels() {
            let mut wave = wave();
            for lane in 0..64 {
                wave.lanes_mut(0).as_mut_array()[lane] = lane as u32;
            }
            wave.exec = 0xffff_0000;
            bench.step(level, 0, &mut wave);
            wave.exec = !0;
            bench.step(level, 1, &mut wave);
            assert_eq!(
                [15, 16, 31, 32].map(|i| wave.lanes(6).as_array()[i]),
                [0, 16, 31, 0]
            );
        }
    }
}
