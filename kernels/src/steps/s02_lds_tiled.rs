//! Step 2, LDS tiling: a workgroup reads each element of its tiles from global memory once and
//! shares it in LDS.
//!
//! ```text
//! C[i][j] ← α · Σₖ Σₚ A[i][k + p] · B[k + p][j] + β · C[i][j]      k = 0, 16, 32, …; p = 0 … 15
//!
//!                           B  ┌────┐
//!                              │    │ ↓ k
//!                              ├────┤
//!                              │ LDS│ 16 × 16       thread (x, y) of a workgroup of 16 × 16
//!           → k                ├────┤               · fetches element (y, x) of both tiles,
//!      A ┌───────┬────┬───┐    ┌────┐               · owns element (y, x) of C's tile
//!        │       │ LDS│   │    │ C  │
//!        └───────┴────┴───┘    └────┘
//!                16 × 16       16 × 16
//! ```
//!
//! **What it adds to step 1.** 16 threads use every element that one of them has read. So A is read
//! from global memory ⌈n / 16⌉ times and B ⌈m / 16⌉ times, even without caches. There are two barriers
//! per tile: after filling, so that all elements are written before they are read, and after
//! multiplying, so that no thread overwrites elements that another still reads.
//!
//! **LDS.** 2 tiles of 16 × 16 elements, unpadded: 2,048 bytes. The 32 lanes that read at the same
//! time are 2 rows of 16 threads. They read 16 consecutive elements of B, in 16 banks, and 2 elements
//! of A that are 16 apart, each for 16 lanes: no bank conflicts. But each multiply-add takes two
//! elements from LDS; step 3 reduces that.
//!
//! **Edges.** Outside the matrices the tiles contain zeros, which add nothing. All threads stay to the
//! end, since all must reach the barriers; only the store checks whether the element exists.

use super::Product;
use crate::{
    arch,
    tile::{
        index::{Index, Thread},
        lds::{LdsTile, Operands, Vacant},
        registers::RegisterTile,
    },
};
use ferrowave_shared::{BlockTile, catalogue::LDS_TILED_F32 as ROW};

const TILE: BlockTile = ROW.tile;
type TileA = LdsTile<f32, { TILE.m }, { TILE.k }, { TILE.k }>;
type TileB = LdsTile<f32, { TILE.k }, { TILE.n }, { TILE.n }>;
const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);

/// Computes one element of C per thread, through LDS.
///
/// # Safety
/// The kernel was launched with the row's block and LDS.
#[inline(always)]
pub(super) unsafe fn run(product: Product<f32, f32>) {
    // SAFETY: the block is the row's, as the caller promises.
    let (x, y) = unsafe { arch::thread_2d::<{ ROW.block.x }, { ROW.block.y }>() };
    // SAFETY: no other thread of the workgroup has the same x and y.
    let thread = unsafe { Thread::<{ ROW.block.threads() }>::new(y.join(x)) };
    let mut sum = RegisterTile::<f32, 1, 1>::ZERO;
    if let Some((a, b)) = product.factors() {
        // SAFETY: the LDS has room for the tiles, by the assertion above and the caller's promise,
        // and nothing else uses it.
        let mut lds =
            unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        for k in (0..a.columns()).step_by(TILE.k) {
            let tiles = lds.fill(
                thread,
                |i, p| a.element_or_zero(i, k + p),
                |p, j| b.element_or_zero(k + p, j),
            );
            for p in Index::all() {
                let Operands { a, b } = tiles.operands();
                sum.add_outer_product([a.element(y, p)], [b.element(p, x)]);
            }
            lds = tiles.vacate();
        }
    }
    // SAFETY: no other thread of the workgroup has the same x and y.
    unsafe { product.store(y.get(), x.get(), sum) };
}
