//! f32 and f64 arithmetic in the default MODE.

use ferrowave_gpu::Gpu;

use super::{Check, Values, d, f, nan32, nan64};

fn low(sources: &[u64]) -> Vec<u32> {
    sources.iter().map(|&s| s as u32).collect()
}

/// AMD's minimum or maximum: signalling NaNs are quieted, quiet ones lose, −0 < +0.
fn extreme(a: u64, b: u64, smaller: bool) -> u64 {
    let (x, y) = (a as u32, b as u32);
    let nan = |s: u32| s & 0x7fff_ffff > 0x7f80_0000;
    let signalling = |s: u32| nan(s) && s & 0x40_0000 == 0;
    u64::from(if signalling(x) {
        x | 0x40_0000
    } else if signalling(y) {
        y | 0x40_0000
    } else if nan(x) {
        y
    } else if nan(y) {
        x
    } else {
        // IEEE's total order of numbers.
        let first = f(a).total_cmp(&f(b)).is_lt() == smaller;
        if first { x } else { y }
    })
}

#[test]
fn sums_and_products() {
    let check = |text| Check::new(text, Values::F32);
    check("v_add_f32_e32 v6, v0, v2").run(|[a, b, ..]| nan32(f(a) + f(b), &low(&[a, b])));
    check("v_sub_f32_e32 v6, v0, v2").run(|[a, b, ..]| nan32(f(a) - f(b), &low(&[a, b])));
    check("v_subrev_f32_e32 v6, v0, v2").run(|[a, b, ..]| nan32(f(b) - f(a), &low(&[a, b])));
    check("v_mul_f32_e32 v6, v0, v2").run(|[a, b, ..]| nan32(f(a) * f(b), &low(&[a, b])));
    check("v_mul_f32_e32 v6, 2.0, v2").run(|[_, b, ..]| nan32(2.0 * f(b), &low(&[b])));
    check("v_fma_f32 v6, v0, v2, v4")
        .run(|[a, b, c, _]| nan32(f(a).mul_add(f(b), f(c)), &low(&[a, b, c])));
    check("v_fmac_f32_e32 v6, v0, v2")
        .run(|[a, b, _, old]| nan32(f(a).mul_add(f(b), f(old)), &low(&[a, b, old])));
    check("v_fmac_f32_e64 v6, -v0, |v2|").run(|[a, b, _, old]| {
        let (a, b) = (a ^ 0x8000_0000, b & 0x7fff_ffff);
        nan32(f(a).mul_add(f(b), f(old)), &low(&[a, b, old]))
    });
    check("v_fmaak_f32 v6, v0, v2, 0x40490fdb")
        .run(|[a, b, ..]| nan32(f(a).mul_add(f(b), f(0x4049_0fdb)), &low(&[a, b])));
    check("v_fmamk_f32 v6, v0, 0x40490fdb, v2")
        .run(|[a, b, ..]| nan32(f(a).mul_add(f(0x4049_0fdb), f(b)), &low(&[a, b])));
    check("v_mul_legacy_f32 v6, v0, v2").run(|[a, b, ..]| {
        if f(a) == 0.0 || f(b) == 0.0 {
            0
        } else {
            nan32(f(a) * f(b), &low(&[a, b]))
        }
    });
}

#[test]
fn extremes() {
    for values in [Values::F32, Values::Zeros32] {
        let check = |text| Check::new(text, values);
        check("v_min_f32_e32 v6, v0, v2").run(|[a, b, ..]| extreme(a, b, true));
        check("v_max_f32_e32 v6, v0, v2").run(|[a, b, ..]| extreme(a, b, false));
        check("v_min3_f32 v6, v0, v2, v4")
            .run(|[a, b, c, _]| extreme(extreme(a, b, true), c, true));
        check("v_max3_f32 v6, v0, v2, v4")
            .run(|[a, b, c, _]| extreme(extreme(a, b, false), c, false));
        check("v_med3_f32 v6, v0, v2, v4").run(|[a, b, c, _]| {
            if [a, b, c].iter().any(|&s| f(s).is_nan()) {
                return extreme(extreme(a, b, true), c, true);
            }
            let max = f(extreme(extreme(a, b, false), c, false));
            if f(a) == max {
                extreme(b, c, false)
            } else if f(b) == max {
                extreme(a, c, false)
            } else {
                extreme(a, b, false)
            }
        });
    }
}

