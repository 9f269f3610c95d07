//! A device's record of its allocations.

use std::{
    collections::BTreeMap,
    ffi::c_uint,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ferrowave_hip_abi::{self as abi, hipResourceDesc, hipResourceViewDesc, hipTextureDesc};

use super::{graph_memories::Reserved, pool_memory::PoolMemory};
use crate::{handles, task::Task};

/// How a program made an allocation.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) by: MadeBy,
    /// The flags that the program gave.
    pub(crate) flags: c_uint,
    /// A unique number.
    pub(crate) id: u64,
    /// Whether memsets of it and copies within it wait (`HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS`).
    pub(crate) waits: bool,
}

impl Made {
    /// Whether CLR takes it for device memory, not for the host's (`ihipMemset` and `ihipMemcpy` in `hip_memory.cpp`).
    pub(crate) fn is_device_memory(&self) -> bool {
        let on_host = self.by.is_managed() || matches!(self.by, MadeBy::Host | MadeBy::Registered);
        !on_host && !self.by.is_fine_grained(self.flags)
    }
}

/// The function that made an allocation.
#[derive(Clone)]
pub(crate) enum MadeBy {
    /// The memory of an array.
    Array,
    Device,
    /// An allocation from a pool.
    Pool(Arc<PoolMemory>),
    Graph(Arc<Reserved>),
    Host,
    /// Another process; imported from its pool.
    Imported,
    Managed,
    /// Physical memory that the program mapped.
    Mapped,
    Registered,
    Surface,
    Texture(Box<Described>),
}

/// What a texture was made from.
#[derive(Clone)]
pub(crate) struct Described {
    pub(crate) resource: hipResourceDesc,
    pub(crate) texture: hipTextureDesc,
    pub(crate) view: hipResourceViewDesc,
}

// SAFETY: the address of its memory is only a number here.
unsafe impl Send for Described {}
// SAFETY: as above.
unsafe impl Sync for Described {}

impl Made {
    /// Whether its pool, if it has one, keeps freed memory: from the work of a stream on, or from now on.
    pub(crate) fn is_kept(
        &self,
        (base, bytes): (u64, usize),
        stream: Option<usize>,
        freed: Option<Arc<Task>>,
    ) -> bool {
        match &self.by {
            MadeBy::Pool(memory) => memory.keep(base, bytes as u64, stream, freed),
            _ => false,
        }
    }
}

impl MadeBy {
    /// Whether it is managed memory: of `hipMallocManaged`, of a variable, or of a pool of such memory.
    pub(crate) fn is_managed(&self) -> bool {
        match self {
            MadeBy::Managed => true,
            MadeBy::Pool(memory) => memory.is_managed,
            _ => false,
        }
    }

    /// Whether memory that was made with these flags is fine-grained: managed and registered memory always, other memory
    /// as CLR has it (`ihipHostMalloc` and `hipExtMallocWithFlags` in `hip_memory.cpp`).
    pub(crate) fn is_fine_grained(&self, flags: c_uint) -> bool {
        let coherent =
            abi::hipHostMallocCoherent | abi::hipHostMallocMapped | abi::hipHostMallocNumaUser;
        match self {
            MadeBy::Managed | MadeBy::Registered => true,
            MadeBy::Pool(memory) => memory.is_managed,
            MadeBy::Host if flags & abi::hipHostMallocNonCoherent != 0 => false,
            MadeBy::Host => flags == abi::hipHostMallocDefault || flags & coherent != 0,
            MadeBy::Device => [
                abi::hipDeviceMallocFinegrained,
                abi::hipDeviceMallocUncached,
                abi::hipMallocSignalMemory,
            ]
            .contains(&flags),
            MadeBy::Array
            | MadeBy::Graph(_)
            | MadeBy::Imported
            | MadeBy::Mapped
            | MadeBy::Surface
            | MadeBy::Texture(_) => false,
        }
    }
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
        let made = Made {
            by,
            flags,
            id,
            waits: false,
        };
        self.made().insert(base, made);
    }

    /// Sets whether memsets of an allocation wait. Returns false if there is none.
    pub(crate) fn set_waits(&self, base: u64, waits: bool) -> bool {
        let mut made = self.made();
        let found = made.get_mut(&base);
        found.map(|made| made.waits = waits).is_some()
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
