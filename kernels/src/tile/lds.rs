//! Tiles in LDS, which all threads of a workgroup fill together and then all read.
//!
//! The two phases are two types. [`Vacant`] can be filled, which ends with a barrier and gives
//! [`Filled`]. [`Filled`] can be read, and vacated, which begins with a barrier and gives
//! [`Vacant`] back. With two buffers there is a third type, [`Written`]: a thread has written its
//! share of one buffer while others still read the other, and a single barrier, in [`Filled::swap`],
//! ends both phases. Code that leaves out a barrier does not compile.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{
    global::Input,
    index::{Index, Thread},
    registers::Scalar,
    swizzle::{Straight, Swizzle},
};
use core::marker::PhantomData;

/// Four elements, aligned for one access.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Piece<T>(pub [T; 4]);

/// A barrier of the threads of a workgroup.
///
/// # Safety
/// When [`wait`](Self::wait) returns, every thread of the workgroup has called it, what each wrote
/// to LDS before is visible to all, and no access has moved across the call in either direction.
pub unsafe trait Barrier: Copy {
    /// Waits for all threads of the workgroup.
    fn wait(self);
}

/// `ROWS` × `COLUMNS` elements, row-major, with `PITCH` elements from one row to the next, and the
/// columns of a row swizzled by `X`.
///
/// Pitch and swizzle decide which elements of a column share an LDS bank.
#[repr(C, align(16))]
pub struct LdsTile<T, const ROWS: usize, const COLUMNS: usize, const PITCH: usize, X = Straight> {
    elements: [[T; PITCH]; ROWS],
    places: PhantomData<X>,
}

