//! Where loads find their lines: in L2, the Infinity Cache or memory, which all compute units share.
//!
//! Only one compute unit is replayed, but its loads hit in L2 because others have loaded the same lines. So the
//! accesses of all workgroups that start on an empty machine go through the tags of all L1 caches, the L2 of each XCD
//! and the Infinity Cache. In each round, every wave makes its next access. The result is, for each instruction, the
//! share of each source; the replay deals these out evenly. On RDNA 3, the L1 of each shader array is between the vector
//! caches and L2.
//!
//! A line that another wave requested in the same round is on its way and is fetched once. A round takes about as long
//! as fetching a line, and its waves are spread over it, so on average half of the distance is left: an estimate.
//! Caches start cold, except that the Infinity Cache may hold all that the launch accesses.
//!
//! Host threads divide the work, which changes no result: what an L1 cache does follows from its own waves alone, and what
//! happens in a set of L2 or behind it, from the requests of that set's lines. So a few rounds go through all L1 caches,
//! one after the other on each thread, and then through the parts of the sets of all other caches, in the order of
//! rounds and waves.

use std::{collections::HashMap, ops::Range};

use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};

use super::{
    parameters::{L1_WAYS, L2_WAYS, Parameters},
    placement::Placement,
    tags::{Tags, most_parts, part_of},
    trace::{KEPT_ACCESSES, Recorded, Shape, WaveTrace, WorkgroupTrace},
};
use ferrowave_emulator::{dispatch::on_all_threads, exec::FactsTable};
use ferrowave_isa::{Category, Effect};

/// The source of a line that is not in L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The L1 of the shader array.
    Array,
    /// The L1 of the shader array, which has requested it from L2.
    ArrayFromL2,
    /// The L1 of the shader array, which has requested it from the Infinity Cache.
    ArrayFromInfinity,
    /// The L1 of the shader array, which has requested it from memory.
    ArrayFromMemory,
    /// L2.
    L2,
    /// L2, which has requested it from the Infinity Cache.
    L2FromInfinity,
    /// L2, which has requested it from memory.
    L2FromMemory,
    /// The Infinity Cache.
    Infinity,
    /// The Infinity Cache, which has requested it from memory.
    InfinityFromMemory,
    /// Memory.
    Memory,
}

impl Source {
    const ALL: [Source; 10] = [
        Source::Array,
        Source::ArrayFromL2,
        Source::ArrayFromInfinity,
        Source::ArrayFromMemory,
        Source::L2,
        Source::L2FromInfinity,
        Source::L2FromMemory,
        Source::Infinity,
        Source::InfinityFromMemory,
        Source::Memory,
    ];

    /// Whether L2 must supply the line, or what is behind it.
    pub(super) const fn is_behind_array(self) -> bool {
        !matches!(
            self,
            Source::Array
                | Source::ArrayFromL2
                | Source::ArrayFromInfinity
                | Source::ArrayFromMemory
        )
    }

    /// The source of a line that is on its way from this one to the L1 of the shader array.
    const fn through_array(self) -> Self {
        match self {
            Source::Infinity | Source::L2FromInfinity => Source::ArrayFromInfinity,
            Source::Memory | Source::InfinityFromMemory | Source::L2FromMemory => {
                Source::ArrayFromMemory
            }
            _ => Source::ArrayFromL2,
        }
    }

    /// Whether the Infinity Cache (or memory, if there is none) must supply the line.
    pub(super) const fn is_behind_l2(self) -> bool {
        matches!(
            self,
            Source::Infinity | Source::InfinityFromMemory | Source::Memory
        )
    }
}

/// The sources of an instruction's requests to L2.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shares {
    /// Number of requests by source.
    given: [u64; Source::ALL.len()],
    /// Number of requests dealt out by the replay.
    dealt: u64,
}

impl Shares {
    fn count(&mut self, source: Source) {
        self.given[source as usize] += 1;
    }

