//! How matrix instructions add, bit for bit: tested against the measured arithmetic (MMA-Sim: arXiv 2511.10909, version
//! 2), written here with integers.

use std::{env, process::Command, sync::Arc};

use ferrowave_gpu::Gpu;

use super::{
    Bench, Random,
    formats::{BF8_FNUZ, FP8_FNUZ},
    matrix::{Shape, set_element, shape},
    matrix_narrow::{Type, same},
    wave,
};
use crate::exec::{ACCUMULATORS, Lanes, MATRIX_VARIABLE, MatrixSums, SimdLevel};
use crate::memory::DeviceMemory;
use crate::program::Program;

/// How a GPU adds products of a type, and how many at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sums {
    /// A chain of fused multiply-adds.
    Chain,
    /// Exactly (CDNA 1).
    Exact(usize),
    /// In pairs of pairs, without denormals (CDNA 2).
    Pairs(usize),
    /// Truncated at the largest product's exponent (CDNA 3).
    Truncated(usize),
    /// The same for even and odd products separately, sixteen at a time (CDNA 3, 8 bits and fewer).
    Halved,
}

/// A factor: its unscaled value, the lowest exponent of its format, and the exponent of its scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    pub(super) value: f64,
    pub(super) lowest: i32,
    pub(super) scale: i32,
}

impl Factor {
    pub(super) fn new(ty: Type, value: f32) -> Self {
        Factor {
            value: f64::from(value),
            lowest: ty.lowest_exponent(),
            scale: 0,
        }
    }

    /// The significand and the power of two of the number, and the exponent that it is aligned by.
    fn parts(self) -> (i128, i32, i32) {
        let (significand, power) = whole(self.value);
        let own = power + (127 - significand.abs().leading_zeros() as i32);
        (
            significand,
            power + self.scale,
            own.max(self.lowest) + self.scale,
        )
    }
}

/// A number as an integer times a power of two.
fn whole(value: f64) -> (i128, i32) {
    let bits = value.abs().to_bits();
    let power = (bits >> 52).max(1) as i32 - 1075;
    let significand = bits & ((1 << 52) - 1) | u64::from(bits >> 52 != 0) << 52;
    let zeros = significand.trailing_zeros().min(63);
    let significand = i128::from(significand >> zeros) * if value < 0.0 { -1 } else { 1 };
    (significand, power + zeros as i32)
}

impl Sums {
    /// How a GPU's instruction adds, by its name and the type of A.
    pub(super) fn of(gpu: Gpu, text: &str, ty: Type) -> Self {
        match (gpu, ty) {
            (_, Type::F32 | Type::I8) => Sums::Chain,
            (_, Type::Narrow(_)) => Sums::Halved,
            (_, Type::Xf32) => Sums::Truncated(4),
            (Gpu::Gfx908, Type::F16) => Sums::Exact(4),
            (Gpu::Gfx908, Type::Bf16) => Sums::Exact(2),
            (Gpu::Gfx90a, Type::Bf16) if !text.contains("_1k") => Sums::Pairs(2),
            (Gpu::Gfx90a, _) => Sums::Pairs(4),
            (_, _) => Sums::Truncated(8),
        }
    }

    /// The sum of C and all products.
    pub(super) fn add(self, c: f32, products: &[(Factor, Factor)]) -> f32 {
        let (group, c) = match self {
            Sums::Chain => (1, c),
            Sums::Exact(group) | Sums::Truncated(group) => (group, c),
            Sums::Pairs(group) => (group, if c.abs() < f32::MIN_POSITIVE { 0.0 } else { c }),
            Sums::Halved => (16, c),
        };
        products.chunks(group).fold(c, |c, products| match self {
            Sums::Chain => {
                let (a, b) = products[0];
                (a.value as f32).mul_add(b.value as f32, c)
            }
            Sums::Exact(_) => exact(c, products),
            Sums::Pairs(_) => flushed(c + pairs(products)),
            Sums::Truncated(_) | Sums::Halved => truncated(c, products, self == Sums::Halved),
        })
    }
}

fn flushed(value: f32) -> f32 {
    if value.is_subnormal() {
        0.0_f32.copysign(value)
    } else {
        value
    }
}

