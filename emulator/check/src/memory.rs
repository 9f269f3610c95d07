//! Global memory: accesses past an allocation but within its last page or block, writes to a code object's constants,
//! uninitialized bytes, addresses that the hardware silently changes, and atomic operations that do nothing.

use std::sync::Arc;

use super::{
    Access, Findings, Interest, Kind, Single, Step, Watch,
    allocations::Allocations,
    faults,
    names::{bytes_text, uninitialized},
    spans::Span,
};
use ferrowave_emulator::exec::{
    Context, Facts, GroupStart, ObservedAccess, Space, Wave, does_nothing_on_fine_grained,
};
use ferrowave_emulator::memory::{Reach, View, Written};
use ferrowave_gpu::Gpu;
use ferrowave_isa::{Category, Effect, Format, Source};

/// The check. Each allocation with tracked writes has its record of written bytes.
pub(super) struct Memory {
    allocations: Allocations<Arc<Written>>,
    gpu: Gpu,
}

impl Memory {
    pub(super) fn new(allocations: Allocations<Arc<Written>>, gpu: Gpu) -> Self {
        Memory { allocations, gpu }
    }

    /// Reports an atomic operation that does nothing on some lanes, because their memory is fine-grained.
    #[cold]
    fn idle(
        &self,
        context: &Context<'_>,
        step: &Step<'_>,
        wave: u32,
        observed: &ObservedAccess<'_>,
        findings: &mut Findings,
    ) {
        let instruction = context.code.instruction(step.index);
        if !instruction.is_some_and(|i| does_nothing_on_fine_grained(self.gpu, i)) {
            return;
        }
        let idle = observed
            .iter()
            .filter(|(_, address)| context.memory.reach(*address).is_fine_grained());
        let (mut lanes, mut first) = (0, None);
        for (lane, address) in idle {
            lanes |= 1 << lane;
            first.get_or_insert(address);
        }
        let Some(address) = first else {
            return;
        };
        let single = Single {
            kind: Kind::FineGrainedAtomic,
            index: step.index,
            wave,
            lanes,
            access: Some(Access::Global {
                address,
                bytes: observed.bytes,
            }),
        };
        findings.add_single(single, || {
            format!(
                "does nothing with {} of fine-grained memory, and returns 0, on {}",
                bytes_text(observed.bytes),
                self.gpu
            )
        });
    }

