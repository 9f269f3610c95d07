//! The matrix C, and the epilogue that turns sums into its elements.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::element::{Accumulator, Activation, Stored};

/// A thread's sums: elements of C in its registers, in runs of `RUN` neighbours in a row.
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
///
/// All operations are one formula with uniform constants. Code that branches for each element of a large
/// fragment, or keeps a whole fragment live across branches, would need more registers than there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation<A> {
    /// The element is multiplied by this.
    factor: A,
    /// Negative elements become 0.
    relu: bool,
    /// An activation function.
    activation: Option<Activation>,
    /// The element becomes this.
    set: Option<A>,
}

impl<A: Accumulator> Operation<A> {
    /// Leaves the element unchanged.
    pub const NONE: Self = Self {
        factor: A::ONE,
        relu: false,
        activation: None,
        set: None,
    };

    /// Negative elements become 0.
    pub const RELU: Self = Self {
        relu: true,
        ..Self::NONE
    };

    /// An activation function.
    #[inline(always)]
    pub fn activation(function: Activation) -> Self {
        Self {
            activation: Some(function),
            ..Self::NONE
        }
    }

    /// The element becomes `value`.
    #[inline(always)]
    pub fn set(value: A) -> Self {
        Self {
            set: Some(value),
            ..Self::NONE
        }
    }

    /// The element is multiplied by `factor`.
    #[inline(always)]
    pub fn scale(factor: A) -> Self {
        Self {
            factor,
            ..Self::NONE
        }
    }

    /// The result for one element.
    #[inline(always)]
    pub fn of(&self, element: A) -> A {
        let scaled = element.mul(self.factor);
        let rectified = if self.relu { scaled.relu() } else { scaled };
        let activated = match self.activation {
            Some(function) => rectified.activated(function),
            None => rectified,
        };
        self.set.unwrap_or(activated)
    }
}

/// The bias that is added to the scaled product.
#[derive(Clone, Copy)]
pub enum Addend<T> {
    /// Nothing.
    None,
    /// One element for each row of C, beginning at the corner of the part.
    Row(*const T),
    /// One element for each column of C, beginning at the corner of the part.
    Column(*const T),
}

/// The result that is stored: `epilogue(α · product + β · prologue(old) + bias)`.
#[derive(Clone, Copy)]
pub struct Epilogue<T: Stored> {
    /// The factor of the product.
    pub alpha: T::Sum,
    /// The factor of the old element. With 0 the old element is not read.
    pub beta: T::Sum,
    /// The operation on the old element.
    pub prologue: Operation<T::Sum>,
    /// The vector that is added.
    pub bias: Addend<T>,
    /// The operation on the sum of all that.
    pub epilogue: Operation<T::Sum>,
}

impl<T: Stored> Addend<T> {
    /// The bias of a run.
    ///
    /// # Safety
    /// The vector has elements for the run's rows and columns.
    #[inline(always)]
    unsafe fn run<const RUN: usize>(&self, row: u32, column: u32) -> [T::Sum; RUN] {
        match *self {
            Self::None => [T::Sum::ZERO; RUN],
            // SAFETY: as the caller promises.
            Self::Row(bias) => [unsafe { *bias.add(row as usize) }.load(); RUN],
            // SAFETY: as the caller promises.
            Self::Column(bias) => each(
                unsafe {
                    bias.add(column as usize)
                        .cast::<[T; RUN]>()
                        .read_unaligned()
                },
                T::load,
            ),
        }
    }
}

