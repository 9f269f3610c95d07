//! The heap that kernels allocate from with `malloc`, by ROCm's device library (`ockl/src/dm.cl`).
//!
//! The device library keeps its own state in memory that begins as 0, and asks the host for slabs of 2 MiB and for large
//! allocations. They are parts of one allocation, so that a launch sees memory that it asks for while it runs.

use std::{
    collections::BTreeMap,
    sync::{MutexGuard, PoisonError},
};

use super::{AllocationKind, DeviceMemory, MemoryError, PAGE_BYTES};

/// Size of the device library's state, as in ROCm's CLR (`HeapBufferSize`).
const STATE_BYTES: usize = 128 << 10;

/// Size and alignment of a slab.
const SLAB_BYTES: u64 = 2 << 20;

/// The most memory for parts. The host's memory is used where kernels write to it.
const MOST_BYTES: u64 = 4 << 30;

/// Size of the smallest heap.
const LEAST_BYTES: u64 = 16 << 20;

/// The heap of a device.
pub(super) struct Heap {
    /// The address of the device library's state.
    state: u64,
    /// Free ranges: lengths by address.
    free: BTreeMap<u64, u64>,
    /// Parts that kernels have: lengths by address.
    taken: BTreeMap<u64, u64>,
}

impl Heap {
    fn take(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.checked_next_multiple_of(PAGE_BYTES as u64)?;
        let alignment = match bytes {
            SLAB_BYTES.. => SLAB_BYTES,
            _ => PAGE_BYTES as u64,
        };
        let fits = |(&start, &length): (&u64, &u64)| {
            let at = start.next_multiple_of(alignment);
            (at - start + bytes <= length).then_some((start, length, at))
        };
        let (start, length, at) = self.free.iter().find_map(fits)?;
        self.free.remove(&start);
        let (before, after) = (at - start, start + length - at - bytes);
        self.free.extend((before > 0).then_some((start, before)));
        self.free.extend((after > 0).then_some((at + bytes, after)));
        self.taken.insert(at, bytes);
        Some(at)
    }

    fn give_back(&mut self, address: u64) {
        let Some(mut bytes) = self.taken.remove(&address) else {
            return;
        };
        let mut start = address;
        bytes += self.free.remove(&(address + bytes)).unwrap_or(0);
        if let Some((&before, &length)) = self.free.range(..address).next_back()
            && before + length == address
        {
            (start, bytes) = (before, bytes + length);
        }
        self.free.insert(start, bytes);
    }
}

impl DeviceMemory {
    fn heap(&self) -> MutexGuard<'_, Option<Heap>> {
        // Its state is consistent between statements.
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of the device library's state. The first call makes the heap.
    pub(crate) fn heap_state(&self) -> Result<u64, MemoryError> {
        let mut heap = self.heap();
        if let Some(heap) = &*heap {
            return Ok(heap.state);
        }
        let state = self.allocate(STATE_BYTES, AllocationKind::Heap)?;
        self.fill(state, &[0; PAGE_BYTES], STATE_BYTES / PAGE_BYTES)?;
        let mut bytes = MOST_BYTES.min(self.capacity_bytes() / 4);
        let base = loop {
            // The host may have less memory than the device.
            match self.allocate(bytes as usize, AllocationKind::Heap) {
                Err(_) if bytes > LEAST_BYTES => bytes /= 2,
                allocated => break allocated,
            }
        };
        let base = base.inspect_err(|_| {
            let _ = self.free(state);
        })?;
        let start = base.next_multiple_of(PAGE_BYTES as u64);
        *heap = Some(Heap {
            state,
            free: BTreeMap::from([(start, base + bytes - start)]),
            taken: BTreeMap::new(),
        });
        Ok(state)
    }

    /// Frees the part at an address, or takes a part of `bytes` for address 0. Returns its address, or 0 if none is left.
    pub(crate) fn heap_request(&self, address: u64, bytes: u64) -> u64 {
        // A kernel may call it without a heap only by mistake.
        if self.heap_state().is_err() {
            return 0;
        }
        match (&mut *self.heap(), address) {
            (Some(heap), 0) => heap.take(bytes).unwrap_or(0),
            (Some(heap), address) => {
                heap.give_back(address);
                0
            }
            (None, _) => 0,
        }
    }
}
