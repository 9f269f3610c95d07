//! Integer and bit operations of the vector unit.

use ferrowave_gpu::Gpu;

use super::{Bench, Check, Random, Values, wave};

/// Checks a table of instructions, each with a function of 32-bit sources.
macro_rules! checks {
    ($($text:literal => |$a:ident, $b:ident, $c:ident| $body:expr;)*) => {
        $(Check::new($text, Values::Integer).run(|[a, b, c, _]| {
            let ($a, $b, $c) = (a as u32, b as u32, c as u32);
            let result: u32 = $body;
            u64::from(result)
        });)*
    };
}

#[test]
fn sums_and_products() {
    checks! {
        "v_add_u32_e32 v6, v0, v2" => |a, b, _c| a.wrapping_add(b);
        "v_sub_u32_e32 v6, v0, v2" => |a, b, _c| a.wrapping_sub(b);
        "v_subrev_u32_e32 v6, v0, v2" => |a, b, _c| b.wrapping_sub(a);
        "v_add_u32_e64 v6, v0, v2 clamp" => |a, b, _c| a.saturating_add(b);
        "v_sub_u32_e64 v6, v0, v2 clamp" => |a, b, _c| a.saturating_sub(b);
        "v_add_i32 v6, v0, v2 clamp" => |a, b, _c| (a as i32).saturating_add(b as i32) as u32;
        "v_sub_i32 v6, v0, v2" => |a, b, _c| a.wrapping_sub(b);
        "v_add_u32_e32 v6, 17, v2" => |_a, b, _c| b.wrapping_add(17);
        "v_add_u32_e32 v6, 0x12345678, v2" => |_a, b, _c| b.wrapping_add(0x1234_5678);
        "v_add_u32_e64 v6, v0, -3" => |a, _b, _c| a.wrapping_sub(3);
        "v_add3_u32 v6, v0, v2, v4" => |a, b, c| a.wrapping_add(b).wrapping_add(c);
        "v_lshl_add_u32 v6, v0, v2, v4" => |a, b, c| (a << (b & 31)).wrapping_add(c);
        "v_add_lshl_u32 v6, v0, v2, v4" => |a, b, c| a.wrapping_add(b) << (c & 31);
        "v_xad_u32 v6, v0, v2, v4" => |a, b, c| (a ^ b).wrapping_add(c);
        "v_mul_lo_u32 v6, v0, v2" => |a, b, _c| a.wrapping_mul(b);
        "v_mul_hi_u32 v6, v0, v2" => |a, b, _c| (u64::from(a) * u64::from(b) >> 32) as u32;
        "v_mul_hi_i32 v6, v0, v2" => |a, b, _c| (i64::from(a as i32) * i64::from(b as i32) >> 32) as u32;
        "v_mul_u32_u24_e32 v6, v0, v2" => |a, b, _c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff);
        "v_mul_hi_u32_u24_e32 v6, v0, v2" =>
            |a, b, _c| (u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff) >> 32) as u32;
        "v_mul_i32_i24_e32 v6, v0, v2" => |a, b, _c| signed24(a).wrapping_mul(signed24(b)) as u32;
        "v_mul_hi_i32_i24_e32 v6, v0, v2" =>
            |a, b, _c| (i64::from(signed24(a)) * i64::from(signed24(b)) >> 32) as u32;
        "v_mad_u32_u24 v6, v0, v2, v4" =>
            |a, b, c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c);
        "v_mad_i32_i24 v6, v0, v2, v4" =>
            |a, b, c| (signed24(a).wrapping_mul(signed24(b)) as u32).wrapping_add(c);
        "v_mad_u32_u16 v6, v0, v2, v4" => |a, b, c| (a & 0xffff).wrapping_mul(b & 0xffff).wrapping_add(c);
        "v_mad_i32_i16 v6, v0, v2, v4" =>
            |a, b, c| (i32::from(a as i16) * i32::from(b as i16)).wrapping_add(c as i32) as u32;
    }
}

fn signed24(x: u32) -> i32 {
    (x << 8) as i32 >> 8
}