impl<T: Stored> Epilogue<T> {
    /// Whether the product is only multiplied by α.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.beta == T::Sum::ZERO
            && matches!(self.bias, Addend::None)
            && self.epilogue == Operation::NONE
    }

    /// Whether the old elements are needed.
    #[inline(always)]
    fn needs_old(&self) -> bool {
        self.beta != T::Sum::ZERO && self.prologue.set.is_none()
    }

    /// The results of a run.
    #[inline(always)]
    fn results<const RUN: usize>(
        &self,
        sums: [T::Sum; RUN],
        old: [T::Sum; RUN],
        bias: [T::Sum; RUN],
    ) -> [T; RUN] {
        let scaled_old = self.beta != T::Sum::ZERO;
        let mut results = each(sums, T::store);
        for k in 0..RUN {
            let product = if scaled_old {
                let old = self.beta.mul(self.prologue.of(old[k]));
                self.alpha.mul_add(sums[k], old)
            } else {
                // With β = 0, a NaN in the old element does not propagate.
                self.alpha.mul(sums[k])
            };
            // Without a bias, -0 stays -0.
            let sum = match self.bias {
                Addend::None => product,
                _ => product.add(bias[k]),
            };
            results[k] = T::store(self.epilogue.of(sum));
        }
        results
    }
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

    /// The place of `(row, column)`, if the matrix has all of the first `rows` × `columns` elements, `(row,
    /// column)` among them, and their byte offsets fit in 32 bits. Whether it exists is uniform.
    #[inline(always)]
    pub fn place(&self, row: u32, column: u32, (rows, columns): (u32, u32)) -> Option<Place<T>> {
        let distance = (rows - 1) as usize * self.leading as usize + (columns - 1) as usize;
        let near = distance <= u32::MAX as usize / size_of::<T>();
        let elements = row.wrapping_mul(self.leading).wrapping_add(column);
        (near && rows <= self.rows && columns <= self.columns).then_some(Place {
            start: self.start,
            lane_bytes: elements.wrapping_mul(size_of::<T>() as u32),
            leading: self.leading as usize,
        })
    }

    /// Loads `fragment`, whose corner is at `(row, column)`, from the matrix; elements outside become zero.
    /// `whole` as for [`update`](Self::update).
    ///
    /// # Safety
    /// No other thread of the launch accesses any of these elements. With `whole`, the matrix has all of
    /// them.
    #[inline(always)]
    pub unsafe fn load_as_is<const RUN: usize, F: Fragment<RUN, Sum = T::Sum>>(
        &self,
        row: u32,
        column: u32,
        fragment: &mut F,
        whole: bool,
    ) {
        fragment.for_each_run(|i, j, elements| {
            for k in 0..RUN {
                let (row, column) = (row + i, column + j + k as u32);
                elements[k] = if whole || self.contains(row, column) {
                    // SAFETY: the element exists and belongs to the caller.
                    unsafe { self.at(row, column).read() }.load()
                } else {
                    T::Sum::ZERO
                };
            }
        });
    }

    /// Stores `fragment`, whose corner is at `(row, column)`, in the matrix without an epilogue; elements outside
    /// are dropped. `whole` as for [`update`](Self::update).
    ///
    /// # Safety
    /// As [`load_as_is`](Self::load_as_is).
    #[inline(always)]
    pub unsafe fn store_as_is<const RUN: usize, F: Fragment<RUN, Sum = T::Sum>>(
        &self,
        row: u32,
        column: u32,
        fragment: &mut F,
        whole: bool,
    ) {
        fragment.for_each_run(|i, j, elements| {
            for k in 0..RUN {
                let (row, column) = (row + i, column + j + k as u32);
                if whole || self.contains(row, column) {
                    // SAFETY: the element exists and belongs to the caller.
                    unsafe { self.at(row, column).write(T::store(elements[k])) };
                }
            }
        });
    }

    /// Applies the epilogue to `fragment`, whose corner is at `(row, column)`, and stores the results;
    /// elements outside the matrix are dropped.
    ///
    /// `whole` means that no element of any lane is outside, so that a run is stored in one access
    /// without checks. Runs need no more alignment than their elements: amdhsa enables unaligned access.
    ///
    /// # Safety
    /// No other thread of the launch updates any of these elements. The bias vector has an element for
    /// each row or column of the matrix. With `whole`, the matrix has all elements of the fragments of
    /// all lanes.
    #[inline(always)]
    pub unsafe fn update<const RUN: usize, F: Fragment<RUN, Sum = T::Sum>>(
        &self,
        row: u32,
        column: u32,
        mut fragment: F,
        epilogue: &Epilogue<T>,
        whole: bool,
    ) {
        // Uniform.
        if whole && epilogue.is_plain() {
            fragment.for_each_run(|i, j, sums| {
                let stored = each(*sums, |sum| T::store(epilogue.alpha.mul(sum)));
                // SAFETY: the elements exist, by `whole`, and belong to the caller.
                unsafe { self.run(row + i, column + j).write_unaligned(stored) };
            });
        } else {
            fragment.for_each_run(|i, j, sums| {
                // SAFETY: as the caller promises.
                unsafe { self.update_run(row + i, column + j, *sums, epilogue, whole) };
            });
        }
    }

    /// Updates a run. Unless `whole`, elements of it may be outside the matrix. For those, the nearest elements of the
    /// bias that exist are read, without a branch.
    ///
    /// # Safety
    /// As [`update`](Self::update).
    #[inline(always)]
    pub unsafe fn update_run<const RUN: usize>(
        &self,
        row: u32,
        column: u32,
        sums: [T::Sum; RUN],
        epilogue: &Epilogue<T>,
        whole: bool,
    ) {
        // Without the opaque zero, the compiler would compute the addresses of all runs before the first one.
        let row = row + crate::opaque_zero();
        let mut old = [T::Sum::ZERO; RUN];
        let mut bias = [T::Sum::ZERO; RUN];
        let nearest_row = row.min(self.rows - 1);
        // SAFETY: the elements exist, by `whole` or as checked, and belong to the caller; the nearest elements of the
        // bias always exist.
        unsafe {
            if whole {
                if epilogue.needs_old() {
                    old = each(self.run::<RUN>(row, column).read_unaligned(), T::load);
                }
                bias = epilogue.bias.run(row, column);
            } else {
                for k in 0..RUN {
                    let nearest = (column + k as u32).min(self.columns - 1);
                    // Not the nearest element: another wave may be writing it.
                    if epilogue.needs_old() && self.contains(row, column + k as u32) {
                        old[k] = self.at(row, column + k as u32).read().load();
                    }
                    [bias[k]] = epilogue.bias.run(nearest_row, nearest);
                }
            }
        }
        let results = epilogue.results(sums, old, bias);
        if whole {
            // SAFETY: the elements exist and belong to the caller.
            unsafe { self.run(row, column).write_unaligned(results) };
            return;
        }
        for k in 0..RUN {
            let column = column + k as u32;
            if self.contains(row, column) {
                // SAFETY: the element exists and belongs to the caller.
                unsafe { self.at(row, column).write(results[k]) };
            }
        }
    }

    /// Stores the sums, multiplied by `factor`, as the run that begins at `(row, column)`; elements outside the matrix are
    /// dropped.
    ///
    /// # Safety
    /// As [`update`](Self::update).
    #[inline(always)]
    pub unsafe fn store_scaled<const RUN: usize>(
        &self,
        row: u32,
        column: u32,
        sums: [T::Sum; RUN],
        factor: T::Sum,
    ) {
        if row >= self.rows || column >= self.columns {
            return;
        }
        let stored = each(sums, |sum| T::store(factor.mul(sum)));
        let left = self.columns - column;
        // SAFETY: the elements exist and belong to the caller.
        unsafe {
            if left >= RUN as u32 {
                self.run(row, column).write_unaligned(stored);
            } else {
                for k in 0..RUN - 1 {
                    if (k as u32) < left {
                        self.at(row, column + k as u32).write(stored[k]);
                    }
                }
            }
        }
    }

    /// The address of the run at `(row, column)`.
    #[inline(always)]
    fn run<const RUN: usize>(&self, row: u32, column: u32) -> *mut [T; RUN] {
        self.at(row, column).cast()
    }

    /// The address of `(row, column)`, which need not exist.
    #[inline(always)]
    fn at(&self, row: u32, column: u32) -> *mut T {
        self.start.wrapping_add(self.offset(row, column))
    }

    /// The offset of `(row, column)` in elements.
    #[inline(always)]
    fn offset(&self, row: u32, column: u32) -> usize {
        row as usize * self.leading as usize + column as usize
    }
}

