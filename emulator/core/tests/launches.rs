//! Whole launches: private memory as kernels set it up on each GPU, and launches that do not end by themselves.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ferrowave_emulator::dispatch::{
    LaunchConfig, LaunchError, Limit, Limits, Standing, WavePlace, launch,
};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::{AllocationKind, DeviceMemory};
use ferrowave_emulator::program::Program;
use ferrowave_gpu::{Family, Gpu, GpuLimits, Product};

/// A kernel `k(out: *mut u32)` with this body. `user` are directives for the descriptor.
fn program(gpu: Gpu, body: &str, user: &str, private_bytes: u32, dynamic: bool) -> String {
    let accumulators = if gpu == Gpu::Gfx908 {
        ""
    } else {
        ".amdhsa_accum_offset 8"
    };
    format!(
        "
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  {user}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_private_segment_fixed_size {private_bytes}
  .amdhsa_uses_dynamic_stack {}
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 24
  {accumulators}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }}
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: {private_bytes}
    .uses_dynamic_stack: {dynamic}
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 24
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
...
.end_amdgpu_metadata
",
        u8::from(dynamic)
    )
}

const THREADS: u32 = 192;
const WORKGROUPS: u32 = 5;

/// Runs the kernel. Returns what each thread wrote, or the error.
fn run(gpu: Gpu, text: &str, limit: Option<u64>) -> Result<Vec<u32>, LaunchError> {
    Ok(run_in_order(gpu, text, limit, 3)?.0)
}

/// The same, with the order of waves from a seed. Also returns the number of executed instructions.
fn run_in_order(
    gpu: Gpu,
    text: &str,
    limit: Option<u64>,
    seed: u64,
) -> Result<(Vec<u32>, u64), LaunchError> {
    let limits = Limits {
        instructions: limit,
        ..Limits::NONE
    };
    run_within(gpu, text, limits, seed)
}

fn run_within(
    gpu: Gpu,
    text: &str,
    limits: Limits,
    seed: u64,
) -> Result<(Vec<u32>, u64), LaunchError> {
    run_grid(gpu, text, limits, seed, [WORKGROUPS, 1, 1])
}

fn run_grid(
    gpu: Gpu,
    text: &str,
    limits: Limits,
    seed: u64,
    grid: [u32; 3],
) -> Result<(Vec<u32>, u64), LaunchError> {
    let object = ferrowave_kernel_build::assemble(gpu, text).expect("LLVM assembles the test");
    let memory = Arc::new(DeviceMemory::new(1 << 28));
    let program = Program::load(&object, gpu, &memory, SimdLevel::detect()).expect("it loads");
    let kernel = program.kernel("k").expect("the kernel");
    let bytes = (4 * THREADS * WORKGROUPS) as usize;
    let out = memory
        .allocate(bytes, AllocationKind::Device)
        .expect("room");
    let used = memory.used_bytes();
    let config = LaunchConfig {
        grid,
        block: [THREADS, 1, 1],
        dynamic_lds_bytes: 0,
        kernarg: &out.to_le_bytes(),
        seed,
        threads: None,
        limits,
        cooperative: false,
        group: None,
        partial: [0; 3],
    };
    let result = launch(&kernel, &config);
    assert_eq!(
        memory.used_bytes(),
        used,
        "the launch leaves nothing behind"
    );
    let instructions = result?.wave_instructions;
    let mut data = vec![0; bytes];
    memory.read(out, &mut data).expect("the results");
    let words = data.as_chunks::<4>().0;
    let words = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    Ok((words, instructions))
}

/// Stores `v4` for thread `v0` of workgroup `s{group}`, with the arguments at `s[{arguments}:…]`.
fn store(arguments: u32, group: u32) -> String {
    format!(
        "
  s_load_dwordx2 s[18:19], s[{arguments}:{}], 0x0
  s_mul_i32 s20, s{group}, {THREADS}
  v_add_u32_e32 v1, s20, v0
  v_lshlrev_b32_e32 v1, 2, v1
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v1, v4, s[18:19]
",
        arguments + 1
    )
}

