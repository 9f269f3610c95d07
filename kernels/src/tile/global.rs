//! Matrices in global memory that kernels read: row- or column-major, with a leading dimension.
//!
//! Offsets are computed in 64 bits, since matrices may have more than 4 Gi elements, but outside the
//! inner loops.

use super::registers::Scalar;

/// Where the elements of a matrix are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// Elements from one row to the next.
    pub row: u32,
    /// Elements from one column to the next.
    pub column: u32,
}

impl Strides {
    /// The strides of a matrix with this leading dimension.
    #[inline(always)]
    pub const fn new(leading: u32, column_major: bool) -> Self {
        if column_major {
            Self {
                row: 1,
                column: leading,
            }
        } else {
            Self {
                row: leading,
                column: 1,
            }
        }
    }

    /// The offset of `(row, column)` in elements.
    #[inline(always)]
    pub const fn offset(self, row: u32, column: u32) -> usize {
        row as usize * self.row as usize + column as usize * self.column as usize
    }
}

/// A matrix that the kernel reads, with at least one element.
#[derive(Clone, Copy)]
pub struct Input<T> {
    start: *const T,
    rows: u32,
    columns: u32,
    strides: Strides,
}

impl<T: Scalar> Input<T> {
    /// The matrix at `start`.
    ///
    /// # Safety
    /// `rows` and `columns` are not 0. For as long as the value is used, `rows` × `columns` elements
    /// with `strides` are readable at `start`, and no thread writes to them.
    #[inline(always)]
    pub unsafe fn new(start: *const T, rows: u32, columns: u32, strides: Strides) -> Self {
        Self {
            start,
            rows,
            columns,
            strides,
        }
    }

    /// The part from `(row, column)` on.
    ///
    /// Used with the corner of a workgroup's tile, which is uniform: the large part of every address is
    /// then one scalar sum, and the part of each lane is small.
    ///
    /// # Safety
    /// There is an element `(row, column)`.
    #[inline(always)]
    #[must_use]
    pub unsafe fn part(self, row: u32, column: u32) -> Self {
        Self {
            // SAFETY: the caller promises that the element exists.
            start: unsafe { self.start.add(self.strides.offset(row, column)) },
            rows: self.rows - row,
            columns: self.columns - column,
            strides: self.strides,
        }
    }

    /// The transposed matrix, of the same elements.
    #[inline(always)]
    #[must_use]
    pub fn transposed(self) -> Self {
        Self {
            start: self.start,
            rows: self.columns,
            columns: self.rows,
            strides: Strides {
                row: self.strides.column,
                column: self.strides.row,
            },
        }
    }

    /// Whether the elements of a column are contiguous.
    #[inline(always)]
    pub fn is_column_major(&self) -> bool {
        self.strides.row == 1
    }

    /// Whether all of the `rows` × `columns` elements from `(row, column)` on exist.
    #[inline(always)]
    pub fn contains(&self, (row, column): (u32, u32), rows: u32, columns: u32) -> bool {
        // Tiles begin below 2³¹ and are smaller than that, so nothing overflows.
        row + rows <= self.rows && column + columns <= self.columns
    }

    /// Four contiguous elements from `(row, column)` on, in one access: of a column if the matrix is
    /// column-major, else of a row.
    ///
    /// # Safety
    /// All four exist.
    #[inline(always)]
    pub unsafe fn piece(&self, row: u32, column: u32) -> [T; 4] {
        // SAFETY: the caller promises that the elements exist. A piece needs no more alignment than an
        // element: amdhsa enables unaligned access.
        unsafe {
            self.start
                .add(self.strides.offset(row, column))
                .cast::<[T; 4]>()
                .read_unaligned()
        }
    }

    /// The [piece](Self::piece) that is `bytes` behind the element `(first, 0)`, where `first` is uniform.
    ///
    /// # Safety
    /// All four elements exist.
    #[inline(always)]
    pub unsafe fn near_piece(&self, first: u32, bytes: u32) -> [T; 4] {
        // SAFETY: as in `piece`.
        unsafe {
            let start = self.start.add(self.strides.offset(first, 0));
            start
                .byte_add(bytes as usize)
                .cast::<[T; 4]>()
                .read_unaligned()
        }
    }

