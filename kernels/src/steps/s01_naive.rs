//! Step 1: one thread per element of C.

use super::Product;
use crate::{arch, tile::registers::RegisterTile};
use ferrowave_shared::catalogue::NAIVE_F32 as ROW;

/// # Safety
/// Launched as the row says.
#[inline(always)]
pub(super) unsafe fn run(product: Product) {
    // SAFETY: the host launches the row's block.
    let (x, y) = unsafe { arch::thread_2d::<{ ROW.block.x }, { ROW.block.y }>() };
    let (row, column) = (y.get(), x.get());
    if !product.c.contains(row, column) {
        return;
    }
    let mut sum = RegisterTile::ZERO;
    if let Some((a, b)) = product.factors {
        for (a, b) in a.row(row).zip(b.column(column)) {
            sum.add_outer_product([a], [b]);
        }
    }
    // SAFETY: the element is this thread's alone.
    unsafe { product.c.update(row, column, sum, product.scaling) };
}
