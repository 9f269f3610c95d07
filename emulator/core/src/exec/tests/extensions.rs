//! SDWA and DPP.

use ferrowave_gpu::Gpu;

use super::{Bench, Check, Values, f, nan32, wave};

#[test]
fn parts_of_sources_and_results() {
    let check = |text| Check::new(text, Values::Integer).gpu(Gpu::Gfx90a);
    check("v_add_u32_sdwa v6, v0, v2 dst_sel:DWORD src0_sel:BYTE_1 src1_sel:WORD_1")
        .run(|[a, b, ..]| (a >> 8 & 0xff) + (b >> 16 & 0xffff));
    check("v_add_u32_sdwa v6, sext(v0), v2 dst_sel:DWORD src0_sel:BYTE_3 src1_sel:DWORD")
        .run(|[a, b, ..]| ((a >> 24) as i8 as u64).wrapping_add(b));
    check("v_or_b32_sdwa v6, v0, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD")
        .run(|[a, b, _, old]| old & 0xff00_ffff | ((a | b) & 0xff) << 16);
    check("v_lshlrev_b32_sdwa v6, v0, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_0")
        .run(|[a, b, ..]| ((b & 0xffff) << (a & 31) & 0xffff) << 16);
    check("v_mov_b32_sdwa v6, v0 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_2")
        .run(|[a, ..]| ((a >> 16) as i8 as u64) << 8);
    // A scalar as a source.
    let bench = Bench::new(
        Gpu::Gfx90a,
        &["v_add_u32_sdwa v6, s2, v0 dst_sel:DWORD src0_sel:BYTE_1 src1_sel:BYTE_0"],
    );
    for level in bench.levels() {
        let mut wave = wave();
        wave.set_scalar(2, 0x1234);
        bench.step(level, 0, &mut wave);
        assert_eq!(wave.lanes(6).as_array()[0], 0x12 + 0xef);
    }
}

#[test]
fn half_precision_parts() {
    Check::new(
        "v_add_f16_sdwa v6, v0, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0",
        Values::F16,
    )
    .gpu(Gpu::Gfx90a)
    .run(|[a, b, _, old]| {
        let h = |x: u64| f16::from_bits(x as u16);
        let sum = h(a) + h(b);
        let nan = [a, b].into_iter().find(|&s| h(s).is_nan());
        let bits = match nan {
            Some(nan) => nan as u16 | 0x200,
            None if sum.is_nan() => 0x7e00,
            None => sum.to_bits(),
        };
        old & 0xffff | u64::from(bits) << 16
    });
}

#[test]
fn compares_of_parts() {
    let bench = Bench::new(
        Gpu::Gfx90a,
        &["v_cmp_eq_u32_sdwa s[4:5], v0, v2 src0_sel:BYTE_1 src1_sel:BYTE_0"],
    );
    for level in bench.levels() {
        let mut wave = wave();
        for lane in 0..64 {
            wave.lanes_mut(0).as_mut_array()[lane] = 0x700;
            wave.lanes_mut(2).as_mut_array()[lane] = lane as u32;
        }
        bench.step(level, 0, &mut wave);
        assert_eq!(wave.scalar_pair(4), 1 << 7);
    }
}

/// Runs a DPP move of lane numbers, and returns what each lane received.
fn moved(gpu: Gpu, modifiers: &str, exec: u64) -> [u32; 64] {
    let bench = Bench::new(gpu, &[&format!("v_mov_b32_dpp v6, v0 {modifiers}")]);
    let mut results = bench.levels().map(|level| {
        let mut wave = wave();
        wave.exec = exec;
        for lane in 0..64 {
            wave.lanes_mut(0).as_mut_array()[lane] = 100 + lane as u32;
        }
        bench.step(level, 0, &mut wave);
        assert_eq!(wave.exec, exec);
        *wave.lanes(6).as_array()
    });
    let first = results.next().unwrap();
    assert!(results.all(|other| other == first));
    first
}

#[test]
fn lanes_are_permuted() {
    let old = super::UNTOUCHED;
    let at = |lanes: [u32; 64], picks: [usize; 4]| picks.map(|lane| lanes[lane]);
    let quad = moved(
        Gpu::Gfx90a,
        "quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
        !0,
    );
    assert_eq!(at(quad, [0, 1, 62, 63]), [103, 102, 161, 160]);
    let left = moved(Gpu::Gfx90a, "row_shl:3 row_mask:0xf bank_mask:0xf", !0);
    assert_eq!(at(left, [0, 12, 13, 15]), [103, 115, old, old]);
    let zeros = moved(
        Gpu::Gfx90a,
        "row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1",
        !0,
    );
    assert_eq!(at(zeros, [0, 1, 16, 17]), [0, 100, 0, 116]);
    let rotated = moved(Gpu::Gfx90a, "row_ror:4 row_mask:0xf bank_mask:0xf", !0);
    assert_eq!(at(rotated, [0, 3, 4, 20]), [112, 115, 100, 116]);
    let mirrored = moved(Gpu::Gfx90a, "row_mirror row_mask:0xf bank_mask:0xf", !0);
    assert_eq!(at(mirrored, [0, 15, 16, 63]), [115, 100, 131, 148]);
    let masked = moved(Gpu::Gfx90a, "row_mirror row_mask:0x5 bank_mask:0x3", !0);
    assert_eq!(at(masked, [0, 8, 16, 39]), [115, old, old, 140]);
    let wave_shift = moved(Gpu::Gfx908, "wave_shr:1 row_mask:0xf bank_mask:0xf", !0);
    assert_eq!(at(wave_shift, [0, 1, 16, 63]), [old, 100, 115, 162]);
    let broadcast = moved(Gpu::Gfx908, "row_bcast:15 row_mask:0xa bank_mask:0xf", !0);
    assert_eq!(at(broadcast, [15, 16, 31, 48]), [old, 115, 115, 147]);
    let first_row = moved(Gpu::Gfx90a, "row_bcast:15 row_mask:0xf bank_mask:0xf", !0);
    assert_eq!(at(first_row, [0, 15, 16, 63]), [100, 115, 115, 147]);
    let first_half = moved(
        Gpu::Gfx90a,
        "row_bcast:31 row_mask:0xf bank_mask:0xf bound_ctrl:1",
        !0,
    );
    assert_eq!(at(first_half, [0, 31, 32, 63]), [100, 131, 131, 131]);
    let new = moved(Gpu::Gfx90a, "row_newbcast:2 row_mask:0xf bank_mask:0xf", !0);
    assert_eq!(at(new, [0, 17, 40, 63]), [102, 118, 134, 150]);
    // An inactive lane is not a source.
    let off = moved(Gpu::Gfx90a, "row_shl:1 row_mask:0xf bank_mask:0xf", !2);
    assert_eq!(at(off, [0, 1, 2, 3]), [old, old, 103, 104]);
}

#[test]
fn sources_are_modified_after_they_moved() {
    Check::new(
        "v_add_f32_dpp v6, -v0, |v2| quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf",
        Values::F32,
    )
    .gpu(Gpu::Gfx90a)
    .run(|[a, b, ..]| {
        let (a, b) = (a ^ 0x8000_0000, b & 0x7fff_ffff);
        nan32(f(a) + f(b), &[a as u32, b as u32])
    });
}
