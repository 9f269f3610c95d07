//! The values of inline constants and literals for operands of each type.

use ferrowave_gpu::Gpu;
use ferrowave_isa::{DataType, Operand, Source, decode};

fn operand(source: Source, bits: u16, ty: DataType) -> Operand {
    Operand { source, bits, ty }
}

fn check(code: u16, bits: u16, ty: DataType, expect: u64) {
    let constant = operand(Source::Inline(code), bits, ty).constant();
    assert_eq!(constant, Some(expect), "code {code}, {bits} bits, {ty:?}");
}

/// Operand codes of the floats 0.5, -0.5, … with their values.
const FLOATS: [(u16, f64); 8] = [
    (240, 0.5),
    (241, -0.5),
    (242, 1.0),
    (243, -1.0),
    (244, 2.0),
    (245, -2.0),
    (246, 4.0),
    (247, -4.0),
];

#[test]
fn floats_have_the_operands_format() {
    for (code, value) in FLOATS {
        let single = (value as f32).to_bits();
        // These values are exact in 16 bits: the sign, the exponent rebiased from 127 to 15, no fraction.
        let half = (single >> 16 & 0x8000) | ((single >> 23 & 0xff) + 15 - 127) << 10;
        check(code, 16, DataType::F, u64::from(half));
        check(code, 32, DataType::PackedF16, u64::from(half));
        check(code, 32, DataType::F, u64::from(single));
        check(code, 32, DataType::U, u64::from(single));
        check(code, 16, DataType::I, u64::from(single));
        check(code, 32, DataType::PackedI16, u64::from(single));
        check(code, 32, DataType::PackedBf16, u64::from(single >> 16));
        check(code, 64, DataType::F, value.to_bits());
        check(code, 64, DataType::B, value.to_bits());
        check(code, 64, DataType::PackedF32, u64::from(single));
        check(code, 512, DataType::PackedF32, u64::from(single));
        check(code, 256, DataType::PackedF64, value.to_bits());
    }
    let reciprocal = 1.0 / std::f32::consts::TAU;
    check(248, 32, DataType::F, u64::from(reciprocal.to_bits()));
    check(248, 16, DataType::F, 0x3118);
}

#[test]
fn integers_are_sign_extended() {
    check(128, 32, DataType::U, 0);
    check(192, 32, DataType::F, 64);
    check(193, 32, DataType::I, 0xffff_ffff);
    check(208, 64, DataType::I, -16_i64 as u64);
    check(208, 64, DataType::F, -16_i64 as u64);
    check(193, 32, DataType::PackedF16, 0xffff_ffff);
    check(193, 256, DataType::PackedF64, u64::MAX);
}

#[test]
fn literals_are_widened_by_type() {
    let literal = |bits, ty| operand(Source::Literal(0xfff0_0000), bits, ty).constant();
    assert_eq!(literal(32, DataType::F), Some(0xfff0_0000));
    assert_eq!(literal(64, DataType::F), Some(0xfff0_0000_0000_0000));
    assert_eq!(literal(64, DataType::I), Some(0xffff_ffff_fff0_0000));
    assert_eq!(literal(64, DataType::B), Some(0xfff0_0000));
}

#[test]
fn registers_and_status_are_no_constants() {
    for source in [
        Source::None,
        Source::Vgpr(1),
        Source::Sgpr(2),
        Source::LdsDirect,
    ] {
        assert_eq!(operand(source, 32, DataType::B).constant(), None);
    }
    for code in (235..240).chain(251..254) {
        assert_eq!(
            operand(Source::Inline(code), 32, DataType::B).constant(),
            None
        );
    }
}

#[test]
fn decoded_operands_have_their_types() {
    // v_add_f16_e32 v0, 1.0, v1 and v_add_f64 v[0:1], 1.0, v[2:3]
    let half = decode(Gpu::Gfx942, &[0x3e00_02f2], 0).expect("v_add_f16");
    assert_eq!(half.src[0].constant(), Some(0x3c00));
    let double = decode(Gpu::Gfx942, &[0xd280_0000, 0x0002_04f2], 0).expect("v_add_f64");
    assert_eq!(double.src[0].constant(), Some(1.0_f64.to_bits()));
    assert_eq!(double.dst.bits, 64);
}
