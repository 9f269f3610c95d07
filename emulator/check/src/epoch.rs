//! The LDS accesses of a workgroup between two barriers.
//!
//! In a correct kernel, waves share few dwords between two barriers, and none that one of them writes. So accesses are
//! only listed, with a bit set of the dwords of each wave. If the sets of two waves overlap in a way that may be a
//! race, [`super::lds_shadow`] checks the list.

use std::ops::Range;

use super::{spans::Span, stamp::Stamp};
use ferrowave_emulator::exec::Kept;

/// A listed access.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) stamp: Stamp,
    pub(super) access: Kept,
}

/// The maximum number of accesses in the list before they are checked.
const MOST: usize = 1 << 12;

/// The dwords that a wave accesses, as bit sets.
#[derive(Clone, Debug, Default)]
struct Dwords {
    read: Vec<u64>,
    written: Vec<u64>,
    /// The range of words with bits set.
    used: Range<usize>,
}

/// The accesses since the last barrier.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    list: Vec<Noted>,
    waves: Vec<Dwords>,
    /// The union over waves, used by [`Epoch::may_race`].
    all: Dwords,
}

/// The words of a bit set that contain the dwords of `span`, with their bits.
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
    /// Starts a workgroup with this number of waves.
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

    /// The number of waves of the workgroup.
    pub(super) const fn waves(&self) -> usize {
        self.waves.len()
    }

    /// The accesses in program order.
    pub(super) fn list(&self) -> &[Noted] {
        &self.list
    }

    /// Whether the list is full and should be checked.
    pub(super) const fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// Adds an access, and returns its index in the list.
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

    /// Whether two waves may race: they accessed bytes of one dword, and one of them wrote.
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
