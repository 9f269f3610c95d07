//! Conversions to and from formats of 8, 6 and 4 bits.

use ferrowave_gpu::Gpu;

use super::{
    Bench, Check, DEFAULT_MODE, Random, Values, f,
    formats::{BF6, BF8, BF8_FNUZ, FP4, FP6, FP8, FP8_FNUZ, Format, Specials},
    wave,
};
use crate::exec::{Lanes, Mode};

/// MODE with saturation of results that are too large.
const SATURATING: u32 = DEFAULT_MODE | 1 << 23;

/// The two 8-bit formats of a GPU.
fn eights(gpu: Gpu) -> [(&'static str, Format); 2] {
    match gpu {
        Gpu::Gfx942 => [("fp8", FP8_FNUZ), ("bf8", BF8_FNUZ)],
        _ => [("fp8", FP8), ("bf8", BF8)],
    }
}

/// A wide format that is converted from or to.
#[derive(Clone, Copy, Debug)]
enum Wide {
    F32,
    F16,
    Bf16,
}

impl Wide {
    const ALL: [Wide; 3] = [Wide::F32, Wide::F16, Wide::Bf16];

    fn name(self) -> &'static str {
        match self {
            Wide::F32 => "f32",
            Wide::F16 => "f16",
            Wide::Bf16 => "bf16",
        }
    }

    fn fraction(self) -> u32 {
        match self {
            Wide::F32 => 23,
            Wide::F16 => 10,
            Wide::Bf16 => 7,
        }
    }

    fn value(self, bits: u32) -> f64 {
        f64::from(match self {
            Wide::F32 => f32::from_bits(bits),
            Wide::F16 => f16::from_bits(bits as u16) as f32,
            Wide::Bf16 => f32::from_bits(bits << 16),
        })
    }

    /// The nearest pattern.
    fn bits(self, value: f64) -> u32 {
        match self {
            Wide::F32 => (value as f32).to_bits(),
            Wide::F16 => u32::from((value as f16).to_bits()),
            Wide::Bf16 => {
                // Ties to even, by trying both neighbours; values here have few bits.
                let bits = (value as f32).to_bits();
                if value.is_nan() {
                    return bits >> 16 | 0x40;
                }
                let (down, rest) = (bits >> 16, bits & 0xffff);
                down + u32::from(rest > 0x8000 || rest == 0x8000 && down % 2 == 1)
            }
        }
    }
}

/// The power of two in a scale's exponent field.
fn power(scale: u64) -> f64 {
    match scale >> 23 & 0xff {
        0xff => f64::NAN,
        field => 2_f64.powi(field as i32 - 127),
    }
}

/// A value divided by a scale; a NaN scale keeps the value's sign.
fn divided(value: f64, scale: u64) -> f64 {
    let by = power(scale);
    if by.is_nan() {
        by.copysign(value)
    } else {
        value / by
    }
}

fn next(random: u32) -> u32 {
    random << 1 ^ if random >> 31 == 1 { 197 } else { 0 }
}

#[test]
fn nearest_of_two() {
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        for (name, format) in eights(gpu) {
            for mode in [DEFAULT_MODE, SATURATING] {
                let one = |bits: u64| u64::from(format.nearest(f(bits).into(), mode == SATURATING));
                let pair = |a: u64, b: u64| one(a) | one(b) << 8;
                let check = |text: &str, expect: &dyn Fn([u64; 4]) -> u64| {
                    Check::new(text, Values::F32)
                        .gpu(gpu)
                        .mode(mode)
                        .run(expect);
                };
                check(
                    &format!("v_cvt_pk_{name}_f32 v6, v0, v2"),
                    &|[a, b, _, old]| pair(a, b) | old & 0xffff_0000,
                );
                check(
                    &format!("v_cvt_pk_{name}_f32 v6, -v0, |v2| op_sel:[0,0,1]"),
                    &|[a, b, _, old]| pair(a ^ 0x8000_0000, b & 0x7fff_ffff) << 16 | old & 0xffff,
                );
            }
        }
    }
}

