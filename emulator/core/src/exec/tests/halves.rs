//! f16, 16-bit integers and packed pairs of them.

use ferrowave_gpu::Gpu;

use super::{
    super::{
        half::fma as fma_of_lanes,
        simd::{F, U},
    },
    Check, Values,
};

fn h(bits: u64) -> f16 {
    f16::from_bits(bits as u16)
}

/// Applies a GPU's NaN rules to a result that the host computed.
fn nan16(result: f16, sources: &[u64]) -> u64 {
    let source = sources.iter().find(|&&s| s & 0x7fff > 0x7c00);
    match source {
        Some(nan) => nan & 0xffff | 0x200,
        None if result.is_nan() => 0x7e00,
        None => u64::from(result.to_bits()),
    }
}

/// The exact sum of a product, rounded once. f64 holds it if exponents are close, as they are here.
fn fma(a: u64, b: u64, c: u64) -> u64 {
    let exact = (h(a) as f64) * (h(b) as f64) + (h(c) as f64);
    nan16(exact as f16, &[a, b, c])
}

#[test]
fn multiply_add_rounds_once() {
    // 1 + 2⁻¹¹ + 2⁻²⁹, just above the middle of two f16. f32 does not hold it and would round to the middle.
    let (x, y) = (481.0 / 16384.0, 545.0 / 32768.0);
    for (sign, expected) in [(1.0, 0x3c01), (-1.0, 0xbc01)] {
        let sum = fma_of_lanes(F::splat(x), F::splat(sign * y), F::splat(sign));
        assert_eq!(sum, U::splat(expected));
    }
}

#[test]
fn arithmetic() {
    let check = |text| Check::new(text, Values::F16);
    check("v_add_f16_e32 v6, v0, v2").run(|[a, b, ..]| nan16(h(a) + h(b), &[a, b]));
    check("v_sub_f16_e32 v6, v0, v2").run(|[a, b, ..]| nan16(h(a) - h(b), &[a, b]));
    check("v_mul_f16_e32 v6, v0, v2").run(|[a, b, ..]| nan16(h(a) * h(b), &[a, b]));
    check("v_mul_f16_e64 v6, -v0, |v2|").run(|[a, b, ..]| {
        let (a, b) = (a ^ 0x8000, b & 0x7fff);
        nan16(h(a) * h(b), &[a, b])
    });
    // This multiply-add came with gfx9 and preserves the other half.
    check("v_fma_f16 v6, v0, v2, v4").run(|[a, b, c, old]| fma(a, b, c) | old & 0xffff_0000);
    check("v_fma_f16 v6, v0, v2, v4 op_sel:[0,0,0,1]")
        .run(|[a, b, c, old]| fma(a, b, c) << 16 | old & 0xffff);
}

/// The larger of two values that are not NaN; −0 is below +0.
fn larger(a: u64, b: u64) -> u64 {
    let key = |bits: u64| {
        let magnitude = (bits & 0x7fff) as i32;
        if bits & 0x8000 == 0 {
            magnitude
        } else {
            -1 - magnitude
        }
    };
    if key(a) > key(b) {
        a & 0xffff
    } else {
        b & 0xffff
    }
}

#[test]
fn medians_of_zeros_and_ones() {
    Check::new("v_med3_f16 v6, v0, v2, v4", Values::Zeros16).run(|[a, b, c, old]| {
        let max = h(larger(larger(a, b), c));
        let median = if h(a) == max {
            larger(b, c)
        } else if h(b) == max {
            larger(a, c)
        } else {
            larger(a, b)
        };
        median | old & 0xffff_0000
    });
}

