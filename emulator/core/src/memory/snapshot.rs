//! The contents of memory at one moment.

use super::{AllocationInfo, AllocationKind, DeviceMemory};

/// The contents of all allocations that kernels may write and that outlive a launch, to the end of their last page.
pub struct Snapshot(Vec<(AllocationInfo, Vec<u8>)>);

impl DeviceMemory {
    /// Copies the current contents.
    pub fn snapshot(&self) -> Snapshot {
        let view = self.view();
        let allocations = view
            .allocations()
            .iter()
            .filter(|info| !matches!(info.kind, AllocationKind::Launch | AllocationKind::Private));
        Snapshot(
            allocations
                .filter_map(|info| {
                    let block = self.block(info.base, info.bytes).ok()?.block;
                    let mut bytes = vec![0; block.padded_bytes()];
                    block.read(0, &mut bytes);
                    Some((*info, bytes))
                })
                .collect(),
        )
    }

    /// Restores the contents of allocations that still exist. The records of written bytes do not change.
    pub fn restore(&self, snapshot: &Snapshot) {
        for (info, bytes) in &snapshot.0 {
            // An allocation that was freed in the meantime is skipped.
            if let Ok(place) = self.block_to_write(info.base, info.bytes) {
                let end = bytes.len().min(place.block.padded_bytes());
                place.block.write(0, &bytes[..end]);
            }
        }
    }
}

impl Snapshot {
    /// A description of the first difference from `other`.
    pub fn difference(&self, other: &Snapshot) -> Option<String> {
        for ((info, mine), (_, theirs)) in self.0.iter().zip(&other.0) {
            let differs = |(a, b): &(&u8, &u8)| a != b;
            let count = mine.iter().zip(theirs).filter(differs).count();
            if let Some(first) = mine.iter().zip(theirs).position(|pair| differs(&pair)) {
                return Some(format!(
                    "{count} bytes of {info} differ, the first at byte {first}"
                ));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PADDING;

    #[test]
    fn the_rest_of_a_page_is_restored_too() {
        let memory = DeviceMemory::new(1 << 20);
        let base = memory.allocate(12, AllocationKind::Device).expect("room");
        let before = memory.snapshot();
        let block = memory.block(base, 12).expect("it is allocated").block;
        block.write(8, &[1; 8]);
        let difference = memory.snapshot().difference(&before);
        assert!(difference.is_some_and(|text| text.starts_with("8 bytes of the device")));
        memory.restore(&before);
        let mut bytes = [0; 8];
        block.read(8, &mut bytes);
        assert_eq!(bytes[4..], [PADDING; 4]);
        assert_eq!(memory.snapshot().difference(&before), None);
    }
}
