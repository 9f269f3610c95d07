//! The part of a problem that a workgroup computes.

use crate::{
    arch,
    tile::{
        global::{Input, Output, Scaling},
        registers::RegisterTile,
    },
};
use ferrowave_shared::{BlockTile, GemmParameters};

/// One workgroup's product: the rows of A, the columns of B and the elements of C that it works on.
///
/// Rows and columns count from the corner of the workgroup's tile. The matrices extend to their
/// own ends and not to the tile's, so that a step sees where its tile overhangs.
pub(super) struct Product {
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    row: u32,
    column: u32,
    parameters: GemmParameters,
}

impl Product {
    /// The calling workgroup's product.
    ///
    /// # Safety
    /// For as long as the value is used, the three matrices are as [`GemmParameters`] says, C
    /// overlaps neither A nor B, and the grid is that of `tile` for the problem.
    #[inline(always)]
    pub(super) unsafe fn of_workgroup(
        a: *const f32,
        b: *const f32,
        c: *mut f32,
        parameters: GemmParameters,
        tile: BlockTile,
    ) -> Self {
        let workgroup = arch::workgroup();
        let batch = workgroup.z as usize;
        Self {
            a: a.wrapping_add(batch * parameters.stride_a as usize),
            b: b.wrapping_add(batch * parameters.stride_b as usize),
            c: c.wrapping_add(batch * parameters.stride_c as usize),
            row: workgroup.y * tile.m as u32,
            column: workgroup.x * tile.n as u32,
            parameters,
        }
    }

    /// The rows of A from the tile's first on, and the columns of B from the tile's first on.
    /// `None` if k = 0, when there is nothing to sum up: the same in all lanes.
    #[inline(always)]
    pub(super) fn factors(&self) -> Option<(Input<f32>, Input<f32>)> {
        let p = &self.parameters;
        if p.k == 0 {
            return None;
        }
        // SAFETY: `of_workgroup`'s caller promised the matrices, none is empty since k > 0 and the
        // grid has a workgroup, and every tile of the grid has an element.
        unsafe {
            let a = Input::new(self.a, p.m, p.k, p.lda).part(self.row, 0);
            let b = Input::new(self.b, p.k, p.n, p.ldb).part(0, self.column);
            Some((a, b))
        }
    }

    /// Whether C has an element `(row, column)`.
    #[inline(always)]
    pub(super) fn has_element(&self, row: u32, column: u32) -> bool {
        self.result().contains(row, column)
    }

    /// Updates the elements of C whose first one is `(row, column)` with their `sums`; those that
    /// would be outside C are dropped.
    ///
    /// # Safety
    /// No other thread of the workgroup stores these elements.
    #[inline(always)]
    pub(super) unsafe fn store<const M: usize, const N: usize>(
        &self,
        row: u32,
        column: u32,
        sums: RegisterTile<f32, M, N>,
    ) {
        let scaling = Scaling {
            alpha: self.parameters.alpha,
            beta: self.parameters.beta,
        };
        // SAFETY: no other workgroup has this tile, and no other thread of this one has these
        // elements, as the caller promises.
        unsafe { self.result().update(row, column, sums, scaling) };
    }

    /// C from the tile's corner on.
    #[inline(always)]
    fn result(&self) -> Output<f32> {
        let p = &self.parameters;
        // SAFETY: `of_workgroup`'s caller promised C, and that every tile has an element.
        unsafe { Output::new(self.c, p.m, p.n, p.ldc).part(self.row, self.column) }
    }
}
