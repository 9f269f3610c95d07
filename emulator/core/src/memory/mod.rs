//! Global memory: the memory that `hipMalloc` allocates.
//!
//! A device address is a host address. Every allocation lies between two red zones, so that an access past an edge does
//! not hit another allocation. A [`View`] holds the allocations that exist when a launch starts: its waves check their
//! accesses without a lock, and the allocations stay alive until the launch ends.

mod block;
mod heap;
mod host;
mod mapping;
mod os;
mod own_pages;
mod peers;
mod reach;
mod reservation;
pub(crate) mod shared;
mod snapshot;
mod view;
mod written;

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use block::Block;
use heap::Heap;
use host::HostMemory;
pub use mapping::{Addresses, Mapped, Physical, Shared};
pub use peers::Group;
use peers::Peers;
pub use reach::Reach;
pub(crate) use reach::Writes;
pub use reservation::Reservation;
pub use snapshot::Snapshot;
pub use view::View;
pub use written::{Written, words};

/// Bytes on each side of an allocation that belong to no allocation.
pub const RED_ZONE_BYTES: usize = 256;

/// Size of the smallest page that AMD's GPUs map (Linux's amdgpu driver: `AMDGPU_GPU_PAGE_SIZE`).
pub const PAGE_BYTES: usize = 4096;

/// Size of the blocks in which ROCr takes a GPU's memory from the driver (`MemoryRegion::BlockAllocator` of ROCR-Runtime).
/// Allocations up to this size share blocks there; larger ones have a whole number of them.
pub const BLOCK_BYTES: usize = 2 << 20;

/// The value of the bytes from an allocation's end to the end of its last page, until a kernel writes them. In every
/// format of the matrix cores, this byte repeated is a number that is not tiny, infinite or NaN: a result that depends
/// on it is visibly wrong, but multiplying it by 0 gives 0.
pub const PADDING: u8 = 0x5a;

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationKind {
    /// `hipMalloc`.
    Device,
    /// `hipHostMalloc`.
    Host,
    /// `hipHostRegister`: the program's own memory.
    Registered,
    /// A loaded code object: kernels may write all of it but its code.
    CodeObject,
    /// Arguments and the dispatch packet of a launch.
    Launch,
    /// Private memory of a launch's waves.
    Private,
    /// What kernels allocate from with `malloc`.
    Heap,
    /// `hipMemMap`: physical memory at reserved addresses.
    Mapped,
}

impl fmt::Display for AllocationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AllocationKind::Device => "device allocation",
            AllocationKind::Host => "host allocation",
            AllocationKind::Registered => "registered host memory",
            AllocationKind::CodeObject => "code object",
            AllocationKind::Launch => "launch arguments",
            AllocationKind::Private => "private memory",
            AllocationKind::Heap => "heap of kernels",
            AllocationKind::Mapped => "mapped memory",
        })
    }
}

/// The place and kind of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    /// First address.
    pub base: u64,
    /// Requested length in bytes.
    pub bytes: usize,
    /// What it is for.
    pub kind: AllocationKind,
    /// Whether it is fine-grained: coherent with the host while a kernel runs. A GPU does not cache it for writing, so that
    /// atomic operations go to the fabric, which has fewer of them than the L2 cache.
    pub fine_grained: bool,
}

impl AllocationInfo {
    /// The address after its last byte.
    pub const fn end(&self) -> u64 {
        self.base + self.bytes as u64
    }

    /// The end of its last page, up to which a GPU at least lets kernels access it. Pages are counted from its first address,
    /// because a GPU's allocations start at a page. In the program's own memory, the host's pages count.
    pub fn page_end(&self) -> u64 {
        let pages_from = match self.kind {
            AllocationKind::Registered => 0,
            _ => self.base,
        };
        let bytes = (self.end() - pages_from).checked_next_multiple_of(PAGE_BYTES as u64);
        bytes.map_or(u64::MAX, |bytes| pages_from + bytes)
    }
}

