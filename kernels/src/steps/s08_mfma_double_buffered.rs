//! Step 8, double-buffered MFMA: the next tiles are fetched into registers while these are multiplied.
//!
//! ```text
//! for k = 0, 256, 512, …, s = 0 … 63:
//!    C[i][j] ← Σₚ A[i][k + 4s + p] · B[k + 4s + p][j] + C[i][j]                p = 0 … 3
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
//! **What it adds to step 7.** There the matrix cores stand still while a tile comes from global memory.
//! Here the loads of the next one are issued before the 64 steps, and their results written to LDS behind
//! them, between two barriers: LDS has no room for a second buffer, registers have. It takes 64 of them
//! a lane. The last tiles are multiplied behind the loop, so that no fetch is in vain and none needs
//! a condition. On MI100 this took 1.46 ms where step 7 took 3.03 (published, as there).
//!
//! C is still loaded and stored in each step, and its loads queue behind those of the tiles: the first
//! step waits for them. Step 9 has no such loads.
//!
//! **LDS.** As in step 7. **Edges.** As in step 7.

use super::{
    Product,
    s06_mfma_uncached::{Lane, Sums, THREADS, thread},
    s07_mfma_lds::{STEPS, TileA, TileB, fetch},
    uncached::Uncached,
};
use crate::{
    arch,
    tile::{
        index::Index,
        lds::{Operands, Vacant},
    },
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
    if let Some((a, b)) = product.factors() {
        // SAFETY: the LDS has room for the tiles, by the assertion above and the caller's promise,
        // and nothing else uses it.
        let lds = unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        let (share_a, share_b) = fetch(&a, &b, thread, 0);
        let mut tiles = lds.put(share_a, share_b);
        for k in (ROW.tile.k as u32..a.columns()).step_by(ROW.tile.k) {
            let (next_a, next_b) = fetch(&a, &b, thread, k);
            add_product(&lane, tiles.operands(), &mut c);
            tiles = tiles.vacate().put(next_a, next_b);
        }
        add_product(&lane, tiles.operands(), &mut c);
    }
    c.finish();
}

/// Adds the product of the tiles to the sums in C.
#[inline(always)]
fn add_product(lane: &Lane, tiles: &Operands<TileA, TileB>, c: &mut Uncached<'_, Sums>) {
    for step in Index::<STEPS>::all() {
        c.store(lane.multiply(tiles, step, c.load()));
    }
}
