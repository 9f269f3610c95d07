//! Loops over small arrays.

use std::mem::MaybeUninit;

/// As [`std::array::from_fn`], but this is a plain loop that is always inlined: handlers consist of such loops, and
/// std's, which guard against a panic in `f`, are several functions for each closure.
#[inline(always)]
pub(crate) fn array<T: Copy, const N: usize>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    let mut all = MaybeUninit::<[T; N]>::uninit();
    let mut i = 0;
    while i < N {
        // SAFETY: `i` is below the array's length.
        unsafe { all.as_mut_ptr().cast::<T>().add(i).write(f(i)) };
        i += 1;
    }
    // SAFETY: the loop has written all elements.
    unsafe { all.assume_init() }
}

/// Arrays whose elements are mapped, for the same reason as [`array`].
pub(crate) trait Mapped<T: Copy, const N: usize> {
    /// As `[T; N]::map`.
    fn mapped<R: Copy>(self, f: impl FnMut(T) -> R) -> [R; N];
}

impl<T: Copy, const N: usize> Mapped<T, N> for [T; N] {
    #[inline(always)]
    fn mapped<R: Copy>(self, mut f: impl FnMut(T) -> R) -> [R; N] {
        array(|i| f(self[i]))
    }
}
