//! The last accesses to each dword of an allocation, to find races.

use std::{
    ops::Range,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use super::stamp::Stamp;

/// The last write and two reads of a dword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) write: Stamp,
    pub(super) reads: [Stamp; 2],
}

impl Marks {
    /// Records an access to the bytes of `stamp`. Returns an earlier access that it races with, and whether that was a
    /// write. Two accesses race if they share bytes, not both are atomic, at least one is a write, and `is_ordered`
    /// does not order them.
    #[inline]
    pub(super) fn record(
        &mut self,
        stamp: Stamp,
        write: bool,
        is_ordered: impl Fn(Stamp) -> bool,
    ) -> Option<(Stamp, bool)> {
        let races = |other: Stamp| {
            !other.is_none()
                && other.mask() & stamp.mask() != 0
                && !(other.is_atomic() && stamp.is_atomic())
                && !is_ordered(other)
        };
        let mut found = races(self.write).then_some((self.write, true));
        if write {
            if found.is_none() {
                let read = self.reads.into_iter().find(|read| races(*read));
                found = read.map(|read| (read, false));
            }
            // One instruction may write the bytes of a dword separately.
            self.write = if self.write.access() == stamp.access() {
                Stamp(self.write.0 | stamp.0)
            } else {
                stamp
            };
        } else {
            self.note_read(stamp, is_ordered);
        }
        found
    }

    /// A read replaces one that is ordered before it: what is ordered after the new read is ordered after the old one
    /// too. Of unordered reads, the first two are kept: a later writer cannot be the wave of both.
    #[inline]
    fn note_read(&mut self, stamp: Stamp, is_ordered: impl Fn(Stamp) -> bool) {
        for read in &mut self.reads {
            if read.access() == stamp.access() {
                read.0 |= stamp.0;
                return;
            }
            if read.is_none()
                || read.mask() & !stamp.mask() == 0
                    && (read.is_atomic() || !stamp.is_atomic())
                    && is_ordered(*read)
            {
                *read = stamp;
                return;
            }
        }
    }
}

/// The marks of a dword, shared by host threads. Workgroups that run at the same time may lose marks: races may be
/// missed, but no false one is reported.
#[derive(Default)]
pub(super) struct Cell {
    write: AtomicU64,
    reads: [AtomicU64; 2],
}

impl Cell {
    /// As [`Marks::record`].
    #[inline]
    pub(super) fn record(
        &self,
        stamp: Stamp,
        write: bool,
        is_ordered: impl Fn(Stamp) -> bool,
    ) -> Option<(Stamp, bool)> {
        let before = self.marks();
        let mut after = before;
        let found = after.record(stamp, write, is_ordered);
        // If nothing changes, nothing is written: the cache line stays shared between cores.
        if before != after {
            self.set(after);
        }
        found
    }

    #[inline]
    fn marks(&self) -> Marks {
        let load = |word: &AtomicU64| Stamp(word.load(Relaxed));
        Marks {
            write: load(&self.write),
            reads: [load(&self.reads[0]), load(&self.reads[1])],
        }
    }

    #[inline]
    fn set(&self, marks: Marks) {
        self.write.store(marks.write.0, Relaxed);
        self.reads[0].store(marks.reads[0].0, Relaxed);
        self.reads[1].store(marks.reads[1].0, Relaxed);
    }
}

/// An earlier access that races, and whether it was a write.
type Raced = Option<(Stamp, bool)>;

/// Dwords of a block.
const BLOCK: u64 = 8;

/// Blocks of a page.
const PAGE: usize = 128;

/// Consecutive blocks of dwords. Most accesses cover whole blocks, so that one cell serves for all dwords of a block
/// until an access covers only a part of it.
struct Page {
    all: [Cell; PAGE],
    /// For each block, whether `each` is valid instead of `all`.
    split: [AtomicBool; PAGE],
    /// The dwords of each block, created with the first split.
    each: OnceLock<Box<[Dwords]>>,
}

/// The dwords of a block.
type Dwords = [Cell; BLOCK as usize];

impl Page {
    fn new() -> Box<Self> {
        Box::new(Page {
            all: std::array::from_fn(|_| Cell::default()),
            split: std::array::from_fn(|_| AtomicBool::new(false)),
            each: OnceLock::new(),
        })
    }

