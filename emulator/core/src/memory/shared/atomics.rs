//! Accesses by Rust's relaxed atomics, of the largest size for which the address is aligned.

use std::{
    ptr::with_exposed_provenance_mut as pointer,
    simd::Simd,
    sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed},
};

use super::Moves;

/// # Safety
/// As [`Moves::read`].
#[inline]
pub(super) unsafe fn read1(address: u64) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU8::from_ptr(pointer(address as usize)) }.load(Relaxed)
}

/// # Safety
/// As [`Moves::write`].
#[inline]
pub(super) unsafe fn write1(address: u64, value: u8) {
    // SAFETY: the caller's promise.
    unsafe { AtomicU8::from_ptr(pointer(address as usize)) }.store(value, Relaxed);
}

/// Defines functions that read and write an integer; unaligned ones in halves.
macro_rules! integers {
    ($($read:ident, $write:ident, $ty:ident, $atomic:ident = $read_half:ident, $write_half:ident, $half:ident;)*) => {$(
        /// # Safety
        /// As [`Moves::read`].
        #[inline]
        pub(super) unsafe fn $read(address: u64) -> $ty {
            // SAFETY: the caller's promise, and the pointer is aligned.
            unsafe {
                if address.is_multiple_of(size_of::<$ty>() as u64) {
                    return $atomic::from_ptr(pointer(address as usize)).load(Relaxed);
                }
                let (low, high) = ($read_half(address), $read_half(address + size_of::<$half>() as u64));
                $ty::from(low) | $ty::from(high) << $half::BITS
            }
        }

        /// # Safety
        /// As [`Moves::write`].
        #[inline]
        pub(super) unsafe fn $write(address: u64, value: $ty) {
            // SAFETY: the caller's promise, and the pointer is aligned.
            unsafe {
                if address.is_multiple_of(size_of::<$ty>() as u64) {
                    return $atomic::from_ptr(pointer(address as usize)).store(value, Relaxed);
                }
                $write_half(address, value as $half);
                $write_half(address + size_of::<$half>() as u64, (value >> $half::BITS) as $half);
            }
        }
    )*};
}

integers! {
    read2, write2, u16, AtomicU16 = read1, write1, u8;
    read4, write4, u32, AtomicU32 = read2, write2, u16;
    read8, write8, u64, AtomicU64 = read4, write4, u32;
}

/// In halves: 64-bit ARM reads 16 bytes atomically by writing them back, which memory that is mapped for reading only does not
/// allow.
///
/// # Safety
/// As [`Moves::read`].
#[inline]
unsafe fn read128(address: u64) -> u128 {
    // SAFETY: the caller's promise.
    unsafe { u128::from(read8(address)) | u128::from(read8(address + 8)) << 64 }
}

/// # Safety
/// As [`Moves::write`].
#[inline]
unsafe fn write128(address: u64, value: u128) {
    // SAFETY: the caller's promise.
    unsafe {
        write8(address, value as u64);
        write8(address + 8, (value >> 64) as u64);
    }
}

/// # Safety
/// As [`Moves::read`].
#[inline]
pub(super) unsafe fn read16(_: Moves, address: u64) -> [u32; 4] {
    // SAFETY: the caller's promise.
    let value = unsafe { read128(address) };
    std::array::from_fn(|part| (value >> (32 * part)) as u32)
}

/// # Safety
/// As [`Moves::write`].
#[inline]
pub(super) unsafe fn write16(_: Moves, address: u64, value: [u32; 4]) {
    let parts = (0..).step_by(32).zip(value);
    let value = parts.fold(0, |all, (shift, part)| all | u128::from(part) << shift);
    // SAFETY: the caller's promise.
    unsafe { write128(address, value) }
}

/// # Safety
/// As [`Moves::read`].
#[inline]
pub(super) unsafe fn read_row(moves: Moves, address: u64) -> [u32; 16] {
    let mut row = [0; 16];
    for (at, piece) in (0..).step_by(16).zip(row.as_chunks_mut().0) {
        // SAFETY: the caller's promise.
        *piece = unsafe { read16(moves, address + at) };
    }
    row
}

/// Does not gather: always `None`.
///
/// # Safety
/// No conditions.
#[inline]
pub(super) const unsafe fn gather<const N: usize>(
    _: Moves,
    _: u64,
    _: Simd<u32, 16>,
) -> Option<[[u32; 16]; N]> {
    None
}

/// # Safety
/// As [`Moves::write`].
#[inline]
pub(super) unsafe fn write_row(moves: Moves, address: u64, row: [u32; 16]) {
    for (at, piece) in (0..).step_by(16).zip(row.as_chunks().0) {
        // SAFETY: the caller's promise.
        unsafe { write16(moves, address + at, *piece) };
    }
}

/// Copies within shared memory; the ranges may overlap.
///
/// # Safety
/// The bytes lie in allocations that stay alive, and written bytes are writable.
pub(crate) unsafe fn copy(to: u64, from: u64, bytes: usize) {
    let mut own = vec![0; bytes];
    // SAFETY: the caller's promise.
    unsafe {
        copy_from(from, &mut own);
        copy_to(to, &own);
    }
}

/// How many bytes to copy next.
fn piece(address: u64, left: usize) -> usize {
    let fits = |&bytes: &usize| left >= bytes && address.is_multiple_of(bytes as u64);
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// Copies from shared memory to private memory of the caller.
///
/// # Safety
/// As [`copy`].
pub(crate) unsafe fn copy_from(from: u64, to: &mut [u8]) {
    let mut at = 0;
    while at < to.len() {
        let address = from + at as u64;
        let bytes = piece(address, to.len() - at);
        // SAFETY: the caller's promise.
        let value = unsafe {
            match bytes {
                8 => read8(address),
                4 => read4(address).into(),
                2 => read2(address).into(),
                _ => read1(address).into(),
            }
        };
        to[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        at += bytes;
    }
}

/// Copies to shared memory from private memory of the caller.
///
/// # Safety
/// As [`copy`].
pub(crate) unsafe fn copy_to(to: u64, from: &[u8]) {
    let mut at = 0;
    while at < from.len() {
        let address = to + at as u64;
        let bytes = piece(address, from.len() - at);
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&from[at..at + bytes]);
        let value = u64::from_le_bytes(value);
        // SAFETY: the caller's promise.
        unsafe {
            match bytes {
                8 => write8(address, value),
                4 => write4(address, value as u32),
                2 => write2(address, value as u16),
                _ => write1(address, value as u8),
            }
        }
        at += bytes;
    }
}
