//! Counters: what a kernel does, exactly, instruction by instruction.
//!
//! [`launch`] runs a kernel as [`ferrowave_emulator::dispatch::launch`] does and counts. The counts are of what the machine code asks
//! for, and do not depend on time: how often instructions run and with how many lanes, bytes and cache lines of memory
//! accesses, bank conflicts of LDS, operations. What caches hold and how long anything takes is not among them.

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

/// What came of a launch that was profiled.
#[derive(Debug)]
pub struct Profiled {
    /// How it ended.
    pub outcome: Result<LaunchSummary, LaunchError>,
    /// What was counted, up to a fault if there was one.
    pub profile: Profile,
}

/// Runs a kernel over a grid as [`ferrowave_emulator::dispatch::launch`] does, and counts. An error is a launch that did not begin.
pub fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<Profiled, LaunchError> {
    let (outcome, counted) = count(kernel, config)?;
    let mut profile = Profile::new(kernel);
    profile.add(kernel, &counted);
    Ok(Profiled { outcome, profile })
}

/// How a launch ended, and what was counted.
pub type Outcome = (Result<LaunchSummary, LaunchError>, Counted);

/// As [`launch`], without the names of anything: to be added up in a [`Profile`] of the same kernel.
pub fn count(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<Outcome, LaunchError> {
    let setup = Setup::new(kernel);
    let Observed { outcome, observers } = launch_observed(kernel, config, |_| setup.counter())?;
    Ok((outcome, Counted::new(kernel, config, observers)))
}

/// What the counters of a launch's host threads begin with.
pub struct Setup<'a> {
    kernel: &'a Kernel,
    instructions: Range<u32>,
}

impl<'a> Setup<'a> {
    /// For launches of a kernel.
    pub fn new(kernel: &'a Kernel) -> Self {
        Setup {
            kernel,
            instructions: kernel.instructions(),
        }
    }

    /// The observer of one host thread.
    pub fn counter(&self) -> Counter {
        Counter::new(self.kernel.gpu(), self.instructions.clone())
    }
}

/// What one launch did.
#[derive(Clone, Debug)]
pub struct Counted {
    /// By index in the code, in its order.
    counts: Vec<(u32, Counts)>,
    occupied: Occupied,
    workgroups: u64,
    waves: u64,
}

impl Counted {
    /// The sum of a launch's counters.
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
