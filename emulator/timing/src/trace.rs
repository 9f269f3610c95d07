//! Records what waves do while the emulator runs them: enough to replay their timing.
//!
//! A wave's instructions are recorded as blocks of consecutive instructions, its memory accesses as a shape (the lines
//! that they touch) and a base. Shapes repeat, so that an access takes 16 bytes.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    budget::{Allowance, Budget, MOST_TRACE_BYTES},
    parameters::Parameters,
    skipped::Skipped,
};
use ferrowave_access_cost::{AccessKind, Banks, Lines, look_ups};
use ferrowave_emulator::exec::{
    ByPlace, ByShape, Context, Facts, Flow, GroupStart, ObservedAccess, Observer, Space, Wave,
};
use ferrowave_isa::{Category, Effect};

/// How many accesses of each wave are kept where only lines are needed: the first ones stand for all.
pub(super) const KEPT_ACCESSES: usize = 768;

/// Instructions per turn of a wave, if workgroups may be stopped before their end.
const SHORT_TURN: u64 = 1 << 12;

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The instruction, by index in the code.
    pub(super) index: u32,
    /// Index into [`Recorded::shapes`].
    pub(super) shape: u32,
    /// The base that is added to the shape's lines.
    pub(super) base: u64,
}

/// The lines that an access touches, relative to its base.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// In units of the L1 cache's lines, ascending.
    pub(super) lines: Box<[u64]>,
    /// Cycles for which the access keeps the L1 cache busy.
    pub(super) busy: u32,
    /// Whether its bytes fill all of its lines.
    pub(super) is_whole: bool,
}

/// The trace of one wave.
#[derive(Clone, Debug, Default)]
pub(super) struct WaveTrace {
    /// Blocks of consecutive instructions: the index in the code of the first, and of the one after the last.
    pub(super) blocks: Vec<(u32, u32)>,
    /// Global memory accesses, vector and scalar, in order.
    pub(super) accesses: Vec<Access>,
    /// Of each instruction that uses LDS.
    pub(super) lds: Vec<LdsAccess>,
}

/// What an instruction needs of LDS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LdsAccess {
    /// Cycles of the banks.
    pub(super) cycles: u32,
    /// Cycles of the bus between LDS and the SIMD.
    pub(super) bus_cycles: u16,
    /// Whether data goes to LDS, and not from it.
    pub(super) is_write: bool,
}

impl LdsAccess {
    /// A permutation of lanes: it uses the banks without accessing memory, like 4 bytes per lane.
    pub(super) const fn permutation(lanes: u32) -> LdsAccess {
        LdsAccess {
            cycles: lanes / 32,
            bus_cycles: (lanes / 32) as u16,
            is_write: false,
        }
    }
}

/// The traces of a workgroup's waves.
#[derive(Clone, Debug)]
pub(super) struct WorkgroupTrace {
    /// Its number in the grid.
    pub(super) number: u64,
    /// Whether everything was recorded, not only the first accesses.
    pub(super) is_whole: bool,
    pub(super) waves: Vec<WaveTrace>,
}

/// All traces of a launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    /// Sorted by number.
    pub(super) workgroups: Vec<WorkgroupTrace>,
    pub(super) shapes: Vec<Shape>,
}

impl Recorded {
    /// Combines the traces of all host threads.
    pub(super) fn of(tracers: Vec<Tracer>) -> Self {
        let mut all = Recorded::default();
        let mut known = HashMap::new();
        for tracer in tracers {
            let shapes: Vec<u32> = tracer
                .shapes
                .into_iter()
                .map(|shape| {
                    let next = all.shapes.len() as u32;
                    *known.entry(shape.clone()).or_insert_with(|| {
                        all.shapes.push(shape);
                        next
                    })
                })
                .collect();
            for mut workgroup in tracer.workgroups {
                let accesses = workgroup.waves.iter_mut().flat_map(|w| &mut w.accesses);
                for access in accesses {
                    access.shape = shapes.get(access.shape as usize).copied().unwrap_or(0);
                }
                all.workgroups.push(workgroup);
            }
        }
        all.workgroups.sort_by_key(|workgroup| workgroup.number);
        all
    }

