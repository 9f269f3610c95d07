//! Pages of one block, which can become memory that other processes map.

use std::{
    ffi::c_int,
    fs::File,
    io,
    ptr::{self, NonNull},
    sync::{Mutex, PoisonError},
};

use super::{PAGE_BYTES, os, shared};

/// Zeroed pages.
pub(super) struct OwnPages {
    start: u64,
    bytes: usize,
    /// The file that they were moved to.
    file: Mutex<Option<File>>,
}

/// Bytes that are moved at a time.
const CHUNK_BYTES: usize = 64 << 10;

impl OwnPages {
    /// At least `bytes`; `None` if the host does not have them.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let bytes = bytes.checked_next_multiple_of(PAGE_BYTES)?;
        Some(OwnPages {
            start: os::pages(bytes).ok()?,
            bytes,
            file: Mutex::default(),
        })
    }

    pub(super) fn start(&self) -> Option<NonNull<u8>> {
        NonNull::new(ptr::with_exposed_provenance_mut(self.start as usize))
    }

    /// Moves the pages to a file, unless they are in one. Returns its descriptor, which stays open, and its number. What
    /// another thread writes meanwhile may be lost.
    pub(super) fn share(&self) -> io::Result<(c_int, u64)> {
        // A poisoned lock is ignored: the file is set last.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*file {
            return os::identity(file);
        }
        let new = os::create(self.bytes)?;
        let mut chunk = vec![0; CHUNK_BYTES.min(self.bytes)];
        for offset in (0..self.bytes).step_by(CHUNK_BYTES) {
            let chunk = &mut chunk[..CHUNK_BYTES.min(self.bytes - offset)];
            // SAFETY: the chunk lies in the pages.
            unsafe { shared::copy_from(self.start + offset as u64, chunk) };
            // What is not written takes no room in the file either.
            if chunk.iter().any(|&byte| byte != 0) {
                os::write(&new, offset, chunk)?;
            }
        }
        // SAFETY: the pages are the block's own. Nothing has a reference to them, because all accesses go through
        // `shared`, and they have the same contents afterwards.
        unsafe { os::map(self.start, self.bytes, Some(&new)) }?;
        os::identity(file.insert(new))
    }
}

impl Drop for OwnPages {
    fn drop(&mut self) {
        // SAFETY: `new` made the pages, and the block was the only one to access them.
        unsafe { os::free(self.start, self.bytes) }
    }
}
