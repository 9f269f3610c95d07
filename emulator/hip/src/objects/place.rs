//! What memory an address is in.

use std::sync::Arc;

use crate::{
    error::Failure,
    runtime::{Device, Runtime},
};
use ferrowave_emulator::memory::AllocationKind;

/// The owner of an address.
pub(crate) enum Place {
    Device(Arc<Device>, AllocationKind),
    /// The program's own memory, which no device knows.
    Host,
}

/// The owner of an address. Memory that all devices reach belongs to the device where the program allocated it.
pub(crate) fn place(address: u64) -> Result<Place, Failure> {
    Runtime::get().with_devices(|devices| {
        let found = |device: &Arc<Device>| {
            let info = device.memory.find(address)?;
            // A launch's own data is not an allocation of the program's.
            (info.kind != AllocationKind::Launch).then_some((Arc::clone(device), info))
        };
        let mut places: Vec<_> = devices.iter().flatten().filter_map(found).collect();
        // Memory of one device is registered with the others, whose allocations do not list it.
        places.sort_by_key(|(device, info)| {
            info.kind == AllocationKind::Registered && device.allocations.get(info.base).is_none()
        });
        if let Some((device, info)) = places.into_iter().next() {
            return Place::Device(device, info.kind);
        }
        // The memory of a graph is the device's, allocated or not.
        let is_graphs = |device: &&Arc<Device>| device.graph_memories.place(address).is_some();
        match devices.iter().flatten().find(is_graphs) {
            Some(device) => Place::Device(Arc::clone(device), AllocationKind::Device),
            None => Place::Host,
        }
    })
}
