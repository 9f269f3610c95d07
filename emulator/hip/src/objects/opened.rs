//! Memory of other processes that the program opened.

use std::{
    collections::BTreeMap,
    slice,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    error::Failure,
    runtime::{Device, allocations::MadeBy},
};
use ferrowave_emulator::memory::{Addresses, Mapped, PAGE_BYTES, Physical, Shared};

/// Memory of another process.
struct Opened {
    device: Arc<Device>,
    addresses: Addresses,
}

/// Opened memory by its first address.
static OPENED: Mutex<BTreeMap<u64, Opened>> = Mutex::new(BTreeMap::new());

fn opened() -> MutexGuard<'static, BTreeMap<u64, Opened>> {
    // A poisoned lock is ignored: the state is valid between statements.
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Opened {
    /// Takes the memory from the device. What another thread accesses at that moment stays mapped.
    fn close(&self, base: u64) {
        self.device.allocations.take(base, |_| true);
        // Without a range, this has nothing to check.
        let _ = self.device.memory.set_mapped(&self.addresses, &[]);
    }
}

/// Maps memory of another process for a device, recorded as made by `by`. Returns the allocation's first address.
pub(crate) fn open(
    device: Arc<Device>,
    memory: &Physical,
    shared: &Shared,
    by: MadeBy,
) -> std::io::Result<Result<u64, Failure>> {
    let addresses = Addresses::reserve(memory.bytes(), PAGE_BYTES, 0)?;
    addresses.map(&(0..memory.bytes()), memory)?;
    let part = Mapped {
        at: shared.offset..shared.offset + shared.bytes,
        writable: true,
    };
    let base = addresses.start() + shared.offset as u64;
    let set = device.memory.set_mapped(&addresses, slice::from_ref(&part));
    Ok(set.map_err(Failure::from).map(|()| {
        device.allocations.keep(base, by, 0);
        opened().insert(base, Opened { device, addresses });
        base
    }))
}

/// Closes the memory that contains an address. False if there is none.
pub(crate) fn close(address: u64) -> bool {
    let mut all = opened();
    let found = all.range(..=address).next_back().map(|(&base, _)| base);
    let contains = |base: &u64| {
        let info = all[base].device.memory.find(address);
        info.is_some_and(|info| info.base == *base)
    };
    let Some(base) = found.filter(contains) else {
        return false;
    };
    if let Some(gone) = all.remove(&base) {
        gone.close(base);
    }
    true
}

/// Closes all memory that was opened on a device.
pub(crate) fn forget(device: &Arc<Device>) {
    let mut all = opened();
    let gone = all.extract_if(.., |_, opened| Arc::ptr_eq(&opened.device, device));
    gone.for_each(|(base, opened)| opened.close(base));
}
