//! Workgroups that wait for each other: in cooperative launches, through memory and global wave sync, and in plain
//! launches.

use std::{thread, time::Duration};

use ferrowave_check::{self as check, Check, Checked};
use ferrowave_emulator::dispatch::{
    LaunchConfig, LaunchError, Limits, Standing, WavePlace, launch,
};
use ferrowave_emulator::memory::DeviceMemory;
use ferrowave_emulator::program::Kernel;
use ferrowave_gpu::{Family, Gpu, Product};
use ferrowave_profile as profile;
use ferrowave_test_support::Small;
use ferrowave_timing as timing;

const WORKGROUPS: u32 = 37;
const THREADS: u32 = 128;

/// The modifier of a load that sees other workgroups' stores.
fn coherent(gpu: Gpu) -> &'static str {
    match gpu {
        Gpu::Gfx908 | Gpu::Gfx90a => "glc",
        _ => "sc1",
    }
}

/// Runs `lines` in the first lane of the workgroup's first wave.
fn first_lane(name: &str, lines: &str) -> String {
    format!(
        "
  v_readfirstlane_b32 s9, v0
  s_and_b32 s9, s9, 0x3ff
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lafter_{name}
  s_mov_b64 s[10:11], exec
  s_mov_b64 exec, 1
{lines}
  s_mov_b64 exec, s[10:11]
.Lafter_{name}:
"
    )
}

/// A barrier of all workgroups in software: a wave of each increments a counter in memory and polls it until all have
/// done so. `b[0]` is the counter.
fn barrier_in_memory(gpu: Gpu, name: &str, until: u32, sleep: &str) -> String {
    let looks = format!(
        "
  v_mov_b32_e32 v10, 0
  v_mov_b32_e32 v11, 1
  global_atomic_add v10, v11, s[6:7]
.Lspin_{name}:
  {sleep}
  global_load_dword v12, v10, s[6:7] {}
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s12, v12
  s_cmp_lt_u32 s12, {until}
  s_cbranch_scc1 .Lspin_{name}
",
        coherent(gpu)
    );
    let one = first_lane(name, &looks);
    format!("  s_waitcnt vmcnt(0)\n  s_barrier\n{one}\n  s_barrier\n")
}

/// A barrier through resource 0 of global wave sync, as in ROCm's device library.
fn barrier_in_hardware(name: &str) -> String {
    let waits = format!(
        "
  s_mov_b32 m0, 0
  v_mov_b32_e32 v10, {}
  ds_gws_barrier v10 offset:0 gds
  s_waitcnt lgkmcnt(0)
",
        WORKGROUPS - 1
    );
    let one = first_lane(name, &waits);
    format!("  s_waitcnt vmcnt(0)\n  s_barrier\n{one}\n  s_barrier\n")
}

/// Each thread stores `1000 · workgroup + thread`, and then 7 more than what the same thread of the next workgroup
/// stored.
fn exchange(gpu: Gpu, barriers: [&str; 2]) -> String {
    let [first, second] = barriers;
    format!(
        "
  v_and_b32_e32 v0, 0x3ff, v0
  s_mul_i32 s8, s2, 1000
  v_add_u32_e32 v4, s8, v0
  s_mul_i32 s8, s2, {THREADS}
  v_add_u32_e32 v5, s8, v0
  v_lshlrev_b32_e32 v5, 2, v5
  global_store_dword v5, v4, s[4:5]
{first}
  s_add_u32 s8, s2, 1
  s_cmp_eq_u32 s8, {WORKGROUPS}
  s_cselect_b32 s8, 0, s8
  s_mul_i32 s8, s8, {THREADS}
  v_add_u32_e32 v6, s8, v0
  v_lshlrev_b32_e32 v6, 2, v6
  global_load_dword v7, v6, s[4:5] {}
  s_waitcnt vmcnt(0)
{second}
  v_add_u32_e32 v7, 7, v7
  global_store_dword v5, v7, s[4:5]
",
        coherent(gpu)
    )
}

fn exchange_in_memory(gpu: Gpu, sleep: &str) -> String {
    let barriers =
        [1, 2].map(|time| barrier_in_memory(gpu, &format!("b{time}"), time * WORKGROUPS, sleep));
    exchange(gpu, barriers.each_ref().map(String::as_str))
}

