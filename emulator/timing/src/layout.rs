//! Assigns allocations to fixed addresses, so that modelled times do not depend on their addresses in the host's
//! memory.
//!
//! The sets of caches are selected by address, and the emulator's allocations have different addresses in each run. So
//! the lines of an access are counted from its allocation. Allocations are placed in the order of the kernel's first
//! access to them, at multiples of 2 MiB: the size of the pages that ROCm uses for large allocations.

use std::collections::HashMap;

use super::trace::Recorded;
use ferrowave_emulator::memory::View;

/// The alignment of allocations.
const PAGE_BYTES: u64 = 2 << 20;

/// Size of the pieces for memory of the launch, such as its arguments: it is no longer an allocation after the launch.
const PIECE_BYTES: u64 = 4096;

/// Moves the lines of all accesses to the fixed addresses. Returns the bytes of all allocations that are accessed.
pub(super) fn place(recorded: &mut Recorded, memory: &View, line_bytes: u64) -> u64 {
    // For each allocation its first line and the line after its last, sorted.
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
    let mut accessed = 0;
    // Assigned lines, by first line.
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
            accessed += lines;
            next = (next + lines).next_multiple_of(page);
            place
        });
        access.base = place + (line - first);
    }
    accessed * line_bytes
}