fn pairs(products: &[(Factor, Factor)]) -> f32 {
    let flush = |f: Factor| {
        let is_denormal = f.value.abs() < 2_f64.powi(f.lowest);
        if is_denormal { 0.0 } else { f.value as f32 }
    };
    match products {
        [(a, b)] => flushed(flush(*a) * flush(*b)),
        _ => {
            let (left, right) = products.split_at(products.len() / 2);
            flushed(pairs(left) + pairs(right))
        }
    }
}

/// The IEEE 754 sum of products and C, if it or one of them is not a finite number.
fn specials(c: f32, products: &[(Factor, Factor)], overflow: bool) -> Option<f32> {
    let sum = products.iter().fold(c, |sum, (a, b)| {
        let product = a.value * b.value;
        let over = overflow && product.abs() >= 2_f64.powi(128);
        let kept = if over {
            f64::INFINITY.copysign(product)
        } else {
            product
        };
        if kept.is_finite() && kept != 0.0 && !c.is_nan() && sum.is_infinite() {
            return sum;
        }
        if kept.is_finite() {
            sum
        } else {
            sum + kept as f32
        }
    });
    (!sum.is_finite()).then_some(sum)
}

fn exact(c: f32, products: &[(Factor, Factor)]) -> f32 {
    if let Some(special) = specials(c, products, false) {
        return special;
    }
    let mut terms: Vec<f64> = products.iter().map(|(a, b)| a.value * b.value).collect();
    terms.push(f64::from(c));
    let near: f64 = terms.iter().sum();
    // The nearest of the neighbours of an approximation is the result; of two, the even one.
    let mut best = near as f32;
    if best.is_infinite() {
        best = f32::MAX.copysign(best);
    }
    loop {
        let mut moved = false;
        for next in [best.next_up(), best.next_down()] {
            let other = match next {
                f32::INFINITY => 2_f64.powi(128),
                f32::NEG_INFINITY => -(2_f64.powi(128)),
                _ => f64::from(next),
            };
            let middle = (f64::from(best) + other) / 2.0;
            // Tests whether the sum is on the other side of the middle.
            let mut all = terms.clone();
            all.push(-middle);
            let side = sign(&all) * if other > f64::from(best) { 1 } else { -1 };
            if side > 0 || side == 0 && best.to_bits() & 1 == 1 {
                if next.is_infinite() {
                    return next;
                }
                best = next;
                moved = true;
                break;
            }
        }
        if !moved {
            return best;
        }
    }
}

/// The sign of a sum, computed with all bits.
fn sign(terms: &[f64]) -> i32 {
    // Digits of 32 bits, the lowest worth 2⁻⁴⁰⁰.
    let mut digits = [0_i128; 40];
    for &term in terms {
        let (significand, power) = whole(term);
        if significand != 0 {
            let place = (power + 400) as usize;
            digits[place / 32] += significand << (place % 32);
        }
    }
    let mut carry = 0;
    for digit in &mut digits {
        let all = *digit + carry;
        (*digit, carry) = (all & 0xffff_ffff, all >> 32);
    }
    match (carry < 0, digits.iter().any(|&digit| digit != 0)) {
        (true, _) => -1,
        (false, any) => i32::from(any),
    }
}

/// A number in units of 2^`unit`, rounded towards zero or down.
fn units(significand: i128, power: i32, unit: i32, down: bool) -> i128 {
    let shift = unit - power;
    match shift {
        ..=0 => significand << -shift,
        _ if down => significand >> shift.min(127),
        127.. => 0,
        _ => significand / (1 << shift),
    }
}