impl<T: Copy, const ROWS: usize, const COLUMNS: usize, const PITCH: usize, X: Swizzle>
    LdsTile<T, ROWS, COLUMNS, PITCH, X>
{
    /// The offset of `(row, column)` in elements.
    ///
    /// In range if row and column are: a row fits its pitch, and a swizzle stays within groups of
    /// columns, of which a row has a whole number.
    #[inline(always)]
    pub fn position(row: u32, column: u32) -> usize {
        const {
            assert!(COLUMNS <= PITCH, "a row must fit its pitch");
            assert!(
                COLUMNS.is_multiple_of(X::REACH),
                "swizzles must stay in the row"
            );
        }
        row as usize * PITCH + X::place(row, column) as usize
    }

    /// Element `(row, column)`.
    #[inline(always)]
    pub fn element(&self, row: Index<ROWS>, column: Index<COLUMNS>) -> T {
        let position = Self::position(row.get(), column.get());
        // SAFETY: the position is in range, since the indices are.
        unsafe { *self.elements.as_ptr().cast::<T>().add(position) }
    }

    /// Elements `4 · part ..` of a row, in one access of 16 bytes.
    #[inline(always)]
    pub fn piece<const PARTS: usize>(&self, row: Index<ROWS>, part: Index<PARTS>) -> [T; 4] {
        const {
            assert!(PARTS * 4 == COLUMNS, "the pieces must make up a row");
            assert!(
                PITCH.is_multiple_of(4) && X::KEEPS_PIECES,
                "pieces must be whole and aligned"
            );
        }
        let position = Self::position(row.get(), 4 * part.get());
        // SAFETY: as in `element`. The tile has the alignment of a piece, and so has the position.
        unsafe {
            (*self
                .elements
                .as_ptr()
                .cast::<T>()
                .add(position)
                .cast::<Piece<T>>())
            .0
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

    /// Writes this thread's share of the elements, each with the value `element(row, column)`.
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

/// The element that a thread takes in pass number `pass` through a tile of `ROWS` × `COLUMNS`: number
/// `thread + pass · THREADS`, counted along the rows. So neighbouring threads read neighbouring elements
/// of global memory and write to neighbouring banks.
///
/// The element is in the tile for the first `ROWS · COLUMNS / THREADS` passes.
#[inline(always)]
fn element_of_pass<const ROWS: usize, const COLUMNS: usize, const THREADS: usize>(
    thread: Thread<THREADS>,
    pass: u32,
) -> (u32, u32) {
    const {
        assert!(
            THREADS.is_multiple_of(COLUMNS),
            "a pass must fill whole rows"
        );
        assert!(
            (ROWS * COLUMNS).is_multiple_of(THREADS),
            "every pass must be a whole one"
        );
    }
    let row = thread.number() / COLUMNS as u32 + pass * (THREADS / COLUMNS) as u32;
    (row, thread.number() % COLUMNS as u32)
}

impl<T: Copy, const ROWS: usize, const COLUMNS: usize, const PITCH: usize, X: Swizzle> Fill
    for LdsTile<T, ROWS, COLUMNS, PITCH, X>
{
    type Element = T;

    #[inline(always)]
    unsafe fn fill<const THREADS: usize>(
        this: *mut Self,
        thread: Thread<THREADS>,
        element: impl Fn(u32, u32) -> T,
    ) {
        for pass in 0..(ROWS * COLUMNS / THREADS) as u32 {
            let (row, column) = element_of_pass::<ROWS, COLUMNS, THREADS>(thread, pass);
            let value = element(row, column);
            // SAFETY: the element is in the tile. Threads have different numbers and so different
            // elements, and the caller excludes all other accesses.
            unsafe {
                this.cast::<T>()
                    .add(Self::position(row, column))
                    .write(value);
            }
        }
    }
}

/// A thread's share of a tile, in its registers.
///
/// # Safety
/// The shares of all threads of a workgroup together write every element of the tile, each of them once.
pub unsafe trait Share {
    /// The tile.
    type Tile;

    /// Writes the share.
    ///
    /// # Safety
    /// `tile` points to memory for a tile. Between the barrier before and the one after, it is only
    /// accessed by this function, for the shares of a workgroup.
    unsafe fn write(self, tile: *mut Self::Tile);
}

/// The elements that [`Fill::fill`] would write, fetched into registers before the tile is vacant.
pub struct Elements<Tile, T, const THREADS: usize, const SHARE: usize> {
    thread: Thread<THREADS>,
    elements: [T; SHARE],
    tile: PhantomData<Tile>,
}

impl<
    T: Scalar,
    X: Swizzle,
    const ROWS: usize,
    const COLUMNS: usize,
    const PITCH: usize,
    const THREADS: usize,
    const SHARE: usize,
> Elements<LdsTile<T, ROWS, COLUMNS, PITCH, X>, T, THREADS, SHARE>
{
    /// Loads the calling thread's share of the tile of `input` whose corner is at `(row, column)`. Elements
    /// outside the matrix are zero.
    #[inline(always)]
    pub fn fetch(thread: Thread<THREADS>, input: &Input<T>, row: u32, column: u32) -> Self {
        const {
            assert!(
                SHARE * THREADS == ROWS * COLUMNS,
                "the shares must make up the tile"
            );
        }
        // Without the opaque zero, the compiler would compute parts of the addresses of all passes before the
        // loop over the tiles, and run out of registers.
        let zero = crate::opaque_zero();
        let place = |pass, zero| {
            let (down, right) = element_of_pass::<ROWS, COLUMNS, THREADS>(thread, pass as u32);
            (row + down + zero, column + right)
        };
        let mut elements = [T::ZERO; SHARE];
        for pass in 0..SHARE {
            let (row, column) = place(pass, zero);
            elements[pass] = input.nearest(row, column);
        }
        // A second one: with the first, the compiler would keep a lane mask for each pass until the loads
        // are done.
        let zero = crate::opaque_zero();
        for pass in 0..SHARE {
            let (row, column) = place(pass, zero);
            if !input.has(row, column) {
                elements[pass] = T::ZERO;
            }
        }
        Self {
            thread,
            elements,
            tile: PhantomData,
        }
    }

    /// Loads the calling thread's share of the tile of `input` whose corner is at `(row, column)` and which is wholly
    /// in the matrix. From pass to pass, addresses change by a uniform distance.
    ///
    /// # Safety
    /// All elements of the tile exist, and a tile of this shape is [near](Input::is_near) in `input`.
    #[inline(always)]
    pub unsafe fn fetch_whole(
        thread: Thread<THREADS>,
        input: &Input<T>,
        row: u32,
        column: u32,
    ) -> Self {
        const {
            assert!(
                SHARE * THREADS == ROWS * COLUMNS,
                "the shares must make up the tile"
            );
        }
        let first = element_of_pass::<ROWS, COLUMNS, THREADS>(thread, 0);
        // Without the opaque zero, the compiler would keep the offsets of all passes in registers.
        let apart = (THREADS / COLUMNS) as u32 + crate::opaque_zero();
        // SAFETY: the whole tile is in the matrix and near, as the caller promises, and `apart` is the number of
        // rows from one pass to the next.
        let elements = unsafe { input.part(row, column).down(first, apart) };
        Self {
            thread,
            elements,
            tile: PhantomData,
        }
    }
}

// SAFETY: the passes of all threads fill the tile, and threads have different numbers and so different elements.
unsafe impl<
    T: Copy,
    X: Swizzle,
    const ROWS: usize,
    const COLUMNS: usize,
    const PITCH: usize,
    const THREADS: usize,
    const SHARE: usize,
> Share for Elements<LdsTile<T, ROWS, COLUMNS, PITCH, X>, T, THREADS, SHARE>
{
    type Tile = LdsTile<T, ROWS, COLUMNS, PITCH, X>;

    #[inline(always)]
    unsafe fn write(self, tile: *mut Self::Tile) {
        for pass in 0..SHARE {
            let (row, column) = element_of_pass::<ROWS, COLUMNS, THREADS>(self.thread, pass as u32);
            // SAFETY: the element is in the tile, and the caller excludes all other accesses.
            unsafe {
                tile.cast::<T>()
                    .add(Self::Tile::position(row, column))
                    .write(self.elements[pass]);
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

/// LDS whose content is no longer needed.
pub struct Vacant<A, B, W> {
    operands: *mut Operands<A, B>,
    workgroup: W,
}

impl<A, B, W: Barrier> Vacant<A, B, W> {
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
    ) -> Filled<A, B, W>
    where
        A: Fill,
        B: Fill,
    {
        // SAFETY: a barrier has passed since the last read of the tiles, or there was none; until
        // the barrier below, every thread is in this function.
        unsafe {
            A::fill(&raw mut (*self.operands).a, thread, a);
            B::fill(&raw mut (*self.operands).b, thread, b);
        }
        self.filled()
    }

    /// Writes the fetched shares of both tiles and waits for the other threads' shares.
    #[inline(always)]
    pub fn put(self, a: impl Share<Tile = A>, b: impl Share<Tile = B>) -> Filled<A, B, W> {
        self.write(a, b).0.filled()
    }

    /// Writes the fetched shares of both tiles. They can be read after the barrier of [`Filled::swap`].
    #[inline(always)]
    pub fn write(self, a: impl Share<Tile = A>, b: impl Share<Tile = B>) -> Written<A, B, W> {
        // SAFETY: as in `fill`; the returned value gives no access to the tiles before the barrier.
        unsafe {
            a.write(&raw mut (*self.operands).a);
            b.write(&raw mut (*self.operands).b);
        }
        Written(self)
    }

    /// Waits for the other threads' shares.
    #[inline(always)]
    fn filled(self) -> Filled<A, B, W> {
        self.workgroup.wait();
        Filled {
            operands: self.operands,
            workgroup: self.workgroup,
        }
    }
}

/// LDS in which this thread's shares of the tiles have been written, but perhaps not yet the other threads' shares.
pub struct Written<A, B, W>(Vacant<A, B, W>);

/// LDS in which every element of the tiles has been written, and none is being written.
pub struct Filled<A, B, W> {
    operands: *mut Operands<A, B>,
    workgroup: W,
}

impl<A, B, W: Barrier> Filled<A, B, W> {
    /// The tiles.
    #[inline(always)]
    pub fn operands(&self) -> &Operands<A, B> {
        // SAFETY: the threads have filled the tiles, and none writes until all have called
        // `vacate`, which ends this borrow.
        unsafe { &*self.operands }
    }

    /// Switches from these tiles to those of another buffer. One barrier replaces the two of
    /// [`vacate`](Self::vacate) and [`Vacant::put`]: after it no thread reads these tiles any more, and every
    /// thread has written its share of the others.
    #[inline(always)]
    pub fn swap(self, other: Written<A, B, W>) -> (Self, Vacant<A, B, W>) {
        (other.0.filled(), self.left())
    }

    /// Waits until no thread reads the tiles any more.
    #[inline(always)]
    pub fn vacate(self) -> Vacant<A, B, W> {
        self.workgroup.wait();
        self.left()
    }

    /// The tiles as vacant, after a barrier that every thread reached after its last read of them.
    #[inline(always)]
    fn left(self) -> Vacant<A, B, W> {
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
    use crate::tile::{global::Strides, swizzle::SixteenRows};
    use std::vec::Vec;

    /// A barrier for threads that run one after the other, which need not wait.
    #[derive(Clone, Copy)]
    struct OneAfterTheOther;

    // SAFETY: the test reads only after the last thread has filled its share.
    unsafe impl Barrier for OneAfterTheOther {
        fn wait(self) {}
    }

    #[test]
    fn fetched_shares_make_up_the_tile_and_end_with_the_matrix() {
        type Tile = LdsTile<f32, 4, 64, 64, SixteenRows>;
        let memory: Vec<f32> = (0..10 * 70).map(|i| i as f32).collect();
        // SAFETY: the vector is of that shape.
        let input = unsafe { Input::new(memory.as_ptr(), 10, 70, Strides::new(70, false)) };
        for (row, column) in [(0, 0), (6, 6), (8, 64)] {
            let mut tile = Tile {
                elements: [[f32::NAN; 64]; 4],
                places: PhantomData,
            };
            for number in Index::<128>::all() {
                // SAFETY: each number is used once, and nothing else accesses the tile meanwhile.
                unsafe {
                    let thread = Thread::new(number);
                    Elements::<Tile, _, _, 2>::fetch(thread, &input, row, column).write(&mut tile);
                }
            }
            for i in Index::all() {
                for j in Index::all() {
                    let (i_in, j_in) = (row + i.get(), column + j.get());
                    let inside = i_in < 10 && j_in < 70;
                    let expected = if inside {
                        (70 * i_in + j_in) as f32
                    } else {
                        0.0
                    };
                    assert_eq!(tile.element(i, j), expected, "({i_in}, {j_in})");
                }
            }
        }
    }

    type TileA = LdsTile<f32, 8, 4, 5>;
    type TileB = LdsTile<f32, 4, 16, 16>;

    #[test]
    fn the_threads_together_fill_every_element_and_no_padding() {
        let mut memory = Operands {
            a: TileA {
                elements: [[f32::NAN; 5]; 8],
                places: PhantomData,
            },
            b: TileB {
                elements: [[f32::NAN; 16]; 4],
                places: PhantomData,
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
}
