//! Memory that callers name by address and length: lists, and whether the program has it.

use super::error::{Failure, present};
use ferrowave_emulator::memory::PAGE_BYTES;

/// Shorter lists are read without asking the system, which costs more than reading them.
const SHORT_BYTES: usize = 1 << 16;

/// The elements of a list that a caller passed, which may be misaligned; `name` names it in errors. An empty list may be
/// null. A long one that is not all memory of the program is refused: its count is wrong.
///
/// # Safety
/// `first` is null or has `count` elements.
pub(super) unsafe fn list<T: Copy>(
    first: *const T,
    count: usize,
    name: &str,
) -> Result<Vec<T>, Failure> {
    has_room(first, count, name)?;
    // SAFETY: guaranteed by the caller.
    let elements = (0..count).map(|index| unsafe { first.add(index).read_unaligned() });
    Ok(elements.collect())
}

/// Refuses a list that cannot have `count` elements: at its address there is no memory of the program, or not that much.
pub(super) fn has_room<T>(first: *const T, count: usize, name: &str) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    present(first, name)?;
    let bytes = count.checked_mul(size_of::<T>());
    match bytes.is_some_and(|bytes| bytes <= SHORT_BYTES || is_mapped(first.addr(), bytes)) {
        true => Ok(()),
        false => Err(Failure::value(format_args!(
            "{name} at {first:p} has no {count} elements: that is not all memory of the program"
        ))),
    }
}

/// Whether the program has memory at all these addresses, as far as the system tells.
pub(super) fn is_mapped(address: usize, bytes: usize) -> bool {
    let start = address / PAGE_BYTES * PAGE_BYTES;
    let Some(bytes) = (address - start).checked_add(bytes) else {
        return false;
    };
    pages_are_mapped(start, bytes)
}

#[cfg(unix)]
fn pages_are_mapped(start: usize, bytes: usize) -> bool {
    // It only looks at the range: Linux's msync(2) has nothing to do for MS_ASYNC, but fails for addresses without memory.
    // SAFETY: the call changes nothing.
    let failed = unsafe {
        libc::msync(
            std::ptr::with_exposed_provenance_mut(start),
            bytes,
            libc::MS_ASYNC,
        )
    } != 0;
    !failed || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOMEM)
}

/// Windows has no msync(2).
#[cfg(not(unix))]
fn pages_are_mapped(start: usize, bytes: usize) -> bool {
    start.checked_add(bytes).is_some()
}
