//! Private memory of a launch: places for the waves of as many workgroups as are under way at once.

use std::sync::{Mutex, PoisonError};

use crate::exec::LANES;
use crate::memory::{AllocationKind, DeviceMemory, MemoryError};
use crate::program::Kernel;

use super::UNDEFINED;

/// Private memory of a work-item whose kernel does not know how much it needs, in bytes.
const DYNAMIC_STACK_BYTES: u32 = 16 << 10;

/// Bytes that a launch may take for places that it might not need.
const LITTLE_BYTES: usize = 16 << 20;

/// A launch's private memory; freed with it.
pub(super) struct PrivateMemory<'a> {
    memory: &'a DeviceMemory,
    base: Option<u64>,
    /// Bytes of a work-item.
    pub(super) bytes: u32,
    /// What a workgroup's uninitialized memory holds.
    blank: Vec<u8>,
    /// The places that no workgroup has.
    free: Mutex<Vec<usize>>,
}

impl Drop for PrivateMemory<'_> {
    fn drop(&mut self) {
        if let Some(base) = self.base {
            // Allocated by `new`; nothing else knows the address.
            let _ = self.memory.free(base);
        }
    }
}

/// Bytes of private memory that a work-item of a kernel has.
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
    /// For workgroups of `waves` waves: places for `needed` of them, and for up to `wanted` while that takes little memory.
    pub(super) fn new(
        kernel: &Kernel,
        memory: &'a DeviceMemory,
        waves: u32,
        needed: usize,
        wanted: usize,
    ) -> Result<Self, MemoryError> {
        let bytes = bytes_of(kernel);
        if bytes == 0 {
            return Ok(PrivateMemory {
                memory,
                base: None,
                bytes,
                blank: Vec::new(),
                free: Mutex::default(),
            });
        }
        let group = wave_bytes(bytes).saturating_mul(waves as usize);
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
            blank: UNDEFINED.to_le_bytes().repeat(group / 4),
            free: Mutex::new((0..places).rev().collect()),
        })
    }

    /// A place for a workgroup, if there is one left; always, where the kernel has no private memory.
    pub(super) fn take(&self) -> Option<usize> {
        if self.base.is_none() {
            return Some(0);
        }
        // Whole between statements.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.pop()
    }

    /// Gives a place back.
    pub(super) fn give(&self, place: usize) {
        if self.base.is_some() {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            free.push(place);
        }
    }

    /// The memory of a place's next workgroup, uninitialized; 0 if there is none.
    pub(super) fn workgroup(&self, place: usize) -> Result<u64, MemoryError> {
        let Some(base) = self.base else {
            return Ok(0);
        };
        let start = base + (place * self.blank.len()) as u64;
        self.memory.write(start, &self.blank)?;
        Ok(start)
    }

    /// Bytes of a wave.
    pub(super) fn wave_bytes(&self) -> u64 {
        wave_bytes(self.bytes) as u64
    }
}

fn wave_bytes(bytes: u32) -> usize {
    LANES * bytes as usize
}
