//! Bytes in use.

use std::sync::atomic::{AtomicU64, Ordering};

/// Current and maximum number of bytes in use.
#[derive(Default)]
pub(crate) struct Count {
    now: AtomicU64,
    high: AtomicU64,
}

impl Count {
    pub(crate) fn take(&self, bytes: u64) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.high.fetch_max(now, Ordering::Relaxed);
    }

    pub(crate) fn give_back(&self, bytes: u64) {
        self.now.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn high(&self) -> u64 {
        self.high.load(Ordering::Relaxed)
    }

    /// Begins the maximum anew, at 0 and not at what is in use, as CLR does (`MemoryPool::SetAttribute` in
    /// `hip_mempool_impl.cpp`).
    pub(crate) fn reset_high(&self) {
        self.high.store(0, Ordering::Relaxed);
    }
}
