//! The matrix C, and how sums become its elements.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::element::{Accumulator, Stored};

/// What a thread has summed up: elements of C in its registers, in runs of `RUN` neighbours in a row.
pub trait Fragment<const RUN: usize> {
    /// The type of the sums.
    type Sum: Accumulator;

    /// Calls `visit(row, column, sums)` for each run: the row and the first column count from the
    /// fragment's corner.
    ///
    /// Inlined into code that unrolls completely, so that every register has a constant number.
    fn for_each_run(&mut self, visit: impl FnMut(u32, u32, &mut [Self::Sum; RUN]));
}

/// An operation on every element of a fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation<A> {
    /// Nothing.
    None,
    /// The element becomes this.
    Set(A),
    /// The element is multiplied by this.
    Scale(A),
    /// Negative elements become 0.
    Relu,
    /// The Gaussian error linear unit.
    Gelu,
}

impl<A: Accumulator> Operation<A> {
    /// Does it to every element of `fragment`. The operation is the same in all lanes, so that this
    /// is one branch and not one for each element.
    #[inline(always)]
    pub fn apply<const RUN: usize, F: Fragment<RUN, Sum = A>>(self, fragment: &mut F) {
        match self {
            Self::None => {}
            Self::Set(value) => for_each(fragment, |_, _, element| *element = value),
            Self::Scale(factor) => {
                for_each(fragment, |_, _, element| *element = element.mul(factor))
            }
            Self::Relu => for_each(fragment, |_, _, element| *element = element.relu()),
            Self::Gelu => for_each(fragment, |_, _, element| *element = element.gelu()),
        }
    }

    /// Its result for one element.
    #[inline(always)]
    fn of(self, element: A) -> A {
        match self {
            Self::None => element,
            Self::Set(value) => value,
            Self::Scale(factor) => element.mul(factor),
            Self::Relu => element.relu(),
            Self::Gelu => element.gelu(),
        }
    }
}

/// What is added to the scaled product.
#[derive(Clone, Copy)]
pub enum Addend<T> {
    /// Nothing.
    None,
    /// One element for each row of C, from the corner of the part on.
    Row(*const T),
    /// One element for each column of C, from the corner of the part on.
    Column(*const T),
}

/// What is stored: `epilogue(α · product + β · prologue(old) + bias)`.
#[derive(Clone, Copy)]
pub struct Finish<T: Stored> {
    /// The factor of the product.
    pub alpha: T::Sum,
    /// The factor of the old element. With 0 the old element is not read.
    pub beta: T::Sum,
    /// What is done to the old element.
    pub prologue: Operation<T::Sum>,
    /// The vector that is added.
    pub bias: Addend<T>,
    /// What is done to the sum of all that.
    pub epilogue: Operation<T::Sum>,
}

/// The matrix that the kernel writes, row-major.
#[derive(Clone, Copy)]
pub struct Output<T> {
    start: *mut T,
    rows: u32,
    columns: u32,
    leading: u32,
}