#[test]
fn stochastic() {
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        for (name, format) in eights(gpu) {
            for mode in [DEFAULT_MODE, SATURATING] {
                let text = format!("v_cvt_sr_{name}_f32 v6, v0, v2 op_sel:[0,0,1,0]");
                Check::new(&text, Values::F32)
                    .gpu(gpu)
                    .mode(mode)
                    .run(|[a, b, _, old]| {
                        let bits = format.stochastic(f(a).into(), 23, b as u32, mode == SATURATING);
                        u64::from(bits) << 8 | old & 0xffff_00ff
                    });
            }
        }
    }
    // For 16 bits, the neighbours are truncations of the source's bits.
    for (name, wide) in [("f16", Wide::F16), ("bf16", Wide::Bf16)] {
        let text = format!("v_cvt_sr_{name}_f32 v6, v0, v2 op_sel:[0,0,1]");
        Check::new(&text, Values::F32)
            .gpu(Gpu::Gfx950)
            .run(|[a, b, _, old]| {
                let x = f(a);
                let sign = (a >> 16 & 0x8000) as u32;
                let bits = if x.is_nan() {
                    sign | 0x7fff
                } else if x.is_infinite() {
                    sign | wide.bits(f64::INFINITY)
                } else {
                    let size = f64::from(x.abs());
                    // Rounded down: truncated, with the fixed gap of denormals.
                    let nearest = wide.bits(size);
                    let infinite = !wide.value(nearest).is_finite();
                    let below = nearest - u32::from(wide.value(nearest) > size || infinite);
                    let gap = 2_f64.powi(match wide {
                        Wide::F16 => (x.abs().log2().floor() as i32).max(-14) - 10,
                        _ => (((a >> 23 & 0xff) as i32) - 127).max(-126) - 7,
                    });
                    let dropped_bits = 23 - wide.fraction();
                    let steps = 2_f64.powi(dropped_bits as i32);
                    let dropped = ((size - wide.value(below)) / gap * steps).floor();
                    let random = f64::from(b as u32 >> (32 - dropped_bits));
                    let past = matches!(wide, Wide::F16) && size >= 65536.0;
                    if past {
                        sign | 0x7c00
                    } else {
                        sign | (below + u32::from(dropped + random >= steps))
                    }
                };
                u64::from(bits) << 16 | old & 0xffff
            });
    }
}

#[test]
fn scaled_to_eight_and_four_bits() {
    let gpu = Gpu::Gfx950;
    let check = |text: &str, values, expect: &dyn Fn([u64; 4]) -> u64| {
        Check::new(text, values).gpu(gpu).run(expect);
    };
    for (name, format) in [("fp8", FP8), ("bf8", BF8), ("fp4", FP4)] {
        let bits = format.bits();
        // How the result's position is written, and where it is.
        let (place, shift) = if bits == 4 {
            ("[0,0,1,1]", 24)
        } else {
            ("[0,0,0,1]", 16)
        };
        let keep = |old: u64| old & !((1 << (2 * bits)) - 1 << shift) & 0xffff_ffff;
        let pair = |x: u32, y: u32| u64::from(x | y << bits) << shift;
        let nearest = |value: f64, scale: u64| format.nearest(divided(value, scale), false);
        let text = format!("v_cvt_scalef32_pk_{name}_f32 v6, v0, v2, v4 op_sel:{place}");
        check(&text, Values::F32, &|[a, b, s, old]| {
            pair(nearest(f(a).into(), s), nearest(f(b).into(), s)) | keep(old)
        });
        for wide in [Wide::F16, Wide::Bf16] {
            let place = if bits == 4 { place } else { "[0,0,1]" };
            let text = format!(
                "v_cvt_scalef32_pk_{name}_{} v6, v0, v2 op_sel:{place}",
                wide.name()
            );
            check(&text, Values::F32, &|[a, s, _, old]| {
                let [x, y] = [a & 0xffff, a >> 16 & 0xffff].map(|half| wide.value(half as u32));
                pair(nearest(x, s), nearest(y, s)) | keep(old)
            });
        }
        if bits == 8 {
            for wide in Wide::ALL {
                let text = format!(
                    "v_cvt_scalef32_sr_{name}_{} v6, v0, v2, v4 op_sel:[0,0,1,0]",
                    wide.name()
                );
                check(&text, Values::F32, &|[a, random, s, old]| {
                    let a = if matches!(wide, Wide::F32) {
                        a
                    } else {
                        a & 0xffff
                    };
                    let value = divided(wide.value(a as u32), s);
                    let bits = format.stochastic(value, wide.fraction(), random as u32, false);
                    u64::from(bits) << 8 | old & 0xffff_00ff
                });
            }
        }
    }
    for wide in Wide::ALL {
        let source = if matches!(wide, Wide::F32) {
            "v[0:1]"
        } else {
            "v0"
        };
        let text = format!(
            "v_cvt_scalef32_sr_pk_fp4_{} v6, {source}, v2, v4 op_sel:[0,0,0,1]",
            wide.name()
        );
        check(&text, Values::F32, &|[a, random, s, old]| {
            let halves = match wide {
                Wide::F32 => [a & 0xffff_ffff, a >> 32],
                _ => [a & 0xffff, a >> 16 & 0xffff],
            };
            let [x, y] = halves.map(|bits| divided(wide.value(bits as u32), s));
            let random = random as u32;
            let low = FP4.stochastic(x, wide.fraction(), random, false);
            let high = FP4.stochastic(y, wide.fraction(), next(random), false);
            u64::from(low | high << 4) << 16 | old & 0xff00_ffff
        });
    }
}

