//! Timelines: the same cycles as the totals, in order, and readable for Perfetto.

use std::collections::BTreeMap;

use ferrowave_emulator::dispatch::{LaunchConfig, Limits, Observed, launch_observed};
use ferrowave_gpu::{Gpu, Product};
use ferrowave_test_support::Small;
use ferrowave_timing::{MOST_TIMELINE_INSTRUCTIONS, Plan, Shown, Timing, write_timelines};
use serde_json::Value;

fn with_timeline(kernel: &Small<'_>, machine: Product) -> Timing {
    kernel.run(|kernel, config| {
        let config = LaunchConfig {
            limits: Limits::NONE,
            ..*config
        };
        let plan = Plan::new(kernel, &config, machine)
            .expect("it can start")
            .with_timeline();
        let Observed { outcome, observers } =
            launch_observed(kernel, &plan.config(&config), |_| plan.tracer()).expect("it starts");
        outcome.expect("it runs");
        plan.timing(kernel, observers).expect("it is short")
    })
}

fn written(timings: &[Timing]) -> (Vec<Shown>, Value) {
    let mut file = Vec::new();
    let shown = write_timelines(timings, &mut file).expect("a list takes all");
    (shown, serde_json::from_slice(&file).expect("JSON"))
}

/// Loads, matrix instructions, LDS and a barrier, in workgroups of eight waves.
const BODY: &str = "  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[4:5]
  ds_write_b32 v1, v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v1
  v_mfma_f32_32x32x2f32 a[0:15], v2, v2, a[0:15]
  v_mfma_f32_32x32x2f32 a[0:15], v2, v2, a[0:15]
  s_waitcnt lgkmcnt(0)
  s_nop 7
  v_accvgpr_read_b32 v4, a0
";

#[test]
fn spans_are_the_cycles_of_the_totals() {
    let kernel = Small {
        lds_bytes: 4096,
        ..Small::new(Gpu::Gfx90a, BODY).threads(512).workgroups(300)
    };
    let timing = with_timeline(&kernel, Product::Mi210);
    let (shown, file) = written(std::slice::from_ref(&timing));
    assert_eq!(shown.len(), 1);
    assert!(!shown[0].is_cut);
    let events = file["traceEvents"].as_array().expect("events");
    // One nanosecond is one cycle, and times are in microseconds.
    let cycles = |value: &Value| (1e3 * value.as_f64().expect("a time")).round() as u64;
    let mut waits: BTreeMap<String, u64> = BTreeMap::new();
    let mut tracks: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let (mut issued, mut matrix) = (0, 0);
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let (start, duration) = (cycles(&event["ts"]), cycles(&event["dur"]));
        let id = |name: &str| event[name].as_u64().expect("a number");
        let track = tracks.entry((id("pid"), id("tid"))).or_default();
        track.push((start, start + duration));
        let name = event["name"].as_str().expect("a name");
        match event["cat"].as_str() {
            Some("wait") => *waits.entry(name.to_owned()).or_default() += duration,
            Some("issue") => issued += 1,
            Some("matrix core") => {
                assert!(name.starts_with("v_mfma"), "{name}");
                matrix += duration;
            }
            other => panic!("{other:?}"),
        }
    }
    let totals: BTreeMap<String, u64> = timing
        .stalls
        .iter()
        .map(|(stall, cycles)| (stall.name().to_owned(), cycles))
        .collect();
    assert_eq!(waits, totals);
    let counted: u64 = timing.instructions.iter().map(|i| i.issued).sum();
    assert_eq!(issued, counted);
    // Two instructions of 64 cycles in each of the replayed waves.
    assert_eq!(matrix, 2 * 64 * 8 * timing.workgroups_modelled);
    for (track, spans) in &mut tracks {
        spans.sort_unstable();
        let overlap = spans.windows(2).find(|pair| pair[0].1 > pair[1].0);
        assert_eq!(overlap, None, "{track:?}");
    }
    let last = tracks.values().flatten().map(|(_, end)| *end).max();
    assert_eq!(last, Some(shown[0].cycles.max(last.unwrap_or(0))));
    assert!(shown[0].cycles <= timing.cycles_modelled, "{shown:?}");
    // Each track has a name.
    let named = |track: &(u64, u64)| {
        events.iter().any(|event| {
            event["name"] == "thread_name" && event["pid"] == track.0 && event["tid"] == track.1
        })
    };
    assert!(tracks.keys().all(named));
    assert!(
        events
            .iter()
            .any(|event| event["args"]["name"] == "workgroup 104, wave 3")
    );
    assert!(
        events
            .iter()
            .any(|event| event["args"]["name"] == "k, launch 1, SIMD 3")
    );
}

#[test]
fn long_replays_are_cut_and_say_so() {
    let count = MOST_TIMELINE_INSTRUCTIONS as u64 / 3;
    let body = format!(
        "  s_mov_b32 s8, {count}\n.Lloop:\n  s_sub_u32 s8, s8, 1\n  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 .Lloop\n"
    );
    let timing = with_timeline(&Small::new(Gpu::Gfx942, &body), Product::Mi300x);
    let (shown, file) = written(std::slice::from_ref(&timing));
    assert!(
        shown[0].is_cut && shown[0].cycles < timing.cycles,
        "{shown:?}"
    );
    let events = file["traceEvents"].as_array().expect("events");
    let issues = events.iter().filter(|event| event["cat"] == "issue");
    assert_eq!(issues.count(), MOST_TIMELINE_INSTRUCTIONS);
}

#[test]
fn launches_without_a_timeline_have_no_events() {
    let (shown, file) = written(&[]);
    assert_eq!(shown, []);
    assert_eq!(file["traceEvents"], serde_json::json!([]));
}
