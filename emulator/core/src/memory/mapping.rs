//! Memory that programs map themselves (HIP's virtual memory management): reserved addresses, and physical memory that
//! is mapped there. Physical memory can be mapped at several addresses, and in other processes. Only Linux has it.

use std::{ffi::c_int, fs::File, io, ops::Range, sync::Arc};

use super::{
    Allocation, AllocationInfo, AllocationKind, DeviceMemory, MemoryError, Reach, Writes,
    block::Block, host, os,
};

/// Physical memory of a device. It exists until it is dropped here, in other processes, and nowhere mapped.
#[derive(Debug)]
pub struct Physical {
    file: File,
    bytes: usize,
    /// The device whose memory it takes; `None` if another process created it.
    device: Option<Arc<DeviceMemory>>,
}

impl Physical {
    /// Takes `bytes` of a device's memory; the bytes are 0.
    pub fn new(device: &Arc<DeviceMemory>, bytes: usize) -> Result<Self, MemoryError> {
        let mut state = device.state();
        let out_of_memory = MemoryError::OutOfMemory {
            requested: bytes,
            used: state.used,
            capacity: device.capacity,
        };
        if bytes as u64 > device.capacity.saturating_sub(state.used) {
            return Err(out_of_memory);
        }
        let file = os::create(bytes).map_err(|_| out_of_memory)?;
        state.used += bytes as u64;
        Ok(Physical {
            file,
            bytes,
            device: Some(Arc::clone(device)),
        })
    }

    /// Memory of the host, for processes to share; the bytes are 0.
    pub fn of_host(bytes: usize) -> io::Result<Self> {
        Ok(Physical {
            file: os::create(bytes)?,
            bytes,
            device: None,
        })
    }

    /// Where other processes find the memory, while it exists here.
    pub fn shared(&self) -> io::Result<Shared> {
        let (descriptor, inode) = os::identity(&self.file)?;
        Ok(Shared {
            descriptor,
            inode,
            offset: 0,
            bytes: self.bytes,
        })
    }

    /// The memory of a file descriptor of [`Self::share`], also of another process. The descriptor stays open.
    pub fn import(descriptor: c_int) -> io::Result<Self> {
        let file = os::import(descriptor)?;
        let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        Ok(Physical {
            file,
            bytes,
            device: None,
        })
    }

    /// The memory of an allocation that another process has shared ([`DeviceMemory::share`]), and still runs.
    pub fn of_process(process: u32, shared: &Shared) -> io::Result<Self> {
        let file = os::open(process, shared.descriptor, shared.inode)?;
        let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        match shared.offset.checked_add(shared.bytes) {
            Some(end) if end <= bytes => Ok(Physical {
                file,
                bytes,
                device: None,
            }),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// A new file descriptor for [`Self::import`], which the caller closes.
    pub fn share(&self) -> io::Result<c_int> {
        os::share(&self.file)
    }

    /// Its length in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            device.state().used -= self.bytes as u64;
        }
    }
}

/// An allocation in a file in memory, for other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The file's descriptor in the process that shares it, until the allocation is freed.
    pub descriptor: c_int,
    /// The file's number, which tells it from another that has the descriptor later.
    pub inode: u64,
    /// Where the allocation begins in the file.
    pub offset: usize,
    /// Its length in bytes.
    pub bytes: usize,
}

/// Reserved addresses. Where nothing is mapped, they lead to memory that no device can access: a copy that another host
/// thread has begun when memory is unmapped ends there.
#[derive(Debug)]
pub struct Addresses {
    start: u64,
    bytes: usize,
}

impl Addresses {
    /// Reserves `bytes`, a multiple of the host's pages, from a multiple of `alignment`, a power of two; at `wanted` if
    /// these addresses are free.
    pub fn reserve(bytes: usize, alignment: usize, wanted: u64) -> io::Result<Self> {
        let start = os::reserve(bytes, alignment, wanted)?;
        host::take(start, bytes);
        Ok(Addresses { start, bytes })
    }

    /// The first address.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Their number.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Maps the first bytes of physical memory at a range of offsets, in place of what was there.
    ///
    /// # Panics
    /// If the range does not lie in the addresses, or the memory is shorter.
    pub fn map(&self, at: &Range<usize>, memory: &Physical) -> io::Result<()> {
        assert!(at.start < at.end && at.end <= self.bytes && at.len() <= memory.bytes);
        // SAFETY: the addresses are reserved by `self`, and nothing refers to them but accesses of programs.
        unsafe { os::map(self.start + at.start as u64, at.len(), Some(&memory.file)) }
    }

    /// Unmaps what is mapped at a range of offsets.
    ///
    /// # Panics
    /// If the range does not lie in the addresses.
    pub fn unmap(&self, at: &Range<usize>) -> io::Result<()> {
        assert!(at.start < at.end && at.end <= self.bytes);
        // SAFETY: as in `map`.
        unsafe { os::map(self.start + at.start as u64, at.len(), None) }
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        host::give_back(self.start);
        // SAFETY: the addresses were reserved by `reserve`.
        unsafe { os::free(self.start, self.bytes) }
    }
}

/// Mapped memory that a device can access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Offsets from the start of the addresses.
    pub at: Range<usize>,
    /// Whether the device can write it.
    pub writable: bool,
}

