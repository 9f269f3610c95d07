//! Step 4, vectorized: all accesses take 128 bits; A is transposed on its way into LDS.
//!
//! ```text
//! C[i][j] ← α · Σₖ Σₚ A[i][k + p] · B[k + p][j] + β · C[i][j]      k = 0, 8, 16, …; p = 0 … 7
//!
//!  C's tile, 128 × 128       a wave's part, 64 × 64         a thread's, 8 × 8, in four blocks
//!  ┌────────┬────────┐       ┌────────────┬────────────┐             b₀…b₃    b₄…b₇
//!  │ wave 0 │ wave 1 │ 64    │ 8 × 8 lanes│ the same   │ 32    a₀   ┌──────┐ ┌──────┐ 4
//!  ├────────┼────────┤       │ of 4 × 4   │ 8 × 8      │       …    └──────┘ └──────┘
//!  │ wave 2 │ wave 3 │ 64    ├────────────┼────────────┤       a₃      4    28 between
//!  └────────┴────────┘       │            │            │ 32    a₄   ┌──────┐ ┌──────┐
//!      64       64           └────────────┴────────────┘       …a₇  └──────┘ └──────┘
//! ```
//!
//! Thread t is lane l = t mod 64 of wave w = ⌊t / 64⌋. Its first row is 64 ⌊w / 2⌋ + 4 ⌊l / 8⌋, its first
//! column 64 (w mod 2) + 4 (l mod 8); its other blocks are 32 rows and columns further.
//!
//! **What it adds to step 3, 8 × 8.** In step 3, four p of a row of A are one LDS access, but these rows begin in
//! the same banks, and every element is loaded from global memory by an access of its own. Here both operands
//! are k × w in LDS, where w is the row of A or the column of B. For each p a thread reads two pieces of A and two
//! of B, each with one `ds_read_b128`: 4 reads for 64 multiply-adds. A thread loads its part of the tiles with two
//! `global_load_dwordx4` instead of 8 loads, and stores C with 16 `global_store_dwordx4` instead of 64 stores. This
//! saves instruction issue and address arithmetic beside the 32 packed multiply-adds, and the bank conflicts of
//! step 3.
//!
//! **Layouts.** The load path handles all layouts ([`crate::tile::vector_loader`]): a piece is four contiguous
//! elements, along w or along k. It is written to LDS with one `ds_write_b128`, or transposed with four
//! `ds_write_b32`. The layout is uniform, so this is a scalar branch per tile. A piece needs no alignment.
//!
//! **LDS.** 2 tiles of 8 × 128 elements: 8,192 bytes, without padding, and without bank conflicts on 32 and on 64
//! banks:
//! - reads: the lanes that are served together are in 2 rows and 8 columns of lanes. They need 2 pieces of A, with
//!   one between them, and 8 neighbouring pieces of B: 32 elements. For this, a thread's blocks are not adjacent.
//! - writes along w: neighbouring pieces.
//! - writes along k: lanes with the same p write 16 or 32 neighbours along w; two lanes with the same w have p that
//!   are 4 apart, which is a multiple of 512 bytes. So columns are swizzled by ⌊p / 4⌋: [`PiecesOfColumns`].
//!
//! **RDNA.** Two multiply-adds are one dual instruction. Registers are in four banks, each with a cache of the operands that
//! the last instruction read. Two operands in one bank take a cycle more, unless one of them is in the cache. The order of the
//! multiply-adds lets each instruction read two operands of the one before
//! ([`add_outer_product_by_pairs`](RegisterTile::add_outer_product_by_pairs)). A wave waits for all operands of a p at once:
//! while it waits, the SIMD runs another wave, and the caches then have that wave's operands.
//!
//! **Edges.** A tile that is in the matrix is loaded without a check for each piece. In a tile that overhangs, a
//! piece that is in the matrix is still one load, and elements outside are zero.