#[test]
fn integers() {
    let check = |text| Check::new(text, Values::Integer);
    let w = |x: u64| x as u16;
    let i = |x: u64| x as i16;
    check("v_add_u16_e32 v6, v0, v2").run(|[a, b, ..]| w(a).wrapping_add(w(b)).into());
    check("v_sub_u16_e32 v6, v0, v2").run(|[a, b, ..]| w(a).wrapping_sub(w(b)).into());
    check("v_mul_lo_u16_e32 v6, v0, v2").run(|[a, b, ..]| w(a).wrapping_mul(w(b)).into());
    check("v_add_u16_e64 v6, v0, v2 clamp").run(|[a, b, ..]| w(a).saturating_add(w(b)).into());
    check("v_lshlrev_b16_e32 v6, v0, v2").run(|[a, b, ..]| (w(b) << (a & 15)).into());
    check("v_ashrrev_i16_e32 v6, v0, v2").run(|[a, b, ..]| ((i(b) >> (a & 15)) as u16).into());
    check("v_max_i16_e32 v6, v0, v2").run(|[a, b, ..]| (i(a).max(i(b)) as u16).into());
    check("v_min_u16_e32 v6, v0, v2").run(|[a, b, ..]| w(a).min(w(b)).into());
    check("v_mad_u16 v6, v0, v2, v4").run(|[a, b, c, old]| {
        u64::from(w(a).wrapping_mul(w(b)).wrapping_add(w(c))) | old & 0xffff_0000
    });
    check("v_add_i16 v6, v0, v2 clamp")
        .run(|[a, b, _, old]| u64::from(i(a).saturating_add(i(b)) as u16) | old & 0xffff_0000);
}

#[test]
fn packed() {
    let check = |text| Check::new(text, Values::Integer);
    let halves = |x: u64| [x & 0xffff, x >> 16 & 0xffff];
    let pair = |f: &dyn Fn(u64, u64) -> u64, a: u64, b: u64| {
        let ([a, c], [b, d]) = (halves(a), halves(b));
        f(a, b) & 0xffff | (f(c, d) & 0xffff) << 16
    };
    check("v_pk_add_f16 v6, v0, v2")
        .run(|[a, b, ..]| pair(&|a, b| nan16(h(a) + h(b), &[a, b]), a, b));
    check("v_pk_mul_f16 v6, v0, v2")
        .run(|[a, b, ..]| pair(&|a, b| nan16(h(a) * h(b), &[a, b]), a, b));
    check("v_pk_add_u16 v6, v0, v2").run(|[a, b, ..]| pair(&|a, b| a.wrapping_add(b), a, b));
    check("v_pk_mul_lo_u16 v6, v0, v2 op_sel:[1,0] op_sel_hi:[0,1]").run(|[a, b, ..]| {
        let ([low, high], [c, d]) = (halves(a), halves(b));
        high * c & 0xffff | (low * d & 0xffff) << 16
    });
    check("v_pk_max_i16 v6, v0, v2")
        .run(|[a, b, ..]| pair(&|a, b| (a as i16).max(b as i16) as u16 as u64, a, b));
    check("v_pk_lshlrev_b16 v6, v0, v2").run(|[a, b, ..]| pair(&|a, b| b << (a & 15), a, b));
    check("v_pk_mad_u16 v6, v0, v2, v4").run(|[a, b, c, _]| {
        let (a, b, c) = (halves(a), halves(b), halves(c));
        let one = |i: usize| (a[i] * b[i] + c[i]) & 0xffff;
        one(0) | one(1) << 16
    });
}

#[test]
fn packed_multiply_add() {
    // Two f16 of ordinary size in each source.
    Check::new("v_pk_fma_f16 v6, v0, v2, v4", Values::F16).run(|[a, b, c, _]| {
        // The high halves of the sources are zeros of `Values::F16`.
        fma(a & 0xffff, b & 0xffff, c & 0xffff) | fma(a >> 16, b >> 16, c >> 16) << 16
    });
    Check::new(
        "v_pk_fma_f16 v6, v0, v2, v4 op_sel_hi:[0,0,0] neg_lo:[1,0,0]",
        Values::F16,
    )
    .run(|[a, b, c, _]| {
        let (a, b, c) = (a & 0xffff, b & 0xffff, c & 0xffff);
        fma(a ^ 0x8000, b, c) | fma(a, b, c) << 16
    });
}