impl fmt::Display for AllocationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AllocationInfo {
            base, bytes, kind, ..
        } = self;
        write!(f, "the {kind} of {bytes} bytes at {base:#x}")
    }
}

/// A request that device memory cannot satisfy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Not enough free memory.
    #[error("out of device memory: {requested} bytes asked for, {used} of {capacity} bytes in use")]
    OutOfMemory {
        /// Requested bytes.
        requested: usize,
        /// Bytes in use.
        used: u64,
        /// Total bytes.
        capacity: u64,
    },
    /// The address is not the start of an allocation.
    #[error("{address:#x} is not the start of an allocation")]
    NotAnAllocation {
        /// The address.
        address: u64,
    },
    /// Some of the bytes already belong to an allocation.
    #[error("some of the {bytes} bytes at {address:#x} belong to an allocation already")]
    Overlap {
        /// First address.
        address: u64,
        /// Length in bytes.
        bytes: usize,
    },
    /// Some of the bytes belong to no allocation, or to more than one.
    #[error("{bytes} bytes at {address:#x} are not inside one allocation")]
    OutOfBounds {
        /// First address.
        address: u64,
        /// Length in bytes.
        bytes: usize,
    },
    /// The memory is mapped for reading only.
    #[error("the memory at {address:#x} is mapped for reading only")]
    ReadOnly {
        /// First address.
        address: u64,
    },
}

struct Allocation {
    block: Arc<Block>,
    info: AllocationInfo,
    /// The readable ranges, and whether they are writable.
    reaches: Vec<Reach>,
    /// The written bytes, if the memory tracks writes.
    written: Option<Arc<Written>>,
    /// The place of the code, if it is a code object's image.
    code: Option<Arc<CodePlace>>,
    /// To what it belongs that other devices can have access to ([`DeviceMemory::enable_group`]).
    group: Option<Arc<Group>>,
}

/// The place of executable code and of its functions.
#[derive(Debug)]
pub(crate) struct CodePlace {
    /// The first word's address.
    pub(crate) address: u64,
    /// Its length in words.
    pub(crate) words: u32,
    /// Byte offsets of functions, in any order.
    pub(crate) starts: Vec<u64>,
}

#[derive(Default)]
struct State {
    allocations: BTreeMap<u64, Allocation>,
    used: u64,
    view: Option<Arc<View>>,
    /// Recently freed allocations whose addresses have not been reused. If their blocks are kept, the addresses are not
    /// reused.
    freed: VecDeque<(AllocationInfo, Option<Arc<Block>>)>,
    /// Bytes of the blocks in `freed`.
    kept_bytes: usize,
}

/// Maximum number of remembered freed allocations.
const MAX_FREED: usize = 64;
/// Maximum bytes of freed blocks that are kept, if the memory tracks writes.
const MAX_KEPT_BYTES: usize = 64 << 20;

impl State {
    fn remember_freed(&mut self, info: AllocationInfo, block: Option<Arc<Block>>) {
        if block.is_some() {
            self.kept_bytes += info.bytes;
        }
        self.freed.push_back((info, block));
        while self.freed.len() > MAX_FREED || self.kept_bytes > MAX_KEPT_BYTES {
            let Some((info, block)) = self.freed.pop_front() else {
                break;
            };
            if block.is_some() {
                self.kept_bytes -= info.bytes;
            }
        }
    }

    /// Forgets freed allocations where a new allocation or its red zone lies: a wrong access there is one outside of
    /// the new allocation.
    fn forget_freed(&mut self, (base, bytes): (u64, usize)) {
        let end = base + bytes as u64;
        self.freed.retain(|(info, block)| {
            let apart = end <= info.base || info.base + info.bytes as u64 <= base;
            if !apart && block.is_some() {
                // The reserved place was allocated again.
                self.kept_bytes -= info.bytes;
            }
            apart
        });
    }
}

