//! The part of a problem that a workgroup computes.

use crate::{
    arch,
    tile::global::{Input, Output, Scaling},
};
use ferrowave_shared::{BlockTile, GemmParameters};

/// One workgroup's product: the rows of A, the columns of B and the elements of C that it works on,
/// counted from the corner of its tile.
///
/// The matrices extend to their ends and not to the tile's, so that a step sees where its tile
/// overhangs.
pub(super) struct Product {
    /// The rows of A from the tile's first on and the columns of B from the tile's first on; `None`
    /// if k = 0, when there is nothing to sum up.
    pub(super) factors: Option<(Input<f32>, Input<f32>)>,
    /// C from the tile's corner.
    pub(super) c: Output<f32>,
    /// α and β.
    pub(super) scaling: Scaling<f32>,
}

impl Product {
    /// The calling workgroup's product.
    ///
    /// # Safety
    /// The three matrices are as [`GemmParameters`] says, C overlaps neither A nor B, and the grid
    /// is that of `tile`.
    #[inline(always)]
    pub(super) unsafe fn of_workgroup(
        a: *const f32,
        b: *const f32,
        c: *mut f32,
        p: &GemmParameters,
        tile: BlockTile,
    ) -> Self {
        let workgroup = arch::workgroup();
        let batch = workgroup.z as usize;
        let row = workgroup.y * tile.m as u32;
        let column = workgroup.x * tile.n as u32;
        // SAFETY: the caller promises matrices of these extents for every product of the batch, and
        // a grid in which every tile has an element.
        unsafe {
            let a = Input::new(a.add(batch * p.stride_a as usize), p.m, p.k, p.lda);
            let b = Input::new(b.add(batch * p.stride_b as usize), p.k, p.n, p.ldb);
            let c = Output::new(c.add(batch * p.stride_c as usize), p.m, p.n, p.ldc);
            Self {
                factors: a
                    .zip(b)
                    .map(|(a, b)| (a.part(row, 0), b.part(0, column))),
                c: c.part(row, column),
                scaling: Scaling {
                    alpha: p.alpha,
                    beta: p.beta,
                },
            }
        }
    }
}
