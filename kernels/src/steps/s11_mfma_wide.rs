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
//! four of 16 × 16 do. Global memory is read, and C written, in 16 bytes a lane. One code serves all element
//! types: until they are multiplied, elements are bytes.
//!
//! **Layouts.** Rows of the tiles lie along k in LDS. An operand along k in memory (A row-major, B
//! column-major) is copied. One across k is transposed in registers on its way, in blocks of which each belongs to one
//! thread. [`TileLoader`](crate::tile::operand::TileLoader) does that; the loop is the same for all layouts.
//!
//! **LDS.** Rows of 64 bytes, one after the other: (128 + 128) · 64 bytes = 16 KiB. 8 lanes that read at a time
//! need one unit of 8 rows, and these units are in the same 8 of 32 banks: conflicts of degree 4, which step 12
//! avoids.
//!
//! **Edges.** For rows outside the matrices the last row is loaded; what it contributes is not stored. The end of k, where it is no multiple of K, is loaded element by element with zeros after it.
//!
//! **The end.** A lane holds sums of a column of C. They pass through LDS, and are stored by rows: [`BlockGemm::finish`].

use super::{
    Product,
    block_gemm::{BlockGemm, Config, Element, Output},
};

/// Computes the workgroup's tile of C.
///
/// # Safety
/// The kernel was launched with the block and LDS of the row that `C` is for.
#[inline(always)]
pub(super) unsafe fn run<C: Config>(product: Product<Element<C>, Output<C>>) {
    let k = product.k();
    // SAFETY: as the caller promises; all threads of the workgroup are here, and have this tile for
    // themselves.
    unsafe {
        let mut gemm = BlockGemm::<C>::new(product);
        gemm.sequential(0, k);
        gemm.finish();
    }
}
