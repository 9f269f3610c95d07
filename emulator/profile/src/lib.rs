//! Counters: exact counts of what a kernel does, per instruction.
//!
//! [`launch`] runs a kernel as [`ferrowave_emulator::dispatch::launch`] does and counts. The counts depend on the
//! machine code and not on time: executions and active lanes of instructions, bytes and cache lines of memory accesses,
//! LDS bank conflicts, operations. Cache contents and times are not modelled here.

mod counter;
mod counts;
mod flops;
mod report;

pub use counts::Counts;
pub use report::{
    Class, Format, InstructionProfile, JSON_VERSION, Occupied, Profile, Sources, Totals,
};

use std::ops::Range;

pub use counter::Counter;

use ferrowave_emulator::dispatch::{
    LaunchConfig, LaunchError, LaunchSummary, Observed, launch_observed,
};
use ferrowave_emulator::program::Kernel;

/// The result of a profiled launch.
#[derive(Debug)]
pub struct Profiled {
    /// How the launch ended.
    pub outcome: Result<LaunchSummary, LaunchError>,
    /// The counts; up to the fault if there was one.
    pub profile: Profile,
}

/// Runs a kernel as [`ferrowave_emulator::dispatch::launch`] does, and counts. Returns an error if the launch cannot
/// start.
pub fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<Profiled, LaunchError> {
    let (outcome, counted) = count(kernel, config)?;
    let mut profile = Profile::new(kernel);
    profile.add(kernel, &counted);
    Ok(Profiled { outcome, profile })
}

/// How a launch ended, and its counts.
pub type Outcome = (Result<LaunchSummary, LaunchError>, Counted);

/// As [`launch`], but without names: to be added to a [`Profile`] of the same kernel.
pub fn count(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<Outcome, LaunchError> {
    let setup = Setup::new(kernel);
    let Observed { outcome, observers } = launch_observed(kernel, config, |_| setup.counter())?;
    Ok((outcome, Counted::new(kernel, config, observers)))
}

/// Creates the counters of a launch's host threads.
pub struct Setup<'a> {
    kernel: &'a Kernel,
    instructions: Range<u32>,
}

impl<'a> Setup<'a> {
    /// For launches of `kernel`.
    pub fn new(kernel: &'a Kernel) -> Self {
        Setup {
            kernel,
            instructions: kernel.instructions(),
        }
    }

    /// The observer of one host thread.
    pub fn counter(&self) -> Counter {
        let kernel = self.kernel;
        Counter::new(kernel.gpu(), kernel.wave_size(), self.instructions.clone())
    }
}

/// The counts of one launch.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Sorted by index in the code.
    counts: Vec<(u32, Counts)>,
    occupied: Occupied,
    workgroups: u64,
    waves: u64,
}

impl Counted {
    /// Adds up the counters of a launch.
    pub fn new(kernel: &Kernel, config: &LaunchConfig<'_>, counters: Vec<Counter>) -> Self {
        let mut all: Vec<_> = counters.iter().flat_map(Counter::counts).collect();
        all.sort_unstable_by_key(|(index, _)| *index);
        let mut counts: Vec<(u32, Counts)> = Vec::with_capacity(all.len());
        for (index, more) in all {
            match counts.last_mut() {
                Some((last, sum)) if *last == index => *sum += more,
                _ => counts.push((index, more)),
            }
        }
        Counted {
            counts,
            occupied: Occupied::of(kernel, config),
            workgroups: counters.iter().map(Counter::workgroups).sum(),
            waves: counters.iter().map(Counter::waves).sum(),
        }
    }
}
