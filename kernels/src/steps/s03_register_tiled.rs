//! Step 3: each thread multiplies a small tile that it holds in registers.

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

/// # Safety
/// Launched as the row says.
#[inline(always)]
pub(super) unsafe fn run(product: Product) {
    // SAFETY: the host launches the row's block.
    let thread = unsafe { arch::thread::<THREADS>() };
    let (wave, lane) = thread.wave_and_lane::<4>();
    let (wave_row, wave_column) = wave.split::<2, 2>();
    let (lane_row, lane_column) = lane.split::<16, 4>();
    let row: Index<32> = wave_row.join(lane_row);
    let column: Index<8> = wave_column.join(lane_column);

    let mut sums = RegisterTile::<f32, PER_THREAD, PER_THREAD>::ZERO;
    if let Some((a, b)) = product.factors {
        // SAFETY: the host allocates the row's LDS, and this is the only place that uses it.
        let mut lds = unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
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
    let (row, column) = (row.get() * PER_THREAD as u32, column.get() * PER_THREAD as u32);
    // SAFETY: the elements are this thread's alone.
    unsafe { product.c.update(row, column, sums, product.scaling) };
}
