//! Private memory of a launch: each worker has the memory of one workgroup's waves.

use crate::{
    exec::LANES,
    memory::{AllocationKind, DeviceMemory, MemoryError},
    program::Kernel,
};

use super::start::UNDEFINED;

/// Private memory of a work-item whose kernel does not know how much it needs, in bytes.
const DYNAMIC_STACK_BYTES: u32 = 16 << 10;

/// A launch's private memory; freed with it.
pub(super) struct PrivateMemory<'a> {
    memory: &'a DeviceMemory,
    base: Option<u64>,
    /// Bytes of a work-item.
    pub(super) bytes: u32,
    /// What a workgroup's memory holds that nobody wrote.
    blank: Vec<u8>,
}

impl Drop for PrivateMemory<'_> {
    fn drop(&mut self) {
        if let Some(base) = self.base {
            // Allocated by `new` and known to nobody else.
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
    /// For `workers` workgroups of `waves` waves at a time.
    pub(super) fn new(
        kernel: &Kernel,
        memory: &'a DeviceMemory,
        waves: u32,
        workers: usize,
    ) -> Result<Self, MemoryError> {
        let bytes = bytes_of(kernel);
        if bytes == 0 {
            return Ok(PrivateMemory {
                memory,
                base: None,
                bytes,
                blank: Vec::new(),
            });
        }
        let group = wave_bytes(bytes).saturating_mul(waves as usize);
        let total = group.saturating_mul(workers);
        let base = memory.allocate(total, AllocationKind::Private)?;
        Ok(PrivateMemory {
            memory,
            base: Some(base),
            bytes,
            blank: UNDEFINED.to_le_bytes().repeat(group / 4),
        })
    }

    /// The memory of a worker's next workgroup, as nobody has written it; 0 if there is none.
    pub(super) fn workgroup(&self, worker: usize) -> Result<u64, MemoryError> {
        let Some(base) = self.base else {
            return Ok(0);
        };
        let start = base + (worker * self.blank.len()) as u64;
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
