//! How much memory traces may take: kernels may run for as long as they like.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Bytes that the traces of a launch take at most, all host threads together. Of the workgroups that are replayed, a
/// thousand million instructions in loops of a hundred take some tenth of it, without their accesses.
pub const MOST_TRACE_BYTES: u64 = 1 << 30;

/// Bytes that a host thread takes from the budget at a time.
const CHUNK: u64 = 1 << 16;

/// What is left for traces.
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

    /// Bytes, with those that are taken.
    pub(super) const fn all(&self) -> u64 {
        self.all
    }

    /// Whether more was asked for than there was. What was recorded then is not everything.
    pub(super) fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Relaxed)
    }

    /// Takes a chunk; how much it is, if there is one.
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

/// A host thread's part of the budget.
#[derive(Debug, Default)]
pub(super) struct Allowance(u64);

impl Allowance {
    /// Whether so many bytes more may be recorded. None of them is asked for again.
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
        // What another thread has taken is its own.
        assert!(other.spend(CHUNK - 8, &budget) && !other.spend(1, &budget));
    }
}
