//! Accesses that are like the last one of their instruction, of which nothing need be counted again.

use crate::exec::{LANES, Space, Touch};

/// Addresses and what came of them.
#[derive(Clone, Copy)]
pub(crate) struct Pattern<R> {
    addresses: [u64; LANES],
    lanes: u64,
    space: Space,
    bytes: u32,
    /// Whose addresses may differ only by a multiple of this.
    period: u64,
    result: R,
}

impl<R: Default> Default for Pattern<R> {
    fn default() -> Self {
        Pattern {
            addresses: [0; LANES],
            // No access is without lanes.
            lanes: 0,
            space: Space::Global,
            bytes: 0,
            period: 1,
            result: R::default(),
        }
    }
}

impl<R: Copy> Pattern<R> {
    /// Whether these are the same addresses moved by a multiple of the period, all lanes together.
    fn is_same(&self, touch: &Touch) -> bool {
        let moved = touch.addresses[0].wrapping_sub(self.addresses[0]);
        let differences = touch
            .addresses
            .iter()
            .zip(&self.addresses)
            .fold(0, |all, (new, old)| all | (new.wrapping_sub(*old) ^ moved));
        differences == 0
            && (self.lanes, self.space, self.bytes) == (touch.lanes, touch.space, touch.bytes)
            && moved & (self.period - 1) == 0
    }

    /// What `count` makes of the access, which must not depend on where it is beyond `period`, a power of two.
    pub(crate) fn result(
        &mut self,
        touch: &Touch,
        period: u64,
        count: impl FnOnce(&Touch) -> R,
    ) -> R {
        if !self.is_same(touch) {
            *self = Pattern {
                addresses: touch.addresses,
                lanes: touch.lanes,
                space: touch.space,
                bytes: touch.bytes,
                period,
                result: count(touch),
            };
        }
        self.result
    }
}
