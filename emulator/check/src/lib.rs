//! Checks for bugs in kernels that a GPU does not report: races, missing waits, accesses out of bounds, uninitialized
//! data.
//!
//! A [`Checker`] observes a launch ([`ferrowave_emulator::exec::Observer`]) and passes each instruction to the enabled
//! checks. They add to `Findings`, which keeps one example for each kind and place and counts the rest.

#![feature(portable_simd)]

mod allocations;
mod by_index;
mod clocks;
mod delay;
mod epoch;
mod faults;
mod findings;
mod hazard_rules;
mod hazards;
mod kind;
mod lds;
mod lds_shadow;
mod memory;
mod names;
mod path_history;
mod races;
mod rdna_hazards;
mod register_set;
mod registers;
mod report;
mod schedules;
mod shadow_memory;
mod spans;
mod stamp;
mod waits;

pub use kind::{Check, Kind, UnknownCheck, parse};

pub use report::{Allocation, Finding, Format, JSON_VERSION, Memory, WavePart};

pub(crate) use findings::{Access, Example, Findings, Key, Side, Single};

use std::sync::Arc;

use allocations::Allocations;
use by_index::ByIndex;
use delay::Delayer;
use ferrowave_gpu::{Family, Gpu};
use register_set::WORDS;
use registers::Cut;
use spans::{Span, Spans};

use ferrowave_emulator::dispatch::{
    LaunchConfig, LaunchError, LaunchSummary, Observed, launch_observed,
};
use ferrowave_emulator::exec::{
    Code, Context, Facts, Flow, GroupStart, ObservedAccess, Observer, Space, Unobserved, Wave,
};
use ferrowave_emulator::memory::{View, Written};
use ferrowave_emulator::program::Kernel;
use ferrowave_isa::Role;

/// What to check in a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The enabled checks.
    pub checks: Vec<Check>,
    /// The number of additional runs with other orders of waves, workgroups and loads. They show whether results depend
    /// on the order.
    pub seeds: u32,
    /// The seed of the schedule to run in, such as one that gave other results.
    pub schedule: Option<u64>,
}

impl Options {
    /// Whether anything is enabled.
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

/// The result of a checked launch.
#[derive(Debug)]
pub struct Checked {
    /// How the launch ended.
    pub outcome: Result<LaunchSummary, LaunchError>,
    /// The findings up to that point.
    pub findings: Vec<Finding>,
}

/// Runs a kernel as [`ferrowave_emulator::dispatch::launch`] does, with checks. Returns an error if the launch cannot
/// start.
pub fn launch(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    options: &Options,
) -> Result<Checked, LaunchError> {
    launch_beside(kernel, config, options, || Unobserved).map(|(checked, _)| checked)
}

/// As [`launch`], with another observer on each host thread of the main run.
pub fn launch_beside<O: Observer + Send>(
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
        (Checker::new(&setup, options.schedule), other())
    })?;
    let mut findings = Findings::default();
    let mut others = Vec::new();
    for (checker, other) in observers {
        findings.merge(checker.into_findings());
        others.push(other);
    }
    found.extend(report::describe(kernel, &view, &findings));
    let checked = Checked {
        outcome,
        findings: found,
    };
    Ok((checked, others))
}

/// The checks of a launch, and the data that its host threads share.
struct Setup<'a> {
    checks: &'a [Check],
    written: Allocations<Arc<Written>>,
    races: races::Shared,
    gpu: Gpu,
    /// For [`Check::Registers`], if enabled.
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
                .then(|| Arc::new(registers::Shared::new(kernel))),
        }
    }
}

/// An instruction that a wave is about to run or has run.
pub(crate) struct Step<'a> {
    /// Index in the code.
    pub(crate) index: u32,
    pub(crate) facts: &'a Facts,
    spans: &'a Spans,
}

impl Step<'_> {
    /// The accesses to `space` of an instruction that has run, each with the bytes that it touches.
    fn accesses<'a>(
        &'a self,
        context: &'a Context<'_>,
        space: Space,
    ) -> impl Iterator<Item = (ObservedAccess<'a>, &'a [Span])> {
        let accesses = context.accesses().enumerate();
        accesses
            .filter(move |(_, observed)| observed.space == space)
            .map(|(number, observed)| (observed, self.spans.of(number)))
    }
}

/// When a check wants to see an instruction, regardless of its registers.
#[derive(Clone, Copy)]
pub(crate) struct Interest {
    pub(crate) before: bool,
    pub(crate) after: bool,
}

