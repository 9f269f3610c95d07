//! Checks of uninitialized registers and of skipped barriers: bugs that must be found, each with a correct counterpart.

use Gpu::{Gfx90a, Gfx908, Gfx942, Gfx950};
use ferrowave_check::{Check, Finding};
use ferrowave_gpu::Gpu;
use ferrowave_test_support::{Small, names};

fn findings(gpu: Gpu, body: &str, threads: u32) -> Vec<Finding> {
    Small::new(gpu, body)
        .threads(threads)
        .found(&[Check::Registers].into())
}

#[track_caller]
fn clean(gpu: Gpu, body: &str) {
    for threads in [64, 37] {
        let findings = findings(gpu, body, threads);
        assert!(findings.is_empty(), "{}\n{body}", findings[0]);
    }
}

/// Expects one finding at `at` whose text contains `says`, and none once `missing` precedes the kernel.
#[track_caller]
fn planted(gpu: Gpu, missing: &str, body: &str, at: &str, says: &str) -> Finding {
    clean(gpu, &format!("  {missing}\n{body}"));
    let findings = findings(gpu, body, 64);
    assert_eq!(
        names(&findings),
        [("uninitialized-register", at.into())],
        "{body}"
    );
    let text = findings[0].to_string();
    assert!(text.contains(says), "{text}");
    findings.into_iter().next().expect("one finding")
}

/// As [`planted`], where the undefined value may cause a fault.
#[track_caller]
fn with_fault(gpu: Gpu, missing: &str, body: &str, at: &str, says: &str) -> Finding {
    clean(gpu, &format!("  {missing}\n{body}"));
    let mut findings = findings(gpu, body, 64);
    findings.retain(|finding| finding.kind.id() == "uninitialized-register");
    assert_eq!(
        names(&findings),
        [("uninitialized-register", at.into())],
        "{body}"
    );
    let text = findings[0].to_string();
    assert!(text.contains(says), "{text}");
    findings.remove(0)
}

/// Only lanes in private memory need FLAT_SCRATCH, which kernels without such lanes leave undefined.
#[test]
fn flat_accesses_to_global_memory_need_no_flat_scratch() {
    for gpu in [Gfx908, Gfx90a, Gfx942] {
        let address = "  v_mov_b32 v2, s4\n  v_mov_b32 v3, s5\n";
        let load = "  flat_load_dword v4, v[2:3]\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
        clean(gpu, &format!("{address}{load}"));
    }
}

#[test]
fn addresses() {
    let body = "  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n";
    let at = "global_load_dword v2, v1, s[4:5]";
    let says = "takes an address from v1, which is uninitialized";
    with_fault(Gfx942, "v_lshlrev_b32 v1, 2, v0", body, at, says);
    let body = "  v_lshlrev_b32 v3, 2, v1\n  v_add_u32 v3, 4, v3\n  ds_write_b32 v3, v0\n";
    let says = "takes an address from v3, which depends on v1, which is uninitialized";
    let at = "ds_write_b32 v3, v0";
    let finding = with_fault(Gfx908, "v_and_b32 v1, 63, v0", body, at, says);
    let other = finding.other.expect("who read it first");
    assert_eq!(other.what, "first read v1");
    let place = other.instruction.expect("an instruction");
    assert!(place.text.contains("2, v1"), "{}", place.text);
    // Scalar: the offset of a load, and a base with one half missing.
    let body = "  s_load_dword s8, s[4:5], s9\n  s_waitcnt lgkmcnt(0)\n";
    let at = "s_load_dword s8, s[4:5], s9";
    planted(
        Gfx950,
        "s_mov_b32 s9, 8",
        body,
        at,
        "takes an address from s9",
    );
    let body = "  s_mov_b32 s8, s4\n  v_mov_b32 v1, 0\n  global_load_dword v2, v1, s[8:9]\n";
    let at = "global_load_dword v2, v1, s[8:9]";
    let says = "takes an address from s9, which is uninitialized";
    with_fault(Gfx90a, "s_mov_b32 s9, s5", body, at, says);
    // Only active lanes count.
    let some = "  v_cmp_gt_u32 vcc, 8, v0\n  s_and_saveexec_b64 s[8:9], vcc\n  v_mov_b32 v1, 0\n";
    let load = "  global_load_dword v2, v1, s[4:5]\n";
    let all = "  s_mov_b64 exec, s[8:9]\n";
    clean(Gfx942, &format!("{some}{load}{all}"));
    let finding = with_fault(
        Gfx942,
        "v_mov_b32 v1, 4",
        &format!("{some}{all}{load}"),
        "global_load_dword v2, v1, s[4:5]",
        "lanes 8 to 63, each takes an address from v1",
    );
    assert_eq!(finding.wave.lanes.len(), 56);
}

