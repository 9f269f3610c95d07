//! The operations that instructions count for.

use ferrowave_gpu::Gpu;
use ferrowave_profile::{self as profile, InstructionProfile, Profile};
use ferrowave_test_support::Small;

fn profile(kernel: &Small<'_>) -> Profile {
    let launch = kernel.run(profile::launch);
    let launch = launch.expect("it begins");
    launch.outcome.expect("a correct kernel");
    launch.profile
}

/// The first instruction whose text starts with `text`.
fn instruction<'a>(profile: &'a Profile, text: &str) -> &'a InstructionProfile {
    let mut instructions = profile.instructions.iter();
    instructions
        .find(|instruction| instruction.place.text.starts_with(text))
        .unwrap_or_else(|| panic!("no `{text}` in {profile:?}"))
}

/// Instructions, and the operations of one wave with all lanes: on floats and on integers.
type Operations = &'static [(&'static str, u64, u64)];

#[test]
fn operations_of_the_vector_unit() {
    const OPERATIONS: Operations = &[
        ("v_add_f32_e32 v2, v3, v4", 64, 0),
        ("v_subrev_f16_e32 v2, v3, v4", 64, 0),
        ("v_mul_f64 v[2:3], v[4:5], v[6:7]", 64, 0),
        ("v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]", 128, 0),
        ("v_fmac_f32_e32 v2, v3, v4", 128, 0),
        ("v_fma_mix_f32 v2, v3, v4, v5", 128, 0),
        ("v_div_fmas_f32 v2, v3, v4, v5", 128, 0),
        ("v_div_fixup_f32 v2, v3, v4, v5", 0, 0),
        ("v_rcp_f32_e32 v2, v3", 64, 0),
        ("v_exp_f32_e32 v2, v3", 64, 0),
        ("v_pk_fma_f16 v2, v3, v4, v5", 256, 0),
        ("v_pk_mul_f32 v[2:3], v[4:5], v[6:7]", 128, 0),
        ("v_dot2_f32_f16 v2, v3, v4, v5", 256, 0),
        ("v_dot4_i32_i8 v2, v3, v4, v5", 0, 512),
        ("v_dot8_i32_i4 v2, v3, v4, v5", 0, 1024),
        ("v_max_f32_e32 v2, v3, v4", 0, 0),
        ("v_cvt_f32_i32_e32 v2, v3", 0, 0),
        ("v_cmp_lt_f32_e32 vcc, v2, v3", 0, 0),
        ("v_add_u32_e32 v2, v3, v4", 0, 0),
        ("v_mad_u32_u24 v2, v3, v4, v5", 0, 0),
    ];
    let profile = profile_of(Gpu::Gfx942, OPERATIONS);
    for (text, flops, integer) in OPERATIONS {
        let found = instruction(&profile, text);
        let operations = (found.flops, found.integer_operations);
        assert_eq!(operations, (*flops, *integer), "{text}");
        assert_eq!(
            (found.matrix_flops, found.matrix_integer_operations),
            (0, 0)
        );
    }
}

#[test]
fn operations_of_matrix_cores() {
    // 2 · m · n · k times the number of blocks; half as many for sparse products.
    const GFX908: Operations = &[
        (
            "v_mfma_f32_32x32x1f32 a[0:31], v2, v3, a[0:31]",
            2 * 32 * 32 * 2,
            0,
        ),
        (
            "v_mfma_f32_16x16x4f32 a[0:3], v2, v3, a[0:3]",
            2 * 16 * 16 * 4,
            0,
        ),
        (
            "v_mfma_f32_4x4x2bf16 a[0:3], v2, v3, a[0:3]",
            2 * 4 * 4 * 2 * 16,
            0,
        ),
        (
            "v_mfma_i32_16x16x4i8 a[0:15], v2, v3, a[0:15]",
            0,
            2 * 16 * 16 * 4 * 4,
        ),
    ];
    const GFX942: Operations = &[
        (
            "v_mfma_f32_32x32x2_f32 a[0:15], v2, v3, a[0:15]",
            2 * 32 * 32 * 2,
            0,
        ),
        (
            "v_mfma_f32_16x16x16_bf16 a[0:3], v[2:3], v[4:5], a[0:3]",
            2 * 16 * 16 * 16,
            0,
        ),
        (
            "v_mfma_f32_4x4x4_16b_f16 a[0:3], v[2:3], v[4:5], a[0:3]",
            2 * 4 * 4 * 4 * 16,
            0,
        ),
        (
            "v_mfma_f64_16x16x4_f64 a[0:7], v[2:3], v[4:5], a[0:7]",
            2 * 16 * 16 * 4,
            0,
        ),
        (
            "v_mfma_f64_4x4x4_4b_f64 a[0:1], v[2:3], v[4:5], a[0:1]",
            2 * 4 * 4 * 4 * 4,
            0,
        ),
        (
            "v_mfma_i32_16x16x32_i8 a[0:3], v[2:3], v[4:5], a[0:3]",
            0,
            2 * 16 * 16 * 32,
        ),
        (
            "v_mfma_f32_32x32x16_fp8_bf8 a[0:15], v[2:3], v[4:5], a[0:15]",
            2 * 32 * 32 * 16,
            0,
        ),
        (
            "v_smfmac_f32_16x16x32_f16 a[0:3], v[2:3], v[4:7], v8",
            16 * 16 * 32,
            0,
        ),
        (
            "v_smfmac_i32_32x32x32_i8 a[0:15], v[2:3], v[4:7], v8",
            0,
            32 * 32 * 32,
        ),
    ];
    const GFX950: Operations = &[
        (
            "v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3]",
            2 * 16 * 16 * 128,
            0,
        ),
        (
            "v_mfma_scale_f32_32x32x64_f8f6f4 a[0:15], v[0:7], v[8:15], a[0:15], v16, v17",
            2 * 32 * 32 * 64,
            0,
        ),
    ];
    for (gpu, operations) in [
        (Gpu::Gfx908, GFX908),
        (Gpu::Gfx942, GFX942),
        (Gpu::Gfx950, GFX950),
    ] {
        let profile = profile_of(gpu, operations);
        for (text, flops, integer) in operations {
            let mnemonic = text.split(' ').next().unwrap_or_default();
            let found = instruction(&profile, mnemonic);
            let counted = (found.matrix_flops, found.matrix_integer_operations);
            assert_eq!(counted, (*flops, *integer), "{text}");
            assert_eq!((found.flops, found.integer_operations), (0, 0), "{text}");
        }
    }
}

/// One wave that runs each of the instructions once.
fn profile_of(gpu: Gpu, operations: Operations) -> Profile {
    let lines: Vec<_> = operations.iter().map(|(text, ..)| *text).collect();
    profile(&Small::new(gpu, &lines.join("\n  s_nop 7\n  ")))
}

#[test]
fn lanes_that_are_off_do_not_compute_but_matrix_cores_do() {
    let body = "  s_mov_b64 exec, 5
  v_fma_f32 v2, v2, v3, v4
  v_mfma_f32_4x4x1_16b_f32 a[0:3], v2, v3, a[0:3]";
    let totals = profile(&Small::new(Gpu::Gfx942, body)).totals();
    assert_eq!((totals.flops, totals.matrix_flops), (2 * 2, 2 * 4 * 4 * 16));
}