/// A kernel that stores three times each thread's number to private memory in one way and loads it in another.
fn through_private_memory(gpu: Gpu, private_bytes: u32, offset: u32, dynamic: bool) -> String {
    let address = format!(
        "
  s_mov_b64 s[16:17], src_private_base
  v_mov_b32_e32 v2, {offset}
  v_mov_b32_e32 v3, s17
"
    );
    let number = "
  v_and_b32_e32 v0, 0x3ff, v0
  v_mul_u32_u24_e32 v5, 3, v0
";
    if matches!(gpu, Gpu::Gfx942 | Gpu::Gfx950) {
        let body = format!(
            "{number}
  s_movk_i32 s21, {offset}
  scratch_store_dword off, v5, s21
  {address}
  flat_load_dword v4, v[2:3]
  {}",
            store(0, 2)
        );
        return program(
            gpu,
            &body,
            ".amdhsa_enable_private_segment 1",
            private_bytes,
            dynamic,
        );
    }
    // The buffer resource, the arguments, the start of scratch, the workgroup, the offset of the wave.
    let user = "
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_flat_scratch_init 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1";
    let body = format!(
        "{number}
  s_add_u32 flat_scratch_lo, s6, s9
  s_addc_u32 flat_scratch_hi, s7, 0
  s_add_u32 s0, s0, s9
  s_addc_u32 s1, s1, 0
  v_mov_b32_e32 v2, {offset}
  buffer_store_dword v5, v2, s[0:3], 0 offen
  {address}
  flat_load_dword v4, v[2:3]
  {}",
        store(4, 8)
    );
    program(gpu, &body, user, private_bytes, dynamic)
}

#[test]
fn private_memory_is_each_threads_own() {
    for &gpu in Family::Cdna.gpus() {
        for (private_bytes, offset, dynamic) in [(32, 12, false), (0, 8000, true)] {
            let text = through_private_memory(gpu, private_bytes, offset, dynamic);
            let result = run(gpu, &text, None).expect("it runs");
            for (index, value) in result.into_iter().enumerate() {
                assert_eq!(value, 3 * (index as u32 % THREADS), "{gpu}, thread {index}");
            }
        }
    }
}

// Up to gfx90a, a kernel accesses private memory through a buffer without range check, and would reach the next wave's
// memory.
#[test]
fn private_memory_has_an_end() {
    for gpu in [Gpu::Gfx942, Gpu::Gfx950] {
        let text = through_private_memory(gpu, 32, 32, false);
        let message = run(gpu, &text, None).map(drop).unwrap_err().to_string();
        assert!(
            message.contains(
                "lane 0 accesses 4 bytes at 0x20 of its private memory, which has 32 bytes"
            ),
            "{message}"
        );
    }
}

/// The first wave spins, the second waits at a barrier, the third ends.
const ENDLESS: &str = "
  v_readfirstlane_b32 s8, v0
  s_and_b32 s8, s8, 0x3ff
  s_cmp_eq_u32 s8, 128
  s_cbranch_scc1 .Lout
  s_cmp_eq_u32 s8, 64
  s_cbranch_scc1 .Lwait
.Lspin:
  s_sleep 1
  s_branch .Lspin
.Lwait:
  s_barrier
  s_nop 3
.Lout:
";

#[test]
fn launches_that_do_not_end_are_given_up() {
    let text = program(Gpu::Gfx90a, ENDLESS, "", 0, false);
    let error = run(Gpu::Gfx90a, &text, Some(100_000)).unwrap_err();
    let LaunchError::Limit(report) = &error else {
        panic!("{error}");
    };
    assert_eq!(report.limit, Limit::Instructions(100_000));
    assert_eq!((report.workgroups, report.ended), (WORKGROUPS.into(), 0));
    // In the first workgroup, one wave spins, one waits and one has ended; others may have just started.
    for standing in [Standing::Runs, Standing::Waits, Standing::Ended] {
        let is_there = |place: &WavePlace| place.standing == standing;
        assert!(report.places.iter().any(is_there), "{standing:?}: {error}");
    }
    let waves: u64 = report.places.iter().map(|place| place.waves).sum();
    assert_eq!(waves, u64::from(THREADS.div_ceil(64)) * report.under_way);
    let message = error.to_string();
    for part in [
        "kernel `k` was ended after 100000 wave-instructions, the limit",
        " at `s_",
        " at a barrier before `s_nop 3` (offset 0x",
        " ended",
        ": wave 1 of workgroup (",
    ] {
        let first = part.replace(": wave", ": first wave");
        assert!(
            message.contains(part) || message.contains(&first),
            "{message}"
        );
    }
}

