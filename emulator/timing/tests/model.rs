//! The timing model, on kernels small enough to count cycles by hand.

mod small;

use ferrowave_emulator::dispatch::{LaunchConfig, Limits};
use ferrowave_gpu::{Family, Gpu, Product};
use ferrowave_test_support::Small;
use ferrowave_timing::{self as timing, Bound, Parameters, Stall, Start, TimingError, Unit};

use small::{each, model, more_cycles};

/// Cycles between two turns of a SIMD of CDNA.
const TURN: u64 = 4;

/// The modelled machines of CDNA.
fn instinct() -> impl Iterator<Item = Product> {
    let machines = Parameters::MACHINES.into_iter();
    machines.filter(|machine| machine.gpu().family() == Family::Cdna)
}

const DEPENDENT: &str = "  v_fma_f32 v1, v1, v1, v1\n";

#[test]
fn a_dependent_vector_instruction_takes_a_turn() {
    for machine in instinct() {
        assert_eq!(each(machine, "", DEPENDENT), TURN as f64, "{machine}");
        assert_eq!(each(machine, "", "  s_add_u32 s8, s8, s8\n"), TURN as f64);
    }
}

#[test]
fn slow_vector_instructions_keep_the_unit_busy() {
    for machine in instinct() {
        assert_eq!(each(machine, "", "  v_rcp_f32 v1, v2\n"), 16.0);
        let double = each(machine, "", "  v_fma_f64 v[2:3], v[4:5], v[4:5], v[4:5]\n");
        let product = each(machine, "", "  v_mul_lo_u32 v1, v2, v3\n");
        let expected = match machine {
            Product::Mi100 => (8.0, 16.0),
            _ => (4.0, 4.0),
        };
        assert_eq!((double, product), expected, "{machine}");
    }
}

#[test]
fn waves_of_one_simd_share_its_vector_unit_and_those_of_others_do_not() {
    for (waves, cycles) in [(1, 4.0), (4, 4.0), (5, 8.0), (8, 8.0), (16, 16.0)] {
        let kernel = Small::new(Gpu::Gfx942, "").threads(64 * waves);
        let more = more_cycles(&kernel, Product::Mi300x, DEPENDENT, 100);
        assert!(
            (more as f64 / 100.0 - cycles).abs() < 0.5,
            "{waves} waves: {more}"
        );
    }
}

#[test]
fn matrix_instructions_take_their_passes() {
    // Cycles of an instruction according to AMD's matrix instruction calculator.
    for (machine, name, a, d, cycles) in [
        (
            Product::Mi100,
            "v_mfma_f32_32x32x2f32",
            "v1",
            "a[0:15]",
            64.0,
        ),
        (
            Product::Mi100,
            "v_mfma_f32_16x16x4f32",
            "v1",
            "a[0:3]",
            32.0,
        ),
        (
            Product::Mi210,
            "v_mfma_f32_32x32x8f16",
            "v[2:3]",
            "a[0:15]",
            64.0,
        ),
        (
            Product::Mi300x,
            "v_mfma_f32_32x32x8_f16",
            "v[2:3]",
            "a[0:15]",
            32.0,
        ),
        (
            Product::Mi300x,
            "v_mfma_f32_16x16x16_f16",
            "v[2:3]",
            "a[0:3]",
            16.0,
        ),
        (
            Product::Mi355x,
            "v_mfma_f32_32x32x16_f16",
            "v[4:7]",
            "a[0:15]",
            32.0,
        ),
    ] {
        let chain = format!("  {name} {d}, {a}, {a}, {d}\n");
        assert_eq!(each(machine, "", &chain), cycles, "{name} on {machine}");
    }
}