impl DeviceMemory {
    /// Shares the allocation that contains an address with other processes. Its address stays the same. Whoever calls this
    /// makes sure that nothing writes the memory meanwhile. `None` if there is no allocation of
    /// [`AllocationKind::Device`], or none that can be shared.
    pub fn share(&self, address: u64) -> Option<io::Result<Shared>> {
        let info = self.find(address)?;
        let block = match self.state().allocations.get(&info.base) {
            Some(found) if info.kind == AllocationKind::Device => Arc::clone(&found.block),
            _ => return None,
        };
        let shared = block.share()?;
        Some(shared.map(|(descriptor, inode, offset)| Shared {
            descriptor,
            inode,
            offset,
            bytes: info.bytes,
        }))
    }

    /// Sets which of the addresses this device can access. Each element of `mapped` is one allocation; a range that
    /// has none is not accessible. What is mapped must stay mapped until it is removed here and all launches that
    /// started before have ended.
    pub fn set_mapped(&self, addresses: &Addresses, mapped: &[Mapped]) -> Result<(), MemoryError> {
        let all = addresses.start..addresses.start + addresses.bytes as u64;
        let mut state = self.state();
        let is_ours = |info: &AllocationInfo| info.kind == AllocationKind::Mapped;
        let old: Vec<_> = state
            .allocations
            .range(all)
            .filter(|(_, allocation)| is_ours(&allocation.info))
            .map(|(&base, allocation)| (base, allocation.info))
            .collect();
        for (base, info) in old {
            state.allocations.remove(&base);
            state.remember_freed(info, None);
        }
        state.view = None;
        for part in mapped {
            let (address, bytes) = (addresses.start + part.at.start as u64, part.at.len());
            let error = MemoryError::OutOfBounds { address, bytes };
            let block = Block::lent(address, bytes).ok_or(error)?;
            let info = AllocationInfo {
                base: address,
                bytes,
                kind: AllocationKind::Mapped,
                fine_grained: false,
            };
            let writes = match part.writable {
                true => Writes::Allowed,
                false => Writes::Refused,
            };
            let allocation = Allocation {
                block: Arc::new(block),
                info,
                reaches: Reach::parts(&info, &[(0, bytes, writes)]),
                written: None,
                code: None,
                group: None,
            };
            state.forget_freed((address, bytes));
            state.allocations.insert(address, allocation);
        }
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    const PAGE: usize = 4096;

    #[test]
    fn memory_is_the_same_at_all_its_addresses() {
        let device = Arc::new(DeviceMemory::new(3 * PAGE as u64));
        let memory = Physical::new(&device, 2 * PAGE).unwrap();
        assert!(Physical::new(&device, 2 * PAGE).is_err(), "no room");
        assert_eq!(device.used_bytes(), 2 * PAGE as u64);
        let addresses = Addresses::reserve(8 * PAGE, 1 << 16, 0).unwrap();
        let start = addresses.start();
        assert_eq!(start % (1 << 16), 0);
        addresses.map(&(0..2 * PAGE), &memory).unwrap();
        addresses.map(&(3 * PAGE..4 * PAGE), &memory).unwrap();
        let descriptor = memory.share().unwrap();
        let shared = Physical::import(descriptor).unwrap();
        // SAFETY: the descriptor is the test's own.
        unsafe { libc::close(descriptor) };
        assert_eq!(shared.bytes(), 2 * PAGE);
        addresses.map(&(6 * PAGE..8 * PAGE), &shared).unwrap();
        let part = |at, writable| Mapped { at, writable };
        let parts = [
            part(0..2 * PAGE, true),
            part(3 * PAGE..4 * PAGE, false),
            part(6 * PAGE..8 * PAGE, true),
        ];
        device.set_mapped(&addresses, &parts).unwrap();
        device.write(start + 4, &[1, 2, 3]).unwrap();
        let mut out = [0; 3];
        for page in [3, 6] {
            device
                .read(start + page * PAGE as u64 + 4, &mut out)
                .unwrap();
            assert_eq!(out, [1, 2, 3]);
        }
        let (view, third) = (device.view(), start + 3 * PAGE as u64);
        let covers = |from: u64, write| view.reach(from).covers(from, from + 1, write);
        assert!(covers(third, false) && !covers(third, true) && covers(start, true));
        assert_eq!(
            device.write(third, &[1]),
            Err(MemoryError::ReadOnly { address: third })
        );
        device.set_mapped(&addresses, &parts[2..]).unwrap();
        assert!(device.read(start, &mut out).is_err());
        assert!(device.view().freed(start).is_some());
        drop(memory);
        assert_eq!(device.used_bytes(), 0);
        addresses.unmap(&(0..8 * PAGE)).unwrap();
    }

    #[test]
    fn only_shared_memory_is_imported() {
        let file = File::open("/dev/zero").unwrap();
        assert!(Physical::import(file.as_raw_fd()).is_err());
        assert!(Physical::import(-1).is_err());
        assert!(Addresses::reserve(usize::MAX - PAGE + 1, PAGE, 0).is_err());
        let device = Arc::new(DeviceMemory::new(u64::MAX));
        assert!(Physical::new(&device, usize::MAX).is_err());
        assert_eq!(device.used_bytes(), 0);
    }
}
