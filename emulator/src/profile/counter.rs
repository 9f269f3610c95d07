//! The observer that counts. It does as little as it can for each instruction: what an instruction is and does is known
//! without running it, and is multiplied at the end.

use std::collections::HashMap;

use ferrowave_code_object::Gpu;

use super::{
    banks::{Banks, Way},
    coalescing,
    counts::Counts,
    pattern::Pattern,
};
use crate::{
    exec::{Context, Facts, Flow, GroupStart, LANES, Observer, Space, Wave},
    isa::Effect,
};

/// Counts what the waves of one host thread do.
pub(crate) struct Counter {
    /// The kernel's instructions, by index in the code.
    first: u32,
    /// How many they are.
    own: u32,
    /// One for each of them, and behind those for others that ran.
    runs: Vec<Runs>,
    accesses: Vec<Option<Box<Accesses>>>,
    /// Where instructions outside of the kernel are: functions that it calls.
    others: HashMap<u32, u32>,
    /// The lanes that each wave of the workgroup began with.
    began: Vec<u64>,
    workgroups: u64,
    waves: u64,
    banks: Banks,
}

/// Runs of an instruction.
#[derive(Clone, Copy, Default)]
struct Runs {
    all: u64,
    /// Those with less than all 64 lanes.
    partial: u64,
    /// The lanes of those.
    partial_lanes: u64,
    divergent: u64,
    taken: u64,
}

/// Memory accesses of an instruction.
#[derive(Clone, Default)]
struct Accesses {
    global: u64,
    global_bytes: u64,
    lines: [u64; 2],
    lds: u64,
    lds_bytes: u64,
    conflict_cycles: u64,
    /// The last accesses that were counted the long way. The second is for instructions with two.
    patterns: [Pattern<[u32; 2]>; 2],
}

/// The largest line that is counted, in bytes.
const LINE: u64 = 128;
/// Bytes of a bank's word: where a whole pattern lies among the banks makes no difference.
const WORD: u64 = 4;

impl Counter {
    /// For a kernel with these instructions, by index in the code.
    pub(super) fn new(gpu: Gpu, instructions: std::ops::Range<u32>) -> Self {
        let own = instructions.end.saturating_sub(instructions.start);
        Counter {
            first: instructions.start,
            own,
            runs: vec![Runs::default(); own as usize],
            accesses: vec![None; own as usize],
            others: HashMap::new(),
            began: Vec::new(),
            workgroups: 0,
            waves: 0,
            banks: Banks::new(gpu),
        }
    }

    #[inline(always)]
    fn slot(&mut self, index: u32) -> usize {
        let slot = index.wrapping_sub(self.first);
        if slot < self.own {
            slot as usize
        } else {
            self.other(index)
        }
    }

    #[cold]
    fn other(&mut self, index: u32) -> usize {
        let next = self.runs.len() as u32;
        let slot = *self.others.entry(index).or_insert(next);
        if slot == next {
            self.runs.push(Runs::default());
            self.accesses.push(None);
        }
        slot as usize
    }

    /// Workgroups that began.
    pub(super) const fn workgroups(&self) -> u64 {
        self.workgroups
    }

    /// Waves of them.
    pub(super) const fn waves(&self) -> u64 {
        self.waves
    }

    /// Counts by index in the code, of instructions that ran.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u32, Counts)> {
        let own = (self.first..).take(self.own as usize).enumerate();
        let own = own.map(|(slot, index)| (index, slot));
        let others = self
            .others
            .iter()
            .map(|(&index, &slot)| (index, slot as usize));
        own.chain(others).filter_map(|(index, slot)| {
            let runs = self.runs[slot];
            if runs.all == 0 {
                return None;
            }
            let none = Accesses::default();
            let accesses = self.accesses[slot].as_deref().unwrap_or(&none);
            let counts = Counts {
                executions: runs.all,
                active_lanes: LANES as u64 * (runs.all - runs.partial) + runs.partial_lanes,
                divergent: runs.divergent,
                taken: runs.taken,
                global_bytes: accesses.global_bytes,
                lines_64: accesses.lines[0],
                lines_128: accesses.lines[1],
                global_accesses: accesses.global,
                lds_bytes: accesses.lds_bytes,
                lds_accesses: accesses.lds,
                lds_conflict_cycles: accesses.conflict_cycles,
            };
            Some((index, counts))
        })
    }

    #[inline(never)]
    fn count_accesses(&mut self, index: u32, context: &Context<'_>) {
        let slot = self.slot(index);
        let facts = context.code().facts().get(index as usize);
        let is_atomic = |facts: &Facts| facts.effect == Effect::Atomic;
        let is_atomic = facts.and_then(Option::as_ref).is_some_and(is_atomic);
        let accesses = self.accesses[slot].get_or_insert_default();
        for (number, touch) in context.touches().iter().enumerate() {
            if touch.lanes == 0 {
                continue;
            }
            let bytes = u64::from(touch.lanes.count_ones()) * u64::from(touch.bytes);
            let pattern = &mut accesses.patterns[number % 2];
            match touch.space {
                Space::Global => {
                    accesses.global += 1;
                    accesses.global_bytes += bytes;
                    let lines = pattern.result(touch, LINE, coalescing::lines);
                    accesses.lines[0] += u64::from(lines[0]);
                    accesses.lines[1] += u64::from(lines[1]);
                }
                Space::Lds => {
                    accesses.lds += 1;
                    accesses.lds_bytes += bytes;
                    let way = Way::of(touch, is_atomic);
                    let [cycles, _] = pattern.result(touch, WORD, |touch| {
                        [self.banks.extra_cycles(touch, way), 0]
                    });
                    accesses.conflict_cycles += u64::from(cycles);
                }
            }
        }
    }
}

impl Observer for Counter {
    const ACTIVE: bool = true;

    fn begin(&mut self, group: &GroupStart<'_>) {
        self.began.clear();
        self.began.extend(group.waves.iter().map(|wave| wave.exec));
        self.workgroups += 1;
        self.waves += group.waves.len() as u64;
    }

    #[inline(always)]
    fn before(&mut self, wave: &Wave, _: &Context<'_>, index: u32) {
        let slot = self.slot(index);
        let runs = &mut self.runs[slot];
        runs.all += 1;
        if wave.exec != !0 {
            runs.partial += 1;
            runs.partial_lanes += u64::from(wave.exec.count_ones());
            let began = self.began.get(wave.index as usize);
            runs.divergent += u64::from(began != Some(&wave.exec));
        }
    }

    #[inline(always)]
    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, _: Flow) {
        if !context.touches().is_empty() {
            self.count_accesses(index, context);
        }
        if wave.pc != index + 1 {
            let slot = self.slot(index);
            self.runs[slot].taken += 1;
        }
    }

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>) {}

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>) {}
}
