//! Step 11, wide accesses: 16 bytes per lane wherever data moves, 128 × 128 of C per workgroup, and the largest
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
//! **What it adds to step 9.** In step 9, a lane reads one element of A and one of B from LDS for each matrix
//! instruction. Here it reads 16 bytes, enough for 1 to 4 instructions, and each operand is multiplied with two others:
//! 4 reads of 16 bytes feed 4 products of blocks. A 32 × 32 block needs half as many operands as four blocks of
//! 16 × 16. Global memory is read in 16 bytes per lane, and C is stored in runs of 16 bytes of sums. One code serves
//! all element types: until they are multiplied, elements are bytes.
//!
//! **Layouts.** Rows of the tiles are along k in LDS. An operand that is along k in memory (A row-major, B
//! column-major) is copied. One across k is transposed in registers on its way, in blocks that belong to one thread
//! each. [`TileLoader`](crate::tile::operand::TileLoader) does both; the loop is the same for all layouts.
//!
//! **LDS.** Rows of 64 bytes, one after the other: (128 + 128) · 64 bytes = 16 KiB. The 8 lanes that read at the same
//! time need one unit of 8 rows, and these units are in the same 8 of 32 banks: conflicts of degree 4, which step 12
//! removes.
//!
//! **Edges.** For rows outside the matrices the last row is loaded; its contribution is not stored. If k is no multiple
//! of K, the units at the end of k are loaded from where they fit, and shifted, so that zeros follow the last element.
//!
//! **The end.** Neighbouring lanes hold sums of different rows of C. They pass through LDS, from which 8 neighbouring
//! lanes store a row of a block: [`BlockGemm::finish`].
//!
//! **By WMMA**, on RDNA 3 and 3.5. A wave has 32 lanes and blocks of 16 × 16 sums, of which a lane holds 8: the even rows of
//! a column, or the odd ones. Lanes 16 to 31 hold the same operands as lanes 0 to 15, of 32 bytes along k. Eight waves have
//! 64 × 32 of C each, 4 × 2 blocks: in 64 × 64, sums and operands would leave too few of the 256 VGPRs for later steps.
//! A row of a block has 64 bytes, which 4 lanes store.
//!
//! **On RDNA 4**, tiles and waves are the same. Lanes 16 to 31 hold other k than lanes 0 to 15, so that a lane holds 16 bytes
//! of an operand as on CDNA. Its 8 sums are the upper or the lower half of a column; with A and B swapped, which computes
//! the transpose, they are two units of a row of C.

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
