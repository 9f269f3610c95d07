//! Indices that are in range by their type.

/// Lanes of a wave of CDNA. The vector kernels arrange threads in groups of as many on all GPUs; on RDNA, such a group
/// is two waves.
pub const LANES: usize = 64;

/// A number below `N`: a thread of a workgroup, a row of a tile.
///
/// An index is in range by construction, so that accesses need no bounds check and the code object
/// no panic. Thread maps are written with [`split`](Self::split) and [`join`](Self::join), which
/// check at compile time that the parts multiply to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index<const N: usize>(u32);

impl<const N: usize> Index<N> {
    /// `value`, which must be below `N`.
    ///
    /// # Safety
    /// `value < N`.
    #[inline(always)]
    pub const unsafe fn new_unchecked(value: u32) -> Self {
        // SAFETY: the caller promises that the value is in range.
        unsafe { core::hint::assert_unchecked((value as usize) < N) };
        Self(value)
    }

    /// `value` modulo `N`: for loop counters, which the compiler knows to be in range already.
    #[inline(always)]
    pub const fn wrapping(value: u32) -> Self {
        const { assert!(N > 0 && N <= 1 << 16, "an index has from 1 to 2^16 values") }
        Self(value % N as u32)
    }

    /// The number.
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number as an array index.
    #[inline(always)]
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }

    /// Splits the index into `⌊self / LOW⌋` and `self mod LOW`.
    #[inline(always)]
    pub const fn split<const HIGH: usize, const LOW: usize>(self) -> (Index<HIGH>, Index<LOW>) {
        const {
            assert!(
                HIGH * LOW == N,
                "the parts of a split index must multiply to the whole"
            );
        }
        (Index(self.0 / LOW as u32), Index(self.0 % LOW as u32))
    }

    /// The index whose parts are `self` and `low`: `self · LOW + low`.
    #[inline(always)]
    pub const fn join<const LOW: usize, const WHOLE: usize>(self, low: Index<LOW>) -> Index<WHOLE> {
        const {
            assert!(
                N * LOW == WHOLE,
                "the parts of a joined index must multiply to the whole"
            );
        }
        Index(self.0 * LOW as u32 + low.0)
    }

    /// All indices, in order.
    #[inline(always)]
    pub fn all() -> impl Iterator<Item = Self> {
        (0..N as u32).map(Self::wrapping)
    }
}

/// The number of the calling thread in its workgroup of `THREADS` threads.
///
/// The threads of a workgroup have different numbers, so that what is divided by thread number is
/// written by one thread only.
#[derive(Clone, Copy, Debug)]
pub struct Thread<const THREADS: usize>(Index<THREADS>);

impl<const THREADS: usize> Thread<THREADS> {
    /// The calling thread.
    ///
    /// # Safety
    /// The other threads of the workgroup call this with other numbers.
    #[inline(always)]
    pub const unsafe fn new(number: Index<THREADS>) -> Self {
        Self(number)
    }

    /// The number.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// The thread's wave, and its lane in the wave; on RDNA, its group of [`LANES`] threads, and its place in it.
    #[inline(always)]
    pub const fn wave_and_lane<const WAVES: usize>(self) -> (Index<WAVES>, Index<LANES>) {
        self.0.split()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_is_division_with_remainder_and_joining_undoes_it() {
        for whole in Index::<24>::all() {
            let (high, low) = whole.split::<3, 8>();
            assert_eq!(high.get(), whole.get() / 8);
            assert_eq!(low.get(), whole.get() % 8);
            assert_eq!(high.join::<8, 24>(low), whole);
        }
    }

    #[test]
    fn all_is_every_value_once() {
        assert!(Index::<5>::all().map(Index::get).eq(0..5));
    }

    #[test]
    fn a_value_out_of_range_wraps() {
        assert_eq!(Index::<5>::wrapping(7).get(), 2);
    }
}
