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
//! Caches start cold.

use std::collections::HashMap;

use rayon::iter::{IntoParallelRefMutIterator as _, ParallelIterator as _};

use super::{
    parameters::{L1_WAYS, L2_WAYS, Parameters},
    placement::Placement,
    tags::Tags,
    trace::{Recorded, Shape, WaveTrace},
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

/// How many lines' tags are prefetched at once.
const FETCHED: usize = 16;

/// The shares of each instruction, by index in the code.
pub(super) fn shares(
    recorded: &Recorded,
    facts: FactsTable<'_>,
    placement: &Placement,
    in_one_compute_unit: bool,
    parameters: &Parameters,
) -> HashMap<u32, Shares> {
    let at_once = placement.at_once();
    let workgroups = recorded.workgroups.iter();
    let workgroups = workgroups.filter(|workgroup| at_once.contains(&workgroup.number));
    let instructions = Instructions::new(workgroups.clone().flat_map(|w| &w.waves), facts);
    let xcd = Xcd::new(placement, parameters, instructions.kinds.len());
    let mut xcds = vec![xcd; placement.xcds() as usize];
    let mut rounds = 0;
    let (compute_units, simds) = (parameters.pipeline.compute_units, parameters.simds());
    let waves = workgroups.flat_map(|workgroup| {
        let (xcd, unit) = placement.of(workgroup.number);
        let turn = placement.turn_of(workgroup.number) as usize;
        let waves = workgroup.waves.iter().enumerate();
        waves.map(move |(number, wave)| {
            // Waves go round the SIMDs, of which each compute unit has as many.
            let part = match in_one_compute_unit {
                true => turn % compute_units,
                false => number % simds * compute_units / simds,
            };
            (xcd, unit, unit as usize * compute_units + part, wave)
        })
    });
    for (order, (xcd, unit, l1, trace)) in waves.enumerate() {
        rounds = rounds.max(trace.accesses.len());
        xcds[xcd as usize].waves.push(Wave {
            order,
            unit,
            l1,
            trace,
        });
    }
    let mut memory = Memory::new(parameters);
    on_all_threads(|| {
        for round in 0..rounds.min(super::trace::KEPT_ACCESSES) {
            xcds.par_iter_mut()
                .for_each(|xcd| xcd.round(round, &instructions, &recorded.shapes));
            memory.answer(round, &mut xcds);
        }
    });
    let mut shares: HashMap<u32, Shares> = HashMap::new();
    for (slot, kind) in instructions.kinds.iter().enumerate() {
        if kind.is_some() {
            let all = shares.entry(instructions.first + slot as u32).or_default();
            xcds.iter().for_each(|xcd| all.add(&xcd.shares[slot]));
        }
    }
    shares
}

/// The memory instructions of the traced code.
struct Instructions {
    /// The index of the first.
    first: u32,
    /// For each instruction from `first` on: whether and how it accesses memory.
    kinds: Vec<Option<Kind>>,
}

#[derive(Clone, Copy)]
struct Kind {
    is_load: bool,
    is_scalar: bool,
}

impl Instructions {
    fn new<'a>(waves: impl Iterator<Item = &'a WaveTrace>, facts: FactsTable<'_>) -> Self {
        let mut indices: Vec<u32> = Vec::new();
        for wave in waves {
            indices.extend(wave.accesses.iter().map(|access| access.index));
            indices.sort_unstable();
            indices.dedup();
        }
        let first = indices.first().copied().unwrap_or(0);
        let count = indices.last().map_or(0, |last| last - first + 1);
        let mut kinds = vec![None; count as usize];
        for index in indices {
            if let Some(Some(facts)) = facts.get(index) {
                kinds[(index - first) as usize] = Some(Kind {
                    is_load: facts.effect == Effect::Load,
                    is_scalar: facts.category == Category::ScalarMemory,
                });
            }
        }
        Instructions { first, kinds }
    }
}

/// A wave on a compute unit of an XCD.
#[derive(Clone, Copy)]
struct Wave<'a> {
    /// Its position among all waves of the machine.
    order: usize,
    unit: u64,
    /// Its vector cache.
    l1: usize,
    trace: &'a WaveTrace,
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

/// A request from L2 to the Infinity Cache or memory.
#[derive(Clone, Copy)]
struct Request {
    /// The order of the wave.
    order: usize,
    line: u64,
    slot: usize,
}

/// The waves and caches of an XCD. Independent of other XCDs, so that host threads can process them in parallel.
#[derive(Clone)]
struct Xcd<'a> {
    waves: Vec<Wave<'a>>,
    /// The vector caches, as many for each unit.
    l1: Vec<Tags<()>>,
    /// The L1 of each shader array. Neighbouring units are in different ones, as workgroups go round them.
    arrays: Vec<Tags<InArray>>,
    l2: Tags<Held>,
    /// By slot of the instruction.
    shares: Vec<Shares>,
    /// The requests of this round, in the order of waves.
    requests: Vec<Request>,
    /// Loads of this round that found their line on its way: the number of the request, the instruction's slot, and
    /// whether it is on its way to the L1 of their shader array.
    waiting: Vec<(u32, usize, bool)>,
}

