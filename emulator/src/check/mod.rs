//! Checks: what a GPU would not say about a kernel.
//!
//! A [`Checker`] watches a launch ([`crate::exec::Observer`]) and hands every instruction to the checks that were
//! chosen. They report to [`Findings`], which keeps one example of each kind of finding and place, and counts the rest.

mod allocations;
mod cells;
mod clocks;
mod delay;
mod faults;
mod findings;
pub(crate) mod hazard_rules;
mod hazards;
mod kind;
mod lds;
mod lds_cells;
mod memory;
mod names;
mod races;
mod register_set;
mod registers;
mod report;
mod schedules;
mod spans;
mod stamp;
mod waits;

pub use kind::{Check, Kind, UnknownCheck, parse};

pub use report::{Allocation, Finding, Format, JSON_VERSION, Memory, Place, SourceLine, WavePart};

pub(crate) use findings::{Access, Example, Findings, Key, Side};
pub(crate) use names::WaitCounts;
pub(crate) use report::Names;

use std::sync::Arc;

use allocations::Allocations;
use delay::Delayer;
use ferrowave_code_object::Gpu;
use spans::{Span, Spans};

use crate::{
    dispatch::{LaunchConfig, LaunchError, LaunchSummary, Observed, launch_observed},
    exec::{Context, Facts, Flow, GroupStart, Observer, Space, Touch, Unobserved, Wave},
    memory::{View, Written},
    program::Kernel,
};

/// What a launch is checked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The checks.
    pub checks: Vec<Check>,
    /// How often it runs in other orders of waves, workgroups and loads, to see whether results depend on them.
    pub seeds: u32,
    /// The schedule to run in: the seed of one that was found to give other results.
    pub schedule: Option<u64>,
}

impl Options {
    /// Whether anything is checked.
    pub fn is_active(&self) -> bool {
        !self.checks.is_empty() || self.seeds > 0 || self.schedule.is_some()
    }
}

impl<const N: usize> From<[Check; N]> for Options {
    fn from(checks: [Check; N]) -> Self {
        Options {
            checks: checks.into(),
            ..Options::default()
        }
    }
}

/// What came of a launch that was checked.
#[derive(Debug)]
pub struct Checked {
    /// How it ended.
    pub outcome: Result<LaunchSummary, LaunchError>,
    /// What was found on the way.
    pub findings: Vec<Finding>,
}

/// Runs a kernel over a grid as [`crate::dispatch::launch`] does, and checks it. An error is a launch that did not
/// begin.
pub fn launch(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    options: &Options,
) -> Result<Checked, LaunchError> {
    launch_beside(kernel, config, options, || Unobserved).map(|(checked, _)| checked)
}

/// As [`launch`], and on each host thread another observer watches the run whose outcome counts.
pub(crate) fn launch_beside<O: Observer + Send>(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    options: &Options,
    other: impl Fn() -> O + Sync,
) -> Result<(Checked, Vec<O>), LaunchError> {
    let mut found = schedules::compare(kernel, config, options.seeds);
    let config = match options.schedule {
        Some(seed) => &schedules::scheduled(config, seed),
        None => config,
    };
    let view = kernel.memory().view();
    let setup = Setup::new(kernel, &view, config, &options.checks);
    let Observed { outcome, observers } = launch_observed(kernel, config, |_| {
        let checker = Checker::new(setup.watches(), &options.checks, options.schedule);
        (checker, other())
    })?;
    let mut findings = Findings::default();
    let mut others = Vec::new();
    for (checker, other) in observers {
        findings.merge(checker.findings);
        others.push(other);
    }
    found.extend(report::describe(kernel, &view, &findings));
    let checked = Checked {
        outcome,
        findings: found,
    };
    Ok((checked, others))
}

/// The checks of a launch and what its host threads share.
struct Setup<'a> {
    checks: &'a [Check],
    written: Allocations<Arc<Written>>,
    races: races::Shared,
    gpu: Gpu,
    /// Of [`Check::Registers`], if it is chosen.
    registers: Option<Arc<registers::Shared>>,
}

impl<'a> Setup<'a> {
    fn new(kernel: &Kernel, view: &View, config: &LaunchConfig<'_>, checks: &'a [Check]) -> Self {
        Setup {
            checks,
            written: Allocations::new(view, |index| view.written(index).cloned()),
            races: races::Shared::new(view, config.grid),
            gpu: kernel.gpu(),
            registers: checks
                .contains(&Check::Registers)
                .then(|| Arc::new(registers::Shared::new(kernel.code()))),
        }
    }

    /// What looks for the findings of each check, for one host thread.
    fn watches(&self) -> Vec<Box<dyn Watch + Send>> {
        self.checks
            .iter()
            .filter_map(|check| -> Option<Box<dyn Watch + Send>> {
                Some(match check {
                    Check::Memory => Box::new(memory::Memory::new(self.written.clone())),
                    Check::Lds => Box::new(lds::Lds::default()),
                    Check::Races => Box::new(races::Races::new(self.races.clone())),
                    Check::Waits => Box::new(waits::Waits::default()),
                    Check::Hazards => Box::new(hazards::Hazards::new(self.gpu)),
                    Check::Registers => {
                        Box::new(registers::Registers::new(self.registers.clone()?))
                    }
                })
            })
            .collect()
    }
}

/// An instruction that a wave is about to run or has run, as checks see it.
pub(crate) struct Step<'a> {
    /// Index in the code.
    pub(crate) index: u32,
    pub(crate) facts: &'a Facts,
    spans: &'a Spans,
}