#[test]
fn modifiers() {
    let check = |text| Check::new(text, Values::F32);
    check("v_add_f32_e64 v6, |v0|, -v2").run(|[a, b, ..]| {
        let (a, b) = (a & 0x7fff_ffff, b ^ 0x8000_0000);
        nan32(f(a) + f(b), &low(&[a, b]))
    });
    check("v_add_f32_e64 v6, -|v0|, v2 clamp").run(|[a, b, ..]| {
        let sum = f(a | 0x8000_0000) + f(b);
        // DX10 clamp: NaN is 0.
        u64::from(if sum > 0.0 { sum.min(1.0).to_bits() } else { 0 })
    });
    // If denormals are kept, the hardware ignores the output multiplier.
    check("v_mul_f32_e64 v6, v0, v2 mul:2").run(|[a, b, ..]| nan32(f(a) * f(b), &low(&[a, b])));
}

#[test]
fn rounding_to_integers() {
    let check = |text| Check::new(text, Values::F32);
    check("v_trunc_f32_e32 v6, v0").run(|[a, ..]| nan32(f(a).trunc(), &low(&[a])));
    check("v_ceil_f32_e32 v6, v0").run(|[a, ..]| nan32(f(a).ceil(), &low(&[a])));
    check("v_floor_f32_e32 v6, v0").run(|[a, ..]| nan32(f(a).floor(), &low(&[a])));
    check("v_rndne_f32_e32 v6, v0").run(|[a, ..]| nan32(f(a).round_ties_even(), &low(&[a])));
    let wide = |text| Check::new(text, Values::F64).wide();
    wide("v_trunc_f64_e32 v[6:7], v[0:1]").run(|[a, ..]| nan64(d(a).trunc(), &[a]));
    wide("v_ceil_f64_e32 v[6:7], v[0:1]").run(|[a, ..]| nan64(d(a).ceil(), &[a]));
    wide("v_floor_f64_e32 v[6:7], v[0:1]").run(|[a, ..]| nan64(d(a).floor(), &[a]));
    wide("v_rndne_f64_e32 v[6:7], v[0:1]").run(|[a, ..]| nan64(d(a).round_ties_even(), &[a]));
}

#[test]
fn sixty_four_bits() {
    let check = |text| Check::new(text, Values::F64).wide();
    check("v_add_f64 v[6:7], v[0:1], v[2:3]").run(|[a, b, ..]| nan64(d(a) + d(b), &[a, b]));
    check("v_add_f64 v[6:7], v[0:1], 0.5").run(|[a, ..]| nan64(d(a) + 0.5, &[a]));
    check("v_mul_f64 v[6:7], v[0:1], -v[2:3]")
        .run(|[a, b, ..]| nan64(d(a) * d(b ^ 1 << 63), &[a, b ^ 1 << 63]));
    check("v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]")
        .run(|[a, b, c, _]| nan64(d(a).mul_add(d(b), d(c)), &[a, b, c]));
    check("v_fmac_f64_e32 v[6:7], v[0:1], v[2:3]")
        .gpu(Gpu::Gfx90a)
        .run(|[a, b, _, old]| nan64(d(a).mul_add(d(b), d(old)), &[a, b, old]));
    check("v_max_f64 v[6:7], v[0:1], v[2:3]").run(|[a, b, ..]| {
        let signalling = |s: u64| d(s).is_nan() && s & 0x8_0000_0000_0000 == 0;
        if signalling(a) {
            a | 0x8_0000_0000_0000
        } else if signalling(b) {
            b | 0x8_0000_0000_0000
        } else if d(a).is_nan() {
            b
        } else if d(b).is_nan() || d(a).total_cmp(&d(b)).is_gt() {
            a
        } else {
            b
        }
    });
}