    fn record(
        &mut self,
        step: &Step<'_>,
        wave: u32,
        (observed, spans): (&ObservedAccess<'_>, &[Span]),
        findings: &mut Findings,
    ) {
        let mut place = self.allocations.start(step.index);
        let mut missing = None;
        if !observed.write || step.facts.effect == Effect::Atomic {
            let find = |span: &Span| self.first_missing(&mut place, span.start, span.end);
            missing = spans.iter().find_map(find);
        }
        let missing = missing.map(|address| (address, self.lanes_missing(observed, place)));
        if observed.write {
            for span in spans {
                if let Some((base, written)) = self.allocations.find(&mut place, span.start) {
                    written.mark(span.start - base, span.end - span.start);
                }
            }
        }
        self.allocations.remember(step.index, place);
        if let Some((address, lanes)) = missing {
            let single = Single {
                kind: Kind::UninitializedMemory,
                index: step.index,
                wave,
                lanes,
                access: Some(Access::Global { address, bytes: 1 }),
            };
            findings.add_single(single, || uninitialized(observed.bytes));
        }
    }

    /// Reports an access outside of allocated memory. A scalar one starts at `begins`.
    fn stray(
        memory: &View,
        step: &Step<'_>,
        wave: u32,
        (observed, spans): (&ObservedAccess<'_>, &[Span]),
        begins: u64,
        findings: &mut Findings,
    ) {
        let mut reach = Reach::NOTHING;
        let may_be_widened = observed.scalar && !observed.write;
        let mut leaves = |start, end| {
            if reach.is_left_by(start, end, may_be_widened) {
                reach = memory.reach(start);
            }
            reach.is_left_by(start, end, may_be_widened) || observed.write && reach.is_constant()
        };
        let bytes = u64::from(observed.bytes);
        let first = match observed.scalar {
            true => leaves(begins, observed.base + bytes).then_some((0, observed.base)),
            // Neighbouring lanes may access different allocations.
            false if spans.iter().any(|span| leaves(span.start, span.end)) => observed
                .iter()
                .find(|(_, address)| leaves(*address, address + bytes)),
            false => None,
        };
        let Some((_, address)) = first else {
            return;
        };
        let strays = observed
            .iter()
            .filter(|(_, address)| !observed.scalar && leaves(*address, address + bytes));
        let lanes = strays.fold(0, |lanes, (lane, _)| lanes | 1 << lane);
        let (kind, access, what) = faults::outside(memory, address, observed.bytes, observed.write);
        let single = Single {
            kind,
            index: step.index,
            wave,
            lanes,
            access: Some(access),
        };
        findings.add_single(single, || what);
    }

    /// The address of the first uninitialized byte.
    fn first_missing(&self, place: &mut usize, start: u64, end: u64) -> Option<u64> {
        let (base, written) = self.allocations.find(place, start)?;
        let byte = written.first_missing(start - base, end - start)?;
        Some(base + byte)
    }

    /// The lanes that read uninitialized bytes; none for a scalar access, which has no lanes.
    #[cold]
    fn lanes_missing(&self, observed: &ObservedAccess<'_>, mut place: usize) -> u64 {
        let bytes = u64::from(observed.bytes);
        observed
            .iter()
            .filter(|_| !observed.scalar)
            .filter(|(_, start)| {
                self.first_missing(&mut place, *start, start + bytes)
                    .is_some()
            })
            .fold(0, |lanes, (lane, _)| lanes | 1 << lane)
    }
}

impl Watch for Memory {
    fn interest(&self, facts: &Facts) -> Interest {
        Interest {
            before: facts.category == Category::ScalarMemory,
            after: facts.effect != Effect::None,
        }
    }

    fn begin(&mut self, _: &GroupStart<'_>, _: &mut Findings) {}

    fn before(
        &mut self,
        step: &Step<'_>,
        wave: &Wave,
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        if step.facts.category != Category::ScalarMemory || step.facts.effect == Effect::None {
            return;
        }
        // The scalar unit clears the low bits of base and offset separately (CDNA3 ISA guide, «SMEM»).
        let Some(instruction) = context.code.instruction(step.index) else {
            return;
        };
        let base = match instruction.src[0].source {
            Source::Sgpr(register) => wave.scalar(register),
            _ => 0,
        };
        let offset = match instruction.src[1].source {
            Source::Sgpr(register) => wave.scalar(register),
            _ => 0,
        };
        let offset = offset.wrapping_add(instruction.memory.offset as u32);
        if (base | offset) & 3 == 0 || instruction.format != Format::Smem {
            return;
        }
        let single = Single {
            kind: Kind::Misaligned,
            index: step.index,
            wave: wave.index,
            lanes: 0,
            access: None,
        };
        findings.add_single(single, || {
            format!(
                "has a base that ends in {:#x} and an offset of {offset:#x}; the hardware ignores the lowest two bits of both",
                base & 0xf
            )
        });
    }

    fn after(
        &mut self,
        step: &Step<'_>,
        wave: &mut Wave,
        context: &mut Context<'_>,
        findings: &mut Findings,
    ) {
        let mut begins = None;
        for (observed, spans) in step.accesses(context, Space::Global) {
            // A scalar buffer load has one access per dword.
            let begins = *begins.get_or_insert(observed.base);
            let (memory, accessed) = (context.memory, (&observed, spans));
            Self::stray(memory, step, wave.index, accessed, begins, findings);
            if step.facts.effect == Effect::Atomic && context.memory.has_fine_grained() {
                self.idle(context, step, wave.index, &observed, findings);
            }
            self.record(step, wave.index, accessed, findings);
        }
    }

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>, _: &mut Findings) {}

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, _: &mut Findings) {}
}
