//! Where allocations would lie on a GPU, so that times do not depend on where they lie in the host's memory.
//!
//! Sets of caches are chosen by addresses. Those of the emulator's allocations differ from run to run, and so would the
//! modelled times. So the lines of an access are counted from its allocation, and allocations stand one after the other, in
//! the order in which the kernel comes to them, at multiples of 2 MiB: the largest pages that ROCm gives large allocations.

use std::collections::HashMap;

use super::trace::Recorded;
use ferrowave_emulator::memory::View;

/// What allocations are aligned to.
const PAGE_BYTES: u64 = 2 << 20;

/// Pieces of memory that belong to the launch, such as its arguments: they are no allocations any more when it has ended.
const PIECE_BYTES: u64 = 4096;

/// Moves the lines of all accesses to where they would be.
pub(super) fn place(recorded: &mut Recorded, memory: &View, line_bytes: u64) {
    // The first line and the one behind the last of each allocation, in order.
    let allocations: Vec<(u64, u64)> = memory
        .allocations()
        .iter()
        .map(|allocation| {
            let end = allocation.base + allocation.bytes as u64;
            (allocation.base / line_bytes, end.div_ceil(line_bytes))
        })
        .collect();
    let page = PAGE_BYTES / line_bytes;
    let piece = PIECE_BYTES / line_bytes;
    let mut next = page;
    // By first line: where it would be.
    let mut places: HashMap<u64, u64> = HashMap::new();
    let waves = recorded
        .workgroups
        .iter_mut()
        .flat_map(|workgroup| &mut workgroup.waves);
    for access in waves.flat_map(|wave| &mut wave.accesses) {
        let line = access.base;
        let after = allocations.partition_point(|(first, _)| *first <= line);
        let found = after
            .checked_sub(1)
            .and_then(|index| allocations.get(index))
            .filter(|(_, end)| line < *end);
        let (first, lines) = match found {
            Some((first, end)) => (*first, end - first),
            None => (line - line % piece, piece),
        };
        let place = *places.entry(first).or_insert_with(|| {
            let place = next;
            next = (next + lines).next_multiple_of(page);
            place
        });
        access.base = place + (line - first);
    }
}
