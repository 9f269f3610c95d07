//! Finds the allocation that contains an address, and the value stored for it.

use ferrowave_emulator::memory::View;

/// The number of remembered allocations; instructions whose numbers have the same remainder share one.
const REMEMBERED: usize = 64;

/// A value for each of some allocations, found by address. Most instructions stay in one allocation, so that the last
/// one of each instruction is remembered.
#[derive(Clone)]
pub(super) struct Allocations<T> {
    /// First address, end and value of each allocation, sorted by address.
    list: Vec<(u64, u64, T)>,
    /// The index in `list` that each instruction used last.
    last: [u32; REMEMBERED],
}

impl<T> Allocations<T> {
    /// Calls `f` with the index in the view of each allocation; `None` leaves the allocation out.
    pub(super) fn new(view: &View, mut f: impl FnMut(usize) -> Option<T>) -> Self {
        let list = view
            .allocations()
            .iter()
            .enumerate()
            .filter_map(|(index, info)| {
                let end = info.base + info.bytes as u64;
                f(index).map(|value| (info.base, end, value))
            })
            .collect();
        Allocations {
            list,
            last: [0; REMEMBERED],
        }
    }

    /// The index at which to start the search for an instruction.
    #[inline]
    pub(super) fn start(&self, index: u32) -> usize {
        self.last[index as usize % REMEMBERED] as usize
    }

    /// Remembers the index at which its search ended.
    #[inline]
    pub(super) fn remember(&mut self, index: u32, place: usize) {
        self.last[index as usize % REMEMBERED] = place as u32;
    }

    /// The first address and the value of the allocation that contains `address`. Tries index `place` first, and
    /// updates it.
    #[inline]
    pub(super) fn find(&self, place: &mut usize, address: u64) -> Option<(u64, &T)> {
        if let Some((base, end, value)) = self.list.get(*place)
            && (*base..*end).contains(&address)
        {
            return Some((*base, value));
        }
        let after = self.list.partition_point(|(base, ..)| *base <= address);
        *place = after.checked_sub(1)?;
        let (base, end, value) = &self.list[*place];
        (address < *end).then_some((*base, value))
    }
}
