//! Finding what belongs to the allocation that an address lies in.

use ferrowave_emulator::memory::View;

/// Instructions that remember an allocation; those with the same remainder share one.
const REMEMBERED: usize = 64;

/// Something of each allocation that has it, found by address. Instructions tend to stay in one allocation, so that
/// each remembers its last.
#[derive(Clone)]
pub(super) struct Allocations<T> {
    /// First address, end, and what belongs to it, by address.
    list: Vec<(u64, u64, T)>,
    /// The place in `list` that an instruction used last, by the instruction's number.
    last: [u32; REMEMBERED],
}

impl<T> Allocations<T> {
    /// What `f` makes of the allocations, by their place in the view.
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

    /// Where an instruction begins to look.
    #[inline]
    pub(super) fn start(&self, index: u32) -> usize {
        self.last[index as usize % REMEMBERED] as usize
    }

    /// Remembers where it ended.
    #[inline]
    pub(super) fn remember(&mut self, index: u32, place: usize) {
        self.last[index as usize % REMEMBERED] = place as u32;
    }

    /// The first address of an allocation and what belongs to it, looked for at `place` first.
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
