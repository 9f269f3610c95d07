//! Step 5, double-buffered: the next tiles are loaded into registers while the current ones are multiplied. On RDNA, a
//! second configuration of the same code computes 16 × 8 elements per thread.
//!
//! ```text
//! C[i][j] ← α · Σₖ Σₚ A[i][k + p] · B[k + p][j] + β · C[i][j]      k = 0, 8, 16, …; p = 0 … 7
//!
//!  step 4:  load 0 ─ wait ─ write ║ multiply 0 ║ load 1 ─ wait ─ write ║ multiply 1 ║ …
//!
//!  step 5:  write tiles 1 to buffer 1 ║ write tiles 2 to buffer 0 ║ write tiles 3 to buffer 1
//!           load tiles 2 ┐            ║ load tiles 3 ┐            ║ load tiles 4 ┐
//!           multiply 0, buffer 0      ║ multiply 1, buffer 1      ║ multiply 2, buffer 0      …
//!                        └────────────→ wait                      ║ ║ barrier
//! ```
//!
//! Tiles, threads and lanes are those of step 4: 128 × 128 elements of C per workgroup, 8 × 8 per thread.
//!
//! **What it adds to step 4.** In step 4, every wave stalls for as long as a load takes, hundreds of cycles, and
//! only another workgroup on the same compute unit can fill the gap. Here the loads are issued before the 256
//! packed multiply-adds of a tile, and the wait for them comes after. There is one barrier per tile instead of
//! two, because tiles are written to the buffer that no thread has read since the last barrier. The types enforce
//! this: switching to the other buffer gives the current one back as vacant
//! ([`Filled::swap`](crate::tile::lds::Filled::swap)).
//!
//! The price is 8 registers for the pieces in flight, and twice the LDS.
//!
//! **What 16 × 8 adds.** A dual instruction of RDNA does two multiply-adds in one cycle for 32 lanes, so that all else that
//! a wave issues weighs more. With 16 × 8 elements, 128 threads compute the same tile in 1 × 2 groups of 64: a thread's
//! first row is 4 ⌊l / 8⌋, and it has four blocks of rows, 32 apart. For each p it reads four pieces of A and two of B for
//! 128 multiply-adds, three quarters of the reads with 8 × 8, and a wave does everything else once for twice the
//! multiply-adds. The price is some 190 registers. The register file of larger GPUs, 1,536 per lane of a SIMD, has room
//! for eight such waves. A round of its loop has two tiles, one in each buffer, so that the compiler knows all places in LDS.
//!
//! **LDS.** 2 buffers of step 4's tiles: 16,384 bytes, without bank conflicts, as in step 4. With 16 × 8, the lanes that
//! are served together read the same rows and columns as with 8 × 8, since a thread's blocks are as far apart.
//!
//! **Edges.** As in step 4. The fetches for the last two tiles are outside the matrices; they give zeros without a
//! load, which are never multiplied.

use super::{
    Product,
    s04_vectorized::{Loaders, Sums, TileA, TileB},
};
use crate::{
    arch,
    tile::lds::{Operands, Vacant},
};
#[cfg(not(ferrowave_family = "cdna"))]
use ferrowave_shared::catalogue::DOUBLE_BUFFERED_16X8_F32 as ROW_16X8;
use ferrowave_shared::catalogue::{DOUBLE_BUFFERED_F32 as ROW, VECTORIZED_F32 as STEP_4};

const _: () = assert!(
    2 * size_of::<Operands<TileA, TileB>>() == ROW.lds_bytes,
    "two buffers"
);
const _: () = assert!(
    ROW.tile.m == STEP_4.tile.m
        && ROW.tile.n == STEP_4.tile.n
        && ROW.tile.k == STEP_4.tile.k
        && ROW.block.threads() == STEP_4.block.threads(),
    "tiles and threads are those of step 4"
);

const TILE_K: u32 = ROW.tile.k as u32;

/// Computes 8 × 8 elements of C per thread.
///
/// # Safety
/// The kernel was launched with the block and LDS of [`DOUBLE_BUFFERED_F32`](ROW).
#[inline(always)]
pub(super) unsafe fn run_8x8(product: Product<f32, f32>) {
    // SAFETY: the block and the LDS are the row's, as the caller promises.
    unsafe { run::<8, { ROW.block.threads() }, 4, 2, 1, 1>(product) };
}

/// Computes 16 × 8 elements of C per thread.
///
/// # Safety
/// The kernel was launched with the block and LDS of [`DOUBLE_BUFFERED_16X8_F32`](ROW_16X8).
#[cfg(not(ferrowave_family = "cdna"))]
#[inline(always)]
pub(super) unsafe fn run_16x8(product: Product<f32, f32>) {
    // SAFETY: the block and the LDS are the row's, as the caller promises.
    unsafe { run::<16, { ROW_16X8.block.threads() }, 2, 1, 2, 2>(product) };
}

/// Computes `M` × 8 elements of C per thread, and loads while it multiplies. A round of the loop has `ROUND` tiles; beyond the
/// end of k they are zeros.
///
/// # Safety
/// The workgroup has `THREADS` threads along x, in `WAVES` waves in `WAVE_ROWS` rows, and LDS for two buffers.
#[inline(always)]
unsafe fn run<
    const M: usize,
    const THREADS: usize,
    const WAVES: usize,
    const WAVE_ROWS: usize,
    const PIECES: usize,
    const ROUND: usize,
>(
    product: Product<f32, f32>,
) {
    // SAFETY: the caller promises this number of threads.
    let thread = unsafe { arch::thread::<THREADS>() };
    let mut sums = Sums::<M>::of::<THREADS, WAVES, WAVE_ROWS>(thread);
    if let Some((a, b)) = product.factors() {
        let mut load = Loaders::<PIECES>::new(a, b, thread);
        let buffers = arch::launch_lds::<Operands<TileA, TileB>>();
        // SAFETY: the LDS has room for two buffers, by the assertion above and the caller's promise, and
        // nothing else uses them.
        let (vacant, mut other) = unsafe {
            (
                Vacant::new(buffers, arch::Workgroup),
                Vacant::new(buffers.add(1), arch::Workgroup),
            )
        };
        let (first_a, first_b) = load.fetch(0);
        let mut tiles = vacant.put(first_a, first_b);
        let mut next = load.fetch(TILE_K);
        for k in (0..a.columns()).step_by(ROUND * ROW.tile.k) {
            for tile in 0..ROUND as u32 {
                let written = other.write(next.0, next.1);
                next = load.fetch(k + (tile + 2) * TILE_K);
                // Right before the barrier. Otherwise the compiler moves the multiply-adds, but not the reads of
                // their operands, behind the branches of `write` and `fetch`, and runs out of registers.
                sums.add_product(tiles.operands());
                if ROUND > 1 {
                    sums.compute_now();
                }
                (tiles, other) = tiles.swap(written);
            }
        }
    }
    // SAFETY: the caller's promises.
    unsafe { sums.store(&product) };
}
