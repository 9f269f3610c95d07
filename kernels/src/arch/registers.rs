//! What the compiler may know of registers.

use core::arch::asm;

/// 0, which the compiler does not know, nor that it is the same each time.
#[inline(always)]
pub(crate) fn unknown_zero() -> u32 {
    let zero;
    // SAFETY: a scalar move, which changes nothing else.
    unsafe { asm!("s_mov_b32 {0}, 0", out(sgpr32) zero, options(nomem, nostack, preserves_flags)) };
    zero
}
