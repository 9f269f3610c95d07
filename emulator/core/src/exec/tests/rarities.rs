//! Operations for graphics, for sines of large arguments, and those new in gfx950.

use ferrowave_gpu::Gpu;

use super::{Bench, Check, Random, Values, f, nan32, wave};

#[test]
fn cube_faces() {
    // The axis of the largest coordinate (z before y before x), and whether that is below 0.
    let face = |x: f32, y: f32, z: f32| {
        if z.abs() >= x.abs() && z.abs() >= y.abs() {
            (2, z < 0.0)
        } else if y.abs() >= x.abs() {
            (1, y < 0.0)
        } else {
            (0, x < 0.0)
        }
    };
    let check = |text: &str, expect: fn([f32; 3], (usize, bool)) -> f32| {
        Check::new(text, Values::F32).run(|[a, b, c, _]| {
            let v = [f(a), f(b), f(c)];
            let result = expect(v, face(v[0], v[1], v[2]));
            u64::from(if result.is_nan() {
                result.to_bits() | 0x40_0000
            } else {
                result.to_bits()
            })
        });
    };
    check("v_cubeid_f32 v6, v0, v2, v4", |_, (axis, negative)| {
        (2 * axis) as f32 + f32::from(u8::from(negative))
    });
    check(
        "v_cubesc_f32 v6, v0, v2, v4",
        |[x, _, z], face| match face {
            (2, true) => -x,
            (2, false) | (1, _) => x,
            (_, true) => z,
            (_, false) => -z,
        },
    );
    check(
        "v_cubetc_f32 v6, v0, v2, v4",
        |[_, y, z], face| match face {
            (1, true) => -z,
            (1, false) => z,
            _ => -y,
        },
    );
    check("v_cubema_f32 v6, v0, v2, v4", |v, (axis, _)| v[axis] * 2.0);
}

#[test]
fn legacy_multiply_add() {
    // Two roundings, denormals flushed, and 0 times anything is 0.
    let flush = |x: f32| {
        if x.is_subnormal() {
            0_f32.copysign(x)
        } else {
            x
        }
    };
    Check::new("v_mad_legacy_f32 v6, v0, v2, v4", Values::F32)
        .gpu(Gpu::Gfx90a)
        .run(|[a, b, c, _]| {
            let [x, y, z] = [a, b, c].map(|bits| flush(f(bits)));
            if x == 0.0 || y == 0.0 {
                return nan32(flush(0.0 + z), &[c as u32]);
            }
            let product = flush(x * y);
            nan32(flush(product + z), &[a as u32, b as u32, c as u32])
        });
}

/// IEEE 754's minimum: any NaN wins, a signalling one before a quiet one; −0 is below +0.
fn minimum(a: u32, b: u32) -> u32 {
    let nan = |&x: &u32| x & 0x7fff_ffff > 0x7f80_0000;
    let signalling = |x: &u32| nan(x) && x & 0x40_0000 == 0;
    let found = [a, b].into_iter().find(signalling);
    if let Some(found) = found.or_else(|| [a, b].into_iter().find(nan)) {
        return found | 0x40_0000;
    }
    let key = |x: u32| if x >> 31 == 1 { !x } else { x | 0x8000_0000 };
    if key(a) < key(b) { a } else { b }
}

