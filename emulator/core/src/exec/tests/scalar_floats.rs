//! Floats of RDNA 3.5's scalar unit. Expectations follow AMD's pseudocode; sums and products of f16, and products of
//! f32, are exact in f64 and rounded here.

use ferrowave_gpu::Gpu;

use super::{Bench, DEFAULT_MODE, Random, Values, f, wave};

/// Rounding modes by their code in MODE.
const NEAREST: u32 = 0;
const UP: u32 = 1;
const DOWN: u32 = 2;
const ZERO: u32 = 3;

/// Runs an instruction on `s0` and `s2`, with random bits above an f16, and compares `s4` and SCC with what `expect`
/// gives for the sources and the old values of `s4` and SCC.
fn check_all(
    text: &str,
    values: Values,
    mode: u32,
    expect: impl Fn([u64; 3], bool) -> (u64, bool),
) {
    let bench = Bench::new(Gpu::Gfx1150, &[text]);
    for level in bench.levels() {
        let mut random = Random(u64::from(mode) + 1);
        for round in 0..600 {
            let mut wave = wave();
            wave.set_lane_count(32);
            wave.mode = crate::exec::Mode::from_bits(mode);
            wave.scc = round % 2 == 1;
            let mut draw = || match values {
                Values::F16 => values.draw(&mut random) | random.next() << 16 & 0xffff_0000,
                _ => values.draw(&mut random) & 0xffff_ffff,
            };
            let sources = [draw(), draw(), draw()];
            for (value, register) in sources.into_iter().zip([0, 2, 4]) {
                wave.set_scalar(register, value as u32);
            }
            let (result, scc) = expect(sources, wave.scc);
            bench.step(level, 0, &mut wave);
            assert_eq!(
                (u64::from(wave.scalar(4)), wave.scc),
                (result, scc),
                "{text}: {sources:#x?}, mode {mode:#x}"
            );
        }
    }
}

/// As [`check_all`], for instructions that leave SCC as it is.
fn check(text: &str, values: Values, mode: u32, expect: impl Fn([u64; 3]) -> u64) {
    check_all(text, values, mode, |sources, scc| (expect(sources), scc));
}

/// As [`check_all`], for compares.
fn check_scc(text: &str, values: Values, mode: u32, expect: impl Fn([u64; 3]) -> bool) {
    check_all(text, values, mode, |sources, _| {
        (sources[2], expect(sources))
    });
}

fn h(bits: u64) -> f16 {
    f16::from_bits(bits as u16)
}

fn is_nan16(bits: u64) -> bool {
    h(bits).is_nan()
}

/// The NaN that an operation gives: the first of its sources, quieted, or the positive quiet NaN.
fn nan16(sources: &[u64]) -> u64 {
    let source = sources.iter().find(|&&bits| is_nan16(bits));
    source.map_or(0x7e00, |nan| nan & 0xffff | 0x200)
}

fn nan32(sources: &[u64]) -> u64 {
    let sources: Vec<u32> = sources.iter().map(|&bits| bits as u32).collect();
    super::nan32(f32::NAN, &sources)
}

/// Whether the number next to `exact`, which is `nearest`, must be replaced by the one above or below.
fn step(nearest: f64, exact: f64, round: u32) -> i32 {
    let (above, below) = (nearest > exact, nearest < exact);
    match round {
        UP if below => 1,
        DOWN if above => -1,
        ZERO if above && exact > 0.0 => -1,
        ZERO if below && exact < 0.0 => 1,
        _ => 0,
    }
}

fn round32(exact: f64, round: u32) -> f32 {
    let nearest = exact as f32;
    match step(nearest.into(), exact, round) {
        1 => nearest.next_up(),
        -1 => nearest.next_down(),
        _ => nearest,
    }
}

fn round16(exact: f64, round: u32) -> f16 {
    let nearest = exact as f16;
    match step(nearest.into(), exact, round) {
        1 => nearest.next_up(),
        -1 => nearest.next_down(),
        _ => nearest,
    }
}