/// A pattern's value as f32 bits.
fn widened(format: Format, bits: u32) -> u32 {
    let value = format.value(bits);
    let sign = bits >> (format.bits() - 1) << 31;
    match format.specials {
        _ if !value.is_nan() => (value as f32).to_bits(),
        Specials::Ieee => sign | 0x7fc0_0000 | (bits & 3) << 21,
        Specials::Fnuz => 0x7fc0_0000,
        _ => sign | 0x7fc0_0000,
    }
}

#[test]
fn from_eight_bits() {
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        for (name, format) in eights(gpu) {
            let value = |bits: u64| u64::from(widened(format, bits as u32 & 0xff));
            let check = |text: &str, wide: bool, expect: &dyn Fn(u64) -> u64| {
                let check = Check::new(text, Values::Integer).gpu(gpu);
                let check = if wide { check.wide() } else { check };
                check.run(|[a, ..]| expect(a));
            };
            check(&format!("v_cvt_f32_{name}_e32 v6, v0"), false, &value);
            check(
                &format!("v_cvt_f32_{name}_sdwa v6, v0 src0_sel:BYTE_2"),
                false,
                &|a| value(a >> 16),
            );
            check(&format!("v_cvt_pk_f32_{name}_e32 v[6:7], v0"), true, &|a| {
                value(a) | value(a >> 8) << 32
            });
            check(
                &format!("v_cvt_pk_f32_{name}_sdwa v[6:7], v0 src0_sel:WORD_1"),
                true,
                &|a| value(a >> 16) | value(a >> 24) << 32,
            );
        }
    }
}

/// A pattern's value times a scale, in a wide format; any NaN is 0xffff_ffff.
fn product(format: Format, bits: u64, scale: u64, wide: Wide) -> u32 {
    let value = format.value(bits as u32 & ((1 << format.bits()) - 1)) * power(scale);
    if value.is_nan() {
        return u32::MAX;
    }
    // f32 holds the exact product before it is rounded to f16 or bfloat16, or it is ∞.
    wide.bits(f64::from(value as f32))
}