    /// How many rows there are.
    #[inline(always)]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// How many columns there are.
    #[inline(always)]
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Whether the byte offsets of the first `rows` × `columns` elements fit in 32 bits. Uniform.
    ///
    /// A load then takes a scalar address and the lane's 32-bit offset, and needs no 64-bit addition.
    #[inline(always)]
    pub fn is_near(&self, rows: u32, columns: u32) -> bool {
        self.strides.offset(rows - 1, columns - 1) <= u32::MAX as usize / size_of::<T>()
    }

    /// Element `(row, column)`.
    ///
    /// # Safety
    /// There is such an element, and it is [near](Self::is_near).
    #[inline(always)]
    pub unsafe fn near(&self, row: u32, column: u32) -> T {
        let bytes = self.near_bytes(row, column);
        // SAFETY: as the caller promises. The offset fits in 32 bits, so it is right even if a term wraps.
        unsafe { *self.start.byte_add(bytes as usize) }
    }

    /// The byte offset of a [near](Self::is_near) element.
    #[inline(always)]
    pub fn near_bytes(&self, row: u32, column: u32) -> u32 {
        let Strides {
            row: down,
            column: right,
        } = self.strides;
        let elements = row
            .wrapping_mul(down)
            .wrapping_add(column.wrapping_mul(right));
        elements.wrapping_mul(size_of::<T>() as u32)
    }

    /// Elements `(row, column)`, `(row + apart, column)`, … of a column.
    ///
    /// # Safety
    /// All of them exist and are [near](Self::is_near).
    #[inline(always)]
    pub unsafe fn down<const COUNT: usize>(
        &self,
        (row, column): (u32, u32),
        apart: u32,
    ) -> [T; COUNT] {
        let mut elements = [T::ZERO; COUNT];
        let mut bytes = self.near_bytes(row, column);
        let step = self.near_bytes(apart, 0);
        for element in &mut elements {
            // SAFETY: as in `near`.
            *element = unsafe { *self.start.byte_add(bytes as usize) };
            bytes = bytes.wrapping_add(step);
        }
        elements
    }

    /// Element `(row, column)`, or zero outside the matrix.
    ///
    /// Always loads the nearest element that exists, and then selects. A branch would change the EXEC
    /// mask around every load, even where no tile overhangs.
    #[inline(always)]
    pub fn element_or_zero(&self, row: u32, column: u32) -> T {
        let element = self.nearest(row, column);
        if self.has(row, column) {
            element
        } else {
            T::ZERO
        }
    }

    /// Whether there is an element `(row, column)`.
    #[inline(always)]
    pub fn has(&self, row: u32, column: u32) -> bool {
        row < self.rows && column < self.columns
    }

    /// Element `(row, column)`, or the nearest one that exists.
    #[inline(always)]
    pub fn nearest(&self, row: u32, column: u32) -> T {
        let row = row.min(self.rows - 1);
        let column = column.min(self.columns - 1);
        // SAFETY: row and column are clamped to the matrix, which is not empty, and which
        // `new`'s caller promised to be readable.
        unsafe { *self.start.add(self.strides.offset(row, column)) }
    }

    /// The elements of a row from left to right; of the last row if `row` is out of range.
    #[inline(always)]
    pub fn row(&self, row: u32) -> Line<T> {
        Line {
            start: self.start,
            // The last row exists, and so do all of its columns.
            first: self.strides.offset(row.min(self.rows - 1), 0),
            step: self.strides.column as usize,
            left: self.columns,
        }
    }

    /// The elements of a column from top to bottom; of the last column if `column` is out of range.
    #[inline(always)]
    pub fn column(&self, column: u32) -> Line<T> {
        Line {
            start: self.start,
            first: self.strides.offset(0, column.min(self.columns - 1)),
            step: self.strides.row as usize,
            left: self.rows,
        }
    }
}

