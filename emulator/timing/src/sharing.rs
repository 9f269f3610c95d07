//! Where loads find their lines: L2, the Infinity Cache or memory, as all compute units share them.
//!
//! One compute unit is replayed, but its loads hit in L2 because others have loaded the same lines. So the accesses of all
//! workgroups that are on the machine at the beginning go through tags of all L1 caches, the L2 of each XCD and the
//! Infinity Cache: in rounds, in each of which every wave does its next access. What came of an instruction's accesses
//! then are shares, which the replay deals out evenly.
//!
//! A line that another wave has asked for in the same round is on its way, and is fetched once. A round takes about as long as
//! the line does, and the waves of a round are spread over it, so that half of the way is still to come: an estimate.
//! Caches are cold at the beginning.

use std::collections::HashMap;

use super::{
    parameters::{L1_WAYS, L2_WAYS, Parameters},
    placement::Placement,
    tags::Tags,
    trace::Recorded,
};
use ferrowave_emulator::exec::FactsTable;
use ferrowave_isa::{Category, Effect};

/// Where a line that is not in L1 comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// L2.
    L2,
    /// L2, which is about to have it from the Infinity Cache.
    L2FromInfinity,
    /// L2, which is about to have it from memory.
    L2FromMemory,
    /// The Infinity Cache.
    Infinity,
    /// The Infinity Cache, which is about to have it from memory.
    InfinityFromMemory,
    /// Memory.
    Memory,
}

impl Source {
    const ALL: [Source; 6] = [
        Source::L2,
        Source::L2FromInfinity,
        Source::L2FromMemory,
        Source::Infinity,
        Source::InfinityFromMemory,
        Source::Memory,
    ];

    /// Whether the Infinity Cache, or memory where there is none, has to give the line.
    pub(super) const fn is_behind_l2(self) -> bool {
        matches!(
            self,
            Source::Infinity | Source::InfinityFromMemory | Source::Memory
        )
    }
}

/// What the requests of an instruction to L2 came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shares {
    /// Lines by source.
    given: [u64; Source::ALL.len()],
    /// Requests dealt out by the replay.
    dealt: u64,
}

impl Shares {
    fn count(&mut self, source: Source) {
        self.given[source as usize] += 1;
    }

    /// The next request's share: the golden ratio's multiples are spread evenly, in any number of them.
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
        // It was not seen before: in what was left out of the shares.
        Source::L2
    }
}

/// A line in L2 or the Infinity Cache.
#[derive(Clone, Copy)]
struct Held {
    /// The round in which it was asked for.
    round: usize,
    /// From where, if it was loaded.
    from: Source,
    is_dirty: bool,
}

/// The shares of each instruction, by index in the code.
pub(super) fn shares(
    recorded: &Recorded,
    facts: FactsTable<'_>,
    placement: &Placement,
    parameters: &Parameters,
) -> HashMap<u32, Shares> {
    let mut caches = Caches::new(placement, parameters);
    let mut shares: HashMap<u32, Shares> = HashMap::new();
    let at_once = placement.at_once();
    let waves: Vec<_> = recorded
        .workgroups
        .iter()
        .filter(|workgroup| at_once.contains(&workgroup.number))
        .flat_map(|workgroup| {
            let place = placement.of(workgroup.number);
            workgroup.waves.iter().map(move |wave| (place, wave))
        })
        .collect();
    let longest = waves.iter().map(|(_, wave)| wave.accesses.len()).max();
    let rounds = longest.unwrap_or(0).min(super::trace::KEPT_ACCESSES);
    for round in 0..rounds {
        for ((xcd, unit), wave) in &waves {
            let Some(access) = wave.accesses.get(round) else {
                continue;
            };
            let (Some(shape), Some(Some(facts))) = (
                recorded.shapes.get(access.shape as usize),
                facts.get(access.index),
            ) else {
                continue;
            };
            let shares = shares.entry(access.index).or_default();
            let is_scalar = facts.category == Category::ScalarMemory;
            for line in shape
                .lines
                .iter()
                .map(|line| line.wrapping_add(access.base))
            {
                if facts.effect == Effect::Load {
                    if is_scalar || !caches.in_l1((*xcd, *unit), line) {
                        caches.load(*xcd, line, round, shares);
                    }
                } else {
                    caches.store((*xcd, *unit), line, shape.is_whole, shares);
                }
            }
        }
    }
    shares
}

