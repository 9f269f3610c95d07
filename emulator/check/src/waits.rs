//! Loads that are used before the wave has waited for them.
//!
//! The counters count operations in flight. `vmcnt` counts vector memory operations, which complete in order. `lgkmcnt`
//! counts LDS operations, which complete in order among themselves, and scalar loads, which do not. Flat operations
//! count in both and are complete when both counters say so (CDNA3 ISA guide, «Data dependency resolution»; LLVM's
//! `SIInsertWaitcnts`). Stores read their data when they issue, so that the registers may be overwritten afterwards,
//! with the wait states that [`super::hazards`] checks.

use std::collections::VecDeque;

use super::{
    Access, Example, Findings, Interest, Key, Kind, Side, Step, Watch,
    names::bytes_text,
    register_set::{RegisterSet, WORDS},
};
use ferrowave_emulator::exec::{Context, Facts, GroupStart, ObservedAccess, Space, Wave};
use ferrowave_gpu::{Gpu, GpuLimits, WaitCounters};
use ferrowave_isa::{Category, Counter, Effect, Registers, Role, WaitCounts};

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// The instruction.
    index: u32,
    /// The registers that it will write.
    result: Option<Registers>,
    /// The bytes of LDS that it will write.
    lds: Option<(u64, u64)>,
    unit: Unit,
}

/// Operations of the same unit complete in order, unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Memory,
    /// Images with a sampler, where these have a counter of their own (RDNA 4).
    Sample,
    Lds,
    /// Scalar memory, messages: in any order.
    Scalar,
    /// Flat: in both counters.
    Flat,
}

#[derive(Default)]
struct InFlight {
    vm: VecDeque<Flight>,
    sample: VecDeque<Flight>,
    lgkm: VecDeque<Flight>,
    /// The registers that operations in flight will write.
    pending: RegisterSet,
    /// Whether `pending` has any.
    some_pending: bool,
    /// The number of loads to LDS in `vm`.
    to_lds: usize,
}

impl InFlight {
    fn wait(&mut self, counts: &WaitCounts) {
        let before = [self.vm.len(), self.sample.len(), self.lgkm.len()];
        WaitCounts::keep_newest(&mut self.vm, counts.left(Counter::Vm));
        WaitCounts::keep_newest(&mut self.sample, counts.left(Counter::Sample));
        // An LDS operation is complete if as many LDS operations as may be in flight follow it.
        let (lds, scalar) = (counts.lds_left(), counts.scalar_left());
        let of_lds = self.lgkm.iter().filter(|flight| flight.unit == Unit::Lds);
        let mut done = of_lds.count().saturating_sub(lds as usize);
        self.lgkm.retain(|flight| match flight.unit {
            Unit::Scalar => scalar != 0,
            Unit::Lds if done > 0 => {
                done -= 1;
                false
            }
            Unit::Lds => true,
            Unit::Flat | Unit::Memory | Unit::Sample => lds != 0,
        });
        if [self.vm.len(), self.sample.len(), self.lgkm.len()] != before {
            self.count();
        }
    }

    /// Recomputes `pending`, `some_pending` and `to_lds`.
    fn count(&mut self) {
        self.pending.clear();
        self.some_pending = false;
        self.to_lds = 0;
        for flight in self.vm.iter().chain(&self.sample).chain(&self.lgkm) {
            if let Some(result) = flight.result {
                self.pending.insert(result);
                self.some_pending = true;
            }
            self.to_lds += usize::from(flight.lds.is_some());
        }
    }

    /// Adds an operation. The wave waits before it issues more than `vmcnt` can count.
    fn issue(&mut self, flight: Flight, most: WaitCounters) {
        if let Some(result) = flight.result {
            self.pending.insert(result);
            self.some_pending = true;
        }
        self.to_lds += usize::from(flight.lds.is_some());
        let (queue, most) = match flight.unit {
            Unit::Memory | Unit::Flat => (&mut self.vm, most.vm),
            Unit::Sample => (&mut self.sample, most.sample),
            Unit::Lds | Unit::Scalar => (&mut self.lgkm, u32::MAX),
        };
        queue.push_back(flight);
        let is_full = queue.len() > most as usize;
        if is_full {
            queue.pop_front();
        }
        if flight.unit == Unit::Flat {
            self.lgkm.push_back(flight);
        }
        if is_full {
            self.count();
        }
    }