/// Products of 6- and 4-bit formats take half as long as those of which one factor has 8 bits (AMD's CDNA 4 ISA guide: 16 or
/// 8 passes; LLVM's `PredIsF8_MFMA_SCALE`).
#[test]
fn narrow_formats_take_half_the_passes() {
    let registers = |format| match format {
        0 | 1 => "v[0:7]",
        2 | 3 => "v[0:5]",
        _ => "v[0:3]",
    };
    for a in 0..5 {
        for b in 0..5 {
            let factor = if a < 2 || b < 2 { 1.0 } else { 0.5 };
            for (shape, d, cycles) in [("32x32x64", "a[0:15]", 64.0), ("16x16x128", "a[0:3]", 32.0)]
            {
                for (name, scales) in [("mfma", ""), ("mfma_scale", ", v8, v9")] {
                    let (x, y) = (registers(a), registers(b));
                    let chain = format!(
                        "  v_{name}_f32_{shape}_f8f6f4 {d}, {x}, {y}, {d}{scales} cbsz:{a} blgp:{b}\n"
                    );
                    let found = each(Product::Mi355x, "", &chain);
                    assert_eq!(found, factor * cycles, "{chain}");
                }
            }
        }
    }
}

/// Instructions in a dependence chain, and the turns of each by `llvm-mca` 22 with 100 iterations, without the wait of
/// the first one.
const CHAINS: &[(Product, &str, f64)] = &[
    (Product::Mi100, "v_fma_f32 v1, v1, v1, v1", 1.0),
    (Product::Mi100, "s_add_u32 s8, s8, s8", 1.0),
    (Product::Mi100, "v_rcp_f32 v1, v1", 4.0),
    (Product::Mi100, "v_mul_lo_u32 v1, v1, v3", 4.0),
    (Product::Mi100, "v_lshlrev_b64 v[2:3], 2, v[2:3]", 2.0),
    (
        Product::Mi100,
        "v_mfma_f32_32x32x2f32 a[0:15], v1, v2, a[0:15]",
        16.0,
    ),
    (
        Product::Mi100,
        "v_mfma_f32_16x16x4f32 a[0:3], v1, v2, a[0:3]",
        8.0,
    ),
    (
        Product::Mi210,
        "v_fma_f64 v[2:3], v[4:5], v[4:5], v[2:3]",
        1.0,
    ),
    (Product::Mi210, "v_mul_lo_u32 v1, v1, v3", 1.0),
    (
        Product::Mi210,
        "v_mad_u64_u32 v[2:3], s[10:11], v4, v5, v[2:3]",
        2.0,
    ),
    (
        Product::Mi210,
        "v_mfma_f32_32x32x2f32 a[0:15], v1, v2, a[0:15]",
        16.0,
    ),
    (
        Product::Mi300x,
        "v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[2:3]",
        1.0,
    ),
    (Product::Mi300x, "v_sqrt_f64_e32 v[2:3], v[2:3]", 4.0),
    (
        Product::Mi300x,
        "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]",
        8.0,
    ),
    (
        Product::Mi300x,
        "v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]",
        4.0,
    ),
    (
        Product::Mi355x,
        "v_mfma_f32_16x16x4_f32 a[0:3], v1, v2, a[0:3]",
        8.0,
    ),
];

#[test]
fn chains_take_as_long_as_llvm_mca_says() {
    for (machine, text, turns) in CHAINS {
        let cycles = each(*machine, "", &format!("  {text}\n"));
        assert_eq!(cycles, turns * TURN as f64, "{text} on {machine}");
    }
}

#[test]
fn vector_instructions_run_beside_the_matrix_core() {
    let lines = "  v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[2:3], a[0:15]\n".to_owned()
        + &"  v_fma_f32 v1, v1, v1, v1\n".repeat(7);
    assert_eq!(each(Product::Mi300x, "", &lines), 32.0);
    let lines = lines + "  v_fma_f32 v1, v1, v1, v1\n";
    assert_eq!(each(Product::Mi300x, "", &lines), 36.0);
}

