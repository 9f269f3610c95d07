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
//! **What it adds to step 8.** The matrix core adds to the registers of its last sums and does not wait for memory in
//! between. The only global accesses in the loop are the fetches of the next tiles, whose results are needed after the
//! 64 steps. An instruction of 32 cycles needs two words of LDS per lane, for which four waves take 16 cycles of LDS.
//! With one wave per SIMD there are registers for a whole tile, so the compiler reads far ahead.
//!
//! On MI100 this step took 1.34 ms and step 8 took 1.46 ms (published, as in step 6): 14 % of the matrix cores' peak.
//! Two things limit it, which steps 11 to 15 improve: each element is loaded from global memory for only 32
//! multiply-adds, and no other wave works while a wave writes the next tile.
//!
//! **LDS.** As in step 7. **Edges.** As in step 7, without fetching ahead.

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
            // SAFETY: tile 0 is whole.
            let (share_a, share_b) = unsafe { factors.fetch_whole(0) };
            let mut tiles = lds.put(share_a, share_b);
            for next in 1..whole {
                // SAFETY: `next` is below the number of whole tiles.
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
