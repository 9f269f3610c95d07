//! Step 7, MFMA with LDS: tiles of A and B pass through LDS on their way to the matrix cores.
//!
//! ```text
//! for k = 0, 256, 512, …, s = 0 … 63:
//!    C[i][j] ← Σₚ A[i][k + 4s + p] · B[k + 4s + p][j] + C[i][j]                p = 0 … 3
//!
//!                                  B  ┌────┐
//!                                     │    │ ↓ k        all waves ─ barrier
//!                                     │ LDS│ 256 × 32   fill       32 elements of each tile a thread
//!              → k                    │    │            all waves ─ barrier
//!      A ┌────┬───────────────┐       └────┘            64 steps   two words of LDS a lane,
//!        │    │ LDS  32 × 256 │       ┌────┐                       C loaded and stored
//!        └────┴───────────────┘       │ C  │
//!                                     └────┘ 32 × 32, four waves as in step 6
//! ```
//!
//! **What it adds to step 6.** Two waves use every element of A and of B that one thread has loaded, each in 16
//! multiplications; 16,384 elements are on their way at a time instead of 2 a lane, and a wave waits for
//! them once in 64 steps. C is still loaded and stored in each step. On MI100 this took 3.03 ms where
//! step 6 took 4.34 (published, as there).
//!
//! **LDS.** A's tile 32 × 256 and B's 256 × 32, 65,536 bytes: all that most GPUs have, so that nothing can be
//! padded, and a compute unit has one workgroup. 32 lanes that read at a time need 16 rows of A in two
//! columns, and all rows begin in the same bank; of B 16 columns in two rows, which begin in the same bank,
//! too. So columns exchange their places by their rows, [`SixteenRows`] and [`FourRows`]: nothing conflicts,
//! neither on 32 nor on 64 banks, where it would be 16 times and twice. All columns exchanged with each
//! other are within 64, so that a lane has 16 addresses for the 64 steps of A, and one for B.
//!
//! **Edges.** Outside the matrices the tiles hold zeros. A tile of A or of B that does not overhang is
//! loaded without asking for each element.

use super::{
    Product,
    s06_mfma_uncached::{Lane, Sums, THREADS, multiply, thread},
    uncached::Uncached,
};
use crate::{
    arch,
    mfma::F32x16x16x4,
    tile::{
        exchange::{FourRows, SixteenRows},
        global::Input,
        index::{Index, Thread},
        lds::{Elements, LdsTile, Operands, Vacant},
    },
};
use ferrowave_shared::{BlockTile, catalogue::MFMA_LDS_F32 as ROW};

const TILE: BlockTile = ROW.tile;
pub(super) type TileA = LdsTile<f32, { TILE.m }, { TILE.k }, { TILE.k }, SixteenRows>;
pub(super) type TileB = LdsTile<f32, { TILE.k }, { TILE.n }, { TILE.n }, FourRows>;
const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);
const _: () = assert!(ROW.block.threads() == THREADS);

/// Steps of a tile.
pub(super) const STEPS: usize = TILE.k / F32x16x16x4::K;

/// A thread's shares of both tiles.
pub(super) type Shares = (
    Elements<TileA, f32, THREADS, { TILE.m * TILE.k / THREADS }>,
    Elements<TileB, f32, THREADS, { TILE.k * TILE.n / THREADS }>,
);

/// Computes 16 × 16 elements of C per wave, in C, with A and B in LDS.
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
        let mut lds =
            unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        for k in (0..a.columns()).step_by(TILE.k) {
            let (share_a, share_b) = fetch(&a, &b, thread, k);
            let tiles = lds.put(share_a, share_b);
            for step in Index::<STEPS>::all() {
                c.store(lane.multiply(tiles.operands(), step, c.load()));
            }
            lds = tiles.vacate();
        }
    }
    c.finish();
}

/// Loads a thread's shares of the tiles from `k` on.
#[inline(always)]
pub(super) fn fetch(a: &Input<f32>, b: &Input<f32>, thread: Thread<THREADS>, k: u32) -> Shares {
    (
        Elements::fetch(thread, a, 0, k),
        Elements::fetch(thread, b, k, 0),
    )
}

impl Lane {
    /// One step of the tiles.
    #[inline(always)]
    pub(super) fn multiply(
        &self,
        Operands { a, b }: &Operands<TileA, TileB>,
        step: Index<STEPS>,
        sums: Sums,
    ) -> Sums {
        let a = a.element(self.a_row, step.join(self.a_k));
        let b = b.element(step.join(self.b_k), self.b_column);
        multiply(a, b, sums)
    }
}