#[test]
fn s_nop_takes_its_turns() {
    assert_eq!(each(Product::Mi210, "", "  s_nop 0\n"), 4.0);
    assert_eq!(each(Product::Mi210, "", "  s_nop 7\n"), 32.0);
    assert_eq!(each(Product::Mi210, "", "  s_sleep 2\n"), 4.0 + 128.0);
}

/// `v1` = 4 times the work-item's number.
const OFFSET: &str = "  v_lshlrev_b32_e32 v1, 2, v0\n";

#[test]
fn lds_gives_128_bytes_a_cycle_and_less_with_conflicts() {
    // 256 bytes per wave, with 16 waves so that latency does not matter.
    let reads = "  ds_read_b32 v2, v1\n".repeat(4) + "  s_waitcnt lgkmcnt(0)\n";
    let kernel = Small {
        lds_bytes: 8192,
        ..Small::new(Gpu::Gfx90a, OFFSET).threads(1024)
    };
    let free = more_cycles(&kernel, Product::Mi210, &reads, 50) as f64;
    let expected = 50.0 * 16.0 * 4.0 * 2.0;
    assert!((free / expected - 1.0).abs() < 0.1, "{free} of {expected}");
    // Lanes 32 words apart: each half of the wave uses one bank.
    let kernel = Small {
        body: "  v_lshlrev_b32_e32 v1, 7, v0\n  v_and_b32 v1, 0x1fff, v1\n",
        ..kernel
    };
    let conflicts = more_cycles(&kernel, Product::Mi210, &reads, 50) as f64;
    let expected = 50.0 * 16.0 * 4.0 * 64.0;
    assert!((conflicts / expected - 1.0).abs() < 0.1, "{conflicts}");
    let body = kernel.body.to_owned() + &reads.repeat(50);
    let timing = model(
        &Small {
            body: &body,
            ..kernel
        },
        Product::Mi210,
    );
    assert_eq!(timing.bound_by, Bound::Unit(Unit::Lds));
}

#[test]
fn loads_take_their_latency() {
    for machine in instinct() {
        let parameters = Parameters::of(machine).expect("a row");
        let load = "  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n";
        // The issue of the load, the latency, and the turn of the `s_waitcnt`.
        let hit = each(machine, OFFSET, load);
        let expected = parameters.l1_latency as f64 + 4.0;
        assert!((hit - expected).abs() <= 4.0, "{machine}: {hit}");
        let lds = each(
            machine,
            OFFSET,
            "  ds_read_b32 v2, v1\n  s_waitcnt lgkmcnt(0)\n",
        );
        let expected = parameters.lds_latency as f64 + 4.0;
        assert!((lds - expected).abs() <= 4.0, "{machine}: {lds}");
    }
}

#[test]
fn waits_let_the_newest_go_on() {
    // The wave waits for the second load of each pair only in the next iteration.
    let pair = "  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(1)\n";
    let both = each(Product::Mi300x, OFFSET, pair);
    let parameters = Parameters::of(Product::Mi300x).expect("a row");
    let expected = (parameters.l1_latency + 4) as f64 / 2.0;
    assert!((both - expected).abs() <= 6.0, "{both}, not {expected}");
}

/// The cycles that a wave waits for its first load, from a buffer of so many bytes.
fn first_load(parameters: Parameters, bytes: usize) -> u64 {
    let body = format!("{OFFSET}  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n");
    let kernel = Small::new(parameters.machine.gpu(), &body);
    let [(_, of_a), of_b] = kernel.buffers;
    let kernel = Small {
        buffers: [(bytes, of_a), of_b],
        ..kernel
    };
    let timing = model(&kernel, parameters);
    assert_eq!(timing.bound_by, Bound::Latency(Stall::VectorMemory));
    let mut instructions = timing.instructions.iter();
    let wait = instructions.find(|i| i.place.text.contains("vmcnt"));
    wait.expect("it ran").stalls.of(Stall::VectorMemory)
}

