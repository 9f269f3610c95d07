//! Races in global memory, between workgroups and between waves of one workgroup.
//!
//! Two accesses to the same byte race if at least one writes, not both are atomic, and neither a barrier of their
//! workgroup nor a chain of atomic operations orders them ([`super::clocks`]). Their order in this run does not matter.

use std::sync::Arc;

use super::{
    Access, Example, Findings, Interest, Key, Kind, Side, Step, Watch,
    allocations::Allocations,
    clocks::{Clocks, Passed},
    names::{Numbering, bytes_text, verb},
    shadow_memory::Cells,
    spans::{Span, lanes_at},
    stamp::Stamp,
};
use ferrowave_emulator::exec::{Context, Facts, GroupStart, ObservedAccess, Space, Wave};
use ferrowave_emulator::memory::{AllocationKind, View};
use ferrowave_isa::Effect;

/// The data that all host threads of a launch share.
#[derive(Clone)]
pub(super) struct Shared {
    allocations: Allocations<Arc<Cells>>,
    passed: Arc<Passed>,
    /// The grid in workgroups, to get a workgroup's ID from its number.
    grid: [u32; 3],
}

impl Shared {
    pub(super) fn new(view: &View, grid: [u32; 3]) -> Self {
        let allocations = Allocations::new(view, |index| {
            let info = view.allocations()[index];
            match info.kind {
                // These belong to one launch or one wave.
                AllocationKind::Launch | AllocationKind::Private => None,
                _ => Some(Arc::new(Cells::new(info.bytes))),
            }
        });
        Shared {
            allocations,
            passed: Arc::default(),
            grid,
        }
    }
}

pub(super) struct Races {
    shared: Shared,
    clocks: Clocks,
    numbering: Numbering,
    group: u64,
    /// Whether this thread has the turn to pass on knowledge.
    has_turn: bool,
}

/// Whether an instruction may acquire or release knowledge.
fn passes(facts: &Facts) -> bool {
    facts.effect == Effect::Atomic || facts.coherent || facts.global_sync
}

impl Races {
    fn end_turn(&mut self) {
        if std::mem::take(&mut self.has_turn) {
            self.shared.passed.end_turn();
        }
    }

    pub(super) fn new(shared: Shared) -> Self {
        Races {
            shared,
            clocks: Clocks::default(),
            numbering: Numbering::default(),
            group: 0,
            has_turn: false,
        }
    }

    /// Acquires and releases through the addresses of an atomic access. Coherent loads and stores with more than one
    /// address are not flags but data that bypasses caches, and pass nothing on.
    fn pass(&mut self, wave: u32, effect: Effect, observed: &ObservedAccess<'_>) {
        let first = observed.iter().next().map(|(_, address)| address);
        let is_flag = observed.iter().all(|(_, address)| Some(address) == first);
        if effect != Effect::Atomic && !is_flag {
            return;
        }
        let (acquires, releases) = (effect != Effect::Store, effect != Effect::Load);
        let mut last = None;
        for (_, address) in observed.iter() {
            if last != Some(address) {
                let passed = &self.shared.passed;
                self.clocks.pass(wave, address, acquires, releases, passed);
            }
            last = Some(address);
        }
    }

