//! A thread's share of an operand's tile, in pieces of four elements that are contiguous in global memory: 16 bytes
//! of f32.
//!
//! An operand is a matrix of k × w here, where w are the rows of A or the columns of B, and is row-major in LDS. A
//! column-major B, or a row-major A (column-major as k × w), is transposed on the way:
//!
//! ```text
//! neighbours along w: piece q is             neighbours along k: piece q is
//! row ⌊q / ¼W⌋, columns 4 (q mod ¼W) …       rows 4 (q mod ¼K) …, column ⌊q / ¼K⌋
//!       w →                                        w →
//!    k ┌────────┬────────┬───                   k ┌─┬─┬─┬───
//!    ↓ │ q=0    │  1     │ …                    ↓ │0│2│…│
//!      ├────────┼────────┼───                     │ │ │ │
//!      │ ¼W     │  ¼W+1  │ …                      ├─┼─┼─┼───  K = 8
//!      └────────┴────────┴───                     │1│3│…│
//!      one write of 16 bytes                      four writes, of 4 bytes each
//! ```
//!
//! Thread t takes the pieces t, t + threads, …, so neighbouring threads read neighbouring bytes.

#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{
    global::Input,
    index::Thread,
    lds::{LdsTile, Piece, Share},
    registers::Scalar,
    swizzle::Swizzle,
};
use core::marker::PhantomData;

/// Loads a thread's `PIECES` pieces of the operand's tiles of `K` × `W`, which are swizzled by `X` in LDS.
pub struct VectorLoader<T, X, const K: usize, const W: usize, const PIECES: usize> {
    input: Input<T>,
    thread: u32,
    threads: u32,
    /// The offset of each piece in a near tile, in bytes of global memory.
    offsets: [u32; PIECES],
    /// The same in LDS, in elements.
    positions: [u32; PIECES],
    /// See [`whole`](Self::whole).
    whole: u32,
    swizzle: PhantomData<X>,
}

impl<T: Scalar, X: Swizzle, const K: usize, const W: usize, const PIECES: usize>
    VectorLoader<T, X, K, W, PIECES>
{
    /// The calling thread's pieces of the tiles of `input`, whose first column is the workgroup's first.
    #[inline(always)]
    pub fn new<const THREADS: usize>(input: Input<T>, thread: Thread<THREADS>) -> Self {
        const {
            assert!(
                K.is_multiple_of(4) && W.is_multiple_of(4),
                "pieces must be whole"
            );
            assert!(
                4 * PIECES * THREADS == K * W,
                "the pieces of all threads must make up the tile"
            );
        }
        let (thread, threads) = (thread.number(), THREADS as u32);
        let places = Self::places(&input, thread, threads);
        let (mut offsets, mut positions) = ([0; PIECES], [0; PIECES]);
        for i in 0..PIECES {
            let (row, column) = places[i];
            offsets[i] = input.near_bytes(row, column);
            positions[i] = LdsTile::<T, K, W, W, X>::position(row, column) as u32;
        }
        Self {
            input,
            thread,
            threads,
            offsets,
            positions,
            whole: if input.is_near(K as u32, W as u32) && W as u32 <= input.columns() {
                input.rows()
            } else {
                0
            },
            swizzle: PhantomData,
        }
    }

    /// Row and column of the first element of each piece of thread number `thread` of `threads`.
    #[inline(always)]
    fn places(input: &Input<T>, thread: u32, threads: u32) -> [(u32, u32); PIECES] {
        let mut places = [(0, 0); PIECES];
        for i in 0..PIECES {
            let number = thread + i as u32 * threads;
            let (along_k, along_w) = (K as u32 / 4, W as u32 / 4);
            places[i] = if input.is_column_major() {
                (number % along_k * 4, number / along_k)
            } else {
                (number / along_w, number % along_w * 4)
            };
        }
        places
    }

    /// The tiles that end at or before this row are whole: they are in the matrix, and [near](Input::is_near). Uniform.
    #[inline(always)]
    pub fn whole(&self) -> u32 {
        self.whole
    }

    /// Loads the pieces of the tile that begins at row `k`.
    ///
    /// # Safety
    /// The tile is [whole](Self::whole).
    #[inline(always)]
    pub unsafe fn fetch_whole(&mut self, k: u32) -> Pieces<T, X, K, W, PIECES> {
        let mut pieces = [[T::ZERO; 4]; PIECES];
        for i in 0..PIECES {
            // Opaque, so that it is zero-extended where it is used. Otherwise that is done before the loop, and the compiler
            // no longer sees that a scalar address with an offset of 32 bits will do.
            self.offsets[i] = crate::opaque(self.offsets[i]);
            // SAFETY: the tile is in the matrix, and the piece in the tile.
            pieces[i] = unsafe { self.input.near_piece(k, self.offsets[i]) };
        }
        self.with(pieces)
    }

    /// Loads the pieces of the tile that begins at row `k`. Elements outside the matrix are zero.
    #[inline(always)]
    pub fn fetch(&self, k: u32) -> Pieces<T, X, K, W, PIECES> {
        let mut pieces = [[T::ZERO; 4]; PIECES];
        if k < self.input.rows() {
            // Computed again behind an opaque zero: few tiles overhang, and without it their places would stay in
            // registers throughout the loop.
            let thread = self.thread + crate::opaque_zero();
            let places = Self::places(&self.input, thread, self.threads);
            for i in 0..PIECES {
                let (row, column) = places[i];
                pieces[i] = self.overhanging(k + row, column);
            }
        }
        self.with(pieces)
    }

    /// The thread's share of a tile.
    #[inline(always)]
    fn with(&self, pieces: [[T; 4]; PIECES]) -> Pieces<T, X, K, W, PIECES> {
        Pieces {
            pieces,
            positions: self.positions,
            along_k: self.input.is_column_major(),
            swizzle: PhantomData,
        }
    }

    /// A piece of which some elements may be outside the matrix.
    #[inline(always)]
    fn overhanging(&self, row: u32, column: u32) -> [T; 4] {
        let (rows, columns) = if self.input.is_column_major() {
            (4, 1)
        } else {
            (1, 4)
        };
        if self.input.contains((row, column), rows, columns) {
            // SAFETY: all of its elements exist.
            return unsafe { self.input.piece(row, column) };
        }
        let mut piece = [T::ZERO; 4];
        for i in 0..4 {
            let (down, right) = if rows == 4 { (i, 0) } else { (0, i) };
            piece[i as usize] = self.input.element_or_zero(row + down, column + right);
        }
        piece
    }
}

