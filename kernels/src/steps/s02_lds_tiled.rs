//! Step 2: tiles of A and B pass through LDS.

use super::Product;
use crate::{
    arch,
    tile::{
        index::{Index, Thread},
        lds::{LdsTile, Operands, Vacant},
        registers::RegisterTile,
    },
};
use ferrowave_shared::{BlockTile, catalogue::LDS_TILED_F32 as ROW};

const TILE: BlockTile = ROW.tile;
type TileA = LdsTile<f32, { TILE.m }, { TILE.k }, { TILE.k }>;
type TileB = LdsTile<f32, { TILE.k }, { TILE.n }, { TILE.n }>;
const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);

/// # Safety
/// Launched as the row says.
#[inline(always)]
pub(super) unsafe fn run(product: Product) {
    // SAFETY: the host launches the row's block.
    let (x, y) = unsafe { arch::thread_2d::<{ ROW.block.x }, { ROW.block.y }>() };
    // SAFETY: x and y are this thread's alone, and so is their combination.
    let thread = unsafe { Thread::<{ ROW.block.threads() }>::new(y.join(x)) };
    let mut sum = RegisterTile::ZERO;
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
                sum.add_outer_product([a.element(y, p)], [b.element(p, x)]);
            }
            lds = tiles.vacate();
        }
    }
    // SAFETY: the element is this thread's alone.
    unsafe { product.c.update(y.get(), x.get(), sum, product.scaling) };
}
