//! Checks of waits and wait states: bugs that must be found, and code without bugs.

use ferrowave_check::Check;
use ferrowave_gpu::Gpu;
use ferrowave_test_support::{Small, names};

/// The findings in a kernel: kind and instruction.
fn found(gpu: Gpu, check: Check, body: &str) -> Vec<(&'static str, String)> {
    names(&Small::new(gpu, body).found(&[check].into()))
}

fn waits(gpu: Gpu, body: &str) -> Vec<(&'static str, String)> {
    found(gpu, Check::Waits, body)
}

const OFFSET: &str = "  v_lshlrev_b32_e32 v1, 2, v0\n";

#[test]
fn registers_that_are_read_before_the_load_is_back() {
    for (gpu, load, wait, use_) in [
        (
            Gpu::Gfx942,
            "global_load_dword v2, v1, s[4:5]",
            "vmcnt(0)",
            "v_add_u32_e32 v3, v2, v0",
        ),
        (
            Gpu::Gfx90a,
            "global_load_dwordx4 v[4:7], v1, s[4:5]",
            "vmcnt(0)",
            "v_mov_b32_e32 v3, v7",
        ),
        (
            Gpu::Gfx908,
            "ds_read_b64 v[2:3], v1",
            "lgkmcnt(0)",
            "v_mov_b32_e32 v8, v3",
        ),
        (
            Gpu::Gfx950,
            "s_load_dwordx2 s[8:9], s[4:5], 0x0",
            "lgkmcnt(0)",
            "s_add_u32 s10, s9, 1",
        ),
        (
            Gpu::Gfx942,
            "ds_bpermute_b32 v2, v1, v0",
            "lgkmcnt(0)",
            "v_mov_b32_e32 v3, v2",
        ),
        (
            Gpu::Gfx90a,
            "global_atomic_add v2, v1, v0, s[4:5] glc",
            "vmcnt(0)",
            "ds_write_b32 v1, v2",
        ),
    ] {
        let body = |wait: &str| {
            format!(
                "{OFFSET}  ds_write_b64 v1, v[0:1]\n  s_waitcnt lgkmcnt(0)\n  {load}\n  s_waitcnt {wait}\n  {use_}\n"
            )
        };
        assert_eq!(waits(gpu, &body(wait)), [], "{load}");
        let other = match wait {
            "vmcnt(0)" => "lgkmcnt(0)",
            _ => "vmcnt(0)",
        };
        assert_eq!(
            waits(gpu, &body(other)),
            [("register-read-in-flight", use_.into())],
            "{load}"
        );
    }
}

#[test]
fn loads_come_back_in_order() {
    let body = |count: u32, register: u32| {
        format!(
            "{OFFSET}  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[6:7]
  global_store_dword v1, v0, s[6:7] offset:2048
  s_waitcnt vmcnt({count})
  v_mov_b32_e32 v4, v{register}
"
        )
    };
    assert_eq!(waits(Gpu::Gfx942, &body(2, 2)), []);
    assert_eq!(waits(Gpu::Gfx942, &body(1, 3)), []);
    assert_eq!(waits(Gpu::Gfx942, &body(3, 2)).len(), 1);
    assert_eq!(waits(Gpu::Gfx942, &body(2, 3)).len(), 1);
    // Scalar loads complete in any order; LDS operations complete in order, even among scalar loads.
    let mixed = |count: u32, use_: &str| {
        format!(
            "{OFFSET}  ds_read_b32 v2, v1
  s_load_dword s8, s[4:5], 0x0
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt({count})
  {use_}
"
        )
    };
    assert_eq!(waits(Gpu::Gfx90a, &mixed(1, "v_mov_b32_e32 v4, v2")), []);
    assert_eq!(
        waits(Gpu::Gfx90a, &mixed(1, "v_mov_b32_e32 v4, v3")).len(),
        1
    );
    assert_eq!(waits(Gpu::Gfx90a, &mixed(1, "s_mov_b32 s9, s8")).len(), 1);
    assert_eq!(waits(Gpu::Gfx90a, &mixed(0, "s_mov_b32 s9, s8")), []);
    // A flat load is complete when both counters say so.
    let flat = |wait: &str| {
        format!(
            "  v_lshlrev_b32_e32 v2, 2, v0
  v_mov_b32_e32 v3, s5
  v_add_co_u32_e32 v2, vcc, s4, v2
  v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
  flat_load_dword v4, v[2:3]
  s_waitcnt {wait}
  v_mov_b32_e32 v5, v4
"
        )
    };
    assert_eq!(waits(Gpu::Gfx908, &flat("vmcnt(0) lgkmcnt(0)")), []);
    assert_eq!(waits(Gpu::Gfx908, &flat("vmcnt(0)")).len(), 1);
    assert_eq!(waits(Gpu::Gfx908, &flat("lgkmcnt(0)")).len(), 1);
}

