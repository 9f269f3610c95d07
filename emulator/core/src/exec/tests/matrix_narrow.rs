//! Matrix instructions of narrow types, with scales and with a sparse A, on random patterns. The product is computed
//! here from the lane maps, and added as [`Sums`] says.

use ferrowave_gpu::Gpu;

use super::{
    Bench, Random,
    formats::{BF6, BF8, BF8_FNUZ, FP4, FP6, FP8, FP8_FNUZ, Format},
    matrix_sums::{Factor, Sums},
    wave,
};
use crate::exec::{Lanes, Wave};

/// The type of an operand's elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum Type {
    F32,
    Xf32,
    F16,
    Bf16,
    I8,
    Narrow(Format),
}

impl Type {
    pub(super) fn bits(self) -> usize {
        match self {
            Type::F32 | Type::Xf32 => 32,
            Type::F16 | Type::Bf16 => 16,
            Type::I8 => 8,
            Type::Narrow(format) => format.bits() as usize,
        }
    }

    pub(super) fn value(self, bits: u32) -> f32 {
        match self {
            Type::F32 => f32::from_bits(bits),
            // A NaN stays NaN.
            Type::Xf32 if f32::from_bits(bits).is_nan() => f32::NAN,
            Type::Xf32 => f32::from_bits(bits >> 13 << 13),
            Type::F16 => f16::from_bits(bits as u16) as f32,
            Type::Bf16 => f32::from_bits(bits << 16),
            Type::I8 => f32::from(bits as u8 as i8),
            Type::Narrow(format) => format.value(bits) as f32,
        }
    }

    /// A random pattern; NaN and ∞ are rare.
    fn draw(self, random: &mut Random) -> u32 {
        let bits = random.next();
        let (sign, fraction) = ((bits >> 63) as u32, bits as u32);
        match self {
            Type::F32 | Type::Xf32 => {
                sign << 31 | (120 + (bits >> 40) as u32 % 14) << 23 | fraction & 0x7f_ffff
            }
            Type::F16 => sign << 15 | (bits >> 40) as u32 % 20 << 10 | fraction & 0x3ff,
            Type::Bf16 => sign << 15 | (120 + (bits >> 40) as u32 % 14) << 7 | fraction & 0x7f,
            _ => {
                let pattern = (bits >> 8) as u32 & ((1 << self.bits()) - 1);
                if self.value(pattern).is_finite() || bits >> 50 & 0xff == 0 {
                    pattern
                } else {
                    0x31
                }
            }
        }
    }
}

/// An operand of M rows (or columns) and its K elements, spread over a wave.
struct Operand {
    ty: Type,
    rows: usize,
    /// Elements of a row that are stored.
    stored: usize,
}

impl Operand {
    fn per_lane(&self) -> usize {
        self.stored * self.rows / 64
    }

    /// The k of element `index` of a lane.
    fn k(&self, lane: usize, index: usize) -> usize {
        let group = lane / self.rows;
        let per_lane = self.per_lane();
        if per_lane * self.ty.bits() == 256 {
            // Two halves of the registers, each with half of all k.
            let half = per_lane / 2;
            index / half * (self.stored / 2) + group * half + index % half
        } else {
            group * per_lane + index
        }
    }

    /// Fills registers with random elements and returns the matrix.
    fn fill(&self, wave: &mut Wave, register: u16, random: &mut Random) -> Vec<Vec<f32>> {
        let mut matrix = vec![vec![0.0; self.stored]; self.rows];
        let bits = self.ty.bits();
        for register in register..register + (self.per_lane() * bits / 32) as u16 {
            *wave.lanes_mut(register) = Lanes::splat(0);
        }
        for lane in 0..64 {
            for index in 0..self.per_lane() {
                let pattern = self.ty.draw(random);
                for bit in 0..bits {
                    let at = index * bits + bit;
                    let word =
                        &mut wave.lanes_mut(register + (at / 32) as u16).as_mut_array()[lane];
                    *word |= (pattern >> bit & 1) << (at % 32);
                }
                matrix[lane % self.rows][self.k(lane, index)] = self.ty.value(pattern);
            }
        }
        matrix
    }
}

