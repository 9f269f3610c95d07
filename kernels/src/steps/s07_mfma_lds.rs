//! Step 7, MFMA with LDS: tiles of A and B pass through LDS to the matrix cores.
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
//! multiplications. 16,384 elements are in flight at a time instead of 2 per lane, and a wave waits for memory once in
//! 64 steps. On MI100 this step took 3.03 ms and step 6 took 4.34 ms (published, as in step 6).
//!
//! **C** is loaded and stored once per tile. The tutorial's source does so in each of the 64 steps, as in step 6. But a
//! wave that is alone on its SIMD has nothing to do while it waits for C, so that loading and storing C in each step
//! makes step 7 slower than step 6 in the timing model of MI100 (`docs/timing.md`). It is not known which of the two
//! was measured. In the published times, step 9, where C stays in registers, is 8 % faster than step 8. In the model it
//! is 11 % faster than step 8 as it is here, and would be more than two thirds faster with C accessed in each step.
//!
//! **LDS.** A's tile is 32 × 256 and B's 256 × 32: 65,536 bytes, which is all that most GPUs have. So there is no room
//! for padding, and a compute unit holds one workgroup. The 32 lanes that read at the same time need 16 rows of A in
//! two columns, and all rows begin in the same bank. Of B they need 16 columns in two rows, which also begin in the
//! same bank. So columns are swizzled by their rows, [`SixteenRows`] and [`FourRows`], and there are no bank conflicts
//! on 32 or on 64 banks; unswizzled, reads would have conflicts of degree 16 and 2. A swizzle stays within 64 columns,
//! so a lane has 16 addresses for the 64 steps of A, and one for B.
//!
//! **Edges.** Outside the matrices the tiles contain zeros. If C has the workgroup's whole tile, the tiles of A and B
//! up to the end of k are loaded without a check for each element, with scalar addresses and 32-bit offsets. Other
//! tiles check each element; steps 8 and 9 handle these as here, one after the other.

use super::{
    Product,
    s06_mfma_uncached::{Lane, Sums, THREADS, multiply, thread},
    uncached::{AccumulatorStorage, Uncached},
};
use crate::{
    arch,
    matrix::F32x16x16x4,
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
const STEPS: usize = TILE.k / F32x16x16x4::K_GROUPS;

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
                // SAFETY: `tile` is below the number of whole tiles.
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

/// A and B from the workgroup's tile on, as tiles along k. Each thread fetches its shares of them.
pub(super) struct Factors {
    a: Input<f32>,
    b: Input<f32>,
    thread: Thread<THREADS>,
}

impl Factors {
    /// The factors of a workgroup's product; `None` if k = 0. Uniform.
    #[inline(always)]
    pub(super) fn of(product: &Product<f32, f32>, thread: Thread<THREADS>) -> Option<Self> {
        let (a, b) = product.factors()?;
        Some(Self { a, b, thread })
    }

    /// How many tiles can be loaded without a check for each element: all that are whole along k, or none if
    /// those of A or B overhang. Uniform.
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

    /// Adds the products of the tiles from `tile` on, one after the other. They may overhang.
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
            // The lanes outside the matrix take up to two scalar registers per element until they are zeroed.
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
        // In quarters, since the compiler unrolls a loop over 16 steps, but not one over 64.
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