/// A device's global memory.
pub struct DeviceMemory {
    capacity: u64,
    /// Whether it tracks which bytes were written, and keeps the addresses of freed allocations.
    accounts: bool,
    /// Whether kernels reach the program's own memory.
    reaches_host: bool,
    state: Mutex<State>,
    /// Made when a kernel that uses it is first launched.
    heap: Mutex<Option<Heap>>,
    /// The memory of other devices that this device's kernels can access.
    peers: Peers,
}

impl fmt::Debug for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceMemory")
            .field("capacity", &self.capacity)
            .field("used", &self.used_bytes())
            .finish_non_exhaustive()
    }
}

impl DeviceMemory {
    /// Memory with `capacity_bytes`.
    pub fn new(capacity_bytes: u64) -> Self {
        DeviceMemory {
            capacity: capacity_bytes,
            accounts: false,
            reaches_host: false,
            state: Mutex::default(),
            heap: Mutex::default(),
            peers: Peers::default(),
        }
    }

    /// As [`Self::new`], for checks: tracks which bytes of [`AllocationKind::Device`] were written, and does not soon
    /// reuse the addresses of freed allocations.
    pub fn with_account(capacity_bytes: u64) -> Self {
        DeviceMemory {
            accounts: true,
            ..Self::new(capacity_bytes)
        }
    }