    fn record(
        &mut self,
        stamp: Stamp,
        index: u32,
        (observed, spans): (&ObservedAccess<'_>, &[Span]),
        findings: &mut Findings,
    ) {
        let wave = stamp.wave();
        let mut race: Option<(Stamp, bool, u64, u64)> = None;
        let mut place = self.shared.allocations.start(index);
        for span in spans {
            let Some((base, cells)) = self.shared.allocations.find(&mut place, span.start) else {
                continue;
            };
            cells.record(
                (span.start - base, span.end - base),
                stamp,
                observed.write,
                |other| self.clocks.is_ordered(wave, other),
                |bytes, other, wrote| {
                    let (address, end) = (base + bytes.start, base + bytes.end);
                    let (first, .., lanes) = race.get_or_insert((other, wrote, address, 0));
                    if first.access() == other.access() {
                        *lanes |= lanes_at(observed, address, end);
                    }
                },
            );
        }
        self.shared.allocations.remember(index, place);
        if let Some((other, wrote, address, lanes)) = race {
            self.report(stamp, observed, (other, wrote), (address, lanes), findings);
        }
    }

    #[cold]
    fn report(
        &self,
        stamp: Stamp,
        observed: &ObservedAccess<'_>,
        (other, wrote): (Stamp, bool),
        (address, lanes): (u64, u64),
        findings: &mut Findings,
    ) {
        let other_index = self.numbering.index(other);
        let key = Key {
            kind: Kind::GlobalRace,
            index: self.numbering.index(stamp).unwrap_or(u32::MAX),
            other: other_index,
        };
        let inside = other.group() == stamp.group();
        let atomically = |atomic: bool| if atomic { " atomically" } else { "" };
        findings.add(key, |workgroup| Example {
            side: Side {
                index: key.index,
                workgroup,
                wave: stamp.wave(),
                lanes,
                what: format!(
                    "{} {}{}",
                    verb(observed.write),
                    bytes_text(observed.bytes),
                    atomically(stamp.is_atomic())
                ),
            },
            access: Some(Access::Global {
                address,
                bytes: observed.bytes,
            }),
            other: Some(Side {
                index: other_index.unwrap_or(u32::MAX),
                workgroup: match inside {
                    true => workgroup,
                    false => self.workgroup(other),
                },
                wave: other.wave(),
                lanes: 0,
                what: format!(
                    "{} it{}, and nothing orders the two",
                    verb(wrote),
                    atomically(other.is_atomic())
                ),
            }),
        });
    }

    /// The workgroup of a stamp. Of several with the same code, the nearest at or below this thread's workgroup.
    fn workgroup(&self, stamp: Stamp) -> [u32; 3] {
        let code = u64::from(stamp.group());
        let number = (0..=self.group)
            .rev()
            .chain(self.group + 1..)
            .take(1 << 22)
            .find(|&number| u64::from(Stamp::group_of(number)) == code)
            .unwrap_or(0);
        let [x, y, _] = self.shared.grid.map(u64::from);
        [number % x, number / x % y, number / x / y].map(|id| id as u32)
    }
}

/// The place of the knowledge passed through a resource of global wave sync: an address that memory does not have.
fn global_sync(resource: u8) -> u64 {
    u64::MAX - u64::from(resource)
}

impl Watch for Races {
    fn interest(&self, facts: &Facts) -> Interest {
        Interest {
            before: passes(facts),
            after: facts.effect != Effect::None || facts.global_sync,
        }
    }

    fn begin(&mut self, group: &GroupStart<'_>, _: &mut Findings) {
        self.group = group.number;
        self.numbering = Numbering::of(group);
        self.clocks.begin(group.number, group.waves.len());
    }

    /// An atomic operation and its release are one step for all threads: no thread may see the result before the
    /// knowledge is left at the address.
    fn before(&mut self, _: &Step<'_>, _: &Wave, _: &Context<'_>, _: &mut Findings) {
        self.shared.passed.take_turn();
        self.has_turn = true;
    }

    fn after(
        &mut self,
        step: &Step<'_>,
        wave: &mut Wave,
        context: &mut Context<'_>,
        findings: &mut Findings,
    ) {
        let facts = step.facts;
        if let Some(wait) = wave.global_wait.filter(|_| facts.global_sync) {
            let place = global_sync(wait.resource);
            (self.clocks).pass(wave.index, place, false, true, &self.shared.passed);
        }
        let atomic = facts.effect == Effect::Atomic || facts.coherent;
        for (observed, spans) in step.accesses(context, Space::Global) {
            if atomic {
                self.pass(wave.index, facts.effect, &observed);
            }
            let moment = self.clocks.now(wave.index);
            let code = self.numbering.code(step.index);
            let stamp = Stamp::new(moment, code, atomic || facts.expected);
            self.record(stamp, step.index, (&observed, spans), findings);
        }
        self.end_turn();
    }

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>, _: &mut Findings) {
        self.clocks.barrier();
    }

    fn released(&mut self, wave: u32, resource: u8) {
        // The wave that released this one may still be about to leave its knowledge.
        self.shared.passed.take_turn();
        let place = global_sync(resource);
        (self.clocks).pass(wave, place, true, false, &self.shared.passed);
        self.shared.passed.end_turn();
    }

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, _: &mut Findings) {
        // After a fault, `after` was not called.
        self.end_turn();
    }
}