#[test]
fn dot_products_and_mixed_precision() {
    let check = |text| Check::new(text, Values::Integer).gpu(Gpu::Gfx90a);
    check("v_dot4_i32_i8 v6, v0, v2, v4").run(|[a, b, c, _]| {
        let bytes = |x: u64| (x as u32).to_le_bytes().map(|b| i32::from(b as i8));
        let products = bytes(a).into_iter().zip(bytes(b)).map(|(x, y)| x * y);
        products.fold(c as u32 as i32, i32::wrapping_add) as u32 as u64
    });
    check("v_dot2_u32_u16 v6, v0, v2, v4").run(|[a, b, c, _]| {
        let (a, b) = (a & 0xffff_ffff, b & 0xffff_ffff);
        ((a & 0xffff) * (b & 0xffff) + (a >> 16) * (b >> 16)).wrapping_add(c) & 0xffff_ffff
    });
    // Absolute value and sign of a mixed source; packed operations use other bits for them.
    Check::new(
        "v_fma_mix_f32 v6, |v0|, -v2, v4 op_sel_hi:[1,1,0]",
        Values::F16,
    )
    .run(|[a, b, c, _]| {
        let (a, b) = (a & 0x7fff, b ^ 0x8000);
        let (x, y) = ((h(a) as f32), (h(b) as f32));
        super::nan32(
            x.mul_add(y, super::f(c)),
            &[nan_bits(a), nan_bits(b), c as u32],
        )
    });
    // An inline constant is f16 where the source is, and f32 elsewhere. Its high half is 0.
    for (text, factor) in [
        ("v_fma_mix_f32 v6, v0, 2.0, 1.0 op_sel_hi:[1,1,0]", 2.0),
        ("v_fma_mix_f32 v6, v0, 2.0, 1.0 op_sel_hi:[1,0,0]", 2.0),
        (
            "v_fma_mix_f32 v6, v0, 2.0, 1.0 op_sel:[0,1,0] op_sel_hi:[1,1,0]",
            0.0,
        ),
    ] {
        Check::new(text, Values::F16)
            .run(|[a, ..]| super::nan32((h(a) as f32).mul_add(factor, 1.0), &[nan_bits(a)]));
    }
    Check::new(
        "v_fma_mix_f32 v6, v0, v2, v4 op_sel_hi:[1,1,0]",
        Values::F16,
    )
    .run(|[a, b, c, _]| {
        let (x, y) = ((h(a) as f32), (h(b) as f32));
        super::nan32(
            x.mul_add(y, super::f(c)),
            &[nan_bits(a), nan_bits(b), c as u32],
        )
    });
}

/// bf16 pairs: exact products, sums rounded one after the other in the order of AMD's text, no denormals.
#[test]
fn dot_products_of_bf16() {
    let flush = |bits: u32| match f32::from_bits(bits).is_subnormal() {
        true => bits & 0x8000_0000,
        false => bits,
    };
    let single = |bits: u64| flush((bits as u32) << 16);
    let sum = |x: f32, y: f32, z: f32| f32::from_bits(flush((x + y + z).to_bits()));
    let third = |c: u64| f32::from_bits(flush(c as u32));
    let parts = |a: u64, b: u64| {
        let [x, y] = [a, b].map(|s| [single(s & 0xffff), single(s >> 16 & 0xffff)]);
        let product = |i: usize| f32::from_bits(x[i]) * f32::from_bits(y[i]);
        ([product(0), product(1)], [x[0], y[0], x[1], y[1]])
    };
    let check = |text| Check::new(text, Values::F32).gpu(Gpu::Gfx950);
    check("v_dot2_f32_bf16 v6, v0, v2, v4").run(|[a, b, c, _]| {
        let ([low, high], [p, q, r, s]) = parts(a, b);
        super::nan32(sum(low, high, third(c)), &[p, q, r, s, c as u32])
    });
    check("v_dot2c_f32_bf16_e32 v6, v0, v2").run(|[a, b, _, old]| {
        let ([low, high], [p, q, r, s]) = parts(a, b);
        super::nan32(sum(third(old), low, high), &[p, q, r, s, old as u32])
    });
}

