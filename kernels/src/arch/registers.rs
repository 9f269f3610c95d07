//! Values that the compiler must not see through.

use core::arch::asm;

/// An opaque zero: blocks folding and hoisting of what it is added to.
#[inline(always)]
pub(crate) fn opaque_zero() -> u32 {
    let zero;
    // SAFETY: a scalar move, which changes nothing else.
    unsafe { asm!("s_mov_b32 {0}, 0", out(sgpr32) zero, options(nomem, nostack, preserves_flags)) };
    zero
}
