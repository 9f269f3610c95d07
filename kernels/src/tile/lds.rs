//! Tiles in LDS, which all threads of a workgroup fill together and then all read.
//!
//! The two phases are two types. [`Vacant`] can be filled, which ends with a barrier and gives
//! [`Filled`]; [`Filled`] can be read, and vacated, which begins with a barrier and gives
//! [`Vacant`] back. Leaving out either barrier does not compile.

use super::index::{Index, Thread};

/// How the threads of a workgroup wait for each other.
///
/// # Safety
/// When [`wait`](Self::wait) returns, every thread of the workgroup has called it, what each wrote
/// to LDS before is visible to all, and no access has moved across the call in either direction.
pub unsafe trait Barrier: Copy {
    /// Waits for all threads of the workgroup.
    fn wait(self);
}

/// `ROWS` × `COLUMNS` elements, row-major, with `PITCH` elements from one row to the next.
///
/// LDS has 32 banks of 4 bytes: the pitch decides which elements of a column share one.
#[repr(C, align(16))]
pub struct LdsTile<T, const ROWS: usize, const COLUMNS: usize, const PITCH: usize> {
    elements: [[T; PITCH]; ROWS],
}

impl<T: Copy, const ROWS: usize, const COLUMNS: usize, const PITCH: usize>
    LdsTile<T, ROWS, COLUMNS, PITCH>
{
    /// Element `(row, column)`.
    #[inline(always)]
    pub fn element(&self, row: Index<ROWS>, column: Index<COLUMNS>) -> T {
        const { assert!(COLUMNS <= PITCH, "a row must fit its pitch") }
        // SAFETY: the indices are in range by their types, and a row is no longer than its pitch.
        unsafe {
            *self
                .elements
                .get_unchecked(row.as_usize())
                .get_unchecked(column.as_usize())
        }
    }

    /// Elements `N · part ..` of a row.
    #[inline(always)]
    pub fn part_of_row<const N: usize, const PARTS: usize>(
        &self,
        row: Index<ROWS>,
        part: Index<PARTS>,
    ) -> [T; N] {
        core::array::from_fn(|i| self.element(row, part.join(Index::<N>::wrapping(i as u32))))
    }

    /// Elements `N · part ..` of a column.
    #[inline(always)]
    pub fn part_of_column<const N: usize, const PARTS: usize>(
        &self,
        part: Index<PARTS>,
        column: Index<COLUMNS>,
    ) -> [T; N] {
        core::array::from_fn(|i| self.element(part.join(Index::<N>::wrapping(i as u32)), column))
    }
}

/// A tile that the threads of a workgroup can fill together.
pub trait Fill {
    /// The type of the elements.
    type Element;

    /// Writes this thread's share of the elements, each as `element(row, column)` says.
    ///
    /// # Safety
    /// `this` points to memory for a tile. Between the barrier before and the one after, it is only
    /// accessed by this function.
    unsafe fn fill<const THREADS: usize>(
        this: *mut Self,
        thread: Thread<THREADS>,
        element: impl Fn(u32, u32) -> Self::Element,
    );
}

impl<T: Copy, const ROWS: usize, const COLUMNS: usize, const PITCH: usize> Fill
    for LdsTile<T, ROWS, COLUMNS, PITCH>
{
    type Element = T;

    /// A thread's share are the elements number `thread + i · THREADS`, counted along the rows.
    /// Neighbouring threads so read neighbouring elements of global memory and write to
    /// neighbouring banks.
    #[inline(always)]
    unsafe fn fill<const THREADS: usize>(
        this: *mut Self,
        thread: Thread<THREADS>,
        element: impl Fn(u32, u32) -> T,
    ) {
        const {
            assert!(COLUMNS <= PITCH, "a row must fit its pitch");
            assert!(
                THREADS.is_multiple_of(COLUMNS),
                "a pass must fill whole rows"
            );
            assert!(
                (ROWS * COLUMNS).is_multiple_of(THREADS),
                "every pass must be a whole one"
            );
        }
        let first_row = thread.number() / COLUMNS as u32;
        let column = thread.number() % COLUMNS as u32;
        let rows_per_pass = (THREADS / COLUMNS) as u32;
        for pass in 0..(ROWS * COLUMNS / THREADS) as u32 {
            let row = first_row + pass * rows_per_pass;
            let value = element(row, column);
            // SAFETY: `row` is below ROWS and `column` below COLUMNS, since the passes are as many
            // as fill the tile. Threads have different numbers and thus different elements, and
            // the caller excludes all other accesses.
            unsafe {
                this.cast::<T>()
                    .add(row as usize * PITCH + column as usize)
                    .write(value);
            }
        }
    }
}

/// The tiles of A and B that a workgroup has in LDS at the same time.
#[repr(C)]
pub struct Operands<A, B> {
    /// The tile of A.
    pub a: A,
    /// The tile of B.
    pub b: B,
}

/// LDS whose content nobody needs any more.
pub struct Vacant<A, B, W> {
    operands: *mut Operands<A, B>,
    workgroup: W,
}

impl<A: Fill, B: Fill, W: Barrier> Vacant<A, B, W> {
    /// The LDS at `operands`.
    ///
    /// # Safety
    /// `operands` is aligned, has room for the tiles, and is the same in all threads of the
    /// workgroup; it is only accessed through one value made by this function in each thread.
    #[inline(always)]
    pub unsafe fn new(operands: *mut Operands<A, B>, workgroup: W) -> Self {
        Self {
            operands,
            workgroup,
        }
    }