#[test]
fn branches() {
    let tail = "  s_nop 0\n.Lend_of_it:\n";
    let body = format!("  s_cmp_eq_u32 s8, 5\n  s_cbranch_scc1 .Lend_of_it\n{tail}");
    let says = "branches on scc, which depends on s8, which is uninitialized";
    let at = |findings: &[Finding]| names(findings)[0].1.clone();
    let text = at(&findings(Gfx942, &body, 64));
    assert!(text.starts_with("s_cbranch_scc1"), "{text}");
    planted(Gfx942, "s_mov_b32 s8, 1", &body, &text, says);
    let body = format!("  s_cbranch_scc0 .Lend_of_it\n{tail}");
    let text = at(&findings(Gfx950, &body, 64));
    let says = "branches on scc, which is uninitialized";
    planted(Gfx950, "s_cmp_eq_u32 s4, 0", &body, &text, says);
    for compare in [
        "v_cmp_lt_f32 vcc, v0, v1",
        "v_cmp_eq_u32 vcc, 7, v1",
        "v_cmp_gt_i32 vcc, v0, v1",
    ] {
        let body = format!("  {compare}\n  s_cbranch_vccz .Lend_of_it\n{tail}");
        let text = at(&findings(Gfx908, &body, 64));
        let says = "depends on v1, which is uninitialized";
        planted(Gfx908, "v_mov_b32 v1, 3", &body, &text, says);
    }
    // One set bit in `vcc` decides that it is not 0, regardless of the other bits.
    let some = "  v_cmp_gt_u32 vcc, 8, v0\n  s_and_saveexec_b64 s[8:9], vcc\n  v_mov_b32 v1, 3\n  s_mov_b64 exec, s[8:9]\n";
    let decided = format!("{some}  v_cmp_eq_u32 vcc, 3, v1\n  s_cbranch_vccnz .Lend_of_it\n{tail}");
    clean(Gfx90a, &decided);
    let open = format!("{some}  v_cmp_eq_u32 vcc, 4, v1\n  s_cbranch_vccnz .Lend_of_it\n{tail}");
    let text = at(&findings(Gfx90a, &open, 64));
    planted(
        Gfx90a,
        "v_mov_b32 v1, 0",
        &open,
        &text,
        "branches on vcc_lo",
    );
}

#[test]
fn exec() {
    let body = "  s_mov_b64 exec, s[8:9]\n";
    let at = "s_mov_b64 exec, s[8:9]";
    let says = "sets exec from s8, which is uninitialized";
    planted(Gfx942, "s_mov_b64 s[8:9], 5", body, at, says);
    let body = "  v_cmp_ne_u32 vcc, v0, v7\n  s_and_saveexec_b64 s[8:9], vcc\n";
    let at = "s_and_saveexec_b64 s[8:9], vcc";
    let says = "depends on v7, which is uninitialized";
    planted(Gfx90a, "v_mov_b32 v7, 0", body, at, says);
    let body = "  v_cmpx_gt_u32 vcc, 9, v7\n";
    let at = "v_cmpx_gt_u32_e32 vcc, 9, v7";
    let says = "each sets exec from v7, which is uninitialized";
    planted(Gfx908, "v_mov_b32 v7, 0", body, at, says);
    // Lane masks are assembled bit by bit in registers that were undefined before.
    clean(
        Gfx942,
        "  v_cmp_gt_u32 vcc, 8, v0
  s_andn2_b64 s[8:9], s[8:9], exec
  s_and_b64 s[10:11], vcc, exec
  s_or_b64 s[8:9], s[8:9], s[10:11]
  s_and_saveexec_b64 s[12:13], s[8:9]
",
    );
}