#[test]
fn strict_extremes() {
    let text = |name: &str| format!("v_{name}3_f32 v6, v0, v2, v4");
    Check::new(&text("minimum"), Values::F32)
        .gpu(Gpu::Gfx950)
        .run(|[a, b, c, _]| minimum(minimum(a as u32, b as u32), c as u32).into());
    let maximum = |a: u32, b: u32| {
        let nan = |x: u32| x & 0x7fff_ffff > 0x7f80_0000;
        if nan(a) || nan(b) {
            return minimum(a, b);
        }
        minimum(a ^ 0x8000_0000, b ^ 0x8000_0000) ^ 0x8000_0000
    };
    Check::new(&text("maximum"), Values::F32)
        .gpu(Gpu::Gfx950)
        .run(|[a, b, c, _]| maximum(maximum(a as u32, b as u32), c as u32).into());
    // Packed halves compare as f32, whose order and NaN rules are the same; the high halves here are zeros.
    let wide = |h: u64| (f16::from_bits(h as u16) as f32).to_bits();
    for (name, three) in [
        ("minimum", minimum as fn(u32, u32) -> u32),
        ("maximum", maximum as fn(u32, u32) -> u32),
    ] {
        Check::new(&format!("v_pk_{name}3_f16 v6, v0, v2, v4"), Values::F16)
            .gpu(Gpu::Gfx950)
            .run(|[a, b, c, _]| {
                let sources = [a, b, c].map(|x| x & 0xffff);
                let quiet = |x: u64| x & 0x7fff > 0x7c00;
                if sources.into_iter().any(quiet) {
                    // The NaN is chosen by the rule for pairs.
                    let pick = |x: u64, y: u64| {
                        let signalling = |x: u64| quiet(x) && x & 0x200 == 0;
                        let nan = [x, y].into_iter().find(|&x| signalling(x));
                        nan.or_else(|| [x, y].into_iter().find(|&x| quiet(x)))
                            .map(|x| x | 0x200)
                    };
                    let first = pick(sources[0], sources[1]);
                    return pick(first.unwrap_or(0), sources[2]).unwrap_or(0);
                }
                let [x, y, z] = sources.map(wide);
                u64::from((f32::from_bits(three(three(x, y), z)) as f16).to_bits())
            });
    }
}

#[test]
fn segments_of_two_over_pi() {
    // Small exponents skip no bits of 2/π; larger ones skip the bits that give whole turns.
    Check::new("v_trig_preop_f64 v[6:7], v[0:1], 0", Values::F64)
        .wide()
        .run(|[a, ..]| {
            let exponent = a >> 52 & 0x7ff;
            if exponent <= 1077 {
                // The first 53 bits of 2/π, truncated.
                return (0x14_5f30_6dc9_c882_u64 as f64 * 2_f64.powi(-53)).to_bits();
            }
            reference_segment(a, 0)
        });
    Check::new("v_trig_preop_f64 v[6:7], v[0:1], v2", Values::F64)
        .wide()
        .run(|[a, b, ..]| reference_segment(a, b & 31));
}

/// The segment by long division: 2/π = 4 · (1/2π). Its digits are computed here with Machin's formula in integers.
fn reference_segment(x: u64, number: u64) -> u64 {
    const WORDS: usize = 48;
    // Fixed point, words from high to low; the first word is the integer part.
    type Big = [u32; WORDS];
    fn divide(n: &Big, by: u64) -> Big {
        let mut rest = 0_u64;
        std::array::from_fn(|i| {
            let value = rest << 32 | u64::from(n[i]);
            rest = value % by;
            (value / by) as u32
        })
    }
    fn add(a: &Big, b: &Big, subtract: bool) -> Big {
        let mut result = [0; WORDS];
        let mut carry = i64::from(false);
        for i in (0..WORDS).rev() {
            let term = if subtract {
                -i64::from(b[i])
            } else {
                i64::from(b[i])
            };
            let value = i64::from(a[i]) + term + carry;
            result[i] = value as u32;
            carry = value >> 32;
        }
        result
    }
    fn arctangent_of_inverse(n: u64, times: u32) -> Big {
        let mut power = [0; WORDS];
        power[0] = times;
        power = divide(&power, n);
        let mut sum = power;
        for k in 1..1200_u64 {
            power = divide(&power, n * n);
            sum = add(&sum, &divide(&power, 2 * k + 1), k % 2 == 1);
        }
        sum
    }
    static DIGITS: std::sync::OnceLock<Vec<bool>> = std::sync::OnceLock::new();
    let digits = DIGITS.get_or_init(|| {
        // π/2 = 8 arctan(1/5) − 2 arctan(1/239). The fraction of 2/π bit by bit: double the remainder, subtract π/2
        // where it fits.
        let half_pi = add(
            &arctangent_of_inverse(5, 8),
            &arctangent_of_inverse(239, 2),
            true,
        );
        let mut rest = [0; WORDS];
        rest[0] = 1;
        (0..1280)
            .map(|_| {
                rest = add(&rest, &rest, false);
                let fits = rest >= half_pi;
                if fits {
                    rest = add(&rest, &half_pi, true);
                }
                fits
            })
            .collect()
    });
    let exponent = x >> 52 & 0x7ff;
    let shift = number * 53 + exponent.saturating_sub(1077);
    // The instruction knows 1201 bits; zeros follow.
    let bits = (shift..shift + 53).fold(0_u64, |bits, index| {
        let bit = index < 1201 && digits[index as usize];
        bits << 1 | u64::from(bit)
    });
    let scale = -53 - shift as i32 + if exponent >= 1968 { 128 } else { 0 };
    // Two steps, because one power of two can be too small for f64.
    (bits as f64 * 2_f64.powi(scale / 2) * 2_f64.powi(scale - scale / 2)).to_bits()
}

