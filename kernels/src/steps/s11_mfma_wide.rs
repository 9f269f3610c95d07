//! Step 11, wide accesses: 16 bytes a lane wherever data moves, 128 × 128 of C a workgroup, and the largest
//! matrix instructions, for every element type.
//!
//! ```text
//! C[i][j] ← epilogue(α · Σₖ Σₚ A[i][k + p] · B[k + p][j] + β · prologue(C[i][j]) + bias)
//!                                        k = 0, K, 2K, …; p = 0 … K − 1; K = 64 bytes of elements
//!
//!   C's tile, 128 × 128       a wave's part, 64 × 64          a block, 32 × 32 (f64: 16 × 16)
//!   ┌────────┬────────┐       ┌────────┬────────┐             a lane of the matrix core holds
//!   │ wave 0 │ wave 1 │ 64    │        │        │ 32          16 bytes along k of one row of A,
//!   ├────────┼────────┤       ├────────┼────────┤             16 of one column of B,
//!   │ wave 2 │ wave 3 │       │        │        │             16 sums (f64: 4)
//!   └────────┴────────┘       └────────┴────────┘
//! ```
//!
//! **What it adds to step 9.** There, a lane reads one element from LDS for each matrix instruction. Here it
//! reads 16 bytes, enough for 1 to 4 instructions, and each operand is multiplied with two others: 4 reads of
//! 16 bytes feed 4 products of blocks. A 32 × 32 block needs half as many operands for its operations as
//! four of 16 × 16 do. Global memory is read, and C written, in 16 bytes a lane. All element types are one
//! code: until they are multiplied, elements are bytes.
//!
//! **Layouts.** Rows of the tiles lie along k in LDS. An operand along k in memory (A row-major, B
//! column-major) is copied; one across k is turned in registers on its way, in blocks that a thread has to
//! itself. That is the load path's affair, [`TileLoader`](crate::tile::tile_loader::TileLoader), and the loop does not know.
//!
//! **LDS.** Rows of 64 bytes, one after the other: (128 + 128) · 64 bytes = 16 KiB. 8 lanes that read at a time
//! need 8 rows of one unit, which lie in the same 4 or 8 of 32 banks: conflicts of degree 4, which step 12
//! takes away.
//!
//! **Edges.** Rows that the matrices have not are replaced by the last ones, and what they contribute is not
//! stored. The end of k, where it is no multiple of K, is loaded element by element with zeros after it.
//!
//! **The end.** Sums lie in columns in the lanes. They pass through LDS, and are finished and stored by rows:
//! [`BlockGemm::finish`].

use super::{Product, matrix::BlockGemm};
use crate::{blocks::Multiply, tile::lds_layout::Arrangement};

/// Computes `M` × `N` blocks of C per wave.
///
/// # Safety
/// The kernel was launched with the row's block and LDS, and the parameters
/// [fit](BlockGemm::fits) the row.
#[inline(always)]
pub(super) unsafe fn run<
    T: Multiply<RUN>,
    R: Arrangement,
    const RUN: usize,
    const M: usize,
    const N: usize,
    const A_VECS: usize,
    const B_VECS: usize,
>(
    product: Product<T::Element, T::Output>,
) {
    let k = product.k();
    // SAFETY: as the caller promises; all threads of the workgroup are here, and have this tile for
    // themselves.
    unsafe {
        let mut matrix = BlockGemm::<T, R, RUN, M, N, A_VECS, B_VECS>::new(product);
        matrix.sequential(0, k);
        matrix.finish();
    }
}
