//! Schedules: kernels whose results depend on the schedule, and kernels whose results do not.

use ferrowave_check::Options;
use ferrowave_gpu::Gpu;
use ferrowave_test_support::{Small, names};

fn seeds(seeds: u32) -> Options {
    Options {
        seeds,
        ..Options::default()
    }
}

/// Each work-item stores what the work-item 64 further on wrote to LDS.
fn exchange(between: &str) -> String {
    format!(
        "  v_lshlrev_b32_e32 v1, 2, v0
  ds_write_b32 v1, v0
{between}
  v_xor_b32_e32 v2, 0x100, v1
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  s_nop 7
  global_store_dword v1, v3, s[4:5]
"
    )
}

/// Each work-item stores what it loaded.
fn copy(wait: &str) -> String {
    format!(
        "  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 7
  global_load_dword v2, v1, s[6:7]
{wait}
  global_store_dword v1, v2, s[4:5]
"
    )
}

#[test]
fn results_that_depend_on_the_schedule_are_found() {
    let unordered = exchange("  s_waitcnt lgkmcnt(0)");
    let early = copy("  s_waitcnt lgkmcnt(0)");
    // The last workgroup to run leaves its number.
    let last =
        "  v_mov_b32_e32 v1, 0\n  v_mov_b32_e32 v2, s2\n  global_store_dword v1, v2, s[4:5]\n";
    for kernel in [
        Small::new(Gpu::Gfx942, &unordered).threads(128),
        Small::new(Gpu::Gfx90a, &unordered).threads(256),
        Small::new(Gpu::Gfx908, &early),
        Small::new(Gpu::Gfx950, &early).threads(192),
        Small::new(Gpu::Gfx942, last).workgroups(5),
    ] {
        let findings = kernel.found(&seeds(16));
        assert_eq!(
            names(&findings),
            [("schedule-dependence", String::new())],
            "{}",
            kernel.body
        );
        let text = findings[0].to_string();
        assert!(
            text.contains("leaves other results than schedule 0"),
            "{text}"
        );
        assert!(
            text.contains("of the device allocation of 4096 bytes"),
            "{text}"
        );
        // The reported schedule reproduces the other results, twice the same.
        let number = text
            .split_whitespace()
            .nth(2)
            .and_then(|word| word.parse().ok());
        let schedule = |schedule| {
            let options = Options {
                schedule: Some(schedule),
                ..Options::default()
            };
            kernel.launch(&options).1
        };
        let number: u64 = number.expect("its number");
        assert_eq!(schedule(number), schedule(number));
        assert_ne!(schedule(number), schedule(0));
    }
}

#[test]
fn results_that_do_not_are_not() {
    let ordered = exchange("  s_waitcnt lgkmcnt(0)\n  s_barrier");
    let late = copy("  s_waitcnt vmcnt(0)");
    let counted =
        "  v_mov_b32_e32 v1, 0\n  v_mov_b32_e32 v2, s2\n  global_atomic_add v1, v2, s[4:5]\n";
    // Each load writes its half of the register whenever it completes.
    let halves = "  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 0x70007
  global_load_d16_hi_b16 v2, v1, s[6:7]
  global_load_d16_b16 v2, v1, s[6:7] offset:2
  s_waitcnt vmcnt(0)
  global_store_b32 v1, v2, s[4:5]
";
    for kernel in [
        Small::new(Gpu::Gfx942, &ordered).threads(128),
        Small::new(Gpu::Gfx908, &ordered).threads(256),
        Small::new(Gpu::Gfx90a, &late).threads(192),
        Small::new(Gpu::Gfx950, &late),
        Small::new(Gpu::Gfx942, counted).workgroups(7),
        Small::new(Gpu::Gfx1100, halves),
    ] {
        let (checked, bytes) = kernel.launch(&seeds(16));
        assert!(checked.findings.is_empty(), "{}", checked.findings[0]);
        // Memory is as after one launch, although several ran.
        let (_, once) = kernel.launch(&Options::default());
        assert_eq!(bytes, once, "{}", kernel.body);
    }
}
