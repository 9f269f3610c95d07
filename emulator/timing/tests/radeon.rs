//! The timing model of Radeons, on kernels small enough to count cycles by hand.

mod small;

use ferrowave_gpu::{Gpu, Product};
use ferrowave_test_support::Small;
use ferrowave_timing::{
    self as timing, Bound, Parameters, Stall, Start, Timing, TimingError, Unit,
};

use small::{each as each_of_64_lanes, model, more_cycles};

const XTX: Product = Product::Rx7900Xtx;
const RADEONS: [Product; 2] = [XTX, Product::Rx9070Xt];

/// The cycles of each repetition of `lines` in a kernel with one wave of 32 lanes.
fn each(machine: Product, before: &str, lines: &str) -> f64 {
    let kernel = Small::wave32(machine.gpu(), before);
    more_cycles(&kernel, machine, lines, 100) as f64 / 100.0
}

/// The waits of the instruction with this name, summed over its executions.
fn waited(timing: &Timing, name: &str, stall: Stall) -> u64 {
    let all = timing.instructions.iter();
    let of_name = all.filter(|instruction| instruction.place.text.starts_with(name));
    of_name
        .map(|instruction| instruction.stalls.of(stall))
        .sum()
}

#[test]
fn a_vector_instruction_takes_a_cycle_and_its_result_five() {
    for machine in RADEONS {
        assert_eq!(each(machine, "", "  v_fma_f32 v1, v2, v2, v2\n"), 1.0);
        assert_eq!(each(machine, "", "  v_fma_f32 v1, v1, v1, v1\n"), 5.0);
        // LLVM's `s_delay_alu` only says so.
        let delayed = "  v_fma_f32 v1, v1, v1, v1\n  s_delay_alu instid0(VALU_DEP_1)\n";
        assert_eq!(each(machine, "", delayed), 5.0);
        // Four independent ones fill the gap.
        let filled =
            "  v_fma_f32 v1, v1, v1, v1\n".to_owned() + &"  v_fma_f32 v2, v3, v3, v3\n".repeat(4);
        assert_eq!(each(machine, "", &filled), 5.0);
    }
}

#[test]
fn waves_of_64_lanes_take_two_cycles() {
    for machine in RADEONS {
        let cycles = |lines| each_of_64_lanes(machine, "", lines);
        assert_eq!(cycles("  v_xor_b32 v1, v2, v2\n"), 2.0);
        assert_eq!(cycles("  v_xor_b32 v1, v1, v1\n"), 5.0);
        assert_eq!(cycles("  v_rcp_f32 v1, v2\n"), 8.0);
    }
}

#[test]
fn a_pair_takes_as_long_as_one_of_its_instructions() {
    for machine in RADEONS {
        let pair = "  v_dual_fmac_f32 v1, v4, v5 :: v_dual_fmac_f32 v2, v7, v8\n";
        // The sums of one pair, and of five.
        assert_eq!(each(machine, "", pair), 5.0);
        let pairs: String = (0..5)
            .map(|n| {
                let (x, y) = (10 + 2 * n, 11 + 2 * n);
                format!("  v_dual_fmac_f32 v{x}, v4, v5 :: v_dual_fmac_f32 v{y}, v7, v8\n")
            })
            .collect();
        assert_eq!(each(machine, "", &pairs), 5.0);
    }
}

#[test]
fn slow_vector_instructions_keep_their_units_busy() {
    for machine in RADEONS {
        for (line, cycles) in [
            ("  v_rcp_f32 v1, v2\n", 4.0),
            ("  v_rcp_f32 v1, v1\n", 10.0),
            ("  v_mul_lo_u32 v1, v2, v3\n", 4.0),
            ("  v_lshlrev_b64 v[2:3], 2, v[4:5]\n", 2.0),
            ("  v_fma_f64 v[2:3], v[4:5], v[4:5], v[4:5]\n", 16.0),
            ("  v_fma_f64 v[2:3], v[2:3], v[2:3], v[2:3]\n", 38.0),
        ] {
            assert_eq!(each(machine, "", line), cycles, "{line} on {machine}");
        }
        // The vector unit runs beside the transcendental one.
        let beside = "  v_rcp_f32 v1, v2\n".to_owned() + &"  v_mov_b32 v3, v4\n".repeat(3);
        assert_eq!(each(machine, "", &beside), 4.0);
    }
}

