//! Memory that host threads share: how allocations are read and written, and why that is sound.
//!
//! Workgroups run on several host threads, and copies and fills on others, so that several threads may access the same
//! bytes at the same time. A GPU allows that. A kernel with a data race reads unspecified values, but aligned accesses
//! of 1, 2, 4, 8 and 16 bytes are not torn (rocPRIM's scans pass 16 bytes between workgroups this way), and LLVM's
//! memory model of AMD's GPUs («Memory Model», `AMDGPUUsage`) builds synchronization from plain accesses and waits. In
//! Rust, concurrent plain accesses are undefined behaviour. **All accesses to allocations go through this module**,
//! except atomic operations, which use Rust's (`exec/atomic.rs`), and loads in generated host code (`exec/jit`). Only
//! one host thread at a time accesses a workgroup's LDS; [`Moves::Own`] accesses it with plain reads and writes.
//!
//! # No data races in Rust's sense
//! On x86-64 each access is one `asm!` block. To the compiler, a block behaves as some Rust code that it could stand
//! for: here relaxed atomic accesses to each of the bytes, which are never data races. No block is `pure`, and blocks
//! that write may write any memory, so that the compiler does not drop, duplicate, merge or reorder them. On other
//! hosts, and under Miri or ThreadSanitizer, the accesses are Rust's relaxed atomics, of the largest size for which the
//! address is aligned.
//!
//! # Accesses that are not torn
//! - 1 to 8 aligned bytes: one move of that size, which every x86-64 CPU performs as one access (Intel's manual, volume
//!   3, «Guaranteed Atomic Operations»; AMD's, volume 2, «Access Atomicity», 7.3.2).
//! - 16 aligned bytes: one move of a 128-bit register. Both manuals guarantee one access on CPUs with AVX. Intel names
//!   the moves that fault on unaligned addresses; the moves used here behave the same on aligned ones.
//! - Neighbouring lanes: moves of 32 or 64 bytes. The manuals guarantee nothing for these. All CPUs that have them
//!   split them into aligned pieces of at least 16 bytes (the narrowest CPUs split 32 bytes in halves; moves that cross
//!   a cache line are split there), so that a lane's 16 aligned bytes are in one piece. `tests/memory_order.rs`
//!   searches for torn accesses.
//! - Other lanes: gathers of 4 or 8 bytes, one access per lane if these are aligned (as in `exec/jit`).
//! - 12 bytes, and unaligned accesses: one access per aligned dword, or per byte.
//! - 16 bytes on x86-64 without AVX and on other hosts: one access if Rust has 128-bit atomics (64-bit ARM), otherwise
//!   two halves.
//!
//! # Order
//! x86-64 keeps loads in order, and stores in order. A load may be reordered before an earlier store; a GPU's wave
//! prevents that by waiting for the store. So a wait is a fence if something was stored since the last fence
//! (`exec/control.rs`). On other hosts each wait has an acquire-release fence.

use std::{mem::MaybeUninit, simd::Simd};

#[cfg(not(all(target_arch = "x86_64", unix, not(miri), not(sanitize = "thread"))))]
mod atomics;
#[cfg(all(target_arch = "x86_64", unix, not(miri), not(sanitize = "thread")))]
mod moves;

#[cfg(not(all(target_arch = "x86_64", unix, not(miri), not(sanitize = "thread"))))]
use atomics as host;
#[cfg(all(target_arch = "x86_64", unix, not(miri), not(sanitize = "thread")))]
use moves as host;

pub(crate) use host::{copy, copy_from, copy_to};

/// Bytes of a row: one dword of each of sixteen lanes.
pub(crate) const ROW_BYTES: usize = 64;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// Memory that no other thread accesses at the same time.
    Own,
    /// Shared memory, with the instructions that every CPU of the target has.
    Portable,
    /// Shared memory, with moves of up to 32 bytes, on CPUs with AVX.
    Avx,
    /// Shared memory, with moves of up to 64 bytes, on CPUs with AVX-512 F.
    Avx512,
}

