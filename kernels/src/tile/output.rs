//! The matrix C.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{
    element::{Accumulator, Stored, each},
    epilogue::{Epilogue, MOST_RUNS, RunElements, Runs},
};
use core::mem::transmute_copy;

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
    /// `whole` means that no element of any lane is outside, so that nothing is checked.
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
    /// are dropped. `whole` as for [`load_as_is`](Self::load_as_is).
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

    /// Stores `fragment`, whose corner is at `(row, column)`, multiplied by `factor`. A run is stored in one access without
    /// checks. It needs no more alignment than its elements: amdhsa enables unaligned access.
    ///
    /// # Safety
    /// No other thread of the launch updates any of these elements, and the matrix has all of them.
    #[inline(always)]
    pub unsafe fn store_scaled<const RUN: usize, F: Fragment<RUN, Sum = T::Sum>>(
        &self,
        row: u32,
        column: u32,
        mut fragment: F,
        factor: T::Sum,
    ) {
        fragment.for_each_run(|i, j, sums| {
            let stored = each(*sums, |sum| T::store(factor.mul(sum)));
            // SAFETY: the elements exist and belong to the caller.
            unsafe { self.run(row + i, column + j).write_unaligned(stored) };
        });
    }

    /// Applies the epilogue to `fragment`, whose corner is at `(row, column)`, and stores the results;
    /// elements outside the matrix are dropped.
    ///
    /// # Safety
    /// No other thread of the launch updates any of these elements, or those of `input`, a matrix of the same shape for the
    /// epilogue's input. The bias vector has an element for each row or column of the matrix.
    #[inline(always)]
    pub unsafe fn update<const RUN: usize, F: Fragment<RUN, Sum = T::Sum>>(
        &self,
        row: u32,
        column: u32,
        mut fragment: F,
        epilogue: &Epilogue<T::Sum>,
        bias: Addend<T>,
        input: Self,
    ) {
        fragment.for_each_run(|i, j, sums| {
            let runs = Runs {
                // Without the opaque zero, the compiler would compute the addresses of all runs before the first one.
                first: (row + i + crate::opaque_zero(), column + j),
                step: (0, 0),
                count: 1,
            };
            // SAFETY: as the caller promises.
            unsafe {
                let results = epilogue.results(
                    &runs,
                    [*sums; MOST_RUNS],
                    #[inline(always)]
                    || self.load_old(&runs),
                    #[inline(always)]
                    |sums| self.add_bias(&runs, sums, bias),
                    #[inline(always)]
                    |results| input.store_runs(&runs, results),
                );
                self.store_runs(&runs, results);
            }
        });
    }

    /// Loads the elements of `runs`; those outside the matrix are zero.
    ///
    /// # Safety
    /// As [`update`](Self::update).
    #[inline(always)]
    pub unsafe fn load_old<const RUN: usize>(&self, runs: &Runs) -> RunElements<T::Sum, RUN> {
        let mut loaded = [[T::store(T::Sum::ZERO); RUN]; MOST_RUNS];
        for n in 0..runs.count {
            let (row, column) = runs.place(n);
            // SAFETY: the elements belong to the caller.
            loaded[n] = unsafe { self.read_run(row, column) };
        }
        let mut old = [[T::Sum::ZERO; RUN]; MOST_RUNS];
        for n in 0..runs.count {
            old[n] = each(opaque(loaded[n]), T::load);
        }
        old
    }

    /// Adds the bias to the elements of `runs`.
    ///
    /// # Safety
    /// As [`update`](Self::update).
    #[inline(always)]
    pub unsafe fn add_bias<const RUN: usize>(
        &self,
        runs: &Runs,
        mut sums: RunElements<T::Sum, RUN>,
        bias: Addend<T>,
    ) -> RunElements<T::Sum, RUN> {
        // Uniform.
        match bias {
            // −0 stays −0.
            Addend::None => {}
            Addend::Row(bias) => {
                let mut loaded = [T::store(T::Sum::ZERO); MOST_RUNS];
                for n in 0..runs.rows() {
                    let nearest = runs.place(n).0.min(self.rows - 1);
                    // SAFETY: the bias has an element for each row.
                    loaded[n] = unsafe { bias.add(nearest as usize).read() };
                }
                for n in 0..runs.count {
                    let bias = loaded[n.min(runs.rows() - 1)].load();
                    sums[n] = each(sums[n], |sum| sum.add(bias));
                }
            }
            Addend::Column(bias) => {
                let bias = Self {
                    start: bias.cast_mut(),
                    rows: 1,
                    ..*self
                };
                let mut loaded = [[T::store(T::Sum::ZERO); RUN]; MOST_RUNS];
                for n in 0..runs.columns() {
                    // SAFETY: the bias has an element for each column.
                    loaded[n] = unsafe { bias.read_run(0, runs.place(n).1) };
                }
                for n in 0..runs.columns() {
                    loaded[n] = opaque(loaded[n]);
                }
                for n in 0..runs.count {
                    let bias = each(loaded[n.min(runs.columns() - 1)], T::load);
                    for k in 0..RUN {
                        sums[n][k] = sums[n][k].add(bias[k]);
                    }
                }
            }
        }
        sums
    }

    /// Stores `results` in `runs`; elements outside the matrix are dropped.
    ///
    /// # Safety
    /// As [`update`](Self::update).
    #[inline(always)]
    pub unsafe fn store_runs<const RUN: usize>(
        &self,
        runs: &Runs,
        results: RunElements<T::Sum, RUN>,
    ) {
        for n in 0..runs.count {
            let (row, column) = runs.place(n);
            // SAFETY: the elements belong to the caller.
            unsafe { self.write_run(row, column, T::store_run(results[n])) };
        }
    }

    /// Reads the run that begins at `(row, column)`; elements outside the matrix are zero.
    ///
    /// # Safety
    /// No other thread of the launch writes these elements.
    #[inline(always)]
    unsafe fn read_run<const RUN: usize>(&self, row: u32, column: u32) -> [T; RUN] {
        let mut run = [T::store(T::Sum::ZERO); RUN];
        if self.contains(row, column) {
            let left = self.columns - column;
            // SAFETY: the elements exist.
            unsafe {
                if left >= RUN as u32 {
                    run = self.run(row, column).read_unaligned();
                } else {
                    for k in 0..RUN - 1 {
                        if (k as u32) < left {
                            run[k] = self.at(row, column + k as u32).read();
                        }
                    }
                }
            }
        }
        run
    }

    /// Writes the run that begins at `(row, column)`; elements outside the matrix are dropped.
    ///
    /// # Safety
    /// No other thread of the launch accesses these elements.
    #[inline(always)]
    unsafe fn write_run<const RUN: usize>(&self, row: u32, column: u32, run: [T; RUN]) {
        if !self.contains(row, column) {
            return;
        }
        let left = self.columns - column;
        // SAFETY: the elements exist and belong to the caller.
        unsafe {
            if left >= RUN as u32 {
                self.run(row, column).write_unaligned(run);
            } else {
                for k in 0..RUN - 1 {
                    if (k as u32) < left {
                        self.at(row, column + k as u32).write(run[k]);
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

/// The run, loaded as a whole. Otherwise the compiler would move conversions of elements to the branches that load them, and
/// wait in each.
#[inline(always)]
fn opaque<const RUN: usize, T: Copy>(run: [T; RUN]) -> [T; RUN] {
    // SAFETY: the types have the same size, and all bits of elements are kept.
    unsafe {
        match size_of::<[T; RUN]>() {
            8 => transmute_copy(&each(transmute_copy::<_, [u32; 2]>(&run), crate::opaque)),
            16 => transmute_copy(&each(transmute_copy::<_, [u32; 4]>(&run), crate::opaque)),
            _ => run,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::tile::{element::Activation, epilogue::Operation, registers::RegisterTile};
    use std::{vec, vec::Vec};

    const PLAIN: Epilogue<f32> = Epilogue {
        alpha: 1.0,
        beta: 0.0,
        prologue: NONE,
        relu_gradient: false,
        gradient: false,
        gradient_of: Activation::GELU,
        epilogue: NONE,
        activated: false,
        activation: Activation::GELU,
        gate: false,
        keeps_input: false,
    };

    const NONE: Operation<f32> = Operation {
        factor: 1.0,
        relu: false,
        set: false,
        value: 0.0,
    };

    const RELU: Operation<f32> = Operation { relu: true, ..NONE };

    const fn set_to(value: f32) -> Operation<f32> {
        Operation {
            set: true,
            value,
            ..NONE
        }
    }

    const fn scaled_by(factor: f32) -> Operation<f32> {
        Operation { factor, ..NONE }
    }

    /// 2 × 3 elements, 4 apart, after an update with 1 2 / 3 4 at `corner`; the padding is -7.
    fn updated(old: f32, corner: (u32, u32), epilogue: &Epilogue<f32>) -> Vec<f32> {
        updated_with_bias(old, corner, epilogue, Addend::None)
    }

    /// The same with a bias.
    fn updated_with_bias(
        old: f32,
        corner: (u32, u32),
        epilogue: &Epilogue<f32>,
        bias: Addend<f32>,
    ) -> Vec<f32> {
        updated_with_input(old, corner, epilogue, bias).0
    }

    /// The same, and the matrix for the epilogue's input.
    fn updated_with_input(
        old: f32,
        corner: (u32, u32),
        epilogue: &Epilogue<f32>,
        bias: Addend<f32>,
    ) -> (Vec<f32>, Vec<f32>) {
        let mut memory = vec![old; 8];
        memory[3] = -7.0;
        memory[7] = -7.0;
        let mut input = vec![-9.0; 8];
        let product = RegisterTile([[1.0, 2.0], [3.0, 4.0]]);
        // SAFETY: the vectors are of that shape, and this is their only thread.
        unsafe {
            let output = Output::new(memory.as_mut_ptr(), 2, 3, 4);
            let of_input = Output::new(input.as_mut_ptr(), 2, 3, 4);
            output.update(corner.0, corner.1, product, epilogue, bias, of_input);
        }
        (memory, input)
    }

    #[test]
    fn a_scaled_fragment_is_stored() {
        let mut memory = [-7.0_f32; 8];
        // SAFETY: the array is of that shape, and this is its only thread.
        unsafe {
            let output = Output::new(memory.as_mut_ptr(), 2, 3, 4);
            output.store_scaled(0, 1, RegisterTile([[1.0, 2.0], [3.0, 4.0]]), 2.0);
        }
        assert_eq!(memory, [-7.0, 2.0, 4.0, -7.0, -7.0, 6.0, 8.0, -7.0]);
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
    fn runs_side_by_side_and_below_each_other_are_cut_off() {
        for (first, step, expected) in [
            ((0, 0), (1, 0), [1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0]),
            ((1, 1), (1, 0), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0]),
            ((0, 2), (1, 0), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.0, 0.0]),
            ((0, 0), (0, 2), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            ((0, 3), (1, 0), [0.0; 8]),
            ((2, 0), (1, 0), [0.0; 8]),
        ] {
            let mut memory = [0.0_f32; 8];
            let mut results = [[-1.0; 2]; MOST_RUNS];
            results[..2].copy_from_slice(&[[1.0, 2.0], [3.0, 4.0]]);
            let runs = Runs {
                first,
                step,
                count: 2,
            };
            // SAFETY: the array is of that shape, and this is its only thread.
            unsafe {
                let output = Output::new(memory.as_mut_ptr(), 2, 3, 4);
                output.store_runs(&runs, results);
            }
            assert_eq!(memory, expected, "{first:?} {step:?}");
        }
    }

    #[test]
    fn runs_have_their_own_old_elements_and_biases() {
        let mut memory = [10.0, 20.0, 30.0, -7.0, 40.0, 50.0, 60.0, -7.0_f32];
        let vector = [100.0, 200.0, 300.0];
        let epilogue = Epilogue { beta: 1.0, ..PLAIN };
        for (step, bias, expected) in [
            (
                (1, 0),
                Addend::Row(vector.as_ptr()),
                [[120.0, 130.0], [250.0, 260.0]],
            ),
            (
                (1, 0),
                Addend::Column(vector.as_ptr()),
                [[220.0, 330.0], [250.0, 360.0]],
            ),
            (
                (0, 1),
                Addend::Row(vector.as_ptr()),
                [[120.0, 130.0], [130.0, 100.0]],
            ),
            (
                (0, 1),
                Addend::Column(vector.as_ptr()),
                [[220.0, 330.0], [330.0, 0.0]],
            ),
        ] {
            let runs = Runs {
                first: (0, 1),
                step,
                count: 2,
            };
            // SAFETY: the array and the vector are of that shape, and this is their only thread.
            let results = unsafe {
                let output = Output::new(memory.as_mut_ptr(), 2, 3, 4);
                epilogue.results(
                    &runs,
                    [[0.0; 2]; MOST_RUNS],
                    || output.load_old(&runs),
                    |sums| output.add_bias(&runs, sums, bias),
                    |_| panic!("the input is not kept"),
                )
            };
            assert_eq!(results[..2], expected, "{step:?}");
        }
    }

    #[test]
    fn without_an_addend_the_zero_keeps_its_sign() {
        let epilogue = Epilogue {
            alpha: -0.0,
            epilogue: scaled_by(1.0),
            ..PLAIN
        };
        let zeros = updated(10.0, (1, 2), &epilogue);
        assert!(zeros[6] == 0.0 && zeros[6].is_sign_negative());
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
        let row = Addend::Row(vector.as_ptr());
        let memory = updated_with_bias(0.0, (0, 1), &PLAIN, row);
        assert_eq!(memory, [0.0, 101.0, 102.0, -7.0, 0.0, 203.0, 204.0, -7.0]);
        let column = Addend::Column(vector.as_ptr());
        let memory = updated_with_bias(0.0, (1, 1), &PLAIN, column);
        assert_eq!(memory, [0.0, 0.0, 0.0, -7.0, 0.0, 201.0, 302.0, -7.0]);
    }

    #[test]
    fn operations_come_before_beta_and_after_everything() {
        let epilogue = Epilogue {
            beta: 2.0,
            prologue: RELU,
            ..PLAIN
        };
        assert_eq!(updated(-5.0, (0, 0), &epilogue)[..2], [1.0, 2.0]);
        assert_eq!(updated(5.0, (0, 0), &epilogue)[..2], [11.0, 12.0]);
        let epilogue = Epilogue {
            prologue: set_to(3.0),
            ..epilogue
        };
        let set = updated(f32::NAN, (0, 0), &epilogue);
        assert_eq!(set[..2], [7.0, 8.0], "the old C is not read");
        let epilogue = Epilogue {
            prologue: scaled_by(0.5),
            ..epilogue
        };
        assert_eq!(updated(10.0, (0, 0), &epilogue)[..2], [11.0, 12.0]);
        let epilogue = Epilogue {
            alpha: -1.0,
            epilogue: RELU,
            ..PLAIN
        };
        assert_eq!(updated(10.0, (0, 0), &epilogue)[..2], [0.0, 0.0]);
        let epilogue = Epilogue {
            epilogue: scaled_by(-3.0),
            ..PLAIN
        };
        assert_eq!(updated(10.0, (0, 0), &epilogue)[..2], [-3.0, -6.0]);
    }

    #[test]
    fn a_gate_multiplies_by_the_scaled_old_element() {
        let epilogue = Epilogue {
            alpha: 2.0,
            beta: -0.5,
            prologue: RELU,
            epilogue: scaled_by(3.0),
            gate: true,
            ..PLAIN
        };
        let bias = Addend::Column([1.0, 10.0, 0.0].as_ptr());
        let gated = updated_with_bias(4.0, (0, 0), &epilogue, bias);
        assert_eq!(gated[..2], [3.0 * 3.0 * -2.0, 3.0 * 14.0 * -2.0]);
        let closed = updated_with_bias(-4.0, (0, 0), &epilogue, bias);
        assert_eq!(closed[..2], [0.0, 0.0]);
    }

    #[test]
    fn the_input_of_the_epilogue_is_kept_and_cut_off() {
        let epilogue = Epilogue {
            beta: 2.0,
            epilogue: RELU,
            activated: true,
            keeps_input: true,
            ..PLAIN
        };
        let bias = Addend::Row([-100.0, 0.5].as_ptr());
        let (results, input) = updated_with_input(10.0, (0, 2), &epilogue, bias);
        assert_eq!(input, [-9.0, -9.0, -79.0, -9.0, -9.0, -9.0, 23.5, -9.0]);
        assert_eq!((results[2], results[6]), (0.0, 23.5));
        let gated = Epilogue {
            gate: true,
            ..epilogue
        };
        let (_, input) = updated_with_input(10.0, (0, 0), &gated, Addend::None);
        assert_eq!(input[..2], [1.0, 2.0]);
    }

    #[test]
    fn a_gradient_takes_the_place_of_the_old_element() {
        let backward = Epilogue {
            beta: 1.0,
            gate: true,
            relu_gradient: true,
            ..PLAIN
        };
        assert_eq!(updated(5.0, (0, 0), &backward)[..2], [1.0, 2.0]);
        assert_eq!(updated(-5.0, (0, 0), &backward)[..2], [0.0, 0.0]);
        let smooth = Epilogue {
            relu_gradient: false,
            gradient: true,
            gradient_of: Activation::SILU,
            ..backward
        };
        assert_eq!(updated(0.0, (0, 0), &smooth)[..2], [0.5, 1.0]);
    }
}