#[test]
fn stores() {
    let offset = "  v_lshlrev_b32 v1, 2, v0\n";
    let body = format!("{offset}  v_mul_f32 v3, 2.0, v2\n  global_store_dword v1, v3, s[4:5]\n");
    let at = "global_store_dword v1, v3, s[4:5]";
    let says = "stores v3, which depends on v2, which is uninitialized";
    planted(Gfx942, "v_mov_b32 v2, 1.0", &body, at, says);
    // Through an accumulator, and through a scalar register.
    let body = format!(
        "{offset}  v_accvgpr_write_b32 a0, v9\n  v_accvgpr_read_b32 v2, a0\n  global_store_dword v1, v2, s[4:5]\n"
    );
    let at = "global_store_dword v1, v2, s[4:5]";
    let says = "stores v2, which depends on v9, which is uninitialized";
    planted(Gfx90a, "v_mov_b32 v9, 0", &body, at, says);
    let body = format!(
        "{offset}  v_readfirstlane_b32 s8, v9\n  v_mov_b32 v2, s8\n  global_store_dword v1, v2, s[4:5]\n"
    );
    planted(Gfx950, "v_mov_b32 v9, 0", &body, at, says);
    let body = format!("{offset}  global_atomic_add v1, v2, s[4:5]\n");
    let says = "stores v2, which is uninitialized";
    let at = "global_atomic_add v1, v2, s[4:5]";
    planted(Gfx908, "v_mov_b32 v2, 0", &body, at, says);
}

/// Undefined data may be stored to LDS if what is loaded from there is not used.
#[test]
fn values_that_pass_through_lds() {
    let exchange = |store: &str, load: &str| {
        format!(
            "  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v2, 0
  v_mov_b32 v4, 1
  {store}
  s_waitcnt lgkmcnt(0)
  {load}
  s_waitcnt lgkmcnt(0)
  v_add_u32 v7, v7, v2
  v_lshlrev_b32 v1, 2, v0
  global_store_dword v1, v7, s[4:5]
"
        )
    };
    let at = "global_store_dword v1, v7, s[4:5]";
    let says = "stores v7, which depends on v3, which is uninitialized";
    let missing = "v_mov_b32 v3, 1.0";
    for (store, used, unused) in [
        (
            "ds_write_b64 v1, v[2:3]",
            "ds_read_b32 v7, v1 offset:4",
            "ds_read_b32 v7, v1",
        ),
        (
            "ds_write2_b32 v1, v2, v3 offset1:2",
            "ds_read_b64 v[6:7], v1 offset:4",
            "ds_read2_b32 v[6:7], v1 offset0:2",
        ),
        (
            "ds_write_b8 v1, v3 offset:7\n  ds_write_b8 v1, v2 offset:6",
            "ds_read_u8 v7, v1 offset:7",
            "ds_read_u8 v7, v1 offset:6",
        ),
        // A later store replaces the definedness of an earlier one.
        (
            "ds_write_b64 v1, v[2:3]\n  ds_write_b16 v1, v4 offset:4",
            "ds_read_u16 v7, v1 offset:6",
            "ds_read_u16 v7, v1 offset:4",
        ),
    ] {
        let gpu = Gfx942;
        let unwritten = match used {
            // Another check finds uninitialized bytes.
            "ds_read_b64 v[6:7], v1 offset:4" => "ds_write_b32 v1, v2 offset:4\n  ",
            _ => "",
        };
        let store = format!("{unwritten}{store}");
        planted(gpu, missing, &exchange(&store, used), at, says);
        clean(gpu, &exchange(&store, unused));
    }
}

