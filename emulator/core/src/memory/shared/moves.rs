//! Accesses by moves of x86-64, each an `asm!` block; see [`super`].

use std::{arch::asm, simd::Simd};

use super::Moves;

/// Defines functions that read and write an integer with one move.
macro_rules! integers {
    ($($read:ident, $write:ident, $ty:ty, $register:ident = $load:literal, $store:literal;)*) => {$(
        /// # Safety
        /// As [`Moves::read`].
        #[inline(always)]
        pub(super) unsafe fn $read(address: u64) -> $ty {
            let value: u64;
            // SAFETY: the caller's promise; the block stands for relaxed atomic reads of the bytes.
            unsafe {
                asm!(
                    $load,
                    address = in(reg) address,
                    value = lateout(reg) value,
                    options(nostack, preserves_flags, readonly),
                );
            }
            value as $ty
        }

        /// # Safety
        /// As [`Moves::write`].
        #[inline(always)]
        pub(super) unsafe fn $write(address: u64, value: $ty) {
            // SAFETY: the caller's promise; the block stands for relaxed atomic writes of the bytes.
            unsafe {
                asm!(
                    $store,
                    address = in(reg) address,
                    value = in($register) value,
                    options(nostack, preserves_flags),
                );
            }
        }
    )*};
}

integers! {
    read1, write1, u8, reg_byte = "movzx {value:e}, byte ptr [{address}]", "mov byte ptr [{address}], {value}";
    read2, write2, u16, reg = "movzx {value:e}, word ptr [{address}]", "mov word ptr [{address}], {value:x}";
    read4, write4, u32, reg = "mov {value:e}, dword ptr [{address}]", "mov dword ptr [{address}], {value:e}";
    read8, write8, u64, reg = "mov {value}, qword ptr [{address}]", "mov qword ptr [{address}], {value}";
}