#[test]
fn the_first_load_comes_from_memory() {
    for machine in instinct() {
        let cold = Parameters {
            start: Start::Cold,
            ..*Parameters::of(machine).expect("a row")
        };
        let (waited, latency) = (first_load(cold, 1 << 12), cold.memory_latency);
        assert!(
            waited.abs_diff(latency) <= 16,
            "{machine}: {waited} of {latency}"
        );
    }
}

#[test]
fn a_repeated_launch_finds_in_the_infinity_cache_what_fits() {
    for machine in [Product::Mi210, Product::Mi355x] {
        let mut repeated = *Parameters::of(machine).expect("a row");
        let mut hardware = *repeated.hardware;
        hardware.infinity_bytes = hardware.infinity_bytes.min(1 << 20);
        repeated.hardware = Box::leak(Box::new(hardware));
        // Other buffers have less than 64 KiB.
        let infinity = hardware.infinity_bytes as usize;
        let fits = first_load(repeated, infinity.saturating_sub(1 << 16).max(1 << 12));
        let is_too_large = first_load(repeated, infinity + (1 << 12));
        // Without one, its latency is that of memory.
        for (waited, latency) in [
            (fits, repeated.infinity_latency),
            (is_too_large, repeated.memory_latency),
        ] {
            assert!(
                waited.abs_diff(latency) <= 16,
                "{machine}: {waited} of {latency}"
            );
        }
    }
}

#[test]
fn a_barrier_waits_for_the_slowest() {
    // The first of two waves runs 100 more instructions.
    let body = "  v_cmp_gt_u32_e32 vcc, 64, v0
  s_cbranch_vccz .Lafter
"
    .to_owned()
        + &DEPENDENT.repeat(100)
        + ".Lafter:
  s_barrier
  v_mov_b32_e32 v2, 1";
    let timing = model(&Small::new(Gpu::Gfx90a, &body).threads(128), Product::Mi210);
    let behind = timing
        .instructions
        .iter()
        .find(|i| i.place.text.starts_with("v_mov"));
    let waited = behind.expect("it ran").stalls.of(Stall::Barrier);
    assert!(waited.abs_diff(400) <= 48, "{waited}");
}

#[test]
fn a_copy_is_bound_by_memory() {
    // 16 bytes per work-item, 1024 work-items in each of 416 workgroups: 6.8 MB in each direction.
    let body = "  s_lshl_b32 s8, s2, 14
  v_lshlrev_b32_e32 v1, 4, v0
  v_add_u32_e32 v1, s8, v1
  global_load_dwordx4 v[4:7], v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[4:7], s[6:7]";
    let bytes = 416 << 14;
    let kernel = Small {
        buffers: [(bytes, bytes), (bytes, bytes)],
        ..Small::new(Gpu::Gfx90a, body).threads(1024).workgroups(416)
    };
    let timing = model(&kernel, Product::Mi210);
    let parameters = Parameters::of(Product::Mi210).expect("a row");
    let at_best = 2.0 * bytes as f64
        / (parameters.hardware.memory_bytes_per_second * parameters.memory_efficiency);
    let ratio = timing.seconds / at_best;
    assert!((1.0..1.25).contains(&ratio), "{ratio}");
    assert_eq!(timing.bound_by, Bound::Unit(Unit::Memory));
}

#[test]
fn times_do_not_depend_on_where_the_host_keeps_buffers() {
    // Lanes 1024 bytes apart, one line each: they share sets of L1.
    let body = "  v_lshlrev_b32_e32 v1, 10, v0\n".to_owned()
        + &"  global_load_dword v2, v1, s[4:5]\n  global_load_dword v3, v1, s[6:7]\n  s_waitcnt vmcnt(0)\n".repeat(8);
    let kernel = Small {
        buffers: [(1 << 18, 1 << 18), (1 << 18, 1 << 18)],
        ..Small::new(Gpu::Gfx942, &body).threads(256).workgroups(64)
    };
    let times: Vec<_> = (0..4)
        .map(|run: usize| {
            // The next buffers get other addresses.
            let between: Vec<Vec<u8>> = (0..run).map(|n| vec![0; 100_000 * (n + 1) + 64]).collect();
            let cycles = model(&kernel, Product::Mi300x).cycles;
            drop(between);
            cycles
        })
        .collect();
    assert!(times.iter().all(|&time| time == times[0]), "{times:?}");
}

