//! Step 6: the matrix cores multiply, and the sums stay in their accumulators.

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
use ferrowave_shared::{BlockTile, catalogue::MFMA_F32 as ROW};

const TILE: BlockTile = ROW.tile;
const THREADS: usize = ROW.block.threads();
type TileA = LdsTile<f32, { TILE.m }, { TILE.k }, { TILE.k + 2 }>;
type TileB = LdsTile<f32, { TILE.k }, { TILE.n }, { TILE.n + 16 }>;
const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);

/// # Safety
/// Launched as the row says.
#[inline(always)]
pub(super) unsafe fn run(product: Product) {
    // SAFETY: the host launches the row's block.
    let thread = unsafe { arch::thread::<THREADS>() };
    let (wave, lane) = thread.wave_and_lane::<4>();
    let (wave_row, wave_column) = wave.split::<2, 2>();
    let (a_row, a_k) = F32x16x16x4::a(lane);
    let (b_k, b_column) = F32x16x16x4::b(lane);
    let (d_rows, d_column) = F32x16x16x4::d(lane);

    let mut sums = [0.0; 4];
    if let Some((a, b)) = product.factors {
        // SAFETY: the host allocates the row's LDS, and this is the only place that uses it.
        let mut lds = unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
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
    // SAFETY: the elements are this thread's alone.
    unsafe { product.c.update(row.get() * 4, column.get(), sums, product.scaling) };
}
