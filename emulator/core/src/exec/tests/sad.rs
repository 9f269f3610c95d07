//! Sums of absolute differences, means of bytes, and the integer clamp.

use ferrowave_gpu::Gpu;

use super::{Bench, Check, Random, Values, wave};

fn byte(x: u64, index: u32) -> u64 {
    x >> (8 * index) & 0xff
}

/// The sum of differences of four bytes; `masked` excludes those whose second byte is 0.
fn sum(x: u64, y: u64, masked: bool) -> u64 {
    (0..4)
        .filter(|&i| !masked || byte(y, i) != 0)
        .map(|i| byte(x, i).abs_diff(byte(y, i)))
        .sum()
}

const LOW: u64 = 0xffff_ffff;

#[test]
fn of_one_register() {
    let check = |text| Check::new(text, Values::Integer);
    check("v_sad_u8 v6, v0, v2, v4").run(|[a, b, c, _]| sum(a, b, false) + (c & LOW));
    check("v_sad_u8 v6, v0, v2, v4 clamp")
        .run(|[a, b, c, _]| (sum(a, b, false) + (c & LOW)).min(LOW));
    check("v_sad_hi_u8 v6, v0, v2, v4").run(|[a, b, c, _]| (sum(a, b, false) << 16) + (c & LOW));
    check("v_sad_hi_u8 v6, v0, v2, v4 clamp")
        .run(|[a, b, c, _]| ((sum(a, b, false) << 16) + (c & LOW)).min(LOW));
    check("v_sad_u16 v6, v0, v2, v4").run(|[a, b, c, _]| {
        (a & 0xffff).abs_diff(b & 0xffff)
            + (a >> 16 & 0xffff).abs_diff(b >> 16 & 0xffff)
            + (c & LOW)
    });
    check("v_sad_u32 v6, v0, v2, v4 clamp")
        .run(|[a, b, c, _]| ((a & LOW).abs_diff(b & LOW) + (c & LOW)).min(LOW));
    check("v_msad_u8 v6, v0, v2, v4").run(|[a, b, c, _]| sum(a, b, true) + (c & LOW));
    check("v_lerp_u8 v6, v0, v2, v4").run(|[a, b, c, _]| {
        (0..4).fold(0, |result, i| {
            result | (byte(a, i) + byte(b, i) + (byte(c, i) & 1)) / 2 << (8 * i)
        })
    });
}

#[test]
fn of_windows() {
    for (name, masked) in [("v_qsad_pk_u16_u8", false), ("v_mqsad_pk_u16_u8", true)] {
        for (clamp, limit) in [("", None), (" clamp", Some(0xffff))] {
            let text = format!("{name} v[6:7], v[0:1], v2, v[4:5]{clamp}");
            Check::new(&text, Values::Integer)
                .wide()
                .run(|[a, b, c, _]| {
                    (0..4).fold(0, |result, i| {
                        let total = sum(a >> (8 * i), b, masked) + (c >> (16 * i) & 0xffff);
                        let total = limit.map_or(total & 0xffff, |limit| total.min(limit));
                        result | total << (16 * i)
                    })
                });
        }
    }
    let bench = Bench::new(
        Gpu::Gfx90a,
        &["v_mqsad_u32_u8 v[12:15], v[0:1], v2, v[4:7] clamp"],
    );
    for level in bench.levels() {
        let mut random = Random(3);
        let mut wave = wave();
        wave.exec = 0xffff_0000_ffff_00ff;
        for register in 0..16 {
            for value in wave.lanes_mut(register).as_mut_array() {
                *value = random.next() as u32 & random.next() as u32
                    | 0xf000_0000 * u32::from(register == 5);
            }
        }
        let before: Vec<[u32; 64]> = (0..16).map(|r| *wave.lanes(r).as_array()).collect();
        bench.step(level, 0, &mut wave);
        for lane in 0..64 {
            let x = u64::from(before[0][lane]) | u64::from(before[1][lane]) << 32;
            for window in 0..4 {
                let sum = sum(x >> (8 * window), before[2][lane].into(), true);
                let total = (sum + u64::from(before[4 + window][lane])).min(LOW) as u32;
                let active = wave.exec >> lane & 1 == 1;
                let expected = if active {
                    total
                } else {
                    before[12 + window][lane]
                };
                let result = wave.lanes(12 + window as u16).as_array()[lane];
                assert_eq!(
                    result, expected,
                    "level {level}, lane {lane}, window {window}"
                );
            }
        }
    }
}

#[test]
fn clamped_integers() {
    let check = |text| Check::new(text, Values::Integer);
    let i24 = |x: u64| i64::from((x as u32) << 8) as i32 as i64 >> 8;
    let i16 = |x: u64| i64::from(x as i16);
    let i32 = |x: u64| i64::from(x as i32);
    let u24 = |x: u64| x & 0xff_ffff;
    let signed = |x: i64| x.clamp(i32::MIN.into(), i32::MAX.into()) as u64;
    check("v_mul_i32_i24_e64 v6, v0, v2 clamp").run(|[a, b, ..]| signed(i24(a) * i24(b)));
    check("v_mul_u32_u24_e64 v6, v0, v2 clamp").run(|[a, b, ..]| (u24(a) * u24(b)).min(LOW));
    check("v_mad_i32_i24 v6, v0, v2, v4 clamp")
        .run(|[a, b, c, _]| signed(i24(a) * i24(b) + i32(c)));
    check("v_mad_u32_u24 v6, v0, v2, v4 clamp")
        .run(|[a, b, c, _]| (u24(a) * u24(b) + (c & LOW)).min(LOW));
    check("v_mad_i32_i16 v6, v0, v2, v4 clamp")
        .run(|[a, b, c, _]| signed(i16(a) * i16(b) + i32(c)));
    check("v_mad_u32_u16 v6, v0, v2, v4 clamp")
        .run(|[a, b, c, _]| ((a & 0xffff) * (b & 0xffff) + (c & LOW)).min(LOW));
    check("v_mad_u64_u32 v[6:7], s[10:11], v0, v2, v[4:5] clamp")
        .wide()
        .run(|[a, b, c, _]| ((a & LOW) * (b & LOW)).saturating_add(c));
    check("v_mad_i64_i32 v[6:7], s[10:11], v0, v2, v[4:5] clamp")
        .wide()
        .run(|[a, b, c, _]| (i32(a) * i32(b)).saturating_add(c as i64) as u64);
}