    /// The last operation in flight that writes one of `registers`.
    fn writer(&self, registers: Registers) -> Option<&Flight> {
        self.vm
            .iter()
            .chain(&self.sample)
            .chain(&self.lgkm)
            .rfind(|flight| flight.result.is_some_and(|r| r.overlap(registers)))
    }
}

#[derive(Default)]
pub(super) struct Waits {
    waves: Vec<InFlight>,
}

impl Waits {
    /// The registers of a wave that operations in flight will write.
    #[inline]
    pub(super) fn pending(&self, wave: u32) -> Option<&[u64; WORDS]> {
        Some(self.waves.get(wave as usize)?.pending.words())
    }
}

/// The unit of an instruction, if a counter counts it.
fn unit(step: &Step<'_>, context: &Context<'_>) -> Option<Unit> {
    let instruction = context.code.instruction(step.index)?;
    let counters = instruction.counters();
    let counts = |counter| counters.contains(&counter);
    match (counts(Counter::Vm), counts(Counter::Lgkm)) {
        (true, true) => Some(Unit::Flat),
        (true, false) => Some(Unit::Memory),
        (false, true) if step.facts.category == Category::Lds => Some(Unit::Lds),
        (false, true) => Some(Unit::Scalar),
        (false, false) if counts(Counter::Sample) => Some(Unit::Sample),
        (false, false) => None,
    }
}

impl Waits {
    fn uses(&self, step: &Step<'_>, wave: &Wave, context: &Context<'_>, findings: &mut Findings) {
        let flight = &self.waves[wave.index as usize];
        if !flight.some_pending {
            return;
        }
        // Of loads that complete in order, the later one's value remains, or that of each half of a register.
        let unit = unit(step, context);
        let in_order = |registers| {
            let writer = flight.writer(registers).map(|writer| writer.unit);
            matches!(unit, Some(Unit::Memory | Unit::Sample | Unit::Lds)) && unit == writer
        };
        let writes = &step.facts.uses.writes;
        for read in &step.facts.uses.reads {
            // The other half of the register that a load to a half writes.
            let kept = read.role == Role::Value && writes.contains(&read.registers);
            if read.role != Role::Exec
                && flight.pending.first_of(read.registers).is_some()
                && !(kept && in_order(read.registers))
            {
                report(
                    flight,
                    step,
                    wave,
                    context.code.gpu(),
                    read.registers,
                    Kind::ReadInFlight,
                    findings,
                );
            }
        }
        for &written in writes {
            if flight.pending.first_of(written).is_some() && !in_order(written) {
                report(
                    flight,
                    step,
                    wave,
                    context.code.gpu(),
                    written,
                    Kind::OverwrittenInFlight,
                    findings,
                );
            }
        }
    }

    /// Checks LDS accesses against this wave's loads to LDS.
    fn lds(
        &self,
        step: &Step<'_>,
        wave: &Wave,
        gpu: Gpu,
        observed: &ObservedAccess<'_>,
        findings: &mut Findings,
    ) {
        let flight = &self.waves[wave.index as usize];
        if flight.to_lds == 0 || step.facts.to_lds {
            return;
        }
        for pending in flight.vm.iter().filter(|flight| flight.lds.is_some()) {
            let Some((start, end)) = pending.lds else {
                continue;
            };
            let bytes = u64::from(observed.bytes);
            let lanes = observed
                .iter()
                .filter(|(_, address)| *address < end && start < address + bytes)
                .fold(0_u64, |lanes, (lane, _)| lanes | 1 << lane);
            if lanes == 0 {
                continue;
            }
            let first = lanes.trailing_zeros() as usize;
            let offset = observed.iter().find(|(lane, _)| *lane == first);
            let offset = offset.map_or(observed.base, |(_, address)| address);
            let key = Key {
                kind: Kind::LdsLoadInFlight,
                index: step.index,
                other: Some(pending.index),
            };
            findings.add(key, |workgroup| Example {
                side: Side {
                    index: step.index,
                    workgroup,
                    wave: wave.index,
                    lanes,
                    what: format!("accesses {}", bytes_text(observed.bytes)),
                },
                access: Some(Access::Lds {
                    offset,
                    bytes: observed.bytes,
                }),
                other: Some(Side {
                    index: pending.index,
                    workgroup,
                    wave: wave.index,
                    lanes: 0,
                    what: format!(
                        "loads to it and is not waited for ({})",
                        Counter::Vm.name(gpu)
                    ),
                }),
            });
        }
    }
}