impl<T: Stored> Output<T> {
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
            start: unsafe { self.start.add(self.offset(row, column)) },
            rows: self.rows - row,
            columns: self.columns - column,
            leading: self.leading,
        }
    }

    /// Makes the elements of `fragment` ready and stores them, its corner at `(row, column)`; those
    /// that would be outside the matrix are dropped.
    ///
    /// `whole` says that none is, in any lane, so that runs are stored at once and nothing is asked
    /// for each of them. Runs need no more alignment than their elements: amdhsa has unaligned
    /// accesses switched on.
    ///
    /// # Safety
    /// No other thread of the launch updates any of these elements. The bias vector has an element for
    /// each row or column of the matrix. With `whole` the matrix has all elements of the fragments of
    /// all lanes.
    #[inline(always)]
    pub unsafe fn update<const RUN: usize, F: Fragment<RUN, Sum = T::Sum>>(
        &self,
        row: u32,
        column: u32,
        mut fragment: F,
        finish: &Finish<T>,
        whole: bool,
    ) {
        // All branches here are the same for all lanes and all elements.
        if finish.beta == T::Sum::ZERO {
            for_each(&mut fragment, |_, _, sum| *sum = finish.alpha.mul(*sum));
        } else if let Operation::Set(value) = finish.prologue {
            let addend = finish.beta.mul(value);
            for_each(&mut fragment, |_, _, sum| {
                *sum = finish.alpha.mul_add(*sum, addend);
            });
        } else {
            fragment.for_each_run(|i, j, sums| {
                // SAFETY: the elements belong to the caller.
                let old = unsafe { self.run::<RUN>(row + i, column + j, whole) };
                for k in 0..RUN {
                    let old = finish.beta.mul(finish.prologue.of(old[k]));
                    sums[k] = finish.alpha.mul_add(sums[k], old);
                }
            });
        }
        match finish.bias {
            Addend::None => {}
            Addend::Row(bias) => fragment.for_each_run(|i, _, sums| {
                let row = (row + i).min(self.rows - 1);
                // SAFETY: the row was brought into the matrix, which has one.
                let addend = unsafe { *bias.add(row as usize) }.load();
                for k in 0..RUN {
                    sums[k] = sums[k].add(addend);
                }
            }),
            Addend::Column(bias) => for_each(&mut fragment, |_, j, sum| {
                let column = (column + j).min(self.columns - 1);
                // SAFETY: the column was brought into the matrix, which has one.
                *sum = sum.add(unsafe { *bias.add(column as usize) }.load());
            }),
        }
        finish.epilogue.apply(&mut fragment);
        if whole {
            fragment.for_each_run(|i, j, sums| {
                let run = self.at(row + i, column + j).cast::<[T; RUN]>();
                // SAFETY: the elements exist, by `whole`, and belong to the caller.
                unsafe { run.write_unaligned(sums.map(T::store)) };
            });
        } else {
            for_each(&mut fragment, |i, j, sum| {
                let (row, column) = (row + i, column + j);
                if self.contains(row, column) {
                    // SAFETY: the element exists and belongs to the caller.
                    unsafe { self.at(row, column).write(T::store(*sum)) };
                }
            });
        }
    }

    /// The run at `(row, column)`; zeros for elements outside the matrix.
    ///
    /// # Safety
    /// No other thread writes these elements. With `whole` the matrix has them.
    #[inline(always)]
    unsafe fn run<const RUN: usize>(&self, row: u32, column: u32, whole: bool) -> [T::Sum; RUN] {
        let start = self.at(row, column);
        if whole {
            // SAFETY: the caller promises the elements.
            return unsafe { start.cast::<[T; RUN]>().read_unaligned() }.map(T::load);
        }
        let mut values = [T::Sum::ZERO; RUN];
        for k in 0..RUN {
            if self.contains(row, column + k as u32) {
                // SAFETY: the element exists, and only this thread accesses it.
                values[k] = unsafe { *start.add(k) }.load();
            }
        }
        values
    }

    /// The address of `(row, column)`, which need not exist.
    #[inline(always)]
    fn at(&self, row: u32, column: u32) -> *mut T {
        self.start.wrapping_add(self.offset(row, column))
    }

    /// How many elements `(row, column)` is after the first.
    #[inline(always)]
    fn offset(&self, row: u32, column: u32) -> usize {
        row as usize * self.leading as usize + column as usize
    }
}

