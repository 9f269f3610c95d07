//! The part of a problem that a workgroup computes.

use crate::{
    arch,
    tile::{
        element::{Accumulator, Stored},
        global::{Input, Strides},
        output::{Addend, Finish, Fragment, Operation, Output},
        registers::Scalar,
    },
};
use ferrowave_shared::{Bias, BlockTile, FragmentOp, GemmParameters, Kernel, TileOrder};

/// The device addresses that a kernel gets.
pub(super) struct Pointers<A, C> {
    pub(super) a: *const A,
    pub(super) b: *const A,
    pub(super) c: *mut C,
    pub(super) bias: *const C,
    /// Where kernels that divide k leave their parts.
    pub(super) workspace: *mut u8,
}

/// One workgroup's product: the rows of A, the columns of B and the elements of C that it works on.
///
/// Rows and columns count from the corner of the workgroup's tile. The matrices extend to their
/// own ends and not to the tile's, so that a step sees where its tile overhangs.
pub(super) struct Product<A, C> {
    pointers: Pointers<A, C>,
    tile: BlockTile,
    row: u32,
    column: u32,
    parameters: GemmParameters,
}

impl<A: Copy, C: Stored> Product<A, C> {
    /// The calling workgroup's product.
    ///
    /// # Safety
    /// For as long as the value is used, the three matrices and the bias are as [`GemmParameters`]
    /// says, C overlaps none of the others, and the grid is that of `kernel` for the problem.
    #[inline(always)]
    pub(super) unsafe fn of_workgroup(
        pointers: Pointers<A, C>,
        parameters: GemmParameters,
        kernel: &Kernel,
    ) -> Self {
        let workgroup = arch::workgroup();
        let tile = kernel.tile;
        let (row, column) = match kernel.order {
            TileOrder::Plane => (workgroup.y, workgroup.x),
            TileOrder::Linear => TileOrder::linear(
                workgroup.x,
                parameters.m.div_ceil(tile.m as u32),
                parameters.n.div_ceil(tile.n as u32),
                parameters.order >> 16,
                parameters.order & 0xffff,
            ),
        };
        let batch = workgroup.z as usize;
        let Pointers { a, b, c, .. } = pointers;
        Self {
            pointers: Pointers {
                a: a.wrapping_add(batch * parameters.stride_a as usize),
                b: b.wrapping_add(batch * parameters.stride_b as usize),
                c: c.wrapping_add(batch * parameters.stride_c as usize),
                ..pointers
            },
            tile,
            row: row * tile.m as u32,
            column: column * tile.n as u32,
            parameters,
        }
    }

    /// The rows of A from the tile's first on, and the columns of B from the tile's first on.
    /// `None` if k = 0, when there is nothing to sum up: the same in all lanes.
    #[inline(always)]
    pub(super) fn factors(&self) -> Option<(Input<A>, Input<A>)>
    where
        A: Scalar,
    {
        let p = &self.parameters;
        if p.k == 0 {
            return None;
        }
        let strides_a = Strides::new(p.lda, p.options.column_major_a());
        let strides_b = Strides::new(p.ldb, p.options.column_major_b());
        // SAFETY: `of_workgroup`'s caller promised the matrices, none is empty since k > 0 and the
        // grid has a workgroup, and every tile of the grid has an element.
        unsafe {
            let a = Input::new(self.pointers.a, p.m, p.k, strides_a).part(self.row, 0);
            let b = Input::new(self.pointers.b, p.k, p.n, strides_b).part(0, self.column);
            Some((a, b))
        }
    }

    /// Whether C has an element `(row, column)`.
    #[inline(always)]
    pub(super) fn has_element(&self, row: u32, column: u32) -> bool {
        self.result().contains(row, column)
    }

    /// Updates the elements of C that the thread has summed up in `sums`, their corner at `(row,
    /// column)`; those that would be outside C are dropped.
    ///
    /// # Safety
    /// No other thread of the workgroup stores these elements, and all of them are in the tile.
    #[inline(always)]
    pub(super) unsafe fn store<const RUN: usize, F: Fragment<RUN, Sum = C::Sum>>(
        &self,
        row: u32,
        column: u32,
        sums: F,
    ) {
        // SAFETY: no other workgroup has this tile, and no other thread of this one has these
        // elements, as the caller promises.
        unsafe {
            self.result()
                .update(row, column, sums, &self.finish(), self.is_whole());
        };
    }

    /// Whether C has every element of the tile: the same in all lanes.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        let p = &self.parameters;
        self.tile.m as u32 <= p.m - self.row && self.tile.n as u32 <= p.n - self.column
    }

    /// What is to be done with the sums.
    #[inline(always)]
    fn finish(&self) -> Finish<C> {
        let p = &self.parameters;
        Finish {
            alpha: C::Sum::from_f64(p.alpha),
            beta: C::Sum::from_f64(p.beta),
            prologue: operation(p.options.prologue(), p.prologue_value),
            bias: match p.options.bias() {
                Bias::None => Addend::None,
                Bias::Row => Addend::Row(self.pointers.bias.wrapping_add(self.row as usize)),
                Bias::Column => {
                    Addend::Column(self.pointers.bias.wrapping_add(self.column as usize))
                }
            },
            epilogue: operation(p.options.epilogue(), p.epilogue_value),
        }
    }

    /// C from the tile's corner on.
    #[inline(always)]
    fn result(&self) -> Output<C> {
        let p = &self.parameters;
        // SAFETY: `of_workgroup`'s caller promised C, and that every tile has an element.
        unsafe { Output::new(self.pointers.c, p.m, p.n, p.ldc).part(self.row, self.column) }
    }
}

#[inline(always)]
fn operation<S: Accumulator>(operation: FragmentOp, value: f32) -> Operation<S> {
    let value = S::from_f64(value.into());
    match operation {
        FragmentOp::None => Operation::None,
        FragmentOp::Set => Operation::Set(value),
        FragmentOp::Scale => Operation::Scale(value),
        FragmentOp::Relu => Operation::Relu,
        FragmentOp::Gelu => Operation::Gelu,
    }
}