    /// The trace of a workgroup.
    pub(super) fn of_workgroup(&self, number: u64) -> Option<&WorkgroupTrace> {
        let place = self
            .workgroups
            .binary_search_by_key(&number, |workgroup| workgroup.number);
        self.workgroups.get(place.ok()?)
    }

    /// The trace of a workgroup, if everything of it was recorded.
    pub(super) fn whole(&self, number: u64) -> Option<&WorkgroupTrace> {
        self.of_workgroup(number)
            .filter(|workgroup| workgroup.is_whole)
    }
}

/// The workgroups to record.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// Recorded completely.
    pub(super) whole: HashSet<u64>,
    /// Recorded with their first accesses only.
    pub(super) lines: HashSet<u64>,
    /// The instructions that need not run. If there are any, memory afterwards may hold anything.
    pub(super) skipped: Skipped,
    /// Whether workgroups may stop when everything needed is recorded.
    pub(super) may_stop: bool,
    /// Lanes of a wave.
    pub(super) lanes: u32,
    /// The memory budget.
    pub(super) budget: Arc<Budget>,
}

impl Chosen {
    /// None yet, in waves of `lanes`.
    pub(super) fn new(lanes: u32) -> Self {
        Chosen {
            whole: HashSet::new(),
            lines: HashSet::new(),
            skipped: Skipped::default(),
            may_stop: false,
            lanes,
            budget: Arc::new(Budget::new(MOST_TRACE_BYTES)),
        }
    }

    /// The numbers of all of them, sorted.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.whole.union(&self.lines).copied().collect();
        all.sort_unstable();
        all
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Off,
    Lines,
    Whole,
}

/// Cached results for accesses of one shape.
#[derive(Clone, Default)]
struct Found {
    /// The index of the shape.
    global: ByPlace<u32>,
    /// LDS cycles, by [`AccessKind`].
    lds: [ByPlace<u32>; 3],
}

