//! Uninitialized registers, and barriers that some waves skip.
//!
//! Compilers copy undefined registers and compute with them. So undefined bits are tracked until they affect something
//! visible: an address, a branch, `exec` or stored data. Data from memory counts as defined (another check finds
//! uninitialized memory), and so do indexed registers. Values that pass through LDS stay undefined.

mod barriers;
mod conditions;
mod definedness;
mod plan;
mod through_lds;
mod trial;

use std::sync::{Arc, OnceLock};

use barriers::{Branches, Skips};
use conditions::{Conditions, is_exec};
pub(super) use definedness::{Cut, cut, merge};
use definedness::{Definedness, Origin};
use plan::{Action, Plan};
use through_lds::{ThroughLds, is_load, is_store};
use trial::Trial;

use super::{Example, Findings, Interest, Key, Kind, Side, Step, Watch, register_set::WORDS};
use ferrowave_emulator::exec::{Code, Context, Facts, GroupStart, PRIVATE_APERTURE, Wave};
use ferrowave_emulator::program::Kernel;
use ferrowave_gpu::Family;
use ferrowave_isa::{
    Category, Format, Instruction, Read, Register, Registers as Range, Relative, Role, Source,
    registers,
};

/// The data that the host threads of a launch share: stretches of the code, created when the first wave reaches them.
pub(super) struct Shared(Box<[OnceLock<Stretch>]>);

struct Stretch {
    /// The index of the first instruction.
    first: u32,
    /// The plan of each instruction, created when the first wave reaches it.
    plans: Box<[OnceLock<Option<Box<Plan>>>]>,
    branches: Branches,
    /// Whether a branch on `vcc` may skip a barrier.
    on_vcc: bool,
}

impl Shared {
    pub(super) fn new(kernel: &Kernel) -> Self {
        let stretches = 0..kernel.code().stretches();
        Shared(stretches.map(|_| OnceLock::new()).collect())
    }

    /// The stretch that contains an instruction.
    fn of(&self, code: &Code, index: u32) -> Option<&Stretch> {
        let (number, own) = code.stretch(index)?;
        Some(self.0.get(number)?.get_or_init(|| {
            let branches = Branches::of(code, own.clone());
            Stretch {
                first: own.start,
                plans: own.map(|_| OnceLock::new()).collect(),
                on_vcc: branches.on_vcc(),
                branches,
            }
        }))
    }
}

impl Stretch {
    /// The plan of an instruction.
    fn plan(&self, code: &Code, index: u32, facts: &Facts) -> Option<&Plan> {
        let plan = self.plans.get((index - self.first) as usize)?;
        plan.get_or_init(|| {
            let instruction = code.instruction(index)?;
            Some(Box::new(plan::plan(instruction, facts)))
        })
        .as_deref()
    }
}

struct State {
    registers: Definedness,
    conditions: Conditions,
    skips: Skips,
}

/// The check.
pub(super) struct Registers {
    shared: Arc<Shared>,
    waves: Vec<State>,
    through_lds: ThroughLds,
    trial: Trial,
}

impl Registers {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Registers {
            shared,
            waves: Vec::new(),
            through_lds: ThroughLds::default(),
            trial: Trial::new(),
        }
    }

    /// The registers that an instruction touches, and whether it must be checked even if all of them are defined.
    pub(super) fn demands(&self, code: &Code, index: u32, facts: &Facts) -> (&[Cut], bool) {
        let planned = self.shared.of(code, index).and_then(|stretch| {
            let plan = stretch.plan(code, index, facts)?;
            let decides = stretch.on_vcc && plan.condition.is_some();
            Some((plan.touched(), plan.relative.is_some() || decides))
        });
        planned.unwrap_or((&[], false))
    }

    /// The registers of a wave with an undefined bit.
    #[inline]
    pub(super) fn undefined(&self, wave: u32) -> Option<&[u64; WORDS]> {
        Some(self.waves.get(wave as usize)?.registers.any())
    }
}