/// The sum of two numbers, with the sign of a zero that rounding gives. If it is not exact in f64, its last bit is 1, so
/// that rounding it again rounds the exact sum.
fn sum(x: f64, y: f64, round: u32) -> f64 {
    let sum = x + y;
    if sum == 0.0 && (x != 0.0 || x.is_sign_negative() != y.is_sign_negative()) {
        return if round == DOWN { -0.0 } else { 0.0 };
    }
    let of_y = sum - x;
    let error = (x - (sum - of_y)) + (y - of_y);
    match sum.to_bits() & 1 == 0 {
        true if error > 0.0 => sum.next_up(),
        true if error < 0.0 => sum.next_down(),
        _ => sum,
    }
}

#[test]
fn products_and_sums_of_halves_round_as_mode_says() {
    for round in [NEAREST, UP, DOWN, ZERO] {
        let mode = DEFAULT_MODE | round << 2;
        let result = |exact: f64, sources: &[u64]| match exact.is_nan() {
            true => nan16(sources),
            false => u64::from(round16(exact, round).to_bits()),
        };
        let wide = |bits| f64::from(h(bits));
        check("s_mul_f16 s4, s0, s2", Values::F16, mode, |[a, b, _]| {
            result(wide(a) * wide(b), &[a, b])
        });
        check("s_add_f16 s4, s0, s2", Values::F16, mode, |[a, b, _]| {
            result(sum(wide(a), wide(b), round), &[a, b])
        });
        check("s_sub_f16 s4, s0, s2", Values::F16, mode, |[a, b, _]| {
            result(sum(wide(a), -wide(b), round), &[a, b])
        });
        check("s_fmac_f16 s4, s0, s2", Values::F16, mode, |[a, b, c]| {
            result(sum(wide(a) * wide(b), wide(c), round), &[a, b, c])
        });
        check("s_mul_f16 s4, s0, 0.5", Values::F16, mode, |[a, ..]| {
            result(wide(a) * 0.5, &[a])
        });
    }
}

#[test]
fn products_and_sums_of_singles_round_as_mode_says() {
    for round in [NEAREST, UP, DOWN, ZERO] {
        let mode = DEFAULT_MODE | round;
        check("s_mul_f32 s4, s0, s2", Values::F32, mode, |[a, b, _]| {
            let exact = f64::from(f(a)) * f64::from(f(b));
            match exact.is_nan() {
                true => nan32(&[a, b]),
                false => u64::from(round32(exact, round).to_bits()),
            }
        });
    }
    let nearest = |result: f32, sources: &[u64]| match result.is_nan() {
        true => nan32(sources),
        false => u64::from(result.to_bits()),
    };
    let check = |text, expect: &dyn Fn([u64; 3]) -> u64| {
        check(text, Values::F32, DEFAULT_MODE, expect);
    };
    check("s_add_f32 s4, s0, s2", &|[a, b, _]| {
        nearest(f(a) + f(b), &[a, b])
    });
    check("s_sub_f32 s4, s0, s2", &|[a, b, _]| {
        nearest(f(a) - f(b), &[a, b])
    });
    check("s_fmac_f32 s4, s0, s2", &|[a, b, c]| {
        nearest(f(a).mul_add(f(b), f(c)), &[a, b, c])
    });
    check("s_fmaak_f32 s4, s0, s2, 0x3fc00000", &|[a, b, _]| {
        nearest(f(a).mul_add(f(b), 1.5), &[a, b])
    });
    check("s_fmamk_f32 s4, s0, 0x3fc00000, s2", &|[a, b, _]| {
        nearest(f(a).mul_add(1.5, f(b)), &[a, b])
    });
}

