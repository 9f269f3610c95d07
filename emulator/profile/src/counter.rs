//! The observer that counts. It does as little as possible per instruction: everything known without running the
//! instruction is multiplied in at the end.

use std::{collections::HashMap, ops::Range};

use ferrowave_gpu::Gpu;

use super::counts::Counts;
use ferrowave_access_cost::{self as access_cost, AccessKind, Banks};
use ferrowave_emulator::exec::{
    ByPlace, ByShape, Context, Flow, GroupStart, Observer, Space, Wave,
};
use ferrowave_isa::Effect;

/// Counts the instructions and accesses of the waves of one host thread.
pub struct Counter {
    /// The index in the code of the kernel's first instruction.
    first: u32,
    /// The number of the kernel's instructions.
    own: u32,
    /// The lanes of its waves.
    wave_size: u64,
    /// The current stretch: consecutive instructions of the kernel, run with all lanes.
    stretch: Range<u32>,
    /// The finished stretches as differences: how many more of them contain an instruction than contain the one before
    /// it.
    changes: Vec<i64>,
    /// One for each of the kernel's instructions, followed by other instructions that ran.
    runs: Vec<Runs>,
    accesses: Vec<Accesses>,
    /// The slots of instructions outside of the kernel, in functions that it calls.
    others: HashMap<u32, u32>,
    /// The initially active lanes of each wave of the workgroup.
    began: Vec<u64>,
    workgroups: u64,
    waves: u64,
    banks: Banks,
    found: ByShape<Found>,
}

/// The runs of an instruction outside of stretches.
#[derive(Clone, Copy, Default)]
struct Runs {
    /// Runs with all lanes.
    full: u64,
    /// Runs with fewer than all lanes.
    partial: u64,
    /// The active lanes of these.
    partial_lanes: u64,
    divergent: u64,
    /// Of all runs, those after which the wave did not continue with the next instruction.
    taken: u64,
}

/// The memory accesses of an instruction.
#[derive(Clone, Copy, Default)]
struct Accesses {
    global: u64,
    global_bytes: u64,
    distinct_bytes: u64,
    lines: [u64; 2],
    lds: u64,
    lds_bytes: u64,
    conflict_cycles: u64,
}

/// Cached results for accesses of one shape.
#[derive(Clone, Default)]
struct Found {
    /// Numbers of lines.
    lines: ByPlace<[u32; 2]>,
    /// Distinct bytes.
    distinct_bytes: Option<u32>,
    /// Cycles of bank conflicts, by [`AccessKind`].
    cycles: [ByPlace<u32>; 3],
}

/// The largest counted line size in bytes.
const LINE: u64 = 128;
/// Bytes of a bank's word. Moving a whole access by words does not change its conflicts.
const WORD: u64 = 4;

impl Counter {
    /// A counter for a kernel with waves of this size and these instructions, by index in the code.
    pub(super) fn new(gpu: Gpu, wave_size: u32, instructions: Range<u32>) -> Self {
        let own = instructions.end.saturating_sub(instructions.start);
        Counter {
            first: instructions.start,
            own,
            wave_size: wave_size.into(),
            stretch: 0..0,
            changes: vec![0; own as usize + 1],
            runs: vec![Runs::default(); own as usize],
            accesses: vec![Accesses::default(); own as usize],
            others: HashMap::new(),
            began: Vec::new(),
            workgroups: 0,
            waves: 0,
            banks: Banks::new(gpu),
            found: ByShape::default(),
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
            self.accesses.push(Accesses::default());
        }
        slot as usize
    }

    /// The number of workgroups that started.
    pub(super) const fn workgroups(&self) -> u64 {
        self.workgroups
    }

    /// The number of their waves.
    pub(super) const fn waves(&self) -> u64 {
        self.waves
    }

