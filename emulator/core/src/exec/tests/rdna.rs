//! What RDNA's vector unit has and CDNA's has not: pairs, halves of registers, DPP8, permutations of rows, compares that
//! write EXEC only, and WMMA. Expectations follow AMD's pseudocode and the RDNA 3 ISA guide.

use ferrowave_gpu::Gpu;

use super::{Random, assembled, effects::copied, wave};
use crate::exec::{
    Code, Context, SimdLevel, Unobserved, VCC, Wave,
    code::Size,
    jit::Policy,
    run,
    wave::{EXEC, M0},
};
use crate::memory::{DeviceMemory, View};

const GPU: Gpu = Gpu::Gfx1100;
const LANES: usize = 32;

/// Runs assembled instructions, one after the other, on a wave.
fn run_all(wave: &mut Wave, lines: &[&str]) {
    run_words(GPU, wave, LANES, &assembled(GPU, lines), lines.len());
}

pub(super) fn run_words(gpu: Gpu, wave: &mut Wave, lanes: usize, text: &[u8], count: usize) {
    let memory = DeviceMemory::new(0).view();
    run_words_on(gpu, &memory, wave, lanes, text, count);
}

pub(super) fn run_words_on(
    gpu: Gpu,
    memory: &View,
    wave: &mut Wave,
    lanes: usize,
    text: &[u8],
    count: usize,
) {
    let size = if lanes == 32 {
        Size::of::<2>()
    } else {
        Size::of::<4>()
    };
    let policy = Policy::AT_ONCE;
    let level = SimdLevel::detect();
    let code = Code::divided(gpu, level, size, 0x1000, text, &[], policy);
    let mut context = Context::new(&code, memory, &mut []);
    wave.set_lane_count(lanes as u32);
    wave.pc = 0;
    run(wave, &mut context, &mut (count as u64), &mut Unobserved);
    assert_eq!(context.take_fault(), None);
}

/// A wave with random bits in `v0` to `v31`.
pub(super) fn random_wave(seed: u64) -> Wave {
    let mut random = Random(seed);
    let mut wave = wave();
    for register in 0..32 {
        for value in wave.lanes_mut(register).as_mut_array() {
            *value = random.next() as u32;
        }
    }
    wave.exec = 0xffff_ffff;
    wave
}

fn get(wave: &Wave, register: u16, lane: usize) -> u32 {
    wave.lanes(register).as_array()[lane]
}

/// Runs one instruction on random registers and compares a register with `expect`, which gets the wave before it and a
/// lane. Inactive lanes must keep their values.
#[track_caller]
fn check(line: &str, register: u16, expect: impl Fn(&Wave, usize) -> u32) {
    for (seed, exec) in [(1, 0xffff_ffff), (2, 0x0f0f_1248)] {
        let mut wave = random_wave(seed);
        wave.exec = exec;
        wave.set_scalar(VCC, 0x5a5a_3c0f);
        wave.set_scalar(4, 0x7654_3210);
        wave.set_scalar(5, 0x0123_fedc);
        let before = copied(&wave);
        run_all(&mut wave, &[line]);
        for lane in 0..LANES {
            let value = match exec >> lane & 1 {
                1 => expect(&before, lane),
                _ => get(&before, register, lane),
            };
            assert_eq!(get(&wave, register, lane), value, "{line}, lane {lane}");
        }
    }
}

#[test]
fn pairs_read_before_they_write() {
    let line = "v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v5, v4";
    check(line, 4, |w, lane| get(w, 5, lane));
    check(line, 5, |w, lane| get(w, 4, lane));
    let line = "v_dual_cndmask_b32 v6, v1, v3 :: v_dual_lshlrev_b32 v7, 3, v6";
    check(line, 6, |w, lane| {
        let mask = w.scalar(VCC) >> lane & 1;
        get(w, if mask == 1 { 3 } else { 1 }, lane)
    });
    check(line, 7, |w, lane| get(w, 6, lane) << 3);
}

#[test]
fn pairs_accumulate() {
    let mut wave = random_wave(3);
    for lane in 0..LANES {
        for register in 0..8 {
            let value = (lane as f32 - 7.0) * (1.0 + f32::from(register));
            wave.lanes_mut(register).as_mut_array()[lane] = value.to_bits();
        }
    }
    let before = copied(&wave);
    run_all(
        &mut wave,
        &["v_dual_fmac_f32 v4, v1, v2 :: v_dual_fmaak_f32 v5, v4, v3, 0x3fc00000"],
    );
    let float = |w: &Wave, register, lane| f32::from_bits(get(w, register, lane));
    for lane in 0..LANES {
        let old = |register| float(&before, register, lane);
        assert_eq!(float(&wave, 4, lane), old(1).mul_add(old(2), old(4)));
        assert_eq!(float(&wave, 5, lane), old(4).mul_add(old(3), 1.5));
    }
}

