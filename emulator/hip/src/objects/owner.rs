//! The memory that an address belongs to.

use std::sync::Arc;

use crate::{
    error::Failure,
    runtime::{Device, Runtime},
};
use ferrowave_emulator::memory::AllocationKind;

/// The owner of an address.
pub(crate) enum AddressOwner {
    Device(Arc<Device>, AllocationKind),
    /// The program's own memory, unknown to all devices.
    Host,
}

/// The owner of an address. Memory that all devices can access belongs to the device that allocated it.
pub(crate) fn owner_of(address: u64) -> Result<AddressOwner, Failure> {
    Runtime::get().with_devices(|devices| {
        let found = |device: &Arc<Device>| {
            let info = device.memory.find(address)?;
            // A launch's internal data is not an allocation of the program.
            (info.kind != AllocationKind::Launch).then_some((Arc::clone(device), info))
        };
        let mut places: Vec<_> = devices.iter().flatten().filter_map(found).collect();
        // Memory of one device may be registered with the others, whose `allocations` do not list it.
        places.sort_by_key(|(device, info)| {
            matches!(
                info.kind,
                AllocationKind::Registered | AllocationKind::Mapped
            ) && device.allocations.get(info.base).is_none()
        });
        if let Some((device, info)) = places.into_iter().next() {
            return AddressOwner::Device(device, info.kind);
        }
        // A graph's memory belongs to its device, even while it is not allocated.
        let is_graphs = |device: &&Arc<Device>| device.graph_memories.place(address).is_some();
        match devices.iter().flatten().find(is_graphs) {
            Some(device) => AddressOwner::Device(Arc::clone(device), AllocationKind::Device),
            None => AddressOwner::Host,
        }
    })
}