    /// The counts of instructions that ran, with their index in the code.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u32, Counts)> {
        let mut changes = self.changes.clone();
        note(&mut changes, self.first, &self.stretch);
        let in_stretches = changes.into_iter().scan(0, |sum: &mut i64, change| {
            *sum += change;
            Some(sum.unsigned_abs())
        });
        let own = (self.first..).take(self.own as usize).enumerate();
        let own = own.zip(in_stretches);
        let own = own.map(|((slot, index), full)| (index, slot, full));
        let others = self
            .others
            .iter()
            .map(|(&index, &slot)| (index, slot as usize, 0));
        own.chain(others).filter_map(|(index, slot, full)| {
            let runs = self.runs[slot];
            let full = full + runs.full;
            if full + runs.partial == 0 {
                return None;
            }
            let accesses = &self.accesses[slot];
            let counts = Counts {
                executions: full + runs.partial,
                active_lanes: self.wave_size * full + runs.partial_lanes,
                divergent: runs.divergent,
                taken: runs.taken,
                global_bytes: accesses.global_bytes,
                global_distinct_bytes: accesses.distinct_bytes,
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

    /// Counts an instruction that does not continue the stretch, and starts a new stretch if possible.
    #[inline(never)]
    fn begin_stretch(&mut self, wave: &Wave, index: u32) {
        note(&mut self.changes, self.first, &self.stretch);
        if wave.all_active() && index.wrapping_sub(self.first) < self.own {
            self.stretch = index..index + 1;
            return;
        }
        // A stretch that no instruction continues.
        self.stretch = u32::MAX..u32::MAX;
        let slot = self.slot(index);
        let runs = &mut self.runs[slot];
        if wave.all_active() {
            runs.full += 1;
            return;
        }
        runs.partial += 1;
        runs.partial_lanes += u64::from(wave.active().count_ones());
        let began = self.began.get(wave.index as usize);
        runs.divergent += u64::from(began != Some(&wave.active()));
    }

    #[inline(never)]
    fn count_accesses(&mut self, index: u32, context: &Context<'_>) {
        let slot = self.slot(index);
        let is_atomic = || {
            let facts = context.facts(index);
            facts.is_some_and(|facts| facts.effect == Effect::Atomic)
        };
        let accesses = &mut self.accesses[slot];
        for observed in context.accesses() {
            if observed.lanes == 0 {
                continue;
            }
            let bytes = u64::from(observed.lanes.count_ones()) * u64::from(observed.bytes);
            let found = self.found.of(observed.shape);
            match observed.space {
                Space::Global => {
                    accesses.global += 1;
                    accesses.global_bytes += bytes;
                    let distinct = found.distinct_bytes;
                    let distinct =
                        distinct.unwrap_or_else(|| access_cost::distinct_bytes(&observed));
                    found.distinct_bytes = Some(distinct);
                    accesses.distinct_bytes += u64::from(distinct);
                    let lines = found
                        .lines
                        .result(observed.base, LINE, || access_cost::lines(&observed));
                    accesses.lines[0] += u64::from(lines[0]);
                    accesses.lines[1] += u64::from(lines[1]);
                }
                Space::Lds => {
                    accesses.lds += 1;
                    accesses.lds_bytes += bytes;
                    let way = AccessKind::of(&observed, observed.write && is_atomic());
                    let cycles = &mut found.cycles[way as usize];
                    let cycles = cycles.result(observed.base, WORD, || {
                        self.banks.extra_cycles(&observed, way)
                    });
                    accesses.conflict_cycles += u64::from(cycles);
                }
            }
        }
    }
}

/// Adds a stretch to `changes`, for a kernel that begins at `first`.
fn note(changes: &mut [i64], first: u32, stretch: &Range<u32>) {
    if stretch.is_empty() {
        return;
    }
    for (end, change) in [(stretch.start, 1), (stretch.end, -1)] {
        if let Some(place) = changes.get_mut(end.wrapping_sub(first) as usize) {
            *place += change;
        }
    }
}

impl Observer for Counter {
    const ACTIVE: bool = true;

    fn begin(&mut self, group: &GroupStart<'_>) {
        self.began.clear();
        self.began.extend(group.waves.iter().map(Wave::active));
        self.workgroups += 1;
        self.waves += group.waves.len() as u64;
    }

    #[inline(always)]
    fn before(&mut self, wave: &Wave, _: &Context<'_>, index: u32) {
        // With all lanes active, it does not matter which wave runs. A stretch ends with the kernel's last instruction.
        let goes_on = index == self.stretch.end && wave.all_active();
        if goes_on && index.wrapping_sub(self.first) < self.own {
            self.stretch.end = index + 1;
        } else {
            self.begin_stretch(wave, index);
        }
    }

    #[inline(always)]
    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, _: Flow) {
        if context.has_accesses() {
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