/// The bits of a half of a register.
fn half(value: u32, high: bool) -> u32 {
    value >> if high { 16 } else { 0 } & 0xffff
}

/// A register with another half.
fn with_half(old: u32, high: bool, half: u32) -> u32 {
    match high {
        true => old & 0xffff | half << 16,
        false => old & 0xffff_0000 | half,
    }
}

#[test]
fn sixteen_bits_are_half_a_register() {
    check("v_mov_b16_e32 v6.l, v1.h", 6, |w, lane| {
        with_half(get(w, 6, lane), false, half(get(w, 1, lane), true))
    });
    check("v_mov_b16_e64 v6.h, v1.l", 6, |w, lane| {
        with_half(get(w, 6, lane), true, half(get(w, 1, lane), false))
    });
    check("v_and_b16 v6.h, v1.h, v2.l", 6, |w, lane| {
        let bits = half(get(w, 1, lane), true) & half(get(w, 2, lane), false);
        with_half(get(w, 6, lane), true, bits)
    });
    check("v_not_b16_e32 v6.l, v1.h", 6, |w, lane| {
        with_half(
            get(w, 6, lane),
            false,
            !half(get(w, 1, lane), true) & 0xffff,
        )
    });
    check("v_add_nc_u16 v6.h, v1.l, v2.h", 6, |w, lane| {
        let sum = half(get(w, 1, lane), false) + half(get(w, 2, lane), true);
        with_half(get(w, 6, lane), true, sum & 0xffff)
    });
    check("v_cvt_u32_u16_e32 v6, v1.h", 6, |w, lane| {
        half(get(w, 1, lane), true)
    });
    check("v_cvt_i32_i16_e32 v6, v1.h", 6, |w, lane| {
        half(get(w, 1, lane), true) as u16 as i16 as u32
    });
    check("v_mad_u32_u16 v6, v1.h, v2.l, v3", 6, |w, lane| {
        let product = half(get(w, 1, lane), true) * half(get(w, 2, lane), false);
        product.wrapping_add(get(w, 3, lane))
    });
    check("v_alignbit_b32 v6, v1, v2, v3.h", 6, |w, lane| {
        let wide = u64::from(get(w, 1, lane)) << 32 | u64::from(get(w, 2, lane));
        (wide >> (half(get(w, 3, lane), true) & 31)) as u32
    });
    check("v_cndmask_b16 v6.h, -v1.l, |v2.h|, vcc_lo", 6, |w, lane| {
        let bits = match w.scalar(VCC) >> lane & 1 {
            1 => half(get(w, 2, lane), true) & 0x7fff,
            _ => half(get(w, 1, lane), false) ^ 0x8000,
        };
        with_half(get(w, 6, lane), true, bits)
    });
    let swap = "v_swap_b16 v1.l, v2.h";
    check(swap, 1, |w, lane| {
        with_half(get(w, 1, lane), false, half(get(w, 2, lane), true))
    });
    check(swap, 2, |w, lane| {
        with_half(get(w, 2, lane), true, half(get(w, 1, lane), false))
    });
    check("v_swap_b16 v1.l, v1.h", 1, |w, lane| {
        get(w, 1, lane).rotate_left(16)
    });
}

