//! What observers keep of the instructions that have run: a code object may hold far more of them.

use ferrowave_emulator::exec::Code;

/// Something of each instruction that has it, found by the instruction's index in the code.
pub(super) struct ByIndex<T> {
    /// Of each index 1 more than the place in `list`, or 0. Pages of which no index is asked for take no memory.
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
    /// The place of what is kept of an instruction: they are counted from 0.
    #[inline]
    pub(super) fn place(&self, index: u32) -> Option<usize> {
        let place = *self.places.get(index as usize)?;
        (place as usize).checked_sub(1)
    }

    /// What is kept at a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<&T> {
        self.list.get(place)
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut T> {
        self.list.get_mut(place)
    }

    /// What is kept of an instruction.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.at(self.place(index)?)
    }

    /// The place of an instruction, of which `new` is kept if nothing is yet. None if there is nothing, or no such index.
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
