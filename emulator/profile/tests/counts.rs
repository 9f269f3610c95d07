//! Counters, on kernels small enough to count by hand.

use ferrowave_emulator::dispatch::LaunchError;
use ferrowave_gpu::{Family, Gpu};
use ferrowave_profile::{self as profile, Counts, Format, InstructionProfile, Profile, Profiled};
use ferrowave_test_support::Small;

fn run(kernel: &Small<'_>) -> Profiled {
    kernel.run(|kernel, config| profile::launch(kernel, config).expect("it begins"))
}

fn profile(kernel: &Small<'_>) -> Profile {
    let Profiled { outcome, profile } = run(kernel);
    outcome.expect("a correct kernel");
    profile
}

/// The first instruction whose text starts with `text`.
fn instruction<'a>(profile: &'a Profile, text: &str) -> &'a InstructionProfile {
    profile
        .instructions
        .iter()
        .find(|instruction| instruction.place.text.starts_with(text))
        .unwrap_or_else(|| panic!("no `{text}` in {profile:?}"))
}

fn counts(profile: &Profile, text: &str) -> Counts {
    instruction(profile, text).counts
}

/// `v1` = 4 times the work-item's number in its workgroup.
const OFFSET: &str = "  v_lshlrev_b32_e32 v1, 2, v0\n";

#[test]
fn a_sum_of_two_buffers() {
    let body = format!(
        "{OFFSET}  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v2, v2, v3
  v_fma_f32 v2, v2, v2, v3
  s_barrier
  global_store_dword v1, v2, s[4:5]"
    );
    for &gpu in Family::Cdna.gpus() {
        // 3 workgroups of 2 waves.
        let profile = profile(&Small::new(gpu, &body).threads(128).workgroups(3));
        assert_eq!(
            (profile.launches, profile.workgroups, profile.waves),
            (1, 3, 6)
        );
        let totals = profile.totals();
        let classes: Vec<_> = totals
            .classes
            .iter()
            .map(|class| (class.name, class.wave_instructions))
            .collect();
        let expected = [
            ("scalar", 0),
            ("vector", 18),
            ("matrix", 0),
            ("scalar memory", 6),
            ("vector memory", 18),
            ("LDS", 0),
            ("branch", 6),
            ("barrier", 6),
            ("wait", 12),
            ("control", 0),
        ];
        assert_eq!(classes, expected);
        assert_eq!(totals.wave_instructions, 66);
        assert_eq!((totals.barriers, totals.waits), (6, 12));
        // 6 instructions with lanes, run by 6 waves.
        assert_eq!(
            (totals.active_lanes, totals.lanes),
            (6 * 6 * 64, 6 * 6 * 64)
        );
        assert_eq!(totals.divergent, 0);
        assert_eq!((totals.flops, totals.matrix_flops), (6 * 64 * 3, 0));
        // Two loads and a store of 4 bytes per lane: 256 aligned bytes.
        assert_eq!(totals.global_read_bytes, 2 * 6 * 256);
        assert_eq!(totals.global_written_bytes, 6 * 256);
        assert_eq!(totals.global_accesses, 18);
        assert_eq!((totals.lines_64, totals.lines_128), (18 * 4, 18 * 2));
        assert_eq!(totals.coalescing_efficiency, Some(1.0));
        assert_eq!(totals.scalar_bytes, 6 * 16);
        // 3 operations and 12 bytes per lane.
        assert_eq!(totals.operations_per_global_byte, Some(0.25));
        assert_eq!((totals.lds_bytes, totals.lds_accesses), (0, 0));
    }
}

