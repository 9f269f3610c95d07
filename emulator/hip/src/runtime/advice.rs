//! What programs advised about ranges of memory, and where they prefetched them.

use std::{
    collections::BTreeMap,
    ffi::c_int,
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ferrowave_emulator::memory::PAGE_BYTES;

/// What is known of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) read_mostly: bool,
    pub(crate) coarse_grain: bool,
    /// A device, or `hipCpuDeviceId`.
    pub(crate) preferred: Option<c_int>,
    /// Where it was prefetched last.
    pub(crate) prefetched: Option<c_int>,
    /// In the order of the advice.
    pub(crate) accessed_by: Vec<c_int>,
}

/// The advice from each address to the next; before the first there is none.
#[derive(Default)]
pub(crate) struct Advised(Mutex<BTreeMap<u64, Advice>>);

/// The pages of a range: the driver knows no smaller units.
fn pages(range: &Range<u64>) -> Range<u64> {
    let page = PAGE_BYTES as u64;
    range.start / page * page..range.end.next_multiple_of(page)
}

fn at(parts: &BTreeMap<u64, Advice>, address: u64) -> Advice {
    let before = parts.range(..=address).next_back();
    before.map_or_else(Advice::default, |(_, advice)| advice.clone())
}

impl Advised {
    fn parts(&self) -> MutexGuard<'_, BTreeMap<u64, Advice>> {
        // A poisoned lock is ignored: the state is valid between statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the advice about the pages of a range.
    pub(crate) fn change(&self, range: &Range<u64>, change: impl Fn(&mut Advice)) {
        let range = pages(range);
        let mut parts = self.parts();
        for edge in [range.start, range.end] {
            let advice = at(&parts, edge);
            parts.insert(edge, advice);
        }
        parts
            .range_mut(range)
            .for_each(|(_, advice)| change(advice));
        let mut before = Advice::default();
        parts.retain(|_, advice| {
            let differs = *advice != before;
            before.clone_from(advice);
            differs
        });
    }

    /// The advice about each part of a range, at least one.
    pub(crate) fn of(&self, range: &Range<u64>) -> Vec<Advice> {
        let range = pages(range);
        let parts = self.parts();
        let first = at(&parts, range.start);
        let others = parts.range(range.start + 1..range.end);
        [first]
            .into_iter()
            .chain(others.map(|(_, advice)| advice.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_kept_by_page_and_forgotten_without_a_trace() {
        let advised = Advised::default();
        let preferred = |range: Range<u64>| -> Vec<_> {
            advised
                .of(&range)
                .iter()
                .map(|advice| advice.preferred)
                .collect()
        };
        advised.change(&(0x1800..0x3001), |advice| advice.preferred = Some(1));
        assert_eq!(preferred(0x1000..0x4000), [Some(1)]);
        assert_eq!(preferred(0..0x5000), [None, Some(1), None]);
        advised.change(&(0x2000..0x3000), |advice| advice.preferred = Some(2));
        assert_eq!(preferred(0x1fff..0x3001), [Some(1), Some(2), Some(1)]);
        advised.change(&(0..0x8000), |advice| *advice = Advice::default());
        assert!(advised.parts().is_empty());
    }
}