    /// The share of the requests with some sources.
    fn share_of(&self, is_counted: fn(Source) -> bool) -> f64 {
        let sources = Source::ALL.into_iter().zip(self.given);
        let counted = sources.filter(|&(source, _)| is_counted(source));
        let counted: u64 = counted.map(|(_, given)| given).sum();
        counted as f64 / self.given.iter().sum::<u64>().max(1) as f64
    }

    fn add(&mut self, others: &Shares) {
        for (sum, given) in self.given.iter_mut().zip(others.given) {
            *sum += given;
        }
    }

    /// The source of the next request. Multiples of the golden ratio are spread evenly, for any number of requests.
    pub(super) fn deal(&mut self) -> Source {
        let total: u64 = self.given.iter().sum();
        self.dealt += 1;
        let spread = self.dealt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut place = ((u128::from(spread) * u128::from(total)) >> 64) as u64;
        for source in Source::ALL {
            let count = self.given[source as usize];
            if place < count {
                return source;
            }
            place -= count;
        }
        // The instruction has no recorded request.
        Source::L2
    }
}

/// The lines that a compute unit gets from what all have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Supplied {
    /// From L2, also those that L2 has to request.
    pub(super) by_l2: f64,
    /// From the Infinity Cache and memory.
    pub(super) behind_l2: f64,
}

/// Where the lines of the workgroups that start at once are found.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// By index of the instruction in the code.
    pub(super) shares: HashMap<u32, Shares>,
    /// What each compute unit of each XCD gets, if an instruction's lines have the same sources in all, as in the replay.
    pub(super) supplied: Vec<Vec<Supplied>>,
}

/// How many lines' tags are prefetched at once.
const FETCHED: usize = 16;

/// Rounds whose requests are kept between the L1 caches and L2. A wave has at most as many lines in each as lanes.
const ROUNDS: usize = 8;

/// The most parts of the sets of L2 and of what is behind it.
const MOST_PARTS: usize = 16;

/// The sources of each instruction's lines.
pub(super) fn sources(
    recorded: &Recorded,
    facts: FactsTable<'_>,
    placement: &Placement,
    in_one_compute_unit: bool,
    infinity_holds_all: bool,
    parameters: &Parameters,
) -> Sources {
    let waves = at_once(recorded, placement).flat_map(|workgroup| &workgroup.waves);
    let instructions = Instructions::new(waves, facts);
    let mut xcds = units(recorded, placement, in_one_compute_unit, parameters);
    Caches::new(placement, parameters, instructions, infinity_holds_all)
        .sources(&mut xcds, &recorded.shapes)
}

/// The workgroups that start on an empty machine.
fn at_once<'a>(
    recorded: &'a Recorded,
    placement: &Placement,
) -> impl Iterator<Item = &'a WorkgroupTrace> {
    let at_once = placement.at_once();
    let workgroups = recorded.workgroups.iter();
    workgroups.filter(move |workgroup| at_once.contains(&workgroup.number))
}

/// The units of each XCD, with the waves that start at once.
fn units<'a>(
    recorded: &'a Recorded,
    placement: &Placement,
    in_one_compute_unit: bool,
    parameters: &Parameters,
) -> Vec<Vec<Unit<'a>>> {
    let (compute_units, simds) = (parameters.pipeline.compute_units, parameters.simds());
    let units = || (0..placement.units()).map(|_| Unit::new(parameters));
    let mut xcds: Vec<Vec<Unit<'_>>> = (0..placement.xcds()).map(|_| units().collect()).collect();
    let mut order = 0;
    for workgroup in at_once(recorded, placement) {
        let (xcd, unit) = placement.of(workgroup.number);
        let turn = placement.turn_of(workgroup.number) as usize;
        let waves = workgroup.waves.iter().enumerate().map(|(number, trace)| {
            // Waves go round the SIMDs, of which each compute unit has as many.
            let l1 = match in_one_compute_unit {
                true => turn % compute_units,
                false => number % simds * compute_units / simds,
            };
            Wave {
                order: order + number as u32,
                l1,
                trace,
            }
        });
        let unit = &mut xcds[xcd as usize][unit as usize];
        unit.turns.resize_with(turn + 1, Vec::new);
        unit.turns[turn] = waves.collect();
        order += workgroup.waves.len() as u32;
    }
    xcds
}

