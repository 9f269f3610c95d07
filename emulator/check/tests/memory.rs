//! Checks of global memory and LDS: bugs that must be found, and code without bugs.

use ferrowave_check::{Check, Memory};
use ferrowave_gpu::Gpu;
use ferrowave_test_support::{Small, names};

const MEMORY: [Check; 1] = [Check::Memory];
const LDS: [Check; 1] = [Check::Lds];
const RACES: [Check; 1] = [Check::Races];

/// The findings in a kernel.
fn found(kernel: &Small<'_>, checks: [Check; 1]) -> Vec<(&'static str, String)> {
    names(&kernel.found(&checks.into()))
}

fn nothing(kernel: &Small<'_>, checks: [Check; 1]) {
    let findings = kernel.found(&checks.into());
    assert!(findings.is_empty(), "{}", findings[0]);
}

/// `v1` = 4 times the work-item's number in its workgroup.
const OFFSET: &str = "  v_lshlrev_b32_e32 v1, 2, v0\n";

#[test]
fn accesses_past_the_end() {
    let body = format!("{OFFSET}  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n");
    let mut kernel = Small::new(Gpu::Gfx942, &body);
    nothing(&kernel, MEMORY);
    kernel.buffers[0] = (240, 240);
    let findings = kernel.found(&MEMORY.into());
    assert_eq!(names(&findings).len(), 1);
    let finding = &findings[0];
    assert_eq!(finding.kind.id(), "out-of-bounds");
    assert_eq!(finding.wave.lanes, [60, 61, 62, 63]);
    let text = finding.to_string();
    assert!(
        text.contains("lanes 60 to 63, each reads 4 bytes"),
        "{text}"
    );
    assert!(
        text.contains("just past the end of the device allocation of 240 bytes"),
        "{text}"
    );
    // On another GPU: writes that cross the end of the buffer.
    let body = format!("{OFFSET}  global_store_dwordx2 v1, v[2:3], s[4:5] offset:4092\n");
    let kernel = Small::new(Gpu::Gfx908, &body);
    let findings = kernel.found(&MEMORY.into());
    assert_eq!(
        names(&findings),
        [(
            "out-of-bounds",
            "global_store_dwordx2 v1, v[2:3], s[4:5] offset:4092".into()
        )]
    );
    assert_eq!(findings[0].wave.lanes.len(), 64);
}

