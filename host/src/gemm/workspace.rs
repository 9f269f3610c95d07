//! The device buffer for the workspace of kernels that divide k.

use super::plan::WorkspaceBytes;
use crate::hip::{BufferError, Context, DeviceBuffer};

/// A workspace that is kept from launch to launch and grows as needed.
#[derive(Debug, Default)]
pub(super) struct WorkspaceBuffer {
    buffer: Option<DeviceBuffer<u8>>,
    /// Bytes at the beginning that are known to be 0: the counters of the last plan, which its kernel reset.
    clean_bytes: u64,
}

impl WorkspaceBuffer {
    /// The address of a workspace of this size with counters of 0. From here on its contents count as unknown, until
    /// [`clean`](Self::clean) says that the launches succeeded and the counters are 0 again.
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
                // There may not be enough memory for both.
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

    /// Says that the launches of a plan with these counters succeeded.
    pub(super) fn clean(&mut self, bytes: WorkspaceBytes) {
        if bytes.all > 0 {
            self.clean_bytes = bytes.counters;
        }
    }

    /// The counters after the last plan's launches.
    pub(super) fn counters(&self) -> Result<Vec<u32>, BufferError> {
        let Some(buffer) = &self.buffer else {
            return Ok(Vec::new());
        };
        // At most the buffer's length, which is a `usize`.
        let bytes = buffer.first(self.clean_bytes as usize)?;
        let counters = bytes.as_chunks().0.iter();
        Ok(counters.map(|&bytes| u32::from_le_bytes(bytes)).collect())
    }
}