#[test]
fn loops_and_lanes_that_are_off() {
    let body = "  s_mov_b32 s8, 10
.Lloop:
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lloop
  v_cmp_gt_u32_e32 vcc, 16, v0
  s_and_saveexec_b64 s[10:11], vcc
  v_mov_b32_e32 v2, 1
  s_mov_b64 exec, s[10:11]
  v_mov_b32_e32 v3, 1";
    // The second wave has 16 lanes.
    let profile = profile(&Small::new(Gpu::Gfx90a, body).threads(80));
    let branch = counts(&profile, "s_cbranch_scc1");
    assert_eq!((branch.executions, branch.taken), (20, 18));
    let compare = counts(&profile, "v_cmp_gt_u32");
    assert_eq!((compare.active_lanes, compare.divergent), (64 + 16, 0));
    // 16 lanes of the first wave, none of the second.
    let masked = counts(&profile, "v_mov_b32_e32 v2");
    assert_eq!(
        (masked.executions, masked.active_lanes, masked.divergent),
        (2, 16, 2)
    );
    let whole = counts(&profile, "v_mov_b32_e32 v3");
    assert_eq!((whole.active_lanes, whole.divergent), (64 + 16, 0));
    let totals = profile.totals();
    assert_eq!((totals.branches, totals.branches_taken), (20 + 2, 18));
    assert_eq!(totals.active_lanes, 80 + 16 + 80);
    assert_eq!((totals.lanes, totals.divergent), (3 * 128, 2));
}

#[test]
fn cache_lines_of_strides() {
    // A dword in every 64 bytes, 16 bytes in every 32, one dword for all lanes, two bytes for all: each byte counts
    // once.
    let body = "  v_lshlrev_b32_e32 v1, 6, v0
  v_lshlrev_b32_e32 v2, 5, v0
  v_mov_b32_e32 v3, 0
  global_load_dword v4, v1, s[4:5]
  global_load_dwordx4 v[4:7], v2, s[4:5]
  global_load_dword v8, v3, s[4:5]
  global_load_ushort v8, v3, s[4:5] offset:63
  s_waitcnt vmcnt(0)";
    for (gpu, efficiency) in [
        (
            Gpu::Gfx90a,
            (256. + 1024. + 4. + 2.) / (64. * (64. + 32. + 1. + 2.)),
        ),
        (
            Gpu::Gfx942,
            (256. + 1024. + 4. + 2.) / (128. * (32. + 16. + 1. + 1.)),
        ),
    ] {
        let profile = profile(&Small::new(gpu, body));
        let lines = |text| {
            let counts = counts(&profile, text);
            (counts.global_bytes, counts.lines_64, counts.lines_128)
        };
        assert_eq!(lines("global_load_dword v4"), (256, 64, 32));
        assert_eq!(lines("global_load_dwordx4"), (1024, 32, 16));
        assert_eq!(lines("global_load_dword v8"), (256, 1, 1));
        assert_eq!(lines("global_load_ushort"), (128, 2, 1));
        assert_eq!(profile.totals().coalescing_efficiency, Some(efficiency));
    }
}

#[test]
fn a_pattern_that_moves_touches_other_lines() {
    // 33 loads of 256 bytes, each 4 bytes after the previous one.
    let body = format!(
        "{OFFSET}  s_mov_b32 s8, 33
.Lloop:
  global_load_dword v2, v1, s[4:5]
  v_add_u32_e32 v1, 4, v1
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lloop
  s_waitcnt vmcnt(0)"
    );
    let load = counts(
        &profile(&Small::new(Gpu::Gfx942, &body)),
        "global_load_dword",
    );
    assert_eq!((load.executions, load.global_bytes), (33, 33 * 256));
    // Loads that start with a line touch 4 and 2 lines, the others one more.
    assert_eq!(load.lines_64, 3 * 4 + 30 * 5);
    assert_eq!(load.lines_128, 2 * 2 + 31 * 3);
}

