//! Matrices in global memory: row-major, with a leading dimension.
//!
//! Element `(i, j)` is `i · leading + j` elements after the first. The product is taken in 64 bits,
//! since it exceeds 32 for matrices of more than 4 Gi elements, and outside the inner loops.

use super::registers::{RegisterTile, Scalar};

/// A matrix that the kernel reads, with at least one element.
#[derive(Clone, Copy)]
pub struct Input<T> {
    start: *const T,
    rows: u32,
    columns: u32,
    leading: u32,
}

impl<T: Scalar> Input<T> {
    /// The matrix at `start`.
    ///
    /// # Safety
    /// `rows` and `columns` are not 0. For as long as the value is used, `rows` rows of `columns`
    /// elements, `leading` elements apart, are readable at `start`, and nobody writes to them.
    #[inline(always)]
    pub unsafe fn new(start: *const T, rows: u32, columns: u32, leading: u32) -> Self {
        Self {
            start,
            rows,
            columns,
            leading,
        }
    }

    /// The part from `(row, column)` on.
    ///
    /// For the tile of a workgroup, whose corner is the same in all lanes: the large part of every
    /// address is then one scalar sum, and what is left for each lane is small.
    ///
    /// # Safety
    /// There is an element `(row, column)`.
    #[inline(always)]
    #[must_use]
    pub unsafe fn part(self, row: u32, column: u32) -> Self {
        Self {
            // SAFETY: the caller promises that the element exists.
            start: unsafe { self.start.add(offset(row, self.leading, column)) },
            rows: self.rows - row,
            columns: self.columns - column,
            leading: self.leading,
        }
    }

    /// How many columns there are.
    #[inline(always)]
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Element `(row, column)`, or zero outside the matrix.
    ///
    /// There is always a load, of the nearest element that exists, and a selection after it. A
    /// branch would exchange the EXEC mask around every load, also where no tile overhangs.
    #[inline(always)]
    pub fn element_or_zero(&self, row: u32, column: u32) -> T {
        let inside = row < self.rows && column < self.columns;
        let row = row.min(self.rows - 1);
        let column = column.min(self.columns - 1);
        // SAFETY: row and column were brought into the matrix, which is not empty, and which
        // `new`'s caller promised to be readable.
        let element = unsafe { *self.start.add(offset(row, self.leading, column)) };
        if inside { element } else { T::ZERO }
    }

    /// The elements of a row from left to right; of the last row, if `row` is none.
    #[inline(always)]
    pub fn row(&self, row: u32) -> Line<T> {
        Line {
            start: self.start,
            // The last row is one that exists, and so are the steps from column to column.
            first: offset(row.min(self.rows - 1), self.leading, 0),
            step: 1,
            left: self.columns,
        }
    }

    /// The elements of a column from top to bottom; of the last column, if `column` is none.
    #[inline(always)]
    pub fn column(&self, column: u32) -> Line<T> {
        Line {
            start: self.start,
            first: column.min(self.columns - 1) as usize,
            step: self.leading as usize,
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
        // SAFETY: only `Input::row` and `Input::column` make lines, of elements that exist, and
        // `left` was not yet 0.
        let element = unsafe { *self.start.add(self.first) };
        // Moves the start, which is the same in all lanes, and not `first`, which isn't. Past the
        // last element the address is never used; it may be outside, so the sum must wrap.
        self.start = self.start.wrapping_add(self.step);
        Some(element)
    }
}

/// The matrix that the kernel writes.
#[derive(Clone, Copy)]
pub struct Output<T> {
    start: *mut T,
    rows: u32,
    columns: u32,
    leading: u32,
}

/// What is stored: `α · product + β · old`.
#[derive(Clone, Copy)]
pub struct Scaling<T> {
    /// The factor of the product.
    pub alpha: T,
    /// The factor of the old element. With 0 the old element is not read.
    pub beta: T,
}

impl<T: Scalar> Output<T> {
    /// The matrix at `start`.
    ///
    /// # Safety
    /// For as long as the value is used, `rows` rows of `columns` elements, `leading` elements
    /// apart, are readable and writable at `start`.
    #[inline(always)]
    pub unsafe fn new(start: *mut T, rows: u32, columns: u32, leading: u32) -> Self {
        Self {
            start,
            rows,
            columns,
            leading,
        }
    }

    /// Whether there is an element `(row, column)`.
    #[inline(always)]
    pub fn contains(&self, row: u32, column: u32) -> bool {
        row < self.rows && column < self.columns
    }

