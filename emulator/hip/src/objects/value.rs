//! A value in memory that a stream waits for or writes.

use std::{sync::Arc, thread, time::Duration};

use crate::{error::Failure, runtime::Device};

/// When a wait ends, for a masked value in memory and the wait's own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    GreaterOrEqual,
    Equal,
    And,
    Nor,
}

/// A write, or a wait.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) device: Arc<Device>,
    pub(crate) address: u64,
    pub(crate) value: u64,
    /// Its length: 4 or 8.
    pub(crate) bytes: usize,
    /// The condition and the mask of a wait; `None` for a write.
    pub(crate) wait: Option<(Condition, u64)>,
}

/// How long a wait sleeps between two looks at the value.
const PAUSE: Duration = Duration::from_micros(20);

impl Value {
    /// Writes the value, or waits for it. An error if the memory was freed.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let memory = &self.device.memory;
        let Some((condition, mask)) = self.wait else {
            memory.write(self.address, &self.value.to_le_bytes()[..self.bytes])?;
            return Ok(());
        };
        loop {
            let mut bytes = [0; 8];
            memory.read(self.address, &mut bytes[..self.bytes])?;
            let found = u64::from_le_bytes(bytes);
            let (value, unused) = (self.value, 64 - 8 * self.bytes as u32);
            // By the documentation of `hipStreamWaitValue64`.
            let over = match condition {
                Condition::GreaterOrEqual => found & mask >= value,
                Condition::Equal => found & mask == value,
                Condition::And => found & mask & value != 0,
                Condition::Nor => !((found & mask) | (value & mask)) << unused != 0,
            };
            if over {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
    }
}