/// An instruction that is about to run, and its wave.
struct Look<'a> {
    step: &'a Step<'a>,
    plan: &'a Plan,
    instruction: &'a Instruction,
    wave: &'a Wave,
    family: Family,
}

impl Look<'_> {
    /// The active lanes.
    fn lanes(&self) -> u64 {
        match self.instruction.is_vector() {
            true => self.wave.active(),
            false => !0,
        }
    }

    /// The first register of a source with undefined bits that the instruction uses in active lanes, and these lanes.
    fn undefined(&self, read: &Read, state: &Definedness) -> Option<(Register, u64)> {
        let lanes = self.lanes();
        if is_exec(read.registers) || lanes == 0 {
            return None;
        }
        read.registers
            .iter()
            .enumerate()
            .find_map(|(index, register)| {
                let count = match read.role {
                    Role::Data => self.instruction.stored_bits(index),
                    _ => !0,
                };
                let found = match register.is_vector() {
                    true => state.lanes_with(register, count) & lanes,
                    false if state.scalar(register) != 0 => lanes,
                    false => 0,
                };
                (found != 0).then_some((register, found))
            })
    }

    /// Reports undefined addresses, data and branches.
    fn sinks(&self, state: &mut Definedness, findings: &mut Findings) {
        for read in &self.step.facts.uses.reads {
            let what = match read.role {
                Role::Address => "takes an address from",
                Role::Data if self.is_private() || is_store(self.step.facts) => continue,
                Role::Data => "stores",
                Role::Branch => "branches on",
                Role::Value | Role::Exec => continue,
            };
            let Some((register, lanes)) = self.undefined(read, state) else {
                continue;
            };
            if self.is_decided(state) {
                continue;
            }
            // A flat access reads FLAT_SCRATCH only for lanes in private memory.
            if register == Register::FLAT_SCRATCH && !self.is_private() {
                continue;
            }
            self.report(what, register, lanes, state.origin(register), findings);
            // Later uses of the value are not reported again.
            for register in read.registers.iter() {
                state.define(register, lanes);
            }
        }
    }

    /// Whether a branch on `vcc` is decided by its defined bits.
    fn is_decided(&self, state: &Definedness) -> bool {
        barriers::is_on_vcc(self.instruction.op)
            && Range {
                first: Register::VCC,
                count: 2,
            }
            .iter()
            .any(|half| {
                let value = self.wave.scalar(half.0 - Register::SCALARS);
                value & !state.scalar(half) != 0
            })
    }

    /// Whether it accesses private memory: compilers spill registers there even if they are undefined.
    fn is_private(&self) -> bool {
        let i = self.instruction;
        match (i.format, i.src[0].source, i.src[2].source) {
            (Format::Scratch, ..) => true,
            // Buffers with swizzled addresses.
            (Format::Mubuf, _, Source::Sgpr(resource)) => self.wave.scalar(resource + 1) >> 31 == 1,
            (Format::Flat, Source::Vgpr(address), _) => {
                let high = self.wave.lanes(address + 1).as_array();
                let aperture = (PRIVATE_APERTURE >> 32) as u32;
                self.wave.active_lanes().any(|lane| high[lane] == aperture)
            }
            _ => false,
        }
    }

    #[cold]
    fn report(
        &self,
        what: &str,
        register: Register,
        lanes: u64,
        origin: Origin,
        findings: &mut Findings,
    ) {
        let reader = origin.reader.filter(|reader| *reader != self.step.index);
        let [name, first] = [register, origin.register].map(|r| r.name(self.family));
        let key = Key {
            kind: Kind::UninitializedRegister,
            index: self.step.index,
            other: reader,
        };
        findings.add(key, |workgroup| Example {
            side: Side {
                index: self.step.index,
                workgroup,
                wave: self.wave.index,
                lanes: if register.is_vector() { lanes } else { 0 },
                what: match origin.register == register && reader.is_none() {
                    true => format!("{what} {name}, which is uninitialized"),
                    false => {
                        format!("{what} {name}, which depends on {first}, which is uninitialized")
                    }
                },
            },
            access: None,
            other: reader.map(|index| Side {
                index,
                workgroup,
                wave: self.wave.index,
                lanes: 0,
                what: format!("first read {first}"),
            }),
        });
    }

    /// The origin of undefined results: the first undefined source.
    fn origin(&self, state: &Definedness) -> Option<(Register, u64, Origin)> {
        let sources = || {
            let reads = self.step.facts.uses.reads.iter();
            reads
                .map(|read| read.registers)
                .filter(|registers| !is_exec(*registers))
                .flat_map(Range::iter)
        };
        let undefined = |register: Register, lanes: u64| match register.is_vector() {
            true => state.lanes(register) & lanes,
            false => u64::from(state.scalar(register) != 0),
        };
        // Sources undefined only in inactive lanes come last.
        let found = sources()
            .find(|register| undefined(*register, self.lanes()) != 0)
            .or_else(|| sources().find(|register| undefined(*register, !0) != 0))?;
        let lanes = match found.is_vector() {
            true => state.lanes(found),
            false => 0,
        };
        let origin = state.origin(found);
        let reader = origin.reader.or(Some(self.step.index));
        Some((found, lanes, Origin { reader, ..origin }))
    }

    /// Whether all bits of the sources that the instruction uses are defined.
    fn reads_defined(&self, state: &Definedness) -> bool {
        let reads = &self.step.facts.uses.reads;
        reads
            .iter()
            .all(|read| self.undefined(read, state).is_none())
    }

    fn define_results(&self, lanes: u64, state: &mut Definedness) {
        for written in &self.step.facts.uses.writes {
            written
                .iter()
                .for_each(|register| state.define(register, lanes));
        }
    }

    /// Computes which bits of the results are undefined.
    fn results(
        &self,
        trial: &mut Trial,
        context: &Context<'_>,
        state: &mut Definedness,
        findings: &mut Findings,
    ) {
        match self.plan.action {
            Action::Define => return self.define_results(!0, state),
            Action::Load => return self.define_results(self.lanes(), state),
            Action::Lanes if self.reads_defined(state) => {
                return self.define_results(self.lanes(), state);
            }
            Action::Lanes | Action::Compute => {}
        }
        let origin = self.origin(state);
        let outcome = trial.run(self.step, self.plan.compares, self.wave, context, state);
        let Some((source, lanes, origin)) = origin else {
            return;
        };
        for register in self.step.facts.uses.writes.iter().flat_map(|w| w.iter()) {
            if state.scalar(register) != 0 || state.lanes(register) != 0 {
                state.set_origin(register, origin);
            }
        }
        if outcome.exec != 0 {
            let origin = Origin {
                reader: origin.reader.filter(|reader| *reader != self.step.index),
                ..origin
            };
            self.report(
                "sets exec from",
                source,
                lanes & self.lanes(),
                origin,
                findings,
            );
        }
    }

    /// With indexed registers or skipped vector instructions, all results count as defined.
    fn define_indexed(&self, state: &mut Definedness) {
        self.define_results(!0, state);
        let index = (self.wave.scalar(Register::M0.0 - Register::SCALARS) & 0xff) as u16;
        for write in &self.step.facts.uses.writes {
            let first = Register(write.first.0.saturating_add(index));
            if write.first.0 < Register::ACCUMULATORS && first.0 < Register::ACCUMULATORS {
                Range { first, ..*write }
                    .iter()
                    .for_each(|register| state.define(register, !0));
            }
        }
    }

    /// `m0` leads to another register than the operand names.
    fn define_relative(&self, relative: Relative, state: &mut Definedness) {
        let m0 = self.wave.scalar(Register::M0.0 - Register::SCALARS);
        let [source, result] = relative.distances(m0);
        let dst = registers(&self.instruction.dst);
        for write in &self.step.facts.uses.writes {
            let distance = match Some(*write) == dst {
                true => result,
                false => source,
            };
            let first = u32::from(write.first.0).saturating_add(distance);
            let end = match write.first.is_vector() {
                true => Register::ACCUMULATORS,
                false => Register::VCC.0,
            };
            if first < end.into() {
                let first = Register(first as u16);
                Range { first, ..*write }
                    .iter()
                    .for_each(|register| state.define(register, !0));
            }
        }
    }
}