#[test]
fn results_that_depend_on_nothing_undefined() {
    let store = |value: &str| {
        format!(
            "{value}  v_lshlrev_b32 v1, 2, v0\n  global_store_dword v1, v2, s[4:5]\n  s_nop 0\n"
        )
    };
    for value in [
        "  v_xor_b32 v2, v2, v2\n",
        "  v_sub_u32 v2, v3, v3\n",
        "  v_and_b32 v2, 0, v3\n",
        "  v_mov_b32 v4, v3\n  v_mov_b32 v2, v0\n",
        "  v_cmp_gt_u32 vcc, 64, v0\n  v_cndmask_b32 v2, v3, v0, vcc\n",
        "  s_mov_b32 s8, 0xffff\n  v_bfi_b32 v2, s8, v0, v3\n  v_and_b32 v2, s8, v2\n",
        "  v_mov_b32 v3, 5\n  v_lshlrev_b32 v2, 16, v9\n  v_lshrrev_b32 v2, 31, v3\n",
        // Halves that are assembled.
        "  v_mov_b32_sdwa v2, v0 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0\n  v_mov_b32_sdwa v2, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0\n",
        "  v_mov_b32 v3, 0\n  global_load_short_d16 v2, v3, s[4:5]\n  global_load_short_d16_hi v2, v3, s[4:5]\n  s_waitcnt vmcnt(0)\n",
        "  v_mov_b32 v3, 0\n  global_load_short_d16 v4, v3, s[4:5]\n  s_waitcnt vmcnt(0)\n  v_lshlrev_b32 v2, 16, v4\n",
        // Loading one half zeroes the other.
        "  v_mov_b32 v3, 0\n  global_load_short_d16_hi v2, v3, s[4:5]\n  s_waitcnt vmcnt(0)\n",
        "  v_mov_b32 v3, 0\n  ds_read_u16_d16_hi v4, v3\n  s_waitcnt lgkmcnt(0)\n  s_mov_b32 s8, 0x03020100\n  v_perm_b32 v2, v4, v4, s8\n",
        // Values from other lanes.
        "  v_writelane_b32 v9, s4, 3\n  v_readlane_b32 s8, v9, 3\n  v_mov_b32 v2, s8\n",
        "  v_mov_b32_dpp v2, v0 quad_perm:[0,0,2,2] row_mask:0xf bank_mask:0xf\n",
        "  ds_swizzle_b32 v2, v0 offset:0x80a0\n  s_waitcnt lgkmcnt(0)\n",
        "  v_lshlrev_b32 v3, 2, v0\n  ds_bpermute_b32 v2, v3, v0\n  s_waitcnt lgkmcnt(0)\n",
        "  v_mbcnt_lo_u32_b32 v2, -1, 0\n",
        "  s_cselect_b32 s8, s4, s4\n  v_mov_b32 v2, s8\n",
    ] {
        clean(Gfx942, &store(value));
    }
    // An undefined half, lane or side stays undefined.
    for (value, from) in [
        (
            "  v_mov_b32_sdwa v2, v0 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0\n",
            "v2",
        ),
        ("  v_writelane_b32 v2, s4, 3\n", "v2"),
        (
            "  v_cmp_gt_u32 vcc, 9, v0\n  v_cndmask_b32 v2, v3, v0, vcc\n",
            "v3",
        ),
        (
            "  v_lshlrev_b32 v3, 2, v9\n  ds_bpermute_b32 v2, v3, v0\n  s_waitcnt lgkmcnt(0)\n",
            "v9",
        ),
        ("  s_cselect_b32 s8, s4, s5\n  v_mov_b32 v2, s8\n", "scc"),
    ] {
        let body = store(value);
        let findings = findings(Gfx942, &body, 64);
        let at = "global_store_dword v1, v2, s[4:5]";
        assert_eq!(
            names(&findings),
            [("uninitialized-register", at.into())],
            "{body}"
        );
        let text = findings[0].to_string();
        assert!(
            text.contains(&format!("{from}, which is uninitialized")),
            "{text}"
        );
    }
}