/// A thread's share of a tile, in registers.
pub struct Pieces<T, X, const K: usize, const W: usize, const PIECES: usize> {
    pieces: [[T; 4]; PIECES],
    positions: [u32; PIECES],
    along_k: bool,
    swizzle: PhantomData<X>,
}

// SAFETY: `VectorLoader::new` gives threads with different numbers different pieces, which together make up the tile.
unsafe impl<T: Scalar, X: Swizzle, const K: usize, const W: usize, const PIECES: usize> Share
    for Pieces<T, X, K, W, PIECES>
{
    type Tile = LdsTile<T, K, W, W, X>;

    #[inline(always)]
    unsafe fn write(self, tile: *mut Self::Tile) {
        const {
            assert!(
                X::KEEPS_PIECES && X::KEEPS_COLUMNS,
                "pieces must stay whole, along rows and along columns"
            );
        }
        let elements = tile.cast::<T>();
        if self.along_k {
            for i in 0..PIECES {
                // The last row first: both branches would end with a store of the piece's last element otherwise, which
                // the compiler would move behind them, and the other branch's store would be one of three elements.
                for up in 0..4 {
                    let down = 3 - up;
                    let position = self.positions[i] as usize + down * W;
                    // SAFETY: the element is in the tile, as four rows that begin at a multiple of four are swizzled
                    // alike, and the caller excludes all other accesses.
                    unsafe { elements.add(position).write(self.pieces[i][down]) };
                }
            }
        } else {
            for i in 0..PIECES {
                let position = self.positions[i] as usize;
                // SAFETY: as above for the piece. It is aligned, since its column, the tile and its rows are.
                unsafe {
                    elements
                        .add(position)
                        .cast::<Piece<T>>()
                        .write(Piece(self.pieces[i]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::tile::{global::Strides, index::Index, swizzle::PiecesOfColumns};
    use std::{boxed::Box, vec::Vec};

    const K: usize = 8;
    const W: usize = 128;
    type Tile = LdsTile<f32, K, W, W, PiecesOfColumns>;

    /// The tile that 256 threads fill, beginning at row `k`, from `rows` × `columns` elements whose values
    /// are their coordinates.
    fn filled(rows: usize, columns: usize, column_major: bool, k: u32) -> Box<Tile> {
        let leading = if column_major { rows } else { columns } + 3;
        let lines = if column_major { columns } else { rows };
        let mut memory: Vec<f32> = std::vec![f32::NAN; leading * lines];
        let strides = Strides::new(leading as u32, column_major);
        for row in 0..rows {
            for column in 0..columns {
                memory[strides.offset(row as u32, column as u32)] = (1000 * row + column) as f32;
            }
        }
        // The last line ends with its last element, so that Miri sees reads beyond it.
        memory.truncate(leading * lines - 3);
        // SAFETY: the memory is of that shape.
        let input = unsafe { Input::new(memory.as_ptr(), rows as u32, columns as u32, strides) };
        let mut tile = Box::<Tile>::new_uninit();
        for number in Index::<256>::all() {
            // SAFETY: each number is used once, nothing else accesses the tile meanwhile, and only whole tiles are
            // fetched as such.
            unsafe {
                let mut reader =
                    VectorLoader::<_, PiecesOfColumns, K, W, 1>::new(input, Thread::new(number));
                let pieces = if k + K as u32 <= reader.whole() {
                    reader.fetch_whole(k)
                } else {
                    reader.fetch(k)
                };
                pieces.write(tile.as_mut_ptr());
            }
        }
        // SAFETY: the shares of all threads make up the tile.
        unsafe { tile.assume_init() }
    }

    #[test]
    fn tiles_are_the_same_from_either_layout_and_end_with_the_matrix() {
        for (rows, columns, k) in [(24, 140, 8), (9, 128, 0), (14, 126, 8), (3, 1, 0)] {
            for column_major in [false, true] {
                let tile = filled(rows, columns, column_major, k);
                for row in Index::<K>::all() {
                    for column in Index::<W>::all() {
                        let (p, w) = (k as usize + row.as_usize(), column.as_usize());
                        let inside = p < rows && w < columns;
                        let expected = if inside { (1000 * p + w) as f32 } else { 0.0 };
                        let found = tile.element(row, column);
                        assert_eq!(found, expected, "({p}, {w}), column major: {column_major}");
                    }
                    let expected =
                        core::array::from_fn(|i| tile.element(row, Index::wrapping(20 + i as u32)));
                    assert_eq!(tile.piece::<32>(row, Index::wrapping(5)), expected);
                }
            }
        }
    }
}