#[test]
fn l1_looks_up_a_line_a_cycle_for_sixteen_lanes() {
    // Neighbouring bytes, the same byte for all lanes, and sixteen lines that each quarter of the wave requests again.
    let addresses = [
        ("  v_mov_b32 v1, v0\n", 4.0),
        ("  v_mov_b32 v1, 0\n", 4.0),
        ("  v_and_b32 v1, 15, v0\n  v_lshlrev_b32 v1, 7, v1\n", 64.0),
    ];
    for machine in instinct() {
        for (address, cycles) in addresses {
            let load = "  global_load_ubyte v2, v1, s[4:5]\n";
            let before = format!("{address}{load}  s_waitcnt vmcnt(0)\n");
            assert_eq!(each(machine, &before, load), cycles, "{machine}, {address}");
        }
    }
}

#[test]
fn lines_at_a_stride_share_a_set_of_l1() {
    // 256 lanes load one line each, four times. Neighbouring lines all stay in L1; of lines 512 bytes apart only a
    // quarter does.
    let hits = |shift: u32| {
        let mut body = format!("  v_lshlrev_b32_e32 v1, {shift}, v0\n");
        body +=
            &"  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n  s_barrier\n".repeat(4);
        let bytes = 256 << shift;
        let kernel = Small {
            buffers: [(bytes, bytes), (4096, 4096)],
            ..Small::new(Gpu::Gfx942, &body).threads(256)
        };
        model(&kernel, Product::Mi300x).l1_hit_rate.expect("loads")
    };
    assert!(hits(7) > 0.7, "{}", hits(7));
    assert!(hits(9) < 0.25, "{}", hits(9));
}

#[test]
fn what_others_load_too_comes_from_l2() {
    // All workgroups read the same 4096 bytes.
    let body = "  v_lshlrev_b32_e32 v1, 2, v0\n".to_owned()
        + &"  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n".repeat(2);
    let kernel = Small::new(Gpu::Gfx90a, &body).threads(256).workgroups(1040);
    let timing = model(&kernel, Product::Mi210);
    assert!(timing.memory_bytes * 20 < timing.l2_bytes, "{timing:?}");
}

#[test]
fn many_workgroups_take_as_long_as_their_batches() {
    let body = DEPENDENT.repeat(1000);
    // One workgroup of 16 waves per compute unit and SIMD slot; the registers allow 4 waves per SIMD.
    let cycles = |workgroups| {
        let kernel = Small::new(Gpu::Gfx90a, &body)
            .threads(1024)
            .workgroups(workgroups);
        model(&kernel, Product::Mi210)
    };
    let one = cycles(104);
    assert_eq!((one.waves_per_simd, one.workgroups_modelled), (4, 1));
    let two = cycles(105);
    assert_eq!(two.workgroups_of_unit, 2);
    let ten = cycles(1040);
    assert_eq!((ten.workgroups_of_unit, ten.workgroups_modelled), (10, 3));
    let ratio = ten.cycles as f64 / one.cycles as f64;
    assert!((9.5..10.5).contains(&ratio), "{ratio}");
}