/// RDNA 4 has a counter for each kind of operation.
#[test]
fn split_counters_wait_for_their_own_operations() {
    let body = |waits: &str| {
        format!(
            "  v_lshlrev_b32_e32 v1, 2, v0
  s_load_b32 s10, s[4:5], 0x0
  ds_store_b32 v1, v0
  global_load_b32 v2, v1, s[4:5]
  ds_load_b32 v3, v1
  {waits}
  v_add_nc_u32_e32 v4, s10, v2
  v_add_nc_u32_e32 v4, v4, v3
"
        )
    };
    let all = "s_wait_kmcnt 0\n  s_wait_loadcnt_dscnt 0x0";
    assert_eq!(waits(Gpu::Gfx1201, &body(all)), []);
    for (waited, missing) in [
        ("s_wait_kmcnt 0\n  s_wait_loadcnt 0", &["dscnt"][..]),
        ("s_wait_kmcnt 0\n  s_wait_dscnt 0", &["loadcnt"]),
        ("s_wait_loadcnt 0\n  s_wait_dscnt 0", &["kmcnt"]),
        ("s_wait_storecnt 0", &["kmcnt", "loadcnt", "dscnt"]),
    ] {
        let found = Small::new(Gpu::Gfx1201, &body(waited)).found(&[Check::Waits].into());
        let loads = found.iter().filter_map(|finding| finding.other.as_ref());
        let whats: Vec<_> = loads.map(|load| load.what.clone()).collect();
        let expected = |name| format!("loads it and is not waited for ({name})");
        let expected: Vec<_> = missing.iter().map(expected).collect();
        assert_eq!(whats, expected, "{waited}");
    }
}

/// The image is unbound, so that the sample reads 0.
#[test]
fn samples_are_counted_with_loads_or_in_a_counter_of_their_own() {
    let body = |wait: &str| {
        format!(
            "  v_cvt_f32_u32_e32 v1, v0
  image_sample_lz v2, v1, s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_1D
  {wait}
  v_mov_b32_e32 v3, v2
"
        )
    };
    for (gpu, right, wrong) in [
        (Gpu::Gfx1100, "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)"),
        (Gpu::Gfx1201, "s_wait_samplecnt 0x0", "s_wait_loadcnt 0x0"),
    ] {
        assert_eq!(waits(gpu, &body(right)), [], "{gpu}");
        let used = ("register-read-in-flight", "v_mov_b32_e32 v3, v2".into());
        assert_eq!(waits(gpu, &body(wrong)), [used], "{gpu}");
    }
}

/// LLVM fills both halves of a register by two loads without a wait (`SIInsertWaitcnts`: loads of a kind complete in order).
#[test]
fn halves_are_loaded_one_after_the_other() {
    let body = |second: &str, wait: &str| {
        format!(
            "{OFFSET}  ds_store_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  global_load_d16_hi_u8 v2, v1, s[4:5]
  {second}
  s_waitcnt {wait}
  v_mov_b32_e32 v3, v2
"
        )
    };
    let half = "global_load_d16_u8 v2, v1, s[4:5] offset:1";
    assert_eq!(waits(Gpu::Gfx1100, &body(half, "vmcnt(0)")), []);
    let used = ("register-read-in-flight", "v_mov_b32_e32 v3, v2".into());
    assert_eq!(waits(Gpu::Gfx1100, &body(half, "vmcnt(1)")), [used]);
    // LDS may be faster than memory.
    let half = "ds_load_u8_d16 v2, v1";
    let found = waits(Gpu::Gfx1100, &body(half, "vmcnt(0) lgkmcnt(0)"));
    assert_eq!(
        found,
        [
            ("register-read-in-flight", half.into()),
            ("register-overwritten-in-flight", half.into())
        ]
    );
}

