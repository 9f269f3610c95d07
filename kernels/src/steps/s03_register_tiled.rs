//! Step 3, register tiling: each thread computes 4 × 4 elements of C and uses every element that it
//! reads from LDS 4 times. A second configuration of the same code computes 8 × 8 and uses it 8 times.
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
//! first column 16 (w mod 2) + 4 (l mod 4). With 8 × 8 elements per thread, C's tile is 128 × 128, and a
//! wave's part is 64 × 64 with lanes in 8 rows of 8: the first row is 64 ⌊w / 2⌋ + 8 ⌊l / 8⌋, the first
//! column 64 (w mod 2) + 8 (l mod 8).
//!
//! **What it adds to step 2.** For each p a thread reads 4 + 4 elements from LDS and does 16 fused
//! multiply-adds: half an element per multiply-add, where step 2 reads 2. From gfx90a on, these are 8 packed
//! `v_pk_fma_f32`. The tile is also larger: A is read from global memory ⌈n / 32⌉ times, B ⌈m / 128⌉ times.
//!
//! **What 8 × 8 adds.** It reads a quarter of an element from LDS per multiply-add, and A and B are read from
//! global memory ⌈n / 128⌉ and ⌈m / 128⌉ times. The price is 64 registers of sums, which leave fewer for
//! elements read ahead, so its tile has 8 k. LDS delivers 32 elements per cycle, and the vector units do 64
//! multiply-adds per cycle, or 128 packed. With 4 × 4, LDS is as busy as plain multiply-adds and twice as busy
//! as packed ones; with 8 × 8, LDS keeps up with packed ones, too.
//!
//! **LDS.** A's tile is 128 × 16 with rows padded to 20 elements, B's 16 × 32: 12,288 bytes. With 8 × 8,
//! A's is 128 × 8 with rows padded to 12, B's 8 × 128: 10,240 bytes.
//! - B: a thread's elements are consecutive, one `ds_read_b128` for 4 of them. With 4 × 4, a wave
//!   reads 16 elements, each for 16 lanes, without conflicts. With 8 × 8, the reads of neighbouring
//!   threads are 8 elements apart, and lanes 0 and 4 need the same bank: degree 2.
//! - A: a thread's elements are a column. Its elements for four p are consecutive in a row, and since 20
//!   elements are a multiple of 16 bytes, the compiler reads them with one `ds_read_b128` per row. 8 lanes are
//!   served at a time, in two rows of threads. Row 4r begins at bank 80 r mod 32, which is 0 for one row of
//!   threads and 16 for the other; without the padding it is 0 for all r: degree 2. With 8 × 8 and a pitch of
//!   12, row 8r begins at bank 0 for all r in spite of the padding: degree 2. Step 4 removes these conflicts by
//!   transposing A.
//!
//! **Filling.** In one pass, 256 threads take 16 rows of A or 8 of B; with 8 × 8, 32 or 2. A's 16 columns are 64
//! consecutive bytes of global memory, B's 32 columns are 128.
//!
//! **Edges.** As in step 2.

use super::Product;
use crate::{
    arch,
    tile::{
        index::{Index, LANES},
        lds::{LdsTile, Operands, Vacant},
        registers::RegisterTile,
    },
};
use ferrowave_shared::{
    Kernel,
    catalogue::{REGISTER_TILED_8X8_F32, REGISTER_TILED_F32},
};

/// Threads of a workgroup, in 2 × 2 waves.
const THREADS: usize = 256;
/// Padding of a row of A in LDS, in elements.
const PADDING: usize = 4;

type TileA<const M: usize, const K: usize, const PITCH: usize> = LdsTile<f32, M, K, PITCH>;
type TileB<const K: usize, const N: usize> = LdsTile<f32, K, N, N>;

/// Whether a row of the catalogue is a configuration of 2 × 2 waves of `lanes` with `PER_THREAD` elements
/// in each direction.
const fn is_configuration<
    const M: usize,
    const N: usize,
    const K: usize,
    const PITCH: usize,
    const PER_THREAD: usize,