#[test]
fn matrix_instructions_take_the_cycles_of_the_peak_rates() {
    // 122.8 TFLOP/s of 192 SIMDs at 2.5 GHz are 256 operations a cycle; RX 9070 XT has twice as many in f16 (195 TFLOP/s
    // of 128 SIMDs at 2.97 GHz) and four times as many in fp8 and i8.
    for (machine, name, operand, cycles) in [
        (XTX, "v_wmma_f32_16x16x16_f16", "v[16:23]", 32.0),
        (XTX, "v_wmma_f32_16x16x16_bf16", "v[16:23]", 32.0),
        (XTX, "v_wmma_i32_16x16x16_iu8", "v[16:19]", 32.0),
        (XTX, "v_wmma_i32_16x16x16_iu4", "v[16:17]", 16.0),
        (
            Product::Rx9070Xt,
            "v_wmma_f32_16x16x16_f16",
            "v[16:19]",
            16.0,
        ),
        (
            Product::Rx9070Xt,
            "v_wmma_f32_16x16x16_fp8_fp8",
            "v[16:17]",
            8.0,
        ),
        (
            Product::Rx9070Xt,
            "v_wmma_i32_16x16x16_iu8",
            "v[16:17]",
            8.0,
        ),
    ] {
        let chain = format!("  {name} v[8:15], {operand}, {operand}, v[8:15]\n");
        assert_eq!(each(machine, "", &chain), cycles, "{name} on {machine}");
        // The vector unit does the products.
        let beside = chain + "  v_mov_b32 v40, v41\n";
        assert_eq!(
            each(machine, "", &beside),
            cycles + 1.0,
            "{name} on {machine}"
        );
    }
}

#[test]
fn waves_share_the_vector_unit_of_their_simd() {
    for (waves, cycles) in [(1, 1.0), (4, 1.0), (5, 2.0), (8, 2.0), (16, 4.0)] {
        let kernel = Small {
            threads: 32 * waves,
            ..Small::wave32(Gpu::Gfx1100, "")
        };
        let more = more_cycles(&kernel, XTX, "  v_fma_f32 v1, v2, v2, v2\n", 100);
        assert!(
            (more as f64 / 100.0 - cycles).abs() < 0.1,
            "{waves} waves: {more}"
        );
    }
    // In CU mode, the waves of a workgroup are on two SIMDs, and the next workgroup on the others.
    for (workgroups, cycles) in [(1, 2.0), (96, 2.0), (192, 4.0)] {
        let kernel = Small {
            threads: 128,
            workgroups,
            in_one_compute_unit: true,
            ..Small::wave32(Gpu::Gfx1100, "")
        };
        let more = more_cycles(&kernel, XTX, "  v_fma_f32 v1, v2, v2, v2\n", 100);
        assert!(
            (more as f64 / 100.0 - cycles).abs() < 0.1,
            "{workgroups} workgroups: {more}"
        );
    }
}

/// `v1` = 4 times the work-item's number.
const OFFSET: &str = "  v_lshlrev_b32_e32 v1, 2, v0\n";

/// The waits of each machine for LDS and for loads.
fn waits(machine: Product) -> [&'static str; 2] {
    match machine.gpu().is_rdna4() {
        true => ["  s_wait_dscnt 0\n", "  s_wait_loadcnt 0\n"],
        false => ["  s_waitcnt lgkmcnt(0)\n", "  s_waitcnt vmcnt(0)\n"],
    }
}

