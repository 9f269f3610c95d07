//! Conversions between integers and floats.

use super::{Check, Values, d, f, nan64};

#[test]
fn to_integers() {
    let check = |text| Check::new(text, Values::F32);
    // Towards zero, saturating, NaN to 0: as Rust's casts.
    check("v_cvt_i32_f32_e32 v6, v0").run(|[a, ..]| f(a) as i32 as u32 as u64);
    check("v_cvt_u32_f32_e32 v6, v0").run(|[a, ..]| (f(a) as u32).into());
    check("v_cvt_i32_f32_e64 v6, -|v0|").run(|[a, ..]| -f(a).abs() as i32 as u32 as u64);
    check("v_cvt_flr_i32_f32_e32 v6, v0").run(|[a, ..]| f(a).floor() as i32 as u32 as u64);
    Check::new("v_cvt_i32_f64_e32 v6, v[0:1]", Values::F64)
        .run(|[a, ..]| d(a) as i32 as u32 as u64);
    Check::new("v_cvt_u32_f64_e32 v6, v[0:1]", Values::F64).run(|[a, ..]| (d(a) as u32).into());
}

#[test]
fn from_integers() {
    let check = |text| Check::new(text, Values::Integer);
    let bits = |x: f32| u64::from(x.to_bits());
    check("v_cvt_f32_i32_e32 v6, v0").run(|[a, ..]| bits(a as u32 as i32 as f32));
    check("v_cvt_f32_u32_e32 v6, v0").run(|[a, ..]| bits(a as u32 as f32));
    check("v_cvt_f32_ubyte0_e32 v6, v0").run(|[a, ..]| bits((a & 0xff) as f32));
    check("v_cvt_f32_ubyte1_e32 v6, v0").run(|[a, ..]| bits((a >> 8 & 0xff) as f32));
    check("v_cvt_f32_ubyte2_e32 v6, v0").run(|[a, ..]| bits((a >> 16 & 0xff) as f32));
    check("v_cvt_f32_ubyte3_e32 v6, v0").run(|[a, ..]| bits((a >> 24 & 0xff) as f32));
    let wide = |text| Check::new(text, Values::Integer).wide();
    wide("v_cvt_f64_i32_e32 v[6:7], v0").run(|[a, ..]| f64::from(a as u32 as i32).to_bits());
    wide("v_cvt_f64_u32_e32 v[6:7], v0").run(|[a, ..]| f64::from(a as u32).to_bits());
}

#[test]
fn between_floats() {
    Check::new("v_cvt_f64_f32_e32 v[6:7], v0", Values::F32)
        .wide()
        .run(|[a, ..]| {
            let wide = f64::from(f(a));
            if wide.is_nan() {
                // The payload moves up with the fraction.
                return (a & 0x8000_0000) << 32 | 0x7ff8_0000_0000_0000 | (a & 0x7f_ffff) << 29;
            }
            wide.to_bits()
        });
    Check::new("v_cvt_f32_f64_e32 v6, v[0:1]", Values::F64).run(|[a, ..]| {
        if d(a).is_nan() {
            let quiet = nan64(d(a), &[a]);
            return quiet >> 32 & 0x8000_0000 | 0x7fc0_0000 | quiet >> 29 & 0x7f_ffff;
        }
        u64::from((d(a) as f32).to_bits())
    });
}