/// MODE's `FP16_OVFL`: a result that is too large becomes the largest number, but an ∞ from a source stays.
#[test]
fn saturated_halves() {
    let mode = super::DEFAULT_MODE | 1 << 23;
    let saturated = |bits: u64, sources: &[f32]| {
        let keep = sources.iter().any(|s| s.is_infinite());
        bits - u64::from(bits & 0x7fff == 0x7c00 && !keep)
    };
    let check = |text, values| Check::new(text, values).mode(mode);
    let wide = |x: u64| h(x) as f32;
    check("v_mul_f16_e32 v6, v0, v2", Values::F16)
        .run(|[a, b, ..]| saturated(nan16(h(a) * h(b), &[a, b]), &[wide(a), wide(b)]));
    check("v_pk_add_f16 v6, v0, v2", Values::F16).run(|[a, b, ..]| {
        let (a, b) = (a & 0xffff, b & 0xffff);
        saturated(nan16(h(a) + h(b), &[a, b]), &[wide(a), wide(b)])
    });
    check("v_fma_f16 v6, v0, v2, v4", Values::F16).run(|[a, b, c, old]| {
        saturated(fma(a, b, c), &[wide(a), wide(b), wide(c)]) | old & 0xffff_0000
    });
    let converted = |x: f32| {
        let bits = x.to_bits();
        if x.is_nan() {
            return u64::from((bits >> 16 & 0x8000) | 0x7e00 | bits >> 13 & 0x3ff);
        }
        saturated((x as f16).to_bits().into(), &[x])
    };
    check("v_cvt_f16_f32_e32 v6, v0", Values::F32).run(|[a, ..]| converted(super::f(a)));
    let pair = |[a, b, ..]: [u64; 4]| converted(super::f(a)) | converted(super::f(b)) << 16;
    Check::new("v_cvt_pk_f16_f32 v6, v0, v2", Values::F32)
        .gpu(Gpu::Gfx950)
        .mode(mode)
        .run(pair);
    check("v_rcp_f16_e32 v6, v0", Values::F16).run(|[a, ..]| {
        let result = (1.0 / f64::from(wide(a))) as f16;
        saturated(nan16(result, &[a]), &[wide(a)])
    });
    check(
        "v_fma_mixlo_f16 v6, v0, v2, v4 op_sel_hi:[1,1,1]",
        Values::F16,
    )
    .run(|[a, b, c, old]| {
        let [x, y, z] = [a, b, c].map(wide);
        let sum = x.mul_add(y, z);
        let nan = [a, b, c].into_iter().find(|&s| s & 0x7fff > 0x7c00);
        let low = match nan {
            Some(nan) => nan & 0xffff | 0x200,
            None if sum.is_nan() => 0x7e00,
            None => saturated((sum as f16).to_bits().into(), &[x, y, z]),
        };
        low | old & 0xffff_0000
    });
}

/// An f16 NaN as f32, quieted; 0 for anything else.
fn nan_bits(half: u64) -> u32 {
    if half & 0x7fff > 0x7c00 {
        (half as u32 & 0x8000) << 16 | 0x7fc0_0000 | (half as u32 & 0x3ff) << 13
    } else {
        0
    }
}

#[test]
fn conversions_from_and_to_f16() {
    Check::new("v_cvt_f32_f16_e32 v6, v0", Values::F16).run(|[a, ..]| {
        let nan = nan_bits(a);
        u64::from(if nan != 0 {
            nan
        } else {
            (h(a) as f32).to_bits()
        })
    });
    Check::new("v_cvt_f16_f32_e32 v6, v0", Values::F32).run(|[a, ..]| {
        let x = super::f(a);
        if x.is_nan() {
            return (a >> 16 & 0x8000) | 0x7e00 | a >> 13 & 0x3ff;
        }
        u64::from((x as f16).to_bits())
    });
    Check::new(
        "v_cvt_f16_u16_sdwa v6, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1",
        Values::Integer,
    )
    .gpu(Gpu::Gfx90a)
    .run(|[a, _, _, old]| {
        let value = (a >> 16 & 0xffff) as f32 as f16;
        u64::from(value.to_bits()) << 16 | old & 0xffff
    });
    Check::new("v_pack_b32_f16 v6, v0, v2", Values::Integer)
        .run(|[a, b, ..]| a & 0xffff | (b & 0xffff) << 16);
    // Rounds towards zero regardless of MODE.
    Check::new("v_cvt_pkrtz_f16_f32 v6, v0, v2", Values::F32).run(|[a, b, ..]| {
        let one = |bits: u64| {
            let x = super::f(bits);
            if x.is_nan() {
                return (bits >> 16 & 0x8000) | 0x7e00 | bits >> 13 & 0x3ff;
            }
            let nearest = x as f16;
            let away = (nearest as f32).abs() > x.abs();
            u64::from(if away {
                nearest.to_bits() - 1
            } else {
                nearest.to_bits()
            })
        };
        one(a) | one(b) << 16
    });
}