#[test]
fn registers_that_a_load_will_overwrite() {
    let vector = |wait: &str| {
        format!(
            "{OFFSET}  global_load_dword v2, v1, s[4:5]\n{wait}  v_mov_b32_e32 v2, 0\n  s_waitcnt vmcnt(0)\n"
        )
    };
    assert_eq!(waits(Gpu::Gfx942, &vector("  s_waitcnt vmcnt(0)\n")), []);
    assert_eq!(
        waits(Gpu::Gfx942, &vector("")),
        [(
            "register-overwritten-in-flight",
            "v_mov_b32_e32 v2, 0".into()
        )]
    );
    let scalar =
        "  s_load_dword s8, s[4:5], 0x0\n  s_load_dword s8, s[4:5], 0x4\n  s_waitcnt lgkmcnt(0)\n";
    assert_eq!(
        waits(Gpu::Gfx90a, scalar),
        [(
            "register-overwritten-in-flight",
            "s_load_dword s8, s[4:5], 0x4".into()
        )]
    );
    // Of two loads that complete in order, the second wins; a load from LDS may complete before one from memory.
    let twice = format!(
        "{OFFSET}  global_load_dword v2, v1, s[4:5]\n  global_load_dword v2, v1, s[6:7]\n  s_waitcnt vmcnt(0)\n"
    );
    assert_eq!(waits(Gpu::Gfx942, &twice), []);
    let both = format!(
        "{OFFSET}  global_load_dword v2, v1, s[4:5]\n  ds_read_b32 v2, v1\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
    );
    assert_eq!(waits(Gpu::Gfx942, &both).len(), 1);
    // A store has read its data when it issues.
    let store = format!("{OFFSET}  global_store_dword v1, v0, s[4:5]\n  v_mov_b32_e32 v0, 0\n");
    assert_eq!(waits(Gpu::Gfx942, &store), []);
}

#[test]
fn lds_that_a_load_will_write() {
    let body = |wait: &str, offset: u32| {
        format!(
            "{OFFSET}  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  s_waitcnt {wait}
  ds_read_b32 v2, v1 offset:{offset}
  s_waitcnt lgkmcnt(0)
"
        )
    };
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        assert_eq!(waits(gpu, &body("vmcnt(0)", 0)), []);
        assert_eq!(waits(gpu, &body("lgkmcnt(0)", 256)), []);
        assert_eq!(
            waits(gpu, &body("lgkmcnt(0)", 252)),
            [("lds-load-in-flight", "ds_read_b32 v2, v1 offset:252".into())]
        );
    }
}

