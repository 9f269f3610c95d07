//! Arrays whose length is given by a type, since Rust accepts no associated constant of a type parameter as a length.

use core::{mem::MaybeUninit, ops::IndexMut};

/// The length of an array.
pub trait Length: Copy {
    /// How many elements the array has.
    const LEN: usize;

    /// The array.
    type Array<T: Copy>: Copy + IndexMut<usize, Output = T>;

    /// An array of copies of `value`.
    fn splat<T: Copy>(value: T) -> Self::Array<T>;

    /// The array of `element(0)`, `element(1)`, ….
    fn from_fn<T: Copy>(element: impl FnMut(usize) -> T) -> Self::Array<T>;
}

/// An array of `T` whose length is `L`.
pub type Array<T, L> = <L as Length>::Array<T>;

/// The length `N`.
#[derive(Clone, Copy, Debug)]
pub struct Len<const N: usize>;

impl<const N: usize> Length for Len<N> {
    const LEN: usize = N;

    type Array<T: Copy> = [T; N];

    #[inline(always)]
    fn splat<T: Copy>(value: T) -> [T; N] {
        [value; N]
    }

    #[expect(
        clippy::needless_range_loop,
        reason = "loops over iterators unroll too late, and leave the registers in memory"
    )]
    #[inline(always)]
    fn from_fn<T: Copy>(mut element: impl FnMut(usize) -> T) -> [T; N] {
        let mut elements = [const { MaybeUninit::uninit() }; N];
        for i in 0..N {
            elements[i].write(element(i));
        }
        // SAFETY: the loop has written all of them.
        elements.map(|element| unsafe { element.assume_init() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_their_length() {
        let mut squares = Len::<3>::from_fn(|i| i * i);
        squares[1] += 10;
        assert_eq!((Len::<3>::LEN, squares), (3, [0, 11, 4]));
        assert_eq!(Len::<2>::splat(7), [7, 7]);
    }
}