    /// The part from `(row, column)` on.
    ///
    /// # Safety
    /// There is an element `(row, column)`.
    #[inline(always)]
    #[must_use]
    pub unsafe fn part(self, row: u32, column: u32) -> Self {
        Self {
            // SAFETY: the caller promises that the element exists.
            start: unsafe { self.start.add(offset(row, self.leading, column)) },
            rows: self.rows - row,
            columns: self.columns - column,
            leading: self.leading,
        }
    }

    /// Stores the elements of `product` whose first one belongs to `(row, column)`; those that
    /// would be outside the matrix are dropped.
    ///
    /// # Safety
    /// No other thread of the launch updates any of these elements.
    #[inline(always)]
    pub unsafe fn update<const M: usize, const N: usize>(
        &self,
        row: u32,
        column: u32,
        product: RegisterTile<T, M, N>,
        scaling: Scaling<T>,
    ) {
        // The same for all lanes and all elements, and thus one branch, taken here.
        if scaling.beta == T::ZERO {
            // SAFETY: the caller promises what `for_each` asks.
            unsafe {
                self.for_each(row, column, product, |_, product| {
                    scaling.alpha.mul(product)
                });
            }
        } else {
            // SAFETY: as above.
            unsafe {
                self.for_each(row, column, product, |old, product| {
                    scaling.alpha.mul_add(product, scaling.beta.mul(*old))
                });
            }
        }
    }

    /// Replaces the elements that `update` names by `new(old, product)`.
    ///
    /// # Safety
    /// No other thread of the launch accesses these elements.
    #[inline(always)]
    unsafe fn for_each<const M: usize, const N: usize>(
        &self,
        row: u32,
        column: u32,
        product: RegisterTile<T, M, N>,
        new: impl Fn(&T, T) -> T,
    ) {
        for i in 0..M {
            for j in 0..N {
                let (row, column) = (row + i as u32, column + j as u32);
                let product = product.0[i][j];
                if self.contains(row, column) {
                    let element = self.start.wrapping_add(offset(row, self.leading, column));
                    // SAFETY: the element exists, and only this thread accesses it.
                    unsafe { *element = new(&*element, product) };
                }
            }
        }
    }
}

/// How many elements `(row, column)` is after `(0, 0)`.
#[inline(always)]
const fn offset(row: u32, leading: u32, column: u32) -> usize {
    row as usize * leading as usize + column as usize
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{vec, vec::Vec};

    const PADDING: f32 = f32::NAN;

    /// 2 × 3 elements, 4 apart.
    const MEMORY: [f32; 8] = [1.0, 2.0, 3.0, PADDING, 4.0, 5.0, 6.0, PADDING];

    fn input() -> Input<f32> {
        // SAFETY: `MEMORY` is a constant of that shape.
        unsafe { Input::new(MEMORY.as_ptr(), 2, 3, 4) }
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

    fn updated(old: f32, corner: (u32, u32), alpha: f32, beta: f32) -> Vec<f32> {
        let mut memory = vec![old; 8];
        memory[3] = -7.0;
        memory[7] = -7.0;
        let product = RegisterTile([[1.0, 2.0], [3.0, 4.0]]);
        // SAFETY: the vector is of that shape, and this is its only thread.
        unsafe {
            let output = Output::new(memory.as_mut_ptr(), 2, 3, 4);
            output.update(corner.0, corner.1, product, Scaling { alpha, beta });
        }
        memory
    }

    #[test]
    fn an_update_scales_both_sides() {
        assert_eq!(
            updated(10.0, (0, 0), 2.0, 0.5),
            [7.0, 9.0, 10.0, -7.0, 11.0, 13.0, 10.0, -7.0]
        );
    }

    #[test]
    fn an_overhanging_update_is_cut_off() {
        assert_eq!(
            updated(10.0, (1, 2), 1.0, 0.0),
            [10.0, 10.0, 10.0, -7.0, 10.0, 10.0, 1.0, -7.0]
        );
    }

    #[test]
    fn with_beta_zero_a_nan_does_not_survive() {
        let memory = updated(f32::NAN, (0, 0), 1.0, 0.0);
        assert_eq!(memory[..2], [1.0, 2.0]);
        assert_eq!(memory[4..6], [3.0, 4.0]);
        assert!(memory[2].is_nan(), "not part of the update");
    }
}