/// The transcendental unit is accurate to about an ulp, and flushes denormals to zero.
#[test]
fn approximations_are_within_an_ulp() {
    let close = |text: &str, exact: fn(f64) -> f64, domain: fn(f32) -> bool| {
        let bench = super::Bench::new(Gpu::Gfx942, &[text]);
        for level in bench.levels() {
            let mut wave = super::wave();
            let mut random = super::Random(11);
            for lane in 0..64 {
                let value = loop {
                    let bits = Values::F32.draw(&mut random) as u32;
                    if domain(f32::from_bits(bits)) {
                        break bits;
                    }
                };
                wave.lanes_mut(0).as_mut_array()[lane] = value;
            }
            bench.step(level, 0, &mut wave);
            for lane in 0..64 {
                let x = f32::from_bits(wave.lanes(0).as_array()[lane]);
                let result = f32::from_bits(wave.lanes(6).as_array()[lane]);
                let exact = exact(f64::from(x));
                let ulp = f64::from((exact as f32).abs().max(f32::MIN_POSITIVE)) * 2_f64.powi(-23);
                assert!(
                    (f64::from(result) - exact).abs() <= ulp,
                    "{text}: {x:e} gives {result:e}, not {exact:e}"
                );
            }
        }
    };
    let normal = |x: f32| x.is_normal() && x.abs() < 1e6;
    let positive = |x: f32| x.is_normal() && x > 0.0 && x < 1e30;
    close("v_rcp_f32_e32 v6, v0", |x| 1.0 / x, normal);
    close("v_sqrt_f32_e32 v6, v0", f64::sqrt, positive);
    close("v_rsq_f32_e32 v6, v0", |x| 1.0 / x.sqrt(), positive);
    close("v_exp_f32_e32 v6, v0", f64::exp2, |x| {
        x.is_normal() && x.abs() < 100.0
    });
    close("v_log_f32_e32 v6, v0", f64::log2, positive);
    close("v_fract_f32_e32 v6, v0", |x| x - x.floor(), normal);
}

/// A source NaN gives that NaN, quieted; a NaN that an operation makes is positive, in all widths.
#[test]
fn operations_of_one_source_keep_a_nan_and_make_a_positive_one() {
    let names = [
        "fract", "trunc", "ceil", "floor", "rndne", "rcp", "rsq", "sqrt", "exp", "log", "sin",
        "cos",
    ];
    // For each width: signalling and quiet NaN of both signs, ∞, −1; the quiet bit; the NaN that operations make.
    let widths: [(&str, [u64; 6], u64, u64); 3] = [
        (
            "f16",
            [0x7d01, 0xfd02, 0x7e03, 0xfe04, 0x7c00, 0xbc00],
            0x200,
            0x7e00,
        ),
        (
            "f32",
            [
                0x7f80_0001,
                0xffa0_0002,
                0x7fc0_0003,
                0xffc0_0004,
                0x7f80_0000,
                0xbf80_0000,
            ],
            0x40_0000,
            0x7fc0_0000,
        ),
        (
            "f64",
            [
                0x7ff0_0000_0000_0001,
                0xfff4_0000_0000_0002,
                0x7ff8_0000_0000_0003,
                0xfff8_0000_0000_0004,
                0x7ff0_0000_0000_0000,
                0xbff0_0000_0000_0000,
            ],
            0x8_0000_0000_0000,
            0x7ff8_0000_0000_0000,
        ),
    ];
    for (ty, values, quiet, made) in widths {
        let wide = ty == "f64";
        for name in names {
            if wide && matches!(name, "exp" | "log" | "sin" | "cos") {
                continue;
            }
            let registers = if wide { "v[6:7], v[0:1]" } else { "v6, v0" };
            let text = format!("v_{name}_{ty}_e32 {registers}");
            let bench = super::Bench::new(Gpu::Gfx942, &[&text]);
            for level in bench.levels() {
                let mut wave = super::wave();
                for lane in 0..64 {
                    let value = values[lane % 6];
                    wave.lanes_mut(0).as_mut_array()[lane] = value as u32;
                    wave.lanes_mut(1).as_mut_array()[lane] = (value >> 32) as u32;
                }
                bench.step(level, 0, &mut wave);
                for lane in 0..64 {
                    let high = if wide {
                        wave.lanes(7).as_array()[lane]
                    } else {
                        0
                    };
                    let result = u64::from(high) << 32 | u64::from(wave.lanes(6).as_array()[lane]);
                    let is_made = match lane % 6 {
                        4 => matches!(name, "fract" | "sin" | "cos"),
                        5 => matches!(name, "rsq" | "sqrt" | "log"),
                        _ => false,
                    };
                    let value = values[lane % 6];
                    if lane % 6 < 4 {
                        assert_eq!(result, value | quiet, "{text} of {value:#x}");
                    } else if is_made {
                        assert_eq!(result, made, "{text} of {value:#x}");
                    }
                }
            }
        }
    }
}

