//! Rounding and denormals under MODE.

use ferrowave_gpu::Gpu;

use super::{Bench, Check, DEFAULT_MODE, Values, d, f, wave};

/// The f32 next to `exact` in a direction: 1 up, 2 down, 3 towards zero. `exact` must be exact.
fn directed(exact: f64, mode: u32) -> f32 {
    let nearest = exact as f32;
    let up = if f64::from(nearest) < exact {
        nearest.next_up()
    } else {
        nearest
    };
    let down = if f64::from(nearest) > exact {
        nearest.next_down()
    } else {
        nearest
    };
    match mode {
        1 => up,
        2 => down,
        _ => {
            if exact > 0.0 {
                down
            } else {
                up
            }
        }
    }
}

#[test]
fn products_round_as_mode_says() {
    for mode in 1..4 {
        Check::new("v_mul_f32_e32 v6, v0, v2", Values::F32)
            .mode(DEFAULT_MODE | mode)
            .run(|[a, b, ..]| {
                let (x, y) = (f64::from(f(a)), f64::from(f(b)));
                if (x * y).is_nan() {
                    return super::nan32(f32::NAN, &[a as u32, b as u32]);
                }
                // The product of two f32 is exact in f64.
                u64::from(directed(x * y, mode).to_bits())
            });
    }
}

#[test]
fn f64_rounding_is_apart_from_f32() {
    // f16 and f64 round up, f32 to nearest.
    Check::new("v_add_f64 v[6:7], v[0:1], 1.0", Values::F64)
        .wide()
        .mode(DEFAULT_MODE | 1 << 2)
        .run(|[a, ..]| {
            let x = d(a);
            let sum = x + 1.0;
            if sum.is_nan() {
                return super::nan64(sum, &[a]);
            }
            // The error of the sum, by Knuth, shows whether it was rounded down.
            let back = sum - x;
            let error = (x - (sum - back)) + (1.0 - back);
            if error > 0.0 && sum.is_finite() {
                sum.next_up().to_bits()
            } else {
                sum.to_bits()
            }
        });
    Check::new("v_add_f32_e32 v6, v0, v2", Values::F32)
        .mode(DEFAULT_MODE | 3 << 2)
        .run(|[a, b, ..]| super::nan32(f(a) + f(b), &[a as u32, b as u32]));
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() {
        0.0_f32.copysign(x)
    } else {
        x
    }
}

#[test]
fn denormals_are_flushed_as_mode_says() {
    let flushed = |what: u32| DEFAULT_MODE & !0x30 | what << 4;
    // Neither sources nor results keep denormals.
    Check::new("v_mul_f32_e32 v6, v0, v2", Values::F32)
        .mode(flushed(0))
        .run(|[a, b, ..]| super::nan32(flush(flush(f(a)) * flush(f(b))), &[a as u32, b as u32]));
    // Sources are kept, results are not.
    Check::new("v_mul_f32_e32 v6, v0, v2", Values::F32)
        .mode(flushed(1))
        .run(|[a, b, ..]| super::nan32(flush(f(a) * f(b)), &[a as u32, b as u32]));
    // Results are kept, sources are not.
    Check::new("v_add_f32_e32 v6, v0, v2", Values::F32)
        .mode(flushed(2))
        .run(|[a, b, ..]| super::nan32(flush(f(a)) + flush(f(b)), &[a as u32, b as u32]));
}

