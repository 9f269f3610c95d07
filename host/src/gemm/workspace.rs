//! The workspace of kernels that divide k, in a device's memory.

use super::plan::WorkspaceBytes;
use crate::hip::{BufferError, Context, DeviceBuffer};

/// A workspace that is kept from launch to launch, and grows.
#[derive(Debug, Default)]
pub(super) struct WorkspaceBuffer {
    buffer: Option<DeviceBuffer<u8>>,
    /// Bytes at the beginning that are 0: the counters of the last plan, which its kernel left so.
    clean_bytes: u64,
}

impl WorkspaceBuffer {
    /// The address of a workspace of this size, its counters 0. What follows the counters counts as dirty from here on,
    /// and the counters too until [`clean`](Self::clean) says that the launches were well.
    pub(super) fn reserve(
        &mut self,
        context: &Context,
        bytes: WorkspaceBytes,
    ) -> Result<u64, BufferError> {
        if bytes.all == 0 {
            return Ok(0);
        }
        let length = usize::try_from(bytes.all).unwrap_or(usize::MAX);
        let buffer = match self.buffer.take() {
            Some(buffer) if buffer.len() >= length => self.buffer.insert(buffer),
            smaller => {
                // Both at once may be more than there is room for.
                drop(smaller);
                self.clean_bytes = 0;
                self.buffer.insert(context.allocate(length)?)
            }
        };
        if self.clean_bytes < bytes.counters {
            buffer.fill_bytes(0)?;
        }
        self.clean_bytes = 0;
        Ok(buffer.address())
    }

    /// Says that the launches of a plan with these counters came to their end.
    pub(super) fn clean(&mut self, bytes: WorkspaceBytes) {
        self.clean_bytes = bytes.counters;
    }

    /// The counters, as the last plan's kernel left them.
    pub(super) fn counters(&self) -> Result<Vec<u32>, BufferError> {
        let Some(buffer) = &self.buffer else {
            return Ok(Vec::new());
        };
        // Not longer than the buffer, and so fitting.
        let bytes = buffer.first(self.clean_bytes as usize)?;
        let counters = bytes.as_chunks().0.iter();
        Ok(counters.map(|&bytes| u32::from_le_bytes(bytes)).collect())
    }
}