#[test]
fn bank_conflicts_of_both_kinds_of_lds() {
    // Lanes 32 words apart; lanes 33 words apart, without conflicts; 16 bytes per lane, side by side and 64 bytes
    // apart.
    let body = "  v_mov_b32_e32 v9, 0
  v_lshlrev_b32_e32 v1, 7, v0
  v_mul_u32_u24_e32 v2, 132, v0
  v_lshlrev_b32_e32 v3, 4, v0
  v_lshlrev_b32_e32 v4, 6, v0
  ds_write_b32 v1, v0
  ds_read_b32 v5, v1
  ds_read2_b32 v[6:7], v1 offset1:1
  ds_add_u32 v9, v0
  ds_read_b32 v8, v9
  ds_read_b32 v10, v2
  ds_read_b128 v[12:15], v3
  ds_read_b128 v[16:19], v4
  ds_write_b128 v4, v[12:15] offset:16
  s_waitcnt lgkmcnt(0)";
    for (gpu, rows_read, wide_rows) in [
        (Gpu::Gfx908, 62, 24),
        (Gpu::Gfx90a, 62, 24),
        (Gpu::Gfx942, 62, 24),
        // One phase, whose lanes use two banks; four phases, in which 16 lanes use four groups of four banks.
        (Gpu::Gfx950, 31, 12),
    ] {
        let mut kernel = Small::new(gpu, body);
        kernel.lds_bytes = 16 << 10;
        let profile = profile(&kernel);
        let lds = |text| {
            let counts = counts(&profile, text);
            (
                counts.lds_accesses,
                counts.lds_bytes,
                counts.lds_conflict_cycles,
            )
        };
        assert_eq!(lds("ds_write_b32"), (1, 256, 62), "{gpu}");
        assert_eq!(lds("ds_read_b32 v5"), (1, 256, rows_read), "{gpu}");
        assert_eq!(lds("ds_read2_b32"), (2, 512, 2 * rows_read), "{gpu}");
        // 32 lanes at a time add to one word, serialized.
        assert_eq!(lds("ds_add_u32"), (1, 256, 62), "{gpu}");
        assert_eq!(lds("ds_read_b32 v8"), (1, 256, 0), "{gpu}");
        assert_eq!(lds("ds_read_b32 v10"), (1, 256, 0), "{gpu}");
        assert_eq!(lds("ds_read_b128 v[12:15]"), (1, 1024, 0), "{gpu}");
        // 16 words apart, every second of a phase's 8 lanes uses the same 4 of 32 banks: 4 cycles for each of 8 phases.
        // On 64 banks, every fourth of 16 lanes does: 4 cycles for each of 4 phases.
        assert_eq!(lds("ds_read_b128 v[16:19]"), (1, 1024, wide_rows), "{gpu}");
        assert_eq!(lds("ds_write_b128"), (1, 1024, 24), "{gpu}");
        let totals = profile.totals();
        assert_eq!(totals.lds_accesses, 10);
        let cycles = 62 + 3 * rows_read + 62 + wide_rows + 24;
        assert_eq!(totals.lds_conflict_cycles, cycles, "{gpu}");
        assert_eq!(totals.global_accesses, 0);
    }
}

#[test]
fn loads_to_lds_count_on_both_sides() {
    let body = format!(
        "{OFFSET}  s_mov_b32 m0, 0
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)"
    );
    let load = counts(&profile(&Small::new(Gpu::Gfx942, &body)), "global_load_lds");
    assert_eq!((load.global_bytes, load.lines_128), (256, 2));
    assert_eq!(
        (load.lds_bytes, load.lds_accesses, load.lds_conflict_cycles),
        (256, 1, 0)
    );
}

#[test]
fn occupancy_and_what_limits_it() {
    let occupied = |gpu, threads, lds_bytes| {
        let mut kernel = Small::new(gpu, "").threads(threads);
        kernel.lds_bytes = lds_bytes;
        profile(&kernel).occupied.expect("it ran")
    };
    // 128 of 512 registers per lane.
    let registers = occupied(Gpu::Gfx942, 64, 1024);
    assert_eq!((registers.vgprs, registers.sgprs), (128, 48));
    assert_eq!((registers.workgroup_size, registers.lds_bytes), (64, 1024));
    assert_eq!(registers.waves_per_simd, 4);
    assert_eq!(registers.limited_by, ["VGPRs"]);
    // Two workgroups of 4 waves on 4 SIMDs.
    let lds = occupied(Gpu::Gfx942, 256, 32 << 10);
    assert_eq!(
        (lds.workgroups_per_compute_unit, lds.waves_per_simd),
        (2, 2)
    );
    assert_eq!(lds.limited_by, ["LDS"]);
}

