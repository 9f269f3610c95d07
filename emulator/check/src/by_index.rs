//! Per-instruction data for the instructions that have run: often far fewer than the code object contains.

use ferrowave_emulator::exec::Code;

/// A value for each of some instructions, found by the instruction's index in the code.
pub(super) struct ByIndex<T> {
    /// For each index, 1 + the place in `list`, or 0. Pages that are never accessed take no memory.
    places: Vec<u32>,
    list: Vec<T>,
}

impl<T> Default for ByIndex<T> {
    fn default() -> Self {
        ByIndex {
            places: Vec::new(),
            list: Vec::new(),
        }
    }
}

impl<T> ByIndex<T> {
    /// The place of an instruction's value; places count from 0.
    #[inline]
    pub(super) fn place(&self, index: u32) -> Option<usize> {
        let place = *self.places.get(index as usize)?;
        (place as usize).checked_sub(1)
    }

    /// The value at a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<&T> {
        self.list.get(place)
    }

    /// The value at a place, mutable.
    #[inline]
    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut T> {
        self.list.get_mut(place)
    }

    /// The value of an instruction.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.at(self.place(index)?)
    }

    /// The place of an instruction's value. Calls `new` if there is no value yet. `None` if `new` returns none or the
    /// index is out of range.
    pub(super) fn insert_with(
        &mut self,
        index: u32,
        code: &Code,
        new: impl FnOnce() -> Option<T>,
    ) -> Option<usize> {
        if self.places.is_empty() {
            self.places = vec![0; code.facts().len()];
        }
        let place = self.places.get_mut(index as usize)?;
        if *place == 0 {
            self.list.push(new()?);
            *place = self.list.len() as u32;
        }
        Some(*place as usize - 1)
    }
}