/// Defines functions that read and write a vector with one move.
macro_rules! vectors {
    ($($(#[$attribute:meta])* $read:ident, $write:ident, $lanes:literal, $register:ident = $load:literal, $store:literal;)*) => {$(
        /// # Safety
        /// As [`Moves::read`].
        $(#[$attribute])*
        unsafe fn $read(address: u64) -> [u32; $lanes] {
            let value: Simd<u32, $lanes>;
            // SAFETY: the caller's promise; the block stands for relaxed atomic reads of the bytes.
            unsafe {
                asm!(
                    $load,
                    address = in(reg) address,
                    value = lateout($register) value,
                    options(nostack, preserves_flags, readonly),
                );
            }
            value.to_array()
        }

        /// # Safety
        /// As [`Moves::write`].
        $(#[$attribute])*
        unsafe fn $write(address: u64, value: [u32; $lanes]) {
            // SAFETY: the caller's promise; the block stands for relaxed atomic writes of the bytes.
            unsafe {
                asm!(
                    $store,
                    address = in(reg) address,
                    value = in($register) Simd::from_array(value),
                    options(nostack, preserves_flags),
                );
            }
        }
    )*};
}

vectors! {
    #[inline(always)]
    read16_sse, write16_sse, 4, xmm_reg = "movdqu {value}, xmmword ptr [{address}]", "movdqu xmmword ptr [{address}], {value}";
    #[inline]
    #[target_feature(enable = "avx")]
    read16_avx, write16_avx, 4, xmm_reg = "vmovdqu {value}, xmmword ptr [{address}]", "vmovdqu xmmword ptr [{address}], {value}";
    #[inline]
    #[target_feature(enable = "avx")]
    read32_avx, write32_avx, 8, ymm_reg = "vmovdqu {value}, ymmword ptr [{address}]", "vmovdqu ymmword ptr [{address}], {value}";
    #[inline]
    #[target_feature(enable = "avx512f")]
    read64_avx512, write64_avx512, 16, zmm_reg = "vmovdqu32 {value}, zmmword ptr [{address}]", "vmovdqu32 zmmword ptr [{address}], {value}";
}

/// # Safety
/// As [`Moves::read`].
#[inline(always)]
pub(super) unsafe fn read16(moves: Moves, address: u64) -> [u32; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        match moves {
            Moves::Own | Moves::Portable => read16_sse(address),
            Moves::Avx | Moves::Avx512 => read16_avx(address),
        }
    }
}

/// # Safety
/// As [`Moves::write`].
#[inline(always)]
pub(super) unsafe fn write16(moves: Moves, address: u64, value: [u32; 4]) {
    // SAFETY: the caller's promise.
    unsafe {
        match moves {
            Moves::Own | Moves::Portable => write16_sse(address, value),
            Moves::Avx | Moves::Avx512 => write16_avx(address, value),
        }
    }
}

/// # Safety
/// As [`Moves::read`].
#[inline(always)]
pub(super) unsafe fn read_row(moves: Moves, address: u64) -> [u32; 16] {
    let mut row = [0; 16];
    // SAFETY: the caller's promise.
    unsafe {
        match moves {
            Moves::Own | Moves::Portable => {
                for (at, piece) in (0..).step_by(16).zip(row.as_chunks_mut().0) {
                    *piece = read16_sse(address + at);
                }
            }
            Moves::Avx => {
                for (at, piece) in (0..).step_by(32).zip(row.as_chunks_mut().0) {
                    *piece = read32_avx(address + at);
                }
            }
            Moves::Avx512 => row = read64_avx512(address),
        }
    }
    row
}

/// # Safety
/// As [`Moves::write`].
#[inline(always)]
pub(super) unsafe fn write_row(moves: Moves, address: u64, row: [u32; 16]) {
    // SAFETY: the caller's promise.
    unsafe {
        match moves {
            Moves::Own | Moves::Portable => {
                for (at, piece) in (0..).step_by(16).zip(row.as_chunks().0) {
                    write16_sse(address + at, *piece);
                }
            }
            Moves::Avx => {
                for (at, piece) in (0..).step_by(32).zip(row.as_chunks().0) {
                    write32_avx(address + at, *piece);
                }
            }
            Moves::Avx512 => write64_avx512(address, row),
        }
    }
}

/// Defines a function that gathers dwords, or pairs of dwords, at unsigned offsets from a base. The CPU's offsets are
/// signed, so they are relative to the middle of the 4 GiB.
macro_rules! gathers {
    ($($gather:ident, $lanes:literal = $instruction:literal;)*) => {$(
        /// # Safety
        /// As [`Moves::read_lanes`].
        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        unsafe fn $gather(base: u64, offsets: Simd<u32, $lanes>) -> [u32; 16] {
            const MIDDLE: u32 = 1 << 31;
            let value: Simd<u32, 16>;
            // SAFETY: the caller's promise; the block stands for relaxed atomic reads of the bytes.
            unsafe {
                asm!(
                    "vpxor {value:x}, {value:x}, {value:x}",
                    "kxnorw {all}, {all}, {all}",
                    $instruction,
                    base = in(reg) base.wrapping_add(u64::from(MIDDLE)),
                    offsets = in(zmm_reg) offsets ^ Simd::splat(MIDDLE),
                    value = out(zmm_reg) value,
                    all = out(kreg) _,
                    options(nostack, preserves_flags, readonly),
                );
            }
            value.to_array()
        }
    )*};
}

gathers! {
    gather4, 16 = "vpgatherdd {value}{{{all}}}, [{base} + {offsets}]";
    gather8, 8 = "vpgatherdq {value}{{{all}}}, [{base} + {offsets:y}]";
}

/// Gathers one or two dwords of each lane, if the CPU can.
///
/// # Safety
/// As [`Moves::read_lanes`].
#[inline(always)]
pub(super) unsafe fn gather<const N: usize>(
    moves: Moves,
    base: u64,
    offsets: Simd<u32, 16>,
) -> Option<[[u32; 16]; N]> {
    if moves != Moves::Avx512 {
        return None;
    }
    let mut rows = [[0; 16]; N];
    // SAFETY: the caller's promise.
    unsafe {
        match rows.as_mut_slice() {
            [row] => *row = gather4(base, offsets),
            [low, high] => {
                *low = gather8(base, offsets.extract::<0, 8>());
                *high = gather8(base, offsets.extract::<8, 8>());
            }
            _ => return None,
        }
    }
    Some(rows)
}

/// Copies within shared memory; the ranges may overlap. Copies of 1, 2, 4, 8 and 16 bytes are one access each.
///
/// # Safety
/// The bytes lie in allocations that stay alive, or in memory that only this thread accesses, through raw pointers.
/// Written bytes are writable.
pub(crate) unsafe fn copy(to: u64, from: u64, bytes: usize) {
    // SAFETY: the caller's promise. The block calls C's `memmove`. Its machine code stands for relaxed atomic reads and
    // writes of the bytes, like the other moves: the compiler does not know which function it is.
    unsafe {
        match bytes {
            1 => write1(to, read1(from)),
            2 => write2(to, read2(from)),
            4 => write4(to, read4(from)),
            8 => write8(to, read8(from)),
            16 => write16_sse(to, read16_sse(from)),
            _ => asm!(
                "call {memmove}",
                memmove = in(reg) libc::memmove as *const (),
                in("rdi") to,
                in("rsi") from,
                in("rdx") bytes,
                clobber_abi("sysv64"),
            ),
        }
    }
}

/// Copies from shared memory to private memory of the caller.
///
/// # Safety
/// As [`copy`].
pub(crate) unsafe fn copy_from(from: u64, to: &mut [u8]) {
    // SAFETY: the caller's promise, and `to` is its own.
    unsafe { copy(to.as_mut_ptr().expose_provenance() as u64, from, to.len()) }
}

/// Copies to shared memory from private memory of the caller.
///
/// # Safety
/// As [`copy`].
pub(crate) unsafe fn copy_to(to: u64, from: &[u8]) {
    // SAFETY: the caller's promise, and `from` is its own.
    unsafe { copy(to, from.as_ptr().expose_provenance() as u64, from.len()) }
}