#[test]
fn a_launch_that_faults_was_counted_up_to_there() {
    let body = "  v_mov_b32_e32 v2, 0
  s_mov_b64 s[4:5], 0
  global_load_dword v2, v2, s[4:5]
  s_waitcnt vmcnt(0)";
    let kernel = Small::new(Gpu::Gfx942, body);
    let Profiled { outcome, profile } = run(&kernel);
    assert!(matches!(outcome, Err(LaunchError::Fault(_))), "{outcome:?}");
    assert_eq!(counts(&profile, "v_mov_b32_e32 v2").executions, 1);
    let load = counts(&profile, "global_load_dword");
    assert_eq!((load.executions, load.global_bytes), (1, 0));
    assert_eq!(counts(&profile, "s_endpgm").executions, 0);
}

#[test]
fn launches_of_a_kernel_add_up() {
    let body = format!("{OFFSET}  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)");
    let twice = Small::new(Gpu::Gfx950, &body)
        .workgroups(5)
        .run(|kernel, config| {
            let mut profile = Profile::new(kernel);
            for _ in 0..2 {
                let (outcome, counted) = profile::count(kernel, config).expect("it begins");
                outcome.expect("a correct kernel");
                profile.add(kernel, &counted);
            }
            profile
        });
    assert_eq!((twice.launches, twice.workgroups, twice.waves), (2, 10, 10));
    let load = counts(&twice, "global_load_dword");
    assert_eq!((load.executions, load.lines_64), (10, 40));
}

#[test]
fn functions_outside_of_the_kernel_are_listed_behind_it() {
    // Code after the end of the kernel, like a function that it calls.
    let body = "  s_getpc_b64 s[8:9]
.Lhere:
  s_add_u32 s8, s8, .Lfar-.Lhere
  s_addc_u32 s9, s9, 0
  s_swappc_b64 s[10:11], s[8:9]
  s_endpgm
.size k, .-k
.Lfar:
  v_mul_f32_e32 v2, v3, v4
  s_setpc_b64 s[10:11]
.set .Lrest, .";
    let profile = profile(&Small::new(Gpu::Gfx942, body));
    let call = counts(&profile, "s_swappc_b64");
    assert_eq!((call.executions, call.taken), (1, 1));
    assert_eq!(instruction(&profile, "v_mul_f32").flops, 64);
}

#[test]
fn reports_say_once_that_there_are_no_lines() {
    let body = format!("{OFFSET}  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)");
    let profiles = [profile(&Small::new(Gpu::Gfx942, &body))];
    let listing = Format::Listing.write(&profiles);
    assert_eq!(listing.matches("no line tables").count(), 1, "{listing}");
    assert!(listing.contains("global_load_dword v2, v1, s[4:5]"));
    assert!(listing.starts_with("k on gfx942: 1 launch, 1 workgroup, 1 wave\n"));
    let summary = Format::Summary.write(&profiles);
    assert!(!summary.contains("global_load_dword"), "{summary}");
    let page = Format::Html.write(&profiles);
    assert_eq!(page.matches("no line tables").count(), 1);
    assert!(page.contains("global_load_dword v2, v1, s[4:5]"));
    let json: serde_json::Value = serde_json::from_str(&Format::Json.write(&profiles)).unwrap();
    assert_eq!(json["version"], profile::JSON_VERSION);
    let kernel = &json["profiles"][0];
    assert_eq!(kernel["kernel"], "k");
    assert_eq!(kernel["totals"]["lines_64"], 4);
    let instructions = kernel["instructions"].as_array().unwrap();
    let load = |instruction: &&serde_json::Value| instruction["global_bytes"] == 256;
    let load = instructions.iter().find(load).unwrap();
    assert_eq!(
        (&load["executions"], &load["category"]),
        (&1.into(), &"vector memory".into())
    );
}
