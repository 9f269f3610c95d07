//! What a device knows of the memory of graphs.

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
    /// By address, with the length in bytes.
    known: Mutex<BTreeMap<u64, (Weak<Reserved>, usize)>>,
    pub(crate) used: Count,
    pub(crate) reserved: Count,
}

/// The place of a graph's memory on a device.
pub(crate) struct Reserved {
    pub(crate) place: Reservation,
    /// Whether it is allocated once all calls so far have been done.
    allocated: AtomicBool,
    memories: Arc<GraphMemories>,
}

impl GraphMemories {
    /// Takes note of a place.
    pub(crate) fn keep(self: &Arc<Self>, place: Reservation) -> Arc<Reserved> {
        let (base, bytes) = (place.base(), place.bytes());
        self.reserved.take(bytes as u64);
        let reserved = Arc::new(Reserved {
            place,
            allocated: AtomicBool::new(false),
            memories: Arc::clone(self),
        });
        self.known()
            .insert(base, (Arc::downgrade(&reserved), bytes));
        reserved
    }

    /// The place that starts at an address.
    pub(crate) fn find(&self, base: u64) -> Option<Arc<Reserved>> {
        self.known().get(&base)?.0.upgrade()
    }

    /// First address and length of the place that an address lies in, whether there is memory now or not.
    pub(crate) fn place(&self, address: u64) -> Option<(u64, usize)> {
        let known = self.known();
        let (&base, &(_, bytes)) = known.range(..=address).next_back()?;
        (address - base < bytes as u64).then_some((base, bytes))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<u64, (Weak<Reserved>, usize)>> {
        // Valid between statements, even after a panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved {
    /// Counts it as allocated.
    pub(crate) fn was_allocated(&self) {
        self.memories.used.take(self.place.bytes() as u64);
    }

    /// Counts it as free.
    pub(crate) fn was_freed(&self) {
        self.memories.used.give_back(self.place.bytes() as u64);
    }

    /// Whether it is allocated once all calls so far have been done.
    pub(crate) fn is_allocated(&self) -> bool {
        self.allocated.load(Ordering::Relaxed)
    }

    /// Says whether it is allocated from now on, and returns whether it was.
    pub(crate) fn set_allocated(&self, allocated: bool) -> bool {
        self.allocated.swap(allocated, Ordering::Relaxed)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.memories.reserved.give_back(self.place.bytes() as u64);
        let mut known = self.memories.known();
        let base = self.place.base();
        // Another may have its address by now.
        if known
            .get(&base)
            .is_some_and(|(other, _)| other.strong_count() == 0)
        {
            known.remove(&base);
        }
    }
}
