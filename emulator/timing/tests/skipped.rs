//! What an estimate leaves out, and what it must not.

use ferrowave_gpu::{Gpu, Product};
use ferrowave_test_support::Small;
use ferrowave_timing::{self as timing, Timing, TimingError};

fn launch(kernel: &Small<'_>, machine: Product) -> Timing {
    kernel.run(|kernel, config| timing::launch(kernel, config, machine).expect("it runs"))
}

fn estimate(kernel: &Small<'_>, machine: Product) -> Result<Timing, TimingError> {
    kernel.run(|kernel, config| timing::estimate(kernel, config, machine))
}

/// The first word of the first buffer after an estimate.
fn stored_by_estimate(kernel: &Small<'_>) -> u32 {
    kernel.run(|kernel, config| {
        timing::estimate(kernel, config, Product::Mi300x).expect("it runs");
        let mut word = [0; 4];
        let address = config.kernarg[..8].try_into().expect("the first buffer");
        let read = kernel.memory().read(u64::from_le_bytes(address), &mut word);
        read.expect("the buffer has a word");
        u32::from_le_bytes(word)
    })
}

#[test]
fn values_that_are_only_stored_are_not_computed() {
    let value = "  v_mov_b32 v1, 0x100\n  v_add_u32_e32 v1, v1, v1\n";
    let through_lds = "  ds_write_b32 v6, v1\n  s_waitcnt lgkmcnt(0)\n  ds_read_b32 v1, v6\n  s_waitcnt lgkmcnt(0)\n";
    let in_branch = "  v_cmp_gt_u32_e32 vcc, 32, v0\n  s_and_saveexec_b64 s[8:9], vcc\n  v_add_u32_e32 v1, v1, v1\n  \
                     s_or_b64 exec, exec, s[8:9]\n";
    for more in ["", through_lds, in_branch] {
        let body = format!(
            "  v_lshlrev_b32_e32 v6, 2, v0\n{value}{more}  global_store_dword v6, v1, s[4:5]\n"
        );
        let kernel = Small::new(Gpu::Gfx942, &body);
        let whole = launch(&kernel, Product::Mi300x);
        let estimated = estimate(&kernel, Product::Mi300x).expect("it runs");
        assert_eq!(estimated.cycles, whole.cycles, "{body}");
        assert_eq!(estimated.stalls, whole.stalls, "{body}");
        assert_eq!(stored_by_estimate(&kernel), 0, "{body}");
    }
}