    /// The same memory of a device that retries page faults: kernels also reach what the process has mapped (on Linux),
    /// which must stay mapped while they access it.
    pub fn reaching_host(self) -> Self {
        DeviceMemory {
            reaches_host: true,
            ..self
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent after each statement, so that it stays usable after a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates `bytes` (1 if 0 is asked for), aligned to 256 bytes; what the program asked for begins at a page, the
    /// granule of ROCr's memory pools (`HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT`). The contents are unspecified.
    pub fn allocate(&self, bytes: usize, kind: AllocationKind) -> Result<u64, MemoryError> {
        let alignment = match kind {
            AllocationKind::Device | AllocationKind::Host => PAGE_BYTES,
            _ => block::ALIGNMENT,
        };
        self.allocate_with(bytes, alignment, kind, |info, block| {
            vec![Reach::in_block(info, block)]
        })
    }

    /// Allocates zeroed memory for a code object. `segments` are offsets, lengths, and whether kernels may write them.
    pub(crate) fn allocate_image(
        &self,
        bytes: usize,
        alignment: usize,
        segments: &[(usize, usize, Writes)],
    ) -> Result<u64, MemoryError> {
        self.allocate_with(bytes, alignment, AllocationKind::CodeObject, |info, _| {
            Reach::parts(info, segments)
        })
    }

    fn allocate_with(
        &self,
        bytes: usize,
        alignment: usize,
        kind: AllocationKind,
        reaches: impl FnOnce(&AllocationInfo, &Block) -> Vec<Reach>,
    ) -> Result<u64, MemoryError> {
        let bytes = bytes.max(1);
        let mut state = self.state();
        let out_of_memory = MemoryError::OutOfMemory {
            requested: bytes,
            used: state.used,
            capacity: self.capacity,
        };
        if bytes as u64 > self.capacity.saturating_sub(state.used) {
            return Err(out_of_memory);
        }
        // Other processes may share what `hipMalloc` allocates.
        let block = match kind {
            AllocationKind::Device => Block::in_own_pages(bytes, alignment),
            _ => Block::new(bytes, alignment),
        };
        let Some(block) = block else {
            return Err(out_of_memory);
        };
        if kind == AllocationKind::CodeObject {
            block.will_be_written();
        }
        let base = block.base();
        state.forget_freed(block.extent());
        let info = AllocationInfo {
            base,
            bytes,
            kind,
            fine_grained: false,
        };
        let allocation = Allocation {
            reaches: reaches(&info, &block),
            block: Arc::new(block),
            info,
            written: (self.accounts && kind == AllocationKind::Device)
                .then(|| Arc::new(Written::nothing(bytes))),
            code: None,
            group: None,
        };
        state.used += bytes as u64;
        state.allocations.insert(base, allocation);
        state.view = None;
        Ok(base)
    }

    /// Registers the code of an image, for [`Self::code`], while the image exists.
    pub(crate) fn set_code(&self, image: u64, code: &Arc<CodePlace>) {
        if let Some(allocation) = self.state().allocations.get_mut(&image) {
            allocation.code = Some(Arc::clone(code));
        }
    }

    /// The code that contains an address.
    pub(crate) fn code(&self, address: u64) -> Option<Arc<CodePlace>> {
        let state = self.state();
        let (_, allocation) = state.allocations.range(..=address).next_back()?;
        let code = allocation.code.as_ref()?;
        let offset = address.checked_sub(code.address)?;
        (offset < 4 * u64::from(code.words)).then(|| Arc::clone(code))
    }

    /// Registers memory of the program. The program must keep it until it is freed here and all launches that started
    /// before have ended.
    pub fn register(&self, address: u64, bytes: usize) -> Result<(), MemoryError> {
        self.register_with(address, bytes, Reach::written_to_its_end)
    }

    /// As [`Self::register`], for an allocation of [`AllocationKind::Host`] of another device: its last page is its own.
    pub fn register_shared(&self, address: u64, bytes: usize) -> Result<(), MemoryError> {
        self.register_with(address, bytes, Reach::of)
    }

    fn register_with(
        &self,
        address: u64,
        bytes: usize,
        reach: impl FnOnce(&AllocationInfo) -> Reach,
    ) -> Result<(), MemoryError> {
        let overlap = MemoryError::Overlap { address, bytes };
        let block =
            Block::lent(address, bytes).ok_or(MemoryError::OutOfBounds { address, bytes })?;
        let end = address + bytes as u64;
        let mut state = self.state();
        let before = state.allocations.range(..end).next_back();
        if before.is_some_and(|(&base, other)| base + other.info.bytes as u64 > address) {
            return Err(overlap);
        }
        let info = AllocationInfo {
            base: address,
            bytes,
            kind: AllocationKind::Registered,
            fine_grained: false,
        };
        let allocation = Allocation {
            block: Arc::new(block),
            info,
            reaches: vec![reach(&info)],
            written: None,
            code: None,
            group: None,
        };
        state.forget_freed((address, bytes));
        state.allocations.insert(address, allocation);
        state.view = None;
        Ok(())
    }

    /// Makes an allocation fine-grained or not ([`AllocationInfo::fine_grained`]), by its first address.
    pub fn set_fine_grained(&self, address: u64, fine_grained: bool) -> Result<(), MemoryError> {
        let mut state = self.state();
        let allocation = state
            .allocations
            .get_mut(&address)
            .ok_or(MemoryError::NotAnAllocation { address })?;
        allocation.info.fine_grained = fine_grained;
        for reach in &mut allocation.reaches {
            reach.set_fine_grained(fine_grained);
        }
        state.view = None;
        Ok(())
    }

    /// Puts an allocation into a group, by its first address.
    pub fn set_group(&self, address: u64, group: &Arc<Group>) -> Result<(), MemoryError> {
        let mut state = self.state();
        let allocation = state
            .allocations
            .get_mut(&address)
            .ok_or(MemoryError::NotAnAllocation { address })?;
        allocation.group = Some(Arc::clone(group));
        state.view = None;
        Ok(())
    }

    /// Frees an allocation by its first address.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        let mut state = self.state();
        let allocation = state
            .allocations
            .remove(&address)
            .ok_or(MemoryError::NotAnAllocation { address })?;
        if allocation.info.kind != AllocationKind::Registered {
            state.used -= allocation.info.bytes as u64;
        }
        let keeps = self.accounts && allocation.info.kind == AllocationKind::Device;
        let block = keeps.then_some(allocation.block);
        state.remember_freed(allocation.info, block);
        state.view = None;
        Ok(())
    }

    /// The allocation that contains an address.
    pub fn find(&self, address: u64) -> Option<AllocationInfo> {
        let state = self.state();
        let (_, allocation) = state.allocations.range(..=address).next_back()?;
        let info = allocation.info;
        (address < info.base + info.bytes as u64).then_some(info)
    }

    /// Bytes in use.
    pub fn used_bytes(&self) -> u64 {
        self.state().used
    }

    /// Total bytes.
    pub const fn capacity_bytes(&self) -> u64 {
        self.capacity
    }

    /// The current allocations, and those of peers that kernels can access ([`Self::enable_peer`],
    /// [`Self::enable_group`]).
    pub fn view(&self) -> Arc<View> {
        let view = self.peers.join(self.own_view());
        if let Some(host) = &view.host {
            host.forget();
        }
        view
    }

    /// The current allocations of this device.
    fn own_view(&self) -> Arc<View> {
        let mut state = self.state();
        if let Some(view) = &state.view {
            return Arc::clone(view);
        }
        let mut reaches = Vec::new();
        let (mut infos, mut alive, mut written) = (Vec::new(), Vec::new(), Vec::new());
        let mut groups = Vec::new();
        for allocation in state.allocations.values() {
            reaches.extend_from_slice(&allocation.reaches);
            infos.push(allocation.info);
            written.push(allocation.written.clone());
            groups.push(allocation.group.clone());
            alive.push(Arc::clone(&allocation.block));
        }
        reaches.sort_by_key(|reach| reach.base);
        let view = Arc::new(View {
            has_fine_grained: self.reaches_host || reaches.iter().any(Reach::is_fine_grained),
            reaches,
            infos,
            written,
            groups,
            freed: state.freed.iter().map(|(info, _)| *info).collect(),
            host: self.reaches_host.then(HostMemory::default),
            _alive: alive,
            _peers: Vec::new(),
        });
        state.view = Some(Arc::clone(&view));
        view
    }

    /// The block that contains `bytes` at `address`. If `bytes` is 0, the address may be an allocation's end.
    fn block(&self, address: u64, bytes: usize) -> Result<BlockOffset, MemoryError> {
        let error = MemoryError::OutOfBounds { address, bytes };
        let state = self.state();
        let (_, allocation) = state
            .allocations
            .range(..=address)
            .next_back()
            .ok_or(error.clone())?;
        let offset = (address - allocation.info.base) as usize;
        match offset.checked_add(bytes) {
            Some(end) if end <= allocation.info.bytes => Ok(BlockOffset {
                block: Arc::clone(&allocation.block),
                written: allocation.written.clone(),
                writable: allocation.info.kind != AllocationKind::Mapped
                    || allocation.reaches.iter().all(Reach::is_writable),
                offset,
            }),
            _ => Err(error),
        }
    }

    /// As [`Self::block`], for writes. Parts of code objects that kernels cannot write are written here.
    fn block_to_write(&self, address: u64, bytes: usize) -> Result<BlockOffset, MemoryError> {
        let place = self.block(address, bytes)?;
        match place.writable {
            true => Ok(place),
            false => Err(MemoryError::ReadOnly { address }),
        }
    }

    /// Copies from device memory.
    pub fn read(&self, address: u64, to: &mut [u8]) -> Result<(), MemoryError> {
        let place = self.block(address, to.len())?;
        place.block.read(place.offset, to);
        Ok(())
    }

    /// Copies to device memory.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        let place = self.block_to_write(address, from.len())?;
        place.block.write(place.offset, from);
        place.mark(from.len());
        Ok(())
    }