use super::Product;
use crate::{
    arch,
    tile::{
        global::Input,
        index::{Index, Thread},
        lds::{LdsTile, Operands, Vacant},
        output::Fragment as _,
        registers::{RegisterTile, ScatteredTile},
        swizzle::PiecesOfColumns,
        vector_loader::{self, VectorLoader},
    },
};
use ferrowave_shared::{BlockTile, catalogue::VECTORIZED_F32 as ROW};

const TILE: BlockTile = ROW.tile;
const THREADS: usize = ROW.block.threads();
/// Rows or columns from one block of a thread to the next.
const APART: usize = 32;
/// Whether two multiply-adds are one instruction, with rules for the banks of their registers.
const IS_DUAL: bool = cfg!(not(ferrowave_family = "cdna"));
/// A's tile transposed, and B's.
pub(super) type TileA = LdsTile<f32, { TILE.k }, { TILE.m }, { TILE.m }, PiecesOfColumns>;
pub(super) type TileB = LdsTile<f32, { TILE.k }, { TILE.n }, { TILE.n }, PiecesOfColumns>;
const _: () = assert!(size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes);

/// Computes 8 × 8 elements of C per thread, by accesses of 128 bits.
///
/// # Safety
/// The kernel was launched with the row's block and LDS.
#[inline(always)]
pub(super) unsafe fn run(product: Product<f32, f32>) {
    // SAFETY: the block is the row's, as the caller promises.
    let thread = unsafe { arch::thread::<THREADS>() };
    let mut sums = Sums::<8>::of::<THREADS, 4, 2>(thread);
    if let Some((a, b)) = product.factors() {
        let mut load = Loaders::<1>::new(a, b, thread);
        // SAFETY: the LDS has room for the tiles, by the assertion above and the caller's promise,
        // and nothing else uses it.
        let mut lds =
            unsafe { Vacant::<TileA, TileB, _>::new(arch::launch_lds(), arch::Workgroup) };
        for k in (0..a.columns()).step_by(TILE.k) {
            let (a, b) = load.fetch(k);
            let tiles = lds.put(a, b);
            sums.add_product(tiles.operands());
            lds = tiles.vacate();
        }
    }
    // SAFETY: the caller's promises.
    unsafe { sums.store(&product) };
}

/// A thread's `PIECES` pieces of each operand's tiles.
pub(super) struct Loaders<const PIECES: usize> {
    a: VectorLoader<f32, PiecesOfColumns, { TILE.k }, { TILE.m }, PIECES>,
    b: VectorLoader<f32, PiecesOfColumns, { TILE.k }, { TILE.n }, PIECES>,
    /// The tiles that end at or before this k are whole.
    whole: u32,
}

impl<const PIECES: usize> Loaders<PIECES> {
    #[inline(always)]
    pub(super) fn new<const THREADS: usize>(
        a: Input<f32>,
        b: Input<f32>,
        thread: Thread<THREADS>,
    ) -> Self {
        let a = VectorLoader::new(a.transposed(), thread);
        let b = VectorLoader::new(b, thread);
        let whole = a.whole().min(b.whole());
        Self { a, b, whole }
    }

    /// Loads the pieces of the tiles that begin at `k`. Elements outside the matrices are zero.
    #[inline(always)]
    pub(super) fn fetch(
        &mut self,
        k: u32,
    ) -> (Pieces<{ TILE.m }, PIECES>, Pieces<{ TILE.n }, PIECES>) {
        // One branch for both. With one each, the compiler would wait for A's pieces before it loads B's, into registers
        // in which its other path may have loads under way.
        if k + TILE.k as u32 <= self.whole {
            // SAFETY: both are whole.
            unsafe { (self.a.fetch_whole(k), self.b.fetch_whole(k)) }
        } else {
            (self.a.fetch(k), self.b.fetch(k))
        }
    }
}

/// A thread's pieces of a tile with `W` rows of A or columns of B.
type Pieces<const W: usize, const PIECES: usize> =
    vector_loader::Pieces<f32, PiecesOfColumns, { TILE.k }, W, PIECES>;