/// Ways to make `v1` 0x100 in all lanes. `v6` is the byte offset of the lane's word in a buffer, or in LDS.
const WAYS: &[&str] = &[
    // Arithmetic on floats.
    "v_mov_b32 v2, 0x40\nv_cvt_f32_u32 v2, v2\nv_mul_f32 v2, 4.0, v2\nv_cvt_u32_f32 v1, v2",
    // Scalar registers.
    "v_mov_b32 v2, 0x100\nv_readfirstlane_b32 s8, v2\ns_nop 3\nv_mov_b32 v1, s8",
    // A carry.
    "v_mov_b32 v2, -1\nv_add_co_u32 v3, vcc, 1, v2\nv_mov_b32 v4, 0xff\nv_addc_co_u32 v1, vcc, 0, v4, vcc",
    // A condition.
    "v_mov_b32 v2, 0x100\nv_mov_b32 v3, 1\nv_cmp_eq_u32 vcc, 1, v3\nv_cndmask_b32 v1, 0, v2, vcc",
    // Half a register.
    "v_mov_b32 v1, 0x1ff\nv_mov_b32 v2, 0\nv_mov_b32_sdwa v1, v2 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD",
    // LDS.
    "v_mov_b32 v2, 0x100\nds_write_b32 v6, v2\ns_waitcnt lgkmcnt(0)\nds_read_b32 v1, v6\ns_waitcnt lgkmcnt(0)",
    // Memory that the kernel wrote.
    "v_mov_b32 v2, 0x100\nglobal_store_dword v6, v2, s[6:7]\ns_waitcnt vmcnt(0)\nglobal_load_dword v1, v6, s[6:7]\n\
     s_waitcnt vmcnt(0)",
    // Memory in which it counted.
    "v_mov_b32 v2, 0x100\nv_mov_b32 v3, 0\nv_cmp_eq_u32 vcc, 0, v0\ns_and_saveexec_b64 s[8:9], vcc\n\
     global_atomic_add v4, v3, v2, s[6:7] sc0\ns_or_b64 exec, exec, s[8:9]\ns_waitcnt vmcnt(0)\n\
     global_load_dword v1, v3, s[6:7] sc0\ns_waitcnt vmcnt(0)",
    // Scalar memory that it wrote and invalidated.
    "v_mov_b32 v2, 0x100\nglobal_store_dword v6, v2, s[6:7]\ns_waitcnt vmcnt(0)\nbuffer_wbl2 sc1\ns_waitcnt vmcnt(0)\n\
     s_dcache_inv\ns_load_dword s8, s[6:7], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, s8",
    // A permutation of lanes.
    "v_mov_b32 v2, 0x100\nds_bpermute_b32 v1, v6, v2\ns_waitcnt lgkmcnt(0)",
    // A lane that is not active where it is read.
    "v_mov_b32 v2, 0x100\nv_cmp_eq_u32 vcc, 0, v0\ns_and_saveexec_b64 s[8:9], vcc\nv_mov_b32 v2, 0\ns_nop 3\n\
     v_readlane_b32 s10, v2, 5\ns_or_b64 exec, exec, s[8:9]\ns_nop 3\nv_mov_b32 v1, s10",
    // Some lanes in a branch, the others before it.
    "v_mov_b32 v1, 0x100\nv_cmp_gt_u32 vcc, 32, v0\ns_and_saveexec_b64 s[8:9], vcc\nv_mov_b32 v1, 0x80\n\
     v_lshlrev_b32 v1, 1, v1\ns_or_b64 exec, exec, s[8:9]",
    // Some lanes in each of two branches.
    "v_cmp_gt_u32 vcc, 32, v0\ns_and_saveexec_b64 s[8:9], vcc\ns_xor_b64 s[8:9], exec, s[8:9]\ns_cbranch_execz .Lelse\n\
     v_mov_b32 v1, 0x100\n.Lelse:\ns_andn2_saveexec_b64 s[10:11], s[8:9]\ns_cbranch_execz .Ldone\nv_mov_b32 v1, 0x100\n\
     .Ldone:\ns_or_b64 exec, exec, s[10:11]",
    // Lanes that the mask of an earlier turn had.
    "s_mov_b64 s[12:13], exec\nv_mov_b32 v1, 0x100\nv_mov_b32 v2, 32\ns_mov_b32 s14, 0\n.Lturn:\n\
     v_cmp_gt_u32 vcc, v2, v0\ns_and_saveexec_b64 s[8:9], vcc\nv_mov_b32 v1, 0x100\ns_cmp_eq_u32 s14, 1\n\
     s_cbranch_scc1 .Lout\ns_or_b64 exec, exec, s[8:9]\nv_mov_b32 v2, 16\ns_mov_b32 s14, 1\ns_branch .Lturn\n.Lout:\n\
     s_mov_b64 exec, s[12:13]",
    // Lanes that are deactivated in the end, of a mask that a scalar register kept.
    "v_mov_b32 v1, 0x100\ns_mov_b64 s[8:9], exec\ns_mov_b64 exec, 1\nv_mov_b32 v1, 0\nv_mov_b32 v1, 0x100\n\
     s_mov_b64 exec, s[8:9]",
    // A loop.
    "v_mov_b32 v1, 0\ns_mov_b32 s8, 0\n.Lloop:\nv_add_u32 v1, 0x20, v1\ns_add_i32 s8, s8, 1\ns_cmp_lt_i32 s8, 8\n\
     s_cbranch_scc1 .Lloop",
    // A loop that ends for each lane on its own.
    "v_mov_b32 v1, 0x100\nv_mov_b32 v2, v0\ns_mov_b64 s[8:9], 0\ns_mov_b64 s[10:11], exec\n.Llanes:\n\
     v_mov_b32 v1, 0x100\nv_subrev_u32 v2, 1, v2\nv_cmp_gt_i32 vcc, 0, v2\ns_or_b64 s[8:9], vcc, s[8:9]\n\
     s_andn2_b64 exec, s[10:11], s[8:9]\ns_cbranch_execnz .Llanes\ns_mov_b64 exec, s[10:11]",
    // Registers by a number from `m0`, and skipped instructions: not analysed.
    "v_mov_b32 v3, 0x100\ns_mov_b32 m0, 1\ns_set_gpr_idx_on m0, gpr_idx(SRC0)\nv_mov_b32 v1, v2\ns_set_gpr_idx_off",
    // A call: not analysed.
    "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, 16\ns_addc_u32 s9, s9, 0\ns_setpc_b64 s[8:9]\ns_nop 0\nv_mov_b32 v1, 0x100",
];