#[test]
fn floats_of_sixteen_bits_are_half_a_register() {
    let mut wave = random_wave(4);
    for lane in 0..64 {
        // f16 integers in both halves, f32 in v3.
        let integer = |value: u32| half_integer(value);
        let lanes = lane as u32;
        wave.lanes_mut(1).as_mut_array()[lane] = integer(lanes) | integer(lanes + 3) << 16;
        wave.lanes_mut(2).as_mut_array()[lane] = integer(7) | integer(2 * lanes) << 16;
        wave.lanes_mut(3).as_mut_array()[lane] = (lanes as f32).to_bits();
    }
    let before = copied(&wave);
    run_all(
        &mut wave,
        &[
            "v_add_f16_e32 v6.h, v1.h, v2.l",
            "v_cvt_f16_f32_e32 v7.h, v3",
            "v_cvt_f32_f16_e32 v8, v2.h",
            "v_fmac_f16_e32 v1.h, v1.l, v2.l",
            "v_cmp_gt_f16_e64 s6, v2.h, v2.l",
            "v_max_f16_e64 v9.h, v2.h, v2.l",
        ],
    );
    let mut mask = 0;
    for lane in 0..LANES {
        let (n, old) = (lane as u32, |register| get(&before, register, lane));
        let is = |register, value, what| {
            assert_eq!(get(&wave, register, lane), value, "{what} in lane {lane}");
        };
        is(6, with_half(old(6), true, half_integer(n + 3 + 7)), "sum");
        is(7, with_half(old(7), true, half_integer(n)), "f16 of f32");
        is(8, ((2 * n) as f32).to_bits(), "f32 of f16");
        is(
            1,
            with_half(old(1), true, half_integer(n * 7 + n + 3)),
            "fmac",
        );
        is(
            9,
            with_half(old(9), true, half_integer((2 * n).max(7))),
            "maximum",
        );
        mask |= u32::from(2 * n > 7) << lane;
    }
    assert_eq!(wave.scalar(6), mask);
}

/// A small integer as f16.
fn half_integer(value: u32) -> u32 {
    if value == 0 {
        return 0;
    }
    let exponent = value.ilog2();
    (exponent + 15) << 10 | (value << (10 - exponent)) & 0x3ff
}

#[test]
fn lanes_move_within_rows() {
    let with_fi = "v_mov_b32_dpp v6, v1 dpp8:[7,0,1,3,2,5,4,6] fi:1";
    let table = [7, 0, 1, 3, 2, 5, 4, 6];
    check(with_fi, 6, |w, lane| get(w, 1, lane & !7 | table[lane & 7]));
    let without = "v_add_nc_u32_e64_dpp v6, v1, v2 dpp8:[7,0,1,3,2,5,4,6]";
    check(without, 6, |w, lane| {
        let other = lane & !7 | table[lane & 7];
        let value = if w.exec >> other & 1 == 1 {
            get(w, 1, other)
        } else {
            0
        };
        value.wrapping_add(get(w, 2, lane))
    });
    let dpp = "row_mask:0xf bank_mask:0xf bound_ctrl:1 fi:1";
    check(
        &format!("v_mov_b32_dpp v6, v1 row_share:3 {dpp}"),
        6,
        |w, lane| get(w, 1, lane & !15 | 3),
    );
    check(
        &format!("v_mov_b32_dpp v6, v1 row_xmask:5 {dpp}"),
        6,
        |w, lane| get(w, 1, lane ^ 5),
    );
    let select = |w: &Wave, lane: usize| {
        let lanes = u64::from(w.scalar(4)) | u64::from(w.scalar(5)) << 32;
        (lanes >> (4 * (lane & 15)) & 15) as usize
    };
    check(
        "v_permlane16_b32 v6, v1, s4, s5 op_sel:[1,0]",
        6,
        |w, lane| get(w, 1, lane & 16 | select(w, lane)),
    );
    check("v_permlanex16_b32 v6, v1, s4, s5", 6, |w, lane| {
        let other = !lane & 16 | select(w, lane);
        match w.exec >> other & 1 {
            1 => get(w, 1, other),
            _ => get(w, 6, lane),
        }
    });
    check(
        "v_permlanex16_b32 v6, v1, s4, s5 op_sel:[0,1]",
        6,
        |w, lane| {
            let other = !lane & 16 | select(w, lane);
            if w.exec >> other & 1 == 1 {
                get(w, 1, other)
            } else {
                0
            }
        },
    );
    // A wave of 32 lanes has no other half.
    check("v_permlane64_b32 v6, v1", 6, |w, lane| get(w, 6, lane));
}