/// The memory instructions of the traced code.
struct Instructions {
    /// The index of the first.
    first: u32,
    /// For each instruction from `first` on: its slot, if it accesses memory. There are counts for each slot in each part of
    /// the sets, so that the many other instructions have none.
    slots: Vec<Option<u32>>,
    /// By slot.
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy)]
struct Kind {
    is_load: bool,
    is_scalar: bool,
}

impl Instructions {
    fn new<'a>(waves: impl Iterator<Item = &'a WaveTrace>, facts: FactsTable<'_>) -> Self {
        let mut is_used: Vec<bool> = Vec::new();
        for access in waves.flat_map(|wave| &wave.accesses) {
            let index = access.index as usize;
            if index >= is_used.len() {
                is_used.resize(index + 1, false);
            }
            is_used[index] = true;
        }
        let first = is_used.iter().position(|&is_used| is_used).unwrap_or(0);
        let mut kinds = Vec::new();
        let slots = (first as u32..).zip(&is_used[first..]);
        let slots = slots.map(|(index, is_used)| {
            let facts = is_used.then(|| facts.get(index))??.as_ref()?;
            kinds.push(Kind {
                is_load: facts.effect == Effect::Load,
                is_scalar: facts.category == Category::ScalarMemory,
            });
            Some(kinds.len() as u32 - 1)
        });
        Instructions {
            first: first as u32,
            slots: slots.collect(),
            kinds,
        }
    }
}

/// A wave on a compute unit.
#[derive(Clone, Copy)]
struct Wave<'a> {
    /// Its position among all waves of the machine.
    order: u32,
    /// Its vector cache.
    l1: usize,
    trace: &'a WaveTrace,
}

/// A request for a line that L1 passes on.
#[derive(Clone, Copy)]
struct Request {
    line: u64,
    /// The slot of the instruction.
    slot: u32,
    /// The order of the wave.
    order: u32,
}

/// A compute unit, or a workgroup processor, with its waves and vector caches. Independent of all others.
struct Unit<'a> {
    /// The vector caches, one for each compute unit.
    l1: Vec<Tags<()>>,
    /// The waves of each of its workgroups, in order of the workgroups' numbers.
    turns: Vec<Vec<Wave<'a>>>,
    /// For each part of the sets behind L1, what is passed on to it in the current rounds.
    passed: Vec<Passed>,
    /// By slot of the instruction, the requests that L1 passed on in all rounds.
    requests: Vec<u64>,
}

/// The requests of some rounds for a part, by round and workgroup.
#[derive(Clone, Default)]
struct Passed {
    requests: Vec<Request>,
    /// After each workgroup of each round: the number of requests until then.
    ends: Vec<u32>,
}

impl Passed {
    /// The requests of a workgroup in a round, which is its place among all.
    fn of(&self, place: usize) -> &[Request] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.requests[start as usize..self.ends[place] as usize]
    }
}