#[test]
fn loads_take_their_latency() {
    for machine in RADEONS {
        let parameters = Parameters::of(machine).expect("a row");
        let [lds, vector] = waits(machine);
        let load = "  global_load_b32 v2, v1, s[4:5]\n".to_owned() + vector;
        // The latency, and the cycle of the wait.
        assert_eq!(
            each(machine, OFFSET, &load),
            parameters.l1_latency as f64 + 1.0
        );
        for (load, more) in [
            ("  ds_load_b32 v2, v1\n", 0),
            // Four times as many bytes take three cycles more.
            ("  ds_load_b128 v[4:7], v3\n", 3),
        ] {
            let before = OFFSET.to_owned() + "  v_lshlrev_b32_e32 v3, 4, v0\n";
            let cycles = each(machine, &before, &(load.to_owned() + lds));
            assert_eq!(
                cycles,
                (parameters.lds_latency + more + 1) as f64,
                "{load} on {machine}"
            );
        }
        let body = OFFSET.to_owned() + &load;
        let cold = Parameters {
            start: Start::Cold,
            ..*parameters
        };
        let timing = model(&Small::wave32(machine.gpu(), &body), cold);
        let waited = waited(
            &timing,
            vector.split_whitespace().next().expect("a name"),
            Stall::VectorMemory,
        );
        assert!(
            waited.abs_diff(parameters.memory_latency) <= 16,
            "{machine}: {waited}"
        );
    }
}

#[test]
fn lds_gives_128_bytes_a_cycle_to_a_compute_unit() {
    let reads = "  ds_load_b128 v[4:7], v1\n".repeat(4) + "  s_waitcnt lgkmcnt(0)\n";
    let address = "  v_lshlrev_b32_e32 v1, 4, v0\n  v_and_b32 v1, 0x1ff0, v1\n";
    // 512 bytes a wave, side by side; lanes 128 bytes apart, of which eight use the same four banks together.
    let conflicts = "  v_lshlrev_b32_e32 v1, 7, v0\n  v_and_b32 v1, 0x1f80, v1\n";
    for (body, of_each) in [(address, 4.0), (conflicts, 32.0)] {
        // A workgroup of WGP mode has its bytes in one half. Of two, each has one, but they get in each other's way.
        for (workgroups, is_apart, halves, most) in [
            (1, false, 1.0, 1.1),
            (96, false, 2.0, 2.0),
            (96, true, 2.0, 1.1),
        ] {
            let kernel = Small {
                lds_bytes: 8192,
                threads: 512,
                workgroups,
                in_one_compute_unit: is_apart,
                ..Small::wave32(Gpu::Gfx1100, body)
            };
            let cycles = more_cycles(&kernel, XTX, &reads, 50) as f64;
            let all = f64::from(workgroups.div_ceil(48)) * 50.0 * 16.0 * 4.0 * of_each;
            let ratio = cycles / (all / halves);
            assert!(
                (0.95..most).contains(&ratio),
                "{workgroups}, {is_apart}: {ratio}"
            );
        }
    }
}