/// A division as the compiler expands it is correctly rounded.
#[test]
fn expanded_division() {
    let lines = [
        "v_div_scale_f32 v8, s[0:1], v2, v2, v0",
        "v_div_scale_f32 v9, vcc, v0, v2, v0",
        "v_rcp_f32_e32 v10, v8",
        "v_fma_f32 v11, -v8, v10, 1.0",
        "v_fma_f32 v10, v11, v10, v10",
        "v_mul_f32_e32 v11, v9, v10",
        "v_fma_f32 v12, -v8, v11, v9",
        "v_fma_f32 v11, v12, v10, v11",
        "v_fma_f32 v12, -v8, v11, v9",
        "v_div_fmas_f32 v12, v12, v10, v11",
        "v_div_fixup_f32 v6, v12, v2, v0",
    ];
    let bench = super::Bench::new(Gpu::Gfx942, &lines);
    for level in bench.levels() {
        let mut random = super::Random(5);
        // In the last rounds, no lane is scaled.
        for round in 0..60 {
            let mut wave = super::wave();
            for lane in 0..64 {
                for register in [0, 2] {
                    // All exponents, denormals and specials too.
                    let bits = random.next();
                    let value = if round >= 40 {
                        bits as u32 & !(0xff << 23) | (100 + (bits >> 40 & 31) as u32) << 23
                    } else if bits & 7 == 0 {
                        Values::F32.draw(&mut random) as u32
                    } else {
                        bits as u32
                    };
                    wave.lanes_mut(register).as_mut_array()[lane] = value;
                }
            }
            for index in 0..lines.len() {
                bench.step(level, index, &mut wave);
            }
            for lane in 0..64 {
                let [n, m] = [0, 2].map(|r| f32::from_bits(wave.lanes(r).as_array()[lane]));
                let result = f32::from_bits(wave.lanes(6).as_array()[lane]);
                let exact = n / m;
                assert!(
                    result.to_bits() == exact.to_bits() || result.is_nan() && exact.is_nan(),
                    "{n:e} / {m:e} = {exact:e}, not {result:e}"
                );
            }
        }
    }
}

