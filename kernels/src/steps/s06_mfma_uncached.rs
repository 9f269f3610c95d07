//! Step 6, uncached MFMA: the matrix cores multiply, and A, B and C stay in global memory.
//!
//! ```text
//! for k = 0, 4, 8, …:   C[i][j] ← Σₚ A[i][k + p] · B[k + p][j] + C[i][j]      p = 0 … 3
//! at the end:           C[i][j] ← α · C[i][j] + β · old C[i][j]
//!
//!   C's tile, 32 × 32         one v_mfma_f32_16x16x4_f32 of a wave: 64 lanes at once
//!   ┌────────┬────────┐                      B: 4 × 16
//!   │ wave 0 │ wave 1 │ 16                   lane 16p + j
//!   ├────────┼────────┤
//!   │ wave 2 │ wave 3 │ 16     A: 16 × 4      D: 16 × 16
//!   └────────┴────────┘        lane 16p + i   lane 16⌊i/4⌋ + j, register i mod 4
//!       16       16
//! ```
//!
//! A workgroup is (128, 2): thread (x, y) is in wave 2y + ⌊x / 64⌋. M = 2048, N = 1024 makes a grid of
//! (32, 64). [`crate::matrix`] has the map of lanes to elements.
//!
//! **What it adds to the vector steps.** One instruction does 16 · 16 · 4 = 1024 multiply-adds with
//! two operand registers per lane, where `v_fma_f32` does 64. The matrix core takes 32 cycles for it; the vector
//! unit takes 64 cycles (32 with packed multiply-adds, from gfx90a on).
//!
//! **What is still slow.** For each instruction a wave loads 2 · 64 elements of A and B, loads and stores 256
//! elements of C, and waits for all of that. Steps 7 to 9 remove these waits one by one. On MI100, with M = 2048,
//! N = 1024, K = 2048, this step ran at 4 % of the matrix cores' peak (published by the tutorial that this sequence
//! of steps follows, not measured here).
//!
//! **α, β.** C holds the unscaled sums between the steps of k, and a lane keeps its four old elements in
//! registers: see [`super::uncached`].
//!
//! **Edges.** Elements outside A and B are zero. All 64 lanes must reach the instruction, which also multiplies
//! what inactive lanes hold. Elements outside C are neither loaded nor stored. If C has the whole tile, a loop
//! without these checks is used: the addresses of C's elements are computed before it, and those of A and B advance
//! by a constant in each step. The end of k, and tiles whose strides are so long that they span 4 GiB, take the
//! other loop.
//!
//! LDS: none.

use super::{
    Product,
    uncached::{AccumulatorStorage as _, Uncached},
};
use crate::{
    arch,
    matrix::F32x16x16x4,
    tile::{
        index::{Index, Thread},
        registers::RegisterTile,
    },
};
use ferrowave_shared::{BlockTile, catalogue::MFMA_UNCACHED_F32 as ROW};

const TILE: BlockTile = ROW.tile;
pub(super) const THREADS: usize = ROW.block.threads();
const _: () = assert!(
    TILE.k == F32x16x16x4::K_GROUPS && TILE.m == 32 && TILE.n == 32,
    "a step is one instruction of 2 × 2 waves"
);

/// Computes 16 × 16 elements of C per wave, in C.
///
/// # Safety
/// The kernel was launched with the row's block.
#[inline(always)]
pub(super) unsafe fn run(product: Product<f32, f32>) {
    // SAFETY: the block is the row's, as the caller promises.
    let lane = Lane::of(unsafe { thread() });
    // SAFETY: lanes hold different elements of a wave's tile, and waves have different tiles.
    let mut c = unsafe { Uncached::new(&product, lane.row(), lane.column(), Sums::ZERO) };
    if let Some((a, b)) = product.factors() {
        let mut k = 0;
        // The same in all lanes.
        if a.is_near(TILE.m as u32, TILE.k as u32)
            && b.is_near(TILE.k as u32, TILE.n as u32)
            && let Some(mut c) = c.whole()
        {
            let end = a.columns() / TILE.k as u32 * TILE.k as u32;
            while k < end {
                // SAFETY: A has the rows and B the columns of the tile, since C has it, and both have these k.
                let (a, b) = unsafe {
                    (
                        a.part(0, k).near(lane.a_row.get(), lane.a_k.get()),
                        b.part(k, 0).near(lane.b_k.get(), lane.b_column.get()),
                    )
                };
                c.store(multiply(a, b, c.load()));
                k += TILE.k as u32;
            }
        }
        for k in (k..a.columns()).step_by(TILE.k) {
            let a = a.element_or_zero(lane.a_row.get(), k + lane.a_k.get());
            let b = b.element_or_zero(k + lane.b_k.get(), lane.b_column.get());
            c.store(multiply(a, b, c.load()));
        }
    }
    c.finish();
}

/// The calling thread, in a workgroup of steps 6 to 9.
///
/// # Safety
/// The kernel was launched with the row's block.
#[inline(always)]
pub(super) unsafe fn thread() -> Thread<THREADS> {
    // SAFETY: the block is the row's, as the caller promises, and no other thread has the same x and y.
    unsafe {
        let (x, y) = arch::thread_2d::<{ ROW.block.x }, { ROW.block.y }>();
        Thread::new(y.join(x))
    }
}

/// A lane's sums: four elements of a column of C.
pub(super) type Sums = RegisterTile<f32, 4, 1>;

/// One matrix instruction.
#[inline(always)]
pub(super) fn multiply(a: f32, b: f32, sums: Sums) -> Sums {
    let sums = arch::mfma::f32_16x16x4_f32(a, b, sums.0.map(|[sum]| sum));
    RegisterTile(sums.map(|sum| [sum]))
}

/// The elements of the workgroup's tiles that a lane holds in each step of k.
pub(super) struct Lane {
    pub(super) a_row: Index<{ TILE.m }>,
    pub(super) a_k: Index<{ F32x16x16x4::K_GROUPS }>,
    pub(super) b_k: Index<{ F32x16x16x4::K_GROUPS }>,
    pub(super) b_column: Index<{ TILE.n }>,
    /// Rows of C, in groups of four.
    rows: Index<{ TILE.m / 4 }>,
    column: Index<{ TILE.n }>,
}

impl Lane {
    /// The calling lane.
    #[inline(always)]
    pub(super) fn of(thread: Thread<THREADS>) -> Self {
        let (wave, lane) = thread.wave_and_lane::<4>();
        let (wave_row, wave_column) = wave.split::<2, 2>();
        let (a_row, a_k) = F32x16x16x4::a(lane);
        let (b_k, b_column) = F32x16x16x4::b(lane);
        let (d_rows, d_column) = F32x16x16x4::d(lane);
        Self {
            a_row: wave_row.join(a_row),
            a_k,
            b_k,
            b_column: wave_column.join(b_column),
            rows: wave_row.join(d_rows),
            column: wave_column.join(d_column),
        }
    }

    /// The row of the lane's first sum.
    #[inline(always)]
    pub(super) fn row(&self) -> u32 {
        4 * self.rows.get()
    }

    /// The column of the lane's sums.
    #[inline(always)]
    pub(super) fn column(&self) -> u32 {
        self.column.get()
    }
}