/// The instructions that tinygrad traced on gfx1100 (`extra/sqtt/examples/gfx1100/profile_sync_run_0.pkl`, wave 0): the
/// cycles between their issues.
#[test]
fn a_traced_kernel_takes_the_traced_cycles() {
    let body = "  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32_e32 v1, 2, v0
  ds_store_b32 v1, v1
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_add_nc_u32_e32 v2, 4, v1
  v_cmp_gt_u32_e32 vcc_lo, 127, v0
  ds_load_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v4, -1
  v_cndmask_b32_e32 v5, v4, v3, vcc_lo
  v_lshlrev_b32_e32 v6, 2, v0
  global_store_b32 v6, v5, s[4:5]
";
    let kernel = Small {
        threads: 256,
        lds_bytes: 1100,
        ..Small::wave32(Gpu::Gfx1100, body)
    };
    let timing = model(&kernel, XTX);
    let count = 8;
    // Traced: 18 cycles from `v_lshlrev` to `ds_store`, 18 from `v_add` to `ds_load`, 32 from there to the end of the wait,
    // 19 from `v_cndmask` to `global_store`; 20 and 15 from the two waves' `s_barrier` to `v_add`.
    for (name, stall, traced, within) in [
        ("ds_store", Stall::Dependency, 17, 0),
        ("ds_load", Stall::Dependency, 16, 0),
        ("global_store", Stall::Dependency, 17, 3),
        ("v_add_nc_u32", Stall::Barrier, 17, 2),
    ] {
        let each = waited(&timing, name, stall) / count;
        assert!(each.abs_diff(traced) <= within, "{name}: {each}");
    }
    let waits = waited(&timing, "s_waitcnt", Stall::Lds) / count;
    // The two waits for LDS.
    assert!(waits.abs_diff(2 * 31) <= 6, "{waits}");
}

/// Captures of RX 7900 XTX (github.com/2187Nick/tinygrad, `extra/sqtt/captures/rigorous`): in `mb_f1_valu_add_n32`, sixteen waves of
/// a SIMD run 32 additions each that depend on each other, and each wave's begin 156 cycles after those of the wave before.
#[test]
fn what_depends_keeps_all_waves_of_the_simd_waiting_without_a_delay() {
    for machine in RADEONS {
        let cycles = |line: &str| {
            let kernel = Small {
                threads: 4 * 4 * 32,
                ..Small::wave32(machine.gpu(), "")
            };
            more_cycles(&kernel, machine, line, 100) as f64 / 100.0
        };
        let addition = "  v_add_f32 v1, 1.0, v1\n";
        assert!((cycles(addition) - 4.0 * 5.0).abs() < 0.5, "{machine}");
        // With it, the waves take turns.
        let delayed = addition.to_owned() + "  s_delay_alu instid0(VALU_DEP_1)\n";
        assert!((cycles(&delayed) - 5.0).abs() < 0.5, "{machine}");
    }
}

/// In all 433 of the same captures, no memory instruction issues less than 15 cycles after its wave's last vector instruction (12,721
/// places, most of them 17 to 19), whatever their registers are; no vector instruction less than 7 after the last memory
/// instruction (6205 places).
#[test]
fn memory_and_vector_instructions_wait_for_each_other() {
    for machine in RADEONS {
        let vectors = "  v_mov_b32 v3, v4\n".repeat(8);
        let loads = "  ds_load_b32 v2, v1\n".repeat(4);
        let both = vectors + &loads;
        // Instructions of one kind issue in consecutive cycles.
        assert_eq!(
            each(machine, OFFSET, &both),
            (7 + 17 + 3 + 7) as f64,
            "{machine}"
        );
        // A transcendental result takes five cycles more.
        let last = "  v_rcp_f32 v5, v6\n".to_owned() + &loads;
        assert_eq!(
            each(machine, OFFSET, &last),
            (22 + 3 + 7) as f64,
            "{machine}"
        );
    }
}

#[test]
fn operands_of_one_bank_take_a_cycle_more() {
    for machine in RADEONS {
        for (lines, cycles) in [
            // v4 and v8 are in bank 0, as are v12 and v16.
            ("  v_add_f32 v1, v4, v8\n  v_add_f32 v2, v12, v16\n", 4.0),
            ("  v_add_f32 v1, v4, v9\n  v_add_f32 v2, v12, v17\n", 2.0),
            ("  v_fma_f32 v1, v4, v8, v12\n  v_mov_b32 v2, v3\n", 4.0),
            // What the instruction before read as the same operand is in the bank's cache; the same register is read once.
            ("  v_add_f32 v1, v4, v8\n  v_add_f32 v2, v4, v16\n", 3.0),
            ("  v_add_f32 v1, v4, v4\n  v_add_f32 v2, v8, v8\n", 2.0),
            // A pair reads four operands. The sums come by another way.
            (
                "  v_dual_fmac_f32 v1, v4, v9 :: v_dual_fmac_f32 v2, v6, v11\n  v_dual_fmac_f32 v21, v14, v19 :: v_dual_fmac_f32 v22, v12, v17\n",
                2.0,
            ),
            (
                "  v_dual_fmac_f32 v1, v4, v8 :: v_dual_fmac_f32 v2, v6, v11\n  v_dual_fmac_f32 v21, v14, v19 :: v_dual_fmac_f32 v22, v12, v16\n",
                4.0,
            ),
        ] {
            let many = lines.to_owned() + "  v_mov_b32 v30, 0\n".repeat(8).as_str();
            assert_eq!(
                each(machine, "", &many),
                cycles + 8.0,
                "{lines} on {machine}"
            );
        }
    }
}