/// The same in f64, with two lanes at an extreme or none: the slow way and the fast one.
#[test]
fn expanded_division_of_doubles() {
    let lines = [
        "v_div_scale_f64 v[8:9], s[0:1], v[2:3], v[2:3], v[0:1]",
        "v_div_scale_f64 v[10:11], vcc, v[0:1], v[2:3], v[0:1]",
        "v_rcp_f64_e32 v[12:13], v[8:9]",
        "v_fma_f64 v[14:15], -v[8:9], v[12:13], 1.0",
        "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
        "v_fma_f64 v[14:15], -v[8:9], v[12:13], 1.0",
        "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
        "v_mul_f64 v[14:15], v[10:11], v[12:13]",
        "v_fma_f64 v[16:17], -v[8:9], v[14:15], v[10:11]",
        "v_div_fmas_f64 v[16:17], v[16:17], v[12:13], v[14:15]",
        "v_div_fixup_f64 v[6:7], v[16:17], v[2:3], v[0:1]",
    ];
    let bench = super::Bench::new(Gpu::Gfx90a, &lines);
    for level in bench.levels() {
        let mut random = super::Random(6);
        for round in 0..40 {
            let mut wave = super::wave();
            for lane in 0..64 {
                for register in [0, 2] {
                    let bits = random.next();
                    // Exponents around that of 1, so that nothing is scaled.
                    let moderate = bits & !(0x7ff << 52) | (900 + (bits >> 52 & 0xff)) << 52;
                    let value = match round % 2 == 1 && lane % 32 == 7 {
                        true => bits,
                        false => moderate,
                    };
                    wave.lanes_mut(register).as_mut_array()[lane] = value as u32;
                    wave.lanes_mut(register + 1).as_mut_array()[lane] = (value >> 32) as u32;
                }
            }
            for index in 0..lines.len() {
                bench.step(level, index, &mut wave);
            }
            for lane in 0..64 {
                let [n, m, result] = [0, 2, 6].map(|register| {
                    let half = |register| u64::from(wave.lanes(register).as_array()[lane]);
                    f64::from_bits(half(register) | half(register + 1) << 32)
                });
                let exact = n / m;
                assert!(
                    result.to_bits() == exact.to_bits() || result.is_nan() && exact.is_nan(),
                    "{n:e} / {m:e} = {exact:e}, not {result:e}"
                );
            }
        }
    }
}

#[test]
fn scaling_by_powers_of_two() {
    Check::new("v_ldexp_f32 v6, v0, v2", Values::F32).run(|[a, b, ..]| {
        let exponent = (b as u32 as i32).clamp(-1000, 1000);
        nan32(
            (d(f64::from(f(a)).to_bits()) * 2_f64.powi(exponent)) as f32,
            &low(&[a]),
        )
    });
    Check::new("v_frexp_exp_i32_f32_e32 v6, v0", Values::F32).run(|[a, ..]| {
        let x = f64::from(f(a)).abs();
        if x == 0.0 || !x.is_finite() {
            return 0;
        }
        // x = m · 2^e with m in [1/2, 1).
        let exponent = (x.to_bits() >> 52) as i64 - 1022;
        exponent as u64
    });
    Check::new("v_frexp_mant_f32_e32 v6, v0", Values::F32).run(|[a, ..]| {
        let x = f64::from(f(a));
        if x == 0.0 || !x.is_finite() {
            return nan32(f(a), &low(&[a]));
        }
        let mantissa = f64::from_bits(x.to_bits() & !(0x7ff << 52) | 1022 << 52);
        u64::from((mantissa as f32).to_bits())
    });
}

