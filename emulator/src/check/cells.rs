//! Who touched each dword of a stretch of memory: for races.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use super::stamp::Stamp;

/// The last write and two readers of a dword. Workgroups that run at the same time may lose each other's notes, which
/// misses races and makes up none.
#[derive(Default)]
pub(super) struct Cell {
    write: AtomicU64,
    reads: [AtomicU64; 2],
}

impl Cell {
    /// Takes note of an access to the bytes of `stamp` and returns an earlier one that it races with: one to some of the
    /// same bytes, not both atomic, at least one of them a write, that `is_ordered` does not order. With it, whether
    /// that was the write.
    #[inline]
    pub(super) fn touch(
        &self,
        stamp: Stamp,
        write: bool,
        is_ordered: impl Fn(Stamp) -> bool,
    ) -> Option<(Stamp, bool)> {
        let races = |other: Stamp| {
            other.mask() & stamp.mask() != 0
                && !(other.is_atomic() && stamp.is_atomic())
                && !is_ordered(other)
        };
        let last_write = Stamp(self.write.load(Relaxed));
        let mut found = None;
        if !last_write.is_none() && races(last_write) {
            found = Some((last_write, true));
        }
        if write {
            for read in &self.reads {
                let read = Stamp(read.load(Relaxed));
                if found.is_none() && !read.is_none() && races(read) {
                    found = Some((read, false));
                }
            }
            // The lanes of one instruction may write the bytes of a dword one by one.
            let joined = if last_write.access() == stamp.access() {
                Stamp(last_write.0 | stamp.0)
            } else {
                stamp
            };
            self.write.store(joined.0, Relaxed);
        } else {
            self.note_read(stamp);
        }
        found
    }

    #[inline]
    fn note_read(&self, stamp: Stamp) {
        let first = Stamp(self.reads[0].load(Relaxed));
        if first.access() == stamp.access() {
            if first.0 | stamp.0 != first.0 {
                self.reads[0].store(first.0 | stamp.0, Relaxed);
            }
            return;
        }
        if first.is_none() || first.actor() == stamp.actor() {
            self.reads[0].store(stamp.0, Relaxed);
            return;
        }
        // Of many readers the first of all and the last stay.
        let second = Stamp(self.reads[1].load(Relaxed));
        let joined = if second.access() == stamp.access() {
            second.0 | stamp.0
        } else {
            stamp.0
        };
        self.reads[1].store(joined, Relaxed);
    }
}

/// Dwords of a page.
const PAGE: usize = 1024;

/// The cells of an allocation, made when they are touched.
pub(super) struct Cells {
    pages: Box<[OnceLock<Box<[Cell]>>]>,
}

impl Cells {
    pub(super) fn new(bytes: usize) -> Self {
        let pages = bytes.div_ceil(4 * PAGE) + 1;
        Cells {
            pages: (0..pages).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The cells of a dword and of those behind it on the same page; it lies inside what `new` was told of.
    #[inline]
    pub(super) fn from(&self, dword: usize) -> &[Cell] {
        let Some(page) = self.pages.get(dword / PAGE) else {
            return &[];
        };
        let cells = page.get_or_init(|| (0..PAGE).map(|_| Cell::default()).collect());
        &cells[dword % PAGE..]
    }
}

/// The bytes of the dword number `dword` that lie from `start` to `end`.
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

    /// Waves are ordered in themselves only.
    fn touch(cell: &Cell, wave: u32, mask: u32, write: bool) -> Option<(u32, bool)> {
        cell.touch(stamp(wave, mask), write, |other| other.wave() == wave)
            .map(|(other, write)| (other.wave(), write))
    }

    #[test]
    fn dwords_have_their_bytes() {
        assert_eq!([2, 3].map(|dword| mask(dword, 8, 16)), [15, 15]);
        assert_eq!([0, 1].map(|dword| mask(dword, 3, 5)), [8, 1]);
        assert_eq!(mask(1, 6, 7), 4);
    }

    #[test]
    fn readers_do_not_race_with_each_other() {
        let cell = Cell::default();
        assert_eq!(touch(&cell, 1, 15, false), None);
        assert_eq!(touch(&cell, 2, 15, false), None);
        assert_eq!(touch(&cell, 3, 15, false), None);
        assert_eq!(touch(&cell, 1, 15, true), Some((3, false)));
        assert_eq!(touch(&cell, 2, 15, false), Some((1, true)));
    }

    #[test]
    fn a_writer_races_with_the_first_reader_too() {
        let cell = Cell::default();
        assert_eq!(touch(&cell, 1, 15, false), None);
        assert_eq!(touch(&cell, 2, 15, false), None);
        assert_eq!(touch(&cell, 2, 15, true), Some((1, false)));
    }

    #[test]
    fn bytes_of_a_dword_are_apart() {
        let cell = Cell::default();
        assert_eq!(touch(&cell, 1, 0b0011, true), None);
        assert_eq!(touch(&cell, 2, 0b1100, true), None);
        assert_eq!(touch(&cell, 2, 0b0100, false), None);
        assert_eq!(touch(&cell, 1, 0b0100, false), Some((2, true)));
    }
}