/// The register and lane of D[row][column].
fn place(rows: usize, row: usize, column: usize) -> (u16, usize) {
    match rows {
        32 => (
            (4 * (row / 8) + row % 4) as u16,
            32 * (row / 4 % 2) + column,
        ),
        _ => ((row % 4) as u16, 16 * (row / 4) + column),
    }
}

pub(super) fn same(result: u32, expected: u32) -> bool {
    let nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
    result == expected || nan(result) && nan(expected)
}

/// A is in `v[0:7]`, B in `v[8:15]`, C and D in `v[16:31]`.
fn check(gpu: Gpu, text: &str, (a_type, b_type): (Type, Type), rows: usize, k: usize) {
    let bench = Bench::new(gpu, &[text]);
    let integer = matches!(a_type, Type::I8);
    for level in bench.levels() {
        let mut random = Random(k as u64);
        for _ in 0..4 {
            let mut wave = wave();
            let operand = |ty| Operand {
                ty,
                rows,
                stored: k,
            };
            let a = operand(a_type).fill(&mut wave, 0, &mut random);
            let b = operand(b_type).fill(&mut wave, 8, &mut random);
            let mut c = vec![vec![0; rows]; rows];
            for row in 0..rows {
                for column in 0..rows {
                    let bits = if integer {
                        random.next() as u32
                    } else {
                        Type::Xf32.draw(&mut random)
                    };
                    let (register, lane) = place(rows, row, column);
                    wave.lanes_mut(16 + register).as_mut_array()[lane] = bits;
                    c[row][column] = bits;
                }
            }
            bench.step(level, 0, &mut wave);
            for row in 0..rows {
                for column in 0..rows {
                    let expected = if integer {
                        (0..k).fold(c[row][column], |sum, k| {
                            let product = a[row][k] as i32 * b[column][k] as i32;
                            sum.wrapping_add(product as u32)
                        })
                    } else {
                        let factor = |k: usize| {
                            let a = Factor::new(a_type, a[row][k]);
                            (a, Factor::new(b_type, b[column][k]))
                        };
                        let products: Vec<_> = (0..k).map(factor).collect();
                        let sums = Sums::of(gpu, text, a_type);
                        sums.add(f32::from_bits(c[row][column]), &products)
                            .to_bits()
                    };
                    let (register, lane) = place(rows, row, column);
                    let result = wave.lanes(16 + register).as_array()[lane];
                    assert!(
                        same(result, expected),
                        "{text} on {gpu} level {level}, row {row}, column {column}: {result:#x}, expected {expected:#x}"
                    );
                }
            }
        }
    }
}

#[test]
fn reduced_singles() {
    let gpu = Gpu::Gfx942;
    let types = (Type::Xf32, Type::Xf32);
    check(
        gpu,
        "v_mfma_f32_16x16x8_xf32 v[16:19], v[0:1], v[8:9], v[16:19]",
        types,
        16,
        8,
    );
    check(
        gpu,
        "v_mfma_f32_32x32x4_xf32 v[16:31], v[0:1], v[8:9], v[16:31]",
        types,
        32,
        4,
    );
}