/// Powers of two near the limits of the format, and small ones with which all numbers stay normal.
#[test]
fn scaling_by_small_powers_of_two() {
    for (text, wide) in [
        ("v_ldexp_f32 v6, v0, v2", false),
        ("v_ldexp_f64 v[6:7], v[0:1], v2", true),
    ] {
        let bench = super::Bench::new(Gpu::Gfx90a, &[text]);
        // The second one flushes denormals.
        for (level, mode) in bench
            .levels()
            .flat_map(|level| [(level, super::DEFAULT_MODE), (level, 0x300)])
        {
            let mut random = super::Random(9);
            for round in 0..60 {
                let mut wave = super::wave();
                wave.mode = crate::exec::Mode::from_bits(mode);
                let mut sources = [(0.0, 0); 64];
                for (lane, source) in sources.iter_mut().enumerate() {
                    let (bits, most) = (random.next(), if wide { 2200 } else { 300 });
                    let power = match round % 2 {
                        0 => random.next() as i32 % most,
                        _ => random.next() as i32 % 20,
                    };
                    let bits = match (round % 2, wide) {
                        (0, _) => bits,
                        (_, true) => bits & !(0x7ff << 52) | (1000 + (bits >> 57)) << 52,
                        (_, false) => bits & !(0xff << 23) | (100 + (bits >> 58)) << 23,
                    };
                    wave.lanes_mut(0).as_mut_array()[lane] = bits as u32;
                    wave.lanes_mut(1).as_mut_array()[lane] = (bits >> 32) as u32;
                    wave.lanes_mut(2).as_mut_array()[lane] = power as u32;
                    *source = match wide {
                        true => (d(bits), power),
                        false => (f64::from(f(bits)), power),
                    };
                }
                bench.step(level, 0, &mut wave);
                for (lane, (x, power)) in sources.into_iter().enumerate() {
                    let [low, high] = [6, 7].map(|r| u64::from(wave.lanes(r).as_array()[lane]));
                    let result = match wide {
                        true => d(low | high << 32),
                        false => f64::from(f(low)),
                    };
                    let least = if wide {
                        f64::MIN_POSITIVE
                    } else {
                        f64::from(f32::MIN_POSITIVE)
                    };
                    let flushed = |x: f64| match mode != super::DEFAULT_MODE && x.abs() < least {
                        true => 0_f64.copysign(x),
                        false => x,
                    };
                    let exact = libm::scalbn(flushed(x), power);
                    let rounded = if wide { exact } else { f64::from(exact as f32) };
                    let expected = flushed(rounded);
                    assert!(
                        result.to_bits() == expected.to_bits() || result.is_nan() && x.is_nan(),
                        "{text} of {x:e} and {power}: {result:e}, not {expected:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn fractions_and_exponents_of_doubles() {
    Check::new("v_frexp_exp_i32_f64_e32 v6, v[0:1]", Values::F64).run(|[a, ..]| {
        let none = d(a) == 0.0 || !d(a).is_finite();
        u64::from(if none { 0 } else { libm::frexp(d(a)).1 as u32 })
    });
    let mantissa = Check::new("v_frexp_mant_f64_e32 v[6:7], v[0:1]", Values::F64).wide();
    mantissa.run(|[a, ..]| match d(a) {
        x if x == 0.0 || !x.is_finite() => nan64(x, &[a]),
        x => libm::frexp(x).0.to_bits(),
    });
}

#[test]
fn packed_singles() {
    let part = |x: u64, high: bool| if high { x >> 32 } else { x & 0xffff_ffff };
    let check = |text| Check::new(text, Values::Integer).wide().gpu(Gpu::Gfx90a);
    // Random bits are floats of all magnitudes.
    check("v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5]").run(|[a, b, c, _]| {
        let one = |h| {
            let [x, y, z] = [a, b, c].map(|s| part(s, h));
            nan32(f(x).mul_add(f(y), f(z)), &low(&[x, y, z]))
        };
        one(false) | one(true) << 32
    });
    check("v_pk_mul_f32 v[6:7], v[0:1], v[2:3] op_sel_hi:[0,1]").run(|[a, b, ..]| {
        let one = |x, y| nan32(f(x) * f(y), &low(&[x, y]));
        one(part(a, false), part(b, false)) | one(part(a, false), part(b, true)) << 32
    });
    check("v_pk_add_f32 v[6:7], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1] neg_hi:[1,0]")
        .run(|[a, b, ..]| {
            let sign = 0x8000_0000;
            let (x, y) = (part(a, true), part(b, false) ^ sign);
            let (u, v) = (part(a, false) ^ sign, part(b, true));
            nan32(f(x) + f(y), &low(&[x, y])) | nan32(f(u) + f(v), &low(&[u, v])) << 32
        });
}
