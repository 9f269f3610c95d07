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
//! only, and that nobody relieves the single wave while it writes the next tile: steps 11 to 15.
//!
//! **LDS.** As in step 7. **Edges.** As in step 7.

use super::{
    Product,
    s06_mfma_uncached::{Lane, Sums, THREADS, thread},
    s07_mfma_lds::{STEPS, TileA, TileB, fetch},
};
use crate::{
    arch,
    tile::{
        index::Index,
        lds::{Operands, Vacant},
    },
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
    if let Some((a, b)) = product.factors() {
        // SAFETY: the LDS has room for the tiles, by the assertion above and the caller's promise,
        // and nothing else uses it.
        let lds = unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        let (share_a, share_b) = fetch(&a, &b, thread, 0);
        let mut tiles = lds.put(share_a, share_b);
        for k in (ROW.tile.k as u32..a.columns()).step_by(ROW.tile.k) {
            let (next_a, next_b) = fetch(&a, &b, thread, k);
            sums = add_product(&lane, tiles.operands(), sums);
            tiles = tiles.vacate().put(next_a, next_b);
        }
        sums = add_product(&lane, tiles.operands(), sums);
    }
    // SAFETY: lanes hold different elements of a wave's tile, and waves have different tiles.
    unsafe { product.store(lane.row(), lane.column(), sums) };
}

/// Adds the product of the tiles.
#[inline(always)]
fn add_product(lane: &Lane, tiles: &Operands<TileA, TileB>, sums: Sums) -> Sums {
    // Quarters, since the compiler unrolls a loop over 16 steps, and not one over all.
    let [first, second, third, fourth] = [0, 1, 2, 3].map(Index::wrapping);
    let sums = add_quarter(lane, tiles, first, sums);
    let sums = add_quarter(lane, tiles, second, sums);
    let sums = add_quarter(lane, tiles, third, sums);
    add_quarter(lane, tiles, fourth, sums)
}

/// Adds the products of a quarter of the tiles' steps.
#[inline(always)]
fn add_quarter(
    lane: &Lane,
    tiles: &Operands<TileA, TileB>,
    quarter: Index<4>,
    mut sums: Sums,
) -> Sums {
    for step in Index::<{ STEPS / 4 }>::all() {
        sums = lane.multiply(tiles, quarter.join(step), sums);
    }
    sums
}