#[test]
fn three_sources() {
    let signed = |w: &Wave, register, lane| get(w, register, lane) as i32;
    check("v_minmax_i32 v6, v1, v2, v3", 6, |w, lane| {
        signed(w, 1, lane)
            .min(signed(w, 2, lane))
            .max(signed(w, 3, lane)) as u32
    });
    check("v_maxmin_u32 v6, v1, v2, v3", 6, |w, lane| {
        get(w, 1, lane).max(get(w, 2, lane)).min(get(w, 3, lane))
    });
    check("v_minmax_u32 v6, v1, v2, v3", 6, |w, lane| {
        get(w, 1, lane).min(get(w, 2, lane)).max(get(w, 3, lane))
    });
    check("v_maxmin_i32 v6, v1, v2, v3", 6, |w, lane| {
        signed(w, 1, lane)
            .max(signed(w, 2, lane))
            .min(signed(w, 3, lane)) as u32
    });
    check("v_xor3_b32 v6, v1, v2, v3", 6, |w, lane| {
        get(w, 1, lane) ^ get(w, 2, lane) ^ get(w, 3, lane)
    });
    for (neg, a_signed, b_signed) in [
        ("[0,0,0]", false, false),
        ("[1,0,0]", true, false),
        ("[0,1,0]", false, true),
    ] {
        for (name, bits) in [("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)] {
            let line = format!("{name} v6, v1, v2, v3 neg_lo:{neg}");
            check(&line, 6, |w, lane| {
                let part = |value: u32, n: u32, signed: bool| {
                    let top = value << (32 - bits * (n + 1));
                    if signed {
                        top as i32 >> (32 - bits)
                    } else {
                        (top >> (32 - bits)) as i32
                    }
                };
                (0..32 / bits).fold(get(w, 3, lane), |sum, n| {
                    let a = part(get(w, 1, lane), n, a_signed);
                    let b = part(get(w, 2, lane), n, b_signed);
                    sum.wrapping_add((a * b) as u32)
                })
            });
        }
    }
}

#[test]
fn floats_of_three_sources() {
    let values = [0.0, -0.0, 1.5, -2.0, 3.0, f32::INFINITY, 7.25, -1e30];
    let mut wave = random_wave(5);
    for lane in 0..64 {
        for (register, step) in [(1, 1), (2, 3), (3, 5)] {
            let value: f32 = values[(lane * step + usize::from(register)) % values.len()];
            wave.lanes_mut(register).as_mut_array()[lane] = value.to_bits();
        }
    }
    let before = copied(&wave);
    run_all(
        &mut wave,
        &[
            "v_minmax_f32 v6, v1, v2, v3",
            "v_maxmin_f32 v7, v1, v2, v3",
            "v_fma_dx9_zero_f32 v8, v1, v2, v3",
            "v_cvt_pk_i16_f32 v9, v1, v2",
            "v_cvt_pk_u16_f32 v10, v1, v2",
            "v_mul_dx9_zero_f32_e32 v11, v1, v2",
        ],
    );
    for lane in 0..LANES {
        let [a, b, c] = [1, 2, 3].map(|n| f32::from_bits(get(&before, n, lane)));
        let result = |register| f32::from_bits(get(&wave, register, lane));
        assert_eq!(result(6), a.min(b).max(c));
        assert_eq!(result(7), a.max(b).min(c));
        if a == 0.0 || b == 0.0 {
            assert_eq!(result(8), c);
            assert_eq!(get(&wave, 11, lane), 0);
        } else {
            let sum = a.mul_add(b, c);
            assert!(result(8) == sum || sum.is_nan() && result(8).is_nan());
            assert_eq!(result(11), a * b);
        }
        let pair = |low: u32, high: u32| low & 0xffff | high << 16;
        assert_eq!(get(&wave, 9, lane), pair(a as i16 as u32, b as i16 as u32));
        assert_eq!(get(&wave, 10, lane), pair(a as u16 as u32, b as u16 as u32));
    }
}

#[test]
fn compares_may_write_exec_only() {
    let mut wave = random_wave(6);
    for lane in 0..64 {
        wave.lanes_mut(1).as_mut_array()[lane] = lane as u32;
    }
    wave.exec = 0xffff_fff0;
    wave.set_scalar(0, 77);
    wave.set_scalar(VCC, 88);
    run_all(&mut wave, &["v_cmpx_gt_u32_e64 9, v1"]);
    assert_eq!(wave.scalar(EXEC), 0x1f0);
    assert_eq!([wave.scalar(0), wave.scalar(VCC)], [77, 88]);
    // A carry that goes nowhere.
    wave.exec = 0xffff_ffff;
    run_all(
        &mut wave,
        &["v_add_co_u32 v6, null, v1, v1", "s_mov_b32 s1, null"],
    );
    assert_eq!(get(&wave, 6, 20), 40);
    assert_eq!(wave.scalar(1), 0);
}

/// Matrices with small whole numbers, in which all sums are exact.
struct Matrices {
    a: [[i32; 16]; 16],
    b: [[i32; 16]; 16],
    c: [[i32; 16]; 16],
}

impl Matrices {
    fn new(seed: u64, least: i32, most: i32) -> Self {
        let mut random = Random(seed);
        let mut matrix = || {
            std::array::from_fn(|_| {
                std::array::from_fn(|_| least + (random.next() % (most - least + 1) as u64) as i32)
            })
        };
        Matrices {
            a: matrix(),
            b: matrix(),
            c: matrix(),
        }
    }

    fn product(&self, i: usize, j: usize) -> i32 {
        (0..16).map(|k| self.a[i][k] * self.b[k][j]).sum::<i32>() + self.c[i][j]
    }

    /// Puts A into registers from v8 on and B from v16 on, elements of `bits` bits each.
    fn put(&self, wave: &mut Wave, bits: usize, encode: impl Fn(i32) -> u32) {
        let per_register = 32 / bits;
        for lane in 0..64 {
            for k in 0..16 {
                let (register, shift) = (k / per_register, bits * (k % per_register));
                let values = [self.a[lane % 16][k], self.b[k][lane % 16]];
                for (first, value) in [8, 16].into_iter().zip(values) {
                    let place = &mut wave.lanes_mut(first + register as u16).as_mut_array()[lane];
                    let mask = ((1_u64 << bits) - 1) as u32;
                    *place = *place & !(mask << shift) | (encode(value) & mask) << shift;
                }
            }
        }
    }

    /// Runs an instruction with C in registers from v0 on and compares D there.
    fn check(
        &self,
        line: &str,
        lanes: usize,
        wave: &mut Wave,
        encode: impl Fn(i32) -> u32,
        half: Option<bool>,
    ) {
        let place = |i: usize, j: usize| (i / (lanes / 16), 16 * (i % (lanes / 16)) + j);
        for i in 0..16 {
            for j in 0..16 {
                let (register, lane) = place(i, j);
                let old = &mut wave.lanes_mut(register as u16).as_mut_array()[lane];
                let value = encode(self.c[i][j]);
                *old = half.map_or(value, |high| with_half(*old, high, value));
            }
        }
        let before = copied(wave);
        // EXEC has no effect.
        wave.exec = 1;
        run_words(GPU, wave, lanes, &assembled(GPU, &[line]), 1);
        for i in 0..16 {
            for j in 0..16 {
                let (register, lane) = place(i, j);
                let value = encode(self.product(i, j));
                let old = get(&before, register as u16, lane);
                let expect = half.map_or(value, |high| with_half(old, high, value));
                let found = get(wave, register as u16, lane);
                assert_eq!(
                    found, expect,
                    "{line}: row {i}, column {j} of {lanes} lanes"
                );
            }
        }
    }
}

/// A whole number as f16.
pub(super) fn f16(value: i32) -> u32 {
    half_integer(value.unsigned_abs()) | if value < 0 { 0x8000 } else { 0 }
}

/// A whole number of at most eight bits as bf16.
pub(super) fn bf16(value: i32) -> u32 {
    (value as f32).to_bits() >> 16
}

#[test]
fn matrix_products_have_the_lanes_of_rdna_3() {
    let single = |value: i32| (value as f32).to_bits();
    let line = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]";
    let matrices = Matrices::new(11, -9, 9);
    let mut wave = random_wave(7);
    matrices.put(&mut wave, 16, f16);
    matrices.check(line, 32, &mut wave, single, None);
    let line = "v_wmma_f32_16x16x16_bf16 v[0:7], v[8:15], v[16:23], v[0:7]";
    matrices.put(&mut wave, 16, bf16);
    matrices.check(line, 32, &mut wave, single, None);
    // Results of 16 bits, in either half.
    let matrices = Matrices::new(12, -3, 3);
    for (high, select) in [(false, ""), (true, " op_sel:[0,0,1]")] {
        let line = format!("v_wmma_f16_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]{select}");
        matrices.put(&mut wave, 16, f16);
        matrices.check(&line, 32, &mut wave, f16, Some(high));
        let line = line
            .replace("f16", "bf16")
            .replace("16x16x16_bbf16", "16x16x16_bf16");
        matrices.put(&mut wave, 16, bf16);
        matrices.check(&line, 32, &mut wave, bf16, Some(high));
    }
}

