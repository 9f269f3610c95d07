//! Step 7, MFMA with LDS: tiles of A and B pass through LDS on their way to the matrix cores.
//!
//! ```text
//! for k = 0, 256, 512, …:
//!    C[i][j] ← Σₛ Σₚ A[i][k + 4s + p] · B[k + 4s + p][j] + C[i][j]         s = 0 … 63; p = 0 … 3
//!
//!                                  B  ┌────┐           C loaded
//!                                     │    │ ↓ k       fill       32 elements of each tile a thread
//!                                     │ LDS│ 256 × 32  all waves ─ barrier
//!              → k                    │    │           64 steps   two words of LDS a lane
//!      A ┌────┬───────────────┐       └────┘           C stored
//!        │    │ LDS  32 × 256 │       ┌────┐           all waves ─ barrier
//!        └────┴───────────────┘       │ C  │
//!                                     └────┘ 32 × 32, four waves as in step 6
//! ```
//!
//! **What it adds to step 6.** Two waves use every element of A and of B that one thread has loaded, each in 16
//! multiplications; 16,384 elements are on their way at a time instead of 2 a lane, and a wave waits for
//! memory once in 64 steps. On MI100 this took 3.03 ms where step 6 took 4.34 (published, as there).
//!
//! **C** goes through memory once a tile, as A and B do. In the tutorial's source it does so in each of the 64 steps, as
//! in step 6. A wave alone on its SIMD has nothing to do while C is on its way, so that loading and storing C in each
//! step makes step 7 slower than step 6 in the timing model of MI100 (`docs/timing.md`). Which of both was measured is
//! not known. In the published times step 9, where C stays in registers, gains 8 % on step 8; here it gains 11 % by the
//! model, and from C in each step it would gain more than two thirds.
//!
//! **LDS.** A's tile 32 × 256 and B's 256 × 32, 65,536 bytes: all that most GPUs have, so that nothing can be
//! padded, and a compute unit has one workgroup. 32 lanes that read at a time need 16 rows of A in two
//! columns, and all rows begin in the same bank; of B 16 columns in two rows, which begin in the same bank,
//! too. So columns are swizzled by their rows, [`SixteenRows`] and [`FourRows`]: nothing conflicts, on 32 or on 64
//! banks; unswizzled, reads would have conflicts of degree 16 and 2. A swizzle stays within 64 columns, so that a lane has 16 addresses for the 64 steps of A, and one for B.
//!
//! **Edges.** Outside the matrices the tiles hold zeros. Where C has the workgroup's whole tile, those of A and B up to
//! the end of k are loaded without asking for each element, by scalar addresses and distances of 32 bits from
//! them. Others ask for each; steps 8 and 9 do the same with them, one after the other.

use super::{
    Product,
    s06_mfma_uncached::{Lane, Sums, THREADS, multiply, thread},
    uncached::{AccumulatorStorage, Uncached},
};
use crate::{
    arch,
    mfma::F32x16x16x4,
    tile::{
        global::Input,
        index::{Index, Thread},
        lds::{Elements, LdsTile, Operands, Vacant},
        swizzle::{FourRows, SixteenRows},
    },
};
use ferrowave_shared::{BlockTile, catalogue::MFMA_LDS_F32 as ROW};

const TILE: BlockTile = ROW.tile;
pub(super) type TileA = LdsTile<f32, { TILE.m }, { TILE.k }, { TILE.k }, SixteenRows>;
pub(super) type TileB = LdsTile<f32, { TILE.k }, { TILE.n }, { TILE.n }, FourRows>;
const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);
const _: () = assert!(ROW.block.threads() == THREADS);

/// Steps of a tile.
const STEPS: usize = TILE.k / F32x16x16x4::GROUPS;