#[test]
fn denormals_are_flushed_as_mode_says() {
    let flush = |x: f32| match x.is_subnormal() {
        true => 0.0_f32.copysign(x),
        false => x,
    };
    let flush16 = |bits: u64| match bits & 0x7c00 {
        0 => bits & 0x8000,
        _ => bits & 0xffff,
    };
    for what in 0..4 {
        let mode = DEFAULT_MODE & !0xf0 | what << 4 | what << 6;
        let source = |bits| match what & 1 {
            0 => flush(f(bits)),
            _ => f(bits),
        };
        let result = |x| match what & 2 {
            0 => flush(x),
            _ => x,
        };
        check("s_mul_f32 s4, s0, s2", Values::F32, mode, |[a, b, _]| {
            let product = result(source(a) * source(b));
            match product.is_nan() {
                true => nan32(&[a, b]),
                false => u64::from(product.to_bits()),
            }
        });
        check_scc("s_cmp_lt_f32 s0, s2", Values::F32, mode, |[a, b, _]| {
            source(a) < source(b)
        });
        let half = |bits| match what & 1 {
            0 => h(flush16(bits)),
            _ => h(bits),
        };
        check_scc("s_cmp_eq_f16 s0, s2", Values::F16, mode, |[a, b, _]| {
            half(a) == half(b)
        });
        check(
            "s_ceil_f16 s4, s0",
            Values::F16,
            mode,
            |[a, ..]| match is_nan16(a) {
                true => nan16(&[a]),
                false => u64::from(half(a).ceil().to_bits()),
            },
        );
    }
}

/// AMD's minimum with IEEE mode, as written in its pseudocode, of numbers with a given quiet bit and NaN test.
fn least(a: u64, b: u64, nan: impl Fn(u64) -> bool, quiet: u64, less: impl Fn() -> bool) -> u64 {
    let signals = |bits| nan(bits) && bits & quiet == 0;
    if signals(a) {
        a | quiet
    } else if signals(b) {
        b | quiet
    } else if nan(b) {
        a
    } else if nan(a) || !less() {
        b
    } else {
        a
    }
}

#[test]
fn minimum_and_maximum() {
    for (text, text16, sign) in [
        ("s_min_f32 s4, s0, s2", "s_min_f16 s4, s0, s2", 1.0),
        ("s_max_f32 s4, s0, s2", "s_max_f16 s4, s0, s2", -1.0),
    ] {
        let less = |x: f64, y: f64| {
            let (x, y) = (sign * x, sign * y);
            x < y || x == 0.0 && y == 0.0 && x.is_sign_negative() && y.is_sign_positive()
        };
        check(text, Values::F32, DEFAULT_MODE, |[a, b, _]| {
            let less = || less(f(a).into(), f(b).into());
            least(a, b, |bits| f(bits).is_nan(), 0x40_0000, less)
        });
        check(text16, Values::F16, DEFAULT_MODE, |[a, b, _]| {
            let less = || less(h(a).into(), h(b).into());
            least(a & 0xffff, b & 0xffff, is_nan16, 0x200, less)
        });
    }
}