fn exchange_in_hardware(gpu: Gpu) -> String {
    let barriers = ["b1", "b2"].map(barrier_in_hardware);
    exchange(gpu, barriers.each_ref().map(String::as_str))
}

fn small(gpu: Gpu, body: &str) -> Small<'_> {
    let bytes = (4 * WORKGROUPS * THREADS) as usize;
    Small {
        buffers: [(bytes, bytes), (64, 64)],
        ..Small::new(gpu, body)
            .threads(THREADS)
            .workgroups(WORKGROUPS)
    }
}

fn cooperative<'a>(config: &LaunchConfig<'a>) -> LaunchConfig<'a> {
    LaunchConfig {
        cooperative: true,
        partial: [0; 3],
        limits: Limits {
            instructions: Some(1 << 24),
            ..Limits::NONE
        },
        ..*config
    }
}

/// The words of the first buffer.
fn words(memory: &DeviceMemory, config: &LaunchConfig<'_>, count: u32) -> Vec<u32> {
    let (buffer, _) = config.kernarg.split_first_chunk().expect("two buffers");
    let mut bytes = vec![0; 4 * count as usize];
    memory
        .read(u64::from_le_bytes(*buffer), &mut bytes)
        .expect("inside the buffer");
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn is_exchanged(kernel: &Kernel, config: &LaunchConfig<'_>, what: &str) {
    let found = words(kernel.memory(), config, WORKGROUPS * THREADS);
    for (index, value) in found.into_iter().enumerate() {
        let (workgroup, thread) = (index as u32 / THREADS, index as u32 % THREADS);
        let expected = 1000 * ((workgroup + 1) % WORKGROUPS) + thread + 7;
        assert_eq!(
            value, expected,
            "{what}: workgroup {workgroup}, thread {thread}"
        );
    }
}

#[test]
fn workgroups_meet_at_a_barrier_in_memory() {
    for &gpu in Family::Cdna.gpus() {
        for sleep in ["s_sleep 1", "s_nop 0"] {
            let body = exchange_in_memory(gpu, sleep);
            for (seed, threads) in [
                (0, None),
                (0, Some(1)),
                (1, Some(1)),
                (2, Some(1)),
                (3, None),
            ] {
                small(gpu, &body).run(|kernel, config| {
                    let config = LaunchConfig {
                        seed,
                        threads,
                        ..cooperative(config)
                    };
                    let summary = launch(kernel, &config).expect("it comes to its end");
                    assert_eq!(summary.workgroups, u64::from(WORKGROUPS));
                    is_exchanged(kernel, &config, &format!("{gpu}, {sleep}, seed {seed}"));
                });
            }
        }
    }
}

#[test]
fn workgroups_meet_at_a_barrier_in_hardware() {
    for &gpu in Family::Cdna.gpus() {
        let body = exchange_in_hardware(gpu);
        for (seed, threads) in [(0, None), (0, Some(1)), (5, Some(1))] {
            small(gpu, &body).run(|kernel, config| {
                let config = LaunchConfig {
                    seed,
                    threads,
                    ..cooperative(config)
                };
                launch(kernel, &config).expect("it comes to its end");
                is_exchanged(kernel, &config, &format!("{gpu}, seed {seed}"));
            });
        }
    }
}

/// The identifiers of the findings.
fn findings(body: &str, checks: &[Check], seeds: u32, is_cooperative: bool) -> Vec<&'static str> {
    small(Gpu::Gfx942, body).run(|kernel, config| {
        let config = LaunchConfig {
            cooperative: is_cooperative,
            ..cooperative(config)
        };
        let options = check::Options {
            checks: checks.to_vec(),
            seeds,
            schedule: None,
        };
        let Checked { outcome, findings } =
            check::launch(kernel, &config, &options).expect("it begins");
        outcome.expect("it comes to its end");
        findings.iter().map(|finding| finding.kind.id()).collect()
    })
}

#[test]
fn checks_know_what_a_barrier_of_all_workgroups_orders() {
    let in_memory = exchange_in_memory(Gpu::Gfx942, "s_sleep 1");
    let in_hardware = exchange_in_hardware(Gpu::Gfx942);
    for body in [&in_memory, &in_hardware] {
        assert_eq!(findings(body, &Check::ALL, 3, true), [""; 0]);
    }
    let without = exchange(Gpu::Gfx942, ["  s_barrier", "  s_barrier"]);
    for is_cooperative in [true, false] {
        let found = findings(&without, &[Check::Races], 0, is_cooperative);
        assert!(found.contains(&"global-race"), "{found:?}");
    }
}

