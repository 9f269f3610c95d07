//! Rounding and denormals as MODE says.

use ferrowave_code_object::Gpu;

use super::{Bench, Check, DEFAULT_MODE, Values, d, f, wave};

/// f32 nearest to `exact` in a direction: 1 up, 2 down, 3 towards zero. `exact` must be exact.
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
    // Round f16 and f64 up, f32 to nearest.
    Check::new("v_add_f64 v[6:7], v[0:1], 1.0", Values::F64)
        .wide()
        .mode(DEFAULT_MODE | 1 << 2)
        .run(|[a, ..]| {
            let x = d(a);
            let sum = x + 1.0;
            if sum.is_nan() {
                return super::nan64(sum, &[a]);
            }
            // Knuth's error of the sum says whether it was rounded down.
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
    // Neither sources nor results.
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
fn output_multipliers_need_flushed_denormals_and_no_ieee() {
    let mode = 0x1c0;
    for (text, factor) in [
        ("v_add_f32_e64 v6, v0, v2 mul:2", 2.0),
        ("v_add_f32_e64 v6, v0, v2 mul:4", 4.0),
        ("v_add_f32_e64 v6, v0, v2 div:2", 0.5),
    ] {
        Check::new(text, Values::F32).mode(mode).run(|[a, b, ..]| {
            let sum = flush(flush(f(a)) + flush(f(b)));
            super::nan32(flush(sum * factor), &[a as u32, b as u32])
        });
    }
}

/// The multiply-add of gfx908 and gfx90a that rounds twice and has no denormals.
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

/// Without IEEE mode a minimum passes the number even beside a signalling NaN.
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