#[test]
fn matrix_products_of_integers() {
    let whole = |value: i32| value as u32;
    for (least, most, neg) in [(-8, 7, " neg_lo:[1,1,0]"), (0, 15, "")] {
        let matrices = Matrices::new(13, least, most);
        let mut wave = random_wave(8);
        matrices.put(&mut wave, 8, whole);
        let line = format!("v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[16:19], v[0:7]{neg}");
        matrices.check(&line, 32, &mut wave, whole, None);
        matrices.put(&mut wave, 4, whole);
        let line = format!("v_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[16:17], v[0:7]{neg}");
        matrices.check(&line, 32, &mut wave, whole, None);
    }
}

/// In a wave of 64 lanes, C and D have half as many registers.
#[test]
fn matrix_products_of_64_lanes() {
    let matrices = Matrices::new(14, -9, 9);
    let mut wave = random_wave(9);
    matrices.put(&mut wave, 16, f16);
    // The words are the same; LLVM's assembler would ask for another target.
    let line = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]";
    matrices.check(line, 64, &mut wave, |value| (value as f32).to_bits(), None);
}

#[test]
fn m0_changes_the_numbers_of_registers() {
    /// An instruction, `m0`, and what it writes: registers, and the registers that they get.
    type Row = (&'static str, u32, &'static [(u16, u16)]);
    let rows: [Row; 13] = [
        ("v_movrels_b32_e32 v6, v1", 3, &[(6, 4)]),
        ("v_movreld_b32_e32 v6, v1", 3, &[(9, 1)]),
        ("v_movrelsd_b32_e32 v6, v1", 3, &[(9, 4)]),
        ("v_movrelsd_2_b32_e32 v6, v1", 5 << 16 | 2, &[(11, 3)]),
        ("v_movrels_b32_e64 v6, v1", 3, &[(6, 4)]),
        ("v_swaprel_b32 v6, v1", 5 << 16 | 2, &[(11, 3), (3, 11)]),
        // Numbers do not wrap.
        ("v_movrels_b32_e32 v6, v1", 0xffff_ffff, &[(6, 0)]),
        // A source past the last register is v0; with a result past it, nothing is written.
        ("v_movrels_b32_e32 v6, v1", 255, &[(6, 0)]),
        ("v_movreld_b32_e32 v6, v1", 250, &[]),
        ("v_movrelsd_b32_e32 v6, v1", 255, &[]),
        ("v_swaprel_b32 v6, v1", 255, &[]),
        ("v_swaprel_b32 v6, v1", 250 << 16, &[]),
        ("v_swaprel_b32 v6, v1", 0xfc00_fc00, &[(6, 1), (1, 6)]),
    ];
    for (line, m0, expected) in rows {
        for exec in [0xffff_ffff, 0x0f0f_1248] {
            let mut wave = random_wave(7);
            wave.exec = exec;
            wave.set_scalar(M0, m0);
            let before = copied(&wave);
            run_all(&mut wave, &[line]);
            for register in 0..32 {
                let found = expected.iter().find(|(to, _)| *to == register);
                let from = found.map_or(register, |(_, from)| *from);
                for lane in 0..LANES {
                    let from = if exec >> lane & 1 == 1 {
                        from
                    } else {
                        register
                    };
                    assert_eq!(
                        get(&wave, register, lane),
                        get(&before, from, lane),
                        "{line} with m0 {m0:#x}: v{register}, lane {lane}"
                    );
                }
            }
        }
    }
}