/// A thread's share of A's tile.
type ShareA = Elements<TileA, f32, THREADS, { TILE.m * TILE.k / THREADS }>;
/// A thread's share of B's tile.
type ShareB = Elements<TileB, f32, THREADS, { TILE.k * TILE.n / THREADS }>;

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
    if let Some(factors) = Factors::of(&product, thread) {
        // SAFETY: the LDS has room for the tiles, by the assertion above and the caller's promise,
        // and nothing else uses it.
        let mut lds =
            unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        let mut whole = 0;
        if let Some(mut c) = c.whole() {
            whole = factors.whole_tiles();
            for tile in 0..whole {
                let sums = c.load();
                // SAFETY: so many tiles are whole.
                let (share_a, share_b) = unsafe { factors.fetch_whole(tile) };
                let tiles = lds.put(share_a, share_b);
                c.store(lane.add_product(tiles.operands(), sums));
                lds = tiles.vacate();
            }
        }
        factors.add_products(&lane, lds, whole, &mut c);
    }
    c.finish();
}

/// A and B from the workgroup's tile on, as tiles along k of which each thread fetches its shares.
pub(super) struct Factors {
    a: Input<f32>,
    b: Input<f32>,
    thread: Thread<THREADS>,
}

impl Factors {
    /// Those of a workgroup's product; `None` if k = 0: the same in all lanes.
    #[inline(always)]
    pub(super) fn of(product: &Product<f32, f32>, thread: Thread<THREADS>) -> Option<Self> {
        let (a, b) = product.factors()?;
        Some(Self { a, b, thread })
    }

    /// How many tiles can be loaded without asking for each element: all up to where k ends within one, or
    /// none, if A's or B's overhang. The same in all lanes.
    #[inline(always)]
    pub(super) fn whole_tiles(&self) -> u32 {
        let [m, n, k] = [TILE.m, TILE.n, TILE.k].map(|extent| extent as u32);
        let near = self.a.is_near(m, k) && self.b.is_near(k, n);
        if near && self.a.rows() >= m && self.b.columns() >= n {
            self.a.columns() / k
        } else {
            0
        }
    }

    /// Loads a thread's shares of two tiles.
    ///
    /// # Safety
    /// `tile` is below [`whole_tiles`](Self::whole_tiles).
    #[inline(always)]
    pub(super) unsafe fn fetch_whole(&self, tile: u32) -> (ShareA, ShareB) {
        let k = tile * TILE.k as u32;
        // SAFETY: the tiles are whole and near, as the caller promises.
        unsafe {
            (
                ShareA::fetch_whole(self.thread, &self.a, 0, k),
                ShareB::fetch_whole(self.thread, &self.b, k, 0),
            )
        }
    }

    /// Adds the products of the tiles from `tile` on, which may overhang, one after the other.
    #[inline(always)]
    pub(super) fn add_products(
        &self,
        lane: &Lane,
        mut lds: Vacant<TileA, TileB, arch::Workgroup>,
        tile: u32,
        sums: &mut impl AccumulatorStorage<Sums>,
    ) {
        for k in (tile * TILE.k as u32..self.a.columns()).step_by(TILE.k) {
            let share_a = ShareA::fetch(self.thread, &self.a, 0, k);
            // Which lanes are outside is a scalar register or two for each element until they are zeroed.
            arch::sched_barrier();
            let share_b = ShareB::fetch(self.thread, &self.b, k, 0);
            let tiles = lds.put(share_a, share_b);
            sums.store(lane.add_product(tiles.operands(), sums.load()));
            lds = tiles.vacate();
        }
    }
}

impl Lane {
    /// Adds the product of the tiles.
    #[inline(always)]
    pub(super) fn add_product(&self, tiles: &Operands<TileA, TileB>, sums: Sums) -> Sums {
        // Quarters, since the compiler unrolls a loop over 16 steps, and not one over all.
        let [first, second, third, fourth] = [0, 1, 2, 3].map(Index::wrapping);
        let sums = self.add_quarter(tiles, first, sums);
        let sums = self.add_quarter(tiles, second, sums);
        let sums = self.add_quarter(tiles, third, sums);
        self.add_quarter(tiles, fourth, sums)
    }

    /// Adds the products of a quarter of the tiles' steps.
    #[inline(always)]
    fn add_quarter(
        &self,
        tiles: &Operands<TileA, TileB>,
        quarter: Index<4>,
        mut sums: Sums,
    ) -> Sums {
        for step in Index::<{ STEPS / 4 }>::all() {
            sums = self.multiply(tiles, quarter.join(step), sums);
        }
        sums
    }

    /// One step of the tiles.
    #[inline(always)]
    fn multiply(
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