#[test]
fn scaled_from_eight_and_four_bits() {
    for (name, format) in [("fp8", FP8), ("bf8", BF8), ("fp4", FP4)] {
        for wide in Wide::ALL {
            let (place, shift) = if format.bits() == 4 {
                ("[1,1,0]", 24)
            } else {
                ("[1,0,0]", 16)
            };
            let (dst, width) = if matches!(wide, Wide::F32) {
                ("v[6:7]", 32)
            } else {
                ("v6", 16)
            };
            let text = format!(
                "v_cvt_scalef32_pk_{}_{name} {dst}, v0, v2 op_sel:{place}",
                wide.name()
            );
            check_products(
                &text,
                wide,
                |[a, s]| {
                    let a = a >> shift;
                    [
                        Some(product(format, a, s, wide)),
                        Some(product(format, a >> format.bits(), s, wide)),
                    ]
                },
                width,
            );
            if format.bits() == 8 && !matches!(wide, Wide::Bf16) {
                let dst_half = matches!(wide, Wide::F16);
                let text = format!(
                    "v_cvt_scalef32_{}_{name} v6, v0, v2 op_sel:[1,1,{}]",
                    wide.name(),
                    u8::from(dst_half)
                );
                check_products(
                    &text,
                    wide,
                    |[a, s]| {
                        let bits = product(format, a >> 24, s, wide);
                        if dst_half {
                            [None, Some(bits)]
                        } else {
                            [Some(bits), None]
                        }
                    },
                    width,
                );
            }
        }
    }
}

/// Runs a conversion of `v0` with the scale in `v2`; `expect` gives the numbers of `width` bits in `v6` and up, `None`
/// where the old bits are kept.
fn check_products(
    text: &str,
    wide: Wide,
    expect: impl Fn([u64; 2]) -> [Option<u32>; 2],
    width: usize,
) {
    let bench = Bench::new(Gpu::Gfx950, &[text]);
    for level in bench.levels() {
        let mut random = Random(9);
        for _ in 0..16 {
            let mut wave = wave();
            wave.exec = random.next();
            for lane in 0..64 {
                wave.lanes_mut(0).as_mut_array()[lane] = random.next() as u32;
                wave.lanes_mut(2).as_mut_array()[lane] = random.next() as u32;
            }
            bench.step(level, 0, &mut wave);
            for lane in 0..64 {
                let sources = [0, 2].map(|r| u64::from(wave.lanes(r).as_array()[lane]));
                let numbers = expect(sources);
                for (index, number) in numbers.into_iter().enumerate() {
                    let bit = index * width;
                    let word = wave.lanes(6 + (bit / 32) as u16).as_array()[lane];
                    let mask = u32::MAX >> (32 - width);
                    let result = word >> (bit % 32) & mask;
                    let old = super::UNTOUCHED >> (bit % 32) & mask;
                    let active = wave.exec >> lane & 1 == 1;
                    let nan = wide.value(result).is_nan();
                    match number {
                        Some(u32::MAX) if active => assert!(nan, "{text}: {result:#x} for NaN"),
                        Some(expected) if active => assert_eq!(
                            result, expected,
                            "{text} level {level}, number {index} of {sources:#x?}"
                        ),
                        _ => assert_eq!(result, old, "{text}: {index} is not written"),
                    }
                }
            }
        }
    }
}

/// Adjacent numbers in registers from `register` on.
fn packed(wave: &crate::exec::Wave, register: u16, lane: usize, bits: usize, index: usize) -> u32 {
    (0..bits).fold(0, |value, bit| {
        let at = index * bits + bit;
        let word = wave.lanes(register + (at / 32) as u16).as_array()[lane];
        value | (word >> (at % 32) & 1) << bit
    })
}

