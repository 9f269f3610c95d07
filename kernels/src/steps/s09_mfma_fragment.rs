//! Step 9, MFMA fragment: the matrix cores multiply. Each wave owns a 16 × 16 tile of C, which stays in
//! registers until it is stored, once.
//!
//! ```text
//! C[i][j] ← α · Σₖ Σₛ Σₚ A[i][k + 4s + p] · B[k + 4s + p][j] + β · C[i][j]
//!                                                 k = 0, 32, 64, …; s = 0 … 7; p = 0 … 3
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
//! Which lane holds which element is [`crate::mfma`]'s business; this step asks it.
//!
//! **What it adds to the vector steps.** One instruction does 16 · 16 · 4 = 1024 multiply-adds with
//! two registers of operands a lane, where `v_fma_f32` does 64. The matrix core takes 32 cycles for
//! it; two LDS reads feed it, each element of which is used 16 times within the instruction.
//!
//! **LDS.** A's tile 32 × 32 with rows padded to 34 elements, B's with rows padded to 48: 10,496
//! bytes. 32 lanes read at a time, and need 32 banks. Of A they read 16 rows in 2 columns: rows 34
//! apart begin at the 16 even banks, so that the two columns fill all 32. Of B they read 16 columns
//! in 2 rows: 48 apart, the second row begins at the bank where the first one's end.
//!
//! **Edges.** As in step 2. All 64 lanes must reach the instruction, which multiplies what inactive
//! lanes hold, too; zeros outside the matrices make that harmless.

use super::Product;
use crate::{
    arch,
    mfma::F32x16x16x4,
    tile::{
        index::Index,
        lds::{LdsTile, Operands, Vacant},
        registers::RegisterTile,
    },
};
use ferrowave_shared::{BlockTile, catalogue::MFMA_FRAGMENT_F32 as ROW};

const TILE: BlockTile = ROW.tile;
const THREADS: usize = ROW.block.threads();
type TileA = LdsTile<f32, { TILE.m }, { TILE.k }, { TILE.k + 2 }>;
type TileB = LdsTile<f32, { TILE.k }, { TILE.n }, { TILE.n + 16 }>;
const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);

/// Computes 16 × 16 elements of C per wave.
///
/// # Safety
/// The kernel was launched with the row's block and LDS.
#[inline(always)]
pub(super) unsafe fn run(product: Product<f32, f32>) {
    // SAFETY: the block is the row's, as the caller promises.
    let thread = unsafe { arch::thread::<THREADS>() };
    let (wave, lane) = thread.wave_and_lane::<4>();
    let (wave_row, wave_column) = wave.split::<2, 2>();
    let (a_row, a_k) = F32x16x16x4::a(lane);
    let (b_k, b_column) = F32x16x16x4::b(lane);
    let (d_rows, d_column) = F32x16x16x4::d(lane);

    let mut sums = [0.0; 4];
    if let Some((a, b)) = product.factors() {
        // SAFETY: the LDS has room for the tiles, by the assertion above and the caller's promise,
        // and nothing else uses it.
        let mut lds =
            unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        for k in (0..a.columns()).step_by(TILE.k) {
            let tiles = lds.fill(
                thread,
                |i, p| a.element_or_zero(i, k + p),
                |p, j| b.element_or_zero(k + p, j),
            );
            for step in Index::<{ TILE.k / F32x16x16x4::K }>::all() {
                let Operands { a, b } = tiles.operands();
                sums = arch::mfma_f32_16x16x4(
                    a.element(wave_row.join(a_row), step.join(a_k)),
                    b.element(step.join(b_k), wave_column.join(b_column)),
                    sums,
                );
            }
            lds = tiles.vacate();
        }
    }
    let row: Index<8> = wave_row.join(d_rows);
    let column: Index<{ TILE.n }> = wave_column.join(d_column);
    let sums = RegisterTile(sums.map(|sum| [sum]));
    // SAFETY: lanes hold different elements of a wave's tile, and waves have different tiles.
    unsafe { product.store(row.get() * 4, column.get(), sums) };
}