#[test]
fn functions_of_one_source_flush_denormals_as_mode_says() {
    /// An operation, and its result without flushing.
    type Row = (&'static str, fn(f32) -> f32);
    let rows: [Row; 6] = [
        ("v_floor_f32_e32 v6, v0", f32::floor),
        ("v_ceil_f32_e32 v6, v0", f32::ceil),
        ("v_trunc_f32_e32 v6, v0", f32::trunc),
        ("v_rndne_f32_e32 v6, v0", f32::round_ties_even),
        ("v_fract_f32_e32 v6, v0", |x| x - x.floor()),
        ("v_frexp_mant_f32_e32 v6, v0", |x| match x {
            x if x == 0.0 || !x.is_finite() => x,
            x => libm::frexpf(x).0,
        }),
    ];
    for what in 0..4 {
        let mode = DEFAULT_MODE & !0x30 | what << 4;
        let source = move |x: f32| if what & 1 == 0 { flush(x) } else { x };
        let result = move |x: f32| if what & 2 == 0 { flush(x) } else { x };
        for (text, expected) in rows {
            Check::new(text, Values::F32)
                .mode(mode)
                .run(|[a, ..]| super::nan32(result(expected(source(f(a)))), &[a as u32]));
        }
        // To other formats, where a denormal may become a number that is not denormal.
        Check::new("v_cvt_flr_i32_f32_e32 v6, v0", Values::F32)
            .mode(mode)
            .run(|[a, ..]| u64::from(source(f(a)).floor() as i32 as u32));
        Check::new("v_frexp_exp_i32_f32_e32 v6, v0", Values::F32)
            .mode(mode | 0x10)
            .run(|[a, ..]| {
                let x = f(a);
                let none = x == 0.0 || !x.is_finite();
                u64::from(if none { 0 } else { libm::frexpf(x).1 as u32 })
            });
        Check::new("v_cvt_f64_f32_e32 v[6:7], v0", Values::F32)
            .mode(mode)
            .run(|[a, ..]| match f(a).is_nan() {
                true => {
                    (u64::from(a as u32 & 0x8000_0000) << 32)
                        | 0x7ff8_0000_0000_0000
                        | u64::from(a as u32 & 0x7f_ffff) << 29
                }
                false => f64::from(source(f(a))).to_bits(),
            });
    }
}

#[test]
fn pairs_of_halves_are_rounded_as_mode_says() {
    for (code, what) in [(0, "nearest"), (1, "up"), (2, "down"), (3, "zero")] {
        let rounded = move |x: f32| {
            let nearest = x as f16;
            let (near, bits) = (nearest as f32, x.to_bits());
            let half = match code {
                _ if x.is_nan() => {
                    return u64::from((bits >> 16 & 0x8000) | 0x7e00 | bits >> 13 & 0x3ff);
                }
                1 if near < x => nearest.next_up(),
                2 if near > x => nearest.next_down(),
                3 if near > x && x > 0.0 => nearest.next_down(),
                3 if near < x && x < 0.0 => nearest.next_up(),
                _ => nearest,
            };
            u64::from(half.to_bits())
        };
        assert_eq!(rounded(1e6) == 0x7bff, matches!(code, 2 | 3), "{what}");
        Check::new("v_cvt_pk_f16_f32 v6, v0, v2", Values::F32)
            .gpu(Gpu::Gfx950)
            .mode(DEFAULT_MODE & !0xc | code << 2)
            .run(|[a, b, ..]| rounded(f(a)) | rounded(f(b)) << 16);
    }
}

/// Denormals become +0.
fn multiplied(x: f32, factor: f32) -> f32 {
    let result = flush(x * factor);
    if result == 0.0 { 0.0 } else { result }
}

#[test]
fn output_multipliers_need_flushed_denormals_and_no_ieee() {
    let mode = 0x1c0;
    for (text, factor) in [
        ("v_add_f32_e64 v6, v0, v2 mul:2", 2.0),
        ("v_add_f32_e64 v6, v0, v2 mul:4", 4.0),
        ("v_add_f32_e64 v6, v0, v2 div:2", 0.5),
    ] {
        let sum = |a, b| flush(flush(f(a)) + flush(f(b)));
        Check::new(text, Values::F32)
            .mode(mode)
            .run(|[a, b, ..]| super::nan32(multiplied(sum(a, b), factor), &[a as u32, b as u32]));
        // In IEEE mode.
        Check::new(text, Values::F32)
            .mode(mode | 0x200)
            .run(|[a, b, ..]| super::nan32(sum(a, b), &[a as u32, b as u32]));
        // With denormal results.
        Check::new(text, Values::F32)
            .mode(mode | 0x30)
            .run(|[a, b, ..]| super::nan32(f(a) + f(b), &[a as u32, b as u32]));
    }
}

#[test]
fn output_multipliers_of_one_source() {
    let check = |text, values| Check::new(text, values).gpu(Gpu::Gfx90a).mode(0x100);
    let single = |x: f32, a: u64| super::nan32(x, &[a as u32]);
    check("v_floor_f32_e64 v6, -v0 mul:4", Values::F32)
        .run(|[a, ..]| single(multiplied(flush(-f(a)).floor(), 4.0), a ^ 0x8000_0000));
    check(
        "v_floor_f32_sdwa v6, v0 mul:2 dst_sel:DWORD src0_sel:DWORD",
        Values::F32,
    )
    .run(|[a, ..]| single(multiplied(flush(f(a)).floor(), 2.0), a));
    check("v_cvt_f32_i32_e64 v6, v0 div:2", Values::Integer)
        .run(|[a, ..]| single(multiplied(a as u32 as i32 as f32, 0.5), 0));
    check("v_cvt_f32_f64_e64 v6, v[0:1] mul:2", Values::F64).run(|[a, ..]| {
        // Another test checks which bits of a NaN remain.
        let narrow = d(a) as f32;
        match narrow.is_nan() {
            true => u64::from(
                (a >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (a >> 29) as u32 & 0x3f_ffff,
            ),
            false => u64::from(multiplied(flush(narrow), 2.0).to_bits()),
        }
    });
    check("v_trunc_f64_e64 v[6:7], v[0:1] mul:2", Values::F64)
        .wide()
        .run(|[a, ..]| {
            let result = d(a).trunc() * 2.0;
            let result = if result == 0.0 { 0.0 } else { result };
            super::nan64(result, &[a])
        });
    // Integer results have no multiplier.
    check("v_cvt_i32_f32_e64 v6, v0 mul:2", Values::F32)
        .run(|[a, ..]| u64::from(f(a) as i32 as u32));
    check("v_floor_f16_e64 v6, v0 mul:2", Values::F16).run(|[a, ..]| {
        let x = f16::from_bits(a as u16);
        let x = if x.is_subnormal() { 0.0 } else { x as f32 };
        let result = (x.floor() * 2.0) as f16;
        match (a as u16 & 0x7fff > 0x7c00, result == 0.0) {
            (true, _) => a & 0xffff | 0x200,
            (_, true) => 0,
            _ => result.to_bits().into(),
        }
    });
}

#[test]
fn clamps_of_one_source() {
    let mode = DEFAULT_MODE;
    for (mode, of_nan) in [(mode, Some(0)), (mode & !0x100, None)] {
        Check::new("v_floor_f32_e64 v6, v0 clamp", Values::F32)
            .mode(mode)
            .run(|[a, ..]| match of_nan {
                Some(result) if f(a).is_nan() => result,
                _ if f(a).is_nan() => a & 0xffff_ffff | 0x40_0000,
                _ => u64::from((f(a).floor().clamp(0.0, 1.0) + 0.0).to_bits()),
            });
    }
}

/// x·y + z rounded to odd: if it is not exact, its last bit is set, so that rounding it again rounds the exact sum.
fn odd_sum(x: f64, y: f64, z: f64) -> f64 {
    let product = x * y;
    let sum = product + z;
    let back = sum - product;
    let error = (product - (sum - back)) + (z - back);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    match error > 0.0 {
        true => sum.next_up(),
        false => sum.next_down(),
    }
}

/// As [`directed`], from f32 to f16.
fn directed16(exact: f32, mode: u32) -> u64 {
    let nearest = exact as f16;
    let bits = nearest.to_bits();
    let (size, exact_size) = ((nearest as f32).abs(), exact.abs());
    let negative = exact.is_sign_negative();
    let away = mode == 1 && !negative || mode == 2 && negative;
    u64::from(match away {
        true if size < exact_size => bits + 1,
        false if size > exact_size => bits - 1,
        _ => bits,
    })
}

#[test]
fn mixed_precision_rounds_as_mode_says() {
    let half = |bits: u64| f16::from_bits(bits as u16);
    let nan_of = |sources: [u64; 3]| sources.into_iter().find(|&s| s & 0x7fff > 0x7c00);
    for mode in 1..4 {
        let sum = |sources: [u64; 3]| {
            let [x, y, z] = sources.map(|s| half(s) as f64);
            let exact = odd_sum(x, y, z);
            // Zeros that cancel give −0 when rounding down.
            match exact == 0.0 && (x * y).is_sign_negative() != z.is_sign_negative() {
                true if mode == 2 => -0.0,
                true => 0.0,
                false => directed(exact, mode),
            }
        };
        Check::new(
            "v_fma_mix_f32 v6, v0, v2, v4 op_sel_hi:[1,1,1]",
            Values::F16,
        )
        .mode(DEFAULT_MODE | mode)
        .run(|[a, b, c, _]| match nan_of([a, b, c]) {
            Some(nan) => ((nan & 0x8000) << 16) | 0x7fc0_0000 | (nan & 0x3ff) << 13,
            None => super::nan32(sum([a, b, c]), &[]),
        });
        // The sum rounds in f32's mode, its conversion in f16's.
        Check::new(
            "v_fma_mixlo_f16 v6, v0, v2, v4 op_sel_hi:[1,1,1]",
            Values::F16,
        )
        .mode(DEFAULT_MODE | mode | mode << 2)
        .run(|[a, b, c, old]| {
            let sum = sum([a, b, c]);
            let low = match nan_of([a, b, c]) {
                Some(nan) => nan & 0xffff | 0x200,
                None if sum.is_nan() => 0x7e00,
                None => directed16(sum, mode),
            };
            low | old & 0xffff_0000
        });
    }
    // Denormals of f16 follow MODE's f16 setting, not its f32 setting.
    let flushed = |bits: u64| {
        let x = half(bits);
        if x.is_subnormal() { 0.0 } else { x as f32 }
    };
    Check::new(
        "v_fma_mix_f32 v6, v0, v2, 1.0 op_sel_hi:[1,1,0]",
        Values::F16,
    )
    .mode(DEFAULT_MODE & !0x40)
    .run(|[a, b, ..]| match nan_of([a, b, 0]) {
        Some(nan) => ((nan & 0x8000) << 16) | 0x7fc0_0000 | (nan & 0x3ff) << 13,
        None => super::nan32(flushed(a).mul_add(flushed(b), 1.0), &[]),
    });
}

/// Dot products of floats ignore MODE's rounding and denormal settings, and that of f16 its clamp.
#[test]
fn dot_products_ignore_mode() {
    let single = |bits: u64| {
        let x = f16::from_bits(bits as u16);
        match x.is_nan() {
            true => f32::from_bits(
                (bits as u32 & 0x8000) << 16 | 0x7fc0_0000 | (bits as u32 & 0x3ff) << 13,
            ),
            false if x.is_subnormal() => 0.0,
            false => x as f32,
        }
    };
    for (mode, clamp) in [
        (DEFAULT_MODE, ""),
        (DEFAULT_MODE, " clamp"),
        (DEFAULT_MODE | 0xf, ""),
        (0x300, " clamp"),
    ] {
        let line = format!("v_dot2_f32_f16 v6, v0, v2, v4{clamp}");
        Check::new(&line, Values::F32)
            .mode(mode)
            .run(|[a, b, c, _]| {
                let [x, y] = [a, b].map(|s| [single(s & 0xffff), single(s >> 16 & 0xffff)]);
                let sum = flush(f(c)) + x[0] * y[0] + x[1] * y[1];
                let sources = [x[0], y[0], x[1], y[1], f(c)].map(f32::to_bits);
                super::nan32(flush(sum), &sources)
            });
    }
}

/// The multiply-add of gfx908 and gfx90a, which rounds twice and flushes denormals.
#[test]
fn mad_rounds_twice() {
    for gpu in [Gpu::Gfx908, Gpu::Gfx90a] {
        let expect = |x: f32, y: f32, z: f32| flush(flush(flush(x) * flush(y)) + flush(z));
        Check::new("v_mad_f32 v6, v0, v2, v4", Values::F32)
            .gpu(gpu)
            .run(|[a, b, c, _]| {
                super::nan32(expect(f(a), f(b), f(c)), &[a as u32, b as u32, c as u32])
            });
        Check::new("v_mac_f32_e32 v6, v0, v2", Values::F32)
            .gpu(gpu)
            .run(|[a, b, _, old]| {
                super::nan32(
                    expect(f(a), f(b), f(old)),
                    &[a as u32, b as u32, old as u32],
                )
            });
    }
}

/// Without IEEE mode, a minimum gives the number even beside a signalling NaN.
#[test]
fn minimum_without_ieee() {
    Check::new("v_min_f32_e32 v6, v0, v2", Values::F32)
        .mode(0x1f0)
        .run(|[a, b, ..]| {
            if f(a).is_nan() {
                b & 0xffff_ffff
            } else if f(b).is_nan() || f(a).total_cmp(&f(b)).is_lt() {
                a & 0xffff_ffff
            } else {
                b & 0xffff_ffff
            }
        });
}

#[test]
fn setreg_changes_mode() {
    let lines = [
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3",
        "s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s0",
        "s_getreg_b32 s1, hwreg(HW_REG_MODE)",
        "s_getreg_b32 s1, hwreg(HW_REG_MODE, 4, 2)",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    for level in bench.levels() {
        let mut wave = wave();
        bench.step(level, 0, &mut wave);
        bench.step(level, 2, &mut wave);
        assert_eq!(wave.scalar(1), DEFAULT_MODE | 3);
        wave.set_scalar(0, 0b0101);
        bench.step(level, 1, &mut wave);
        bench.step(level, 2, &mut wave);
        assert_eq!(wave.scalar(1), 0x353);
        bench.step(level, 3, &mut wave);
        assert_eq!(wave.scalar(1), 1);
    }
}
