//! Host memory of one allocation, whole pages of it, with red zones on both sides.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ptr::{self, NonNull},
};

use super::{PADDING, PAGE_BYTES, RED_ZONE_BYTES, shared};

/// Alignment of what `hipMalloc` returns.
pub(super) const ALIGNMENT: usize = 256;

/// Bytes of a large page on most hosts.
#[cfg(all(target_os = "linux", not(miri)))]
const LARGE_PAGE_BYTES: u64 = 2 << 20;

/// Memory that waves and copies access only as [`shared`] says.
pub(super) struct Block {
    start: NonNull<u8>,
    layout: Layout,
    /// Length of what is in front of the allocation, a red zone among it.
    front: usize,
    bytes: usize,
    /// Whether the memory is the program's own, which it has lent.
    lent: bool,
}

// SAFETY: the block owns its memory, and no reference into it exists: all access is as `shared` says, where races
// are none of Rust's.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// `bytes` of memory, or `None` if the host has not that much.
    pub(super) fn new(bytes: usize, alignment: usize) -> Option<Self> {
        let alignment = alignment.max(ALIGNMENT);
        // A whole unit of alignment in front keeps the allocation itself aligned.
        let front = RED_ZONE_BYTES.next_multiple_of(alignment);
        let pages = bytes.checked_next_multiple_of(PAGE_BYTES)?;
        let all = pages.checked_add(front + RED_ZONE_BYTES + alignment)?;
        // Zeroed memory costs nothing until it is touched, but only if the allocator is not asked to align it: then it
        // writes the zeros.
        let layout = Layout::from_size_align(all, 16).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let front = front + start.align_offset(alignment);
        // SAFETY: the red zone in front and the pages lie one behind the other in the memory, which is new and has room to
        // align them.
        unsafe {
            let end = start.as_ptr().add(front + bytes);
            end.write_bytes(PADDING, pages - bytes);
        }
        start.expose_provenance();
        Some(Block {
            start,
            layout,
            front,
            bytes,
            lent: false,
        })
    }

    /// Says that all of it will be written soon: the host may give it large pages, which take fewer faults.
    pub(super) fn will_be_written(&self) {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let from = self.base().next_multiple_of(PAGE_BYTES as u64);
            let to = (self.base() + self.bytes as u64) / PAGE_BYTES as u64 * PAGE_BYTES as u64;
            if from + LARGE_PAGE_BYTES <= to {
                let start = ptr::with_exposed_provenance_mut(from as usize);
                // SAFETY: the pages lie in the block, and the advice changes nothing of what they hold. It need not be
                // followed.
                unsafe { libc::madvise(start, (to - from) as usize, libc::MADV_HUGEPAGE) };
            }
        }
    }

    /// The program's own memory, without red zones; `None` for a null pointer or more than an address space has.
    pub(super) fn lent(address: u64, bytes: usize) -> Option<Self> {
        let start = NonNull::new(ptr::with_exposed_provenance_mut(address as usize))?;
        start.addr().get().checked_add(bytes)?;
        Some(Block {
            start,
            layout: Layout::from_size_align(bytes, 1).ok()?,
            front: 0,
            bytes,
            lent: true,
        })
    }

    /// The allocation's first address, behind the red zone.
    pub(super) fn base(&self) -> u64 {
        (self.start.addr().get() + self.front) as u64
    }

    /// Where its memory begins, and how many bytes it has, red zones included.
    pub(super) fn extent(&self) -> (u64, usize) {
        (self.start.addr().get() as u64, self.layout.size())
    }

    /// The address of `offset`, behind which `bytes` must be part of the block.
    fn address(&self, offset: usize, bytes: usize) -> u64 {
        assert!(
            offset
                .checked_add(bytes)
                .is_some_and(|end| end <= self.bytes),
            "the caller checked the range against the allocation"
        );
        self.base() + offset as u64
    }

    pub(super) fn read(&self, offset: usize, to: &mut [u8]) {
        let from = self.address(offset, to.len());
        // SAFETY: `address` checked the range.
        unsafe { shared::copy_from(from, to) }
    }

    pub(super) fn write(&self, offset: usize, from: &[u8]) {
        let to = self.address(offset, from.len());
        // SAFETY: `address` checked the range.
        unsafe { shared::copy_to(to, from) }
    }

    pub(super) fn copy_from(
        &self,
        offset: usize,
        source: &Block,
        source_offset: usize,
        bytes: usize,
    ) {
        let to = self.address(offset, bytes);
        // SAFETY: both ranges were checked.
        unsafe { shared::copy(to, source.address(source_offset, bytes), bytes) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.lent {
            return;
        }
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}
