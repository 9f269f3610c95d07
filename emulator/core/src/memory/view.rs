//! The allocations that a launch can access.

use std::{fmt, sync::Arc};

use super::{AllocationInfo, Group, Reach, Written, block::Block, host::HostMemory};

/// The allocations that existed at one moment.
pub struct View {
    pub(super) reaches: Vec<Reach>,
    pub(super) has_fine_grained: bool,
    pub(super) infos: Vec<AllocationInfo>,
    /// For each allocation its written bytes, if the memory tracks writes.
    pub(super) written: Vec<Option<Arc<Written>>>,
    /// For each allocation its group. Only a device's own view has them.
    pub(super) groups: Vec<Option<Arc<Group>>>,
    pub(super) freed: Vec<AllocationInfo>,
    /// The program's own memory, if kernels reach it.
    pub(super) host: Option<HostMemory>,
    pub(super) _alive: Vec<Arc<Block>>,
    /// Keeps the peers' allocations alive, which are among these.
    pub(super) _peers: Vec<Arc<View>>,
}

impl View {
    /// The range that contains an address and can be read; [`Reach::NOTHING`] if there is none.
    pub fn reach(&self, address: u64) -> Reach {
        let after = self.reaches.partition_point(|reach| reach.base <= address);
        match after.checked_sub(1).map(|index| self.reaches[index]) {
            Some(reach) if address < reach.end => reach,
            _ => match &self.host {
                Some(host) => host.reach(address),
                None => Reach::NOTHING,
            },
        }
    }

    /// Whether an access is allowed.
    pub(crate) fn allows(&self, address: u64, end: u64, write: bool) -> bool {
        let covers = |reach: Reach| reach.covers(address, end, write);
        covers(self.reach(address))
            || matches!(&self.host, Some(host) if covers(host.reach_now(address)))
    }

    /// Whether some memory is fine-grained.
    pub fn has_fine_grained(&self) -> bool {
        self.has_fine_grained
    }

    /// The allocations, sorted by address.
    pub fn allocations(&self) -> &[AllocationInfo] {
        &self.infos
    }

    /// The written bytes of the allocation at an index of [`Self::allocations`].
    pub fn written(&self, index: usize) -> Option<&Arc<Written>> {
        self.written.get(index)?.as_ref()
    }

    /// The freed allocation that contained an address: the last one if several are remembered.
    pub fn freed(&self, address: u64) -> Option<AllocationInfo> {
        let lies_in = |info: &&AllocationInfo| {
            address >= info.base && address - info.base < info.bytes as u64
        };
        self.freed.iter().rev().find(lies_in).copied()
    }

    /// Whether an access lies inside one allocation.
    pub(crate) fn holds(&self, address: u64, bytes: u32) -> bool {
        let end = address.saturating_add(u64::from(bytes));
        self.infos
            .iter()
            .any(|info| info.base <= address && end <= info.end())
    }

    /// A description of an access relative to the allocations.
    pub fn place(&self, address: u64, bytes: u32) -> String {
        if let Some(host) = &self.host
            && !self.holds(address, 1)
            && let reach = host.reach_now(address)
            && reach.covers(address, address.saturating_add(1), false)
        {
            return match reach.is_writable() {
                true => "in the program's own memory".to_owned(),
                false => "in memory that the program has mapped for reading only".to_owned(),
            };
        }
        if let Some(info) = self.freed(address) {
            let at = address - info.base;
            return format!("at byte {at} of {info}, which was freed");
        }
        let Some((info, at)) = self.nearest(address) else {
            return "and nothing is allocated".to_owned();
        };
        let length = info.bytes as i128;
        let past = at + i128::from(bytes) > length;
        if at < 0 {
            format!("{} bytes before {info}", -at)
        } else if at == length {
            format!("just past the end of {info}")
        } else if at > length {
            format!("{} bytes past the end of {info}", at - length)
        } else if past {
            format!("of which some lie past the end of {info}")
        } else {
            format!("at byte {at} of {info}")
        }
    }

    /// The nearest allocation to an address, and the address's offset from its start in bytes.
    pub fn nearest(&self, address: u64) -> Option<(AllocationInfo, i128)> {
        self.infos
            .iter()
            .min_by_key(|info| {
                let last = self.reach(info.base).end.max(info.page_end()) - 1;
                if address < info.base {
                    info.base - address
                } else {
                    address.saturating_sub(last)
                }
            })
            .map(|&info| (info, i128::from(address) - i128::from(info.base)))
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.infos).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{AllocationKind, BLOCK_BYTES, DeviceMemory, PADDING, PAGE_BYTES, Writes};

    /// How many bytes from an address on can be read, and written.
    fn spans(view: &View, address: u64) -> [u64; 2] {
        let reach = view.reach(address);
        [false, true].map(|write| {
            (0..30).rev().fold(0, |bytes, bit| {
                let more = bytes + (1 << bit);
                match reach.covers(address, address + more, write) {
                    true => more,
                    false => bytes,
                }
            })
        })
    }

