//! Allocates and frees a device's memory.

use std::{
    ffi::{c_uint, c_void},
    ptr,
    sync::Arc,
};

use crate::{
    error::Failure,
    runtime::{
        Device, Runtime,
        advice::Advice,
        allocations::{Made, MadeBy},
    },
};
use ferrowave_emulator::memory::{AllocationKind, MemoryError};

impl Device {
    /// Allocates memory; null for 0 bytes.
    pub(crate) fn allocate(
        self: &Arc<Self>,
        bytes: usize,
        by: MadeBy,
        flags: c_uint,
    ) -> Result<*mut c_void, Failure> {
        if bytes == 0 {
            return Ok(ptr::null_mut());
        }
        let shared = matches!(by, MadeBy::Host | MadeBy::Managed);
        let kind = if shared {
            AllocationKind::Host
        } else {
            AllocationKind::Device
        };
        let base = self.memory.allocate(bytes, kind)?;
        if shared {
            lend(base, bytes, self)?;
        }
        if by.is_fine_grained(flags) {
            set_fine_grained(base, self, true);
        }
        if let MadeBy::Pool(memory) = &by {
            memory.take(base, bytes as u64);
        }
        self.allocations.keep(base, by, flags);
        Ok(ptr::with_exposed_provenance_mut(base as usize))
    }

    /// Frees the memory of an allocation that was removed from `allocations`.
    pub(crate) fn release(&self, base: u64) -> Result<(), Failure> {
        Ok(self.memory.free(base)?)
    }

    /// Frees all allocations of the program.
    pub(crate) fn free_all(self: &Arc<Self>) {
        for base in self.allocations.bases() {
            let Some(made) = self.allocations.take(base, |_| true) else {
                continue;
            };
            if let MadeBy::Graph(memory) = &made.by {
                memory.set_allocated(false);
            }
            if let (MadeBy::Pool(memory), Some(info)) = (&made.by, self.memory.find(base)) {
                memory.lose(info.bytes as u64);
            }
            self.unlend(base, &made);
            // The allocation has been removed from `allocations`, so no other thread frees it.
            let _ = self.release(base);
        }
    }

    /// Undoes [`lend`], and subtracts the bytes from the counts of graphs.
    pub(crate) fn unlend(self: &Arc<Self>, base: u64, made: &Made) {
        if let MadeBy::Graph(memory) = &made.by {
            memory.was_freed();
        }
        if let (MadeBy::Managed, Some(info)) = (&made.by, self.memory.find(base)) {
            let forget = |advice: &mut Advice| *advice = Advice::default();
            self.advised.change(&(base..info.end()), forget);
        }
        if matches!(made.by, MadeBy::Host | MadeBy::Managed | MadeBy::Registered) {
            for other in others(self) {
                let lent = other.memory.find(base);
                if lent.is_some_and(|info| info.kind == AllocationKind::Registered) {
                    let _ = other.memory.free(base);
                }
            }
        }
    }
}

/// All devices except one.
fn others(device: &Arc<Device>) -> Vec<Arc<Device>> {
    let devices = Runtime::get().with_devices(|devices| {
        let others = devices.iter().flatten();
        let others = others.filter(|other| !Arc::ptr_eq(other, device));
        others.map(Arc::clone).collect::<Vec<_>>()
    });
    // An error means that there are no devices.
    devices.unwrap_or_default()
}

/// Makes memory fine-grained or not, for its device and for all with which it is registered.
pub(crate) fn set_fine_grained(base: u64, owner: &Arc<Device>, fine_grained: bool) {
    for device in others(owner).iter().chain([owner]) {
        // Another device may not have it.
        let _ = device.memory.set_fine_grained(base, fine_grained);
    }
}

/// Registers memory of one device with all others, or on an error with none.
pub(crate) fn lend(base: u64, bytes: usize, owner: &Arc<Device>) -> Result<(), MemoryError> {
    let others = others(owner);
    let info = owner.memory.find(base);
    let is_allocated = info.is_some_and(|info| info.kind == AllocationKind::Host);
    for (index, other) in others.iter().enumerate() {
        let registered = match is_allocated {
            true => other.memory.register_shared(base, bytes),
            false => other.memory.register(base, bytes),
        };
        if let Err(error) = registered {
            for other in &others[..index] {
                let _ = other.memory.free(base);
            }
            return Err(error);
        }
    }
    Ok(())
}