impl Step<'_> {
    /// The accesses of an instruction that has run, to one memory, each with the bytes that it touches.
    fn accesses<'a>(
        &'a self,
        context: &'a Context<'_>,
        space: Space,
    ) -> impl Iterator<Item = (&'a Touch, &'a [Span])> {
        let touches = context.touches().iter().enumerate();
        touches
            .filter(move |(_, touch)| touch.space == space)
            .map(|(number, touch)| (touch, self.spans.of(number)))
    }
}

/// When a check looks at an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Interest {
    pub(crate) before: bool,
    pub(crate) after: bool,
}

/// One check of a launch. Each host thread has its own, for one workgroup at a time.
pub(crate) trait Watch {
    /// When it looks at instructions of this sort.
    fn interest(&self, facts: &Facts) -> Interest;

    /// A workgroup begins.
    fn begin(&mut self, group: &GroupStart<'_>, findings: &mut Findings);

    /// The wave is about to run an instruction.
    fn before(
        &mut self,
        step: &Step<'_>,
        wave: &Wave,
        context: &Context<'_>,
        findings: &mut Findings,
    );

    /// It has run it.
    fn after(
        &mut self,
        step: &Step<'_>,
        wave: &mut Wave,
        context: &mut Context<'_>,
        findings: &mut Findings,
    );

    /// The waves that `waiting` marks go on behind a barrier.
    fn barrier(
        &mut self,
        waves: &mut [Wave],
        waiting: &[bool],
        context: &mut Context<'_>,
        findings: &mut Findings,
    );

    /// A wave goes on behind a barrier or semaphore of the whole launch.
    fn released(&mut self, _wave: u32, _resource: u8) {}

    /// The workgroup ends.
    fn end(&mut self, waves: &mut [Wave], context: &mut Context<'_>, findings: &mut Findings);
}

/// Watches the launches of one host thread.
pub struct Checker {
    watches: Vec<Box<dyn Watch + Send>>,
    findings: Findings,
    /// Of the instruction that ran last, if a check looks at them.
    spans: Spans,
    looks_at_spans: bool,
    /// Of each instruction that has run, the watches to call before and after it, a bit each.
    interests: Vec<Option<[u8; 2]>>,
    /// In a schedule of its own: what delays loads.
    delayer: Option<Delayer>,
}

impl Checker {
    fn new(watches: Vec<Box<dyn Watch + Send>>, checks: &[Check], schedule: Option<u64>) -> Self {
        Checker {
            watches,
            findings: Findings::default(),
            spans: Spans::default(),
            looks_at_spans: [Check::Memory, Check::Lds, Check::Races]
                .iter()
                .any(|check| checks.contains(check)),
            interests: Vec::new(),
            delayer: schedule.map(Delayer::new),
        }
    }

    /// Which watches look at an instruction, before and after it.
    #[inline]
    fn interests(&mut self, index: u32, facts: &Facts) -> [u8; 2] {
        match self.interests.get(index as usize) {
            Some(Some(interests)) => *interests,
            _ => self.find_interests(index, facts),
        }
    }

    #[cold]
    fn find_interests(&mut self, index: u32, facts: &Facts) -> [u8; 2] {
        let mut found = [0; 2];
        for (number, watch) in self.watches.iter().enumerate() {
            let interest = watch.interest(facts);
            found[0] |= u8::from(interest.before) << number;
            found[1] |= u8::from(interest.after) << number;
        }
        let index = index as usize;
        if self.interests.len() <= index {
            self.interests.resize(index + 1, None);
        }
        self.interests[index] = Some(found);
        found
    }
}

const _: () = assert!(Check::ALL.len() <= u8::BITS as usize);

/// The numbers of the bits that are set.
fn bits(mut set: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let number = set.trailing_zeros() as usize;
            set &= set - 1;
            number
        })
    })
}

impl Observer for Checker {
    const ACTIVE: bool = true;

    fn begin(&mut self, group: &GroupStart<'_>) {
        self.findings.begin(group.workgroup, group.number);
        for watch in &mut self.watches {
            watch.begin(group, &mut self.findings);
        }
        if let Some(delayer) = &mut self.delayer {
            delayer.begin(group);
        }
    }

    fn before(&mut self, wave: &Wave, context: &Context<'_>, index: u32) {
        let Some(Some(facts)) = context.code.facts().get(index as usize) else {
            return;
        };
        let [interested, _] = self.interests(index, facts);
        let step = Step {
            index,
            facts,
            spans: &self.spans,
        };
        for number in bits(interested) {
            self.watches[number].before(&step, wave, context, &mut self.findings);
        }
        if let Some(delayer) = &mut self.delayer {
            delayer.before(wave, context, index);
        }
    }

    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, flow: Flow) {
        if flow == Flow::Fault {
            faults::add(wave, context, index, &mut self.findings);
            return;
        }
        let code = context.code;
        let Some(Some(facts)) = code.facts().get(index as usize) else {
            return;
        };
        let [_, interested] = self.interests(index, facts);
        if self.looks_at_spans {
            self.spans.find(index, context.touches());
        }
        let step = Step {
            index,
            facts,
            spans: &self.spans,
        };
        for number in bits(interested) {
            self.watches[number].after(&step, wave, context, &mut self.findings);
        }
        if let Some(delayer) = &mut self.delayer {
            delayer.after(wave, context, index, flow);
        }
    }

    fn barrier(&mut self, waves: &mut [Wave], waiting: &[bool], context: &mut Context<'_>) {
        for watch in &mut self.watches {
            watch.barrier(waves, waiting, context, &mut self.findings);
        }
    }

    fn released(&mut self, wave: u32, resource: u8) {
        for watch in &mut self.watches {
            watch.released(wave, resource);
        }
    }

    fn end(&mut self, waves: &mut [Wave], context: &mut Context<'_>) {
        for watch in &mut self.watches {
            watch.end(waves, context, &mut self.findings);
        }
    }
}
