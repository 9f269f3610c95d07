//! The model gives back what was measured on single instructions: AMD's Gluon tutorials (ROCm/gfx950-gluon-tutorials),
//! measured on MI355X by thread traces.

mod small;

use ferrowave_gpu::{Gpu, Product};
use ferrowave_test_support::{LDS_BYTES, LDS_READS, LdsReads, Small};
use ferrowave_timing::{Parameters, Stall, Start, Timing};

use small::{each, model, more_cycles};

/// The stalls of each instruction with this name for this cause, in the order of the code.
fn stalls(timing: &Timing, name: &str, stall: Stall) -> Vec<u64> {
    let of_name = timing.instructions.iter();
    let of_name = of_name.filter(|instruction| instruction.place.text.starts_with(name));
    of_name
        .map(|instruction| instruction.stalls.of(stall))
        .collect()
}

#[test]
fn lds_reads_take_the_measured_cycles() {
    // `experiments/lds_throughput_validation`, each row exactly.
    for (waves, place) in [(1, 0), (4, 1)] {
        for reads in LDS_READS {
            let address = reads.address();
            let kernel = Small {
                lds_bytes: LDS_BYTES,
                ..Small::new(Gpu::Gfx950, &address).threads(64 * waves)
            };
            let instructions = LdsReads::instructions();
            let count = 20 * instructions.lines().count() as u64;
            let more = more_cycles(&kernel, Product::Mi355x, &instructions, 20);
            let cycles = more as f64 / count as f64;
            assert_eq!(cycles, reads.cycles[place], "{waves} waves, {reads:?}");
        }
    }
}

#[test]
fn eight_lds_reads_of_a_pair_of_simds_are_in_flight() {
    // `docs/lds_throughput.md`, 1.6: the first eight issue every four cycles. The ninth waits for the first completion,
    // 50 to 70 cycles after the first issue.
    let reads = &LDS_READS[6];
    let body = reads.address() + &LdsReads::instructions();
    let kernel = Small {
        lds_bytes: LDS_BYTES,
        ..Small::new(Gpu::Gfx950, &body)
    };
    let stalls = stalls(&model(&kernel, Product::Mi355x), "ds_read", Stall::LdsQueue);
    assert_eq!(stalls[..8], [0; 8]);
    let issued_at = 8 * 4 + stalls[8];
    assert!((50..=70).contains(&issued_at), "{stalls:?}");
}

#[test]
fn loads_of_8_bytes_a_lane_hold_l1_as_long_as_those_of_16() {
    // `v8_sliceMN`, 4.3: 4, 16 and 16 cycles. The loads hit.
    for (width, cycles) in [("dword", 4.0), ("dwordx2", 16.0), ("dwordx4", 16.0)] {
        let bytes = if width == "dword" { 4 } else { 16 };
        let register = ["v2", "v[2:3]", "v[2:5]"][["dword", "dwordx2", "dwordx4"]
            .iter()
            .position(|&name| name == width)
            .expect("listed")];
        let load = format!("  global_load_{width} {register}, v1, s[4:5]\n");
        let stride = if width == "dwordx2" { 8 } else { bytes };
        let before = format!("  v_mul_u32_u24 v1, {stride}, v0\n{load}  s_waitcnt vmcnt(0)\n");
        assert_eq!(each(Product::Mi355x, &before, &load), cycles, "{width}");
    }
}

#[test]
fn four_waves_issue_a_load_of_16_bytes_a_lane_every_64_cycles() {
    // `v8_sliceMN`, 4.4: in the steady state. The loads hit.
    let load = "  global_load_dwordx4 v[2:5], v1, s[4:5]\n";
    let before = format!("  v_lshlrev_b32 v1, 4, v0\n{load}  s_waitcnt vmcnt(0)\n");
    let kernel = Small::new(Gpu::Gfx950, &before).threads(256);
    let more = more_cycles(&kernel, Product::Mi355x, load, 20);
    assert_eq!(more, 20 * 64);
}

#[test]
fn loads_in_flight_fill_l1_and_twelve_more_wait() {
    // `v8_sliceMN`, 4.5, and `docs/tcp_bound_tile_model.md`, 1: 32 KB in flight and 12 instructions of 1 KB in the queue.
    // The next one waits until the first comes from memory.
    let mut body = "  v_lshlrev_b32 v1, 4, v0\n".to_owned();
    for _ in 0..50 {
        body += "  global_load_dwordx4 v[4:7], v1, s[4:5]\n  v_add_u32 v1, 1024, v1\n";
    }
    let kernel = Small {
        buffers: [(50 << 10, 50 << 10), (4096, 4096)],
        ..Small::new(Gpu::Gfx950, &body)
    };
    let cold = Parameters {
        start: Start::Cold,
        ..*Parameters::of(Product::Mi355x).expect("a row")
    };
    let timing = model(&kernel, cold);
    let stalls = stalls(&timing, "global_load", Stall::MemoryQueue);
    let first = stalls.iter().position(|&cycles| cycles > 100);
    assert_eq!(first, Some(32 + 12), "{stalls:?}");
}
