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
use crate::{
    arch::{self, Workgroup},
    tile::lds::Barrier as _,
};
use ferrowave_shared::workspace::{first_step, share_of_step, steps};

/// Computes the workgroup's share of the steps, one tile of C at a time.
///
/// # Safety
/// The kernel was launched with the block and LDS of the row that `C` is for.
#[inline(always)]
pub(super) unsafe fn run<C: Config>(product: Product<Element<C>, Output<C>>) {
    let (workgroups, k, tile_k) = (product.parts(), product.k(), product.kernel().tile.k as u32);
    let workgroup = arch::workgroup().x;
    let steps = steps(k, product.kernel().tile);
    let total = product.tiles() * steps;
    let mut step = first_step(total, workgroups, workgroup);
    let last = first_step(total, workgroups, workgroup + 1);
    while step < last {
        let tile = step / steps;
        let (tile_first, tile_end) = (tile * steps, (tile + 1) * steps);
        let end = last.min(tile_end);
        // Until all waves have read the sums of the previous tile from LDS.
        Workgroup.wait();
        // SAFETY: as the caller promises; all threads of the workgroup are here. Each workgroup that shares the
        // tile contributes one part, and slots are those of the workspace: the first slot of a workgroup is for
        // its first tile, the second for any other tile that it shares.
        unsafe {
            let mut gemm = BlockGemm::<C>::new(product.at_tile(tile));
            gemm.sum_up(
                (step - tile_first) * tile_k,
                (end - tile_first).saturating_mul(tile_k).min(k),
                #[inline(always)]
                |gemm, source, stages| weave(gemm, source, stages),
            );
            let first_part = share_of_step(total, workgroups, tile_first);
            let last_part = share_of_step(total, workgroups, tile_end - 1);
            let parts = last_part - first_part + 1;
            let slot = |part| {
                let first_tile = first_step(total, workgroups, part) / steps;
                2 * part + u32::from(first_tile != tile)
            };
            // As in step 16.
            let is_complete = parts == 1
                || gemm.contribute(tile, parts, slot(workgroup), |part| slot(first_part + part));
            if is_complete {
                gemm.finish();
            }
        }
        step = end;
    }
}
