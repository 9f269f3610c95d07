//! Memory that host threads share: how bytes of an allocation are read and written, and why that is right.
//!
//! Workgroups run on several host threads, and copies and fills run on others, so that any of them may access the same
//! bytes at the same time. A GPU allows that: what a kernel of a data race then reads is unspecified, but aligned accesses
//! of 1, 2, 4, 8 and 16 bytes are whole (rocPRIM's scans hand 16 bytes from one workgroup to the next so), and LLVM's memory
//! model of AMD's GPUs («Memory Model», `AMDGPUUsage`) builds synchronization out of plain accesses and waits. In Rust
//! a race of plain accesses is undefined behaviour. **All accesses to allocations go through this module**, but for atomic
//! operations, which are Rust's (`exec/atomic.rs`), and loads of host code, which we assemble (`exec/jit`).
//! A workgroup's LDS is one host thread's at a time, and takes [`Moves::Own`], which is plain reads and writes.
//!
//! # No races in Rust's sense
//! On x86-64 each access is one `asm!` block. To the compiler a block is whatever Rust code it could stand for, here
//! relaxed atomic accesses to each of the bytes, and those never race. None of the blocks is `pure`, and those that write may
//! write any memory, so that the compiler neither drops, doubles, merges nor moves one over another. Elsewhere, and where Miri
//! or ThreadSanitizer look on, the accesses are relaxed atomic ones of Rust, the largest that the address is aligned for.
//!
//! # Whole accesses
//! - 1 to 8 bytes that are aligned: one move of that size, which every x86-64 does whole (Intel's manual, volume 3,
//!   «Guaranteed Atomic Operations»; AMD's, volume 2, «Access Atomicity», 7.3.2).
//! - 16 bytes that are aligned: one move of a 128-bit register. Both manuals promise that it is whole where there is AVX. Intel
//!   names the moves that fault if the address is not aligned; the ones used here are the same on addresses that are.
//! - Lanes side by side are moved 32 or 64 bytes at a time. No manual says anything of these. They are made of aligned pieces of at
//!   least 16 bytes in all processors that have them (the narrowest split 32 bytes in halves, and moves that cross a cache
//!   line are split there), so that a lane's 16 aligned bytes are in one piece. `tests/memory_order.rs` looks for torn ones.
//! - Lanes apart are gathered, 4 or 8 bytes each, if those are aligned, by one access each (as `exec/jit` does).
//! - 12 bytes, and what is not aligned, are whole in each aligned dword, or in each byte.
//! - On x86-64 without AVX and on other hosts, 16 bytes are whole if Rust has atomics of that size (64-bit ARM); else in halves.
//!
//! # Order
//! On x86-64, loads are done in order, and so are stores. A load may overtake an earlier store, which a GPU's wave rules out by
//! waiting for the store: what waits is a fence if something was stored since the last (`exec/control.rs`). On other hosts
//! each wait has an acquire-release fence.

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

/// Bytes of a row: sixteen lanes of a dword.
pub(crate) const ROW_BYTES: usize = 64;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// As memory that no other thread accesses meanwhile.
    Own,
    /// As shared memory, with what every computer of the target has.
    Portable,
    /// The same with moves of up to 32 bytes, on computers with AVX.
    Avx,
    /// The same with moves of up to 64 bytes, on computers with AVX-512 F.
    Avx512,
}

impl Moves {
    /// Reads a value of integers.
    ///
    /// # Safety
    /// The bytes lie in an allocation that is kept (a [`Reach`](super::Reach) covers them), or with [`Moves::Own`] in memory that
    /// only this thread accesses through raw pointers. The computer has the moves.
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

    /// Reads `N` dwords of each of sixteen lanes, at offsets behind `base`: one lane's behind the other.
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

    /// Writes a value of integers.
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
                // SAFETY: as above, and `own` is apart.
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