/// ROCr's loader copies constants to memory that kernels may write.
#[test]
fn writes_to_constants_are_reported_and_done() {
    let body = format!(
        "{OFFSET}  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, table@rel32@lo+4
  s_addc_u32 s9, s9, table@rel32@hi+12
  global_store_dword v1, v1, s[8:9]
  s_waitcnt vmcnt(0)
  global_load_dword v2, v1, s[8:9]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5]
  .section .rodata.table,\"a\",@progbits
  .p2align 6
table:
  .fill 64, 4, 7
  .text
"
    );
    let kernel = Small::new(Gpu::Gfx90a, &body);
    nothing(&kernel, RACES);
    let findings = kernel.found(&MEMORY.into());
    let line = "global_store_dword v1, v1, s[8:9]".to_owned();
    assert_eq!(names(&findings), [("out-of-bounds", line)]);
    let text = findings[0].to_string();
    let what = "lanes 0 to 63, each writes 4 bytes of the code object's constants";
    assert!(text.contains(what), "{text}");
    let (outcome, results) = kernel.run(|kernel, config| {
        let buffer = u64::from_le_bytes(*config.kernarg.as_chunks::<8>().0.first().expect("two"));
        let checked = ferrowave_check::launch(kernel, config, &RACES.into());
        let mut bytes = [0; 256];
        kernel.memory().read(buffer, &mut bytes).expect("inside");
        (checked.expect("it starts").outcome, bytes)
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    let expected: Vec<u8> = (0..64_u32)
        .flat_map(|lane| (4 * lane).to_le_bytes())
        .collect();
    assert_eq!(results[..], expected);
}

/// Which floating-point atomic operations do nothing on fine-grained memory: ROCm's documentation, «Hardware atomics
/// operation support».
#[test]
fn float_atomics_on_fine_grained_memory() {
    const CASES: [(Gpu, &str, bool); 12] = [
        (Gpu::Gfx908, "global_atomic_add_f32 v1, v2, s[4:5]", true),
        (
            Gpu::Gfx90a,
            "global_atomic_add_f32 v4, v1, v2, s[4:5] glc",
            true,
        ),
        (
            Gpu::Gfx90a,
            "global_atomic_pk_add_f16 v4, v1, v2, s[4:5] glc",
            true,
        ),
        (
            Gpu::Gfx90a,
            "global_atomic_add_f64 v[4:5], v3, v[6:7], s[4:5] glc",
            true,
        ),
        (
            Gpu::Gfx90a,
            "global_atomic_max_f64 v[4:5], v3, v[6:7], s[4:5] glc",
            true,
        ),
        (
            Gpu::Gfx90a,
            "flat_atomic_add_f64 v[4:5], v[8:9], v[6:7] glc",
            true,
        ),
        (
            Gpu::Gfx90a,
            "buffer_atomic_add_f32 v2, v1, s[12:15], 0 offen",
            true,
        ),
        (
            Gpu::Gfx90a,
            "global_atomic_add v4, v1, v2, s[4:5] glc",
            false,
        ),
        (
            Gpu::Gfx942,
            "global_atomic_add_f32 v4, v1, v2, s[4:5] sc0",
            false,
        ),
        (
            Gpu::Gfx942,
            "global_atomic_add_f64 v[4:5], v3, v[6:7], s[4:5] sc0",
            false,
        ),
        (
            Gpu::Gfx1100,
            "global_atomic_max_f32 v4, v1, v2, s[4:5] glc",
            true,
        ),
        (
            Gpu::Gfx1100,
            "global_atomic_add_u32 v4, v1, v2, s[4:5] glc",
            false,
        ),
    ];
    // 2 in f32, in each half, and in the high half of f64.
    const OLD: [u32; 2] = [0x4000_4000, 0x4000_0000];
    for (gpu, line, is_l2_only) in CASES {
        let wait = match gpu {
            Gpu::Gfx1100 => "s_waitcnt_vscnt null, 0",
            _ => "s_nop 0",
        };
        // v1, v3 and v[8:9] are the lane's place for 4 and 8 bytes; v2 and v[6:7] are 8.
        let body = format!(
            "{OFFSET}
  v_lshlrev_b32_e32 v3, 3, v0
  v_mov_b32_e32 v2, 0x41000000
  v_mov_b32_e32 v6, 0
  v_mov_b32_e32 v7, 0x40200000
  v_mov_b32_e32 v4, 1
  v_mov_b32_e32 v5, 1
  v_mov_b32_e32 v9, s5
  v_mov_b32_e32 v10, s4
  v_or_b32_e32 v8, v10, v3
  s_mov_b32 s12, s4
  s_mov_b32 s13, s5
  s_mov_b32 s14, 0x1000
  s_mov_b32 s15, 0x00027000
  {line}
  s_waitcnt vmcnt(0) lgkmcnt(0)
  {wait}
  global_store_dword v1, v4, s[6:7]
"
        );
        for fine in [false, true] {
            let (checked, after, returned) = Small::new(gpu, &body).run(|kernel, config| {
                let buffers = config.kernarg.as_chunks::<8>().0;
                let [buffer, result] = [0, 1].map(|index| u64::from_le_bytes(buffers[index]));
                let memory = kernel.memory();
                memory.set_fine_grained(buffer, fine).expect("it exists");
                let old: Vec<u8> = OLD.iter().flat_map(|word| word.to_le_bytes()).collect();
                memory.fill(buffer, &old, 512).expect("inside the buffer");
                let checked = ferrowave_check::launch(kernel, config, &MEMORY.into());
                let read = |address| {
                    let mut words = [0; 8];
                    memory.read(address, &mut words).expect("inside");
                    words
                        .as_chunks()
                        .0
                        .iter()
                        .map(|word| u32::from_le_bytes(*word))
                        .collect::<Vec<_>>()
                };
                (checked.expect("it starts"), read(buffer), read(result))
            });
            assert!(checked.outcome.is_ok(), "{line}: {:?}", checked.outcome);
            let does_nothing = fine && is_l2_only;
            assert_eq!(after == OLD, does_nothing, "{gpu}: {line}: {after:x?}");
            let returns = line.contains("glc") || line.contains("sc0");
            if returns {
                let is_wide = line.contains("f64");
                let expected = match (does_nothing, is_wide) {
                    (true, _) => 0,
                    (false, _) => OLD[0],
                };
                assert_eq!(returned[0], expected, "{gpu}: {line}");
            }
            let found = names(&checked.findings);
            match does_nothing {
                true => {
                    assert_eq!(found, [("fine-grained-atomic", line.to_owned())]);
                    let text = checked.findings[0].to_string();
                    let what = format!("of fine-grained memory, and returns 0, on {gpu}");
                    assert!(text.contains(&what), "{text}");
                }
                false => assert!(found.is_empty(), "{gpu}: {line}: {found:?}"),
            }
        }
    }
}

/// Accesses that stay in an allocation's last page: a GPU does not notice them.
#[test]
fn accesses_behind_the_end_are_found_unless_a_scalar_load_was_widened() {
    // 12 bytes, and 76 bytes, whose last 12 begin a block of 64.
    let cases = [
        (12, "s_load_dwordx4 s[8:11], s[4:5], 0x0", None),
        (12, "s_load_dwordx16 s[8:23], s[4:5], 0x0", None),
        (76, "s_load_dwordx4 s[8:11], s[4:5], 0x40", None),
        (76, "s_load_dwordx2 s[8:9], s[4:5], 0x48", None),
        (
            12,
            "s_load_dword s8, s[4:5], 0xc",
            Some("just past the end of"),
        ),
        (
            12,
            "s_load_dwordx16 s[8:23], s[4:5], 0x8",
            Some("of which some lie past the end of"),
        ),
        (
            12,
            "s_load_dword s8, s[4:5], 0xffc",
            Some("4080 bytes past the end of"),
        ),
        (
            12,
            "global_load_dwordx4 v[4:7], v1, s[4:5]",
            Some("of which some lie past the end of"),
        ),
        (
            12,
            "global_load_dword v4, v1, s[4:5] offset:12",
            Some("just past the end of"),
        ),
        (
            12,
            "global_load_ubyte v4, v1, s[4:5] offset:4095",
            Some("4083 bytes past the end of"),
        ),
        (12, "global_load_dwordx3 v[4:6], v1, s[4:5]", None),
        (
            12,
            "global_load_lds_dword v1, s[4:5] offset:12",
            Some("just past the end of"),
        ),
        (
            12,
            "global_store_dword v1, v4, s[4:5] offset:12",
            Some("just past the end of"),
        ),
        (
            12,
            "global_store_dwordx2 v1, v[4:5], s[4:5] offset:8",
            Some("of which some lie past the end of"),
        ),
        (
            12,
            "global_store_byte v1, v4, s[4:5] offset:4095",
            Some("4083 bytes past the end of"),
        ),
        (
            12,
            "flat_store_dword v[2:3], v4 offset:16",
            Some("4 bytes past the end of"),
        ),
        (
            12,
            "buffer_store_short v4, v1, s[12:15], 0 offen offset:14",
            Some("2 bytes past the end of"),
        ),
        (
            12,
            "global_atomic_add v1, v4, s[4:5] offset:12",
            Some("just past the end of"),
        ),
        (
            12,
            "global_atomic_add_x2 v1, v[4:5], s[4:5] offset:8",
            Some("of which some lie past the end of"),
        ),
        (
            12,
            "flat_atomic_add v[2:3], v4 offset:16",
            Some("4 bytes past the end of"),
        ),
        (
            12,
            "buffer_atomic_add v4, v1, s[12:15], 0 offen offset:4092",
            Some("4080 bytes past the end of"),
        ),
        (12, "global_store_dwordx3 v1, v[4:6], s[4:5]", None),
    ];
    for (bytes, access, expected) in cases {
        // v[2:3] is the buffer's address, s[12:15] a resource without an end.
        let body = format!(
            "  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  v_mov_b32_e32 v4, 1
  v_mov_b32_e32 v5, 0
  v_mov_b32_e32 v6, 0
  s_mov_b32 m0, 0
  s_mov_b32 s12, s4
  s_mov_b32 s13, s5
  s_mov_b32 s14, -1
  s_mov_b32 s15, 0x00027000
  {access}
  s_waitcnt vmcnt(0) lgkmcnt(0)
"
        );
        let mut kernel = Small::new(Gpu::Gfx942, &body).workgroups(3);
        kernel.lds_bytes = 256;
        kernel.buffers[0] = (bytes, bytes);
        let (checked, _) = kernel.launch(&MEMORY.into());
        assert!(checked.outcome.is_ok(), "{access}");
        let Some(place) = expected else {
            assert!(checked.findings.is_empty(), "{}", checked.findings[0]);
            continue;
        };
        assert_eq!(names(&checked.findings), [("out-of-bounds", access.into())]);
        let finding = &checked.findings[0];
        assert_eq!(finding.count, 3, "once in each workgroup");
        let lanes = if access.starts_with("s_") { 0 } else { 64 };
        assert_eq!(finding.wave.lanes.len(), lanes);
        let text = finding.to_string();
        let place = format!("{place} the device allocation of {bytes} bytes");
        let verb = match access.contains("store") || access.contains("atomic") {
            true => "writes",
            false => "reads",
        };
        assert!(text.contains(&place) && text.contains(verb), "{text}");
    }
    // Scalar stores are not widened.
    let body = "  s_store_dwordx2 s[6:7], s[4:5], 0x8\n  s_waitcnt lgkmcnt(0)\n";
    let mut kernel = Small::new(Gpu::Gfx908, body);
    kernel.buffers[0] = (12, 12);
    let findings = kernel.found(&MEMORY.into());
    assert_eq!(
        names(&findings),
        [(
            "out-of-bounds",
            "s_store_dwordx2 s[6:7], s[4:5], 0x8".into()
        )]
    );
    // The finding names only the lanes that leave the allocation.
    let body = format!("{OFFSET}  global_load_dwordx2 v[4:5], v1, s[4:5]\n  s_waitcnt vmcnt(0)\n");
    let mut kernel = Small::new(Gpu::Gfx908, &body);
    kernel.buffers[0] = (240, 240);
    let findings = kernel.found(&MEMORY.into());
    assert_eq!(findings[0].wave.lanes, (59..64).collect::<Vec<u8>>());
    assert!(
        findings[0]
            .to_string()
            .contains("of which some lie past the end")
    );
}

/// What stops a launch without checks stops it with them.
#[test]
fn accesses_that_leave_the_block_stop_the_launch() {
    for access in [
        "s_load_dwordx4 s[8:11], s[4:5], s12",
        "global_load_dword v4, v3, s[4:5] offset:4093",
        "global_store_dword v3, v4, s[4:5] offset:4093",
        "global_atomic_add v2, v4, s[4:5]",
    ] {
        let body = format!(
            "  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, 0x200000
  v_mov_b32_e32 v3, 0x1ff000
  s_mov_b32 s12, 0x1ffff4
  {access}
  s_waitcnt vmcnt(0) lgkmcnt(0)
"
        );
        let mut kernel = Small::new(Gpu::Gfx90a, &body);
        kernel.buffers[0] = (12, 12);
        let (checked, _) = kernel.launch(&MEMORY.into());
        let error = checked.outcome.expect_err(access).to_string();
        assert!(
            error.contains("the end of the device allocation of 12 bytes"),
            "{error}"
        );
        assert_eq!(names(&checked.findings), [("out-of-bounds", access.into())]);
    }
}

#[test]
fn accesses_to_what_was_freed() {
    for (gpu, access) in [
        (Gpu::Gfx942, "global_load_dword v2, v1, s[6:7]"),
        (Gpu::Gfx90a, "global_store_dword v1, v1, s[6:7]"),
        (Gpu::Gfx908, "s_load_dword s8, s[6:7], 0x8"),
    ] {
        let body = format!("{OFFSET}  {access}\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n");
        let mut kernel = Small::new(gpu, &body);
        nothing(&kernel, MEMORY);
        kernel.free_b = true;
        let findings = kernel.found(&MEMORY.into());
        assert_eq!(names(&findings), [("use-after-free", access.into())]);
        let text = findings[0].to_string();
        assert!(text.contains("of 4096 bytes"), "{text}");
        assert!(text.contains("which was freed"), "{text}");
    }
}

#[test]
fn reads_of_what_nobody_wrote() {
    let load = format!("{OFFSET}  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n");
    let mut kernel = Small::new(Gpu::Gfx950, &load);
    nothing(&kernel, MEMORY);
    kernel.buffers[0] = (4096, 101);
    let findings = kernel.found(&MEMORY.into());
    assert_eq!(
        names(&findings),
        [(
            "uninitialized-memory",
            "global_load_dword v2, v1, s[4:5]".into()
        )]
    );
    // Byte 100 (lane 25) was written, the three bytes after it were not.
    assert_eq!(findings[0].wave.lanes, (25..64).collect::<Vec<u8>>());
    let Some(Memory::Global {
        allocation: Some(allocation),
        ..
    }) = &findings[0].memory
    else {
        panic!("{findings:?}");
    };
    assert_eq!((allocation.offset, allocation.bytes), (101, 4096));
    // A kernel may read what it has written.
    let both = format!("{OFFSET}  global_store_dword v1, v0, s[4:5]\n{load}");
    let mut kernel = Small::new(Gpu::Gfx950, &both);
    kernel.buffers[0] = (4096, 0);
    nothing(&kernel, MEMORY);
    // Scalar loads, and atomics on uninitialized data.
    for access in [
        "s_load_dwordx2 s[8:9], s[4:5], 0x10",
        "global_atomic_add v1, v0, s[4:5]",
    ] {
        let body = format!("{OFFSET}  {access}\n  s_waitcnt lgkmcnt(0)\n");
        let mut kernel = Small::new(Gpu::Gfx90a, &body);
        nothing(&kernel, MEMORY);
        kernel.buffers[0] = (4096, 0);
        assert_eq!(
            found(&kernel, MEMORY),
            [("uninitialized-memory", access.into())]
        );
    }
}

#[test]
fn misaligned_addresses() {
    let body = "  s_add_u32 s4, s4, 2\n  s_load_dword s8, s[4:5], 0x8\n  s_waitcnt lgkmcnt(0)\n";
    assert_eq!(
        found(&Small::new(Gpu::Gfx942, body), MEMORY),
        [("misaligned", "s_load_dword s8, s[4:5], 0x8".into())]
    );
    let body = "  v_mov_b32_e32 v1, 2\n  global_atomic_add v1, v0, s[4:5]\n";
    assert_eq!(
        found(&Small::new(Gpu::Gfx90a, body), MEMORY),
        [("misaligned", "global_atomic_add v1, v0, s[4:5]".into())]
    );
    let body = "  v_mov_b32_e32 v1, 4\n  global_atomic_add v1, v0, s[4:5]\n  s_load_dword s8, s[4:5], 0x8\n  s_waitcnt lgkmcnt(0)\n";
    nothing(&Small::new(Gpu::Gfx90a, body), MEMORY);
}

#[test]
fn lds_out_of_range_and_never_written() {
    let body = format!("{OFFSET}  ds_write_b32 v1, v0 offset:800\n");
    let findings = Small::new(Gpu::Gfx942, &body).found(&LDS.into());
    assert_eq!(
        names(&findings),
        [("lds-out-of-bounds", "ds_write_b32 v1, v0 offset:800".into())]
    );
    assert_eq!(findings[0].wave.lanes, (56..64).collect::<Vec<u8>>());
    let text = findings[0].to_string();
    assert!(
        text.contains("writes 4 bytes, but the workgroup has 1024 bytes of LDS"),
        "{text}"
    );
    let body = format!(
        "{OFFSET}  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n  ds_read_b32 v2, v1 offset:16\n  s_waitcnt lgkmcnt(0)\n"
    );
    let findings = Small::new(Gpu::Gfx908, &body).found(&LDS.into());
    assert_eq!(
        names(&findings),
        [("uninitialized-lds", "ds_read_b32 v2, v1 offset:16".into())]
    );
    assert_eq!(findings[0].wave.lanes, [60, 61, 62, 63]);
    let Some(Memory::Lds { offset, .. }) = findings[0].memory else {
        panic!("{findings:?}");
    };
    assert_eq!(offset, 256);
    let body = format!(
        "{OFFSET}  ds_write_b32 v1, v0\n  ds_write_b8 v1, v0 offset:256\n  s_waitcnt lgkmcnt(0)\n  ds_read2_b32 v[2:3], v1 offset0:0 offset1:1\n  s_waitcnt lgkmcnt(0)\n"
    );
    // Of the dword after lane 63's, only every fourth byte was written.
    assert_eq!(
        found(&Small::new(Gpu::Gfx90a, &body), LDS),
        [(
            "uninitialized-lds",
            "ds_read2_b32 v[2:3], v1 offset1:1".into()
        )]
    );
    // A workgroup does not see what the previous one wrote.
    let body = "  v_lshlrev_b32_e32 v1, 2, v0
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 .Lread
  ds_write_b32 v1, v0
  s_endpgm
.Lread:
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
";
    let findings = Small::new(Gpu::Gfx942, body)
        .workgroups(3)
        .found(&LDS.into());
    assert_eq!(
        names(&findings),
        [("uninitialized-lds", "ds_read_b32 v2, v1".into())]
    );
    assert_eq!(
        (findings[0].count, findings[0].wave.workgroup),
        (2, [1, 0, 0])
    );
}

/// Hardware drops accesses outside of LDS, so that the launch continues. Lanes with one common, far address are masked.
/// A small excess, a negative index, or different addresses are bugs.
#[test]
fn masked_lanes_are_told_from_mistakes() {
    // Odd lanes use other addresses, whose distance may depend on the lane's number.
    let store = |base: &str, factor: &str, access: &str| {
        format!(
            "{OFFSET}  v_and_b32_e32 v2, 1, v0
  v_cmp_eq_u32_e32 vcc, 1, v2
  s_mov_b32 s8, {base}
  s_mov_b32 s9, {factor}
  v_mov_b32_e32 v3, s8
  v_mul_lo_u32 v4, v0, s9
  v_add_u32_e32 v3, v3, v4
  v_cndmask_b32_e32 v1, v1, v3, vcc
  {access}
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32_e32 v5, 2, v0
  global_store_dword v5, v0, s[6:7]
"
        )
    };
    let odd: Vec<u8> = (0..64).filter(|lane| lane % 2 == 1).collect();
    let write = "ds_write_b32 v1, v0";
    for (base, factor, access, mistaken) in [
        // Tensile's mask, without and with an offset.
        ("0xf00000", "0", write, false),
        (
            "0xf00000",
            "0",
            "ds_write2_b32 v1, v0, v0 offset1:64",
            false,
        ),
        // One past the end of the workgroup's LDS, and of the LDS of any GPU; negative; far, but different in each
        // lane.
        ("1024", "0", write, true),
        ("0x10000", "0", write, true),
        ("0x28000", "0", write, true),
        ("-4", "0", write, true),
        ("0xf00000", "4", write, true),
    ] {
        let body = store(base, factor, access);
        let kernel = Small::new(Gpu::Gfx908, &body);
        let (checked, _) = kernel.launch(&LDS.into());
        assert!(checked.outcome.is_ok(), "{body}: {:?}", checked.outcome);
        match mistaken {
            false => assert!(checked.findings.is_empty(), "{body}"),
            true => {
                let expected = [("lds-out-of-bounds", access.to_owned())];
                assert_eq!(names(&checked.findings), expected, "{body}");
                assert_eq!(checked.findings[0].wave.lanes, odd, "{body}");
            }
        }
        // Without the LDS check there are no findings.
        nothing(&kernel, MEMORY);
    }
    // The hardware allocates more than the workgroup asked for; the check uses the exact size.
    let body = format!("{OFFSET}  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n");
    let kernel = Small {
        lds_bytes: 248,
        ..Small::new(Gpu::Gfx942, &body)
    };
    let findings = kernel.found(&LDS.into());
    assert_eq!(names(&findings), [("lds-out-of-bounds", write.into())]);
    assert_eq!(findings[0].wave.lanes, [62, 63]);
    let body = "  v_mov_b32_e32 v1, 0\n  ds_read_b32 v2, v1 gds\n  s_waitcnt lgkmcnt(0)\n";
    let findings = Small::new(Gpu::Gfx908, body).found(&LDS.into());
    let access = "ds_read_b32 v2, v1 gds";
    assert_eq!(names(&findings), [("lds-out-of-bounds", access.into())]);
    assert!(findings[0].to_string().contains("global data share"));
}

#[test]
fn lds_races_between_waves() {
    // Each wave reads what the other wave wrote.
    let exchange = |between: &str| {
        format!(
            "{OFFSET}  ds_write_b32 v1, v0
{between}
  v_xor_b32_e32 v2, 0x100, v1
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
"
        )
    };
    let ordered = exchange("  s_waitcnt lgkmcnt(0)\n  s_barrier");
    nothing(&Small::new(Gpu::Gfx942, &ordered).threads(128), LDS);
    let alone = exchange("  s_waitcnt lgkmcnt(0)");
    let findings = Small::new(Gpu::Gfx942, &alone)
        .threads(128)
        .found(&LDS.into());
    // The first wave may also read before the other has written.
    let races: Vec<_> = findings
        .iter()
        .filter(|f| f.kind.id() == "lds-race")
        .collect();
    assert_eq!(races.len(), 2, "{findings:?}");
    for race in races {
        let other = race.other.as_ref().expect("the other side");
        assert_ne!(race.wave.wave, other.wave);
        assert!(other.instruction.is_some());
    }
    // No wait before the barrier.
    let in_flight = exchange("  s_barrier");
    let findings = Small::new(Gpu::Gfx90a, &in_flight)
        .threads(128)
        .found(&LDS.into());
    let names = names(&findings);
    assert_eq!(
        names,
        [("lds-in-flight-at-barrier", "ds_read_b32 v3, v2".into())]
    );
    assert!(
        findings[0]
            .to_string()
            .contains("not waited for before the barrier")
    );
    // Two waves write the same byte, or neighbouring bytes.
    let writes = |shift: u32| {
        format!(
            "  v_lshrrev_b32_e32 v1, {shift}, v0\n  ds_write_b8 v1, v0\n  s_waitcnt lgkmcnt(0)\n"
        )
    };
    nothing(&Small::new(Gpu::Gfx908, &writes(0)).threads(256), LDS);
    let same = "  v_and_b32_e32 v1, 63, v0\n  ds_write_b8 v1, v0\n  s_waitcnt lgkmcnt(0)\n";
    assert_eq!(
        found(&Small::new(Gpu::Gfx908, same).threads(128), LDS),
        [("lds-race", "ds_write_b8 v1, v0".into())]
    );
    // Atomic operations do not race with each other.
    let atomics = "  v_mov_b32_e32 v1, 0
  v_cmp_eq_u32_e32 vcc, 0, v0
  s_and_saveexec_b64 s[8:9], vcc
  ds_write_b32 v1, v1
  s_mov_b64 exec, s[8:9]
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_add_u32 v1, v0
  s_waitcnt lgkmcnt(0)
";
    nothing(&Small::new(Gpu::Gfx942, atomics).threads(256), LDS);
    // But they race with plain reads.
    let mixed = format!("{atomics}  ds_read_b32 v2, v1\n  s_waitcnt lgkmcnt(0)\n");
    let found = found(&Small::new(Gpu::Gfx942, &mixed).threads(256), LDS);
    assert!(
        found.iter().all(|(kind, _)| *kind == "lds-race"),
        "{found:?}"
    );
    assert!(!found.is_empty());
}

#[test]
fn loads_to_lds_are_in_flight_until_vmcnt() {
    // Each wave loads 256 bytes to its part of LDS and reads the other wave's part.
    let body = |wait: &str| {
        format!(
            "{OFFSET}  v_readfirstlane_b32 s8, v1
  s_mov_b32 m0, s8
  s_nop 0
  global_load_lds_dword v1, s[4:5]
{wait}
  s_barrier
  v_xor_b32_e32 v2, 0x100, v1
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
"
        )
    };
    let waits = body("  s_waitcnt vmcnt(0)");
    nothing(&Small::new(Gpu::Gfx942, &waits).threads(128), LDS);
    let runs = body("  s_waitcnt lgkmcnt(0)");
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        let findings = found(&Small::new(gpu, &runs).threads(128), LDS);
        assert_eq!(
            findings,
            [("lds-in-flight-at-barrier", "ds_read_b32 v3, v2".into())]
        );
    }
}

