//! Step 17, stream-K: the steps of all tiles in one sequence, which is divided into shares of equal length, one
//! for each workgroup.
//!
//! ```text
//!   tiles   │    0    │    1    │    2    │    3    │    4    │     5 tiles of 8 steps of k
//!   steps   ├─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─┤
//!   w0      ├────────────┤                                      on 4 compute units: 10 steps each,
//!   w1                   ├────────────┤                         where whole tiles would take 16
//!   w2                                ├────────────┤
//!   w3                                             ├────────────┤
//! ```
//!
//! **When to use it.** If the number of tiles is just above a multiple of the workgroups that the GPU runs at
//! once, most of the GPU is idle in the last round of workgroups. Here there are as many workgroups as run at
//! once, and all have the same number of steps, to within one. A workgroup begins in the middle of a tile,
//! computes whole tiles without sharing them, and ends in the middle of another. So it needs at most two slots of
//! the workspace, regardless of the number of tiles.
//!
//! **Whole tiles first.** Only the tiles of the last round are divided ([`whole_tiles`]). Until then, workgroups compute
//! whole tiles, and those of neighbouring tiles are at the same k, so that they share what they load.
//!
//! **XCDs.** Each has its own L2. Its workgroups have consecutive numbers, and so tiles that share rows of A and columns
//! of B.
//!
//! **Deterministic.** The workgroup that finishes a tile last adds the tile's parts in the order of k; see
//! [`BlockGemm::contribute`]. No workgroup waits for another, so they need not run at the same time.
//!
//! **Registers.** In the loop over tiles, more scalars are live than there are SGPRs, and the compiler spills
//! about 50 to lanes of a VGPR. None is restored within the loop along k.
//!
//! **LDS.** As in step 16.

use super::{
    Product,
    block_gemm::{BlockGemm, Config, Element, Output},
    s15_mfma_interleaved::weave,
};
use crate::{arch::Workgroup, tile::lds::Barrier as _};
use ferrowave_shared::workspace::{first_step, share_of_step, steps, whole_tiles};

/// Computes the workgroup's share of the steps, one tile of C at a time.
///
/// # Safety
/// The kernel was launched with the block and LDS of the row that `C` is for.
#[inline(always)]
pub(super) unsafe fn run<C: Config>(product: Product<Element<C>, Output<C>>) {
    let (workgroups, k, tile_k) = (product.parts(), product.k(), product.kernel().tile.k as u32);
    let share = product.number(workgroups);
    let steps = steps(k, product.kernel().tile);
    let whole = whole_tiles(product.tiles(), workgroups);
    // The steps of the tiles that are divided.
    let total = (product.tiles() - whole) * steps;
    let mut step = first_step(total, workgroups, share);
    let last = first_step(total, workgroups, share + 1);
    let mut next = share;
    while next < whole || step < last {
        let (tile, first, end) = if next < whole {
            (next, 0, steps)
        } else {
            let divided = step / steps;
            let tile_first = divided * steps;
            let end = (last - tile_first).min(steps);
            (whole + divided, step - tile_first, end)
        };
        // Until all waves have read the sums of the previous tile from LDS.
        Workgroup.wait();
        // SAFETY: as the caller promises; all threads of the workgroup are here. Each workgroup that shares the
        // tile contributes one part, and slots are those of the workspace: the first slot of a workgroup is for
        // the first tile of its share, the second for any other tile that it shares.
        unsafe {
            let mut gemm = BlockGemm::<C>::new(product.at_tile(tile));
            gemm.sum_up::<1>(
                first * tile_k,
                end.saturating_mul(tile_k).min(k),
                #[inline(always)]
                |gemm, source, stages| weave(gemm, source, stages),
            );
            let contribute = |gemm: &mut BlockGemm<C>| {
                let divided = tile - whole;
                let first_part = share_of_step(total, workgroups, divided * steps);
                let last_part = share_of_step(total, workgroups, divided * steps + steps - 1);
                let slot = |part| {
                    let first_tile = first_step(total, workgroups, part) / steps;
                    2 * part + u32::from(first_tile != divided)
                };
                let parts = last_part - first_part + 1;
                gemm.contribute(tile, parts, slot(share), |part| slot(first_part + part))
            };
            // Only one workgroup has all steps of the tile, or takes its last ticket.
            if end - first == steps || contribute(&mut gemm) {
                gemm.finish();
            }
        }
        if next < whole {
            next += workgroups;
        } else {
            step += end - first;
        }
    }
}