#[test]
fn truth_tables() {
    let check = |text| Check::new(text, Values::Integer).gpu(Gpu::Gfx950);
    let table = |table: u64, [a, b, c]: [u64; 3]| {
        (0..32).fold(0, |result, bit| {
            let row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
            result | (table >> row & 1) << bit
        })
    };
    check("v_bitop3_b32 v6, v0, v2, v4 bitop3:0x96").run(|[a, b, c, _]| a ^ b ^ c);
    check("v_bitop3_b32 v6, v0, v2, v4 bitop3:0x2e").run(|[a, b, c, _]| table(0x2e, [a, b, c]));
    check("v_bitop3_b16 v6, v0, v2, v4 bitop3:0xca op_sel:[1,0,1,1]").run(|[a, b, c, old]| {
        let result = table(0xca, [a >> 16, b, c >> 16]) & 0xffff;
        result << 16 | old & 0xffff
    });
    check("v_bitop3_b16 v6, v0, v2, v4 bitop3:0x17")
        .run(|[a, b, c, old]| table(0x17, [a, b, c]) & 0xffff | old & 0xffff_0000);
}

#[test]
fn shifted_bytes() {
    let check = |text| Check::new(text, Values::Integer).gpu(Gpu::Gfx950);
    let shifted = |x: u64, by: u64| x as u32 as i32 >> (by & 31);
    check("v_ashr_pk_i8_i32 v6, v0, v2, v4").run(|[a, b, c, old]| {
        let byte = |x| u64::from(shifted(x, c).clamp(-128, 127) as u8);
        byte(a) | byte(b) << 8 | old & 0xffff_0000
    });
    check("v_ashr_pk_u8_i32 v6, v0, v2, v4 op_sel:[0,0,0,1]").run(|[a, b, c, old]| {
        let byte = |x| u64::from(shifted(x, c).clamp(0, 255) as u8);
        (byte(a) | byte(b) << 8) << 16 | old & 0xffff
    });
}

/// Swaps rows (or halves) of two registers; `fi` and `bound_ctrl` decide about inactive lanes.
#[test]
fn swaps() {
    for (distance, name) in [(16, "v_permlane16_swap_b32"), (32, "v_permlane32_swap_b32")] {
        for (modifiers, fetch, zero) in [
            ("", false, false),
            (" fi:1", true, false),
            (" bound_ctrl:1", false, true),
        ] {
            let text = format!("{name}_e64 v1, v2{modifiers}");
            let bench = Bench::new(Gpu::Gfx950, &[&text]);
            for level in bench.levels() {
                let mut random = Random(level as u64);
                for round in 0..8 {
                    let mut wave = wave();
                    wave.exec = if round == 0 { !0 } else { random.next() };
                    for register in 1..3 {
                        for value in wave.lanes_mut(register).as_mut_array() {
                            *value = random.next() as u32;
                        }
                    }
                    let (d, s) = (*wave.lanes(1).as_array(), *wave.lanes(2).as_array());
                    bench.step(level, 0, &mut wave);
                    for lane in 0..64 {
                        let upper = lane & distance != 0;
                        let partner = lane ^ distance;
                        // Upper lanes of the destination swap with lower lanes of the source.
                        let (value, own) = if upper {
                            (s[partner], d[lane])
                        } else {
                            (d[partner], s[lane])
                        };
                        let active = |lane: usize| wave.exec >> lane & 1 == 1;
                        let taken = match (active(lane), active(partner)) {
                            (false, _) => own,
                            (true, true) => value,
                            (true, false) if fetch => value,
                            (true, false) if zero => 0,
                            (true, false) => own,
                        };
                        let (new, other) = if upper { (1, 2) } else { (2, 1) };
                        assert_eq!(
                            wave.lanes(new).as_array()[lane],
                            taken,
                            "{text}, lane {lane}"
                        );
                        let kept = if upper { s[lane] } else { d[lane] };
                        assert_eq!(
                            wave.lanes(other).as_array()[lane],
                            kept,
                            "{text}, lane {lane}"
                        );
                    }
                }
            }
        }
    }
}
