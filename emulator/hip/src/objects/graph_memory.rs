//! Memory that graphs allocate and free.

use std::{ffi::c_void, ptr, sync::Arc};

use crate::{
    error::Failure,
    runtime::{Device, Runtime, allocations::MadeBy, graph_memories::Reserved},
};

/// A graph's memory on a device.
#[derive(Clone)]
pub(crate) struct GraphMemory {
    pub(crate) device: Arc<Device>,
    reserved: Arc<Reserved>,
}

impl GraphMemory {
    /// Reserves an address range on a device. `accesses` are address and length of the program's list of accesses.
    pub(crate) fn new(
        device: &Arc<Device>,
        bytes: usize,
        accesses: (usize, usize),
    ) -> Result<Self, Failure> {
        let place = device.memory.reserve(bytes)?;
        Ok(GraphMemory {
            device: Arc::clone(device),
            reserved: device.graph_memories.keep(place, accesses),
        })
    }

    /// The memory that starts at an address, on any device.
    pub(crate) fn find(address: *const c_void) -> Option<Self> {
        let devices = Runtime::get().with_devices(|devices| {
            let of = |device: &Arc<Device>| {
                let reserved = device.graph_memories.find(address.addr() as u64)?;
                Some(GraphMemory {
                    device: Arc::clone(device),
                    reserved,
                })
            };
            devices.iter().flatten().find_map(of)
        });
        devices.ok().flatten()
    }

    /// Whether both are the same memory.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.reserved, &other.reserved)
    }

    /// Its address.
    pub(crate) fn address(&self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.reserved.place.base() as usize)
    }

    /// Its length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.reserved.place.bytes()
    }

    /// Address and length of the program's list of accesses.
    pub(crate) fn accesses(&self) -> (usize, usize) {
        self.reserved.accesses
    }

    /// Allocates it.
    pub(crate) fn allocate(&self) -> Result<(), Failure> {
        let place = &self.reserved.place;
        self.device.memory.allocate_reserved(place)?;
        self.reserved.was_allocated();
        let by = MadeBy::Graph(Arc::clone(&self.reserved));
        self.device.allocations.keep(place.base(), by, 0);
        Ok(())
    }

    /// Frees it.
    pub(crate) fn free(&self) -> Result<(), Failure> {
        let base = self.reserved.place.base();
        let is_graphs = |by: &MadeBy| matches!(by, MadeBy::Graph(_));
        let made = self.device.allocations.take(base, is_graphs);
        let made = made.ok_or_else(|| self.not_allocated())?;
        self.device.unlend(base, &made);
        self.device.release(base)
    }

    /// Whether it is allocated after all work submitted so far.
    pub(crate) fn is_allocated(&self) -> bool {
        self.reserved.is_allocated()
    }

    /// Records that it is allocated after the work submitted so far.
    pub(crate) fn will_be_allocated(&self) {
        self.reserved.set_allocated(true);
    }

    /// Records that it is free after the work submitted so far. An error if it was free already.
    pub(crate) fn will_be_free(&self) -> Result<(), Failure> {
        match self.reserved.set_allocated(false) {
            true => Ok(()),
            false => Err(self.not_allocated()),
        }
    }

    /// Records that it is free after the work submitted so far, whether or not it was allocated.
    pub(crate) fn forget(&self) {
        self.reserved.set_allocated(false);
    }

    pub(crate) fn not_allocated(&self) -> Failure {
        Failure::value(format_args!(
            "{:p}, the memory of a graph, was not allocated, or was freed before",
            self.address()
        ))
    }
}