>(
    row: &Kernel,
    lanes: (usize, usize),
) -> bool {
    PITCH == K + PADDING
        && row.tile.m == M
        && row.tile.n == N
        && row.tile.k == K
        && row.block.x == THREADS
        && row.block.y == 1
        && row.lds_bytes == size_of::<Operands<TileA<M, K, PITCH>, TileB<K, N>>>()
        && lanes.0 * lanes.1 == LANES
        && 2 * lanes.0 * PER_THREAD == M
        && 2 * lanes.1 * PER_THREAD == N
}

/// Computes 4 × 4 elements of C per thread.
///
/// # Safety
/// The kernel was launched with the block and LDS of [`REGISTER_TILED_F32`].
#[inline(always)]
pub(super) unsafe fn run_4x4(product: Product<f32, f32>) {
    const {
        assert!(is_configuration::<128, 32, 16, 20, 4>(
            &REGISTER_TILED_F32,
            (16, 4)
        ));
    }
    // SAFETY: the block and the LDS are the row's, as the caller promises.
    unsafe { run::<128, 32, 16, 20, 4, 16, 4, 32, 8>(product) };
}

/// Computes 8 × 8 elements of C per thread.
///
/// # Safety
/// The kernel was launched with the block and LDS of [`REGISTER_TILED_8X8_F32`].
#[inline(always)]
pub(super) unsafe fn run_8x8(product: Product<f32, f32>) {
    const {
        assert!(is_configuration::<128, 128, 8, 12, 8>(
            &REGISTER_TILED_8X8_F32,
            (8, 8)
        ));
    }
    // SAFETY: the block and the LDS are the row's, as the caller promises.
    unsafe { run::<128, 128, 8, 12, 8, 8, 8, 16, 16>(product) };
}

/// Computes `PER_THREAD` × `PER_THREAD` elements of C per thread, with lanes in `LANES_M` rows of
/// `LANES_N`, and threads in `THREADS_M` rows of `THREADS_N`.
///
/// # Safety
/// The workgroup has [`THREADS`] threads along x, and LDS for the tiles. The constants are those of
/// [a configuration](is_configuration).
#[inline(always)]
unsafe fn run<
    const M: usize,
    const N: usize,
    const K: usize,
    const PITCH: usize,
    const PER_THREAD: usize,
    const LANES_M: usize,
    const LANES_N: usize,
    const THREADS_M: usize,
    const THREADS_N: usize,
>(
    product: Product<f32, f32>,
) {
    // SAFETY: the caller promises this number of threads.
    let thread = unsafe { arch::thread::<THREADS>() };
    let (wave, lane) = thread.wave_and_lane::<4>();
    let (wave_row, wave_column) = wave.split::<2, 2>();
    let (lane_row, lane_column) = lane.split::<LANES_M, LANES_N>();
    let row: Index<THREADS_M> = wave_row.join(lane_row);
    let column: Index<THREADS_N> = wave_column.join(lane_column);

    let mut sums = RegisterTile::<f32, PER_THREAD, PER_THREAD>::ZERO;
    if let Some((a, b)) = product.factors() {
        // SAFETY: the LDS has room for the tiles, as the caller promises, and nothing else uses it.
        let mut lds = unsafe {
            Vacant::<TileA<M, K, PITCH>, TileB<K, N>, _>::new(arch::launch_lds(), arch::Workgroup)
        };
        for k in (0..a.columns()).step_by(K) {
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
    // Dual instructions of RDNA add to sums in different banks.
    #[expect(
        clippy::needless_range_loop,
        reason = "loops over iterators unroll too late, and leave the registers in memory"
    )]
    for i in 0..PER_THREAD {
        if PER_THREAD == 4 {
            let row = &mut sums.0[i];
            let [a, b, c, d] = arch::in_neighbouring_registers([row[0], row[1], row[2], row[3]]);
            (row[0], row[1], row[2], row[3]) = (a, b, c, d);
        }
    }
    // SAFETY: the map from threads to rows and columns of elements is one to one.
    unsafe { product.store(row, column, sums) };
}
