//! A device's record of its allocations.

use std::{
    collections::BTreeMap,
    ffi::c_uint,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{count::Count, graph_memories::Reserved};
use crate::handles;

/// How a program made an allocation.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) by: MadeBy,
    /// The flags that the program gave.
    pub(crate) flags: c_uint,
    /// A unique number.
    pub(crate) id: u64,
}

/// The function that made an allocation.
#[derive(Clone)]
pub(crate) enum MadeBy {
    /// The memory of an array.
    Array,
    Device,
    /// An allocation from a pool, with the pool's count of bytes in use.
    Pool(Arc<Count>),
    Graph(Arc<Reserved>),
    Host,
    /// Another process; imported from its pool.
    Imported,
    Managed,
    /// Physical memory that the program mapped.
    Mapped,
    Registered,
    Texture,
}

/// The allocations of a device by address.
#[derive(Default)]
pub(crate) struct Allocations(Mutex<BTreeMap<u64, Made>>);

impl Allocations {
    fn made(&self) -> MutexGuard<'_, BTreeMap<u64, Made>> {
        // A poisoned lock is ignored: the state is valid between statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an allocation.
    pub(crate) fn keep(&self, base: u64, by: MadeBy, flags: c_uint) {
        let id = handles::unused() as u64;
        self.made().insert(base, Made { by, flags, id });
    }

    pub(crate) fn get(&self, base: u64) -> Option<Made> {
        self.made().get(&base).cloned()
    }

    /// Removes and returns an allocation for which `is_it` holds.
    pub(crate) fn take(&self, base: u64, is_it: impl FnOnce(&MadeBy) -> bool) -> Option<Made> {
        let mut made = self.made();
        made.get(&base).filter(|made| is_it(&made.by))?;
        made.remove(&base)
    }

    /// The addresses of all allocations.
    pub(crate) fn bases(&self) -> Vec<u64> {
        self.made().keys().copied().collect()
    }
}