impl Moves {
    /// Reads an integer or an array of integers.
    ///
    /// # Safety
    /// The bytes lie in an allocation that stays alive (a [`Reach`](super::Reach) covers them), or with [`Moves::Own`]
    /// in memory that only this thread accesses, through raw pointers. The CPU has the moves.
    #[inline(always)]
    pub(crate) unsafe fn read<T: Copy>(self, address: u64) -> T {
        if self == Moves::Own {
            let pointer = std::ptr::with_exposed_provenance::<T>(address as usize);
            // SAFETY: the caller's promise; the pointer need not be aligned.
            return unsafe { pointer.read_unaligned() };
        }
        let mut value = MaybeUninit::<T>::uninit();
        let to = value.as_mut_ptr().cast::<u8>();
        let (bytes, mut at) = (size_of::<T>(), 0);
        // SAFETY: the pieces are the bytes of `value`, each written once, and the caller's promise.
        unsafe {
            while bytes - at >= ROW_BYTES {
                let row = host::read_row(self, address + at as u64);
                to.add(at).cast::<[u32; 16]>().write_unaligned(row);
                at += ROW_BYTES;
            }
            while bytes - at >= 16 {
                let piece = host::read16(self, address + at as u64);
                to.add(at).cast::<[u32; 4]>().write_unaligned(piece);
                at += 16;
            }
            if bytes - at >= 8 {
                let piece = host::read8(address + at as u64);
                to.add(at).cast::<u64>().write_unaligned(piece);
                at += 8;
            }
            if bytes - at >= 4 {
                let piece = host::read4(address + at as u64);
                to.add(at).cast::<u32>().write_unaligned(piece);
                at += 4;
            }
            if bytes - at >= 2 {
                let piece = host::read2(address + at as u64);
                to.add(at).cast::<u16>().write_unaligned(piece);
                at += 2;
            }
            if bytes > at {
                to.add(at).write(host::read1(address + at as u64));
            }
            value.assume_init()
        }
    }

