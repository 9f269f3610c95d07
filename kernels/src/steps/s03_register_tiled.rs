//! Step 3, register tiling: each thread computes 4 × 4 elements, and uses 4 times every element that
//! it takes from LDS.
//!
//! ```text
//! C[i][j] ← α · Σₖ Σₚ A[i][k + p] · B[k + p][j] + β · C[i][j]      k = 0, 16, 32, …; p = 0 … 15
//!
//!   C's tile, 128 × 32        a wave's part, 64 × 16           a thread's, 4 × 4
//!   ┌────────┬────────┐       ┌──┬──┬──┬──┐
//!   │ wave 0 │ wave 1 │ 64    │ 0│ 1│ 2│ 3│ 4                      b₀ b₁ b₂ b₃
//!   ├────────┼────────┤       ├──┼──┼──┼──┤                     a₀
//!   │ wave 2 │ wave 3 │ 64    │ 4│ 5│ 6│ 7│ 4                   a₁   sums ←
//!   └────────┴────────┘       ├──┼──┼──┼──┤                     a₂     sums + a · b
//!       16       16           │ …lanes… 63│                     a₃
//! ```
//!
//! Thread t is lane l = t mod 64 of wave w = ⌊t / 64⌋. Its first row is 64 ⌊w / 2⌋ + 4 ⌊l / 4⌋, its
//! first column 16 (w mod 2) + 4 (l mod 4).
//!
//! **What it adds to step 2.** For each p a thread takes 4 + 4 elements from LDS and does 16 fused
//! multiply-adds: half an element each, where step 2 takes 2. From gfx90a on, these are 8 packed
//! `v_pk_fma_f32`. The tile is larger, too: A is read
//! from global memory ⌈n / 32⌉ times, B ⌈m / 128⌉ times.
//!
//! **LDS.** A's tile 128 × 16 with rows padded to 20 elements, B's 16 × 32: 12,288 bytes.
//! - B: a thread's 4 elements are consecutive, one `ds_read_b128`; a wave reads 16 elements, each
//!   for 16 lanes, without conflicts.
//! - A: a thread's 4 elements are a column. Those of four p are consecutive along the rows, and
//!   since 20 elements are a multiple of 16 bytes, the compiler reads them by one `ds_read_b128` for
//!   each row. Row 4r begins at bank 80 r mod 32, which is 0 or 16; without the padding it is 0
//!   for all r. So the padding halves the conflicts of 32 lanes from degree 8 to 4, and does not
//!   end them: that takes A transposed, in a later step.
//!
//! **Filling.** 256 threads take 16 rows of A or 8 of B in one pass. A's 16 columns are 64
//! consecutive bytes of global memory, B's 32 are 128.
//!
//! **Edges.** As in step 2.

use super::Product;
use crate::{
    arch,
    tile::{
        index::Index,
        lds::{LdsTile, Operands, Vacant},
        registers::RegisterTile,
    },
};
use ferrowave_shared::{BlockTile, catalogue::REGISTER_TILED_F32 as ROW};

const TILE: BlockTile = ROW.tile;
const THREADS: usize = ROW.block.threads();
/// Rows and columns per thread.
const PER_THREAD: usize = 4;
type TileA = LdsTile<f32, { TILE.m }, { TILE.k }, { TILE.k + 4 }>;
type TileB = LdsTile<f32, { TILE.k }, { TILE.n }, { TILE.n }>;
const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);

/// Computes 4 × 4 elements of C per thread.
///
/// # Safety
/// The kernel was launched with the row's block and LDS.
#[inline(always)]
pub(super) unsafe fn run(product: Product<f32, f32>) {
    // SAFETY: the block is the row's, as the caller promises.
    let thread = unsafe { arch::thread::<THREADS>() };
    let (wave, lane) = thread.wave_and_lane::<4>();
    let (wave_row, wave_column) = wave.split::<2, 2>();
    let (lane_row, lane_column) = lane.split::<16, 4>();
    let row: Index<32> = wave_row.join(lane_row);
    let column: Index<8> = wave_column.join(lane_column);

    let mut sums = RegisterTile::<f32, PER_THREAD, PER_THREAD>::ZERO;
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
            for p in Index::all() {
                let Operands { a, b } = tiles.operands();
                sums.add_outer_product(a.part_of_column(row, p), b.part_of_row(p, column));
            }
            lds = tiles.vacate();
        }
    }
    let (row, column) = (
        row.get() * PER_THREAD as u32,
        column.get() * PER_THREAD as u32,
    );
    // SAFETY: the map from threads to rows and columns of 4 × 4 elements is one to one.
    unsafe { product.store(row, column, sums) };
}