/// The elements of a row or a column, as an iterator.
pub struct Line<T> {
    start: *const T,
    first: usize,
    step: usize,
    left: u32,
}

impl<T: Copy> Iterator for Line<T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: only methods of `Input` make lines, of elements that exist, and
        // `left` was not 0.
        let element = unsafe { *self.start.add(self.first) };
        // Advances `start`, which is uniform, and not `first`, which isn't. The address after the last
        // element is never used and may be out of bounds, so the addition must wrap.
        self.start = self.start.wrapping_add(self.step);
        Some(element)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    const PADDING: f32 = f32::NAN;

    /// 2 × 3 elements, 4 apart.
    const MEMORY: [f32; 8] = [1.0, 2.0, 3.0, PADDING, 4.0, 5.0, 6.0, PADDING];

    fn input() -> Input<f32> {
        // SAFETY: `MEMORY` is a constant of that shape.
        unsafe { Input::new(MEMORY.as_ptr(), 2, 3, Strides::new(4, false)) }
    }

    #[test]
    fn elements_outside_are_zero_and_padding_is_never_seen() {
        let rows: Vec<Vec<f32>> = (0..3)
            .map(|i| (0..5).map(|j| input().element_or_zero(i, j)).collect())
            .collect();
        assert_eq!(
            rows,
            [
                [1.0, 2.0, 3.0, 0.0, 0.0],
                [4.0, 5.0, 6.0, 0.0, 0.0],
                [0.0; 5]
            ]
        );
        assert_eq!(input().element_or_zero(u32::MAX, u32::MAX), 0.0);
    }

    #[test]
    fn a_column_major_matrix_is_its_transpose() {
        // SAFETY: `MEMORY` is 2 columns of 3 elements, 4 apart.
        let transposed = unsafe { Input::new(MEMORY.as_ptr(), 3, 2, Strides::new(4, true)) };
        for i in 0..4 {
            for j in 0..4 {
                let expected = input().element_or_zero(j, i);
                assert_eq!(transposed.element_or_zero(i, j), expected);
            }
        }
        assert!(transposed.row(2).eq(input().column(2)));
        assert!(transposed.column(1).eq(input().row(1)));
    }

    #[test]
    fn a_part_counts_from_its_corner_and_ends_with_the_matrix() {
        // SAFETY: there is an element (1, 1).
        let part = unsafe { input().part(1, 1) };
        assert_eq!(part.columns(), 2);
        assert_eq!(part.element_or_zero(0, 0), 5.0);
        assert_eq!(part.element_or_zero(0, 2), 0.0);
        assert_eq!(part.element_or_zero(1, 0), 0.0);
    }

    #[test]
    fn lines_are_rows_and_columns() {
        assert!(input().row(1).eq([4.0, 5.0, 6.0]));
        assert!(input().column(2).eq([3.0, 6.0]));
        assert!(input().row(9).eq(input().row(1)), "the last row stands in");
        assert!(input().column(9).eq(input().column(2)));
    }

    #[test]
    fn near_elements_are_those_at_the_same_place() {
        // SAFETY: these elements exist, and all offsets fit in 32 bits.
        let (one, both, element) = unsafe {
            (
                input().down((1, 0), 5),
                input().down((0, 2), 1),
                input().transposed().near(2, 1),
            )
        };
        assert_eq!(([4.0], [3.0, 6.0], 6.0), (one, both, element));
    }

    #[test]
    fn far_is_what_32_bits_of_bytes_do_not_hold() {
        let near = |leading, rows, columns| {
            // SAFETY: nothing is read.
            unsafe { Input::new(MEMORY.as_ptr(), rows, columns, Strides::new(leading, false)) }
                .is_near(rows, columns)
        };
        // (2³⁰ - 1) · 4 bytes is the largest offset.
        assert!(near(1 << 29, 2, 1 << 29));
        assert!(!near((1 << 29) + 1, 2, 1 << 29));
        assert!(!near(1 << 31, 33, 1), "no product wraps");
        assert!(near(u32::MAX, 1, 1));
    }
}