#[test]
fn races_between_workgroups() {
    // Every workgroup writes the same 64 dwords.
    let same = format!("{OFFSET}  global_store_dword v1, v0, s[4:5]\n");
    let kernel = Small::new(Gpu::Gfx942, &same);
    nothing(&kernel, RACES);
    let findings = kernel.workgroups(4).found(&RACES.into());
    assert_eq!(
        names(&findings),
        [("global-race", "global_store_dword v1, v0, s[4:5]".into())]
    );
    let other = findings[0].other.as_ref().expect("the other side");
    assert_ne!(other.workgroup, findings[0].wave.workgroup);
    // Separate dwords: no race. A neighbour's dword, read without order: a race.
    let own = "  v_lshl_add_u32 v1, s2, 6, v0
  v_lshlrev_b32_e32 v1, 2, v1
  global_store_dword v1, v0, s[4:5]
";
    nothing(&Small::new(Gpu::Gfx90a, own).workgroups(4), RACES);
    let neighbour =
        format!("{own}  global_load_dword v2, v1, s[4:5] offset:256\n  s_waitcnt vmcnt(0)\n");
    let findings = found(&Small::new(Gpu::Gfx90a, &neighbour).workgroups(4), RACES);
    assert!(!findings.is_empty());
    assert!(findings.iter().all(|(kind, _)| *kind == "global-race"));
    // Atomic operations do not race.
    let atomic = format!("{OFFSET}  global_atomic_add v1, v0, s[4:5]\n");
    nothing(&Small::new(Gpu::Gfx908, &atomic).workgroups(4), RACES);
}

