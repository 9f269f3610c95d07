//! What a device knows of its allocations.

use std::{
    collections::BTreeMap,
    ffi::c_uint,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{count::Count, graph_memories::Reserved};
use crate::handles;

/// What a program made an allocation as.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) by: MadeBy,
    /// The flags that the program gave.
    pub(crate) flags: c_uint,
    /// A number that no other allocation has.
    pub(crate) id: u64,
}

/// Which function made an allocation.
#[derive(Clone)]
pub(crate) enum MadeBy {
    Device,
    /// From a pool, whose bytes in use are counted here.
    Pool(Arc<Count>),
    Graph(Arc<Reserved>),
    Host,
    Managed,
    Registered,
    Texture,
}

/// The allocations of one device by their first address.
#[derive(Default)]
pub(crate) struct Allocations(Mutex<BTreeMap<u64, Made>>);

impl Allocations {
    fn made(&self) -> MutexGuard<'_, BTreeMap<u64, Made>> {
        // Valid between statements, even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of an allocation.
    pub(crate) fn keep(&self, base: u64, by: MadeBy, flags: c_uint) {
        let id = handles::unused() as u64;
        self.made().insert(base, Made { by, flags, id });
    }

    pub(crate) fn get(&self, base: u64) -> Option<Made> {
        self.made().get(&base).cloned()
    }

    /// Takes an allocation out if `is_it` holds for it.
    pub(crate) fn take(&self, base: u64, is_it: impl FnOnce(&MadeBy) -> bool) -> Option<Made> {
        let mut made = self.made();
        made.get(&base).filter(|made| is_it(&made.by))?;
        made.remove(&base)
    }

    /// Addresses of all.
    pub(crate) fn bases(&self) -> Vec<u64> {
        self.made().keys().copied().collect()
    }
}