/// Where a lane's fragment is in a matrix that has all of it.
///
/// For loops that access the fragment repeatedly. The address of an element is a scalar, which is the address of the
/// element for a lane at the matrix's corner, plus the lane's offset, which is the same for all elements. So an access
/// needs no check and no vector addition.
#[derive(Clone, Copy)]
pub struct Place<T> {
    start: *mut T,
    lane_bytes: u32,
    leading: usize,
}

impl<T: Stored> Place<T> {
    /// Loads `fragment` from the matrix.
    ///
    /// # Safety
    /// The fragment ends within the `rows` × `columns` elements that [`Output::place`] was called with, and no other
    /// thread of the launch accesses its elements.
    #[inline(always)]
    pub unsafe fn load_as_is<const RUN: usize, F: Fragment<RUN, Sum = T::Sum>>(
        &self,
        fragment: &mut F,
    ) {
        fragment.for_each_run(|row, column, elements| {
            for k in 0..RUN {
                // SAFETY: the element exists and belongs to the caller.
                elements[k] = unsafe { self.at(row, column + k as u32).read() }.load();
            }
        });
    }

    /// Stores `fragment` in the matrix.
    ///
    /// # Safety
    /// As [`load_as_is`](Self::load_as_is).
    #[inline(always)]
    pub unsafe fn store_as_is<const RUN: usize, F: Fragment<RUN, Sum = T::Sum>>(
        &self,
        fragment: &mut F,
    ) {
        fragment.for_each_run(|row, column, elements| {
            for k in 0..RUN {
                // SAFETY: the element exists and belongs to the caller.
                unsafe {
                    self.at(row, column + k as u32).write(T::store(elements[k]));
                }
            }
        });
    }