/// As many as a dispatch packet has bits for. Few of them run.
#[test]
fn a_grid_may_have_four_billion_workgroups_along_each_axis() {
    let text = program(Gpu::Gfx90a, "", "", 0, false);
    let limits = Limits {
        instructions: Some(1000),
        ..Limits::NONE
    };
    for axis in 0..3 {
        let mut grid = [1; 3];
        grid[axis] = u32::MAX;
        let error = run_grid(Gpu::Gfx90a, &text, limits, 0, grid).unwrap_err();
        let LaunchError::Limit(report) = &error else {
            panic!("{error}");
        };
        assert_eq!(report.workgroups, u64::from(u32::MAX));
    }
}

/// The time is checked between turns, so that a launch ends soon after its limit.
#[test]
fn launches_end_with_their_time() {
    let text = program(Gpu::Gfx90a, ENDLESS, "", 0, false);
    let time = Duration::from_millis(200);
    let limits = Limits {
        time: Some(time),
        ..Limits::NONE
    };
    let started = Instant::now();
    for seed in [0, 3] {
        let error = run_within(Gpu::Gfx90a, &text, limits, seed).unwrap_err();
        let LaunchError::Limit(report) = &error else {
            panic!("{error}");
        };
        assert_eq!(report.limit, Limit::Time(time));
        assert!(report.instructions > 1000, "{error}");
        assert!(
            error.to_string().contains("after 200ms, the timeout"),
            "{error}"
        );
    }
    // Much less than the seconds of a slice, whatever else runs on the host.
    assert!(started.elapsed() < Duration::from_secs(20));
    let ends = program(Gpu::Gfx90a, "", "", 0, false);
    let long = Limits {
        time: Some(Duration::from_secs(3600)),
        ..Limits::NONE
    };
    run_within(Gpu::Gfx90a, &ends, long, 0).expect("it ends in time");
}

/// Both count from the same time, so that they differ by their rates.
#[test]
fn the_core_clock_has_the_rate_that_programs_are_told() {
    for (gpu, product) in [
        (Gpu::Gfx908, Product::Mi100),
        (Gpu::Gfx90a, Product::Mi210),
        (Gpu::Gfx942, Product::Mi300x),
        (Gpu::Gfx950, Product::Mi355x),
    ] {
        let mhz = f64::from(product.specifications().clock_mhz);
        let [core, constant] =
            [("s_memtime", mhz), ("s_memrealtime", 100.0)].map(|(clock, mhz)| {
                let body = format!(
                    "
  v_and_b32_e32 v0, 0x3ff, v0
  {clock} s[8:9]
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v4, s9
{}",
                    store(0, 2)
                );
                let text = program(gpu, &body, "", 0, false);
                let upper_half = run(gpu, &text, None).expect("it runs")[0];
                f64::from(upper_half) * 2_f64.powi(32) / (1e6 * mhz)
            });
        // The upper half of the slower one counts steps of 43 s.
        assert!(
            (core - constant).abs() < 300.0,
            "{gpu}: {core} s, {constant} s"
        );
    }
}

/// A kernel reads its own allocation in the way of Linux's trap handler for these GPUs.
#[test]
fn waves_know_what_they_have_been_given() {
    for &gpu in Family::Cdna.gpus() {
        let parts = [
            (
                "GPR_ALLOC",
                if gpu == Gpu::Gfx908 { (8, 6) } else { (6, 6) },
            ),
            ("GPR_ALLOC", (12, 6)),
            ("GPR_ALLOC", (24, 4)),
            ("LDS_ALLOC", (12, 9)),
        ];
        let found = parts.map(|(register, (offset, bits))| {
            let body = format!(
                "
  v_and_b32_e32 v0, 0x3ff, v0
  s_getreg_b32 s8, hwreg(HW_REG_{register}, {offset}, {bits})
  v_mov_b32_e32 v4, s8
{}",
                store(0, 2)
            );
            let text = program(
                gpu,
                &body,
                ".amdhsa_group_segment_fixed_size 1500",
                0,
                false,
            )
            .replace(
                ".group_segment_fixed_size: 0",
                ".group_segment_fixed_size: 1500",
            )
            .replace(".amdhsa_next_free_vgpr 8", ".amdhsa_next_free_vgpr 40")
            .replace(".amdhsa_next_free_sgpr 24", ".amdhsa_next_free_sgpr 40");
            run(gpu, &text, None).expect("it runs")[0]
        });
        let [vgprs, accumulators, sgprs, lds] = found;
        match gpu {
            Gpu::Gfx908 => assert_eq!((vgprs + 1) * 4, 40),
            // v0 to v7, and accumulators.
            _ => assert_eq!([(vgprs + 1) * 8, (accumulators + 1) * 4], [40, 8], "{gpu}"),
        }
        // 40, plus six for VCC, FLAT_SCRATCH and XNACK_MASK.
        assert_eq!((sgprs + 1) * 16, 48, "{gpu}");
        let granule = GpuLimits::of(gpu).lds_granule_bytes;
        assert_eq!(lds * 64 * 4, 1500_u32.next_multiple_of(granule), "{gpu}");
    }
}