/// Calls `visit(row, column, sum)` for each element.
#[inline(always)]
fn for_each<const RUN: usize, F: Fragment<RUN>>(
    fragment: &mut F,
    mut visit: impl FnMut(u32, u32, &mut F::Sum),
) {
    fragment.for_each_run(|row, column, sums| {
        for k in 0..RUN {
            visit(row, column + k as u32, &mut sums[k]);
        }
    });
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::tile::registers::RegisterTile;
    use std::{vec, vec::Vec};

    const PLAIN: Finish<f32> = Finish {
        alpha: 1.0,
        beta: 0.0,
        prologue: Operation::None,
        bias: Addend::None,
        epilogue: Operation::None,
    };

    /// 2 × 3 elements, 4 apart, after an update with 1 2 / 3 4 at `corner`; the padding is -7.
    fn updated(old: f32, corner: (u32, u32), finish: &Finish<f32>) -> Vec<f32> {
        let mut memory = vec![old; 8];
        memory[3] = -7.0;
        memory[7] = -7.0;
        let product = RegisterTile([[1.0, 2.0], [3.0, 4.0]]);
        let whole = corner.1 < 2 && corner.0 < 1;
        // SAFETY: the vector is of that shape, and this is its only thread.
        unsafe {
            let output = Output::new(memory.as_mut_ptr(), 2, 3, 4);
            output.update(corner.0, corner.1, product, finish, whole);
        }
        memory
    }

    #[test]
    fn an_update_scales_both_sides() {
        let finish = Finish {
            alpha: 2.0,
            beta: 0.5,
            ..PLAIN
        };
        assert_eq!(
            updated(10.0, (0, 0), &finish),
            [7.0, 9.0, 10.0, -7.0, 11.0, 13.0, 10.0, -7.0]
        );
    }

    #[test]
    fn an_overhanging_update_is_cut_off() {
        assert_eq!(
            updated(10.0, (1, 2), &PLAIN),
            [10.0, 10.0, 10.0, -7.0, 10.0, 10.0, 1.0, -7.0]
        );
    }

    #[test]
    fn with_beta_zero_a_nan_does_not_survive() {
        let memory = updated(f32::NAN, (0, 0), &PLAIN);
        assert_eq!(memory[..2], [1.0, 2.0]);
        assert_eq!(memory[4..6], [3.0, 4.0]);
        assert!(memory[2].is_nan(), "not part of the update");
    }

    #[test]
    fn a_bias_is_added_to_rows_or_columns() {
        let vector = [100.0, 200.0, 300.0];
        let row = Finish {
            bias: Addend::Row(vector.as_ptr()),
            ..PLAIN
        };
        let memory = updated(0.0, (0, 1), &row);
        assert_eq!(memory, [0.0, 101.0, 102.0, -7.0, 0.0, 203.0, 204.0, -7.0]);
        let column = Finish {
            bias: Addend::Column(vector.as_ptr()),
            ..PLAIN
        };
        let memory = updated(0.0, (1, 1), &column);
        assert_eq!(memory, [0.0, 0.0, 0.0, -7.0, 0.0, 201.0, 302.0, -7.0]);
    }

    #[test]
    fn operations_come_before_beta_and_after_everything() {
        let finish = Finish {
            beta: 2.0,
            prologue: Operation::Relu,
            ..PLAIN
        };
        assert_eq!(updated(-5.0, (0, 0), &finish)[..2], [1.0, 2.0]);
        assert_eq!(updated(5.0, (0, 0), &finish)[..2], [11.0, 12.0]);
        let finish = Finish {
            prologue: Operation::Set(3.0),
            ..finish
        };
        let set = updated(f32::NAN, (0, 0), &finish);
        assert_eq!(set[..2], [7.0, 8.0], "the old C is not read");
        let finish = Finish {
            prologue: Operation::Scale(0.5),
            ..finish
        };
        assert_eq!(updated(10.0, (0, 0), &finish)[..2], [11.0, 12.0]);
        let finish = Finish {
            alpha: -1.0,
            epilogue: Operation::Relu,
            ..PLAIN
        };
        assert_eq!(updated(10.0, (0, 0), &finish)[..2], [0.0, 0.0]);
        let finish = Finish {
            epilogue: Operation::Scale(-3.0),
            ..PLAIN
        };
        assert_eq!(updated(10.0, (0, 0), &finish)[..2], [-3.0, -6.0]);
    }
}