impl Watch for Registers {
    fn interest(&self, facts: &Facts) -> Interest {
        Interest {
            // `before` is called if a register is undefined, or if `demands` asks for it.
            before: false,
            after: facts.category == Category::Branch || is_store(facts) || is_load(facts),
        }
    }

    fn begin(&mut self, group: &GroupStart<'_>, _: &mut Findings) {
        self.through_lds.clear();
        self.waves.clear();
        self.waves.extend(group.waves.iter().map(|wave| State {
            registers: Definedness::new(group.prepared, wave.all_lanes()),
            conditions: Conditions::default(),
            skips: Skips::default(),
        }));
    }

    fn before(
        &mut self,
        step: &Step<'_>,
        wave: &Wave,
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        let Some(stretch) = self.shared.of(context.code, step.index) else {
            return;
        };
        let Some(plan) = stretch.plan(context.code, step.index, step.facts) else {
            return;
        };
        let state = &mut self.waves[wave.index as usize];
        if stretch.on_vcc
            && let Some(effect) = plan.condition
        {
            state.conditions.before(effect, step.facts, wave);
        }
        let state = &mut state.registers;
        let indexed = wave.mode.indexes_registers() || wave.skips_vector;
        if !indexed && plan.relative.is_none() && !state.meets(plan.touched()) {
            return;
        }
        let Some(instruction) = context.code.instruction(step.index) else {
            return;
        };
        let look = Look {
            step,
            plan,
            instruction,
            wave,
            family: context.code.gpu().family(),
        };
        if indexed {
            return look.define_indexed(state);
        }
        if is_store(step.facts) {
            self.through_lds.store(&look, state);
        }
        look.sinks(state, findings);
        look.results(&mut self.trial, context, state, findings);
        if let Some(relative) = plan.relative {
            look.define_relative(relative, state);
        }
    }