    /// Writes this thread's share of both tiles and waits for the other threads' shares.
    #[inline(always)]
    pub fn fill<const THREADS: usize>(
        self,
        thread: Thread<THREADS>,
        a: impl Fn(u32, u32) -> A::Element,
        b: impl Fn(u32, u32) -> B::Element,
    ) -> Filled<A, B, W> {
        // SAFETY: a barrier has passed since the last reader had the tiles, or nobody ever had
        // them; until the barrier below, every thread is in this function.
        unsafe {
            A::fill(&raw mut (*self.operands).a, thread, a);
            B::fill(&raw mut (*self.operands).b, thread, b);
        }
        self.workgroup.wait();
        Filled {
            operands: self.operands,
            workgroup: self.workgroup,
        }
    }
}

/// LDS in which every element of the tiles has been written, and none is being written.
pub struct Filled<A, B, W> {
    operands: *mut Operands<A, B>,
    workgroup: W,
}

impl<A, B, W: Barrier> Filled<A, B, W> {
    /// The tiles.
    #[inline(always)]
    pub fn operands(&self) -> &Operands<A, B> {
        // SAFETY: the threads have filled the tiles, and nobody writes until all have called
        // `vacate`, which ends this borrow.
        unsafe { &*self.operands }
    }

    /// Waits until no thread reads the tiles any more.
    #[inline(always)]
    pub fn vacate(self) -> Vacant<A, B, W> {
        self.workgroup.wait();
        Vacant {
            operands: self.operands,
            workgroup: self.workgroup,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::{HashMap, HashSet};

    /// Threads that run one after the other need not wait.
    #[derive(Clone, Copy)]
    struct OneAfterTheOther;

    // SAFETY: the test reads only after the last thread has filled its share.
    unsafe impl Barrier for OneAfterTheOther {
        fn wait(self) {}
    }

    type TileA = LdsTile<f32, 8, 4, 5>;
    type TileB = LdsTile<f32, 4, 16, 16>;

    #[test]
    fn the_threads_together_fill_every_element_and_no_padding() {
        let mut memory = Operands {
            a: TileA {
                elements: [[f32::NAN; 5]; 8],
            },
            b: TileB {
                elements: [[f32::NAN; 16]; 4],
            },
        };
        for number in Index::<32>::all() {
            // SAFETY: each number is used once, and nothing else accesses the tiles meanwhile.
            let (thread, lds) = unsafe {
                (
                    Thread::new(number),
                    Vacant::new(&raw mut memory, OneAfterTheOther),
                )
            };
            let a = |i, j| (10 * i + j) as f32;
            let b = |i, j| -((100 * i + j) as f32);
            let _filled: Filled<TileA, TileB, _> = lds.fill(thread, a, b);
        }
        for i in Index::all() {
            for j in Index::all() {
                let expected = (10 * i.get() + j.get()) as f32;
                assert_eq!(memory.a.element(i, j), expected);
            }
            assert!(memory.a.elements[i.as_usize()][4].is_nan(), "padding");
        }
        let row = memory
            .b
            .part_of_row::<4, 4>(Index::wrapping(2), Index::wrapping(3));
        assert_eq!(row, [-212.0, -213.0, -214.0, -215.0]);
        let column = memory
            .a
            .part_of_column::<2, 4>(Index::wrapping(3), Index::wrapping(1));
        assert_eq!(column, [61.0, 71.0]);
    }

    /// How often the busiest of 32 banks is used when the first 32 lanes read one element each at
    /// `row · pitch + column`. Lanes that read the same element share the access.
    fn degree(pitch: u32, element: impl Fn(u32) -> (u32, u32)) -> usize {
        let mut banks = HashMap::<u32, HashSet<u32>>::new();
        for lane in 0..32 {
            let (row, column) = element(lane);
            let word = row * pitch + column;
            banks.entry(word % 32).or_default().insert(word);
        }
        banks.values().map(HashSet::len).max().unwrap_or(0)
    }

    /// What the docs of the steps say of their tiles.
    #[test]
    fn pitches_have_the_bank_conflicts_that_the_steps_state() {
        // lds_tiled: lane l is thread (l mod 16, ⌊l / 16⌋).
        assert_eq!(degree(16, |lane| (lane / 16, 0)), 1, "A");
        assert_eq!(degree(16, |lane| (0, lane % 16)), 1, "B");
        // register_tiled: a thread's first row is 4 ⌊lane / 4⌋.
        assert_eq!(degree(16, |lane| (lane / 4 * 4, 0)), 8, "A without padding");
        assert_eq!(degree(20, |lane| (lane / 4 * 4, 0)), 4, "A");
        assert_eq!(degree(32, |lane| (0, lane % 4 * 4)), 1, "B");
        // mfma: A[i][p] and B[p][j] in lanes 16p + i and 16p + j.
        assert_eq!(
            degree(32, |lane| (lane % 16, lane / 16)),
            16,
            "A without padding"
        );
        assert_eq!(degree(34, |lane| (lane % 16, lane / 16)), 1, "A");
        assert_eq!(
            degree(32, |lane| (lane / 16, lane % 16)),
            2,
            "B without padding"
        );
        assert_eq!(degree(48, |lane| (lane / 16, lane % 16)), 1, "B");
    }
}
