//! LDS: bounds, uninitialized bytes, races between waves, accesses in flight at barriers.
//!
//! Hardware drops accesses outside of LDS, and kernels rely on it: Tensile masks lanes by setting their LDS address to
//! 0xf00000 (`LdsOOB`). Addresses distinguish such lanes from bugs: **lanes are masked if their addresses are all the
//! same and lie between 1 MiB and 1 GiB.** No GPU has LDS there (the maximum is 160 KiB). A wrong index past the end
//! gives a lower address or differs between lanes; a negative index or an uninitialized register gives a higher one.
//! All other lanes outside of the workgroup's LDS are findings, even where the hardware allows the access because it
//! allocates LDS in multiples of 512 bytes (1280 on gfx950).
//!
//! Only barriers order the waves of a workgroup. A barrier orders an access only if its wave waited for the access
//! before the barrier. `lgkmcnt` counts LDS operations, which complete in order; `vmcnt` counts loads from memory to
//! LDS with all vector memory operations, also in order. An access that was not waited for is recorded again after the
//! barrier.

use std::{collections::VecDeque, ops::Range};

use super::{
    Access, Example, Findings, Interest, Key, Kind, Side, Single, Step, Watch,
    epoch::{Epoch, Noted},
    lds_shadow::{LdsCells, Now, Race},
    names::{Numbering, bytes_text, uninitialized, verb},
    spans::{Span, behind, lanes_at, spans},
    stamp::{Moment, Stamp},
};
use ferrowave_emulator::exec::{
    Context, Facts, GroupStart, ObservedAccess, OutsideLds, Space, Wave, lanes_of,
};
use ferrowave_emulator::memory::words;
use ferrowave_isa::{Category, Counter, Effect, WaitCounts};

/// The addresses of masked lanes, see above.
const MASKED: Range<u32> = 1 << 20..1 << 30;

/// The maximum LDS of a workgroup on any GPU: 160 KiB.
const MAX_LDS_DWORDS: usize = 160 << 8;

/// The value of an LDS stamp's release field for an access that was in flight at a barrier.
const IN_FLIGHT: u32 = 1;

/// An access that its wave has not waited for.
enum Pending {
    /// Its index in the list of accesses since the last barrier.
    Listed(u32),
    /// An access that is not in that list.
    Apart(Box<Noted>),
}

/// The operations of a wave that are in flight.
#[derive(Default)]
struct InFlight {
    /// LDS operations.
    lds: VecDeque<Option<Pending>>,
    /// Vector memory operations; for those to LDS, the access.
    memory: VecDeque<Option<Pending>>,
}

#[derive(Default)]
pub(super) struct Lds {
    /// The accesses since the last barrier.
    since: Epoch,
    /// The state of each dword; `None` until accesses may race.
    cells: Option<LdsCells>,
    /// Whether accesses are recorded in the cells immediately, because the list since the last barrier was full.
    at_once: bool,
    /// Bytes of LDS of the workgroup.
    lds_bytes: u32,
    /// One bit for each byte that was written.
    written: Vec<u64>,
    waves: Vec<InFlight>,
    numbering: Numbering,
    group: u64,
    epoch: u32,
}

impl Lds {
    fn moment(&self, wave: u32, in_flight: bool) -> Moment {
        Moment {
            group: self.group,
            wave,
            epoch: self.epoch,
            release: if in_flight { IN_FLIGHT } else { 0 },
        }
    }