/// Records the chosen workgroups of one host thread.
pub struct Tracer<'a> {
    chosen: &'a Chosen,
    /// Converts numbers of 64-byte lines to the machine's lines.
    shift: u32,
    mode: Mode,
    waves: Vec<WaveTrace>,
    /// For each wave, the index after its last instruction.
    next: Vec<u32>,
    /// The number of waves with fewer than [`KEPT_ACCESSES`] accesses, in mode `Lines`.
    not_full: usize,
    number: u64,
    workgroups: Vec<WorkgroupTrace>,
    shapes: Vec<Shape>,
    known: HashMap<Shape, u32>,
    found: ByShape<Found>,
    banks: Banks,
    bus_bytes: u32,
    /// Lanes of a wave.
    lanes: u32,
    allowance: Allowance,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(parameters: &Parameters, chosen: &'a Chosen) -> Self {
        let gpu = parameters.hardware.gpu;
        Tracer {
            chosen,
            shift: gpu.line_bytes().trailing_zeros() - 6,
            mode: Mode::Off,
            waves: Vec::new(),
            next: Vec::new(),
            not_full: 0,
            number: 0,
            workgroups: Vec::new(),
            shapes: Vec::new(),
            known: HashMap::new(),
            found: ByShape::default(),
            banks: Banks::new(gpu),
            bus_bytes: parameters.lds_bus_bytes_per_cycle.max(1),
            lanes: chosen.lanes,
            allowance: Allowance::default(),
        }
    }

    /// Whether the budget allows another element of a list. If not, the launch has no modelled time, and recording of
    /// the workgroup stops.
    #[inline]
    fn has_room<T>(&mut self) -> bool {
        let has_room = self
            .allowance
            .spend(size_of::<T>() as u64, &self.chosen.budget);
        if !has_room {
            self.give_up();
        }
        has_room
    }

    #[cold]
    fn give_up(&mut self) {
        self.mode = Mode::Off;
        self.waves = Vec::new();
    }

    /// Records that a wave runs consecutive instructions.
    #[inline(always)]
    fn ran(&mut self, wave: &Wave, index: u32, count: u32) {
        let number = wave.index as usize;
        if self.next.get(number) != Some(&index) && !self.has_room::<(u32, u32)>() {
            return;
        }
        let (Some(trace), Some(next)) = (self.waves.get_mut(number), self.next.get_mut(number))
        else {
            return;
        };
        match trace.blocks.last_mut() {
            Some((_, end)) if *next == index => *end = index + count,
            _ => trace.blocks.push((index, index + count)),
        }
        *next = index + count;
    }

    fn record(&mut self, wave: usize, index: u32, facts: &Facts, context: &Context<'_>) {
        let is_memory = matches!(
            facts.category,
            Category::VectorMemory | Category::ScalarMemory
        ) && facts.effect != Effect::None;
        if is_memory {
            let access = self.access(index, facts, context);
            if !self.has_room::<Access>() {
                return;
            }
            if let Some(trace) = self.waves.get_mut(wave)
                && (self.mode == Mode::Whole || trace.accesses.len() < KEPT_ACCESSES)
            {
                trace.accesses.push(access);
                let is_full = trace.accesses.len() == KEPT_ACCESSES;
                self.not_full -= usize::from(is_full && self.not_full > 0);
            }
        }
        if self.mode == Mode::Whole && (facts.category == Category::Lds || facts.to_lds) {
            let access = self.lds_access(facts, context);
            if !self.has_room::<LdsAccess>() {
                return;
            }
            if let Some(trace) = self.waves.get_mut(wave) {
                trace.lds.push(access);
            }
        }
    }

    fn access(&mut self, index: u32, facts: &Facts, context: &Context<'_>) -> Access {
        let shift = self.shift;
        let mut global = context
            .accesses()
            .filter(|observed| observed.space == Space::Global && observed.lanes != 0);
        let first = global.next();
        let others = global.next().is_some();
        let line = 64 << shift;
        let place = |observed: &ObservedAccess<'_>| (observed.base / 64) >> shift;
        match (first, others) {
            (None, _) => Access {
                index,
                shape: self.intern(Shape {
                    lines: Box::default(),
                    busy: 4,
                    is_whole: false,
                }),
                base: 0,
            },
            (Some(observed), false) => {
                let base = place(&observed);
                let known = self
                    .found
                    .of(observed.shape)
                    .global
                    .known(observed.base, line);
                let shape = known.unwrap_or_else(|| {
                    let shape = self.intern(shape(std::slice::from_ref(&observed), shift, base));
                    let found = &mut self.found.of(observed.shape).global;
                    found.keep(observed.base, line, shape);
                    shape
                });
                Access { index, shape, base }
            }
            // An access to several dwords of private memory is observed as one access per dword.
            (Some(first), true) => {
                let base = place(&first);
                let all: Vec<ObservedAccess<'_>> = context
                    .accesses()
                    .filter(|observed| observed.space == Space::Global)
                    .collect();
                debug_assert!(facts.category == Category::VectorMemory);
                Access {
                    index,
                    shape: self.intern(shape(&all, shift, base)),
                    base,
                }
            }
        }
    }

    fn lds_access(&mut self, facts: &Facts, context: &Context<'_>) -> LdsAccess {
        let (mut cycles, mut bytes, mut is_write) = (0, 0, false);
        let in_lds = context
            .accesses()
            .filter(|observed| observed.space == Space::Lds);
        for observed in in_lds {
            let way = AccessKind::of(&observed, facts.effect == Effect::Atomic);
            let known = &mut self.found.of(observed.shape).lds[way as usize];
            // Accesses of 16 bytes depend on whether they are aligned.
            let within = if observed.bytes > 8 { 16 } else { 4 };
            cycles += known.result(observed.base, within, || {
                self.banks.cycles_of(&observed, way)
            });
            bytes += observed.lanes.count_ones() * observed.bytes;
            is_write |= observed.write;
        }
        if cycles == 0 {
            return LdsAccess::permutation(self.lanes);
        }
        LdsAccess {
            cycles,
            bus_cycles: bytes.div_ceil(self.bus_bytes) as u16,
            is_write,
        }
    }

    fn intern(&mut self, shape: Shape) -> u32 {
        let next = self.shapes.len() as u32;
        let known = self.known.entry(shape);
        let mut bytes = 0;
        let shape = *known.or_insert_with_key(|shape| {
            bytes = size_of::<Shape>() + size_of_val(&*shape.lines);
            self.shapes.push(shape.clone());
            next
        });
        // Counted twice: the list and the map both hold it.
        if bytes > 0 && !self.allowance.spend(2 * bytes as u64, &self.chosen.budget) {
            self.give_up();
        }
        shape
    }
}