#[test]
fn whole_numbers() {
    /// An instruction's name and what it does with a number.
    type Row = (&'static str, fn(f32) -> f32);
    let rows: [Row; 4] = [
        ("ceil", f32::ceil),
        ("floor", f32::floor),
        ("trunc", f32::trunc),
        ("rndne", f32::round_ties_even),
    ];
    for (name, expected) in rows {
        // MODE's rounding does not matter.
        for mode in [DEFAULT_MODE, DEFAULT_MODE | UP | UP << 2] {
            let text = format!("s_{name}_f32 s4, s0");
            check(&text, Values::F32, mode, |[a, ..]| match f(a).is_nan() {
                true => nan32(&[a]),
                false => u64::from(expected(f(a)).to_bits()),
            });
            let text = format!("s_{name}_f16 s4, s0");
            check(&text, Values::F16, mode, |[a, ..]| match is_nan16(a) {
                true => nan16(&[a]),
                false => u64::from((expected(h(a) as f32) as f16).to_bits()),
            });
        }
    }
}

#[test]
fn conversions() {
    for round in [NEAREST, UP, DOWN, ZERO] {
        let mode = DEFAULT_MODE | round | round << 2;
        let single = |exact| u64::from(round32(exact, round).to_bits());
        check("s_cvt_f32_i32 s4, s0", Values::Integer, mode, |[a, ..]| {
            single(f64::from(a as u32 as i32))
        });
        check("s_cvt_f32_u32 s4, s0", Values::Integer, mode, |[a, ..]| {
            single(f64::from(a as u32))
        });
        let narrow = |bits: u64, round| match f(bits).is_nan() {
            true => bits >> 16 & 0x8000 | 0x7e00 | bits >> 13 & 0x3ff,
            false => u64::from(round16(f(bits).into(), round).to_bits()),
        };
        check("s_cvt_f16_f32 s4, s0", Values::F32, mode, |[a, ..]| {
            narrow(a, round)
        });
        let pack = "s_cvt_pk_rtz_f16_f32 s4, s0, s2";
        check(pack, Values::F32, mode, |[a, b, _]| {
            narrow(a, ZERO) | narrow(b, ZERO) << 16
        });
    }
    let widen = |bits: u64| match is_nan16(bits) {
        true => (bits & 0x8000) << 16 | 0x7fc0_0000 | (bits & 0x3ff) << 13,
        false => u64::from((h(bits) as f32).to_bits()),
    };
    let check = |text, values, expect: &dyn Fn([u64; 3]) -> u64| {
        check(text, values, DEFAULT_MODE, expect);
    };
    check("s_cvt_f32_f16 s4, s0", Values::F16, &|[a, ..]| widen(a));
    check("s_cvt_hi_f32_f16 s4, s0", Values::F16, &|[a, ..]| {
        widen(a >> 16)
    });
    check("s_cvt_i32_f32 s4, s0", Values::F32, &|[a, ..]| {
        let x = f64::from(f(a)).trunc();
        let limited = x.clamp(f64::from(i32::MIN), f64::from(i32::MAX));
        u64::from(if x.is_nan() { 0 } else { limited as i32 as u32 })
    });
    check("s_cvt_u32_f32 s4, s0", Values::F32, &|[a, ..]| {
        let x = f64::from(f(a)).trunc();
        let limited = x.clamp(0.0, f64::from(u32::MAX));
        u64::from(if x.is_nan() { 0 } else { limited as u32 })
    });
}

/// Whether one of two numbers is less, which neither is if one is NaN.
fn differ(x: f32, y: f32) -> bool {
    x.partial_cmp(&y).is_some_and(|order| order.is_ne())
}

#[test]
fn compares() {
    /// An instruction's name and whether it is true.
    type Row = (&'static str, fn(f32, f32) -> bool);
    let rows: [Row; 14] = [
        ("lt", |x, y| x < y),
        ("eq", |x, y| x == y),
        ("le", |x, y| x <= y),
        ("gt", |x, y| x > y),
        ("lg", differ),
        ("ge", |x, y| x >= y),
        ("o", |x, y| !x.is_nan() && !y.is_nan()),
        ("u", |x, y| x.is_nan() || y.is_nan()),
        ("nge", |x, y| !(x >= y)),
        ("nlg", |x, y| !differ(x, y)),
        ("ngt", |x, y| !(x > y)),
        ("nle", |x, y| !(x <= y)),
        ("neq", |x, y| x != y),
        ("nlt", |x, y| !(x < y)),
    ];
    for (name, holds) in rows {
        let text = format!("s_cmp_{name}_f32 s0, s2");
        check_scc(&text, Values::F32, DEFAULT_MODE, |[a, b, _]| {
            holds(f(a), f(b))
        });
        let text = format!("s_cmp_{name}_f16 s0, s2");
        check_scc(&text, Values::F16, DEFAULT_MODE, |[a, b, _]| {
            holds(h(a) as f32, h(b) as f32)
        });
    }
}
