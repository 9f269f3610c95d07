//! The last accesses to each dword of a workgroup's LDS: like [`super::shadow_memory`], but for one host thread, and
//! vectorized over eight dwords.
//!
//! Only accesses that may race get here ([`super::epoch`]). Most of them cover whole dwords that no other wave has
//! accessed since the last barrier, or that others have only read as well; a few vector operations handle these.
//! [`Marks::record`] handles the rest.

use std::{ops::Range, simd::prelude::*};

use super::{
    shadow_memory::{Marks, mask},
    spans::Span,
    stamp::Stamp,
};
use ferrowave_emulator::exec::SimdLevel;

type Vector = Simd<u64, 8>;

/// The wave and time of an access.
#[derive(Clone, Copy)]
pub(super) struct Now {
    /// Workgroup, wave and barriers of the access, without bytes.
    pub(super) stamp: Stamp,
    /// The number of barriers that the workgroup has passed.
    pub(super) epoch: u32,
}

impl Now {
    /// Whether `other` is ordered before: by its wave or by a barrier. Marks left by other workgroups do not count.
    #[inline]
    fn is_ordered(self, other: Stamp) -> bool {
        other.group() != self.stamp.group()
            || other.wave() == self.stamp.wave()
            || other.epoch().is_none_or(|epoch| epoch < self.epoch)
    }

    /// Whether vector operations may compare stamps bitwise: the access is not atomic and its barrier count is not
    /// saturated.
    fn is_plain(self) -> bool {
        !self.stamp.is_atomic() && self.stamp.epoch().is_some()
    }
}

/// A race with an earlier access.
#[derive(Clone, Copy)]
pub(super) struct Race {
    /// The racing bytes, all in one dword.
    pub(super) bytes: Span,
    pub(super) other: Stamp,
    /// Whether the earlier access was a write.
    pub(super) wrote: bool,
}

pub(super) struct LdsCells {
    writes: Vec<u64>,
    reads: [Vec<u64>; 2],
    level: SimdLevel,
}

impl LdsCells {
    pub(super) fn new(dwords: usize) -> Self {
        LdsCells {
            writes: vec![0; dwords],
            reads: [vec![0; dwords], vec![0; dwords]],
            level: SimdLevel::detect(),
        }
    }