    /// Replaces the word at an address, which is a multiple of 8, atomically. Returns the old one.
    pub(crate) fn swap(&self, address: u64, word: u64) -> Result<u64, MemoryError> {
        let place = self.block_to_write(address, 8)?;
        Ok(place.block.swap(place.offset, word))
    }

    /// Copies within device memory; the ranges may overlap.
    pub fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), MemoryError> {
        let target = self.block_to_write(to, bytes)?;
        let source = self.block(from, bytes)?;
        target
            .block
            .copy_from(target.offset, &source.block, source.offset, bytes);
        match (&target.written, &source.written) {
            (Some(to), Some(from)) => to.copy(
                target.offset as u64,
                from,
                source.offset as u64,
                bytes as u64,
            ),
            _ => target.mark(bytes),
        }
        Ok(())
    }

    /// Writes `count` copies of `pattern`.
    pub fn fill(&self, address: u64, pattern: &[u8], count: usize) -> Result<(), MemoryError> {
        let bytes = pattern
            .len()
            .checked_mul(count)
            .ok_or(MemoryError::OutOfBounds {
                address,
                bytes: usize::MAX,
            })?;
        let place = self.block_to_write(address, bytes)?;
        for index in 0..count {
            place
                .block
                .write(place.offset + index * pattern.len(), pattern);
        }
        place.mark(bytes);
        Ok(())
    }
}