#[test]
fn lanes_move_between_registers_that_m0_selects() {
    let mut wave = random_wave(8);
    wave.set_scalar(M0, 3);
    let before = copied(&wave);
    run_all(
        &mut wave,
        &[
            "v_movrels_b32_dpp v6, v1 row_mirror row_mask:0xf bank_mask:0xf",
            "v_movreld_b32_dpp v7, v1 dpp8:[1,0,3,2,5,4,7,6]",
        ],
    );
    for lane in 0..LANES {
        let mirrored = lane / 16 * 16 + 15 - lane % 16;
        assert_eq!(
            get(&wave, 6, lane),
            get(&before, 4, mirrored),
            "lane {lane}"
        );
        assert_eq!(
            get(&wave, 10, lane),
            get(&before, 1, lane ^ 1),
            "lane {lane}"
        );
        assert_eq!(get(&wave, 7, lane), get(&before, 7, lane), "lane {lane}");
    }
}

#[test]
fn products_for_lighting() {
    let (inf, nan, least) = (f32::INFINITY, f32::NAN, f32::MIN);
    let cases = [
        ([2.0, 3.0, 1.0], 6.0),
        ([-2.0, 3.0, f32::MIN_POSITIVE], -6.0),
        ([2.0, 3.0, 0.0], least),
        ([2.0, 3.0, -1.0], least),
        ([2.0, 3.0, nan], least),
        ([2.0, least, 1.0], least),
        ([2.0, -inf, 1.0], least),
        ([2.0, nan, 1.0], least),
        ([2.0, inf, 1.0], inf),
        // 0 times anything is 0.
        ([0.0, inf, 1.0], 0.0),
        ([-0.0, 3.0, inf], 0.0),
    ];
    let mut wave = random_wave(9);
    for (lane, (sources, _)) in cases.into_iter().enumerate() {
        for (register, value) in (1..).zip(sources) {
            wave.lanes_mut(register).as_mut_array()[lane] = f32::to_bits(value);
        }
    }
    run_all(&mut wave, &["v_mullit_f32 v6, v1, v2, v3"]);
    for (lane, (sources, expected)) in cases.into_iter().enumerate() {
        let result = f32::from_bits(get(&wave, 6, lane));
        assert_eq!(
            result.to_bits(),
            expected.to_bits(),
            "{sources:?}: {result}"
        );
    }
}