fn truncated(c: f32, products: &[(Factor, Factor)], halved: bool) -> f32 {
    if let Some(special) = specials(c, products, !halved) {
        return special;
    }
    // Products other than 0, truncated at 24 bits below the largest exponent: sum and exponent.
    let cut = |first: usize, step: usize| -> (i128, Option<i32>) {
        let parts: Vec<_> = (products.iter().skip(first).step_by(step))
            .filter(|(a, b)| a.value * b.value != 0.0)
            .map(|(a, b)| {
                let ((x, p, e), (y, q, f)) = (a.parts(), b.parts());
                (x * y, p + q, e + f)
            })
            .collect();
        let top = parts.iter().map(|part| part.2).max();
        let sum = top.map_or(0, |top| {
            let cut = |&(significand, power, _): &_| units(significand, power, top - 24, false);
            parts.iter().map(cut).sum()
        });
        (sum, top)
    };
    let (sum, top) = if halved {
        let halves = [cut(0, 2), cut(1, 2)];
        let top = halves[0].1.max(halves[1].1);
        let floor = |(sum, own): (i128, Option<i32>)| match (own, top) {
            (Some(own), Some(top)) => units(sum, own - 24, top - 24, true),
            _ => 0,
        };
        (floor(halves[0]) + floor(halves[1]), top)
    } else {
        cut(0, 1)
    };
    let (significand, power) = whole(f64::from(c));
    let own = power + (127 - significand.abs().leading_zeros() as i32);
    let c_exponent = if c == 0.0 { -126 } else { own.max(-126) };
    let exponent = top.map_or(c_exponent, |top| top.max(c_exponent));
    let unit = exponent - 32;
    let mut result = top.map_or(0, |top| units(sum, top - 24, unit, true));
    if !(halved && c_exponent < exponent - 25) {
        result += units(significand, power, exponent - 24, true) << 8;
    }
    let length = 128 - result.abs().leading_zeros() as i32;
    let drop = (length - 32).max(-157 - unit).max(0);
    let kept = result >> drop << drop;
    // At most 40 bits, and an exponent in f64's range, so this rounds once.
    (kept as f64 * 2_f64.powi(unit)) as f32
}

impl Type {
    fn lowest_exponent(self) -> i32 {
        match self {
            Type::F16 => -14,
            Type::Narrow(format) => 1 - format.bias,
            _ => -126,
        }
    }

    /// A pattern from one of several distributions.
    fn pattern(self, random: &mut Random, kind: usize) -> u32 {
        let bits = random.next();
        let all = bits as u32 & (u32::MAX >> (32 - self.bits()));
        let (fraction, bias) = match self {
            Type::F16 => (10, 15),
            Type::Bf16 => (7, 127),
            Type::Narrow(format) => (format.fraction, format.bias),
            _ => (23, 127),
        };
        let sign = 1 << (self.bits() - 1);
        let of_exponent = |exponent: i32| {
            let low = all & ((1 << fraction) - 1);
            let limit = sign >> fraction;
            (all & sign) | (exponent.clamp(0, limit as i32 - 2) as u32) << fraction | low
        };
        let choice = (bits >> 40) as i32;
        match kind {
            // Anything.
            0 => all,
            // Near 1.
            1 => of_exponent(bias - 4 + choice % 8),
            // Near 1 with two bits: sums are exact, or ties.
            2 => of_exponent(bias - 2 + choice % 4) & !((1 << fraction.saturating_sub(2)) - 1),
            // Mostly zeros, and the ends of the format's range.
            3 => match choice % 8 {
                0 => all,
                1 => sign - 1 - (all & 3),
                2 => all & 3,
                3 => sign | (all & ((2 << fraction) - 1)),
                4 => of_exponent(bias),
                5 => sign,
                _ => 0,
            },
            // Denormals and numbers near them.
            _ => of_exponent(choice % 4),
        }
    }
}

/// C's pattern.
fn c_pattern(random: &mut Random, kind: usize) -> u32 {
    let near = Type::Xf32.pattern(random, kind);
    match kind {
        // Larger than products, as after many sums.
        1 if random.next() % 2 == 0 => {
            (near & 0x807f_ffff) | (130 + (random.next() % 9) as u32) << 23
        }
        _ => near,
    }
}

/// An instruction with A from `v0`, B from `v8`, C and D from `v16` on (`a16` on gfx908).
struct Case {
    gpu: Gpu,
    text: String,
    types: (Type, Type),
    shape: Shape,
}

const KINDS: usize = 5;