/// A barrier waits only for live waves: the first wave has ended before, the second ends after it, and the third passes
/// another barrier alone.
#[test]
fn ended_waves_do_not_hold_up_barriers() {
    let address = store(0, 2).replace("global_store_dword v1, v4, s[18:19]", "");
    let body = format!(
        "
  v_and_b32_e32 v0, 0x3ff, v0
  v_readfirstlane_b32 s8, v0
  s_cmp_lt_u32 s8, 64
  s_cbranch_scc1 .Lout
  v_mov_b32_e32 v4, v0
  s_cmp_eq_u32 s8, 64
  s_cbranch_scc0 .Lthird
  {}
  s_waitcnt vmcnt(0)
  s_barrier
  s_endpgm
.Lthird:
  {address}
  s_barrier
  global_load_dword v4, v1, s[18:19] offset:-256
  s_waitcnt vmcnt(0)
  s_barrier
  {}
.Lout:
",
        store(0, 2),
        store(0, 2)
    );
    for gpu in [Gpu::Gfx90a, Gpu::Gfx942] {
        let text = program(gpu, &body, "", 0, false);
        let result = run(gpu, &text, Some(100_000)).expect("it ends");
        for (index, value) in result.into_iter().enumerate() {
            let thread = index as u32 % THREADS;
            if thread >= 64 {
                assert_eq!(value, 64 + thread % 64, "{gpu}, thread {index}");
            }
        }
    }
}

#[test]
fn a_limit_leaves_launches_alone_that_end() {
    let text = through_private_memory(Gpu::Gfx942, 32, 0, false);
    let instructions = 13 * u64::from(THREADS / 64 * WORKGROUPS);
    assert!(run(Gpu::Gfx942, &text, Some(2 * instructions)).is_ok());
    assert!(run(Gpu::Gfx942, &text, Some(instructions / 4)).is_err());
}

/// After a barrier, all waves read a word of LDS, which one lane of the first wave then overwrites, as in rocSOLVER's
/// `potf2_kernel_small`. On a GPU, the other waves have read it by then.
#[test]
fn one_lane_does_not_overwrite_what_others_have_yet_to_read() {
    for (write, read) in [
        ("ds_write_b32 v2, v3", "ds_read_b32 v4, v2"),
        ("ds_write_b8 v2, v3", "ds_read_u8 v4, v2"),
        (
            "ds_write2_b32 v2, v3, v3 offset1:1",
            "ds_read_b32 v4, v2 offset:4",
        ),
    ] {
        let one_lane = format!(
            "
  s_and_saveexec_b64 s[12:13], vcc
  {write}
  s_mov_b64 exec, s[12:13]
  s_waitcnt lgkmcnt(0)
"
        );
        let body = format!(
            "
  v_and_b32_e32 v0, 0x3ff, v0
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 5
  v_cmp_eq_u32_e32 vcc, 0, v0
  {one_lane}
  s_barrier
  {read}
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v3, 1, v4
  {one_lane}
  s_barrier
  v_mov_b32_e32 v5, v4
  {read}
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32_e32 v4, 8, v4
  v_or_b32_e32 v4, v4, v5
  {}",
            store(0, 2)
        );
        let text = program(
            Gpu::Gfx90a,
            &body,
            ".amdhsa_group_segment_fixed_size 64",
            0,
            false,
        )
        .replace(
            ".group_segment_fixed_size: 0",
            ".group_segment_fixed_size: 64",
        );
        let (result, instructions) = run_in_order(Gpu::Gfx90a, &text, None, 0).expect("it runs");
        assert_eq!(result, vec![6 << 8 | 5; result.len()], "{write}");
        // Giving way does not count as an instruction.
        let shuffled = run_in_order(Gpu::Gfx90a, &text, None, 3).expect("it runs");
        assert_eq!(instructions, shuffled.1, "{write}");
    }
}