#[test]
fn workgroups_that_overtake_each_other_take_as_long_as_what_they_all_need() {
    // Each load keeps L1 busy for 64 cycles. L1 serves old waves first, so that workgroups end one by one.
    let loads = 100;
    let body = "  v_and_b32 v1, 15, v0\n  v_lshlrev_b32 v1, 7, v1\n".to_owned()
        + &"  global_load_ubyte v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n".repeat(loads);
    let workgroups = 304 * 40;
    let kernel = Small::new(Gpu::Gfx942, &body)
        .threads(256)
        .workgroups(workgroups);
    let timing = model(&kernel, Product::Mi300x);
    assert_eq!(
        (timing.workgroups_of_unit, timing.workgroups_modelled),
        (40, 12)
    );
    let needed = (40 * 4 * 64 * loads) as f64;
    let ratio = timing.cycles as f64 / needed;
    assert!((1.0..1.02).contains(&ratio), "{ratio}");
}

/// Takes a ticket into s8, the number of workgroups that took one before.
const TICKET: &str = "  v_mov_b32 v1, 0\n  v_mov_b32 v2, 1\n  s_mov_b64 exec, 1
  global_atomic_add v3, v1, v2, s[4:5] sc0\n  s_waitcnt vmcnt(0)\n  v_readfirstlane_b32 s8, v3\n";

#[test]
fn workgroups_that_see_who_came_first_run_in_their_order() {
    // Each workgroup takes a ticket, and works for long if the ticket is its own number.
    let body = TICKET.to_owned()
        + "  s_cmp_eq_u32 s8, s2\n  s_cbranch_scc0 .Lend_of_work\n"
        + &DEPENDENT.repeat(1000)
        + ".Lend_of_work:\n";
    let kernel = Small::new(Gpu::Gfx942, &body).workgroups(608);
    for _ in 0..5 {
        let timing = model(&kernel, Product::Mi300x);
        assert!(timing.cycles > 1000 * TURN, "{}", timing.cycles);
    }
}

#[test]
fn the_last_workgroup_may_have_more_to_do() {
    let cycles = |extra: &str, last: u32, workgroups| {
        let body = TICKET.to_owned()
            + &format!("  s_cmp_eq_u32 s8, {last}\n  s_cbranch_scc0 .Lend_of_work\n")
            + &extra.repeat(2000)
            + ".Lend_of_work:\n";
        let kernel = Small::new(Gpu::Gfx942, &body).workgroups(workgroups);
        let whole = model(&kernel, Product::Mi300x).cycles;
        let estimate = |kernel: &_, config: &LaunchConfig<'_>| {
            timing::estimate(kernel, config, Product::Mi300x).expect("it runs")
        };
        assert_eq!(kernel.run(estimate).cycles, whole);
        whole
    };
    let latency = Parameters::of(Product::Mi300x).expect("a row").l1_latency;
    let load = "  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n";
    // Arithmetic accesses no lines.
    for (extra, each) in [(load, latency), ("  v_add_u32_e32 v2, v2, v2\n", 4)] {
        // All run at once, and the last one ends last.
        assert!(cycles(extra, 199, 200) > each * 2000);
        // No ticket has this number.
        assert!(cycles(extra, 200, 200) < each * 2000);
    }
}

#[test]
fn estimates_are_what_whole_runs_say() {
    let body =
        format!("{OFFSET}  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n  s_barrier\n")
            + &DEPENDENT.repeat(50);
    let kernel = Small::new(Gpu::Gfx942, &body).threads(256).workgroups(5000);
    let whole = model(&kernel, Product::Mi300x);
    let estimated = kernel
        .run(|kernel, config| timing::estimate(kernel, config, Product::Mi300x).expect("it runs"));
    assert_eq!(whole.cycles, estimated.cycles);
    assert_eq!(whole.stalls, estimated.stalls);
    // The result is the same every time.
    assert_eq!(model(&kernel, Product::Mi300x).cycles, whole.cycles);
}