impl Case {
    /// Runs the instruction on random matrices; returns the number of results that were compared.
    fn run(&self, sums: Sums, rounds: usize) -> usize {
        let Case {
            gpu,
            ref text,
            types,
            shape,
        } = *self;
        let bench = Bench::new(gpu, &[text]);
        let mut compared = 0;
        for level in bench.levels() {
            let mut random = Random(11);
            for round in 0..rounds {
                let kind = round % KINDS;
                let mut wave = wave();
                for register in 0..48 {
                    *wave.lanes_mut(register) = Lanes::splat(0);
                }
                let mut matrix = |first: u16, ty: Type| {
                    let mut values = vec![vec![vec![0_f32; shape.k]; shape.size]; shape.blocks];
                    for (block, rows) in values.iter_mut().enumerate() {
                        for (row, elements) in rows.iter_mut().enumerate() {
                            for (k, value) in elements.iter_mut().enumerate() {
                                let bits = ty.pattern(&mut random, kind);
                                *value = ty.value(bits);
                                set_element(
                                    &mut wave,
                                    first,
                                    shape,
                                    shape.source(block, row, k),
                                    bits,
                                );
                            }
                        }
                    }
                    values
                };
                let a = matrix(0, types.0);
                let b = matrix(8, types.1);
                let first = 16 + if gpu == Gpu::Gfx908 { ACCUMULATORS } else { 0 };
                let registers = (shape.size * shape.size * shape.blocks / 64) as u16;
                for register in first..first + registers {
                    for lane in wave.lanes_mut(register).as_mut_array() {
                        *lane = c_pattern(&mut random, kind);
                    }
                }
                let old: Vec<Lanes> = (0..registers).map(|r| *wave.lanes(first + r)).collect();
                bench.step(level, 0, &mut wave);
                for block in 0..shape.blocks {
                    for row in 0..shape.size {
                        for column in 0..shape.size {
                            let (register, lane) = shape.result(block, row, column);
                            let c = f32::from_bits(old[register].as_array()[lane]);
                            let factors: Vec<_> = (0..shape.k)
                                .map(|k| {
                                    let a = Factor::new(types.0, a[block][row][k]);
                                    (a, Factor::new(types.1, b[block][column][k]))
                                })
                                .collect();
                            let expected = sums.add(c, &factors).to_bits();
                            let result = wave.lanes(first + register as u16).as_array()[lane];
                            assert!(
                                same(result, expected),
                                "{text} on {gpu} level {level} round {round}, block {block}, row {row}, column {column}: \
                                 {result:#x}, expected {expected:#x} of {c:e} ({:#x}) and {:?}",
                                c.to_bits(),
                                factors
                                    .iter()
                                    .map(|(a, b)| (a.value, b.value))
                                    .collect::<Vec<_>>()
                            );
                            compared += 1;
                        }
                    }
                }
            }
        }
        compared
    }
}

/// The measured instructions: M = N, K, blocks, and the rest of the name.
fn cases(gpu: Gpu) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |types: (Type, Type), (size, k, blocks): (usize, usize, usize), kind: String| {
        let shape = shape(size, k, blocks, 32 / types.0.bits());
        let registers = |first: usize, count: usize| match count {
            1 => format!("v{first}"),
            _ => format!("v[{first}:{}]", first + count - 1),
        };
        let source = shape.per_lane().div_ceil(shape.per_register);
        let d = registers(16, size * size * blocks / 64);
        let d = if gpu == Gpu::Gfx908 {
            d.replace('v', "a")
        } else {
            d
        };
        let (a, b) = (registers(0, source), registers(8, source));
        let text = format!("v_mfma_f32_{size}x{size}x{k}{kind} {d}, {a}, {b}, {d}");
        cases.push(Case {
            gpu,
            text,
            types,
            shape,
        });
    };
    let old = matches!(gpu, Gpu::Gfx908 | Gpu::Gfx90a);
    let fours = [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1)];
    let name = |name: &str, blocks: usize| match (old, blocks) {
        (true, _) => name.to_owned(),
        (false, 1) => format!("_{name}"),
        (false, _) => format!("_{blocks}b_{name}"),
    };
    for shape in [(32, 1, 2), (16, 1, 4), (4, 1, 16), (32, 2, 1), (16, 4, 1)] {
        add((Type::F32, Type::F32), shape, name("f32", shape.2));
    }
    for shape in fours {
        add((Type::F16, Type::F16), shape, name("f16", shape.2));
        if !old {
            add((Type::Bf16, Type::Bf16), shape, name("bf16", shape.2));
        } else if gpu == Gpu::Gfx90a {
            add((Type::Bf16, Type::Bf16), shape, "bf16_1k".to_owned());
        }
    }
    if old {
        for shape in [(32, 2, 2), (16, 2, 4), (4, 2, 16), (32, 4, 1), (16, 8, 1)] {
            add((Type::Bf16, Type::Bf16), shape, "bf16".to_owned());
        }
    }
    if gpu == Gpu::Gfx942 {
        for shape in [(32, 4, 1), (16, 8, 1)] {
            add((Type::Xf32, Type::Xf32), shape, "_xf32".to_owned());
        }
        let eights = [
            ("fp8", Type::Narrow(FP8_FNUZ)),
            ("bf8", Type::Narrow(BF8_FNUZ)),
        ];
        for shape in [(32, 16, 1), (16, 32, 1)] {
            for (a, a_type) in eights {
                for (b, b_type) in eights {
                    add((a_type, b_type), shape, format!("_{a}_{b}"));
                }
            }
        }
    }
    cases
}