#[test]
fn an_atomic_counter_orders_workgroups() {
    // Each workgroup writes a dword and increments a counter; the last one reads all dwords.
    let body = |before: &str, after: &str| {
        format!(
            "  v_mov_b32_e32 v3, 0
  s_lshl_b32 s8, s2, 2
  v_mov_b32_e32 v1, s8
  v_mov_b32_e32 v4, 1
  v_cmp_eq_u32_e32 vcc, 0, v0
  s_and_saveexec_b64 s[10:11], vcc
{before}
  global_atomic_add v5, v3, v4, s[6:7] glc
  s_waitcnt vmcnt(0)
{after}
  s_mov_b64 exec, s[10:11]
  v_readfirstlane_b32 s9, v5
  s_cmp_eq_u32 s9, 3
  s_cbranch_scc0 .Ldone
  v_and_b32_e32 v6, 3, v0
  v_lshlrev_b32_e32 v6, 2, v6
  global_load_dword v7, v6, s[4:5]
  s_waitcnt vmcnt(0)
.Ldone:
"
        )
    };
    let store = "  global_store_dword v1, v4, s[4:5]\n  s_waitcnt vmcnt(0)";
    nothing(
        &Small::new(Gpu::Gfx90a, &body(store, "")).workgroups(4),
        RACES,
    );
    // The counter is incremented before the data is written.
    let found = found(
        &Small::new(Gpu::Gfx90a, &body("", store)).workgroups(4),
        RACES,
    );
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|(kind, _)| *kind == "global-race"),
        "{found:?}"
    );
}