#[test]
fn halves_and_bytes_of_gfx950() {
    let gpu = Gpu::Gfx950;
    for (name, ty) in [("f16", Type::F16), ("bf16", Type::Bf16)] {
        let text = format!("v_mfma_f32_16x16x32_{name} v[16:19], v[0:3], v[8:11], v[16:19]");
        check(gpu, &text, (ty, ty), 16, 32);
        let text = format!("v_mfma_f32_32x32x16_{name} v[16:31], v[0:3], v[8:11], v[16:31]");
        check(gpu, &text, (ty, ty), 32, 16);
    }
    let types = (Type::I8, Type::I8);
    check(
        gpu,
        "v_mfma_i32_16x16x64_i8 v[16:19], v[0:3], v[8:11], v[16:19]",
        types,
        16,
        64,
    );
    check(
        gpu,
        "v_mfma_i32_32x32x32_i8 v[16:31], v[0:3], v[8:11], v[16:31]",
        types,
        32,
        32,
    );
    for gpu in [Gpu::Gfx942, gpu] {
        check(
            gpu,
            "v_mfma_i32_16x16x32_i8 v[16:19], v[0:1], v[8:9], v[16:19]",
            types,
            16,
            32,
        );
        check(
            gpu,
            "v_mfma_i32_32x32x16_i8 v[16:31], v[0:1], v[8:9], v[16:31]",
            types,
            32,
            16,
        );
    }
}

/// The 8-bit formats of a GPU.
fn eights(gpu: Gpu) -> [(&'static str, Type); 2] {
    match gpu {
        Gpu::Gfx942 => [
            ("fp8", Type::Narrow(FP8_FNUZ)),
            ("bf8", Type::Narrow(BF8_FNUZ)),
        ],
        _ => [("fp8", Type::Narrow(FP8)), ("bf8", Type::Narrow(BF8))],
    }
}

#[test]
fn eight_bits() {
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        for (a, a_type) in eights(gpu) {
            for (b, b_type) in eights(gpu) {
                let types = (a_type, b_type);
                let text =
                    format!("v_mfma_f32_16x16x32_{a}_{b} v[16:19], v[0:1], v[8:9], v[16:19]");
                check(gpu, &text, types, 16, 32);
                let text =
                    format!("v_mfma_f32_32x32x16_{a}_{b} v[16:31], v[0:1], v[8:9], v[16:31]");
                check(gpu, &text, types, 32, 16);
            }
        }
    }
}

const FORMATS: [Format; 5] = [FP8, BF8, FP6, BF6, FP4];

/// The text of an instruction of two formats, without scales.
fn mixed(name: &str, rows: usize, a: usize, b: usize) -> String {
    let last = |first: usize, format: usize| first + FORMATS[format].bits() as usize - 1;
    let (k, d) = if rows == 16 { (128, 19) } else { (64, 31) };
    format!(
        "v_{name}_f32_{rows}x{rows}x{k}_f8f6f4 v[16:{d}], v[0:{}], v[8:{}], v[16:{d}]",
        last(0, a),
        last(8, b)
    )
}

#[test]
fn formats_in_pairs() {
    for a in 0..5 {
        for b in 0..5 {
            let types = (Type::Narrow(FORMATS[a]), Type::Narrow(FORMATS[b]));
            for (rows, k) in [(16, 128), (32, 64)] {
                let text = mixed("mfma", rows, a, b) + &format!(" cbsz:{a} blgp:{b}");
                check(Gpu::Gfx950, &text, types, rows, k);
            }
        }
    }
}