    fn dwords(&self, block: usize) -> &Dwords {
        let make = || (0..PAGE).map(|_| Dwords::default()).collect();
        &self.each.get_or_init(make)[block % PAGE]
    }

    fn split(&self, block: usize) {
        let marks = self.all[block % PAGE].marks();
        for cell in self.dwords(block) {
            cell.set(marks);
        }
        self.split[block % PAGE].store(true, Relaxed);
    }

    /// Merges the cells of a block if all dwords have the same marks.
    fn join(&self, block: usize) {
        let dwords = self.dwords(block);
        let marks = dwords[0].marks();
        if dwords.iter().all(|cell| cell.marks() == marks) {
            self.all[block % PAGE].set(marks);
            self.split[block % PAGE].store(false, Relaxed);
        }
    }
}

/// The cells of an allocation, created when they are touched.
pub(super) struct Cells {
    pages: Box<[OnceLock<Box<Page>>]>,
}

impl Cells {
    pub(super) fn new(bytes: usize) -> Self {
        let pages = bytes.div_ceil(4 * PAGE * BLOCK as usize);
        Cells {
            pages: (0..pages).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Records an access to the bytes `start` to `end` of the allocation, like [`Marks::record`]. Calls `race` with the
    /// bytes, the earlier access, and whether that was a write.
    pub(super) fn record(
        &self,
        (start, end): (u64, u64),
        stamp: Stamp,
        write: bool,
        is_ordered: impl Fn(Stamp) -> bool + Copy,
        mut race: impl FnMut(Range<u64>, Stamp, bool),
    ) {
        // The last result: the next block mostly has the same marks.
        let mut last: Option<(Marks, Marks, Raced)> = None;
        for number in start / (4 * BLOCK)..end.div_ceil(4 * BLOCK) {
            let Some(page) = self.pages.get(number as usize / PAGE) else {
                return;
            };
            let page = page.get_or_init(Page::new);
            let block = number as usize % PAGE;
            let (first, behind) = (number * BLOCK, (number + 1) * BLOCK);
            let is_whole = start <= 4 * first && 4 * behind <= end;
            let is_split = page.split[block].load(Relaxed);
            if is_whole && !is_split {
                let cell = &page.all[block];
                let before = cell.marks();
                let (after, found) = match last {
                    Some((same, after, found)) if same == before => (after, found),
                    _ => {
                        let mut after = before;
                        let found = after.record(stamp.with_mask(0xf), write, is_ordered);
                        last = Some((before, after, found));
                        (after, found)
                    }
                };
                // If nothing changes, nothing is written: the cache line stays shared between cores.
                if before != after {
                    cell.set(after);
                }
                if let Some((other, wrote)) = found {
                    race(4 * first..4 * behind, other, wrote);
                }
                continue;
            }
            if !is_split {
                page.split(block);
            }
            for dword in first.max(start / 4)..behind.min(end.div_ceil(4)) {
                let stamp = stamp.with_mask(mask(dword, start, end));
                let cell = &page.dwords(block)[(dword - first) as usize];
                if let Some((other, wrote)) = cell.record(stamp, write, is_ordered) {
                    race(start.max(4 * dword)..end.min(4 * dword + 4), other, wrote);
                }
            }
            if is_whole && write {
                page.join(block);
            }
        }
    }
}

/// The bytes of `dword` that lie between `start` and `end`.
#[inline]
pub(super) fn mask(dword: u64, start: u64, end: u64) -> u32 {
    let (from, to) = (start.max(4 * dword), end.min(4 * dword + 4));
    ((1 << (to - from)) - 1) << (from - 4 * dword)
}

#[cfg(test)]
mod tests {
    use super::super::stamp::Moment;
    use super::*;

    fn stamp(wave: u32, mask: u32) -> Stamp {
        let moment = Moment {
            group: 0,
            wave,
            epoch: 0,
            release: 0,
        };
        Stamp::new(moment, wave, false).with_mask(mask)
    }

    /// Orders only the accesses of one wave.
    fn record(cell: &Cell, wave: u32, mask: u32, write: bool) -> Option<(u32, bool)> {
        cell.record(stamp(wave, mask), write, |other| other.wave() == wave)
            .map(|(other, write)| (other.wave(), write))
    }

    #[test]
    fn dwords_know_their_bytes() {
        assert_eq!([2, 3].map(|dword| mask(dword, 8, 16)), [15, 15]);
        assert_eq!([0, 1].map(|dword| mask(dword, 3, 5)), [8, 1]);
        assert_eq!(mask(1, 6, 7), 4);
    }

    #[test]
    fn readers_do_not_race_with_each_other() {
        let cell = Cell::default();
        assert_eq!(record(&cell, 1, 15, false), None);
        assert_eq!(record(&cell, 2, 15, false), None);
        assert_eq!(record(&cell, 3, 15, false), None);
        assert_eq!(record(&cell, 1, 15, true), Some((2, false)));
        assert_eq!(record(&cell, 2, 15, false), Some((1, true)));
    }

    #[test]
    fn a_writer_races_with_the_first_reader_too() {
        let cell = Cell::default();
        assert_eq!(record(&cell, 1, 15, false), None);
        assert_eq!(record(&cell, 2, 15, false), None);
        assert_eq!(record(&cell, 2, 15, true), Some((1, false)));
    }

    #[test]
    fn reads_that_are_ordered_make_room() {
        let cell = Cell::default();
        // Wave 3 is ordered after all others.
        let observed = |wave: u32, write: bool| {
            cell.record(stamp(wave, 15), write, |other| {
                other.wave() == wave || wave == 3 && other.wave() < 3
            })
            .map(|(other, write)| (other.wave(), write))
        };
        assert_eq!(observed(1, false), None);
        assert_eq!(observed(2, false), None);
        assert_eq!(observed(3, false), None);
        assert_eq!(observed(4, true), Some((3, false)));
    }

    #[test]
    fn a_read_of_fewer_bytes_takes_no_place() {
        let cell = Cell::default();
        assert_eq!(record(&cell, 1, 15, false), None);
        let later = Stamp(stamp(1, 1).0 | 1 << 4);
        assert_eq!(cell.record(later, false, |other| other.wave() == 1), None);
        assert_eq!(record(&cell, 2, 0b1000, true), Some((1, false)));
    }

    /// Records an access and returns its races byte by byte: `(byte, other wave)`.
    fn races(cells: &Cells, wave: u32, bytes: Range<u64>, write: bool) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        cells.record(
            (bytes.start, bytes.end),
            stamp(wave, 0),
            write,
            |other| other.wave() == wave,
            |bytes, other, _| found.extend(bytes.map(|byte| (byte, other.wave()))),
        );
        found
    }

    #[test]
    fn blocks_come_apart_and_together() {
        let cells = Cells::new(100);
        assert_eq!(races(&cells, 1, 0..96, true), []);
        // A part of the second block, then the whole block.
        assert_eq!(races(&cells, 2, 41..43, false), [(41, 1), (42, 1)]);
        let all: Vec<_> = (32..64).map(|byte| (byte, 1)).collect();
        assert_eq!(races(&cells, 3, 32..64, false), all);
        // The last write is reported before reads.
        assert_eq!(races(&cells, 2, 32..64, true), all);
        let page = cells.pages[0].get().expect("touched");
        assert!(page.split[1].load(Relaxed), "reads differ");
        // The last bytes of an allocation, which do not fill a block.
        assert_eq!(races(&cells, 1, 96..100, true), []);
        assert_eq!(races(&cells, 2, 99..100, true), [(99, 1)]);
    }

    #[test]
    fn a_whole_write_joins_what_is_alike() {
        let cells = Cells::new(64);
        assert_eq!(races(&cells, 1, 4..8, true), []);
        let page = cells.pages[0].get().expect("touched");
        assert!(page.split[0].load(Relaxed));
        assert_eq!(races(&cells, 1, 0..32, true), []);
        assert!(!page.split[0].load(Relaxed));
        assert_eq!(races(&cells, 2, 31..33, false), [(31, 1)]);
    }

    #[test]
    fn bytes_of_a_dword_are_apart() {
        let cell = Cell::default();
        assert_eq!(record(&cell, 1, 0b0011, true), None);
        assert_eq!(record(&cell, 2, 0b1100, true), None);
        assert_eq!(record(&cell, 2, 0b0100, false), None);
        assert_eq!(record(&cell, 1, 0b0100, false), Some((2, true)));
    }
}