/// Packed arithmetic names pairs of registers and may use only one half of each. The other half may be undefined,
/// unless another operand uses it.
#[test]
fn halves_that_packed_arithmetic_passes_over_may_be_undefined() {
    let product = |defined: &str, operands: &str| {
        format!(
            "  v_lshlrev_b32 v1, 3, v0
  v_mov_b32 {defined}, 1.0
  v_mov_b32 v6, 2.0
  v_mov_b32 v7, 2.0
  v_pk_mul_f32 v[2:3], v[4:5], {operands}
  v_pk_add_f32 v[2:3], v[2:3], v[6:7]
  global_store_dwordx2 v1, v[2:3], s[4:5]
"
        )
    };
    let low = "v[6:7] op_sel_hi:[0,1]";
    let high = "v[6:7] op_sel:[1,0]";
    for gpu in [Gfx90a, Gfx942] {
        clean(gpu, &product("v4", low));
        clean(gpu, &product("v5", high));
    }
    for (defined, operands, from) in [
        ("v4", "v[6:7]", "v5"),
        ("v4", high, "v5"),
        ("v5", low, "v4"),
        ("v4", "v[4:5] op_sel_hi:[0,1]", "v5"),
        ("v5", "v[4:5] op_sel:[1,0]", "v4"),
    ] {
        let body = product(defined, operands);
        let findings = findings(Gfx942, &body, 64);
        let at = "global_store_dwordx2 v1, v[2:3], s[4:5]";
        assert_eq!(
            names(&findings),
            [("uninitialized-register", at.into())],
            "{body}"
        );
        let text = findings[0].to_string();
        let says = format!("depends on {from}, which is uninitialized");
        assert!(text.contains(&says), "{text}");
    }
}

#[test]
fn rows_of_a_matrix_product_are_apart() {
    // Lanes 0 to 3 of each sixteen hold rows of A. D's first row depends only on lane 0 of its block.
    let product = |rows: &str| {
        format!(
            "  v_and_b32 v2, 3, v0
  v_cmp_eq_u32 vcc, 0, v2
  s_and_saveexec_b64 s[8:9], vcc
  v_mov_b32 v4, 1.0
  s_mov_b64 exec, s[8:9]
  v_mov_b32 v5, 2.0
  v_lshlrev_b32 v1, 2, v0
  v_mfma_f32_4x4x1_16b_f32 v[8:11], v4, v5, 0
  s_nop 15
  global_store_dword v1, {rows}, s[4:5]
"
        )
    };
    assert_eq!(findings(Gfx942, &product("v8"), 64), []);
    let found = findings(Gfx942, &product("v9"), 64);
    assert_eq!(names(&found).len(), 1, "{found:?}");
    let text = found[0].to_string();
    assert!(
        text.contains("stores v9, which depends on v4, which is uninitialized"),
        "{text}"
    );
    assert_eq!(found[0].wave.lanes.len(), 64);
}

#[test]
fn registers_put_aside_in_private_memory() {
    // As functions do with callee-saved registers.
    let body =
        "  v_mov_b32 v1, 0\n  v_mov_b32 v3, s4\n  buffer_store_dword v40, v1, s[12:15], 0 offen\n";
    let resource = "  s_mov_b32 s12, s4\n  s_and_b32 s13, s5, 0xffff\n  s_mov_b32 s14, 4096\n";
    let swizzled =
        format!("{resource}  s_or_b32 s13, s13, 0x80000000\n  s_mov_b32 s15, 0x00e00000\n{body}");
    clean(Gfx908, &swizzled);
    let plain = format!("{resource}  s_mov_b32 s15, 0x00020000\n{body}");
    let found = findings(Gfx908, &plain, 64);
    assert_eq!(
        names(&found),
        [(
            "uninitialized-register",
            "buffer_store_dword v40, v1, s[12:15], 0 offen".into()
        )]
    );
}

#[test]
fn registers_that_are_indexed() {
    clean(
        Gfx908,
        "  v_lshlrev_b32 v1, 2, v0
  s_set_gpr_idx_on 3, gpr_idx(DST)
  v_mov_b32 v10, v0
  s_set_gpr_idx_off
  global_store_dword v1, v13, s[4:5]
",
    );
    clean(
        Gfx942,
        "  v_lshlrev_b32 v1, 2, v0
  s_mov_b32 m0, 2
  s_movreld_b32 s8, s4
  v_mov_b32 v2, s10
  global_store_dword v1, v2, s[4:5]
",
    );
}

