//! What waves do in LDS between two barriers.
//!
//! Waves meet in few of the dwords that they access between barriers, and in none that one of them writes if the kernel is
//! right. So accesses are only written down, with the dwords of each wave as sets of bits; where the sets of two waves meet
//! in a way that may be a race, [`super::lds_cells`] goes through the list.

use std::ops::Range;

use super::{spans::Span, stamp::Stamp};
use ferrowave_emulator::exec::Kept;

/// An access.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) stamp: Stamp,
    pub(super) access: Kept,
}

/// Accesses that are recorded before they are checked.
const MOST: usize = 1 << 12;

/// The dwords that a wave accesses, one bit each.
#[derive(Clone, Debug, Default)]
struct Dwords {
    read: Vec<u64>,
    written: Vec<u64>,
    /// The words with bits.
    used: Range<usize>,
}

/// The accesses since the last barrier.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    list: Vec<Noted>,
    waves: Vec<Dwords>,
    /// Room to compare them.
    all: Dwords,
}

/// The words of a set that hold the dwords of some bytes, with their bits.
fn words(span: Span) -> impl Iterator<Item = (usize, u64)> {
    let (first, end) = (span.start / 4, span.end.div_ceil(4));
    (first / 64..end.div_ceil(64)).map(move |word| {
        let from = first.max(64 * word) - 64 * word;
        let to = end.min(64 * word + 64) - 64 * word;
        let ones = if to - from >= 64 {
            !0
        } else {
            (1 << (to - from)) - 1
        };
        (word as usize, ones << from)
    })
}

impl Epoch {
    /// A workgroup of so many waves begins.
    pub(super) fn begin(&mut self, waves: usize, lds_bytes: u32) {
        self.clear();
        let words = (lds_bytes as usize).div_ceil(4 * 64);
        self.waves.resize_with(waves, Dwords::default);
        for dwords in self.waves.iter_mut().chain([&mut self.all]) {
            dwords.read.resize(words, 0);
            dwords.written.resize(words, 0);
        }
    }

    /// Forgets all accesses.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        for dwords in &mut self.waves {
            let used = std::mem::take(&mut dwords.used);
            for set in [&mut dwords.read, &mut dwords.written] {
                if let Some(set) = set.get_mut(used.clone()) {
                    set.fill(0);
                }
            }
        }
    }

    /// Waves of the workgroup.
    pub(super) const fn waves(&self) -> usize {
        self.waves.len()
    }

    /// The accesses, in their order.
    pub(super) fn list(&self) -> &[Noted] {
        &self.list
    }

    /// Whether there are so many that they should be checked.
    pub(super) const fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// Writes down an access, and returns its place in the list.
    pub(super) fn note(&mut self, wave: u32, noted: Noted, write: bool, spans: &[Span]) -> u32 {
        let place = self.list.len() as u32;
        self.list.push(noted);
        let Some(dwords) = self.waves.get_mut(wave as usize) else {
            return place;
        };
        let set = match write {
            true => &mut dwords.written,
            false => &mut dwords.read,
        };
        for &span in spans {
            for (word, bits) in words(span) {
                if let Some(place) = set.get_mut(word) {
                    *place |= bits;
                    dwords.used = match dwords.used.is_empty() {
                        true => word..word + 1,
                        false => dwords.used.start.min(word)..dwords.used.end.max(word + 1),
                    };
                }
            }
        }
        place
    }

    /// Whether two waves may have raced: they accessed bytes of one dword, and one of them wrote.
    pub(super) fn may_race(&mut self) -> bool {
        let Dwords { read, written, .. } = &mut self.all;
        read.fill(0);
        written.fill(0);
        let mut met = 0;
        for dwords in &self.waves {
            let used = dwords.used.clone();
            let (Some(own_read), Some(own_written), Some(read), Some(written)) = (
                dwords.read.get(used.clone()),
                dwords.written.get(used.clone()),
                read.get_mut(used.clone()),
                written.get_mut(used),
            ) else {
                continue;
            };
            let own = own_read.iter().zip(own_written);
            for ((own_read, own_written), (read, written)) in
                own.zip(read.iter_mut().zip(written.iter_mut()))
            {
                met |= own_written & (*read | *written) | own_read & *written;
                *read |= own_read;
                *written |= own_written;
            }
        }
        met != 0
    }
}