    /// Records an access and calls `race` for each race.
    pub(super) fn record(&mut self, now: Now, span: Span, write: bool, race: &mut dyn FnMut(Race)) {
        let limit = self.writes.len() as u64;
        let end = span.end.min(4 * limit);
        let whole = span.start.div_ceil(4)..end / 4;
        let dwords = span.start / 4..end.div_ceil(4);
        if !now.is_plain() || whole.start >= whole.end {
            self.each(now, dwords, span, write, race);
            return;
        }
        self.each(now, dwords.start..whole.start, span, write, race);
        let tail = whole.end - (whole.end - whole.start) % 8;
        match self.level {
            SimdLevel::Portable => self.chunks(now, whole.start..tail, write, race),
            // SAFETY: the CPU has the detected level.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.avx2(now, whole.start..tail, write, race) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.avx512(now, whole.start..tail, write, race) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => self.chunks(now, whole.start..tail, write, race),
        }
        self.each(now, tail..dwords.end, span, write, race);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn avx2(&mut self, now: Now, dwords: Range<u64>, write: bool, race: &mut dyn FnMut(Race)) {
        self.chunks(now, dwords, write, race);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
    fn avx512(&mut self, now: Now, dwords: Range<u64>, write: bool, race: &mut dyn FnMut(Race)) {
        self.chunks(now, dwords, write, race);
    }

    /// Records whole dwords, eight at a time.
    #[inline(always)]
    fn chunks(&mut self, now: Now, dwords: Range<u64>, write: bool, race: &mut dyn FnMut(Race)) {
        let stamp = now.stamp.with_mask(0xf);
        let mine = Vector::splat(stamp.0);
        let time = Vector::splat(Stamp::GROUP_AND_EPOCH);
        let wave = Vector::splat(Stamp::WAVE_BITS);
        let zero = Vector::splat(0);
        for start in dwords.step_by(8) {
            let at = start as usize..start as usize + 8;
            let [first, second] = self.reads.each_ref().map(|reads| &reads[at.clone()]);
            let [last, first, second] =
                [&self.writes[at.clone()], first, second].map(|s| Vector::from_slice(s) ^ mine);
            // By the same workgroup since its last barrier, and by another wave.
            let concurrent = |v: Vector| (v & time).simd_eq(zero) & (v & wave).simd_ne(zero);
            let [by_last, by_first, by_second] = [last, first, second].map(concurrent);
            if by_last.any() || write && (by_first | by_second).any() {
                let span = Span {
                    start: 4 * start,
                    end: 4 * start + 32,
                };
                self.each(now, start..start + 8, span, write, race);
            } else if write {
                mine.copy_to_slice(&mut self.writes[at]);
            } else {
                let [first, second] = [first ^ mine, second ^ mine];
                by_first
                    .select(first, mine)
                    .copy_to_slice(&mut self.reads[0][at.clone()]);
                (by_first & !by_second)
                    .select(mine, second)
                    .copy_to_slice(&mut self.reads[1][at]);
            }
        }
    }

    /// Records the bytes of `span` in `dwords`, dword by dword.
    fn each(
        &mut self,
        now: Now,
        dwords: Range<u64>,
        span: Span,
        write: bool,
        race: &mut dyn FnMut(Race),
    ) {
        for dword in dwords {
            let at = dword as usize;
            let mut marks = Marks {
                write: Stamp(self.writes[at]),
                reads: [Stamp(self.reads[0][at]), Stamp(self.reads[1][at])],
            };
            let stamp = now.stamp.with_mask(mask(dword, span.start, span.end));
            let found = marks.record(stamp, write, |other| now.is_ordered(other));
            self.writes[at] = marks.write.0;
            [self.reads[0][at], self.reads[1][at]] = marks.reads.map(|read| read.0);
            if let Some((other, wrote)) = found {
                race(Race {
                    bytes: Span {
                        start: span.start.max(4 * dword),
                        end: span.end.min(4 * dword + 4),
                    },
                    other,
                    wrote,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::super::stamp::Moment;
    use super::*;

    const DWORDS: usize = 64;

    /// Random accesses give the same marks and races at all SIMD levels as dword by dword.
    #[test]
    fn vectors_do_as_single_dwords() {
        for level in SimdLevel::ALL.into_iter().filter(|l| l.is_available()) {
            let mut random = Pcg64Mcg::seed_from_u64(7);
            let mut fast = LdsCells::new(DWORDS);
            fast.level = level;
            let mut slow = LdsCells::new(DWORDS);
            let (mut epoch, mut group, mut races) = (0, 0, 0);
            for round in 0..4000 {
                if random.random_ratio(1, 6) {
                    epoch += 1;
                }
                if random.random_ratio(1, 200) {
                    (group, epoch) = (group + 1, 0);
                }
                let moment = Moment {
                    group,
                    wave: random.random_range(0..3),
                    epoch,
                    release: u32::from(random.random_ratio(1, 9)),
                };
                let stamp = Stamp::new(moment, round, random.random_ratio(1, 20));
                let now = Now { stamp, epoch };
                let start = random.random_range(0..4 * DWORDS as u64);
                let end = random.random_range(start..4 * DWORDS as u64) + 1;
                let span = Span { start, end };
                let write = random.random_ratio(1, 4);
                let mut found = [Vec::new(), Vec::new()];
                let [a, b] = &mut found;
                fast.record(now, span, write, &mut |race| {
                    a.push((race.bytes, race.other, race.wrote));
                });
                slow.each(now, start / 4..end.div_ceil(4), span, write, &mut |race| {
                    b.push((race.bytes, race.other, race.wrote));
                });
                assert_eq!(found[0], found[1], "{level:?} {round}");
                races += found[0].len();
                assert_eq!(fast.writes, slow.writes, "{level:?} {round}");
                assert_eq!(fast.reads, slow.reads, "{level:?} {round}");
            }
            assert!(races > 1000, "{races}");
        }
    }

    #[test]
    fn bytes_behind_the_end_are_left_alone() {
        let mut cells = LdsCells::new(4);
        let moment = Moment {
            group: 0,
            wave: 0,
            epoch: 0,
            release: 0,
        };
        let now = Now {
            stamp: Stamp::new(moment, 0, false),
            epoch: 0,
        };
        for start in [0, 8, 15, 16, 400] {
            let span = Span {
                start,
                end: 1 << 20,
            };
            cells.record(now, span, true, &mut |_| panic!("a race"));
        }
    }
}