#[test]
fn extremes() {
    checks! {
        "v_min_i32_e32 v6, v0, v2" => |a, b, _c| (a as i32).min(b as i32) as u32;
        "v_max_i32_e32 v6, v0, v2" => |a, b, _c| (a as i32).max(b as i32) as u32;
        "v_min_u32_e32 v6, v0, v2" => |a, b, _c| a.min(b);
        "v_max_u32_e32 v6, v0, v2" => |a, b, _c| a.max(b);
        "v_min3_i32 v6, v0, v2, v4" => |a, b, c| (a as i32).min(b as i32).min(c as i32) as u32;
        "v_max3_i32 v6, v0, v2, v4" => |a, b, c| (a as i32).max(b as i32).max(c as i32) as u32;
        "v_min3_u32 v6, v0, v2, v4" => |a, b, c| a.min(b).min(c);
        "v_max3_u32 v6, v0, v2, v4" => |a, b, c| a.max(b).max(c);
        "v_med3_u32 v6, v0, v2, v4" => |a, b, c| middle([a, b, c]);
        "v_med3_i32 v6, v0, v2, v4" => |a, b, c| middle([a as i32, b as i32, c as i32]) as u32;
        "v_sad_u8 v6, v0, v2, v4" => |a, b, c| {
            let bytes = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            bytes.fold(c, |sum, (x, y)| sum.wrapping_add(u32::from(x.abs_diff(y))))
        };
        "v_sad_u16 v6, v0, v2, v4" => |a, b, c| c
            .wrapping_add((a & 0xffff).abs_diff(b & 0xffff))
            .wrapping_add((a >> 16).abs_diff(b >> 16));
        "v_sad_u32 v6, v0, v2, v4" => |a, b, c| a.abs_diff(b).wrapping_add(c);
    }
}

fn middle<T: Ord + Copy>(mut values: [T; 3]) -> T {
    values.sort();
    values[1]
}