/// One check of a launch. Each host thread has its own instance, which sees one workgroup at a time.
pub(crate) trait Watch {
    /// When the check wants to see instructions of this kind.
    fn interest(&self, facts: &Facts) -> Interest;

    /// A workgroup starts.
    fn begin(&mut self, group: &GroupStart<'_>, findings: &mut Findings);

    /// The wave is about to run an instruction.
    fn before(
        &mut self,
        step: &Step<'_>,
        wave: &Wave,
        context: &Context<'_>,
        findings: &mut Findings,
    );

    /// The wave has run an instruction.
    fn after(
        &mut self,
        step: &Step<'_>,
        wave: &mut Wave,
        context: &mut Context<'_>,
        findings: &mut Findings,
    );

    /// The waves marked in `waiting` continue after a barrier.
    fn barrier(
        &mut self,
        waves: &mut [Wave],
        waiting: &[bool],
        context: &mut Context<'_>,
        findings: &mut Findings,
    );

    /// A wave continues after a barrier or semaphore of the whole launch (global wave sync).
    fn released(&mut self, _wave: u32, _resource: u8) {}

    /// The workgroup ends.
    fn end(&mut self, waves: &mut [Wave], context: &mut Context<'_>, findings: &mut Findings);
}

/// Checks the workgroups of one host thread.
///
/// Most instructions need no check: their path was checked before, and none of their registers is undefined or in
/// flight. What this decision needs is computed once per instruction (`Known`).
pub struct Checker {
    memory: Option<memory::Memory>,
    lds: Option<lds::Lds>,
    races: Option<races::Races>,
    waits: Option<waits::Waits>,
    hazards: Option<hazards::Hazards>,
    rdna_hazards: Option<rdna_hazards::Hazards>,
    registers: Option<registers::Registers>,
    findings: Findings,
    /// The bytes accessed by the last instruction, if a check needs them.
    spans: Spans,
    looks_at_spans: bool,
    /// For each instruction that has run.
    known: ByIndex<Known>,
    /// The registers of all known instructions, as words of register sets.
    touched: Vec<Touched>,
    /// The checks that want to see the current instruction after it has run, one bit each.
    after: u8,
    /// Delays loads, in a run with a seed.
    delayer: Option<Delayer>,
}

/// What is known about an instruction before it runs.
#[derive(Clone, Copy)]
struct Known {
    /// Checks that always want to see it, before and after it runs: one bit each.
    before: u8,
    after: u8,
    /// Where its registers start in [`Checker::touched`], and the number of words.
    touched: (u32, u16),
    /// The paths on which it has no hazards.
    clean: hazards::Clean,
}

/// Registers of an instruction: one word of a register set.
#[derive(Clone, Copy)]
struct Touched {
    word: u16,
    /// All registers: none may be in flight.
    any: u64,
    /// The registers that must not be undefined.
    needed: u64,
}

impl Touched {
    /// Combines the words of both sets.
    fn all(any: &[Cut], needed: &[Cut]) -> impl Iterator<Item = Touched> {
        let bits = |list: &[Cut], word: u16| {
            let one = list.iter().find(|(other, _)| *other == word);
            one.map_or(0, |(_, bits)| *bits)
        };
        let words = (0..WORDS as u16).map(move |word| Touched {
            word,
            any: bits(any, word),
            needed: bits(needed, word),
        });
        words.filter(|touched| touched.any | touched.needed != 0)
    }

    /// Whether one of the registers is in flight or undefined.
    #[inline]
    fn meets(&self, pending: &[u64; WORDS], undefined: &[u64; WORDS]) -> bool {
        let word = usize::from(self.word) % WORDS;
        pending[word] & self.any | undefined[word] & self.needed != 0
    }
}

/// The bit of a check.
const fn bit(check: Check) -> u8 {
    1 << check as u8
}

const _: () = assert!(Check::ALL.len() <= u8::BITS as usize);

/// Runs code for each enabled check whose bit is set in `$asked`. Not for hazards, which sees every instruction.
macro_rules! each_watch {
    ($checker:ident, $asked:expr, |$check:pat_param, $watch:ident| $call:expr) => {{
        let asked: u8 = $asked;
        each_watch!(@ $checker, asked, $check, $watch, $call,
            (Memory, memory) (Lds, lds) (Races, races) (Waits, waits) (Registers, registers));
    }};
    (@ $checker:ident, $asked:ident, $check:pat_param, $watch:ident, $call:expr, $(($name:ident, $field:ident))*) => {
        $(if $asked & bit(Check::$name) != 0
            && let Some($watch) = &mut $checker.$field
        {
            let $check = Check::$name;
            $call;
        })*
    };
}

impl Checker {
    fn new(setup: &Setup<'_>, schedule: Option<u64>) -> Self {
        let is_chosen = |check| setup.checks.contains(&check);
        let shared = setup.registers.clone();
        Checker {
            memory: is_chosen(Check::Memory)
                .then(|| memory::Memory::new(setup.written.clone(), setup.gpu)),
            lds: is_chosen(Check::Lds).then(lds::Lds::default),
            races: is_chosen(Check::Races).then(|| races::Races::new(setup.races.clone())),
            waits: is_chosen(Check::Waits).then(waits::Waits::default),
            hazards: (is_chosen(Check::Hazards) && setup.gpu.family() == Family::Cdna)
                .then(|| hazards::Hazards::new(setup.gpu)),
            rdna_hazards: (is_chosen(Check::Hazards) && setup.gpu.family() == Family::Rdna)
                .then(rdna_hazards::Hazards::new),
            registers: shared.map(registers::Registers::new),
            findings: Findings::default(),
            spans: Spans::default(),
            looks_at_spans: [Check::Memory, Check::Lds, Check::Races]
                .into_iter()
                .any(is_chosen),
            known: ByIndex::default(),
            touched: Vec::new(),
            after: 0,
            delayer: schedule.map(Delayer::new),
        }
    }

    /// Returns the findings. A launch may stop in the middle of a workgroup.
    fn into_findings(mut self) -> Findings {
        if let Some(lds) = &mut self.lds {
            lds.settle(&mut self.findings);
        }
        self.findings
    }

    /// Creates the entry of an instruction in `known`, and returns its place.
    #[cold]
    #[inline(never)]
    fn find(&mut self, index: u32, code: &Code) -> Option<usize> {
        let Some(Some(facts)) = code.facts().get(index) else {
            return None;
        };
        let (mut before, mut after) = (0, 0);
        each_watch!(self, !0, |check, watch| {
            let interest = watch.interest(facts);
            before |= u8::from(interest.before) * bit(check);
            after |= u8::from(interest.after) * bit(check);
        });
        let reads = facts.uses.reads.iter();
        let reads = reads.filter(|read| read.role != Role::Exec);
        let all = reads
            .map(|read| read.registers)
            .chain(facts.uses.writes.iter().copied());
        let mut all_words: Vec<Cut> = Vec::new();
        registers::merge(&mut all_words, all.flat_map(registers::cut));
        let mut needed: &[Cut] = &[];
        if let Some(registers) = &self.registers {
            let (words, always) = registers.demands(code, index, facts);
            before |= u8::from(always) * bit(Check::Registers);
            needed = words;
        }
        let first = self.touched.len() as u32;
        self.touched.extend(Touched::all(&all_words, needed));
        let place = (first, (self.touched.len() as u32 - first) as u16);
        self.known.insert_with(index, code, || {
            Some(Known {
                before,
                after,
                touched: place,
                clean: hazards::Clean::default(),
            })
        })
    }

    /// Whether a wave's instruction uses a register that is undefined or in flight.
    #[inline]
    fn meets(&self, wave: u32, (first, count): (u32, u16)) -> bool {
        let first = first as usize;
        let Some(touched) = self.touched.get(first..first + usize::from(count)) else {
            return true;
        };
        let pending = self.waits.as_ref().and_then(|waits| waits.pending(wave));
        let undefined = self
            .registers
            .as_ref()
            .and_then(|registers| registers.undefined(wave));
        const NONE: [u64; WORDS] = [0; WORDS];
        let (pending, undefined) = (pending.unwrap_or(&NONE), undefined.unwrap_or(&NONE));
        touched
            .iter()
            .any(|touched| touched.meets(pending, undefined))
    }

    /// Calls the checks in `asked` before an instruction runs.
    #[inline(never)]
    fn ask_before(&mut self, asked: u8, wave: &Wave, context: &Context<'_>, index: u32) {
        let Some(facts) = context.facts(index) else {
            return;
        };
        let step = Step {
            index,
            facts,
            spans: &self.spans,
        };
        each_watch!(self, asked, |_, watch| watch.before(
            &step,
            wave,
            context,
            &mut self.findings
        ));
    }

    /// Calls the checks in `asked` after an instruction has run.
    #[inline(never)]
    fn ask_after(&mut self, asked: u8, wave: &mut Wave, context: &mut Context<'_>, index: u32) {
        let Some(facts) = context.facts(index) else {
            return;
        };
        if self.looks_at_spans {
            self.spans.find(context.accesses());
        }
        let step = Step {
            index,
            facts,
            spans: &self.spans,
        };
        each_watch!(self, asked, |_, watch| watch.after(
            &step,
            wave,
            context,
            &mut self.findings
        ));
    }
}

impl Observer for Checker {
    const ACTIVE: bool = true;

    fn begin(&mut self, group: &GroupStart<'_>) {
        self.findings.begin(group.workgroup, group.number);
        each_watch!(self, !0, |_, watch| watch.begin(group, &mut self.findings));
        if let Some(hazards) = &mut self.hazards {
            hazards.begin(group.waves.len());
        }
        if let Some(hazards) = &mut self.rdna_hazards {
            hazards.begin(group.waves.len());
        }
        if let Some(delayer) = &mut self.delayer {
            delayer.begin(group);
        }
    }

    #[inline]
    fn before(&mut self, wave: &Wave, context: &Context<'_>, index: u32) {
        self.after = 0;
        let place = self.known.place(index);
        let Some(place) = place.or_else(|| self.find(index, context.code)) else {
            return;
        };
        let Some(known) = self.known.at_mut(place) else {
            return;
        };
        if let Some(hazards) = &mut self.hazards {
            let (clean, findings) = (&mut known.clean, &mut self.findings);
            hazards.step(index, clean, wave, context.code, findings);
        }
        if let Some(hazards) = &mut self.rdna_hazards {
            hazards.step(index, wave, context.code, &mut self.findings);
        }
        let known = *known;
        self.after = known.after;
        let mut asked = known.before;
        // In these modes, the registers of an instruction are not known.
        let is_plain = !wave.mode.indexes_registers() && !wave.skips_vector;
        if !is_plain || self.meets(wave.index, known.touched) {
            asked |= bit(Check::Waits) | bit(Check::Registers);
        }
        if asked != 0 {
            self.ask_before(asked, wave, context, index);
        }
        if let Some(delayer) = &mut self.delayer {
            delayer.before(wave, context, index);
        }
    }

    #[inline]
    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, flow: Flow) {
        if flow == Flow::Fault {
            faults::add(wave, context, index, &mut self.findings);
            return;
        }
        if self.after != 0 {
            self.ask_after(self.after, wave, context, index);
        }
        if let Some(delayer) = &mut self.delayer {
            delayer.after(wave, context, index, flow);
        }
    }

    fn barrier(&mut self, waves: &mut [Wave], waiting: &[bool], context: &mut Context<'_>) {
        each_watch!(self, !0, |_, watch| watch.barrier(
            waves,
            waiting,
            context,
            &mut self.findings
        ));
    }

    fn released(&mut self, wave: u32, resource: u8) {
        each_watch!(self, !0, |_, watch| watch.released(wave, resource));
    }

    fn end(&mut self, waves: &mut [Wave], context: &mut Context<'_>) {
        each_watch!(self, !0, |_, watch| watch.end(
            waves,
            context,
            &mut self.findings
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Register sets give the same result as single registers.
    #[test]
    fn touched_registers_meet_what_they_are_in() {
        let list = |registers: &[u16]| -> Vec<Cut> {
            let mut list = Vec::new();
            let one = |&register| (register / 64, 1_u64 << (register % 64));
            registers::merge(&mut list, registers.iter().map(one));
            list
        };
        let (any, needed) = ([0, 31, 64, 100, 300, 640], [31, 32, 100, 512]);
        let touched: Vec<_> = Touched::all(&list(&any), &list(&needed)).collect();
        let none = [0; WORDS];
        for register in 0..700_u16 {
            let mut set = none;
            set[usize::from(register / 64)] |= 1_u64 << (register % 64);
            let meets = |pending, undefined| touched.iter().any(|t| t.meets(pending, undefined));
            assert_eq!(meets(&set, &none), any.contains(&register), "{register}");
            assert_eq!(meets(&none, &set), needed.contains(&register), "{register}");
        }
    }
}