#[test]
fn blocks_of_six_bits() {
    for (name, format) in [("fp6", FP6), ("bf6", BF6)] {
        for wide in Wide::ALL {
            let bits = if matches!(wide, Wide::F32) { 32 } else { 16 };
            let last = 16 + bits - 1;
            let wide_name = wide.name();
            let mut lines = vec![
                format!("v_cvt_scalef32_pk32_{wide_name}_{name} v[16:{last}], v[0:5], v10"),
                format!("v_cvt_scalef32_sr_pk32_{name}_{wide_name} v[0:5], v[16:{last}], v9, v10"),
            ];
            lines.push(if bits == 32 {
                format!("v_cvt_scalef32_2xpk16_{name}_f32 v[0:5], v[16:31], v[32:47], v10")
            } else {
                format!("v_cvt_scalef32_pk32_{name}_{wide_name} v[0:5], v[16:31], v10")
            });
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let bench = Bench::new(Gpu::Gfx950, &lines);
            for level in bench.levels() {
                for instruction in 0..3 {
                    let mut random = Random(instruction as u64);
                    let mut before = wave();
                    before.exec = !0xf0;
                    before.mode = Mode::from_bits(DEFAULT_MODE);
                    for register in 0..48 {
                        for lane in 0..64 {
                            let bits = random.next();
                            // Magnitudes in the range of six bits, and scales near 1.
                            let value = match register {
                                0..10 => bits as u32,
                                10 => (120 + bits as u32 % 14) << 23,
                                _ if matches!(wide, Wide::F16) => bits as u32 & 0xcfff_cfff,
                                _ => bits as u32 & 0x8fff_8fff | 0x3800_3800,
                            };
                            before.lanes_mut(register).as_mut_array()[lane] = value;
                        }
                    }
                    let mut after = wave();
                    after.exec = before.exec;
                    for register in 0..48 {
                        *after.lanes_mut(register) = *before.lanes(register);
                    }
                    bench.step(level, instruction, &mut after);
                    for lane in 0..64 {
                        let scale = u64::from(before.lanes(10).as_array()[lane]);
                        let mut seed = before.lanes(9).as_array()[lane];
                        for index in 0..32 {
                            let (result, old, expected) = if instruction == 0 {
                                let number = packed(&before, 0, lane, 6, index);
                                (
                                    packed(&after, 16, lane, bits, index),
                                    packed(&before, 16, lane, bits, index),
                                    product(format, number.into(), scale, wide),
                                )
                            } else {
                                let source = match instruction {
                                    2 if bits == 32 => {
                                        let first = if index % 2 == 0 { 16 } else { 32 };
                                        packed(&before, first, lane, 32, index / 2)
                                    }
                                    _ => packed(&before, 16, lane, bits, index),
                                };
                                let value = divided(wide.value(source), scale);
                                let expected = if instruction == 1 {
                                    let now = seed;
                                    seed = next(seed);
                                    format.stochastic(value, wide.fraction(), now, false)
                                } else {
                                    format.nearest(value, false)
                                };
                                (
                                    packed(&after, 0, lane, 6, index),
                                    packed(&before, 0, lane, 6, index),
                                    expected,
                                )
                            };
                            let active = before.exec >> lane & 1 == 1;
                            let expected = if active { expected } else { old };
                            assert_eq!(
                                result, expected,
                                "{} level {level}, lane {lane}, number {index}",
                                lines[instruction]
                            );
                        }
                    }
                }
            }
        }
    }
}

/// The random number generator of the conversions.
#[test]
fn random_bits() {
    Check::new("v_prng_b32_e32 v6, v0", Values::Integer)
        .gpu(Gpu::Gfx950)
        .run(|[a, ..]| next(a as u32).into());
    let bench = Bench::new(Gpu::Gfx950, &["v_prng_b32_e32 v0, v0"]);
    let mut wave = wave();
    *wave.lanes_mut(0) = Lanes::splat(0x8000_0001);
    bench.step(0, 0, &mut wave);
    assert_eq!(wave.lanes(0).as_array()[5], 197 ^ 2);
}

/// [-1, 1] and [0, 1] to the full range of 16 bits.
#[test]
fn normalized() {
    let h = |bits: u64| f64::from(f16::from_bits(bits as u16) as f32);
    let signed = |x: f64| (x.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16 as u16 as u64;
    let unsigned = |x: f64| (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16 as u64;
    let check = |text| Check::new(text, Values::F16);
    check("v_cvt_norm_i16_f16_e32 v6, v0").run(|[a, ..]| signed(h(a)));
    check("v_cvt_norm_u16_f16_e32 v6, v0").run(|[a, ..]| unsigned(h(a)));
    check("v_cvt_pknorm_i16_f16 v6, v0, -v2").run(|[a, b, ..]| signed(h(a)) | signed(-h(b)) << 16);
    check("v_cvt_pknorm_u16_f16 v6, v0, v2")
        .run(|[a, b, ..]| unsigned(h(a)) | unsigned(h(b)) << 16);
    Check::new("v_cvt_pkaccum_u8_f32 v6, v0, v2", Values::F32).run(|[a, b, _, old]| {
        let shift = 8 * (b & 3);
        u64::from(f(a) as u8) << shift | old & !(0xff << shift) & 0xffff_ffff
    });
}