#[test]
fn counters_and_the_timing_model_see_all_workgroups() {
    let body = exchange_in_hardware(Gpu::Gfx942);
    small(Gpu::Gfx942, &body).run(|kernel, config| {
        let config = cooperative(config);
        let profiled = profile::launch(kernel, &config).expect("it begins");
        let summary = profiled.outcome.expect("it comes to its end");
        is_exchanged(kernel, &config, "counted");
        let totals = profiled.profile.totals();
        assert_eq!(totals.wave_instructions, summary.wave_instructions);
        for estimate in [false, true] {
            let time = match estimate {
                true => timing::estimate(kernel, &config, Product::Mi300x),
                false => timing::launch(kernel, &config, Product::Mi300x),
            };
            let time = time.expect("it comes to its end");
            assert!(time.seconds > 0.0);
            is_exchanged(kernel, &config, "modelled");
        }
    });
}

/// The first workgroup stores, then lets all others pass a semaphore; they read what it stored.
#[test]
fn semaphores_let_as_many_pass_as_they_count() {
    // Resource 3: a part of the number is in `m0`, a part in the instruction.
    let gives = [
        format!(
            "v_mov_b32_e32 v10, {}\n  ds_gws_sema_br v10 offset:1 gds",
            WORKGROUPS - 1
        ),
        "ds_gws_sema_v offset:1 gds\n".repeat(WORKGROUPS as usize - 1),
    ];
    for give in gives {
        let body = format!(
            "
  s_mov_b32 m0, 0x20000
  v_mov_b32_e32 v4, 0
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 .Lgive
  ds_gws_sema_p offset:1 gds
  s_waitcnt lgkmcnt(0)
  global_load_dword v5, v4, s[4:5] sc1
  s_lshl_b32 s8, s2, 2
  v_mov_b32_e32 v4, s8
  s_waitcnt vmcnt(0)
  global_store_dword v4, v5, s[4:5]
  s_branch .Lout
.Lgive:
  v_mov_b32_e32 v5, 42
  global_store_dword v4, v5, s[4:5]
  s_waitcnt vmcnt(0)
  {give}
.Lout:
"
        );
        for seed in 0..4 {
            small(Gpu::Gfx942, &body).threads(64).run(|kernel, config| {
                let config = LaunchConfig {
                    seed,
                    ..cooperative(config)
                };
                launch(kernel, &config).expect("it comes to its end");
                let found = words(kernel.memory(), &config, WORKGROUPS);
                assert_eq!(found, [42; WORKGROUPS as usize], "seed {seed}");
            });
        }
    }
}