/// Compilers make atomic operations from a plain load and a loop of compare-and-swap.
#[test]
fn the_load_before_a_compare_and_swap_does_not_race_with_others() {
    let global = "  v_mov_b32_e32 v1, 0
  global_load_dword v5, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v3, v5
.Lagain:
  v_add_u32_e32 v2, 1, v3
  global_atomic_cmpswap v4, v1, v[2:3], s[4:5] sc0
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32_e32 vcc, v4, v3
  v_mov_b32_e32 v3, v4
  s_cbranch_vccz .Lagain
";
    let on = |body| Small::new(Gpu::Gfx942, body).threads(1).workgroups(4);
    nothing(&on(global), RACES);
    // The load is at an address of its own.
    let other = global.replace("dword v5, v1, s[4:5]", "dword v5, v0, s[4:5]");
    assert_ne!(found(&on(&other), RACES), []);
    let lds = "  v_mov_b32_e32 v1, 0
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
.Lagain:
  v_add_u32_e32 v2, 1, v3
  ds_cmpst_rtn_b32 v4, v1, v3, v2
  s_waitcnt lgkmcnt(0)
  v_cmp_eq_u32_e32 vcc, v4, v3
  v_mov_b32_e32 v3, v4
  s_cbranch_vccz .Lagain
";
    let races = |body: &str| {
        let kernel = Small::new(Gpu::Gfx942, body).threads(128);
        let found = names(&kernel.found(&LDS.into()));
        found.iter().filter(|(kind, _)| *kind == "lds-race").count()
    };
    assert_eq!(races(lds), 0);
    // The loaded value is not the expected one.
    assert_ne!(
        races(&lds.replace("ds_read_b32 v3, v1", "ds_read_b32 v6, v1")),
        0
    );
}

#[test]
fn races_inside_a_workgroup() {
    // Wave 1 reads what wave 0 writes.
    let body = |between: &str| {
        format!(
            "  v_lshlrev_b32_e32 v1, 2, v0
  v_xor_b32_e32 v2, 0x100, v1
  global_store_dword v1, v0, s[4:5]
{between}
  global_load_dword v3, v2, s[4:5]
  s_waitcnt vmcnt(0)
"
        )
    };
    let ordered = body("  s_waitcnt vmcnt(0)\n  s_barrier");
    nothing(&Small::new(Gpu::Gfx942, &ordered).threads(128), RACES);
    let findings = Small::new(Gpu::Gfx942, &body("  s_waitcnt vmcnt(0)"))
        .threads(128)
        .found(&RACES.into());
    assert!(!findings.is_empty());
    for finding in &findings {
        assert_eq!(finding.kind.id(), "global-race");
        let other = finding.other.as_ref().expect("the other side");
        assert_ne!(other.wave, finding.wave.wave);
    }
}