/// An offset in the memory of an allocation.
struct BlockOffset {
    block: Arc<Block>,
    written: Option<Arc<Written>>,
    writable: bool,
    offset: usize,
}

impl BlockOffset {
    /// Marks bytes as written.
    fn mark(&self, bytes: usize) {
        if let Some(written) = &self.written {
            written.mark(self.offset as u64, bytes as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_apart_and_come_back() {
        let memory = DeviceMemory::new(1 << 20);
        let a = memory.allocate(100, AllocationKind::Device).unwrap();
        let b = memory.allocate(100, AllocationKind::Device).unwrap();
        assert_eq!((a % 256, b % 256), (0, 0));
        assert!(a.abs_diff(b) >= 100 + RED_ZONE_BYTES as u64);
        assert_eq!(memory.used_bytes(), 200);
        memory.free(a).unwrap();
        assert_eq!(
            memory.free(a),
            Err(MemoryError::NotAnAllocation { address: a })
        );
        assert_eq!(memory.find(b + 99).map(|info| info.base), Some(b));
        assert_eq!(memory.find(b + 100), None);
        assert_eq!(memory.used_bytes(), 100);
    }

    #[test]
    fn copies_stay_inside_one_allocation() {
        let memory = DeviceMemory::new(1 << 20);
        let a = memory.allocate(8, AllocationKind::Device).unwrap();
        memory.write(a, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        memory.copy(a + 2, a, 4).unwrap();
        let mut out = [0; 8];
        memory.read(a, &mut out).unwrap();
        assert_eq!(out, [1, 2, 1, 2, 3, 4, 7, 8]);
        memory.fill(a + 4, &[9, 10], 2).unwrap();
        memory.read(a, &mut out).unwrap();
        assert_eq!(out, [1, 2, 1, 2, 9, 10, 9, 10]);
        let error = MemoryError::OutOfBounds {
            address: a + 4,
            bytes: 5,
        };
        assert_eq!(memory.write(a + 4, &[0; 5]), Err(error));
        assert!(memory.fill(a, &[0; 8], usize::MAX).is_err());
        assert!(memory.read(a.wrapping_sub(1), &mut [0]).is_err());
    }

    #[test]
    fn lent_memory_takes_no_room_and_overlaps_nothing() {
        let memory = DeviceMemory::new(100);
        let mut own = [1_u8; 64];
        let start = own.as_mut_ptr().expose_provenance() as u64;
        memory.register(start + 8, 48).unwrap();
        for (offset, bytes) in [(0, 9), (8, 1), (55, 9), (0, 64)] {
            let overlap = MemoryError::Overlap {
                address: start + offset,
                bytes,
            };
            assert_eq!(memory.register(start + offset, bytes), Err(overlap));
        }
        memory.register(start, 8).unwrap();
        memory.fill(start + 8, &[2], 48).unwrap();
        assert_eq!(memory.used_bytes(), 0);
        assert!(
            memory
                .view()
                .reach(start + 8)
                .covers(start + 8, start + 56, true)
        );
        memory.free(start + 8).unwrap();
        assert_eq!(memory.used_bytes(), 0);
        assert_eq!((own[7], own[8], own[55], own[56]), (1, 2, 2, 1));
        assert!(memory.register(0, 8).is_err() && memory.register(u64::MAX, 8).is_err());
    }

    #[test]
    fn red_zones_are_not_what_was_freed_there_before() {
        let memory = DeviceMemory::new(1 << 30);
        for bytes in (1..64).rev().map(|n| 512 * n) {
            let larger = memory
                .allocate(bytes + 1024, AllocationKind::Device)
                .unwrap();
            memory.free(larger).unwrap();
            let base = memory.allocate(bytes, AllocationKind::Device).unwrap();
            let view = memory.view();
            let zones = [
                base - RED_ZONE_BYTES as u64,
                base - 1,
                base + bytes as u64,
                base + (bytes + RED_ZONE_BYTES) as u64 - 1,
            ];
            for address in zones {
                assert_eq!(view.freed(address), None, "{bytes} bytes at {base:#x}");
            }
            let past = format!("just past the end of {}", memory.find(base).unwrap());
            assert_eq!(view.place(base + bytes as u64, 4), past);
        }
    }

    /// The resident memory of this process in bytes (man page proc_pid_statm(5)).
    #[cfg(all(target_os = "linux", not(miri)))]
    fn resident_bytes() -> u64 {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages = statm.split(' ').nth(1).unwrap();
        4096 * pages.parse::<u64>().unwrap()
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn what_is_not_touched_takes_no_memory_of_the_host() {
        let memory = DeviceMemory::new(4 << 30);
        let before = resident_bytes();
        let base = memory.allocate(2 << 30, AllocationKind::Device).unwrap();
        let image = memory.allocate_image(1 << 29, 4096, &[]).unwrap();
        // Other tests run at the same time.
        assert!(resident_bytes() < before + (1 << 30));
        let mut byte = [1];
        memory.read(base + (1 << 30), &mut byte).unwrap();
        assert_eq!((byte, base % 256, image % 4096), ([0], 0, 0));
        let view = memory.view();
        assert_eq!(view.allocations().len(), 2);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn an_allocation_may_be_larger_than_the_hosts_memory() {
        // Some hosts are set up to refuse it.
        let refuses = std::fs::read_to_string("/proc/sys/vm/overcommit_memory");
        if refuses.is_ok_and(|mode| mode.trim() == "2") {
            return;
        }
        let bytes = 1 << 38;
        let memory = DeviceMemory::new(bytes as u64);
        let base = memory.allocate(bytes, AllocationKind::Device).unwrap();
        memory.write(base + bytes as u64 - 4, &[7; 4]).unwrap();
        memory.free(base).unwrap();
    }

    #[test]
    fn alignment_is_kept_and_red_zones_with_it() {
        let memory = DeviceMemory::new(1 << 30);
        for alignment in [256, 4096, 1 << 16, 1 << 21] {
            let base = memory.allocate_image(100, alignment, &[(0, 100, Writes::Allowed)]);
            let base = base.unwrap();
            assert_eq!(base % alignment as u64, 0);
            memory.write(base, &[7; 100]).unwrap();
            memory.free(base).unwrap();
        }
    }

    #[test]
    fn capacity_is_a_limit() {
        let memory = DeviceMemory::new(100);
        let a = memory.allocate(60, AllocationKind::Device).unwrap();
        assert_eq!(
            memory.allocate(41, AllocationKind::Device),
            Err(MemoryError::OutOfMemory {
                requested: 41,
                used: 60,
                capacity: 100
            })
        );
        memory.free(a).unwrap();
        memory.allocate(100, AllocationKind::Device).unwrap();
    }
}
