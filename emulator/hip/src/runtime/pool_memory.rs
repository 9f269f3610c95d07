//! The memory of a pool: what is in use, and what was freed and is kept for later allocations.

use std::{
    cell::LazyCell,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use super::count::Count;
use crate::task::Task;
use ferrowave_emulator::memory::{DeviceMemory, Group};

/// The memory of a pool. Its allocations keep it.
pub(crate) struct PoolMemory {
    device: Arc<DeviceMemory>,
    /// Its allocations, for the devices that can access them.
    group: Arc<Group>,
    /// Whether it is managed memory.
    pub(crate) is_managed: bool,
    /// Bytes in use.
    pub(crate) used: Count,
    /// Bytes in use and kept.
    pub(crate) reserved: Count,
    /// The attributes that the program can set, in order: whether other streams reuse memory if they wait for the stream that
    /// freed it, if it is free already, and by waiting (which has no effect); and the most bytes that stay kept when the
    /// program waits for work.
    pub(crate) settings: [AtomicU64; 4],
    /// Whether freed memory is kept.
    keeps: AtomicBool,
    kept: Mutex<Vec<Kept>>,
}

/// Freed memory.
struct Kept {
    base: u64,
    bytes: u64,
    /// The stream of the device that freed it, whose later work may use it again.
    stream: Option<usize>,
    /// The work after which it is free for all; `None` if the host has waited.
    freed: Option<Arc<Task>>,
}

impl Kept {
    fn is_free(&self) -> bool {
        self.freed.as_ref().is_none_or(|task| task.is_over())
    }
}

impl PoolMemory {
    /// `keeps` says whether freed memory is kept.
    pub(crate) fn new(
        device: &Arc<DeviceMemory>,
        is_managed: bool,
        settings: [u64; 4],
        keeps: bool,
    ) -> Self {
        PoolMemory {
            device: Arc::clone(device),
            group: Arc::default(),
            is_managed,
            used: Count::default(),
            reserved: Count::default(),
            settings: settings.map(AtomicU64::new),
            keeps: AtomicBool::new(keeps),
            kept: Mutex::default(),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // A poisoned lock is ignored: the list is valid between statements.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a new allocation.
    pub(crate) fn take(&self, base: u64, bytes: u64) {
        // Fails only if another thread freed all of the device's memory.
        let _ = self.device.set_group(base, &self.group);
        self.reserved.take(bytes);
        self.used.take(bytes);
    }

    /// Lets a device access this memory, also what is allocated later.
    pub(crate) fn let_access(&self, device: &DeviceMemory) {
        device.enable_group(&self.device, &self.group);
    }

    /// The address of freed memory of this length that later work of a stream may use, now in use again. Other lengths are not
    /// used, so that the allocation ends where the program's ends. `stream` is `None` for a stream of another device; `mark`
    /// gives a task after all of its work.
    pub(crate) fn reuse(
        &self,
        bytes: u64,
        stream: Option<usize>,
        mark: impl FnOnce() -> Arc<Task>,
    ) -> Option<u64> {
        let is_set = |index: usize| self.settings[index].load(Ordering::Relaxed) != 0;
        let (if_awaited, if_free) = (is_set(0), is_set(1));
        let mark = LazyCell::new(mark);
        let mut kept = self.kept();
        let is_awaited = |memory: &Kept| {
            let freed = memory.freed.as_ref();
            freed.is_some_and(|freed| freed.is_awaited_by(&mark))
        };
        let fits = |memory: &Kept| {
            memory.bytes == bytes
                && (stream.is_some() && memory.stream == stream
                    || if_free && memory.is_free()
                    || if_awaited && is_awaited(memory))
        };
        let index = kept.iter().position(fits)?;
        let memory = kept.remove(index);
        self.used.take(bytes);
        Some(memory.base)
    }

    /// Keeps memory that a stream frees, when its work so far is done, or that is free already. Returns false if the pool keeps
    /// no memory: then the caller frees it.
    pub(crate) fn keep(
        &self,
        base: u64,
        bytes: u64,
        stream: Option<usize>,
        freed: Option<Arc<Task>>,
    ) -> bool {
        self.used.give_back(bytes);
        // The lock orders this with `close`.
        let mut kept = self.kept();
        let keeps = self.keeps.load(Ordering::Relaxed);
        match keeps {
            true => kept.push(Kept {
                base,
                bytes,
                stream,
                freed,
            }),
            false => self.reserved.give_back(bytes),
        }
        keeps
    }

    /// Records that an allocation is gone with its device's memory.
    pub(crate) fn lose(&self, bytes: u64) {
        self.used.give_back(bytes);
        self.reserved.give_back(bytes);
    }

    /// Releases what is kept, as far as it is free by now, until at most this many bytes are kept.
    pub(crate) fn trim(&self, most: u64) {
        let mut kept = self.kept();
        let mut total: u64 = kept.iter().map(|memory| memory.bytes).sum();
        kept.retain(|memory| {
            let stays = total <= most || !memory.is_free();
            if !stays {
                total -= memory.bytes;
                self.release(memory);
            }
            stays
        });
    }

    /// As [`Self::trim`], to what the program wants to be kept when it waits for work.
    pub(crate) fn trim_to_threshold(&self) {
        self.trim(self.settings[3].load(Ordering::Relaxed));
    }

    /// Releases all that is kept, also what is not free yet, for which the caller waits.
    pub(crate) fn release_all(&self) {
        for memory in self.kept().drain(..) {
            self.release(&memory);
        }
    }

    /// Ends the pool: what is kept is released once it is free, and what is freed later is not kept.
    pub(crate) fn close(&self) -> Vec<Arc<Task>> {
        let kept = self.kept();
        self.keeps.store(false, Ordering::Relaxed);
        let unfinished = kept.iter().filter_map(|memory| memory.freed.clone());
        unfinished.filter(|task| !task.is_over()).collect()
    }

    fn release(&self, memory: &Kept) {
        self.reserved.give_back(memory.bytes);
        // It may have gone with all of the device's memory.
        let _ = self.device.free(memory.base);
    }
}

impl Drop for PoolMemory {
    fn drop(&mut self) {
        self.release_all();
    }
}