impl Xcd<'_> {
    fn new(placement: &Placement, parameters: &Parameters, instructions: usize) -> Self {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        let l1 = Tags::by_low_bits(u64::from(parameters.hardware.l1_bytes) / line, L1_WAYS);
        let l1_of_unit = parameters.pipeline.compute_units;
        let array = parameters.pipeline.array_cache;
        Xcd {
            waves: Vec::new(),
            l1: vec![l1; placement.units() as usize * l1_of_unit],
            arrays: match array {
                Some(array) => {
                    let count = placement.units().div_ceil(array.processors);
                    let tags = Tags::new(u64::from(array.bytes) / line, L2_WAYS);
                    vec![tags; count as usize]
                }
                None => Vec::new(),
            },
            l2: Tags::new(u64::from(parameters.hardware.l2_bytes) / line, L2_WAYS),
            shares: vec![Shares::default(); instructions],
            requests: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Every wave makes its next access.
    fn round(&mut self, round: usize, instructions: &Instructions, shapes: &[Shape]) {
        for number in 0..self.waves.len() {
            let wave = self.waves[number];
            let Some(access) = wave.trace.accesses.get(round) else {
                continue;
            };
            let slot = (access.index - instructions.first) as usize;
            let (Some(shape), Some(kind)) =
                (shapes.get(access.shape as usize), instructions.kinds[slot])
            else {
                continue;
            };
            let lines = shape
                .lines
                .iter()
                .map(|line| line.wrapping_add(access.base));
            self.l2.fetch(lines.clone());
            for line in lines {
                if !kind.is_load {
                    self.store(wave, line, shape.is_whole, slot);
                } else if kind.is_scalar || !self.in_l1(wave.l1, line) {
                    let order = wave.order;
                    self.load(round, wave.unit, Request { order, line, slot });
                }
            }
        }
    }

    /// Whether the line is in L1. Inserts it if not.
    fn in_l1(&mut self, l1: usize, line: u64) -> bool {
        let l1 = &mut self.l1[l1];
        let hit = l1.find(line).is_some();
        if !hit {
            l1.insert(line, ());
        }
        hit
    }

    fn load(&mut self, round: usize, unit: u64, request: Request) {
        let round = round as u32;
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
                    self.shares[slot].count(Source::L2.through_array());
                }
                _ => self.shares[slot].count(Source::Array),
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
                self.shares[request.slot].count(Source::L2);
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
    fn array_of(&self, unit: u64) -> Option<usize> {
        (unit as usize).checked_rem(self.arrays.len())
    }

    /// L2 keeps written lines and writes each back once: traffic to memory is counted when a clean line becomes dirty.
    fn store(&mut self, wave: Wave<'_>, line: u64, is_whole: bool, slot: usize) {
        match is_whole {
            // L1 keeps lines that are written as a whole.
            true => {
                self.in_l1(wave.l1, line);
            }
            false => self.l1[wave.l1].remove(line),
        }
        if let Some(array) = self.array_of(wave.unit) {
            self.arrays[array].remove(line);
        }
        let shares = &mut self.shares[slot];
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

/// The Infinity Cache and memory, shared by all XCDs.
struct Memory {
    /// For each line, the round in which it was requested.
    infinity: Option<Tags<usize>>,
}

impl Memory {
    fn new(parameters: &Parameters) -> Self {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        Memory {
            infinity: (parameters.hardware.infinity_bytes > 0)
                .then(|| Tags::new(parameters.hardware.infinity_bytes / line, L2_WAYS)),
        }
    }

    /// Answers the requests of a round in the order of waves, and the loads that wait for the same lines.
    fn answer(&mut self, round: usize, xcds: &mut [Xcd<'_>]) {
        let mut all: Vec<_> = (xcds.iter().enumerate())
            .flat_map(|(xcd, Xcd { requests, .. })| {
                let numbers = requests.iter().enumerate();
                numbers.map(move |(number, request)| (request.order, number, xcd))
            })
            .collect();
        all.sort_unstable();
        let mut sources: Vec<Vec<Source>> = vec![Vec::new(); xcds.len()];
        for some in all.chunks(FETCHED) {
            let asked = |&(_, number, xcd): &(_, usize, usize)| xcds[xcd].requests[number].line;
            if let Some(infinity) = &self.infinity {
                infinity.fetch(some.iter().map(asked));
            }
            for &(_, number, xcd) in some {
                let Request { line, slot, .. } = xcds[xcd].requests[number];
                let source = self.load(line, round);
                xcds[xcd].shares[slot].count(source);
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
                xcd.shares[slot].count(match is_at_array {
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
        let mut xcds = vec![Xcd::new(&placement, parameters, 1); 3];
        let mut memory = Memory::new(parameters);
        // The sources of one line requested by some XCDs in a round, one wave after the other.
        let mut from = |round, asked: &[usize]| -> Vec<Source> {
            let requests = asked.iter().enumerate();
            for (order, &xcd) in requests {
                xcds[xcd].shares.resize(asked.len(), Shares::default());
                let slot = order;
                xcds[xcd].load(
                    round,
                    0,
                    Request {
                        order,
                        line: 77,
                        slot,
                    },
                );
            }
            memory.answer(round, &mut xcds);
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
}