#[test]
fn dot_products_with_sums_of_half_a_register() {
    let mut random = Random(10);
    for (name, encode) in [
        ("v_dot2_f16_f16", f16 as fn(i32) -> u32),
        ("v_dot2_bf16_bf16", bf16),
    ] {
        let mut wave = random_wave(10);
        let mut numbers = [[0; 6]; LANES];
        for (lane, numbers) in numbers.iter_mut().enumerate() {
            *numbers = std::array::from_fn(|_| random.next() as i32 % 6);
            let [a, b, c, d, e, f] = numbers.map(encode);
            for (register, pair) in [(1, [a, b]), (2, [c, d]), (3, [e, f])] {
                wave.lanes_mut(register).as_mut_array()[lane] = pair[0] | pair[1] << 16;
            }
        }
        let before = copied(&wave);
        run_all(
            &mut wave,
            &[
                &format!("{name} v6.l, v1, v2, v3.l"),
                &format!("{name} v7.h, v1, v2, v3.h"),
                &format!("{name} v8.l, -v1, |v2|, -v3.l"),
            ],
        );
        for (lane, [a, b, c, d, e, f]) in numbers.into_iter().enumerate() {
            for (register, high, value) in [
                (6, false, a * c + b * d + e),
                (7, true, a * c + b * d + f),
                (8, false, -a * c.abs() - b * d.abs() - e),
            ] {
                // A sum of 0 may have either sign.
                let value = if value == 0 { 0 } else { encode(value) };
                let old = get(&before, register, lane);
                let sign = if high { 1 << 31 } else { 0x8000 };
                let result = get(&wave, register, lane);
                let result = match half(result, high) {
                    0x8000 => result & !sign,
                    _ => result,
                };
                let expected = with_half(old, high, value);
                assert_eq!(result, expected, "{name}, v{register}, lane {lane}");
            }
        }
    }
}

#[test]
fn dot_products_keep_denormals_of_f16_only() {
    let mut wave = random_wave(11);
    for lane in 0..LANES {
        let mut set = |register: u16, value| {
            wave.lanes_mut(register).as_mut_array()[lane] = value;
        };
        // One times the least denormal, plus itself; bf16: the largest denormal.
        set(1, 0x3c00);
        set(2, 0x0001);
        set(3, 0x0001);
        set(4, 0x3f80);
        set(5, 0x007f);
        set(6, 0x0000);
    }
    // MODE says the contrary and has no effect.
    wave.mode = crate::exec::Mode::from_bits(0x30);
    run_all(
        &mut wave,
        &[
            "v_dot2_f16_f16 v7.l, v1, v2, v3.l",
            "v_dot2_bf16_bf16 v8.l, v4, v5, v6.l",
        ],
    );
    for lane in 0..LANES {
        assert_eq!(half(get(&wave, 7, lane), false), 2);
        assert_eq!(half(get(&wave, 8, lane), false), 0);
    }
}

