//! Step 8, double-buffered MFMA: the next tiles are fetched into registers while the current ones are multiplied.
//!
//! ```text
//! for k = 0, 256, 512, …:
//!    C[i][j] ← Σₛ Σₚ A[i][k + 4s + p] · B[k + 4s + p][j] + C[i][j]         s = 0 … 63; p = 0 … 3
//!
//!  step 7:  fill 0 ║ 64 steps ║ fill 1 ║ 64 steps ║ fill 2 ║ 64 steps
//!
//!  step 8:  fill 0 ║ fetch 1 ┐     ║ fetch 2 ┐     ║ 64 steps
//!                  ║ 64 steps      ║ 64 steps      ║
//!                  ║         └─ write ║      └─ write  (the last tiles have no next ones)
//! ```
//!
//! Tiles, waves and lanes are those of step 7.
//!
//! **What it adds to step 7.** In step 7 the matrix cores are idle while a tile is loaded from global memory. Here the
//! loads of the next tiles are issued before the 64 steps, and written to LDS after them, between two barriers: LDS has
//! no room for a second buffer, but registers have. It takes 64 registers per lane. The last tiles are multiplied after
//! the loop, so that every fetch is used and none needs a condition. On MI100 this step took 1.46 ms and step 7 took
//! 3.03 ms (published, as in step 6).
//!
//! C is still loaded and stored once per tile, for the reasons given in step 7. It is loaded before the next tiles:
//! loads return in order, and the first step would otherwise wait for the tiles, too. Step 9 has no loads of C.
//!
//! **LDS.** As in step 7. **Edges.** As in step 7, without fetching ahead.

use super::{
    Product,
    s06_mfma_uncached::{Lane, Sums, THREADS, thread},
    s07_mfma_lds::{Factors, TileA, TileB},
    uncached::{AccumulatorStorage as _, Uncached},
};
use crate::{
    arch,
    tile::lds::{Operands, Vacant},
};
use ferrowave_shared::catalogue::MFMA_DOUBLE_BUFFERED_F32 as ROW;

const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);
const _: () = assert!(ROW.block.threads() == THREADS);

/// Computes 16 × 16 elements of C per wave, in C, and loads A and B while it multiplies.
///
/// # Safety
/// The kernel was launched with the row's block and LDS.
#[inline(always)]
pub(super) unsafe fn run(product: Product<f32, f32>) {
    // SAFETY: the block is the row's, as the caller promises.
    let thread = unsafe { thread() };
    let lane = Lane::of(thread);
    // SAFETY: lanes hold different elements of a wave's tile, and waves have different tiles.
    let mut c = unsafe { Uncached::new(&product, lane.row(), lane.column(), Sums::ZERO) };
    if let Some(factors) = Factors::of(&product, thread) {
        // SAFETY: the LDS has room for the tiles, by the assertion above and the caller's promise,
        // and nothing else uses it.
        let mut lds =
            unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        let mut whole = 0;
        if let Some(mut c) = c.whole() {
            whole = factors.whole_tiles();
            if whole > 0 {
                // SAFETY: tile 0 is whole.
                let (share_a, share_b) = unsafe { factors.fetch_whole(0) };
                let mut tiles = lds.put(share_a, share_b);
                for next in 1..whole {
                    // Before the next tiles, so that the first step does not wait for those.
                    let sums = c.load();
                    // SAFETY: `next` is below the number of whole tiles.
                    let (next_a, next_b) = unsafe { factors.fetch_whole(next) };
                    c.store(lane.add_product(tiles.operands(), sums));
                    tiles = tiles.vacate().put(next_a, next_b);
                }
                c.store(lane.add_product(tiles.operands(), c.load()));
                lds = tiles.vacate();
            }
        }
        factors.add_products(&lane, lds, whole, &mut c);
    }
    c.finish();
}