#[test]
fn barriers_that_lanes_pass_by() {
    // The second wave's lanes are all inactive, and the barrier is inside the condition.
    let condition = "  v_cmp_gt_u32 vcc, 64, v0\n  s_and_saveexec_b64 s[8:9], vcc\n  s_cbranch_execz .Lbehind\n";
    let inside = format!("{condition}  s_barrier\n.Lbehind:\n  s_mov_b64 exec, s[8:9]\n");
    let found = |gpu, body: &str| findings(gpu, body, 192);
    for tail in ["", "  s_barrier\n"] {
        let body = format!("{inside}{tail}");
        let findings = found(Gfx942, &body);
        assert_eq!(names(&findings).len(), 1, "{findings:?}");
        assert_eq!(findings[0].kind.id(), "skipped-barrier");
        let (here, other) = (&findings[0].wave, findings[0].other.as_ref().expect("one"));
        assert_eq!((here.wave, other.wave), (1, 0));
        let text = findings[0].to_string();
        assert!(
            text.contains("s_cbranch_execz") && text.contains("at `s_barrier`"),
            "{text}"
        );
        // The third wave skips it as well.
        assert_eq!(findings[0].count, 2);
    }
    let outside =
        format!("{condition}  s_nop 0\n.Lbehind:\n  s_mov_b64 exec, s[8:9]\n  s_barrier\n");
    assert_eq!(found(Gfx942, &outside), []);
    // A loop with a barrier whose number of iterations depends on lanes.
    let turns = |barrier: [&str; 2]| {
        format!(
            "  v_lshrrev_b32 v1, 5, v0
  s_mov_b64 s[8:9], exec
.Lturn:
  {}
  v_sub_u32 v1, v1, 1
  v_cmp_lt_i32 vcc, 0, v1
  s_cbranch_vccnz .Lturn
  {}
",
            barrier[0], barrier[1]
        )
    };
    let findings = found(Gfx90a, &turns(["s_barrier", "s_barrier"]));
    assert!(!findings.is_empty());
    assert!(findings.iter().all(|f| f.kind.id() == "skipped-barrier"));
    assert_eq!(found(Gfx90a, &turns(["s_nop 0", "s_barrier"])), []);
}

#[test]
fn barriers_that_waves_with_roles_pair() {
    // Wave 0 uses a barrier of its own.
    let roles = |branch: &str| {
        format!(
            "  v_readfirstlane_b32 s8, v0
  {branch} .Lothers
  s_barrier
  s_nop 1
  s_endpgm
.Lothers:
  s_barrier
"
        )
    };
    let on_waves = roles("s_cmp_lt_u32 s8, 64\n  s_cbranch_scc0");
    assert_eq!(findings(Gfx942, &on_waves, 192), []);
    let on_lanes = roles("v_cmp_gt_u32 vcc, 64, v0\n  s_cbranch_vccz");
    let found = findings(Gfx942, &on_lanes, 192);
    assert_eq!(names(&found).len(), 1, "{found:?}");
    assert_eq!(found[0].kind.id(), "skipped-barrier");
    // Conditions of waves may be in `vcc`, or in vector registers with the same value in all lanes.
    for condition in [
        "s_cmp_lt_u32 s8, 64\n  s_cselect_b64 s[10:11], -1, 0\n  s_and_b64 vcc, exec, s[10:11]",
        "v_lshrrev_b32 v1, 6, v0\n  v_cmp_gt_u32 vcc, 1, v1",
    ] {
        let roles = roles(&format!("{condition}\n  s_cbranch_vccz"));
        assert_eq!(findings(Gfx90a, &roles, 192), []);
    }
    // A wave that has ended does not hold up others.
    let ends = "  v_readfirstlane_b32 s8, v0\n  s_cmp_lt_u32 s8, 64\n  s_cbranch_scc1 .Lgo\n  s_endpgm\n.Lgo:\n  s_barrier\n";
    assert_eq!(findings(Gfx908, ends, 128), []);
}

#[test]
fn waves_start_with_nothing_of_those_before() {
    let body = "  v_lshlrev_b32 v1, 2, v0
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 .Lstore
  v_mov_b32 v2, 0
.Lstore:
  global_store_dword v1, v2, s[4:5]
";
    assert_eq!(findings(Gfx950, body, 128), []);
    let found = Small::new(Gfx950, body)
        .threads(128)
        .workgroups(3)
        .found(&[Check::Registers].into());
    assert_eq!(names(&found).len(), 1, "{found:?}");
    // Two waves each of the second and third workgroup.
    assert_eq!((found[0].count, found[0].wave.workgroup), (4, [1, 0, 0]));
}