/// Most of the time of an estimate would be products that nobody reads.
#[test]
fn estimates_do_not_compute_products() {
    let body = "  v_mov_b32 v1, 1.0\n  v_lshlrev_b32_e32 v6, 2, v0\n".to_owned()
        + &"  v_mfma_f32_16x16x4_f32 v[2:5], v1, v1, v[2:5]\n".repeat(4)
        + "  s_nop 7\n  s_nop 7\n  global_store_dword v6, v2, s[4:5]\n";
    let kernel = Small::new(Gpu::Gfx942, &body);
    let stored = |is_estimate: bool| {
        kernel.run(|kernel, config| {
            let timing = match is_estimate {
                true => timing::estimate(kernel, config, Product::Mi300x),
                false => timing::launch(kernel, config, Product::Mi300x),
            };
            let mut word = [0; 4];
            let address = config.kernarg[..8].try_into().expect("the first buffer");
            let read = kernel.memory().read(u64::from_le_bytes(address), &mut word);
            read.expect("the buffer has a word");
            (timing.expect("it runs").cycles, f32::from_le_bytes(word))
        })
    };
    let (cycles, value) = stored(false);
    assert_eq!(value, 16.0);
    assert_eq!(stored(true), (cycles, 0.0));
}

#[test]
fn estimates_of_huge_grids_end() {
    let kernel = Small::new(Gpu::Gfx942, DEPENDENT).workgroups(i32::MAX as u32);
    let timing = kernel
        .run(|kernel, config| timing::estimate(kernel, config, Product::Mi300x).expect("it runs"));
    assert_eq!(timing.workgroups, i32::MAX as u64);
    assert!(timing.cycles > 1 << 20);
}

#[test]
fn machines_run_their_own_instructions() {
    let error = Small::new(Gpu::Gfx942, "").run(|kernel, config| {
        timing::launch(kernel, config, Product::Mi210).expect_err("another instruction set")
    });
    assert!(matches!(error, TimingError::WrongMachine { .. }));
    assert_eq!(
        error.to_string(),
        "MI210 runs gfx90a, but kernel `k` is for gfx942"
    );
}

#[test]
fn kernels_that_never_end_are_stopped() {
    let body = ".Lloop:\n  s_branch .Lloop";
    let error = Small::new(Gpu::Gfx942, body).run(|kernel, config| {
        timing::launch(kernel, config, Product::Mi300x).expect_err("it never ends")
    });
    assert!(error.to_string().contains("the limit"), "{error}");
}

#[test]
fn traces_have_a_bound() {
    // Each iteration of the loop is a jump, which needs a block in the trace.
    let body = "  s_movk_i32 s8, 20000\n.Lloop:\n  s_sub_u32 s8, s8, 1\n  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 .Lloop\n";
    let kernel = Small::new(Gpu::Gfx942, body);
    let launch = |bytes| {
        kernel.run(|kernel, config| {
            let config = LaunchConfig {
                limits: Limits::NONE,
                ..*config
            };
            timing::launch_within(kernel, &config, Product::Mi300x, bytes)
        })
    };
    let expected = launch(timing::MOST_TRACE_BYTES).expect("it is short");
    let timing = launch(1 << 20).expect("8 bytes for each turn");
    assert_eq!(timing.cycles, expected.cycles);
    let error = launch(1 << 17).expect_err("there is room for 16384 turns");
    assert!(matches!(error, TimingError::TooLong { .. }), "{error:?}");
    assert!(
        error.to_string().contains("`k` has no modelled time"),
        "{error}"
    );
}

#[test]
fn reports_say_that_times_are_modelled() {
    let timing = model(&Small::new(Gpu::Gfx942, DEPENDENT), Product::Mi300x);
    let text = timing::Format::Listing.write(std::slice::from_ref(&timing));
    assert!(
        text.contains("modelled by Ferrowave, not measured"),
        "{text}"
    );
    let json = timing::Format::Json.write(&[timing]);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["version"], timing::JSON_VERSION);
    assert_eq!(value["timings"][0]["machine"], "MI300X");
    assert!(value["timings"][0]["modelled"].is_string());
}
