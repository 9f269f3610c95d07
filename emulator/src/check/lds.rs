//! LDS: bytes that nobody wrote, races between waves, accesses in flight at barriers.
//!
//! Waves of a workgroup are ordered by barriers only. An access counts for the barrier behind it only if its wave waited
//! for it before: LDS operations come back in order and are counted by `lgkmcnt`; loads from memory to LDS are counted by
//! `vmcnt` with all vector memory operations, in order. One that was not waited for is noted once more behind the barrier.

use std::collections::VecDeque;

use super::{
    Access, Example, Findings, Interest, Key, Kind, Side, Step, WaitCounts, Watch,
    lds_cells::{LdsCells, Now, Race},
    names::{Numbering, bytes_text, verb},
    spans::{Span, lanes_at},
    stamp::{Moment, Stamp},
};
use crate::{
    exec::{Context, Facts, GroupStart, Space, Touch, Wave},
    isa::{Category, Effect},
    memory::words,
};

/// The most LDS a workgroup can have on any GPU: 160 KiB.
const MAX_LDS_DWORDS: usize = 160 << 8;

/// In LDS stamps the field for releases tells an access that was in flight at a barrier.
const IN_FLIGHT: u32 = 1;

/// An access that was not waited for yet.
struct Pending {
    stamp: Stamp,
    touch: Touch,
    spans: Box<[Span]>,
}

/// What a wave has in flight.
#[derive(Default)]
struct InFlight {
    /// LDS operations.
    lds: VecDeque<Option<Pending>>,
    /// Vector memory operations; those to LDS with what they touch.
    memory: VecDeque<Option<Pending>>,
}

#[derive(Default)]
pub(super) struct Lds {
    /// None before the first workgroup.
    cells: Option<LdsCells>,
    /// One bit a byte that was written.
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

    /// Notes an access in the cells and reports what it races with.
    fn touch(&mut self, stamp: Stamp, touch: &Touch, spans: &[Span], findings: &mut Findings) {
        let Some(cells) = &mut self.cells else {
            return;
        };
        let now = Now {
            stamp,
            epoch: self.epoch,
        };
        let mut found: Option<(Race, u64)> = None;
        for &span in spans {
            cells.touch(now, span, touch.write, &mut |race| {
                let (first, lanes) = found.get_or_insert((race, 0));
                if first.other.access() == race.other.access() {
                    *lanes |= lanes_at(touch, race.bytes.start, race.bytes.end);
                }
            });
        }
        if let Some((race, lanes)) = found {
            self.report(stamp, touch, race, lanes, findings);
        }
    }

    #[cold]
    fn report(&self, stamp: Stamp, touch: &Touch, race: Race, lanes: u64, findings: &mut Findings) {
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
            let text = format!("{} {}", verb(write), bytes_text(touch.bytes));
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
                what: what(touch.write, in_flight[0]),
            },
            access: Some(Access::Lds {
                offset: race.bytes.start,
                bytes: touch.bytes,
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

    /// Reports bytes that nobody wrote.
    fn read(
        &self,
        step: &Step<'_>,
        wave: u32,
        (touch, spans): (&Touch, &[Span]),
        findings: &mut Findings,
    ) {
        let missing = |span: &Span| self.first_missing(span.start, span.end);
        if let Some(offset) = spans.iter().find_map(missing) {
            let lanes = touch
                .iter()
                .filter(|(_, start)| {
                    let end = start + u64::from(touch.bytes);
                    self.first_missing(*start, end).is_some()
                })
                .fold(0, |lanes, (lane, _)| lanes | 1 << lane);
            let key = Key {
                kind: Kind::UninitializedLds,
                index: step.index,
                other: None,
            };
            findings.add(key, |workgroup| Example {
                side: Side {
                    index: step.index,
                    workgroup,
                    wave,
                    lanes,
                    what: format!(
                        "reads {}, of which some were never written",
                        bytes_text(touch.bytes)
                    ),
                },
                access: Some(Access::Lds { offset, bytes: 1 }),
                other: None,
            });
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

    /// The first byte that nobody wrote.
    fn first_missing(&self, start: u64, end: u64) -> Option<u64> {
        words(start, end).find_map(|(word, mask)| {
            let missing = !self.written.get(word)? & mask;
            (missing != 0).then(|| 64 * word as u64 + u64::from(missing.trailing_zeros()))
        })
    }
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
        // Stamps count workgroups modulo a number: no cell may live so long.
        let generations = [self.group, group.number].map(|number| number >> 20);
        if self.cells.is_none() || generations[0] != generations[1] {
            self.cells = Some(LdsCells::new(MAX_LDS_DWORDS));
        }
        (self.group, self.epoch) = (group.number, 0);
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
                let counts = WaitCounts::of(context.code, step.index);
                let flight = &mut self.waves[wave.index as usize];
                counts.keep_newest(&mut flight.lds, counts.lgkm);
                counts.keep_newest(&mut flight.memory, counts.vm);
                return;
            }
            _ => return,
        }
        let to_lds = facts.to_lds;
        let atomic = facts.effect == Effect::Atomic;
        let stamp = Stamp::new(
            self.moment(wave.index, false),
            self.numbering.code(step.index),
            atomic,
        );
        let mut kept = None;
        for (touch, spans) in step.accesses(context, Space::Lds) {
            if !touch.write || atomic {
                self.read(step, wave.index, (touch, spans), findings);
            }
            if touch.write {
                self.write(spans);
            }
            self.touch(stamp, touch, spans, findings);
            kept = Some(Pending {
                stamp,
                touch: *touch,
                spans: spans.into(),
            });
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
        waves: &mut [Wave],
        waiting: &[bool],
        _: &mut Context<'_>,
        findings: &mut Findings,
    ) {
        self.epoch += 1;
        let mut flights = std::mem::take(&mut self.waves);
        for (wave, _) in waves.iter().zip(waiting).filter(|(_, waits)| **waits) {
            let flight = &mut flights[wave.index as usize];
            for pending in flight.lds.iter().chain(&flight.memory).flatten() {
                let code = pending.stamp.instruction().unwrap_or(u32::MAX);
                let moment = self.moment(wave.index, true);
                let stamp = Stamp::new(moment, code, pending.stamp.is_atomic());
                self.touch(stamp, &pending.touch, &pending.spans, findings);
            }
        }
        self.waves = flights;
    }

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, _: &mut Findings) {}
}