#[test]
fn a_wait_for_scalars_takes_until_the_unit_is_done() {
    let machine = Product::Rx9070Xt;
    // tinygrad's traces of gfx1201 (`gemm`): 9 cycles behind a scalar instruction, 17 behind a vector one.
    let scalar = "  s_add_co_i32 s8, s8, 1\n  s_wait_alu 0xfffe\n";
    assert_eq!(each(machine, "", scalar), 9.0);
    let vector = "  v_cmp_gt_u32_e32 vcc_lo, 32, v0\n  s_wait_alu 0xfffd\n";
    assert_eq!(each(machine, "", vector), 16.0);
}

#[test]
fn matrix_instructions_wait_in_the_queue() {
    // `handwritten` of the same traces: seven of ten issue at once, and what follows them issues when four have started.
    let pair = "  v_wmma_f32_16x16x16_f16 v[8:15], v[40:43], v[44:47], v[8:15]\n  v_wmma_f32_16x16x16_f16 v[16:23], v[40:43], v[44:47], v[16:23]\n";
    let wait = |count: usize| {
        let body = pair.repeat(count / 2) + "  s_add_co_i32 s8, s8, 1\n";
        let timing = model(&Small::wave32(Gpu::Gfx1201, &body), Product::Rx9070Xt);
        waited(&timing, "v_wmma", Stall::MatrixBusy)
    };
    assert_eq!(wait(6), 0);
    // The first starts at once. The eighth waits for the start of the second, the ninth for that of the third.
    assert!(wait(8).abs_diff(16 - 8 + 2) <= 2, "{}", wait(8));
    assert!(wait(10).abs_diff(3 * 16 - 10 + 2) <= 2, "{}", wait(10));
}

#[test]
fn a_split_barrier_waits_for_the_slowest() {
    // The first of two waves runs 500 more instructions between its arrival and its wait; the other only arrives later.
    let work = "  v_fma_f32 v1, v2, v2, v2\n".repeat(500);
    let late = format!(
        "  v_cmp_gt_u32_e32 vcc_lo, 32, v0
  s_cbranch_vccz .Lafter
{work}.Lafter:
  s_barrier_signal -1
  s_barrier_wait -1
  v_mov_b32_e32 v2, 1"
    );
    let cycles = |body: &str| {
        let kernel = Small {
            threads: 64,
            ..Small::wave32(Gpu::Gfx1201, body)
        };
        model(&kernel, Product::Rx9070Xt)
    };
    let waited_for_work = waited(&cycles(&late), "v_mov", Stall::Barrier);
    assert!(
        waited_for_work.abs_diff(500 + 2 * 20) <= 24,
        "{waited_for_work}"
    );
    // Work between the two hides behind the other wave's.
    let early = format!(
        "  v_cmp_gt_u32_e32 vcc_lo, 32, v0
  s_cbranch_vccnz .Lfirst
{work}.Lfirst:
  s_barrier_signal -1
  s_cbranch_vccz .Lafter
{work}.Lafter:
  s_barrier_wait -1
  v_mov_b32_e32 v2, 1"
    );
    let waited_beside_work = waited(&cycles(&early), "v_mov", Stall::Barrier);
    assert!(waited_beside_work <= 2 * 20, "{waited_beside_work}");
}

