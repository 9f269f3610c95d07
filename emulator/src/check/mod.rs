//! Checks: what a GPU would not say about a kernel.
//!
//! A [`Checker`] watches a launch ([`crate::exec::Observer`]) and hands every instruction to the checks that were
//! chosen. They report to [`Findings`], which keeps one example of each kind of finding and place, and counts the rest.

mod findings;
mod kind;

pub use findings::{Access, Example, Findings, Key, Side};
pub use kind::{Check, Kind, UnknownCheck, parse};

use crate::{
    dispatch::{LaunchConfig, LaunchError, LaunchSummary, Observed, launch_observed},
    exec::{Context, Facts, Flow, GroupStart, Observer, Wave},
    program::Kernel,
};

/// What came of a launch that was checked.
#[derive(Debug)]
pub struct Checked {
    /// How it ended.
    pub outcome: Result<LaunchSummary, LaunchError>,
    /// What was found on the way.
    pub findings: Findings,
}

/// Runs a kernel over a grid as [`crate::dispatch::launch`] does, and checks it. An error is a launch that did not
/// begin.
pub fn launch(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    checks: &[Check],
) -> Result<Checked, LaunchError> {
    let Observed { outcome, observers } =
        launch_observed(kernel, config, |_| Checker::new(watches(kernel, checks)))?;
    let mut findings = Findings::default();
    for checker in observers {
        findings.merge(checker.findings);
    }
    Ok(Checked { outcome, findings })
}

/// What looks for the findings of each check.
fn watches(_kernel: &Kernel, _checks: &[Check]) -> Vec<Box<dyn Watch + Send>> {
    Vec::new()
}

/// An instruction that a wave is about to run or has run, as checks see it.
pub(crate) struct Step<'a> {
    /// Index in the code.
    pub(crate) index: u32,
    pub(crate) facts: &'a Facts,
    /// The wave's `exec` before the instruction.
    pub(crate) exec: u64,
}

/// One check of a launch. Each host thread has its own, for one workgroup at a time.
pub(crate) trait Watch {
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

    /// The workgroup ends.
    fn end(&mut self, waves: &mut [Wave], context: &mut Context<'_>, findings: &mut Findings);
}

/// Watches the launches of one host thread.
pub struct Checker {
    watches: Vec<Box<dyn Watch + Send>>,
    findings: Findings,
    exec: u64,
}

impl Checker {
    fn new(watches: Vec<Box<dyn Watch + Send>>) -> Self {
        Checker {
            watches,
            findings: Findings::default(),
            exec: 0,
        }
    }
}

impl Observer for Checker {
    const ACTIVE: bool = true;

    fn begin(&mut self, group: &GroupStart<'_>) {
        self.findings.begin(group.workgroup, group.number);
        for watch in &mut self.watches {
            watch.begin(group, &mut self.findings);
        }
    }

    fn before(&mut self, wave: &Wave, context: &Context<'_>, index: u32) {
        self.exec = wave.exec;
        let Some(Some(facts)) = context.code.facts().get(index as usize) else {
            return;
        };
        let step = Step {
            index,
            facts,
            exec: self.exec,
        };
        for watch in &mut self.watches {
            watch.before(&step, wave, context, &mut self.findings);
        }
    }

    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, flow: Flow) {
        if flow == Flow::Fault {
            return;
        }
        let code = context.code;
        let Some(Some(facts)) = code.facts().get(index as usize) else {
            return;
        };
        let step = Step {
            index,
            facts,
            exec: self.exec,
        };
        for watch in &mut self.watches {
            watch.after(&step, wave, context, &mut self.findings);
        }
    }

    fn barrier(&mut self, waves: &mut [Wave], waiting: &[bool], context: &mut Context<'_>) {
        for watch in &mut self.watches {
            watch.barrier(waves, waiting, context, &mut self.findings);
        }
    }

    fn end(&mut self, waves: &mut [Wave], context: &mut Context<'_>) {
        for watch in &mut self.watches {
            watch.end(waves, context, &mut self.findings);
        }
    }
}
