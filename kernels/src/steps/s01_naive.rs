//! Step 1, naive: one thread per element of C.
//!
//! ```text
//! C[i][j] ← α · Σₚ A[i][p] · B[p][j] + β · C[i][j]
//!
//!                     B   │ 64 columns │              thread (x, y) of a workgroup of 64 × 4
//!                         │     ↓ p    │              owns C[4 · block.y + y][64 · block.x + x]
//!      A  ─────────────   ┌────────────┐ row y = 0    ← wave 0, lane x
//!   4 rows   → p          │     C      │     y = 1    ← wave 1
//!         ─────────────   └────────────┘     …
//! ```
//!
//! **Reads.** For each p, the 64 lanes of a wave read the same element of A and 64 consecutive
//! elements of B: 256 bytes in a few cache lines. If x ran along the rows of C instead, the 64 lanes
//! would read 64 rows of A, each in its own cache line. The loop needs 2 reads for one multiply-add:
//! the workgroups read A ⌈n / 64⌉ times and B ⌈m / 4⌉ times, and only the caches keep these reads
//! from memory. The compiler unrolls the loop by eight p and reads four elements of A at a time.
//!
//! **Edges.** A thread without an element of C returns; there is no barrier.
//!
//! LDS: none.

use super::Product;
use crate::{arch, tile::registers::RegisterTile};
use ferrowave_shared::catalogue::NAIVE_F32 as ROW;

const _: () = assert!(
    ROW.tile.m == ROW.block.y && ROW.tile.n == ROW.block.x,
    "one thread per element"
);

/// Computes one element of C per thread.
///
/// # Safety
/// The kernel was launched with the row's block and LDS.
#[inline(always)]
pub(super) unsafe fn run(product: Product<f32, f32>) {
    // SAFETY: the block is the row's, as the caller promises.
    let (x, y) = unsafe { arch::thread_2d::<{ ROW.block.x }, { ROW.block.y }>() };
    let (row, column) = (y.get(), x.get());
    if !product.has_element(row, column) {
        return;
    }
    let mut sum = RegisterTile::<f32, 1, 1>::ZERO;
    if let Some((a, b)) = product.factors() {
        for (a, b) in a.row(row).zip(b.column(column)) {
            sum.add_outer_product([a], [b]);
        }
    }
    // SAFETY: no other thread of the workgroup has the same x and y.
    unsafe { product.store(row, column, sum) };
}