impl Unit<'_> {
    fn new(parameters: &Parameters) -> Self {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        let lines = u64::from(parameters.hardware.l1_bytes) / line;
        let l1 = (0..parameters.pipeline.compute_units).map(|_| Tags::by_low_bits(lines, L1_WAYS));
        Unit {
            l1: l1.collect(),
            turns: Vec::new(),
            passed: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// In each round, every wave makes its next access.
    fn run(
        &mut self,
        rounds: Range<usize>,
        parts: usize,
        instructions: &Instructions,
        shapes: &[Shape],
    ) {
        self.passed.resize_with(parts, Passed::default);
        self.requests.resize(instructions.kinds.len(), 0);
        for passed in &mut self.passed {
            passed.requests.clear();
            passed.ends.clear();
        }
        for round in rounds {
            for waves in &self.turns {
                for wave in waves {
                    let Some(access) = wave.trace.accesses.get(round) else {
                        continue;
                    };
                    let slot = instructions.slots[(access.index - instructions.first) as usize];
                    let (Some(shape), Some(slot)) = (shapes.get(access.shape as usize), slot)
                    else {
                        continue;
                    };
                    let kind = instructions.kinds[slot as usize];
                    let l1 = &mut self.l1[wave.l1];
                    for line in &shape.lines {
                        let line = line.wrapping_add(access.base);
                        let is_passed = match (kind.is_load, kind.is_scalar) {
                            (true, true) => true,
                            (true, false) => !is_in(l1, line),
                            (false, _) => {
                                store(l1, line, shape.is_whole);
                                true
                            }
                        };
                        if is_passed {
                            self.requests[slot as usize] += 1;
                            let order = wave.order;
                            let request = Request { line, slot, order };
                            self.passed[part_of(line, parts)].requests.push(request);
                        }
                    }
                }
                for passed in &mut self.passed {
                    passed.ends.push(passed.requests.len() as u32);
                }
            }
        }
    }
}

/// Whether the line is in L1. Inserts it if not.
fn is_in(l1: &mut Tags<()>, line: u64) -> bool {
    let hit = l1.find(line).is_some();
    if !hit {
        l1.insert(line, ());
    }
    hit
}

/// L1 keeps lines that are written as a whole.
fn store(l1: &mut Tags<()>, line: u64, is_whole: bool) {
    match is_whole {
        true => {
            is_in(l1, line);
        }
        false => l1.remove(line),
    }
}

/// All caches behind L1, in parts.
struct Caches {
    instructions: Instructions,
    parts: Vec<Part>,
}

/// A part of the sets of all caches behind L1. Independent of all others.
struct Part {
    xcds: Vec<Xcd>,
    memory: Memory,
}

impl Caches {
    fn new(
        placement: &Placement,
        parameters: &Parameters,
        instructions: Instructions,
        infinity_holds_all: bool,
    ) -> Self {
        let parts = Part::most(parameters).min(MOST_PARTS);
        let mut caches = Self::in_parts(placement, parameters, instructions, parts);
        for part in &mut caches.parts {
            part.memory.infinity_holds_all = infinity_holds_all;
        }
        caches
    }

    fn in_parts(
        placement: &Placement,
        parameters: &Parameters,
        instructions: Instructions,
        parts: usize,
    ) -> Self {
        let xcd = || Xcd::new(placement, parameters, instructions.kinds.len(), parts);
        let part = || Part {
            xcds: (0..placement.xcds()).map(|_| xcd()).collect(),
            memory: Memory::new(parameters, parts),
        };
        Caches {
            parts: (0..parts).map(|_| part()).collect(),
            instructions,
        }
    }

    /// Where the lines of all waves were found.
    fn sources(mut self, xcds: &mut [Vec<Unit<'_>>], shapes: &[Shape]) -> Sources {
        let waves = xcds.iter().flatten().flat_map(|unit| &unit.turns).flatten();
        let rounds = waves.map(|wave| wave.trace.accesses.len()).max();
        let rounds = rounds.unwrap_or(0).min(KEPT_ACCESSES);
        let (parts, instructions) = (self.parts.len(), &self.instructions);
        let all_parts = &mut self.parts;
        on_all_threads(|| {
            for first in (0..rounds).step_by(ROUNDS) {
                let some = first..rounds.min(first + ROUNDS);
                xcds.par_iter_mut()
                    .flatten()
                    .for_each(|unit| unit.run(some.clone(), parts, instructions, shapes));
                all_parts
                    .par_iter_mut()
                    .enumerate()
                    .for_each(|(number, part)| part.run(number, some.clone(), xcds, instructions));
            }
        });
        let mut by_slot = vec![Shares::default(); self.instructions.kinds.len()];
        for xcd in self.parts.iter().flat_map(|part| &part.xcds) {
            for (all, shares) in by_slot.iter_mut().zip(&xcd.shares) {
                all.add(shares);
            }
        }
        let shares = (self.instructions.first..).zip(&self.instructions.slots);
        let shares = shares.filter_map(|(index, slot)| Some((index, by_slot[(*slot)? as usize])));
        let supplied = |unit: &Unit<'_>| {
            let of_all = |is_counted| {
                let requests = unit.requests.iter().zip(&by_slot);
                requests
                    .map(|(&requests, shares)| requests as f64 * shares.share_of(is_counted))
                    .sum()
            };
            Supplied {
                by_l2: of_all(Source::is_behind_array),
                behind_l2: of_all(Source::is_behind_l2),
            }
        };
        Sources {
            shares: shares.collect(),
            supplied: xcds
                .iter()
                .map(|units| units.iter().map(supplied).collect())
                .collect(),
        }
    }
}

impl Part {
    /// The most parts that the sets of all caches of a machine can be divided into.
    fn most(parameters: &Parameters) -> usize {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        let hardware = parameters.hardware;
        let array = parameters.pipeline.array_cache;
        let caches = [
            Some(u64::from(hardware.l2_bytes)),
            Some(hardware.infinity_bytes).filter(|&bytes| bytes > 0),
            array.map(|array| u64::from(array.bytes)),
        ];
        let parts = caches.into_iter().flatten();
        let parts = parts.map(|bytes| most_parts(bytes / line, L2_WAYS));
        parts.min().unwrap_or(1)
    }

    /// Takes the requests of some rounds, in the order of rounds and waves.
    fn run(
        &mut self,
        number: usize,
        rounds: Range<usize>,
        xcds: &[Vec<Unit<'_>>],
        instructions: &Instructions,
    ) {
        for (place, round) in rounds.enumerate() {
            for (xcd, units) in self.xcds.iter_mut().zip(xcds) {
                let turns = units.iter().map(|unit| unit.turns.len()).max().unwrap_or(0);
                for turn in 0..turns {
                    for (unit, of_unit) in units.iter().enumerate() {
                        if turn < of_unit.turns.len() {
                            let place = place * of_unit.turns.len() + turn;
                            let requests = of_unit.passed[number].of(place);
                            xcd.answer(round as u32, unit, requests, instructions);
                        }
                    }
                }
            }
            self.memory.answer(round, &mut self.xcds);
        }
    }
}

/// A line in the L1 of a shader array.
#[derive(Clone, Copy, Default)]
struct InArray {
    /// The round of the request that loaded it.
    round: u32,
    /// The number of L2's request in that round; `None` if L2 had it.
    number: Option<u32>,
}

/// A line in L2.
#[derive(Clone, Copy, Default)]
struct Held {
    /// The round of the request that loaded it, and the number of the request in that round; `None` if it was written
    /// first.
    asked: Option<(u32, u32)>,
    is_dirty: bool,
}

/// L2 of an XCD and the caches between it and the vector caches, or a part of their sets.
struct Xcd {
    /// The L1 of each shader array. Neighbouring units are in different ones, as workgroups go round them.
    arrays: Vec<Tags<InArray>>,
    l2: Tags<Held>,
    /// By slot of the instruction.
    shares: Vec<Shares>,
    /// The requests of this round to the Infinity Cache or memory, in the order of waves.
    requests: Vec<Request>,
    /// Loads of this round that found their line on its way: the number of the request, the instruction's slot, and
    /// whether it is on its way to the L1 of their shader array.
    waiting: Vec<(u32, u32, bool)>,
}

impl Xcd {
    fn new(
        placement: &Placement,
        parameters: &Parameters,
        instructions: usize,
        parts: usize,
    ) -> Self {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        let tags = u64::from(parameters.hardware.l2_bytes) / line;
        Xcd {
            arrays: match parameters.pipeline.array_cache {
                Some(array) => {
                    let count = placement.units().div_ceil(array.processors);
                    let lines = u64::from(array.bytes) / line;
                    (0..count)
                        .map(|_| Tags::part(lines, L2_WAYS, parts))
                        .collect()
                }
                None => Vec::new(),
            },
            l2: Tags::part(tags, L2_WAYS, parts),
            shares: vec![Shares::default(); instructions],
            requests: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Takes the requests of a workgroup on a unit in a round.
    fn answer(
        &mut self,
        round: u32,
        unit: usize,
        requests: &[Request],
        instructions: &Instructions,
    ) {
        for some in requests.chunks(FETCHED) {
            self.l2.fetch(some.iter().map(|request| request.line));
            for &request in some {
                match instructions.kinds[request.slot as usize].is_load {
                    true => self.load(round, unit, request),
                    false => self.store(unit, request),
                }
            }
        }
    }

    fn load(&mut self, round: u32, unit: usize, request: Request) {
        let Request { line, slot, .. } = request;
        let array = self.array_of(unit);
        if let Some(array) = array
            && let Some(&mut held) = self.arrays[array].find(line)
        {
            match held {
                InArray {
                    round: asked,
                    number: Some(number),
                } if asked == round => self.waiting.push((number, slot, true)),
                InArray { round: asked, .. } if asked == round => {
                    self.shares[slot as usize].count(Source::L2.through_array());
                }
                _ => self.shares[slot as usize].count(Source::Array),
            }
            return;
        }
        let number = self.load_from_l2(round, request);
        if let Some(array) = array {
            self.arrays[array].insert(line, InArray { round, number });
        }
    }

    /// Returns the number of L2's request in this round, if it does not have the line.
    fn load_from_l2(&mut self, round: u32, request: Request) -> Option<u32> {
        match self.l2.find(request.line) {
            Some(Held {
                asked: Some((asked, number)),
                ..
            }) if *asked == round => {
                let number = *number;
                self.waiting.push((number, request.slot, false));
                Some(number)
            }
            Some(_) => {
                self.shares[request.slot as usize].count(Source::L2);
                None
            }
            None => {
                let number = self.requests.len() as u32;
                let held = Held {
                    asked: Some((round, number)),
                    is_dirty: false,
                };
                self.l2.insert(request.line, held);
                self.requests.push(request);
                Some(number)
            }
        }
    }

    /// The shader array of a unit, if arrays have a cache.
    const fn array_of(&self, unit: usize) -> Option<usize> {
        unit.checked_rem(self.arrays.len())
    }

    /// L2 keeps written lines and writes each back once: traffic to memory is counted when a clean line becomes dirty.
    fn store(&mut self, unit: usize, request: Request) {
        let Request { line, slot, .. } = request;
        if let Some(array) = self.array_of(unit) {
            self.arrays[array].remove(line);
        }
        let shares = &mut self.shares[slot as usize];
        match self.l2.find(line) {
            Some(held) if held.is_dirty => shares.count(Source::L2),
            Some(held) => {
                held.is_dirty = true;
                shares.count(Source::Memory);
            }
            None => {
                let held = Held {
                    asked: None,
                    is_dirty: true,
                };
                self.l2.insert(line, held);
                shares.count(Source::Memory);
            }
        }
    }
}

/// The Infinity Cache and memory, shared by all XCDs, or a part of the sets.
struct Memory {
    /// For each line, the round in which it was requested.
    infinity: Option<Tags<usize>>,
    /// Whether the Infinity Cache has all lines from the start.
    infinity_holds_all: bool,
}

impl Memory {
    fn new(parameters: &Parameters, parts: usize) -> Self {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        let lines = parameters.hardware.infinity_bytes / line;
        Memory {
            infinity: (lines > 0).then(|| Tags::part(lines, L2_WAYS, parts)),
            infinity_holds_all: false,
        }
    }

    /// Answers the requests of a round in the order of waves, and the loads that wait for the same lines.
    fn answer(&mut self, round: usize, xcds: &mut [Xcd]) {
        let mut all: Vec<_> = (xcds.iter().enumerate())
            .flat_map(|(xcd, Xcd { requests, .. })| {
                let numbers = requests.iter().enumerate();
                numbers.map(move |(number, request)| (request.order, number, xcd))
            })
            .collect();
        // Those of each XCD are already in order.
        all.sort();
        let mut sources: Vec<Vec<Source>> = vec![Vec::new(); xcds.len()];
        for some in all.chunks(FETCHED) {
            let asked = |&(_, number, xcd): &(u32, usize, usize)| xcds[xcd].requests[number].line;
            if let Some(infinity) = &self.infinity {
                infinity.fetch(some.iter().map(asked));
            }
            for &(_, number, xcd) in some {
                let Request { line, slot, .. } = xcds[xcd].requests[number];
                let source = self.load(line, round);
                xcds[xcd].shares[slot as usize].count(source);
                sources[xcd].push(source);
            }
        }
        for (xcd, sources) in xcds.iter_mut().zip(sources) {
            xcd.requests.clear();
            for (number, slot, is_at_array) in xcd.waiting.drain(..) {
                let source = match sources[number as usize] {
                    Source::Infinity => Source::L2FromInfinity,
                    _ => Source::L2FromMemory,
                };
                xcd.shares[slot as usize].count(match is_at_array {
                    true => source.through_array(),
                    false => source,
                });
            }
        }
    }

    fn load(&mut self, line: u64, round: usize) -> Source {
        let Some(infinity) = &mut self.infinity else {
            return Source::Memory;
        };
        if self.infinity_holds_all {
            return Source::Infinity;
        }
        match infinity.find(line) {
            Some(asked) if *asked == round => Source::InfinityFromMemory,
            Some(_) => Source::Infinity,
            None => {
                infinity.insert(line, round);
                Source::Memory
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Access;
    use ferrowave_gpu::Product;

    #[test]
    fn shares_are_dealt_out_evenly() {
        let mut shares = Shares {
            given: [0, 0, 0, 0, 600, 0, 100, 100, 0, 200],
            dealt: 0,
        };
        let mut seen = [0_u64; Source::ALL.len()];
        for _ in 0..1000 {
            seen[shares.deal() as usize] += 1;
        }
        for (seen, expected) in seen.into_iter().zip(shares.given) {
            assert!(seen.abs_diff(expected) <= 5, "{seen} and {expected}");
        }
    }

    #[test]
    fn lines_are_fetched_once_and_waited_for_by_whoever_asks_meanwhile() {
        let parameters = Parameters::of(Product::Mi300x).expect("a row");
        let placement = Placement::new(parameters, 16, 1);
        let mut xcds: Vec<_> = (0..3)
            .map(|_| Xcd::new(&placement, parameters, 1, 1))
            .collect();
        let mut memory = Memory::new(parameters, 1);
        // The sources of one line requested by some XCDs in a round, one wave after the other.
        let mut from = |round, asked: &[usize]| -> Vec<Source> {
            let requests = asked.iter().enumerate();
            for (order, &xcd) in requests {
                xcds[xcd].shares.resize(asked.len(), Shares::default());
                let request = Request {
                    line: 77,
                    slot: order as u32,
                    order: order as u32,
                };
                xcds[xcd].load(round, 0, request);
            }
            memory.answer(round as usize, &mut xcds);
            let shares = asked.iter().enumerate();
            let sources = shares
                .map(|(slot, &xcd)| xcds[xcd].shares[slot].deal())
                .collect();
            xcds.iter_mut().for_each(|xcd| xcd.shares.clear());
            sources
        };
        assert_eq!(
            from(0, &[0, 0, 1, 1]),
            [
                Source::Memory,
                Source::L2FromMemory,
                Source::InfinityFromMemory,
                Source::L2FromMemory
            ]
        );
        assert_eq!(
            from(1, &[2, 2, 0]),
            [Source::Infinity, Source::L2FromInfinity, Source::L2]
        );
    }

    /// A launch with loads, stores and scalar loads of many workgroups, some of whose lines are those of others.
    fn recorded(workgroups: u64) -> Recorded {
        let shape = |lines: &[u64], is_whole| Shape {
            lines: lines.into(),
            busy: 4,
            is_whole,
        };
        let wave = |number: u64, wave: u64| {
            let mut state = 977 * number + wave;
            let accesses = (0..40 + number % 9).map(|round| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let of_all = 64 * (round / 3);
                Access {
                    index: 5 + (state >> 40) as u32 % 6,
                    shape: (state >> 50) as u32 % 4,
                    base: of_all + (state >> 33) % 300,
                }
            });
            WaveTrace {
                accesses: accesses.collect(),
                ..WaveTrace::default()
            }
        };
        Recorded {
            workgroups: (0..workgroups)
                .map(|number| WorkgroupTrace {
                    number,
                    is_whole: false,
                    waves: (0..4).map(|of| wave(number, of)).collect(),
                })
                .collect(),
            shapes: vec![
                shape(&[0], false),
                shape(&[0, 1, 2, 3], true),
                shape(&[0, 17, 512], false),
                shape(&[], false),
            ],
        }
    }

    /// What the waves of the launch find where, with the sets in parts.
    fn found(product: Product, recorded: &Recorded, parts: usize) -> Vec<(u32, [u64; 10])> {
        let mut parameters = *Parameters::of(product).expect("a row");
        // Small caches, so that lines are replaced.
        let mut hardware = *parameters.hardware;
        hardware.l2_bytes = 64 << 10;
        hardware.infinity_bytes = hardware.infinity_bytes.min(256 << 10);
        parameters.hardware = Box::leak(Box::new(hardware));
        let workgroups = recorded.workgroups.len() as u64;
        let placement = Placement::new(&parameters, workgroups, 2);
        let kind = |slot: u32| Kind {
            is_load: slot < 4,
            is_scalar: slot == 3,
        };
        let instructions = Instructions {
            first: 5,
            slots: (0..6).map(|slot| (slot != 5).then_some(slot)).collect(),
            kinds: (0..5).map(kind).collect(),
        };
        let mut xcds = units(recorded, &placement, false, &parameters);
        let caches = Caches::in_parts(&placement, &parameters, instructions, parts);
        let shares = caches.sources(&mut xcds, &recorded.shapes).shares;
        let mut shares: Vec<_> = shares.into_iter().map(|(at, of)| (at, of.given)).collect();
        shares.sort_unstable();
        shares
    }

    #[test]
    fn parts_and_threads_change_no_share() {
        for product in [Product::Mi210, Product::Mi300x, Product::Rx7900Xtx] {
            let recorded = recorded(500);
            let expected = found(product, &recorded, 1);
            let sum = |source: Source| -> u64 {
                let shares = expected.iter();
                shares.map(|(_, given)| given[source as usize]).sum()
            };
            assert!(sum(Source::L2) > 0 && sum(Source::Memory) > 0);
            for (parts, threads) in [(1, 3), (2, 1), (4, 2), (8, 3)] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let pool = pool.expect("threads");
                let shares = pool.install(|| found(product, &recorded, parts));
                assert_eq!(shares, expected, "{product} {parts} {threads}");
            }
        }
    }
}