/// Each work-item of a grid of 10 × 7 adds 1 at its place. Workgroups are 4 × 3, the last ones 2 and 1.
#[test]
fn the_last_workgroups_of_a_grid_may_be_smaller() {
    const WIDTH: u32 = 10;
    const HEIGHT: u32 = 7;
    let body = format!(
        "
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dwordx4 s[8:11], s[0:1], 0x8
  v_and_b32_e32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  s_lshl_b32 s2, s2, 2
  v_add_u32_e32 v1, s2, v1
  s_mul_i32 s3, s3, 3
  v_add_u32_e32 v2, s3, v2
  v_mul_u32_u24_e32 v2, {WIDTH}, v2
  v_add_u32_e32 v1, v1, v2
  v_lshlrev_b32_e32 v1, 2, v1
  v_mov_b32_e32 v2, 1
  v_mov_b32_e32 v3, 0
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v2, s[4:5]
  v_mov_b32_e32 v4, s8
  v_mov_b32_e32 v5, s9
  v_mov_b32_e32 v6, s10
  v_mov_b32_e32 v7, s11
  global_store_dwordx4 v3, v[4:7], s[4:5] offset:288
"
    );
    let directives = ".amdhsa_system_sgpr_workgroup_id_y 1\n  .amdhsa_system_vgpr_workitem_id 1";
    let hidden = "address_space: global }
      - { .offset: 8, .size: 4, .value_kind: hidden_block_count_x }
      - { .offset: 12, .size: 4, .value_kind: hidden_block_count_y }
      - { .offset: 16, .size: 2, .value_kind: hidden_group_size_x }
      - { .offset: 18, .size: 2, .value_kind: hidden_group_size_y }
      - { .offset: 20, .size: 2, .value_kind: hidden_remainder_x }
      - { .offset: 22, .size: 2, .value_kind: hidden_remainder_y }
    .kernarg_segment_size: 24";
    let text = program(Gpu::Gfx90a, &body, directives, 0, false)
        .replace("    .kernarg_segment_size: 8\n", "")
        .replace("address_space: global }", hidden);
    let object =
        ferrowave_kernel_build::assemble(Gpu::Gfx90a, &text).expect("LLVM assembles the test");
    let memory = Arc::new(DeviceMemory::new(1 << 28));
    let program = Program::load(&object, Gpu::Gfx90a, &memory, SimdLevel::detect()).expect("loads");
    let kernel = program.kernel("k").expect("the kernel");
    let out = memory
        .allocate(4 * 80, AllocationKind::Device)
        .expect("room");
    let config = LaunchConfig {
        grid: [3, 3, 1],
        block: [4, 3, 1],
        dynamic_lds_bytes: 0,
        kernarg: &out.to_le_bytes(),
        seed: 0,
        threads: None,
        limits: Limits::NONE,
        cooperative: false,
        group: None,
        partial: [2, 1, 0],
    };
    let summary = launch(&kernel, &config).expect("it runs");
    assert_eq!((summary.workgroups, summary.waves), (9, 9));
    let mut data = [0; 4 * 80];
    memory.read(out, &mut data).expect("the results");
    let words: Vec<_> = data
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    let items = (WIDTH * HEIGHT) as usize;
    assert_eq!(words[..items], vec![1; items]);
    // Two whole workgroups along each axis, of 4 and 3, and 2 and 1 work-items behind them.
    assert_eq!(
        words[items..],
        [0, 0, 2, 2, 3 << 16 | 4, 1 << 16 | 2, 0, 0, 0, 0]
    );
    let wrong = LaunchConfig {
        partial: [4, 0, 0],
        ..config
    };
    let error = launch(&kernel, &wrong)
        .expect_err("it is refused")
        .to_string();
    assert!(error.contains("partial workgroups of [4, 0, 0]"), "{error}");
}
