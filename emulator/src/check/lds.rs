//! LDS: bytes that nobody wrote, races between waves, accesses in flight at barriers.
//!
//! Waves of a workgroup are ordered by barriers only. An access counts for the barrier behind it only if its wave waited
//! for it before: LDS operations come back in order and are counted by `lgkmcnt`; loads from memory to LDS are counted by
//! `vmcnt` with all vector memory operations, in order. One that was not waited for is noted once more behind the barrier.

use std::collections::VecDeque;

use super::{
    Access, Example, Findings, Key, Kind, Side, Step, WaitCounts, Watch,
    cells::{Cell, mask},
    names::{Numbering, bytes_text, verb},
    segments::segments,
    stamp::{Moment, Stamp},
};
use crate::{
    exec::{Context, GroupStart, Space, Touch, Wave},
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
    cells: Vec<Cell>,
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
    fn touch(&self, stamp: Stamp, touch: &Touch, findings: &mut Findings) {
        let group = stamp.group();
        let (wave, epoch) = (stamp.wave(), self.epoch);
        // Waves are ordered in themselves; what another workgroup left in this thread's cells means nothing.
        let is_ordered = |other: Stamp| {
            other.group() != group
                || other.wave() == wave
                || other.epoch().is_none_or(|other| other < epoch)
        };
        let mut race: Option<(Stamp, bool, u64, u64)> = None;
        for segment in segments(touch) {
            let end = segment.start + segment.bytes;
            let dwords = segment.start / 4..end.div_ceil(4);
            let cells = self.cells.get(dwords.start as usize..).unwrap_or_default();
            for (dword, cell) in dwords.zip(cells) {
                let stamp = stamp.with_mask(mask(dword, segment.start, end));
                if let Some((other, wrote)) = cell.touch(stamp, touch.write, is_ordered) {
                    let address = segment.start.max(4 * dword);
                    let (first, .., lanes) = race.get_or_insert((other, wrote, address, 0));
                    if first.access() == other.access() {
                        *lanes |= segment.lane_of(address, touch);
                    }
                }
            }
        }
        if let Some((other, wrote, offset, lanes)) = race {
            self.report(stamp, touch, other, wrote, (offset, lanes), findings);
        }
    }

    #[cold]
    fn report(
        &self,
        stamp: Stamp,
        touch: &Touch,
        other: Stamp,
        wrote: bool,
        (offset, lanes): (u64, u64),
        findings: &mut Findings,
    ) {
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
                offset,
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
    fn read(&self, step: &Step<'_>, wave: u32, touch: &Touch, findings: &mut Findings) {
        let mut missing: Option<(u64, u64)> = None;
        for segment in segments(touch) {
            let end = segment.start + segment.bytes;
            if self.first_missing(segment.start, end).is_none() {
                continue;
            }
            let bytes = u64::from(touch.bytes);
            for start in (segment.start..end).step_by(touch.bytes as usize) {
                if let Some(byte) = self.first_missing(start, start + bytes) {
                    missing.get_or_insert((byte, 0)).1 |= segment.lane_of(start, touch);
                }
            }
        }
        if let Some((offset, lanes)) = missing {
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

    fn write(&mut self, touch: &Touch) {
        for segment in segments(touch) {
            for (word, mask) in words(segment.start, segment.start + segment.bytes) {
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
    fn begin(&mut self, group: &GroupStart<'_>, _: &mut Findings) {
        // Stamps count workgroups modulo a number: no cell may live so long.
        let generations = [self.group, group.number].map(|number| number >> 20);
        if self.cells.is_empty() || generations[0] != generations[1] {
            self.cells = (0..MAX_LDS_DWORDS).map(|_| Cell::default()).collect();
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
        for touch in context
            .touches()
            .iter()
            .filter(|touch| touch.space == Space::Lds)
        {
            if !touch.write || atomic {
                self.read(step, wave.index, touch, findings);
            }
            if touch.write {
                self.write(touch);
            }
            self.touch(stamp, touch, findings);
            kept = Some(Pending {
                stamp,
                touch: *touch,
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
        for (wave, _) in waves.iter().zip(waiting).filter(|(_, waits)| **waits) {
            let flight = &self.waves[wave.index as usize];
            for pending in flight.lds.iter().chain(&flight.memory).flatten() {
                let code = pending.stamp.instruction().unwrap_or(u32::MAX);
                let moment = self.moment(wave.index, true);
                let stamp = Stamp::new(moment, code, pending.stamp.is_atomic());
                self.touch(stamp, &pending.touch, findings);
            }
        }
    }

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, _: &mut Findings) {}
}