    /// Reads one to four dwords; the others of the result are 0.
    ///
    /// # Safety
    /// As [`Self::read`].
    #[inline(always)]
    pub(crate) unsafe fn read_dwords(self, address: u64, count: usize) -> [u32; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            match count {
                1 => [self.read(address), 0, 0, 0],
                2 => {
                    let [a, b] = self.read(address);
                    [a, b, 0, 0]
                }
                3 => {
                    let [a, b, c] = self.read(address);
                    [a, b, c, 0]
                }
                _ => self.read(address),
            }
        }
    }

    /// Reads one or two bytes.
    ///
    /// # Safety
    /// As [`Self::read`].
    #[inline(always)]
    pub(crate) unsafe fn read_small(self, address: u64, bytes: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            match bytes {
                1 => self.read::<u8>(address).into(),
                _ => self.read::<u16>(address).into(),
            }
        }
    }

    /// Reads `N` dwords of each of sixteen lanes, at offsets from `base`. The result holds the lanes one after the
    /// other.
    ///
    /// # Safety
    /// As [`Self::read`], for each lane.
    #[inline(always)]
    pub(crate) unsafe fn read_lanes<const N: usize>(
        self,
        base: u64,
        offsets: Simd<u32, 16>,
    ) -> [[u32; 16]; N] {
        // SAFETY: the caller's promise.
        if let Some(rows) = unsafe { host::gather(self, base, offsets) } {
            return rows;
        }
        let mut rows = [[0; 16]; N];
        let flat = rows.as_flattened_mut();
        for (lane, offset) in offsets.to_array().into_iter().enumerate() {
            // SAFETY: the caller's promise.
            let data: [u32; N] = unsafe { self.read(base + u64::from(offset)) };
            flat[N * lane..][..N].copy_from_slice(&data);
        }
        rows
    }

    /// Writes an integer or an array of integers.
    ///
    /// # Safety
    /// As [`Self::read`], and the memory is writable.
    #[inline(always)]
    pub(crate) unsafe fn write<T: Copy>(self, address: u64, value: T) {
        if self == Moves::Own {
            let pointer = std::ptr::with_exposed_provenance_mut::<T>(address as usize);
            // SAFETY: the caller's promise; the pointer need not be aligned.
            return unsafe { pointer.write_unaligned(value) };
        }
        let from = (&raw const value).cast::<u8>();
        let (bytes, mut at) = (size_of::<T>(), 0);
        // SAFETY: the pieces are the bytes of `value`, which have no padding, and the caller's promise.
        unsafe {
            while bytes - at >= ROW_BYTES {
                let row = from.add(at).cast::<[u32; 16]>().read_unaligned();
                host::write_row(self, address + at as u64, row);
                at += ROW_BYTES;
            }
            while bytes - at >= 16 {
                let piece = from.add(at).cast::<[u32; 4]>().read_unaligned();
                host::write16(self, address + at as u64, piece);
                at += 16;
            }
            if bytes - at >= 8 {
                let piece = from.add(at).cast::<u64>().read_unaligned();
                host::write8(address + at as u64, piece);
                at += 8;
            }
            if bytes - at >= 4 {
                let piece = from.add(at).cast::<u32>().read_unaligned();
                host::write4(address + at as u64, piece);
                at += 4;
            }
            if bytes - at >= 2 {
                let piece = from.add(at).cast::<u16>().read_unaligned();
                host::write2(address + at as u64, piece);
                at += 2;
            }
            if bytes > at {
                host::write1(address + at as u64, from.add(at).read());
            }
        }
    }

    /// Writes one to four dwords.
    ///
    /// # Safety
    /// As [`Self::write`].
    #[inline(always)]
    pub(crate) unsafe fn write_dwords(self, address: u64, data: [u32; 4], count: usize) {
        let [a, b, c, _] = data;
        // SAFETY: the caller's promise.
        unsafe {
            match count {
                1 => self.write(address, a),
                2 => self.write(address, [a, b]),
                3 => self.write(address, [a, b, c]),
                _ => self.write(address, data),
            }
        }
    }

    /// Writes the lowest one or two bytes of a value.
    ///
    /// # Safety
    /// As [`Self::write`].
    #[inline(always)]
    pub(crate) unsafe fn write_small(self, address: u64, value: u32, bytes: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            match bytes {
                1 => self.write(address, value as u8),
                _ => self.write(address, value as u16),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::SimdLevel;

    fn all_moves() -> impl Iterator<Item = Moves> {
        let levels = SimdLevel::ALL.into_iter();
        let levels = levels.filter(|level| level.is_available());
        levels.map(SimdLevel::moves).chain([Moves::Own])
    }

    fn values_go_and_come<const N: usize>() {
        for moves in all_moves() {
            for at in 0..20 {
                let mut memory = [0_u8; 128];
                let address = memory.as_mut_ptr().expose_provenance() as u64 + at;
                let value: [u8; N] = std::array::from_fn(|i| i as u8 + 1);
                // SAFETY: the bytes are in `memory`, which nothing else accesses.
                let read: [u8; N] = unsafe {
                    moves.write(address, value);
                    moves.read(address)
                };
                assert_eq!(read, value, "{moves:?} at {at}");
                let at = at as usize;
                let mut expected = [0; 128];
                expected[at..at + N].copy_from_slice(&value);
                assert_eq!(memory, expected, "{moves:?} at {at}");
            }
        }
    }

    #[test]
    fn values_of_all_sizes_go_and_come() {
        values_go_and_come::<1>();
        values_go_and_come::<2>();
        values_go_and_come::<4>();
        values_go_and_come::<8>();
        values_go_and_come::<12>();
        values_go_and_come::<16>();
        values_go_and_come::<31>();
        values_go_and_come::<64>();
        values_go_and_come::<100>();
    }

    #[test]
    fn copies_are_those_of_slices() {
        let bytes: Vec<u8> = (0..300_u32).map(|i| (i * 7) as u8).collect();
        for length in [0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 64, 200] {
            for (from, to) in [(0, 40), (40, 0), (3, 4), (4, 3), (8, 8), (5, 96)] {
                let (mut memory, mut expected) = (bytes.clone(), bytes.clone());
                expected.copy_within(from..from + length, to);
                let base = memory.as_mut_ptr().expose_provenance() as u64;
                // SAFETY: both ranges are in `memory`, which nothing else accesses.
                unsafe { copy(base + to as u64, base + from as u64, length) };
                assert!(memory == expected, "{length} bytes from {from} to {to}");

                let mut own = vec![0; length];
                // SAFETY: as above, and `own` is separate.
                unsafe { copy_from(base + to as u64, &mut own) };
                assert_eq!(own, expected[to..to + length]);
                own.fill(9);
                expected[from..from + length].fill(9);
                // SAFETY: as above.
                unsafe { copy_to(base + from as u64, &own) };
                assert!(memory == expected, "{length} bytes to {from}");
            }
        }
    }
}