/// Each rule: GPUs, the first instruction, the one that must not follow too soon, and the required wait states.
const RULES: &[(&[Gpu], &str, &str, u32)] = {
    use Gpu::{Gfx90a, Gfx908, Gfx942, Gfx950};
    const ALL: &[Gpu] = &[Gfx908, Gfx90a, Gfx942, Gfx950];
    const GFX940: &[Gpu] = &[Gfx942, Gfx950];
    &[
        (
            ALL,
            "v_readfirstlane_b32 s8, v10",
            "global_load_dword v2, v1, s[8:9]",
            5,
        ),
        (
            ALL,
            "v_readfirstlane_b32 s8, v10",
            "v_readlane_b32 s9, v1, s8",
            4,
        ),
        (
            ALL,
            "v_cmp_eq_u32_e32 vcc, 0, v0",
            "v_div_fmas_f32 v2, v3, v4, v5",
            4,
        ),
        (
            ALL,
            "v_mov_b32_e32 v2, v0",
            "v_mov_b32_dpp v3, v2 row_shl:1 row_mask:0xf bank_mask:0xf",
            2,
        ),
        (
            ALL,
            "v_cmpx_eq_u32_e32 vcc, v0, v0",
            "v_mov_b32_dpp v3, v2 row_shl:1 row_mask:0xf bank_mask:0xf",
            5,
        ),
        (
            ALL,
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
            "s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 4)",
            2,
        ),
        (
            ALL,
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15",
            2,
        ),
        (ALL, "s_mov_b32 m0, 0", "ds_write_addtid_b32 v0", 1),
        (ALL, "s_mov_b32 m0, 0", "s_movrels_b32 s8, s4", 1),
        (
            &[Gfx90a],
            "s_mov_b32 m0, 0",
            "s_sendmsg sendmsg(MSG_SAVEWAVE)",
            1,
        ),
        (
            GFX940,
            "s_mov_b32 m0, 0",
            "global_load_lds_dword v1, s[4:5]",
            1,
        ),
        (
            &[Gfx908, Gfx90a],
            "global_store_dwordx4 v1, v[4:7], s[4:5]",
            "v_mov_b32_e32 v7, 0",
            1,
        ),
        (
            GFX940,
            "global_store_dwordx3 v1, v[4:6], s[4:5]",
            "v_mov_b32_e32 v6, 0",
            2,
        ),
        (
            GFX940,
            "v_exp_f32_e32 v2, v0",
            "v_add_f32_e32 v3, v2, v0",
            1,
        ),
        (
            GFX940,
            "v_add_u16_sdwa v2, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
            "v_mov_b32_e32 v3, v2",
            1,
        ),
        (
            GFX940,
            "v_readfirstlane_b32 s8, v10",
            "v_add_u32_e32 v2, s8, v0",
            2,
        ),
        (
            GFX940,
            "v_mov_b32_e32 v2, v0",
            "v_readfirstlane_b32 s8, v2",
            1,
        ),
        (
            &[Gfx90a, Gfx942],
            "v_dot2_f32_f16 v2, v0, v1, v3",
            "v_mov_b32_e32 v4, v2",
            3,
        ),
        // Matrix products: after the vector unit, before it, before memory instructions, before each other.
        (
            ALL,
            "v_mov_b32_e32 v2, v0",
            "v_mfma_f32_32x32x2f32 a[0:15], v2, v1, a[0:15]",
            2,
        ),
        (
            ALL,
            "v_cmpx_eq_u32_e32 vcc, v0, v0",
            "v_mfma_f32_32x32x2f32 a[0:15], v3, v1, a[0:15]",
            4,
        ),
        (
            &[Gfx908],
            "v_accvgpr_write_b32 a0, v0",
            "v_mfma_f32_4x4x1f32 a[0:3], v3, v1, a[0:3]",
            1,
        ),
        (
            &[Gfx908],
            "v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]",
            "v_accvgpr_read_b32 v2, a3",
            18,
        ),
        (
            &[Gfx908],
            "v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]",
            "v_accvgpr_read_b32 v2, a3",
            10,
        ),
        (
            &[Gfx908],
            "v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]",
            "v_accvgpr_write_b32 a3, v1",
            7,
        ),
        (
            &[Gfx90a],
            "v_mfma_f32_32x32x2f32 v[16:31], v0, v1, 0",
            "v_mov_b32_e32 v2, v16",
            19,
        ),
        (
            &[Gfx90a],
            "v_mfma_f32_16x16x4f32 v[16:19], v0, v1, 0",
            "global_store_dword v1, v16, s[4:5]",
            11,
        ),
        (
            &[Gfx90a],
            "v_mfma_f32_16x16x4f32 v[16:19], v0, v1, 0",
            "v_mfma_f32_16x16x4f32 v[20:23], v0, v1, v[18:21]",
            8,
        ),
        (
            &[Gfx90a],
            "v_mfma_f64_16x16x4f64 v[16:23], v[4:5], v[6:7], 0",
            "global_store_dword v1, v16, s[4:5]",
            18,
        ),
        (
            &[Gfx90a, Gfx942],
            "v_mfma_f64_16x16x4f64 v[16:23], v[4:5], v[6:7], 0",
            "v_mov_b32_e32 v2, v16",
            11,
        ),
        (
            &[Gfx942],
            "v_mfma_f32_16x16x4_f32 v[16:19], v0, v1, 0",
            "v_mov_b32_e32 v2, v16",
            10,
        ),
        (
            &[Gfx942],
            "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], 0",
            "v_mov_b32_e32 v2, v16",
            11,
        ),
        (
            &[Gfx950],
            "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], 0",
            "v_mov_b32_e32 v2, v16",
            12,
        ),
        (
            &[Gfx942],
            "v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], 0",
            "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[6:7], 0",
            7,
        ),
        (
            &[Gfx942],
            "v_mfma_f32_16x16x16_f16 v[16:19], v[4:5], v[6:7], v[20:23]",
            "v_mov_b32_e32 v20, 0",
            3,
        ),
        // A sparse product reads its result, and its third source like a factor.
        (
            &[Gfx942],
            "v_smfmac_f32_32x32x16_f16 v[16:31], v[4:5], v[8:11], v2",
            "v_mov_b32_e32 v3, v16",
            11,
        ),
        (
            &[Gfx942],
            "v_smfmac_f32_32x32x16_f16 v[16:31], v[4:5], v[8:11], v2",
            "v_smfmac_f32_32x32x16_f16 v[32:47], v[4:5], v[8:11], v16",
            11,
        ),
    ]
};

