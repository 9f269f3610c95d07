//! Step 9, MFMA fragment: C stays in the accumulators and is stored once.
//!
//! ```text
//! C[i][j] ← α · Σₖ Σₛ Σₚ A[i][k + 4s + p] · B[k + 4s + p][j] + β · C[i][j]
//!                                                 k = 0, 256, 512, …; s = 0 … 63; p = 0 … 3
//!
//!                  ┌ four registers a lane ──────────────────────────┐
//!  fill 0 ║ fetch 1 ┐     ║ fetch 2 ┐     ║ 64 steps → α, β, bias, operations → store
//!         ║ 64 steps      ║ 64 steps      ║
//!         ║         └─ write ║      └─ write
//! ```
//!
//! Tiles, waves and lanes are those of steps 7 and 8.
//!
//! **What it adds to step 8.** The matrix core adds to the registers that it left its last sums in, and need
//! not wait for memory in between: the loop has no global access but the fetch of the next tiles, whose
//! results are needed behind the 64 steps. Two words of LDS a lane are what an instruction of 32 cycles
//! needs; four waves take 16 cycles of LDS for them. A single wave a SIMD has registers for a whole tile, so
//! that the compiler reads far ahead.
//!
//! On MI100 this took 1.34 ms where step 8 took 1.46 (published, as there), 14 % of the matrix cores' peak. What
//! keeps it from more are the tile, of which each element is loaded from global memory for 32 multiply-adds
//! only, and that no other wave works while it writes the next tile: steps 11 to 15.
//!
//! **LDS.** As in step 7. **Edges.** As in step 7, where nothing is fetched ahead.

use super::{
    Product,
    s06_mfma_uncached::{Lane, Sums, THREADS, thread},
    s07_mfma_lds::{Factors, TileA, TileB},
    uncached::AccumulatorStorage,
};
use crate::{
    arch,
    tile::lds::{Operands, Vacant},
};
use ferrowave_shared::catalogue::MFMA_FRAGMENT_F32 as ROW;

const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);
const _: () = assert!(ROW.block.threads() == THREADS);

/// Computes 16 × 16 elements of C per wave, in registers.
///
/// # Safety
/// The kernel was launched with the row's block and LDS.
#[inline(always)]
pub(super) unsafe fn run(product: Product<f32, f32>) {
    // SAFETY: the block is the row's, as the caller promises.
    let thread = unsafe { thread() };
    let lane = Lane::of(thread);
    let mut sums = Sums::ZERO;
    if let Some(factors) = Factors::of(&product, thread) {
        // SAFETY: the LDS has room for the tiles, by the assertion above and the caller's promise,
        // and nothing else uses it.
        let mut lds =
            unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        let whole = factors.whole_tiles();
        if whole > 0 {
            // SAFETY: so many tiles are whole.
            let (share_a, share_b) = unsafe { factors.fetch_whole(0) };
            let mut tiles = lds.put(share_a, share_b);
            for next in 1..whole {
                // SAFETY: as above.
                let (next_a, next_b) = unsafe { factors.fetch_whole(next) };
                sums = lane.add_product(tiles.operands(), sums);
                tiles = tiles.vacate().put(next_a, next_b);
            }
            sums = lane.add_product(tiles.operands(), sums);
            lds = tiles.vacate();
        }
        factors.add_products(&lane, lds, whole, &mut sums);
    }
    // SAFETY: lanes hold different elements of a wave's tile, and waves have different tiles.
    unsafe { product.store(lane.row(), lane.column(), sums) };
}

impl AccumulatorStorage<Sums> for Sums {
    #[inline(always)]
    fn load(&self) -> Sums {
        *self
    }

    #[inline(always)]
    fn store(&mut self, sums: Sums) {
        *self = sums;
    }
}