    /// The same place behind an opaque zero. Otherwise the compiler would compute the addresses of all elements before
    /// the loop, and large fragments leave no registers for them.
    #[inline(always)]
    #[must_use]
    pub fn opaque(self) -> Self {
        Self {
            start: self.start.wrapping_byte_add(crate::opaque_zero() as usize),
            ..self
        }
    }

    /// The place for sums that are multiplied by `factor` before they are stored.
    #[inline(always)]
    pub fn plain(self, factor: T::Sum) -> Plain<T> {
        Plain {
            place: self,
            factor,
        }
    }

    /// The address of an element of the fragment; row and column count from its corner.
    #[inline(always)]
    fn at(&self, row: u32, column: u32) -> *mut T {
        let scalar = self
            .start
            .wrapping_add(row as usize * self.leading + column as usize);
        scalar.wrapping_byte_add(self.lane_bytes as usize)
    }
}

/// The [`Place`] of a lane's fragment, and the factor of its sums.
#[derive(Clone, Copy)]
pub struct Plain<T: Stored> {
    place: Place<T>,
    factor: T::Sum,
}

impl<T: Stored> Plain<T> {
    /// Scales and stores the 16 bytes of sums at `sums`, a run that begins at `(row, column)` of the fragment.
    ///
    /// # Safety
    /// The sums are readable; of the elements, as [`Place::store_as_is`].
    #[inline(always)]
    pub unsafe fn store_unit(&self, row: u32, column: u32, sums: *const T::Sum) {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<T::Sum>() {
                8 => self.store_run::<2>(row, column, sums.cast::<[T::Sum; 2]>().read()),
                _ => self.store_run::<4>(row, column, sums.cast::<[T::Sum; 4]>().read()),
            }
        }
    }

    /// The same for two units of sums of four bytes each, one run.
    ///
    /// # Safety
    /// As [`store_unit`](Self::store_unit).
    #[inline(always)]
    pub unsafe fn store_units(&self, row: u32, column: u32, sums: [*const [T::Sum; 4]; 2]) {
        // SAFETY: as the caller promises.
        unsafe {
            let ([a, b, c, d], [e, f, g, h]) = (sums[0].read(), sums[1].read());
            self.store_run(row, column, [a, b, c, d, e, f, g, h]);
        }
    }

    /// Scales and stores a run that begins at `(row, column)` of the fragment.
    ///
    /// # Safety
    /// As [`Place::store_as_is`].
    #[inline(always)]
    unsafe fn store_run<const RUN: usize>(&self, row: u32, column: u32, sums: [T::Sum; RUN]) {
        let stored = each(sums, |sum| T::store(self.factor.mul(sum)));
        let run = self.place.at(row, column).cast::<[T; RUN]>();
        // SAFETY: the elements exist and belong to the caller. The run needs only their alignment: amdhsa enables
        // unaligned access.
        unsafe { run.write_unaligned(stored) };
    }

    /// As [`Place::opaque`]. The leading dimension is opaque, too: a loop over tiles would keep all multiples of it.
    #[inline(always)]
    #[must_use]
    pub fn opaque(self) -> Self {
        let zero = crate::opaque_zero() as usize;
        Self {
            place: Place {
                leading: self.place.leading.wrapping_add(zero),
                ..self.place.opaque()
            },
            ..self
        }
    }
}