/// All caches of the machine.
struct Caches {
    units: u64,
    l1: Vec<Tags<()>>,
    l2: Vec<Tags<Held>>,
    infinity: Option<Tags<usize>>,
}

impl Caches {
    fn new(placement: &Placement, parameters: &Parameters) -> Self {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        let l1 = Tags::by_low_bits(u64::from(parameters.hardware.l1_bytes) / line, L1_WAYS);
        let l2 = Tags::new(u64::from(parameters.hardware.l2_bytes) / line, L2_WAYS);
        Caches {
            units: placement.units(),
            l1: vec![l1; (placement.xcds() * placement.units()) as usize],
            l2: vec![l2; placement.xcds() as usize],
            infinity: (parameters.hardware.infinity_bytes > 0)
                .then(|| Tags::new(parameters.hardware.infinity_bytes / line, L2_WAYS)),
        }
    }

    fn l1(&mut self, (xcd, unit): (u64, u64)) -> &mut Tags<()> {
        &mut self.l1[(xcd * self.units + unit) as usize]
    }

    /// Whether L1 has the line; then or not, it does from now on.
    fn in_l1(&mut self, place: (u64, u64), line: u64) -> bool {
        let l1 = self.l1(place);
        let hit = l1.find(line).is_some();
        if !hit {
            l1.insert(line, ());
        }
        hit
    }

    fn load(&mut self, xcd: u64, line: u64, round: usize, shares: &mut Shares) {
        let l2 = &mut self.l2[xcd as usize];
        if let Some(held) = l2.find(line) {
            shares.count(match held.from {
                _ if held.round != round => Source::L2,
                Source::Infinity => Source::L2FromInfinity,
                Source::InfinityFromMemory | Source::Memory => Source::L2FromMemory,
                _ => Source::L2,
            });
            return;
        }
        let from = match &mut self.infinity {
            None => Source::Memory,
            Some(infinity) => match infinity.find(line) {
                Some(asked) if *asked == round => Source::InfinityFromMemory,
                Some(_) => Source::Infinity,
                None => {
                    infinity.insert(line, round);
                    Source::Memory
                }
            },
        };
        shares.count(from);
        l2.insert(
            line,
            Held {
                round,
                from,
                is_dirty: false,
            },
        );
    }

    /// L2 keeps what is written, and memory gets it some time: once for each line that was clean.
    fn store(&mut self, place: (u64, u64), line: u64, is_whole: bool, shares: &mut Shares) {
        match is_whole {
            // Written lines stay in L1 if they are whole.
            true => {
                self.in_l1(place, line);
            }
            false => self.l1(place).remove(line),
        }
        let l2 = &mut self.l2[place.0 as usize];
        match l2.find(line) {
            Some(held) if held.is_dirty => shares.count(Source::L2),
            Some(held) => {
                held.is_dirty = true;
                shares.count(Source::Memory);
            }
            None => {
                let held = Held {
                    round: usize::MAX,
                    from: Source::L2,
                    is_dirty: true,
                };
                l2.insert(line, held);
                shares.count(Source::Memory);
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
            given: [600, 0, 100, 100, 0, 200],
            dealt: 0,
        };
        let mut seen = [0_u64; 6];
        for _ in 0..1000 {
            seen[shares.deal() as usize] += 1;
        }
        for (seen, expected) in seen.into_iter().zip(shares.given) {
            assert!(seen.abs_diff(expected) <= 5, "{seen} and {expected}");
        }
    }

    #[test]
    fn lines_are_fetched_once_and_waited_for_by_whoever_asks_meanwhile() {
        let parameters = Parameters::of(Product::Mi300x);
        let placement = Placement::new(parameters, 16, 1);
        let mut caches = Caches::new(&placement, parameters);
        let mut from = |xcd, round| {
            let mut shares = Shares::default();
            caches.load(xcd, 77, round, &mut shares);
            shares.deal()
        };
        assert_eq!(from(0, 0), Source::Memory);
        assert_eq!(from(0, 0), Source::L2FromMemory);
        assert_eq!(from(1, 0), Source::InfinityFromMemory);
        assert_eq!(from(1, 0), Source::L2FromMemory);
        assert_eq!(from(2, 1), Source::Infinity);
        assert_eq!(from(2, 1), Source::L2FromInfinity);
        assert_eq!(from(0, 1), Source::L2);
    }
}