/// The shape of one instruction's accesses, with lines relative to `base`.
///
/// L1 takes 16 addresses and gives 64 bytes per cycle ([`super::parameters`]); the model assumes that it looks up one
/// line per cycle.
fn shape(accesses: &[ObservedAccess<'_>], shift: u32, base: u64) -> Shape {
    let mut lines = Vec::new();
    let mut busy = 0;
    for observed in accesses {
        let touched = Lines::of(observed);
        busy += look_ups(observed);
        lines.extend(touched.different(shift).map(|line| line.wrapping_sub(base)));
    }
    lines.sort_unstable();
    lines.dedup();
    let bytes: u64 = accesses
        .iter()
        .map(|observed| u64::from(observed.lanes.count_ones() * observed.bytes))
        .sum();
    Shape {
        is_whole: bytes >= (lines.len() as u64) << (6 + shift),
        lines: lines.into(),
        busy,
    }
}

impl Observer for Tracer<'_> {
    const ACTIVE: bool = true;

    fn wants(&self, number: u64) -> bool {
        let is_chosen = self.chosen.whole.contains(&number) || self.chosen.lines.contains(&number);
        is_chosen && !self.chosen.budget.is_exceeded()
    }

    fn turn(&self) -> u64 {
        match self.chosen.may_stop {
            true => SHORT_TURN,
            false => u64::MAX,
        }
    }

    fn is_done(&self) -> bool {
        let is_exceeded = self.mode == Mode::Off && self.chosen.budget.is_exceeded();
        let has_enough = self.mode == Mode::Lines && self.not_full == 0;
        self.chosen.may_stop && (has_enough || is_exceeded)
    }

    #[inline(always)]
    fn skip(&mut self, wave: &Wave, index: u32) -> u32 {
        let count = (self.chosen.skipped).from(index, self.mode == Mode::Whole);
        if count > 0 && self.mode == Mode::Whole {
            self.ran(wave, index, count);
        }
        count
    }

    fn begin(&mut self, group: &GroupStart<'_>) {
        self.number = group.number;
        self.mode = match (
            self.chosen.whole.contains(&group.number),
            self.chosen.lines.contains(&group.number),
        ) {
            (true, _) => Mode::Whole,
            (false, true) => Mode::Lines,
            (false, false) => Mode::Off,
        };
        self.waves.clear();
        self.waves.resize(group.waves.len(), WaveTrace::default());
        self.next.clear();
        self.next.resize(group.waves.len(), u32::MAX);
        self.not_full = group.waves.len();
    }

    #[inline(always)]
    fn before(&mut self, wave: &Wave, _: &Context<'_>, index: u32) {
        if self.mode == Mode::Whole {
            self.ran(wave, index, 1);
        }
    }

    #[inline(always)]
    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, flow: Flow) {
        if self.mode == Mode::Off {
            return;
        }
        if flow == Flow::End && self.mode == Mode::Lines {
            let trace = self.waves.get(wave.index as usize);
            let was_full = trace.is_some_and(|trace| trace.accesses.len() >= KEPT_ACCESSES);
            self.not_full -= usize::from(!was_full && self.not_full > 0);
        }
        if matches!(
            context.category(),
            Category::VectorMemory | Category::ScalarMemory | Category::Lds
        ) && let Some(facts) = context.facts(index)
        {
            self.record(wave.index as usize, index, facts, context);
        }
    }

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>) {}

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>) {
        if self.mode != Mode::Off {
            self.workgroups.push(WorkgroupTrace {
                number: self.number,
                is_whole: self.mode == Mode::Whole,
                waves: std::mem::take(&mut self.waves),
            });
        }
        self.mode = Mode::Off;
    }
}