/// As `map`, which is not always inlined and then keeps the elements in memory.
#[inline(always)]
fn each<const RUN: usize, S: Copy, T: Copy>(
    elements: [S; RUN],
    convert: impl Fn(S) -> T,
) -> [T; RUN] {
    let mut converted = [convert(elements[0]); RUN];
    for k in 1..RUN {
        converted[k] = convert(elements[k]);
    }
    converted
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::tile::registers::RegisterTile;
    use std::{vec, vec::Vec};

    const PLAIN: Epilogue<f32> = Epilogue {
        alpha: 1.0,
        beta: 0.0,
        prologue: Operation::NONE,
        bias: Addend::None,
        epilogue: Operation::NONE,
    };

    /// 2 × 3 elements, 4 apart, after an update with 1 2 / 3 4 at `corner`; the padding is -7.
    fn updated(old: f32, corner: (u32, u32), epilogue: &Epilogue<f32>) -> Vec<f32> {
        let mut memory = vec![old; 8];
        memory[3] = -7.0;
        memory[7] = -7.0;
        let product = RegisterTile([[1.0, 2.0], [3.0, 4.0]]);
        let whole = corner.1 < 2 && corner.0 < 1;
        // SAFETY: the vector is of that shape, and this is its only thread.
        unsafe {
            let output = Output::new(memory.as_mut_ptr(), 2, 3, 4);
            output.update(corner.0, corner.1, product, epilogue, whole);
        }
        memory
    }

    #[test]
    fn an_update_scales_both_sides() {
        let epilogue = Epilogue {
            alpha: 2.0,
            beta: 0.5,
            ..PLAIN
        };
        assert_eq!(
            updated(10.0, (0, 0), &epilogue),
            [7.0, 9.0, 10.0, -7.0, 11.0, 13.0, 10.0, -7.0]
        );
    }

    #[test]
    fn elements_are_stored_and_loaded_as_they_are_and_cut_off() {
        for (corner, whole) in [((0, 1), true), ((1, 2), false)] {
            let mut memory = vec![10.0; 8];
            let mut loaded = RegisterTile([[-1.0; 2]; 2]);
            // SAFETY: the vector is of that shape, and this is its only thread.
            unsafe {
                let output = Output::<f32>::new(memory.as_mut_ptr(), 2, 3, 4);
                let mut stored = RegisterTile([[1.0, 2.0], [3.0, 4.0]]);
                output.store_as_is(corner.0, corner.1, &mut stored, whole);
                output.load_as_is(corner.0, corner.1, &mut loaded, whole);
            }
            if whole {
                assert_eq!(memory, [10.0, 1.0, 2.0, 10.0, 10.0, 3.0, 4.0, 10.0]);
                assert_eq!(loaded.0, [[1.0, 2.0], [3.0, 4.0]]);
            } else {
                assert_eq!(memory, [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 1.0, 10.0]);
                assert_eq!(loaded.0, [[1.0, 0.0], [0.0, 0.0]]);
            }
        }
    }

    #[test]
    fn a_scaled_run_is_cut_off() {
        for (row, column, expected) in [
            (0, 0, [2.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            (1, 1, [0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 4.0, 0.0]),
            (1, 2, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0]),
            (0, 3, [0.0; 8]),
            (2, 0, [0.0; 8]),
        ] {
            let mut memory = [0.0_f32; 8];
            // SAFETY: the array is of that shape, and this is its only thread.
            unsafe {
                let output = Output::new(memory.as_mut_ptr(), 2, 3, 4);
                output.store_scaled(row, column, [1.0, 2.0], 2.0);
            }
            assert_eq!(memory, expected, "{row} {column}");
        }
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
        let row = Epilogue {
            bias: Addend::Row(vector.as_ptr()),
            ..PLAIN
        };
        let memory = updated(0.0, (0, 1), &row);
        assert_eq!(memory, [0.0, 101.0, 102.0, -7.0, 0.0, 203.0, 204.0, -7.0]);
        let column = Epilogue {
            bias: Addend::Column(vector.as_ptr()),
            ..PLAIN
        };
        let memory = updated(0.0, (1, 1), &column);
        assert_eq!(memory, [0.0, 0.0, 0.0, -7.0, 0.0, 201.0, 302.0, -7.0]);
    }

    #[test]
    fn operations_come_before_beta_and_after_everything() {
        let epilogue = Epilogue {
            beta: 2.0,
            prologue: Operation::RELU,
            ..PLAIN
        };
        assert_eq!(updated(-5.0, (0, 0), &epilogue)[..2], [1.0, 2.0]);
        assert_eq!(updated(5.0, (0, 0), &epilogue)[..2], [11.0, 12.0]);
        let epilogue = Epilogue {
            prologue: Operation::set(3.0),
            ..epilogue
        };
        let set = updated(f32::NAN, (0, 0), &epilogue);
        assert_eq!(set[..2], [7.0, 8.0], "the old C is not read");
        let epilogue = Epilogue {
            prologue: Operation::scale(0.5),
            ..epilogue
        };
        assert_eq!(updated(10.0, (0, 0), &epilogue)[..2], [11.0, 12.0]);
        let epilogue = Epilogue {
            alpha: -1.0,
            epilogue: Operation::RELU,
            ..PLAIN
        };
        assert_eq!(updated(10.0, (0, 0), &epilogue)[..2], [0.0, 0.0]);
        let epilogue = Epilogue {
            epilogue: Operation::scale(-3.0),
            ..PLAIN
        };
        assert_eq!(updated(10.0, (0, 0), &epilogue)[..2], [-3.0, -6.0]);
    }
}
