//! Reserved address ranges, in which memory can be allocated and freed repeatedly.

use std::sync::Arc;

use super::{
    Allocation, AllocationInfo, AllocationKind, DeviceMemory, MemoryError, Reach, Written,
    block::{self, Block},
};

/// The address range of an allocation of [`AllocationKind::Device`]. [`DeviceMemory::allocate_reserved`] allocates it,
/// [`DeviceMemory::free`] frees it, and the range stays reserved.
pub struct Reservation {
    block: Arc<Block>,
    bytes: usize,
}

impl Reservation {
    /// The first address.
    pub fn base(&self) -> u64 {
        self.block.base()
    }

    /// Its length in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl DeviceMemory {
    /// Reserves a range of `bytes`. This does not use device memory.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation, MemoryError> {
        let block = match bytes as u64 <= self.capacity {
            true => Block::new(bytes.max(1), block::ALIGNMENT),
            false => None,
        };
        let block = block.ok_or_else(|| MemoryError::OutOfMemory {
            requested: bytes,
            used: self.used_bytes(),
            capacity: self.capacity,
        })?;
        Ok(Reservation {
            block: Arc::new(block),
            bytes: bytes.max(1),
        })
    }

    /// Allocates a reserved range. Its contents are unspecified.
    pub fn allocate_reserved(&self, place: &Reservation) -> Result<(), MemoryError> {
        let (base, bytes) = (place.base(), place.bytes);
        let mut state = self.state();
        if state.allocations.contains_key(&base) {
            return Err(MemoryError::Overlap {
                address: base,
                bytes,
            });
        }
        if bytes as u64 > self.capacity.saturating_sub(state.used) {
            return Err(MemoryError::OutOfMemory {
                requested: bytes,
                used: state.used,
                capacity: self.capacity,
            });
        }
        state.forget_freed(place.block.extent());
        state.used += bytes as u64;
        let info = AllocationInfo {
            base,
            bytes,
            kind: AllocationKind::Device,
            fine_grained: false,
        };
        let allocation = Allocation {
            block: Arc::clone(&place.block),
            info,
            reaches: vec![Reach::of(&info)],
            written: self.accounts.then(|| Arc::new(Written::nothing(bytes))),
            code: None,
            group: None,
        };
        state.allocations.insert(base, allocation);
        state.view = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_memory_comes_and_goes_at_one_address() {
        for memory in [DeviceMemory::new(100), DeviceMemory::with_account(100)] {
            let place = memory.reserve(80).expect("room");
            assert!(memory.reserve(101).is_err());
            let reaches = || {
                let (base, end) = (place.base(), place.base() + 80);
                memory.view().reach(base).covers(base, end, true)
            };
            for _ in 0..3 {
                assert!(!reaches() && memory.used_bytes() == 0);
                memory.allocate_reserved(&place).expect("room");
                assert!(reaches() && memory.used_bytes() == 80);
                assert!(memory.view().freed(place.base()).is_none());
                assert!(memory.allocate_reserved(&place).is_err(), "it is there");
                memory.free(place.base()).expect("it is there");
                assert!(memory.view().freed(place.base()).is_some());
            }
            let other = memory.allocate(21, AllocationKind::Device).expect("room");
            assert!(memory.allocate_reserved(&place).is_err(), "no room");
            memory.free(other).expect("it is there");
        }
    }
}