    /// Notes an access, and returns how to find it again.
    fn note(
        &mut self,
        wave: u32,
        stamp: Stamp,
        (observed, spans): (&ObservedAccess<'_>, &[Span]),
        findings: &mut Findings,
    ) -> Option<Pending> {
        // A single wave is always ordered.
        if self.since.waves() < 2 {
            return None;
        }
        let noted = Noted {
            stamp,
            access: observed.keep(),
        };
        if self.since.is_full() {
            self.go_through(findings);
            self.at_once = true;
        }
        if self.at_once {
            self.record(stamp, observed, spans, findings);
            return Some(Pending::Apart(Box::new(noted)));
        }
        let place = self.since.note(wave, noted, observed.write, spans);
        Some(Pending::Listed(place))
    }

    /// Checks for races since the last barrier.
    pub(super) fn settle(&mut self, findings: &mut Findings) {
        if self.since.may_race() {
            self.go_through(findings);
        }
        self.since.clear();
        self.at_once = false;
    }

    /// Records all accesses since the last barrier in the cells.
    #[cold]
    fn go_through(&mut self, findings: &mut Findings) {
        let since = std::mem::take(&mut self.since);
        for Noted { stamp, access } in since.list() {
            let observed = access.observed();
            let spans: Vec<Span> = behind(observed.base, &spans(observed.shape)).collect();
            self.record(*stamp, &observed, &spans, findings);
        }
        let flights = self.waves.iter_mut();
        let queues = flights.flat_map(|flight| [&mut flight.lds, &mut flight.memory]);
        for pending in queues.flatten().flatten() {
            if let Pending::Listed(place) = *pending
                && let Some(noted) = since.list().get(place as usize)
            {
                *pending = Pending::Apart(Box::new(noted.clone()));
            }
        }
        self.since = since;
        self.since.clear();
    }

    /// Records an access in the cells and reports its races.
    fn record(
        &mut self,
        stamp: Stamp,
        observed: &ObservedAccess<'_>,
        spans: &[Span],
        findings: &mut Findings,
    ) {
        let cells = self
            .cells
            .get_or_insert_with(|| LdsCells::new(MAX_LDS_DWORDS));
        let now = Now {
            stamp,
            epoch: self.epoch,
        };
        let mut found: Option<(Race, u64)> = None;
        for &span in spans {
            cells.record(now, span, observed.write, &mut |race| {
                let (first, lanes) = found.get_or_insert((race, 0));
                if first.other.access() == race.other.access() {
                    *lanes |= lanes_at(observed, race.bytes.start, race.bytes.end);
                }
            });
        }
        if let Some((race, lanes)) = found {
            self.report(stamp, observed, race, lanes, findings);
        }
    }

    #[cold]
    fn report(
        &self,
        stamp: Stamp,
        observed: &ObservedAccess<'_>,
        race: Race,
        lanes: u64,
        findings: &mut Findings,
    ) {
        let Race { other, wrote, .. } = race;
        let in_flight = [stamp, other].map(|stamp| stamp.release() == Some(IN_FLIGHT));
        let kind = if in_flight.contains(&true) {
            Kind::LdsInFlight
        } else {
            Kind::LdsRace
        };
        let index = self.numbering.index(stamp);
        let other_index = self.numbering.index(other);
        let key = Key {
            kind,
            index: index.unwrap_or(u32::MAX),
            other: other_index,
        };
        let what = |write: bool, in_flight: bool| {
            let text = format!("{} {}", verb(write), bytes_text(observed.bytes));
            match in_flight {
                true => text + ", not waited for before the barrier",
                false => text,
            }
        };
        findings.add(key, |workgroup| Example {
            side: Side {
                index: key.index,
                workgroup,
                wave: stamp.wave(),
                lanes,
                what: what(observed.write, in_flight[0]),
            },
            access: Some(Access::Lds {
                offset: race.bytes.start,
                bytes: observed.bytes,
            }),
            other: Some(Side {
                index: other_index.unwrap_or(u32::MAX),
                workgroup,
                wave: other.wave(),
                lanes: 0,
                what: match in_flight[1] {
                    true => format!("{} it, not waited for before the barrier", verb(wrote)),
                    false => format!("{} it with no barrier between", verb(wrote)),
                },
            }),
        });
    }

    /// Reports lanes outside of LDS. `lanes` gives lanes and addresses.
    #[cold]
    fn outside(
        &self,
        step: &Step<'_>,
        wave: u32,
        (write, bytes): (bool, u32),
        lanes: impl Iterator<Item = (usize, u64)>,
        findings: &mut Findings,
    ) {
        let mut first = None;
        let lanes = lanes.fold(0_u64, |lanes, (lane, address)| {
            first.get_or_insert(address);
            lanes | 1 << lane
        });
        let Some(offset) = first else {
            return;
        };
        let what = format!(
            "{} {}, but the workgroup has {} bytes of LDS",
            verb(write),
            bytes_text(bytes),
            self.lds_bytes
        );
        let access = Some(Access::Lds { offset, bytes });
        add_outside(step, wave, lanes, what, access, findings);
    }

    /// Reports reads of uninitialized bytes.
    fn read(
        &self,
        step: &Step<'_>,
        wave: u32,
        (observed, spans): (&ObservedAccess<'_>, &[Span]),
        findings: &mut Findings,
    ) {
        let missing = |span: &Span| self.first_missing(span.start, span.end);
        if let Some(offset) = spans.iter().find_map(missing) {
            let lanes = observed
                .iter()
                .filter(|(_, start)| {
                    let end = start + u64::from(observed.bytes);
                    self.first_missing(*start, end).is_some()
                })
                .fold(0, |lanes, (lane, _)| lanes | 1 << lane);
            let single = Single {
                kind: Kind::UninitializedLds,
                index: step.index,
                wave,
                lanes,
                access: Some(Access::Lds { offset, bytes: 1 }),
            };
            findings.add_single(single, || uninitialized(observed.bytes));
        }
    }

    fn write(&mut self, spans: &[Span]) {
        for span in spans {
            for (word, mask) in words(span.start, span.end) {
                if let Some(written) = self.written.get_mut(word) {
                    *written |= mask;
                }
            }
        }
    }

    /// The first uninitialized byte.
    fn first_missing(&self, start: u64, end: u64) -> Option<u64> {
        words(start, end).find_map(|(word, mask)| {
            let missing = !self.written.get(word)? & mask;
            (missing != 0).then(|| 64 * word as u64 + u64::from(missing.trailing_zeros()))
        })
    }
}

/// The lanes outside of LDS that are not masked, and their addresses.
fn mistakes(outside: &OutsideLds) -> impl Iterator<Item = (usize, u64)> {
    let lanes = || lanes_of(outside.lanes);
    let address = |lane: usize| outside.addresses[lane];
    let mut far = lanes()
        .map(address)
        .filter(|address| MASKED.contains(address));
    let first = far.next();
    let masked = first.filter(|first| far.all(|address| address == *first));
    lanes()
        .filter(move |&lane| Some(address(lane)) != masked)
        .map(move |lane| (lane, address(lane).into()))
}

fn add_outside(
    step: &Step<'_>,
    wave: u32,
    lanes: u64,
    what: String,
    access: Option<Access>,
    findings: &mut Findings,
) {
    let single = Single {
        kind: Kind::LdsOutOfBounds,
        index: step.index,
        wave,
        lanes,
        access,
    };
    findings.add_single(single, || what);
}

impl Watch for Lds {
    fn interest(&self, facts: &Facts) -> Interest {
        Interest {
            before: false,
            after: matches!(
                facts.category,
                Category::Lds | Category::VectorMemory | Category::Wait
            ),
        }
    }

    fn begin(&mut self, group: &GroupStart<'_>, _: &mut Findings) {
        // Stamps contain the workgroup's number modulo 2²¹ - 1, so old cells could be mistaken for this workgroup's.
        let generations = [self.group, group.number].map(|number| number >> 20);
        if generations[0] != generations[1] {
            self.cells = None;
        }
        (self.group, self.epoch) = (group.number, 0);
        self.lds_bytes = group.lds_bytes;
        self.since.begin(group.waves.len(), group.lds_bytes);
        self.at_once = false;
        self.numbering = Numbering::of(group);
        self.written.clear();
        self.written
            .resize((group.lds_bytes as usize).div_ceil(64) + 1, 0);
        self.waves.clear();
        self.waves.resize_with(group.waves.len(), InFlight::default);
    }

    fn before(&mut self, _: &Step<'_>, _: &Wave, _: &Context<'_>, _: &mut Findings) {}

    fn after(
        &mut self,
        step: &Step<'_>,
        wave: &mut Wave,
        context: &mut Context<'_>,
        findings: &mut Findings,
    ) {
        let facts = step.facts;
        match facts.category {
            Category::Lds | Category::VectorMemory => {}
            Category::Wait => {
                let counts = WaitCounts::of(context.code.instruction(step.index));
                let flight = &mut self.waves[wave.index as usize];
                WaitCounts::keep_newest(&mut flight.lds, counts.lds_left());
                WaitCounts::keep_newest(&mut flight.memory, counts.left(Counter::Vm));
                return;
            }
            _ => return,
        }
        let to_lds = facts.to_lds;
        let atomic = facts.effect == Effect::Atomic;
        let stamp = Stamp::new(
            self.moment(wave.index, false),
            self.numbering.code(step.index),
            atomic || facts.expected,
        );
        if facts.global_share {
            let what = "accesses global data share (GDS), which HIP does not allocate to kernels";
            add_outside(step, wave.index, wave.active(), what.into(), None, findings);
        }
        for outside in context.outside_lds() {
            let how = (outside.write, outside.bytes);
            self.outside(step, wave.index, how, mistakes(outside), findings);
        }
        let mut kept = None;
        for (observed, spans) in step.accesses(context, Space::Lds) {
            let lds_bytes = u64::from(self.lds_bytes);
            if spans.last().is_some_and(|span| span.end > lds_bytes) {
                let bytes = u64::from(observed.bytes);
                let lanes = observed
                    .iter()
                    .filter(|(_, start)| start + bytes > lds_bytes);
                self.outside(
                    step,
                    wave.index,
                    (observed.write, observed.bytes),
                    lanes,
                    findings,
                );
            }
            if !observed.write || atomic {
                self.read(step, wave.index, (&observed, spans), findings);
            }
            if observed.write {
                self.write(spans);
            }
            kept = self.note(wave.index, stamp, (&observed, spans), findings);
        }
        if self.since.waves() < 2 {
            return;
        }
        let flight = &mut self.waves[wave.index as usize];
        if facts.category == Category::Lds {
            flight.lds.push_back(kept);
        } else {
            if kept.is_some() && !to_lds {
                // A flat access to LDS counts in both.
                flight.lds.push_back(kept.take());
            }
            flight.memory.push_back(kept);
        }
    }

    fn barrier(
        &mut self,
        _: &mut [Wave],
        waiting: &[bool],
        _: &mut Context<'_>,
        findings: &mut Findings,
    ) {
        // Accesses in flight are recorded again after the barrier.
        let mut again: Vec<(usize, bool, usize, Noted)> = Vec::new();
        for (wave, flight) in self.waves.iter_mut().enumerate() {
            if !waiting.get(wave).is_some_and(|waits| *waits) {
                // The wave has ended.
                *flight = InFlight::default();
            }
            for (in_memory, queue) in [(false, &flight.lds), (true, &flight.memory)] {
                for (place, pending) in queue.iter().enumerate() {
                    let noted = match pending {
                        None => continue,
                        Some(Pending::Apart(noted)) => Some(&**noted),
                        Some(Pending::Listed(listed)) => self.since.list().get(*listed as usize),
                    };
                    if let Some(noted) = noted {
                        again.push((wave, in_memory, place, noted.clone()));
                    }
                }
            }
        }
        self.settle(findings);
        self.epoch += 1;
        for (wave, in_memory, place, Noted { stamp, access }) in again {
            let code = stamp.instruction().unwrap_or(u32::MAX);
            let moment = self.moment(wave as u32, true);
            let stamp = Stamp::new(moment, code, stamp.is_atomic());
            let observed = access.observed();
            let spans: Vec<Span> = behind(observed.base, &spans(observed.shape)).collect();
            let pending = self.note(wave as u32, stamp, (&observed, &spans), findings);
            let flight = &mut self.waves[wave];
            let queue = match in_memory {
                true => &mut flight.memory,
                false => &mut flight.lds,
            };
            if let Some(kept) = queue.get_mut(place) {
                *kept = pending;
            }
        }
    }

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, findings: &mut Findings) {
        self.settle(findings);
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    const WAVES: u32 = 3;

    /// The races found in random accesses, with their counts, through the list or directly in the cells. Single-byte
    /// accesses do not cross barriers, because a cell may forget a read beside one of more bytes.
    fn found(seed: u64, at_once: bool) -> Vec<(Key, Example, u64)> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut lds = Lds::default();
        lds.since.begin(WAVES as usize, 4096);
        lds.at_once = at_once;
        let mut findings = Findings::default();
        let is_whole = random.random();
        for index in 0..random.random_range(100..9000) {
            if is_whole && random.random_ratio(1, 50) {
                lds.settle(&mut findings);
                lds.epoch += 1;
                lds.at_once = at_once;
            }
            let (wave, bytes) = match is_whole {
                true => (
                    random.random_range(0..WAVES),
                    4 << random.random_range(0..3),
                ),
                false => (
                    random.random_range(0..WAVES),
                    1 << random.random_range(0..3),
                ),
            };
            // Waves mostly access their own part.
            let first = match random.random_ratio(1, 40) {
                true => random.random_range(0..900) / 4 * 4,
                false => 1024 * u64::from(wave) + 4 * random.random_range(0..20),
            };
            let stride = u64::from(bytes) * random.random_range(1..3);
            let write = random.random_ratio(1, 5);
            let observed = ObservedAccess::of(
                Space::Lds,
                write,
                bytes,
                random.random::<u64>() >> 50,
                |lane| first + stride * lane,
            );
            let stamp = Stamp::new(
                lds.moment(wave, random.random_ratio(1, 30)),
                index % 40,
                write && random.random_ratio(1, 6),
            );
            let spans: Vec<Span> = behind(observed.base, &spans(observed.shape)).collect();
            lds.note(wave, stamp, (&observed, &spans), &mut findings);
        }
        lds.settle(&mut findings);
        let sorted = findings.sorted().into_iter();
        sorted
            .map(|(key, example, count)| (key, example.clone(), count))
            .collect()
    }

    #[test]
    fn accesses_that_are_written_down_race_as_those_that_are_not() {
        let (mut races, mut none) = (0, 0);
        for seed in 0..60 {
            let written = found(seed, false);
            assert_eq!(written, found(seed, true), "{seed}");
            races += written.len();
            none += usize::from(written.is_empty());
        }
        assert!(races > 1000 && none < 30, "{races} {none}");
    }

    #[test]
    fn a_wave_alone_does_not_race() {
        let mut lds = Lds::default();
        lds.since.begin(1, 4096);
        let mut findings = Findings::default();
        for index in 0..10_000 {
            let observed = ObservedAccess::of(Space::Lds, true, 4, !0, |_| 16);
            let stamp = Stamp::new(lds.moment(0, false), index, false);
            let spans = [Span { start: 16, end: 20 }];
            lds.note(0, stamp, (&observed, &spans), &mut findings);
        }
        assert!(lds.since.list().is_empty() && findings.sorted().is_empty());
    }
}