    fn after(
        &mut self,
        step: &Step<'_>,
        wave: &mut Wave,
        context: &mut Context<'_>,
        _: &mut Findings,
    ) {
        if is_store(step.facts) {
            return self.through_lds.stored(context.accesses());
        }
        if is_load(step.facts) {
            let results = step.facts.uses.writes.iter().flat_map(|w| w.iter());
            let state = &mut self.waves[wave.index as usize].registers;
            return self.through_lds.loaded(results, context.accesses(), state);
        }
        if let Some(i) = context.code.instruction(step.index)
            && barriers::is_of_lanes(i.op)
            && let Some(stretch) = self.shared.of(context.code, step.index)
        {
            let state = &mut self.waves[wave.index as usize];
            if state.conditions.vcc() || !barriers::is_on_vcc(i.op) {
                state.skips.branch(&stretch.branches, step.index, wave);
            }
        }
    }

    fn barrier(
        &mut self,
        waves: &mut [Wave],
        waiting: &[bool],
        _: &mut Context<'_>,
        findings: &mut Findings,
    ) {
        let states = &mut self.waves;
        barriers::opens(waves, waiting, |number| &states[number].skips, findings);
        for (state, _) in states.iter_mut().zip(waiting).filter(|(_, waits)| **waits) {
            state.skips.clear();
        }
    }

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, _: &mut Findings) {}
}
