//! Checks whether results depend on the order of waves and loads.
//!
//! The launch runs several times from the same memory. The seed determines the order of workgroups, the turns of waves
//! and the moments at which loads return. The resulting memory is compared. A run can be repeated from its seed alone.

use super::{Delayer, Finding, Kind, WavePart};
use ferrowave_emulator::dispatch::{LaunchConfig, Observed, launch_observed};
use ferrowave_emulator::memory::Snapshot;
use ferrowave_emulator::program::Kernel;

/// Runs a launch with seeds 1 to `seeds` and compares the resulting memory with that of seed 0, then restores memory.
/// Compares nothing if the run with seed 0 fails, or if the launch waits for others, which run once.
pub(super) fn compare(kernel: &Kernel, config: &LaunchConfig<'_>, seeds: u32) -> Vec<Finding> {
    if seeds == 0 || config.group.is_some() {
        return Vec::new();
    }
    let memory = kernel.memory();
    let before = memory.snapshot();
    let mut findings = Vec::new();
    let mut expected: Option<Snapshot> = None;
    for seed in 0..=u64::from(seeds) {
        memory.restore(&before);
        let config = scheduled(config, seed);
        let run = launch_observed(kernel, &config, |_| Delayer::new(seed));
        let result = match run {
            Ok(Observed { outcome, .. }) => outcome,
            Err(error) => Err(error),
        };
        let what = match (result, &expected) {
            (Err(_), None) => break,
            (Err(error), Some(_)) => {
                format!("in schedule {seed} the launch fails, in schedule 0 it does not: {error}")
            }
            (Ok(_), None) => {
                expected = Some(memory.snapshot());
                continue;
            }
            (Ok(_), Some(expected)) => match memory.snapshot().difference(expected) {
                None => continue,
                Some(difference) => {
                    format!("schedule {seed} leaves other results than schedule 0: {difference}")
                }
            },
        };
        findings.push(Finding {
            kind: Kind::ScheduleDependence,
            kernel: kernel.name().to_owned(),
            wave: WavePart {
                what,
                workgroup: [0; 3],
                wave: 0,
                lanes: Vec::new(),
                instruction: None,
            },
            memory: None,
            other: None,
            count: 1,
        });
        // One is enough; the lowest seed is the one to look at first.
        break;
    }
    memory.restore(&before);
    findings
}

/// The launch with a seed: on one host thread, so that it can be repeated.
pub(super) fn scheduled<'a>(config: &LaunchConfig<'a>, seed: u64) -> LaunchConfig<'a> {
    LaunchConfig {
        seed,
        threads: Some(1),
        ..*config
    }
}