#[test]
fn lanes_have_addresses_by_number() {
    let memory = DeviceMemory::new(1 << 16);
    let base = memory
        .allocate(1024, crate::memory::AllocationKind::Device)
        .expect("memory");
    let words: Vec<u8> = (0..256_u32)
        .flat_map(|n| (1000 + n).to_le_bytes())
        .collect();
    memory.write(base, &words).expect("its own memory");
    for lanes in [32, 64] {
        let mut wave = random_wave(12);
        wave.exec = 0xffff_0f0f_ffff_f0ff;
        wave.set_scalar_pair(2, base);
        let before = copied(&wave);
        let lines = [
            "global_load_addtid_b32 v6, s[2:3] offset:12",
            "global_store_addtid_b32 v1, s[2:3] offset:512",
        ];
        let text = assembled(GPU, &lines);
        run_words_on(GPU, &memory.view(), &mut wave, lanes, &text, lines.len());
        let mut stored = vec![0; 512];
        memory
            .read(base + 512, &mut stored)
            .expect("its own memory");
        for lane in 0..lanes {
            let active = wave.exec >> lane & 1 == 1;
            let old = get(&before, 6, lane);
            let loaded = if active { 1003 + lane as u32 } else { old };
            assert_eq!(get(&wave, 6, lane), loaded, "lane {lane}");
            let word: [u8; 4] = stored[4 * lane..][..4].try_into().unwrap();
            let value = if active {
                get(&wave, 1, lane)
            } else {
                1128 + lane as u32
            };
            assert_eq!(u32::from_le_bytes(word), value, "lane {lane}");
        }
        memory.write(base, &words).expect("its own memory");
    }
}

#[test]
fn loops_over_halves_of_a_wave() {
    // Adds 1 to v1 in the loop, which runs once for each half with active lanes.
    let lines = [
        "s_mov_b32 s6, 0",
        "s_subvector_loop_begin s5, 4",
        "v_add_nc_u32_e32 v1, 1, v1",
        "v_mov_b32_e32 v2, exec_lo",
        "s_add_u32 s6, s6, 1",
        "s_subvector_loop_end s5, -4",
        "s_nop 0",
    ];
    let text = assembled(GPU, &lines);
    for (exec, passes) in [
        (0xf0f0_ffff_1234_5678, 2),
        (0x0000_0000_1234_5678, 1),
        (0xf0f0_ffff_0000_0000, 1),
        (0, 0),
    ] {
        let mut wave = random_wave(13);
        wave.exec = exec;
        let before = copied(&wave);
        let count = 3 + if passes == 0 { 0 } else { 4 * passes };
        run_words(GPU, &mut wave, 64, &text, count);
        assert_eq!(wave.exec, exec);
        assert_eq!(wave.scalar(6), passes as u32);
        for lane in 0..64 {
            let (old, active) = (get(&before, 1, lane), (exec >> lane & 1) as u32);
            assert_eq!(get(&wave, 1, lane), old.wrapping_add(active), "lane {lane}");
            // Each half runs alone.
            if active == 1 {
                let low = if lane < 32 { exec as u32 } else { 0 };
                assert_eq!(get(&wave, 2, lane), low, "lane {lane}");
            }
        }
    }
}

#[test]
fn graphics_instructions_are_refused_by_name() {
    let cases: [(&str, &str); 5] = [
        (
            "image_atomic_add v0, v[4:5], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D",
            "image instructions that HIP does not use are not supported",
        ),
        (
            "image_bvh_intersect_ray v[4:7], [v9, v10, v[11:13], v[14:16], v[17:19]], s[4:7]",
            "ray tracing instructions are not supported",
        ),
        (
            "exp mrt0 v4, v3, v2, v1",
            "export instructions are not supported",
        ),
        (
            "v_interp_p10_f32 v0, v1, v2, v3",
            "interpolation instructions are not supported",
        ),
        (
            "lds_param_load v1, attr0.x",
            "interpolation instructions are not supported",
        ),
    ];
    for (line, why) in cases {
        let text = assembled(GPU, &["s_branch 1f", line, "1: v_mov_b32_e32 v6, 1"]);
        let mut wave = random_wave(14);
        // The instruction after it is found, whatever its length.
        run_words(GPU, &mut wave, LANES, &text, 2);
        assert_eq!(get(&wave, 6, 0), 1, "{line}");
        let code = Code::compile(GPU, SimdLevel::detect(), 0x1000, &text[4..]);
        let name = line.split(' ').next().expect("a name");
        let refused = code.unsupported();
        assert_eq!(
            refused.first().map(|refused| refused.what.as_str()),
            Some(format!("the emulator does not run `{name}`: {why}").as_str())
        );
    }
}
