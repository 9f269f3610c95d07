//! The memory budget of traces: kernels may run for any length of time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The maximum number of bytes of the traces of a launch, for all host threads together. A thousand million replayed
/// instructions in loops of a hundred use about a tenth of it, without their accesses.
pub const MOST_TRACE_BYTES: u64 = 1 << 30;

/// Bytes that a host thread takes from the budget at once.
const CHUNK: u64 = 1 << 16;

/// The remaining budget.
#[derive(Debug)]
pub(super) struct Budget {
    all: u64,
    left: AtomicU64,
    is_exceeded: AtomicBool,
}

impl Budget {
    pub(super) const fn new(bytes: u64) -> Self {
        Budget {
            all: bytes,
            left: AtomicU64::new(bytes),
            is_exceeded: AtomicBool::new(false),
        }
    }

    /// The whole budget in bytes.
    pub(super) const fn all(&self) -> u64 {
        self.all
    }

    /// Whether the budget was exceeded. Then the traces are incomplete.
    pub(super) fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Relaxed)
    }

    /// Takes a chunk from the budget. Returns its size, or `None` if nothing is left.
    fn take(&self) -> Option<u64> {
        let taken = self
            .left
            .try_update(Relaxed, Relaxed, |left| left.checked_sub(CHUNK));
        if taken.is_err() {
            self.is_exceeded.store(true, Relaxed);
        }
        taken.ok().map(|_| CHUNK)
    }
}

/// The part of the budget that a host thread has taken.
#[derive(Debug, Default)]
pub(super) struct Allowance(u64);

impl Allowance {
    /// Spends bytes. Returns whether the budget allows them; they are never given back.
    #[inline]
    pub(super) fn spend(&mut self, bytes: u64, budget: &Budget) -> bool {
        if self.0 < bytes {
            let Some(more) = budget.take() else {
                return false;
            };
            self.0 += more;
        }
        self.0 -= bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_gone() {
        let budget = Budget::new(2 * CHUNK);
        let (mut one, mut other) = (Allowance::default(), Allowance::default());
        assert!(one.spend(CHUNK / 2, &budget) && other.spend(8, &budget));
        assert!(one.spend(CHUNK / 2, &budget) && !budget.is_exceeded());
        assert!(!one.spend(1, &budget) && budget.is_exceeded());
        // A chunk that another thread has taken is not available.
        assert!(other.spend(CHUNK - 8, &budget) && !other.spend(1, &budget));
    }
}