#[test]
fn as_measured() {
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx942] {
        for case in cases(gpu) {
            let sums = Sums::of(gpu, &case.text, case.types.0);
            assert!(case.run(sums, 3 * KINDS) > 0);
        }
    }
}

/// The paper's example, −2¹³·2¹⁰ − 0.5 − 0.25 − 0.125 + 2²³, whose exact sum is −0.875 (equation 10, table 8).
#[test]
fn published_example() {
    let f16 = |ty| {
        let values = [-8192.0, -0.5, -0.25, -0.125];
        let others = [1024.0, 1.0, 1.0, 1.0];
        let factor = |value| Factor::new(ty, value);
        values
            .map(factor)
            .into_iter()
            .zip(others.map(factor))
            .collect::<Vec<_>>()
    };
    let bf8 = Type::Narrow(BF8_FNUZ);
    for (gpu, name, ty, expected) in [
        (Gpu::Gfx908, "f16", Type::F16, -0.875),
        (Gpu::Gfx908, "bf16", Type::Bf16, -0.875),
        (Gpu::Gfx90a, "bf16", Type::Bf16, -0.375),
        (Gpu::Gfx90a, "bf16_1k", Type::Bf16, 0.0),
        (Gpu::Gfx90a, "f16", Type::F16, 0.0),
        (Gpu::Gfx942, "f16", Type::F16, -0.5),
        (Gpu::Gfx942, "bf16", Type::Bf16, -0.5),
        (Gpu::Gfx942, "bf8", bf8, -1.0),
    ] {
        let sums = Sums::of(gpu, name, ty);
        assert_eq!(sums.add(8_388_608.0, &f16(ty)), expected, "{gpu} {name}");
    }
}

/// Each setting runs in a process of its own, because the environment is read once.
#[test]
fn settings() {
    const NAME: &str = "exec::tests::matrix_sums::settings";
    const CHILD: &str = "FERROWAVE_TEST_MATRIX";
    if env::var_os(CHILD).is_none() {
        for value in ["fast", "quick"] {
            let mut child = Command::new(env::current_exe().unwrap());
            child.args(["--exact", NAME]).env(MATRIX_VARIABLE, value);
            let output = child.env(CHILD, "").output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.success() && text.contains("1 passed"),
                "{value}: {text}"
            );
        }
        return;
    }
    match MatrixSums::from_environment() {
        Ok(sums) => {
            assert_eq!(sums, MatrixSums::Fast);
            for case in [Gpu::Gfx908, Gpu::Gfx942].into_iter().flat_map(cases) {
                assert!(case.run(Sums::Chain, 2) > 0);
            }
        }
        Err(error) => {
            let memory = Arc::new(DeviceMemory::new(0));
            let object = ferrowave_kernel_build::assemble(Gpu::Gfx942, "s_endpgm\n").unwrap();
            let loaded = Program::load(&object, Gpu::Gfx942, &memory, SimdLevel::Portable);
            assert_eq!(loaded.unwrap_err().to_string(), error.to_string());
        }
    }
}
