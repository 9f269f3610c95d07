//! Values that are opaque to the compiler.

use core::arch::asm;

/// An opaque zero: the compiler can neither fold nor hoist an expression that it is added to.
#[inline(always)]
pub(crate) fn opaque_zero() -> u32 {
    let zero;
    // SAFETY: a scalar move, which changes nothing else.
    unsafe { asm!("s_mov_b32 {0}, 0", out(sgpr32) zero, options(nomem, nostack, preserves_flags)) };
    zero
}
