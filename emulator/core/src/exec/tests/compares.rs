//! Vector compares.

use ferrowave_gpu::Gpu;

use super::{Bench, Random, Values, d, f, wave};

/// Runs a compare to VCC on many values; `expect` gets a lane's two sources.
fn check(text: &str, values: Values, expect: impl Fn(u64, u64) -> bool) {
    let bench = Bench::new(Gpu::Gfx90a, &[text]);
    let writes_exec = text.starts_with("v_cmpx");
    for level in bench.levels() {
        let mut random = Random(level as u64);
        for round in 0..16 {
            let mut wave = wave();
            let exec = if round % 2 == 0 { !0 } else { random.next() };
            wave.exec = exec;
            wave.set_scalar_pair(106, random.next());
            for lane in 0..64 {
                let a = values.draw(&mut random);
                // Some sources are equal.
                let b = if lane % 5 == 0 {
                    a
                } else {
                    values.draw(&mut random)
                };
                for (register, value) in [(0, a), (2, b)] {
                    wave.lanes_mut(register).as_mut_array()[lane] = value as u32;
                    wave.lanes_mut(register + 1).as_mut_array()[lane] = (value >> 32) as u32;
                }
            }
            bench.step(level, 0, &mut wave);
            let mask = wave.scalar_pair(106);
            for lane in 0..64 {
                let read = |register: u16| {
                    let [low, high] = [0, 1].map(|i| wave.lanes(register + i).as_array()[lane]);
                    u64::from(low) | u64::from(high) << 32
                };
                let (a, b) = (read(0), read(2));
                let expected = exec >> lane & 1 == 1 && expect(a, b);
                assert_eq!(mask >> lane & 1 == 1, expected, "{text}: {a:#x} {b:#x}");
            }
            assert_eq!(wave.exec, if writes_exec { mask } else { exec }, "{text}");
        }
    }
}

macro_rules! relations {
    ($ty:literal, $values:expr, $registers:expr, |$a:ident, $b:ident| $($relation:literal => $body:expr;)*) => {
        $(check(
            &format!("v_cmp_{}_{} vcc, {}", $relation, $ty, $registers),
            $values,
            |$a, $b| $body,
        );)*
    };
}

#[test]
fn integers() {
    relations!("i32_e32", Values::Integer, "v0, v2", |a, b|
        "lt" => (a as u32 as i32) < b as u32 as i32;
        "eq" => a as u32 == b as u32;
        "le" => a as u32 as i32 <= b as u32 as i32;
        "gt" => a as u32 as i32 > b as u32 as i32;
        "ne" => a as u32 != b as u32;
        "ge" => a as u32 as i32 >= b as u32 as i32;
    );
    relations!("u32_e32", Values::Integer, "v0, v2", |a, b|
        "lt" => (a as u32) < b as u32;
        "eq" => a as u32 == b as u32;
        "le" => a as u32 <= b as u32;
        "gt" => a as u32 > b as u32;
        "ne" => a as u32 != b as u32;
        "ge" => a as u32 >= b as u32;
        "f" => { let _ = (a, b); false };
        "t" => { let _ = (a, b); true };
    );
    relations!("u64_e32", Values::Integer, "v[0:1], v[2:3]", |a, b|
        "lt" => a < b;
        "gt" => a > b;
        "eq" => a == b;
    );
    relations!("i64_e32", Values::Integer, "v[0:1], v[2:3]", |a, b|
        "lt" => (a as i64) < b as i64;
        "ge" => a as i64 >= b as i64;
    );
    relations!("i16_e32", Values::Integer, "v0, v2", |a, b| "gt" => a as i16 > b as i16;);
    relations!("u16_e32", Values::Integer, "v0, v2", |a, b| "le" => a as u16 <= b as u16;);
}

#[test]
fn floats() {
    relations!("f32_e32", Values::F32, "v0, v2", |a, b|
        "lt" => f(a) < f(b);
        "eq" => f(a) == f(b);
        "le" => f(a) <= f(b);
        "gt" => f(a) > f(b);
        "lg" => f(a) < f(b) || f(a) > f(b);
        "ge" => f(a) >= f(b);
        "o" => !f(a).is_nan() && !f(b).is_nan();
        "u" => f(a).is_nan() || f(b).is_nan();
        "nge" => !(f(a) >= f(b));
        "nlg" => !(f(a) < f(b) || f(a) > f(b));
        "ngt" => !(f(a) > f(b));
        "nle" => !(f(a) <= f(b));
        "neq" => f(a) != f(b);
        "nlt" => !(f(a) < f(b));
        "tru" => { let _ = (a, b); true };
    );
    relations!("f64_e32", Values::F64, "v[0:1], v[2:3]", |a, b|
        "lt" => d(a) < d(b);
        "neq" => d(a) != d(b);
        "nge" => !(d(a) >= d(b));
    );
    let h = |x: u64| f16::from_bits(x as u16);
    relations!("f16_e32", Values::F16, "v0, v2", |a, b|
        "lt" => h(a) < h(b);
        "u" => h(a).is_nan() || h(b).is_nan();
    );
    check("v_cmp_gt_f32_e64 vcc, |v0|, -v2", Values::F32, |a, b| {
        f(a).abs() > -f(b)
    });
}

#[test]
fn classes() {
    let class = |bits: u64| {
        let x = f(bits);
        let negative = bits >> 31 & 1 == 1;
        let bit = match x.classify() {
            std::num::FpCategory::Nan => u32::from(bits & 0x40_0000 != 0),
            std::num::FpCategory::Infinite => {
                if negative {
                    2
                } else {
                    9
                }
            }
            std::num::FpCategory::Normal => {
                if negative {
                    3
                } else {
                    8
                }
            }
            std::num::FpCategory::Subnormal => {
                if negative {
                    4
                } else {
                    7
                }
            }
            std::num::FpCategory::Zero => {
                if negative {
                    5
                } else {
                    6
                }
            }
        };
        1_u64 << bit
    };
    check("v_cmp_class_f32_e32 vcc, v0, v2", Values::F32, |a, b| {
        class(a) & b != 0
    });
}

#[test]
fn compares_that_write_exec() {
    check("v_cmpx_lt_u32_e32 vcc, v0, v2", Values::Integer, |a, b| {
        (a as u32) < b as u32
    });
    check("v_cmpx_ge_f32_e32 vcc, v0, v2", Values::F32, |a, b| {
        f(a) >= f(b)
    });
}