#[test]
fn bits() {
    checks! {
        "v_mov_b32_e32 v6, v0" => |a, _b, _c| a;
        "v_not_b32_e32 v6, v0" => |a, _b, _c| !a;
        "v_bfrev_b32_e32 v6, v0" => |a, _b, _c| (0..32).fold(0, |r, i| r | (a >> i & 1) << (31 - i));
        "v_ffbh_u32_e32 v6, v0" =>
            |a, _b, _c| (0..32).find(|i| a >> (31 - i) & 1 == 1).unwrap_or(u32::MAX);
        "v_ffbl_b32_e32 v6, v0" => |a, _b, _c| (0..32).find(|i| a >> i & 1 == 1).unwrap_or(u32::MAX);
        "v_ffbh_i32_e32 v6, v0" =>
            |a, _b, _c| (1..32).find(|i| a >> (31 - i) & 1 != a >> 31).unwrap_or(u32::MAX);
        "v_and_b32_e32 v6, v0, v2" => |a, b, _c| a & b;
        "v_or_b32_e32 v6, v0, v2" => |a, b, _c| a | b;
        "v_xor_b32_e32 v6, v0, v2" => |a, b, _c| a ^ b;
        "v_xnor_b32_e32 v6, v0, v2" => |a, b, _c| !(a ^ b);
        "v_lshlrev_b32_e32 v6, v0, v2" => |a, b, _c| b << (a & 31);
        "v_lshrrev_b32_e32 v6, v0, v2" => |a, b, _c| b >> (a & 31);
        "v_ashrrev_i32_e32 v6, v0, v2" => |a, b, _c| (b as i32 >> (a & 31)) as u32;
        "v_bfm_b32 v6, v0, v2" => |a, b, _c| ((1_u32 << (a & 31)) - 1) << (b & 31);
        "v_bcnt_u32_b32 v6, v0, v2" => |a, b, _c| (0..32).map(|i| a >> i & 1).sum::<u32>().wrapping_add(b);
        "v_bfe_u32 v6, v0, v2, v4" => |a, b, c| a >> (b & 31) & ((1_u64 << (c & 31)) - 1) as u32;
        "v_bfe_i32 v6, v0, v2, v4" => |a, b, c| {
            let width = c & 31;
            let field = a >> (b & 31) & ((1_u64 << width) - 1) as u32;
            if width == 0 { 0 } else { ((field << (32 - width)) as i32 >> (32 - width)) as u32 }
        };
        "v_bfi_b32 v6, v0, v2, v4" => |a, b, c| a & b | !a & c;
        "v_alignbit_b32 v6, v0, v2, v4" =>
            |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32;
        "v_alignbyte_b32 v6, v0, v2, v4" =>
            |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32;
        "v_lshl_or_b32 v6, v0, v2, v4" => |a, b, c| a << (b & 31) | c;
        "v_and_or_b32 v6, v0, v2, v4" => |a, b, c| a & b | c;
        "v_or3_b32 v6, v0, v2, v4" => |a, b, c| a | b | c;
        "v_perm_b32 v6, v0, v2, v4" => |a, b, c| {
            let data = u64::from(a) << 32 | u64::from(b);
            c.to_le_bytes().iter().rev().fold(0, |word, &select| {
                let byte = |i: u8| (data >> (8 * i)) as u8;
                let sign = |i: u8| if byte(i) & 0x80 != 0 { 0xff } else { 0 };
                let picked = match select {
                    0..=7 => byte(select),
                    8 => sign(1),
                    9 => sign(3),
                    10 => sign(5),
                    11 => sign(7),
                    12 => 0,
                    _ => 0xff,
                };
                word << 8 | u32::from(picked)
            })
        };
        "v_sat_pk_u8_i16_e32 v6, v0" => |a, _b, _c| {
            let byte = |x: u32| i32::from(x as i16).clamp(0, 255) as u32;
            byte(a) | byte(a >> 16) << 8
        };
        "v_cvt_pk_u16_u32 v6, v0, v2" => |a, b, _c| a.min(0xffff) | b.min(0xffff) << 16;
        "v_cvt_pk_i16_i32 v6, v0, v2" => |a, b, _c| {
            let half = |x: u32| (x as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff;
            half(a) | half(b) << 16
        };
    }
}

#[test]
fn sixty_four_bits() {
    let check = |text| Check::new(text, Values::Integer).wide();
    check("v_lshlrev_b64 v[6:7], v0, v[2:3]").run(|[a, b, ..]| b << (a & 63));
    check("v_lshrrev_b64 v[6:7], v0, v[2:3]").run(|[a, b, ..]| b >> (a & 63));
    check("v_ashrrev_i64 v[6:7], v0, v[2:3]").run(|[a, b, ..]| (b as i64 >> (a & 63)) as u64);
    check("v_mov_b64_e32 v[6:7], v[0:1]").run(|[a, ..]| a);
    check("v_lshl_add_u64 v[6:7], v[0:1], 3, v[4:5]").run(|[a, _, c, _]| (a << 3).wrapping_add(c));
    check("v_mad_u64_u32 v[6:7], s[0:1], v0, v2, v[4:5]").run(|[a, b, c, _]| {
        (a & 0xffff_ffff)
            .wrapping_mul(b & 0xffff_ffff)
            .wrapping_add(c)
    });
    check("v_mad_i64_i32 v[6:7], s[0:1], v0, v2, v[4:5]").run(|[a, b, c, _]| {
        (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
    });
    check("v_pk_mov_b32 v[6:7], v[0:1], v[2:3] op_sel:[1,0]").run(|[a, b, ..]| a >> 32 | b << 32);
}

/// Carries: the sum, and the mask of lanes that carried.
#[test]
fn carries() {
    let lines = [
        "v_add_co_u32_e32 v6, vcc, v0, v2",
        "v_sub_co_u32_e32 v6, vcc, v0, v2",
        "v_subrev_co_u32_e32 v6, vcc, v0, v2",
        "v_addc_co_u32_e32 v6, vcc, v0, v2, vcc",
        "v_subb_co_u32_e32 v6, vcc, v0, v2, vcc",
        "v_subbrev_co_u32_e32 v6, vcc, v0, v2, vcc",
        "v_addc_co_u32_e64 v6, vcc, v0, v2, s[4:5]",
        "v_add_co_u32_e64 v6, vcc, v0, v2 clamp",
        "v_sub_co_u32_e64 v6, vcc, v0, v2 clamp",
    ];
    let bench = Bench::new(Gpu::Gfx90a, &lines);
    let wide = |a: u32, b: u32, carry: bool, index: usize| -> (u32, bool) {
        let (a, b, carry) = (i64::from(a), i64::from(b), i64::from(carry));
        let exact = match index {
            0 | 7 => a + b,
            1 | 8 => a - b,
            2 => b - a,
            3 | 6 => a + b + carry,
            4 => a - b - carry,
            _ => b - a - carry,
        };
        let out = !(0..=i64::from(u32::MAX)).contains(&exact);
        let value = match index {
            7 if out => u32::MAX,
            8 if out => 0,
            _ => exact as u32,
        };
        (value, out)
    };
    for level in bench.levels() {
        let mut random = Random(7);
        for index in 0..lines.len() {
            for round in 0..12 {
                let mut wave = wave();
                wave.exec = if round % 2 == 0 { !0 } else { random.next() };
                let vcc = random.next();
                wave.set_scalar_pair(106, vcc);
                let other = random.next();
                wave.set_scalar_pair(4, other);
                let carry_in = if index == 6 { other } else { vcc };
                for lane in 0..64 {
                    for register in [0, 2] {
                        let value = Values::Integer.draw(&mut random) as u32;
                        wave.lanes_mut(register).as_mut_array()[lane] = value;
                    }
                }
                bench.step(level, index, &mut wave);
                for lane in 0..64 {
                    let [a, b] = [0, 2].map(|register| wave.lanes(register).as_array()[lane]);
                    let (value, out) = wide(a, b, carry_in >> lane & 1 == 1, index);
                    let active = wave.exec >> lane & 1 == 1;
                    let result = wave.lanes(6).as_array()[lane];
                    let line = lines[index];
                    assert_eq!(
                        result == value,
                        active,
                        "{line}: {a:#x} {b:#x}: {result:#x} {value:#x}"
                    );
                    assert_eq!(
                        wave.scalar_pair(106) >> lane & 1 == 1,
                        out && active,
                        "{line}"
                    );
                }
            }
        }
    }
}

/// The carry out of a 64-bit multiply-add.
#[test]
fn wide_multiply_carries() {
    let lines = [
        "v_mad_u64_u32 v[6:7], s[0:1], v0, v2, v[4:5]",
        "v_mad_i64_i32 v[6:7], s[0:1], v0, v2, v[4:5]",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    for level in bench.levels() {
        let mut random = Random(3);
        for (index, line) in lines.iter().enumerate() {
            let mut wave = wave();
            for lane in 0..64 {
                for register in [0, 2, 4, 5] {
                    let value = Values::Integer.draw(&mut random) as u32;
                    wave.lanes_mut(register).as_mut_array()[lane] = value;
                }
            }
            bench.step(level, index, &mut wave);
            for lane in 0..64 {
                let [a, b, low, high] = [0, 2, 4, 5].map(|r| wave.lanes(r).as_array()[lane]);
                let addend = u64::from(high) << 32 | u64::from(low);
                let bit = if index == 0 {
                    let sum = u128::from(a) * u128::from(b) + u128::from(addend);
                    sum >> 64 & 1
                } else {
                    let product = i128::from(a as i32) * i128::from(b as i32);
                    ((product + i128::from(addend as i64)) >> 64 & 1) as u128
                };
                assert_eq!(
                    u128::from(wave.scalar_pair(0) >> lane & 1),
                    bit,
                    "{line}, lane {lane}"
                );
            }
        }
    }
}

#[test]
fn lanes_to_scalars_and_back() {
    let lines = [
        "v_readfirstlane_b32 s4, v0",
        "v_readlane_b32 s4, v0, s2",
        "v_readlane_b32 s4, v0, 63",
        "v_writelane_b32 v6, s2, 5",
        "v_mbcnt_lo_u32_b32 v6, -1, 0",
        "v_mbcnt_hi_u32_b32 v6, -1, v6",
        "v_cndmask_b32_e32 v6, v0, v2, vcc",
        "v_cndmask_b32_e64 v6, -v0, 1.0, s[8:9]",
        "v_swap_b32 v0, v2",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    for level in bench.levels() {
        let mut wave = wave();
        for lane in 0..64_u32 {
            wave.lanes_mut(0).as_mut_array()[lane as usize] = 100 + lane;
            wave.lanes_mut(2).as_mut_array()[lane as usize] = 200 + lane;
        }
        wave.set_scalar(2, 64 + 9);
        wave.exec = 0xff00;
        bench.step(level, 0, &mut wave);
        assert_eq!(wave.scalar(4), 108);
        wave.exec = 0;
        bench.step(level, 0, &mut wave);
        assert_eq!(wave.scalar(4), 100, "no active lane reads lane 0");
        bench.step(level, 1, &mut wave);
        assert_eq!(
            wave.scalar(4),
            109,
            "the lane number wraps, EXEC does not matter"
        );
        bench.step(level, 2, &mut wave);
        assert_eq!(wave.scalar(4), 163);
        bench.step(level, 3, &mut wave);
        assert_eq!(
            wave.lanes(6).as_array()[4..7],
            [super::UNTOUCHED, 73, super::UNTOUCHED]
        );
        wave.exec = !0;
        bench.step(level, 4, &mut wave);
        bench.step(level, 5, &mut wave);
        let numbers: Vec<u32> = (0..64).collect();
        assert_eq!(
            wave.lanes(6).as_array().as_slice(),
            numbers,
            "mbcnt counts the lanes below"
        );
        wave.set_scalar_pair(106, 1 << 40 | 2);
        bench.step(level, 6, &mut wave);
        assert_eq!(
            [0, 1, 40, 41].map(|i| wave.lanes(6).as_array()[i]),
            [100, 201, 240, 141]
        );
        wave.set_scalar_pair(8, 4);
        bench.step(level, 7, &mut wave);
        assert_eq!(
            [1, 2].map(|i| wave.lanes(6).as_array()[i]),
            [101 | 1 << 31, 0x3f80_0000]
        );
        wave.exec = 1;
        bench.step(level, 8, &mut wave);
        assert_eq!([0, 1].map(|i| wave.lanes(0).as_array()[i]), [200, 101]);
        assert_eq!([0, 1].map(|i| wave.lanes(2).as_array()[i]), [100, 201]);
    }
}
