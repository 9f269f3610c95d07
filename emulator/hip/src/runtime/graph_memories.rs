//! A device's record of its graphs' memory.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use super::count::Count;
use ferrowave_emulator::memory::Reservation;

/// The memory of the graphs of one device.
#[derive(Default)]
pub(crate) struct GraphMemories {
    /// Reserved ranges by address, with their lengths in bytes.
    known: Mutex<BTreeMap<u64, (Weak<Reserved>, usize)>>,
    pub(crate) used: Count,
    /// The same bytes as `used`, but the maximum is reset apart: only allocated memory takes space.
    pub(crate) reserved: Count,
}

/// An address range that is reserved for a graph's memory.
pub(crate) struct Reserved {
    pub(crate) place: Reservation,
    /// Address and length of the program's list of accesses, which the node's parameters repeat.
    pub(crate) accesses: (usize, usize),
    /// Whether it is allocated after all work submitted so far.
    allocated: AtomicBool,
    memories: Arc<GraphMemories>,
}

impl GraphMemories {
    /// Records a reserved range.
    pub(crate) fn keep(
        self: &Arc<Self>,
        place: Reservation,
        accesses: (usize, usize),
    ) -> Arc<Reserved> {
        let (base, bytes) = (place.base(), place.bytes());
        let reserved = Arc::new(Reserved {
            place,
            accesses,
            allocated: AtomicBool::new(false),
            memories: Arc::clone(self),
        });
        self.known()
            .insert(base, (Arc::downgrade(&reserved), bytes));
        reserved
    }

    /// The range that starts at an address.
    pub(crate) fn find(&self, base: u64) -> Option<Arc<Reserved>> {
        self.known().get(&base)?.0.upgrade()
    }

    /// Address and length of the range that contains an address, whether or not it is allocated.
    pub(crate) fn place(&self, address: u64) -> Option<(u64, usize)> {
        let known = self.known();
        let (&base, &(_, bytes)) = known.range(..=address).next_back()?;
        (address - base < bytes as u64).then_some((base, bytes))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<u64, (Weak<Reserved>, usize)>> {
        // A poisoned lock is ignored: the state is valid between statements.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved {
    /// Adds its bytes to the count of bytes in use.
    pub(crate) fn was_allocated(&self) {
        self.memories.used.take(self.place.bytes() as u64);
        self.memories.reserved.take(self.place.bytes() as u64);
    }

    /// Subtracts its bytes from the count of bytes in use.
    pub(crate) fn was_freed(&self) {
        self.memories.used.give_back(self.place.bytes() as u64);
        self.memories.reserved.give_back(self.place.bytes() as u64);
    }

    /// Whether it is allocated after all work submitted so far.
    pub(crate) fn is_allocated(&self) -> bool {
        self.allocated.load(Ordering::Relaxed)
    }

    /// Sets whether it is allocated, and returns the previous value.
    pub(crate) fn set_allocated(&self, allocated: bool) -> bool {
        self.allocated.swap(allocated, Ordering::Relaxed)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut known = self.memories.known();
        let base = self.place.base();
        // A new range may have the same address.
        if known
            .get(&base)
            .is_some_and(|(other, _)| other.strong_count() == 0)
        {
            known.remove(&base);
        }
    }
}