/// A load from the first buffer, if `v1` is 0x100 in all lanes.
fn load_at(way: &str) -> String {
    format!(
        "  v_lshlrev_b32_e32 v6, 2, v0\n{way}\n  s_sub_u32 s16, s4, 0x100\n  s_subb_u32 s17, s5, 0\n  \
         v_mov_b32 v10, s16\n  v_mov_b32 v11, s17\n  v_lshl_add_u64 v[10:11], v[10:11], 0, 0\n  v_mov_b32 v2, v1\n  \
         v_add_co_u32 v10, vcc, v10, v2\n  v_addc_co_u32 v11, vcc, 0, v11, vcc\n  \
         global_load_dword v5, v[10:11], off\n  s_waitcnt vmcnt(0)\n"
    )
}

#[test]
fn addresses_are_computed() {
    for way in WAYS {
        let body = load_at(way);
        let kernel = Small::new(Gpu::Gfx942, &body);
        let whole = launch(&kernel, Product::Mi300x);
        let estimated = estimate(&kernel, Product::Mi300x);
        let estimated = estimated.unwrap_or_else(|error| panic!("{way}\n{error}"));
        assert_eq!(estimated.cycles, whole.cycles, "{way}");
    }
    // With another value, the load would fault.
    let wrong = load_at("v_mov_b32 v1, 0x80");
    assert!(estimate(&Small::new(Gpu::Gfx942, &wrong), Product::Mi300x).is_err());
}

/// The second wave loads what the first has stored, and no instruction of it stores.
#[test]
fn addresses_come_from_other_waves() {
    let way = "v_readfirstlane_b32 s8, v0\nv_mov_b32 v3, 0\nv_mov_b32 v1, 0x100\ns_cmp_eq_u32 s8, 0\n\
               s_cbranch_scc0 .Lsecond\nv_mov_b32 v2, 0x80\nglobal_store_dword v3, v2, s[6:7] offset:64 sc1\n\
               s_waitcnt vmcnt(0)\nglobal_atomic_add v3, v2, s[6:7]\ns_branch .Lfirst\n.Lsecond:\n\
               global_load_dword v2, v3, s[6:7] sc1\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s9, v2\ns_sleep 1\n\
               s_cmp_eq_u32 s9, 0\ns_cbranch_scc1 .Lsecond\nglobal_load_dword v1, v3, s[6:7] offset:64\n\
               s_waitcnt vmcnt(0)\nv_lshlrev_b32 v1, 1, v1\n.Lfirst:";
    let body = load_at(way);
    let kernel = Small::new(Gpu::Gfx942, &body).threads(128);
    estimate(&kernel, Product::Mi300x).expect("the address is in the buffer");
}

/// gfx908 has scalar stores; scalar loads find them in the same cache.
#[test]
fn addresses_come_from_scalar_stores() {
    let body = "  v_mov_b32 v2, 0x100\n  v_readfirstlane_b32 s8, v2\n  s_nop 3\n  s_store_dword s8, s[6:7], 0x0\n  \
                s_waitcnt lgkmcnt(0)\n  s_load_dword s9, s[6:7], 0x0\n  s_waitcnt lgkmcnt(0)\n  \
                s_sub_u32 s9, s9, 0x100\n  v_mov_b32 v1, s9\n  global_load_dword v5, v1, s[4:5]\n  \
                s_waitcnt vmcnt(0)\n";
    let kernel = Small::new(Gpu::Gfx908, body);
    let whole = launch(&kernel, Product::Mi100);
    let estimated = estimate(&kernel, Product::Mi100).expect("the address is in the buffer");
    assert_eq!(estimated.cycles, whole.cycles);
}

#[test]
fn addresses_are_computed_in_waves_of_32_lanes() {
    let body = "  v_mov_b32 v1, 0x100\n  v_cmp_gt_u32 vcc_lo, 16, v0\n  s_mov_b32 s8, exec_lo\n  v_cmpx_gt_u32 16, v0\n  \
                v_mov_b32 v1, 0x80\n  v_dual_add_f32 v2, v3, v4 :: v_dual_lshlrev_b32 v1, 1, v1\n  \
                s_or_b32 exec_lo, exec_lo, s8\n  v_add_nc_u32 v1, 0xffffff00, v1\n  \
                global_load_b32 v5, v1, s[4:5]\n  \
                s_waitcnt vmcnt(0)\n";
    let kernel = Small::wave32(Gpu::Gfx1100, body);
    let whole = launch(&kernel, Product::Rx7900Xtx);
    let estimated = estimate(&kernel, Product::Rx7900Xtx).expect("the address is in the buffer");
    assert_eq!(estimated.cycles, whole.cycles);
}