/// Scales of all magnitudes. The scale of 32 elements in k of a row is in the lane of that row and those k.
#[test]
fn scales() {
    for (a, b) in [(0, 0), (1, 4), (4, 4), (2, 3), (3, 0)] {
        for (rows, k) in [(16, 128), (32, 64)] {
            // Byte 2 of A's scales (op_sel_hi has the higher bit), byte 1 of B's.
            let text = mixed("mfma_scale", rows, a, b)
                + &format!(", v40, v41 op_sel:[0,1,0] op_sel_hi:[1,0,0] cbsz:{a} blgp:{b}");
            let bench = Bench::new(Gpu::Gfx950, &[&text]);
            for level in bench.levels() {
                let mut random = Random(level as u64);
                for round in 0..4 {
                    let mut wave = wave();
                    let operand = |format| Operand {
                        ty: Type::Narrow(FORMATS[format]),
                        rows,
                        stored: k,
                    };
                    let a_values = operand(a).fill(&mut wave, 0, &mut random);
                    let b_values = operand(b).fill(&mut wave, 8, &mut random);
                    for register in 16..32 {
                        *wave.lanes_mut(register) = Lanes::splat(1_f32.to_bits());
                    }
                    // Near 1; with NaN; of all magnitudes, where A's large scales meet B's small ones.
                    let mut scale = |side: u32| {
                        let near = 120 + (random.next() % 14) as u32;
                        match round {
                            0 | 1 => near,
                            2 if random.next() % 40 == 0 => 0xff,
                            2 => near,
                            _ => {
                                let size = (random.next() % 100) as u32;
                                if side == 0 { 254 - size } else { size }
                            }
                        }
                    };
                    let mut a_scales = [0; 64];
                    let mut b_scales = [0; 64];
                    for lane in 0..64 {
                        (a_scales[lane], b_scales[lane]) = (scale(0), scale(1));
                        wave.lanes_mut(40).as_mut_array()[lane] =
                            a_scales[lane] << 16 | 0x1100_4455;
                        wave.lanes_mut(41).as_mut_array()[lane] = b_scales[lane] << 8 | 0x1122_0055;
                    }
                    bench.step(level, 0, &mut wave);
                    let factor = |format: usize, value: f32, scale: u32| Factor {
                        value: if scale == 0xff {
                            f64::NAN
                        } else {
                            value.into()
                        },
                        scale: scale as i32 - 127,
                        ..Factor::new(Type::Narrow(FORMATS[format]), value)
                    };
                    for row in 0..rows {
                        for column in 0..rows {
                            let product = |k: usize| {
                                let lane = k / 32 * rows;
                                let (x, y) = (a_values[row][k], b_values[column][k]);
                                let x = factor(a, x, a_scales[lane + row]);
                                (x, factor(b, y, b_scales[lane + column]))
                            };
                            let products: Vec<_> = (0..k).map(product).collect();
                            let expected = Sums::Halved.add(1.0, &products);
                            let (register, lane) = place(rows, row, column);
                            let result = wave.lanes(16 + register).as_array()[lane];
                            assert!(
                                same(result, expected.to_bits()),
                                "{text} level {level} round {round}, row {row}, column {column}: {result:#x}, expected {expected}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// A sparse product with A in `v[0:3]`, B in `v[8:15]`, D in `v[16:31]` and the index in `v40`.
fn check_sparse(
    gpu: Gpu,
    text: &str,
    (a_type, b_type): (Type, Type),
    rows: usize,
    k: usize,
    set: usize,
) {
    let bench = Bench::new(gpu, &[text]);
    let integer = matches!(a_type, Type::I8);
    for level in bench.levels() {
        let mut random = Random(k as u64 + 7);
        let mut wave = wave();
        let sparse = Operand {
            ty: a_type,
            rows,
            stored: k / 2,
        };
        let dense = Operand {
            ty: b_type,
            rows,
            stored: k,
        };
        let a = sparse.fill(&mut wave, 0, &mut random);
        let b = dense.fill(&mut wave, 8, &mut random);
        let per_lane = sparse.per_lane();
        // The k of each stored element of a row: two of each four, in order.
        let mut positions = vec![vec![0; k / 2]; rows];
        for lane in 0..64 {
            let mut index = random.next() as u32;
            for pair in 0..per_lane / 2 {
                let choices = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
                let (x, y) = choices[(random.next() % 6) as usize];
                let shift = 2 * (set * per_lane + 2 * pair);
                index = index & !(15 << shift) | (x | y << 2) << shift;
                let stored = lane / rows * per_lane + 2 * pair;
                positions[lane % rows][stored] = 2 * stored + x as usize;
                positions[lane % rows][stored + 1] = 2 * stored + y as usize;
            }
            wave.lanes_mut(40).as_mut_array()[lane] = index;
        }
        for register in 16..32 {
            for lane in wave.lanes_mut(register).as_mut_array() {
                *lane = if integer {
                    random.next() as u32
                } else {
                    Type::Xf32.draw(&mut random)
                };
            }
        }
        let old: Vec<Lanes> = (16..32).map(|register| *wave.lanes(register)).collect();
        bench.step(level, 0, &mut wave);
        for row in 0..rows {
            for column in 0..rows {
                let (register, lane) = place(rows, row, column);
                let c = old[usize::from(register)].as_array()[lane];
                let terms = (0..k / 2).map(|s| (a[row][s], b[column][positions[row][s]]));
                let expected = if integer {
                    terms.fold(c, |sum, (x, y)| {
                        sum.wrapping_add((x as i32 * y as i32) as u32)
                    })
                } else {
                    let factors = |(x, y)| (Factor::new(a_type, x), Factor::new(b_type, y));
                    let products: Vec<_> = terms.map(factors).collect();
                    let sums = Sums::of(gpu, text, a_type);
                    sums.add(f32::from_bits(c), &products).to_bits()
                };
                let result = wave.lanes(16 + register).as_array()[lane];
                assert!(
                    same(result, expected),
                    "{text} on {gpu} level {level}, row {row}, column {column}: {result:#x}, expected {expected:#x}"
                );
            }
        }
    }
}

/// The instruction's text; B has twice A's registers.
fn sparse_text(rows: usize, name: &str, k: usize, registers: usize, modifiers: &str) -> String {
    let d = if rows == 16 { 19 } else { 31 };
    let (kind, types) = match name {
        "i8" => ("i32", "i8"),
        _ => ("f32", name),
    };
    format!(
        "v_smfmac_{kind}_{rows}x{rows}x{k}_{types} v[16:{d}], v[0:{}], v[8:{}], v40{modifiers}",
        registers - 1,
        8 + 2 * registers - 1
    )
}

#[test]
fn sparse_halves() {
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        for (name, ty) in [("f16", Type::F16), ("bf16", Type::Bf16)] {
            for (rows, k) in [(16, 32), (32, 16)] {
                for (modifiers, set) in [
                    ("", 0),
                    (" abid:1", 1),
                    (" abid:3", 3),
                    (" cbsz:1 abid:3", 0),
                ] {
                    let text = sparse_text(rows, name, k, 2, modifiers);
                    check_sparse(gpu, &text, (ty, ty), rows, k, set);
                }
                if gpu == Gpu::Gfx950 {
                    for (modifiers, set) in [("", 0), (" abid:1", 1)] {
                        let text = sparse_text(rows, name, 2 * k, 4, modifiers);
                        check_sparse(gpu, &text, (ty, ty), rows, 2 * k, set);
                    }
                }
            }
        }
    }
}

#[test]
fn sparse_bytes() {
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        let [(fp, fp_type), (bf, bf_type)] = eights(gpu);
        let pairs = [
            ("i8".to_owned(), (Type::I8, Type::I8)),
            (format!("{fp}_{fp}"), (fp_type, fp_type)),
            (format!("{fp}_{bf}"), (fp_type, bf_type)),
            (format!("{bf}_{fp}"), (bf_type, fp_type)),
            (format!("{bf}_{bf}"), (bf_type, bf_type)),
        ];
        for (name, types) in pairs {
            for (rows, k) in [(16, 64), (32, 32)] {
                for (modifiers, set) in [("", 0), (" abid:1", 1)] {
                    let text = sparse_text(rows, &name, k, 2, modifiers);
                    check_sparse(gpu, &text, types, rows, k, set);
                }
                if gpu == Gpu::Gfx950 {
                    let text = sparse_text(rows, &name, 2 * k, 4, "");
                    check_sparse(gpu, &text, types, rows, 2 * k, 0);
                }
            }
        }
    }
}