#[test]
fn a_semaphore_releases_all_that_wait() {
    let body = "
  s_mov_b32 m0, 0
  s_cmp_eq_u32 s2, 1
  s_cbranch_scc1 .Lrelease
  ds_gws_sema_p offset:7 gds
  s_branch .Lout
.Lrelease:
  ds_gws_sema_release_all offset:7 gds
.Lout:
  s_waitcnt lgkmcnt(0)
";
    // One thread starts them in order: the first one waits when the second one starts.
    let run = |workgroups| {
        small(Gpu::Gfx90a, body)
            .threads(64)
            .workgroups(workgroups)
            .run(|kernel, config| {
                let config = LaunchConfig {
                    threads: Some(1),
                    ..cooperative(config)
                };
                launch(kernel, &config).map(drop)
            })
    };
    run(2).expect("the second releases the first");
    let message = run(3).expect_err("no wave releases the third").to_string();
    for part in [
        "resource 7 of global wave sync",
        "workgroup (2, 0, 0), wave 0",
        "ds_gws_sema_p",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn waits_that_never_end_are_found() {
    // One of the workgroups never reaches the barrier.
    let body = format!(
        "  s_cmp_eq_u32 s2, 5\n  s_cbranch_scc1 .Lout\n{}\n.Lout:",
        barrier_in_hardware("b")
    );
    small(Gpu::Gfx942, &body).run(|kernel, config| {
        for seed in [0, 9] {
            let config = LaunchConfig {
                seed,
                ..cooperative(config)
            };
            let error = launch(kernel, &config).expect_err("36 of 37 wait");
            let message = error.to_string();
            for part in [
                "waits at resource 0",
                "forever",
                "workgroup (0, 0, 0), wave 0",
                "ds_gws_barrier",
            ] {
                assert!(message.contains(part), "{message}");
            }
        }
    });
}

#[test]
fn limits_hold_where_all_take_turns() {
    let body = exchange_in_memory(Gpu::Gfx942, "s_sleep 1")
        .replace("s_cbranch_scc1 .Lspin_b1", "s_branch .Lspin_b1");
    small(Gpu::Gfx942, &body).run(|kernel, config| {
        let error = launch(kernel, &cooperative(config)).expect_err("it never ends");
        let LaunchError::Limit(report) = &error else {
            panic!("{error}");
        };
        // Workgroups that no thread was running count as well.
        assert_eq!(report.under_way, report.workgroups, "{error}");
        let waits = |place: &WavePlace| place.standing == Standing::Waits;
        assert!(report.places.iter().any(waits), "{error}");
    });
}

#[test]
fn launches_that_cannot_be_cooperative_are_refused() {
    let body = exchange_in_hardware(Gpu::Gfx942);
    let plain = small(Gpu::Gfx942, &body).run(|kernel, config| launch(kernel, config).map(drop));
    let message = plain.expect_err("a plain launch has no GWS").to_string();
    assert!(message.contains("in a plain launch"), "{message}");
    let many = small(Gpu::Gfx942, "").workgroups(1 << 16);
    let refused = many.run(|kernel, config| launch(kernel, &cooperative(config)).map(drop));
    let message = refused.expect_err("too many").to_string();
    assert_eq!(
        message,
        "a cooperative launch of 65536 workgroups; it may have at most 65535"
    );
}

/// In a plain launch, too, waiting workgroups are suspended in favour of others: each of these waits for the next one's
/// flag. Each keeps its number in private memory meanwhile, and stores it as its own flag.
#[test]
fn plain_workgroups_may_wait_for_later_ones() {
    let waits = first_lane(
        "w",
        "
  v_mov_b32_e32 v10, s3
.Lspin:
  s_sleep 1
  global_load_dword v12, v10, s[4:5] offset:4 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s12, v12
  s_cmp_eq_u32 s12, 0
  s_cbranch_scc1 .Lspin
",
    );
    let body = format!(
        "
  s_lshl_b32 s3, s2, 2
  s_add_u32 s8, s2, 1
  v_mov_b32_e32 v5, s8
  scratch_store_dword off, v5, off offset:4
  s_cmp_eq_u32 s2, 3
  s_cbranch_scc1 .Llast
{waits}
.Llast:
  v_mov_b32_e32 v4, s3
  scratch_load_dword v5, off, off offset:4
  s_waitcnt vmcnt(0)
  global_store_dword v4, v5, s[4:5]
"
    );
    let small = Small {
        private_bytes: 8,
        ..small(Gpu::Gfx942, &body).threads(64).workgroups(4)
    };
    for threads in [Some(1), None] {
        small.run(|kernel, config| {
            let config = LaunchConfig {
                threads,
                limits: Limits::NONE,
                ..*config
            };
            launch(kernel, &config).expect("it comes to its end");
            assert_eq!(words(kernel.memory(), &config, 4), [1, 2, 3, 4]);
        });
    }
}

/// Launches on two streams or devices may wait for each other, as RCCL's kernels do: none may queue behind the other's
/// workgroups, even if these take all host threads.
#[test]
fn launches_at_the_same_time_may_wait_for_each_other() {
    let cores = thread::available_parallelism().map_or(1, usize::from) as u32;
    let workgroups = 4 * cores;
    let meet = barrier_in_memory(Gpu::Gfx942, "m", 2 * workgroups, "s_nop 0");
    let small = small(Gpu::Gfx942, &meet).workgroups(workgroups);
    small.run(|kernel, config| {
        let limits = Limits {
            time: Some(Duration::from_secs(60)),
            ..Limits::NONE
        };
        let config = LaunchConfig { limits, ..*config };
        thread::scope(|scope| {
            let launches = [(); 2].map(|()| scope.spawn(|| launch(kernel, &config)));
            for launched in launches {
                let launched = launched.join().expect("no panic");
                let ran = launched.expect("the other launch runs, too");
                assert_eq!(ran.workgroups, u64::from(workgroups));
            }
        });
    });
}