    #[test]
    fn accesses_end_with_the_last_page_or_the_block() {
        let memory = Arc::new(DeviceMemory::new(1 << 24));
        let reserved = memory.reserve(100).unwrap();
        memory.allocate_reserved(&reserved).unwrap();
        let sizes = [1, 12, 4095, 4096, 4097, 8192, BLOCK_BYTES, BLOCK_BYTES + 12];
        let mut places = vec![(reserved.base(), 100_u64, PAGE_BYTES)];
        for kind in [AllocationKind::Device, AllocationKind::Host] {
            for bytes in sizes {
                // Only Linux has the blocks here.
                let granule = match kind {
                    AllocationKind::Device if cfg!(all(target_os = "linux", not(miri))) => {
                        BLOCK_BYTES
                    }
                    _ => PAGE_BYTES,
                };
                places.push((memory.allocate(bytes, kind).unwrap(), bytes as u64, granule));
            }
        }
        let other = DeviceMemory::new(0);
        other.enable_peer(&memory);
        for (base, bytes, granule) in places {
            let page = bytes.next_multiple_of(4096);
            let all = bytes.next_multiple_of(granule as u64);
            let views = match memory.find(base).unwrap().kind {
                AllocationKind::Device => vec![memory.view(), other.view()],
                _ => {
                    other.register_shared(base, bytes as usize).unwrap();
                    assert_eq!(spans(&other.view(), base), [page; 2]);
                    vec![memory.view()]
                }
            };
            for view in views {
                assert_eq!(spans(&view, base), [all; 2]);
                assert_eq!(spans(&view, base + bytes), [all - bytes; 2]);
                assert_eq!(spans(&view, base + all), [0, 0]);
                // What can be accessed of this allocation ends there; a neighbouring one is not named.
                let past = view.place(base + all, 4);
                assert!(
                    past.ends_with(&memory.find(base).unwrap().to_string()),
                    "{past}"
                );
                // SAFETY: the last page belongs to the block, and nothing writes here.
                let behind = unsafe {
                    let start = std::ptr::with_exposed_provenance::<u8>((base + bytes) as usize);
                    std::slice::from_raw_parts(start, (page - bytes) as usize)
                };
                assert!(behind.iter().all(|byte| *byte == PADDING));
            }
            // The host's copies are limited to the exact size.
            let mut all = vec![0; bytes as usize + 1];
            assert!(memory.read(base, &mut all).is_err());
            assert!(memory.write(base, &all).is_err());
        }
    }

    #[test]
    fn lent_memory_is_read_to_the_end_of_the_hosts_page_and_written_to_its_own() {
        let memory = DeviceMemory::new(0);
        let own = vec![7_u8; 3 * 4096];
        let page = (own.as_ptr().expose_provenance() as u64).next_multiple_of(4096);
        memory.register(page + 64, 100).unwrap();
        memory.register(page + 164, 36).unwrap();
        memory.register(page + 4090, 12).unwrap();
        let view = memory.view();
        assert_eq!(spans(&view, page + 64), [4096 - 64, 100]);
        assert_eq!(spans(&view, page + 164), [4096 - 164, 36]);
        assert_eq!(spans(&view, page + 4090), [4096 + 6, 12]);
        assert_eq!(spans(&view, page + 63), [0, 0]);
    }

    #[test]
    fn parts_of_an_image_go_to_the_end_of_their_page() {
        let memory = DeviceMemory::new(1 << 20);
        let segments = [
            (0, 0x100, Writes::Reported),
            (0x200, 0x10, Writes::Allowed),
            (0x1800, 0x900, Writes::Refused),
        ];
        let base = memory.allocate_image(0x2100, 4096, &segments).unwrap();
        let view = memory.view();
        assert_eq!(spans(&view, base), [0x200; 2]);
        assert!(view.reach(base).is_constant() && !view.reach(base + 0x200).is_constant());
        assert_eq!(spans(&view, base + 0x200), [0xe00; 2]);
        assert_eq!(spans(&view, base + 0x1000), [0, 0]);
        assert_eq!(spans(&view, base + 0x1800), [0x1800, 0]);
        assert_eq!(spans(&view, base + 0x2ffc), [4, 0]);
    }

    #[test]
    fn a_view_keeps_what_it_saw() {
        let memory = DeviceMemory::new(1 << 20);
        let a = memory.allocate(64, AllocationKind::Device).unwrap();
        let view = memory.view();
        memory.free(a).unwrap();
        assert!(view.reach(a).covers(a, a + 64, true));
        assert!(!memory.view().reach(a).covers(a, a + 1, false));
        assert_eq!(
            view.nearest(a + 70).map(|(info, at)| (info.base, at)),
            Some((a, 70))
        );
    }
}
