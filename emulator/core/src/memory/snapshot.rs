//! The contents of memory at one moment.

use super::{AllocationInfo, AllocationKind, DeviceMemory};

/// The contents of all allocations that kernels may write and that outlive a launch.
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
                    let mut bytes = vec![0; info.bytes];
                    self.read(info.base, &mut bytes).ok()?;
                    Some((*info, bytes))
                })
                .collect(),
        )
    }

    /// Restores the contents of allocations that still exist. The records of written bytes do not change.
    pub fn restore(&self, snapshot: &Snapshot) {
        for (info, bytes) in &snapshot.0 {
            // An allocation that was freed in the meantime is skipped.
            let _ = self.put(info.base, bytes);
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