/// A thread's sums, `M` × 8, and their place in C's tile.
pub(super) struct Sums<const M: usize> {
    /// The first of the thread's blocks, counted in blocks of 4 rows and of 4 columns.
    row: Index<{ TILE.m / 4 }>,
    column: Index<{ TILE.n / 4 }>,
    sums: RegisterTile<f32, M, 8>,
}

impl<const M: usize> Sums<M> {
    /// The sums of a thread, all 0. The workgroup has `WAVES` groups of 64 threads in `WAVE_ROWS` rows of two.
    #[inline(always)]
    pub(super) fn of<const THREADS: usize, const WAVES: usize, const WAVE_ROWS: usize>(
        thread: Thread<THREADS>,
    ) -> Self {
        const {
            assert!(
                M.is_multiple_of(4) && WAVE_ROWS * 8 * M == TILE.m && 2 * 8 * 8 == TILE.n,
                "the threads' blocks must make up the tile"
            );
        }
        let (wave, lane) = thread.wave_and_lane::<WAVES>();
        let (wave_row, wave_column) = wave.split::<WAVE_ROWS, 2>();
        let (lane_row, lane_column) = lane.split::<8, 8>();
        // A wave has 8 rows of threads with M / 4 blocks each.
        let first_row = wave_row.get() * (2 * M) as u32;
        let first_half = Index::<2>::wrapping(0);
        Self {
            row: Index::wrapping(first_row + lane_row.get()),
            column: wave_column.join::<2, 4>(first_half).join(lane_column),
            sums: RegisterTile::ZERO,
        }
    }

    /// Adds the product of the tiles.
    #[inline(always)]
    pub(super) fn add_product(&mut self, tiles: &Operands<TileA, TileB>) {
        let Operands { a, b } = tiles;
        for p in Index::all() {
            let (a, b) = (elements(a, p, self.row), elements(b, p, self.column));
            if IS_DUAL {
                // One wait for all operands.
                arch::wait_for_lds();
                arch::sched_barrier();
                self.sums.add_outer_product_by_pairs(a, b);
                arch::sched_barrier();
            } else {
                self.sums.add_outer_product(a, b);
            }
        }
    }

    /// Keeps the compiler from delaying what has been added.
    #[expect(
        clippy::needless_range_loop,
        reason = "loops over iterators unroll too late, and leave the registers in memory"
    )]
    #[inline(always)]
    pub(super) fn compute_now(&mut self) {
        for row in 0..M {
            for column in 0..8 {
                self.sums.0[row][column] = arch::computed(self.sums.0[row][column]);
            }
        }
    }

    /// Stores the thread's elements of C.
    ///
    /// # Safety
    /// Each thread of the workgroup stores the sums made for it, once.
    #[inline(always)]
    pub(super) unsafe fn store(self, product: &Product<f32, f32>) {
        let (row, column) = (4 * self.row.get(), 4 * self.column.get());
        let mut sums = ScatteredTile::<_, _, _, APART>(self.sums);
        // Dual instructions of RDNA add to sums in different banks.
        sums.for_each_run(|_, _, run| *run = arch::in_neighbouring_registers(*run));
        // SAFETY: the map from threads to blocks is one to one.
        unsafe { product.store(row, column, sums) };
    }
}

/// Elements of row `p` of a tile, in the blocks of a thread whose first one is `first`.
#[inline(always)]
fn elements<const COUNT: usize, const W: usize, const PARTS: usize>(
    tile: &LdsTile<f32, { TILE.k }, W, W, PiecesOfColumns>,
    p: Index<{ TILE.k }>,
    first: Index<PARTS>,
) -> [f32; COUNT] {
    let mut elements = [0.0; COUNT];
    for block in 0..COUNT / 4 {
        let part = Index::<PARTS>::wrapping(first.get() + (block * APART / 4) as u32);
        let piece = tile.piece(p, part);
        for i in 0..4 {
            elements[4 * block + i] = piece[i];
        }
    }
    elements
}
