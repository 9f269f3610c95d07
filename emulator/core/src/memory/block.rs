//! The host memory of one allocation: whole pages of a GPU or whole blocks of ROCr, with red zones on both sides.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ffi::c_int,
    io,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{BLOCK_BYTES, PADDING, PAGE_BYTES, RED_ZONE_BYTES, host, own_pages::OwnPages, shared};

/// Alignment of what `hipMalloc` returns.
pub(super) const ALIGNMENT: usize = 256;

/// Bytes of a large page on most hosts.
#[cfg(all(target_os = "linux", not(miri)))]
const LARGE_PAGE_BYTES: u64 = 2 << 20;

/// Where a block's memory is from.
enum Source {
    Heap,
    /// Pages of the block's own, which can be shared with other processes.
    Pages(OwnPages),
    /// The program.
    Lent,
}

/// Memory that is accessed only through [`shared`].
pub(super) struct Block {
    start: NonNull<u8>,
    layout: Layout,
    /// Bytes before the allocation, including a red zone.
    front: usize,
    bytes: usize,
    /// Bytes from the allocation's first one to the second red zone, which kernels can access.
    reachable: usize,
    source: Source,
}

// SAFETY: the block owns its memory, and there are no references into it. All accesses go through `shared`, where
// concurrent accesses are not data races in Rust's sense.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// Allocates `bytes`, or returns `None` if the host does not have that much memory.
    pub(super) fn new(bytes: usize, alignment: usize) -> Option<Self> {
        // SAFETY: a layout's size is not zero here.
        Self::from_source(bytes, alignment, PAGE_BYTES, |layout| unsafe {
            Some((NonNull::new(alloc_zeroed(layout))?, Source::Heap))
        })
    }

    /// As [`Self::new`], in pages of its own where the host has such; then kernels reach a whole number of [`BLOCK_BYTES`].
    /// What lies behind the allocation's last page is 0, as in a block that the driver has cleared, and takes no room.
    pub(super) fn in_own_pages(bytes: usize, alignment: usize) -> Option<Self> {
        let block = Self::from_source(bytes, alignment, BLOCK_BYTES, |layout| {
            let pages = OwnPages::new(layout.size())?;
            Some((pages.start()?, Source::Pages(pages)))
        });
        block.or_else(|| Self::new(bytes, alignment))
    }

    /// Allocates a whole number of `granule` bytes with a function that gives zeroed memory for a layout whose size is
    /// not zero.
    fn from_source(
        bytes: usize,
        alignment: usize,
        granule: usize,
        zeroed: impl FnOnce(Layout) -> Option<(NonNull<u8>, Source)>,
    ) -> Option<Self> {
        let alignment = alignment.max(ALIGNMENT);
        // A multiple of the alignment in front keeps the allocation itself aligned.
        let front = RED_ZONE_BYTES.next_multiple_of(alignment);
        let pages = bytes.checked_next_multiple_of(PAGE_BYTES)?;
        let reachable = bytes.checked_next_multiple_of(granule)?;
        let all = reachable.checked_add(front + RED_ZONE_BYTES + alignment)?;
        // Zeroed memory costs nothing until it is touched, but only with the allocator's default alignment: for a
        // larger one, the allocator writes the zeros.
        let layout = Layout::from_size_align(all, 16).ok()?;
        let (start, source) = zeroed(layout)?;
        let front = front + start.align_offset(alignment);
        // SAFETY: the red zone, the pages and the alignment fit in the new memory.
        unsafe {
            let end = start.as_ptr().add(front + bytes);
            end.write_bytes(PADDING, pages - bytes);
        }
        let address = start.expose_provenance().get() as u64;
        let all = match source {
            Source::Pages(_) => layout.size().next_multiple_of(PAGE_BYTES),
            _ => layout.size(),
        };
        host::take(address, all);
        Some(Block {
            start,
            layout,
            front,
            bytes,
            reachable,
            source,
        })
    }

    /// Hints that all of it will be written soon: the host may use large pages, which cause fewer page faults.
    pub(super) fn will_be_written(&self) {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let from = self.base().next_multiple_of(PAGE_BYTES as u64);
            let to = (self.base() + self.bytes as u64) / PAGE_BYTES as u64 * PAGE_BYTES as u64;
            if from + LARGE_PAGE_BYTES <= to {
                let start = ptr::with_exposed_provenance_mut(from as usize);
                // SAFETY: the pages lie in the block, and the hint does not change their contents. The host may ignore
                // it.
                unsafe { libc::madvise(start, (to - from) as usize, libc::MADV_HUGEPAGE) };
            }
        }
    }

    /// Wraps the program's own memory, without red zones. `None` for a null pointer or a range that exceeds the address
    /// space.
    pub(super) fn lent(address: u64, bytes: usize) -> Option<Self> {
        let start = NonNull::new(ptr::with_exposed_provenance_mut(address as usize))?;
        start.addr().get().checked_add(bytes)?;
        Some(Block {
            start,
            layout: Layout::from_size_align(bytes, 1).ok()?,
            front: 0,
            bytes,
            reachable: bytes,
            source: Source::Lent,
        })
    }

    /// Moves the memory to a file in memory, which other processes can map, unless it is there already. Returns the
    /// file's descriptor and number, and the allocation's offset in it; `None` if the block has no pages of its own.
    pub(super) fn share(&self) -> Option<io::Result<(c_int, u64, usize)>> {
        let Source::Pages(pages) = &self.source else {
            return None;
        };
        let shared = pages.share();
        Some(shared.map(|(descriptor, inode)| (descriptor, inode, self.front)))
    }

    /// The first address of the allocation, after the red zone.
    pub(super) fn base(&self) -> u64 {
        (self.start.addr().get() + self.front) as u64
    }

    /// The start and length of the memory, including red zones.
    pub(super) fn extent(&self) -> (u64, usize) {
        (self.start.addr().get() as u64, self.layout.size())
    }

    /// The length of the allocation with what lies behind it and can be accessed; the program's own memory has no such rest.
    pub(super) const fn reachable_bytes(&self) -> usize {
        self.reachable
    }

    /// The same, at most to the end of the allocation's last page.
    pub(super) fn padded_bytes(&self) -> usize {
        self.bytes.next_multiple_of(PAGE_BYTES).min(self.reachable)
    }

    /// The address at `offset`. Panics if `bytes` from there are not inside the pages of the allocation.
    fn address(&self, offset: usize, bytes: usize) -> u64 {
        assert!(
            offset
                .checked_add(bytes)
                .is_some_and(|end| end <= self.padded_bytes()),
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

    /// Panics if the address is not a multiple of 8.
    pub(super) fn swap(&self, offset: usize, word: u64) -> u64 {
        let address = self.address(offset, 8);
        assert!(address.is_multiple_of(8), "the caller chose the address");
        let word_at = ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: `address` checked the range, and the address is aligned. Waves change such words with atomic operations.
        unsafe { AtomicU64::from_ptr(word_at) }.swap(word, Ordering::AcqRel)
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
        if !matches!(self.source, Source::Lent) {
            host::give_back(self.extent().0);
        }
        if matches!(self.source, Source::Heap) {
            // SAFETY: `new` allocated it with this layout.
            unsafe { dealloc(self.start.as_ptr(), self.layout) }
        }
    }
}
