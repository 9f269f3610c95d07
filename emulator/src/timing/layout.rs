//! Where allocations would lie on a GPU, so that times do not depend on where they lie in the host's memory.
//!
//! Sets of caches are chosen by addresses. Those of the emulator's allocations differ from run to run, and so would the
//! modelled times. So the lines of an access are counted from its allocation, and allocations stand one after the other, in
//! the order of their addresses, at multiples of 2 MiB: the largest pages that ROCm gives large allocations.

use std::collections::BTreeSet;

use super::trace::Recorded;
use crate::memory::View;

/// What allocations are aligned to.
const PAGE_BYTES: u64 = 2 << 20;

/// Moves the lines of all accesses to where they would be.
pub(super) fn place(recorded: &mut Recorded, memory: &View, line_bytes: u64) {
    // The first line, the one behind the last and the first one's new place of each allocation, in order.
    let page = PAGE_BYTES / line_bytes;
    let mut next = page;
    let mut known = Vec::new();
    for allocation in memory.allocations() {
        let first = allocation.base / line_bytes;
        let end = (allocation.base + allocation.bytes as u64).div_ceil(line_bytes);
        known.push((first, end, next));
        next = (next + (end - first)).next_multiple_of(page);
    }
    let find = |line: u64| {
        let after = known.partition_point(|(first, ..)| *first <= line);
        let (first, end, new) = known.get(after.checked_sub(1)?)?;
        (line < *end).then(|| new + (line - first))
    };
    // What belongs to the launch, such as its arguments, is no allocation any more: in its own order.
    let mut others = BTreeSet::new();
    for access in accesses(recorded) {
        if find(*access).is_none() {
            others.insert(*access);
        }
    }
    let others: Vec<u64> = others.into_iter().collect();
    for access in accesses(recorded) {
        *access = find(*access).unwrap_or_else(|| {
            let rank = others.partition_point(|other| other < access);
            next + rank as u64
        });
    }
}

/// The line of each access that its shape is counted from.
fn accesses(recorded: &mut Recorded) -> impl Iterator<Item = &mut u64> {
    let waves = recorded
        .workgroups
        .iter_mut()
        .flat_map(|workgroup| &mut workgroup.waves);
    let accesses = waves.flat_map(|wave| &mut wave.accesses);
    accesses.map(|access| &mut access.base)
}
