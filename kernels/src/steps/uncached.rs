//! Sums that are kept in C between the steps or tiles of k, for the steps of the ladder that do not keep them in
//! registers.
//!
//! C then holds the unscaled sums: α is applied at the end, so it may be 0 or infinite. The old C is kept in registers
//! (not read at all if β is 0) and written back before the update, which is therefore the same as in all other steps.
//!
//! If C has the whole tile, a loop over k uses [`Uncached::whole`], which loads and stores without a check for each
//! element, at addresses computed before the loop.

use super::Product;
use crate::tile::output::{Fragment, Place};
use core::sync::atomic::{Ordering, compiler_fence};

/// Where a lane's sums `F` are kept between additions.
pub(super) trait AccumulatorStorage<F> {
    /// The sums so far.
    fn load(&self) -> F;

    /// Stores the sums.
    fn store(&mut self, sums: F);
}

/// A lane's sums `F` in C.
pub(super) struct Uncached<'p, F> {
    product: &'p Product<f32, f32>,
    row: u32,
    column: u32,
    old: F,
}

impl<'p, F: Fragment<1, Sum = f32> + Copy> Uncached<'p, F> {
    /// Saves the elements of C whose corner is at `(row, column)`, and stores the sums `zero` there.
    ///
    /// # Safety
    /// The elements are in the workgroup's tile, and no other thread accesses them until this value is
    /// [finished](Self::finish).
    #[inline(always)]
    pub(super) unsafe fn new(
        product: &'p Product<f32, f32>,
        row: u32,
        column: u32,
        mut zero: F,
    ) -> Self {
        let mut old = zero;
        // The same in all lanes.
        if product.has_old() {
            // SAFETY: the elements are the caller's.
            unsafe { product.load_as_is(row, column, &mut old) };
        }
        // SAFETY: the elements are the caller's.
        unsafe { product.store_as_is(row, column, &mut zero) };
        Self {
            product,
            row,
            column,
            old,
        }
    }

    /// The same sums if C has the whole tile. Uniform.
    #[inline(always)]
    pub(super) fn whole(&mut self) -> Option<Whole<'_, F>> {
        let place = self.product.place(self.row, self.column)?;
        Some(Whole {
            place,
            old: &self.old,
        })
    }

    /// The row, behind an opaque zero. Otherwise the compiler would compute the addresses of all elements, and
    /// whether they exist, before the loop over k, and run out of registers.
    #[inline(always)]
    fn row(&self) -> u32 {
        self.row + crate::opaque_zero()
    }

    /// Turns the sums in C into the result.
    #[inline(always)]
    pub(super) fn finish(self) {
        let (sums, mut old) = (self.load(), self.old);
        // SAFETY: as in `load`.
        unsafe {
            if self.product.has_old() {
                self.product.store_as_is(self.row, self.column, &mut old);
            }
            self.product.store(self.row, self.column, sums);
        }
    }
}

impl<F: Fragment<1, Sum = f32> + Copy> AccumulatorStorage<F> for Uncached<'_, F> {
    #[inline(always)]
    fn load(&self) -> F {
        // Without it the compiler would forward what was stored last, and keep the sums in registers.
        compiler_fence(Ordering::SeqCst);
        let mut sums = self.old;
        // SAFETY: the elements belong to this value, as `new`'s caller promised.
        unsafe { self.product.load_as_is(self.row(), self.column, &mut sums) };
        sums
    }

    #[inline(always)]
    fn store(&mut self, mut sums: F) {
        // SAFETY: as in `load`.
        unsafe { self.product.store_as_is(self.row(), self.column, &mut sums) };
    }
}

/// A lane's sums `F` in C where C has the whole tile.
pub(super) struct Whole<'u, F> {
    place: Place<f32>,
    /// An initialized fragment to load into; its values are overwritten.
    old: &'u F,
}

impl<F> Whole<'_, F> {
    /// Where the sums are. Only the addresses of a small fragment stay in registers.
    #[inline(always)]
    fn place(&self) -> Place<f32> {
        if const { size_of::<F>() <= size_of::<[f32; 4]>() } {
            self.place
        } else {
            self.place.opaque()
        }
    }
}

impl<F: Fragment<1, Sum = f32> + Copy> AccumulatorStorage<F> for Whole<'_, F> {
    #[inline(always)]
    fn load(&self) -> F {
        // As for `Uncached`.
        compiler_fence(Ordering::SeqCst);
        let mut sums = *self.old;
        // SAFETY: the elements are in the tile, which is whole, and belong to the value that is borrowed.
        unsafe { self.place().load_as_is(&mut sums) };
        sums
    }

    #[inline(always)]
    fn store(&mut self, mut sums: F) {
        // SAFETY: as in `load`.
        unsafe { self.place().store_as_is(&mut sums) };
    }
}
