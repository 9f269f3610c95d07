//! Removes and resets devices, with all that programs created on them.

use std::{ffi::c_int, sync::Arc};

use ferrowave_hip_abi::hipDevice_t;

use super::{
    context::CONTEXTS,
    error::{Failure, no_such_device},
    execution_context::EXECUTION_CONTEXTS,
    objects::{
        array::ARRAYS,
        event::EVENTS,
        library::LIBRARIES,
        mapping,
        module::{KERNELS, MODULES},
        opened,
        stream::STREAMS,
    },
    pool::{self, POOLS},
    registry,
    runtime::{Device, Runtime},
};

/// Removes a device with its streams, events, modules and memory. Returns false if there is no such device.
pub fn remove_device(ordinal: c_int) -> bool {
    let Some(device) = Runtime::get().take(ordinal) else {
        return false;
    };
    // Fails in a host function that a stream called, which must not wait. Work in progress keeps the objects that it
    // needs.
    let _ = device.queues.wait_for_all();
    mapping::forget(&device);
    opened::forget(&device);
    device.free_all();
    registry::forget(&device);
    let others = |other: &Arc<Device>| !Arc::ptr_eq(other, &device);
    KERNELS.retain(|kernel| others(&kernel.device));
    POOLS.retain(|pool| others(&pool.device));
    CONTEXTS.retain(|context| others(&context.device));
    EXECUTION_CONTEXTS.retain(|context| others(&context.device));
    MODULES.retain(|module| others(&module.device));
    ARRAYS.retain(|array| others(&array.device));
    LIBRARIES.retain(|library| library.loaded().is_none_or(|module| others(&module.device)));
    EVENTS.retain(|event| others(&event.device));
    STREAMS.retain(|stream| others(&stream.device));
    true
}

pub(super) unsafe fn ferrowaveRemoveDevice(ordinal: c_int) -> Result<(), Failure> {
    match remove_device(ordinal) {
        true => Ok(()),
        false => Err(no_such_device(
            ordinal,
            Runtime::get().with_devices(<[_]>::len)?,
        )),
    }
}

/// Waits for a device, frees the program's memory and streams on it, and clears its errors. What it can access of other devices
/// stays, as in CLR (`Device::Reset`).
fn reset(device: &Arc<Device>) -> Result<(), Failure> {
    device.queues.wait_for_all()?;
    STREAMS.retain(|stream| !Arc::ptr_eq(&stream.device, device));
    ARRAYS.retain(|array| !Arc::ptr_eq(&array.device, device));
    mapping::forget(device);
    opened::forget(device);
    device.free_all();
    pool::release_all(device);
    device.faults.clear();
    Ok(())
}

pub(super) unsafe fn hipDeviceReset() -> Result<(), Failure> {
    reset(&Runtime::get().current()?)
}

pub(super) unsafe fn hipDevicePrimaryCtxReset(device: hipDevice_t) -> Result<(), Failure> {
    reset(&Runtime::get().device(device)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceConfig, add_device};
    use ferrowave_gpu::Gpu;

    #[test]
    fn a_removed_device_leaves_its_place_and_nothing_else() {
        let config = DeviceConfig::new(Gpu::Gfx908);
        let (first, second) = (add_device(config), add_device(config));
        assert_ne!(first, second);
        let memory = Runtime::get()
            .device(second)
            .map(|device| Arc::downgrade(&device.memory));
        assert!(remove_device(second));
        assert!(!remove_device(-1));
        assert!(memory.is_ok_and(|memory| memory.upgrade().is_none()));
        assert!(Runtime::get().device(first).is_ok());
        assert!(remove_device(first));
    }
}
