//! Private memory of a launch: slots for the workgroups that have started and not ended.

use std::sync::{Mutex, PoisonError};

use crate::memory::{AllocationKind, DeviceMemory, MemoryError};
use crate::program::Kernel;

use super::INITIAL;

/// Private memory of a work-item whose kernel has a dynamic stack, in bytes.
const DYNAMIC_STACK_BYTES: u32 = 16 << 10;

/// Maximum bytes for slots that are not strictly needed.
const LITTLE_BYTES: usize = 16 << 20;

/// A launch's private memory; freed on drop.
pub(super) struct PrivateMemory<'a> {
    memory: &'a DeviceMemory,
    base: Option<u64>,
    /// Bytes per work-item.
    pub(super) bytes: u32,
    /// Lanes of a wave.
    wave_size: u32,
    /// The initial contents of a workgroup's private memory.
    blank: Vec<u8>,
    /// The free slots.
    free: Mutex<Vec<usize>>,
}

impl Drop for PrivateMemory<'_> {
    fn drop(&mut self) {
        if let Some(base) = self.base {
            // `new` allocated it, and only this value knows the address.
            let _ = self.memory.free(base);
        }
    }
}

/// Bytes of private memory per work-item of a kernel.
pub(super) fn bytes_of(kernel: &Kernel) -> u32 {
    let description = kernel.description();
    let fixed = description
        .metadata
        .private_segment_fixed_size
        .max(description.descriptor.private_segment_fixed_size);
    let dynamic =
        description.metadata.uses_dynamic_stack || description.descriptor.uses_dynamic_stack;
    let least = if dynamic { DYNAMIC_STACK_BYTES } else { 0 };
    fixed.max(least).checked_next_multiple_of(4).unwrap_or(!3)
}

impl<'a> PrivateMemory<'a> {
    /// Slots for workgroups of `waves` waves: at least `needed`, and up to `wanted` while that needs little memory. The
    /// first `needed` slots are the caller's from the start; the others are free.
    pub(super) fn new(
        kernel: &Kernel,
        memory: &'a DeviceMemory,
        waves: u32,
        needed: usize,
        wanted: usize,
    ) -> Result<Self, MemoryError> {
        let (bytes, wave_size) = (bytes_of(kernel), kernel.wave_size());
        if bytes == 0 {
            return Ok(PrivateMemory {
                memory,
                base: None,
                bytes,
                wave_size,
                blank: Vec::new(),
                free: Mutex::default(),
            });
        }
        let group = wave_bytes(bytes, wave_size).saturating_mul(waves as usize);
        let places = wanted.min(LITTLE_BYTES / group).max(needed);
        let allocate =
            |places| memory.allocate(group.saturating_mul(places), AllocationKind::Private);
        let (base, places) = match allocate(places) {
            Ok(base) => (base, places),
            Err(_) => (allocate(needed)?, needed),
        };
        Ok(PrivateMemory {
            memory,
            base: Some(base),
            bytes,
            wave_size,
            blank: INITIAL.to_le_bytes().repeat(group / 4),
            free: Mutex::new((needed..places).rev().collect()),
        })
    }

    /// Takes a free slot, if there is one. Without private memory this always succeeds.
    pub(super) fn take(&self) -> Option<usize> {
        if self.base.is_none() {
            return Some(0);
        }
        // A panic elsewhere cannot leave the list inconsistent.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.pop()
    }

    /// Returns a slot.
    pub(super) fn give(&self, place: usize) {
        if self.base.is_some() {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            free.push(place);
        }
    }

    /// Initializes the memory of a slot for its next workgroup, and returns its address; 0 without private memory.
    pub(super) fn workgroup(&self, place: usize) -> Result<u64, MemoryError> {
        let Some(base) = self.base else {
            return Ok(0);
        };
        let start = base + (place * self.blank.len()) as u64;
        self.memory.write(start, &self.blank)?;
        Ok(start)
    }

    /// Bytes per wave.
    pub(super) fn wave_bytes(&self) -> u64 {
        wave_bytes(self.bytes, self.wave_size) as u64
    }
}

fn wave_bytes(bytes: u32, wave_size: u32) -> usize {
    wave_size as usize * bytes as usize
}