#[test]
fn wait_states_are_owed() {
    for &(gpus, first, second, owed) in RULES {
        for &gpu in gpus {
            let body = |states: u32| {
                let nops = match states {
                    0 => String::new(),
                    1..=16 => format!("  s_nop {}\n", states - 1),
                    _ => format!("  s_nop 15\n  s_nop {}\n", states - 17),
                };
                format!(
                    "{OFFSET}  s_mov_b64 s[8:9], s[4:5]\n  v_mov_b32_e32 v10, s4\n  s_nop 15\n  s_nop 15\n  {first}\n{nops}  {second}\n"
                )
            };
            let hazards = |states| found(gpu, Check::Hazards, &body(states));
            assert_eq!(hazards(owed), [], "{gpu}: {first}; {second}");
            let few = Small::new(gpu, &body(owed - 1)).found(&[Check::Hazards].into());
            assert_eq!(few.len(), 1, "{gpu}: {first}; {second}");
            assert_eq!(few[0].kind.id(), "missing-wait-states");
            let text = few[0].to_string();
            let owes = match owed {
                1 => "1 wait state are owed".to_owned(),
                _ => format!("{owed} wait states are owed"),
            };
            assert!(text.contains(&owes), "{text}");
            assert_eq!(hazards(0).len(), 1, "{gpu}: {first}; {second}");
        }
    }
}

#[test]
fn the_same_sum_may_follow_at_once() {
    for (gpu, product) in [
        (
            Gpu::Gfx908,
            "v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]",
        ),
        (
            Gpu::Gfx90a,
            "v_mfma_f32_16x16x16f16 v[16:19], v[4:5], v[6:7], v[16:19]",
        ),
        (
            Gpu::Gfx942,
            "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]",
        ),
        (
            Gpu::Gfx950,
            "v_mfma_f32_16x16x32_f16 v[16:19], v[4:7], v[8:11], v[16:19]",
        ),
        (
            Gpu::Gfx942,
            "v_smfmac_f32_32x32x16_f16 v[16:31], v[4:5], v[8:11], v2",
        ),
    ] {
        // The last one writes indices of the sparse product, which has read them.
        let body =
            format!("  s_nop 15\n  {product}\n  {product}\n  {product}\n  v_mov_b32_e32 v2, 0\n");
        assert_eq!(found(gpu, Check::Hazards, &body), [], "{gpu}");
    }
}

/// A vector instruction belongs between a product and one that multiplies by its result (LLVM's `GCNHazardRecognizer`,
/// `fixWMMAHazards`).
#[test]
fn radeons_owe_an_instruction_between_products() {
    let product = "v_wmma_f32_16x16x16_f16";
    let products = [
        format!("{product} v[0:7], v[8:15], v[16:23], v[0:7]"),
        format!("{product} v[24:31], v[0:7], v[16:23], v[24:31]"),
    ];
    let products = products.each_ref().map(String::as_str);
    let sparse = [
        "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[16:23], v24",
        "v_swmmac_f32_16x16x32_f16 v[32:39], v[8:11], v[16:23], v3",
    ];
    for (gpu, [first, last]) in [
        (Gpu::Gfx1100, products),
        (Gpu::Gfx1151, products),
        (Gpu::Gfx1201, sparse),
    ] {
        let body = |between: &str| format!("  {first}\n  {between}\n  {last}\n");
        assert_eq!(found(gpu, Check::Hazards, &body("v_nop")), [], "{gpu}");
        // The kernels' waves have 64 lanes, in which a product has fewer registers than its text here.
        let name = |text: &str| text.split(' ').next().map(str::to_owned);
        let found = found(gpu, Check::Hazards, &body("s_nop 7"));
        let found: Vec<_> = found
            .iter()
            .map(|(kind, text)| (*kind, name(text)))
            .collect();
        assert_eq!(found, [("missing-wait-states", name(last))], "{gpu}");
    }
    // A product may add to the sum of the one before.
    for (gpu, line) in [(Gpu::Gfx1100, products[0]), (Gpu::Gfx1201, sparse[0])] {
        let twice = format!("  {line}\n  {line}\n");
        assert_eq!(found(gpu, Check::Hazards, &twice), [], "{gpu}");
    }
}

#[test]
fn what_is_found_again_is_counted() {
    let body = format!("{OFFSET}  global_load_dword v2, v1, s[4:5]\n  v_mov_b32_e32 v3, v2\n");
    let kernel = Small::new(Gpu::Gfx942, &body).threads(128).workgroups(3);
    let findings = kernel.found(&[Check::Waits].into());
    assert_eq!(names(&findings).len(), 1);
    // Two waves in each of three workgroups; the first is reported.
    assert_eq!(findings[0].count, 6);
    assert_eq!(
        (findings[0].wave.workgroup, findings[0].wave.wave),
        ([0; 3], 0)
    );
}