#[test]
fn stores_have_a_counter_of_their_own() {
    for machine in RADEONS {
        let wait_for_loads = waits(machine)[1];
        let store = "  global_store_b32 v1, v0, s[4:5]\n".to_owned() + wait_for_loads;
        assert!(each(machine, OFFSET, &store) < 10.0, "{machine}");
        let wait = match machine.gpu().is_rdna4() {
            true => "  s_wait_storecnt 0\n",
            false => "  s_waitcnt_vscnt null, 0\n",
        };
        let store = "  global_store_b32 v1, v0, s[4:5]\n".to_owned() + wait;
        let latency = Parameters::of(machine).expect("a row").l2_latency as f64;
        assert!(each(machine, OFFSET, &store) >= latency, "{machine}");
    }
}

#[test]
fn a_shader_array_has_a_cache_of_its_own_on_rdna_3() {
    // Two loads of the same 64 KiB by all waves: they do not fit in the vector cache, but in the shader array's.
    let body = "  v_lshlrev_b32_e32 v1, 4, v0\n".to_owned()
        + &(0..8)
            .map(|n| {
                format!(
                    "  v_add_nc_u32_e32 v2, {}, v1\n  global_load_b128 v[4:7], v2, s[4:5]\n",
                    (n % 4) << 14
                )
            })
            .collect::<String>();
    let bytes = |machine: Product| {
        let kernel = Small {
            threads: 1024,
            workgroups: 96,
            buffers: [(1 << 16, 1 << 16), (4096, 4096)],
            ..Small::wave32(machine.gpu(), &body)
        };
        model(&kernel, machine).l2_bytes
    };
    let [with, without] = RADEONS.map(bytes);
    assert!(4 * with < without, "{with} and {without}");
}

#[test]
fn a_copy_is_bound_by_memory() {
    let body = "  s_lshl_b32 s8, s2, 14
  v_lshlrev_b32_e32 v1, 4, v0
  v_add_nc_u32_e32 v1, s8, v1
  global_load_b128 v[4:7], v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_b128 v1, v[4:7], s[6:7]";
    let bytes = 480 << 14;
    let kernel = Small {
        buffers: [(bytes, bytes), (bytes, bytes)],
        threads: 1024,
        workgroups: 480,
        ..Small::wave32(Gpu::Gfx1100, body)
    };
    let repeated = *Parameters::of(XTX).expect("a row");
    let cold = Parameters {
        start: Start::Cold,
        ..repeated
    };
    let bytes_per_second = cold.hardware.memory_bytes_per_second * cold.memory_efficiency;
    // What is repeated is read from the Infinity Cache.
    for (parameters, through_memory) in [(cold, 2 * bytes), (repeated, bytes)] {
        let timing = model(&kernel, parameters);
        let ratio = timing.seconds / (through_memory as f64 / bytes_per_second);
        assert!((1.0..1.3).contains(&ratio), "{ratio}");
        assert_eq!(timing.bound_by, Bound::Unit(Unit::Memory));
    }
}

#[test]
fn every_machine_of_the_table_gives_times_and_no_other() {
    for machine in Product::ALL {
        let result = Small::new(machine.gpu(), "  v_mov_b32 v1, v2\n")
            .run(|kernel, config| timing::launch(kernel, config, machine));
        match Parameters::MACHINES.contains(&machine) {
            true => {
                let timing = result.expect("it runs");
                assert!(timing.cycles > 0 && timing.seconds > 0.0, "{machine}");
                assert_eq!(timing.machine, machine);
            }
            false => {
                let error = result.expect_err("no parameters");
                assert!(matches!(error, TimingError::NoParameters(_)), "{error}");
                assert!(error.to_string().contains(machine.name()), "{error}");
            }
        }
    }
}