#[cold]
fn report(
    flight: &InFlight,
    step: &Step<'_>,
    wave: &Wave,
    gpu: Gpu,
    registers: Registers,
    kind: Kind,
    findings: &mut Findings,
) {
    let (Some(register), Some(writer)) =
        (flight.pending.first_of(registers), flight.writer(registers))
    else {
        return;
    };
    let key = Key {
        kind,
        index: step.index,
        other: Some(writer.index),
    };
    let name = register.name(gpu.family());
    let [memory, lds] = [Counter::Vm, Counter::of_lds(gpu)].map(|counter| counter.name(gpu));
    let counters = match writer.unit {
        Unit::Memory => memory.to_owned(),
        Unit::Sample => Counter::Sample.name(gpu).to_owned(),
        Unit::Lds => lds.to_owned(),
        Unit::Scalar => Counter::of_scalar_memory(gpu).name(gpu).to_owned(),
        Unit::Flat => format!("{memory} and {lds}"),
    };
    findings.add(key, |workgroup| Example {
        side: Side {
            index: step.index,
            workgroup,
            wave: wave.index,
            lanes: 0,
            what: match kind {
                Kind::ReadInFlight => format!("reads {name} while a load to it is in flight"),
                _ => format!("writes {name} while a load to it is in flight"),
            },
        },
        access: None,
        other: Some(Side {
            index: writer.index,
            workgroup,
            wave: wave.index,
            lanes: 0,
            what: format!("loads it and is not waited for ({counters})"),
        }),
    });
}

impl Watch for Waits {
    fn interest(&self, facts: &Facts) -> Interest {
        Interest {
            // Other instructions are checked if one of their registers is pending.
            before: facts.category == Category::Wait,
            after: matches!(
                facts.category,
                Category::VectorMemory | Category::Lds | Category::ScalarMemory | Category::Control
            ),
        }
    }

    fn begin(&mut self, group: &GroupStart<'_>, _: &mut Findings) {
        self.waves.clear();
        self.waves.resize_with(group.waves.len(), InFlight::default);
    }

    fn before(
        &mut self,
        step: &Step<'_>,
        wave: &Wave,
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        if step.facts.category == Category::Wait {
            let counts = WaitCounts::of(context.code.instruction(step.index));
            self.waves[wave.index as usize].wait(&counts);
            return;
        }
        // With VGPR indexing, the registers are not known.
        if wave.mode.indexes_registers() {
            return;
        }
        self.uses(step, wave, context, findings);
    }

    fn after(
        &mut self,
        step: &Step<'_>,
        wave: &mut Wave,
        context: &mut Context<'_>,
        findings: &mut Findings,
    ) {
        if !matches!(
            step.facts.category,
            Category::VectorMemory | Category::Lds | Category::ScalarMemory | Category::Control
        ) {
            return;
        }
        let Some(unit) = unit(step, context) else {
            return;
        };
        let mut lds = None;
        for observed in context.accesses() {
            if observed.space != Space::Lds {
                continue;
            }
            self.lds(step, wave, context.code.gpu(), &observed, findings);
            if step.facts.to_lds {
                let bytes = u64::from(observed.bytes);
                let range = observed
                    .iter()
                    .fold(None, |range: Option<(u64, u64)>, (_, at)| {
                        let (start, end) = range.unwrap_or((at, at));
                        Some((start.min(at), end.max(at + bytes)))
                    });
                lds = range;
            }
        }
        let loads = step.facts.effect != Effect::Store && !step.facts.to_lds;
        let result = step.facts.uses.writes.first().copied();
        let flight = Flight {
            index: step.index,
            result: result.filter(|_| loads),
            lds,
            unit,
        };
        let most = GpuLimits::of(context.code.gpu()).wait_counters;
        self.waves[wave.index as usize].issue(flight, most);
    }

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>, _: &mut Findings) {}

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, _: &mut Findings) {}
}
