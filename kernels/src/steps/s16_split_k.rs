//! Step 16, split-K: several workgroups share a tile, each with a part of k.
//!
//! ```text
//! C[i][j] ← α · Σₛ (Σₚ∈part(s) A[i][p] · B[p][j]) + β · C[i][j]
//!
//!                       B   ┌────┐
//!                           │ w0 │ part 0 of k
//!                           ├────┤
//!                           │ w1 │ part 1             workspace: a slot of sums a part
//!                           ├────┤                    ┌────┬────┬────┐
//!        part 0  1    2     │ w2 │ part 2             │ w0 │ w1 │ w2 │ → added in this order
//!      A ┌────┬────┬────┐   ┌────┐                    └────┴────┴────┘   by the last to finish
//!        │ w0 │ w1 │ w2 │   │ C  │ 128 × 128
//!        └────┴────┴────┘   └────┘
//! ```
//!
//! **When to use it.** A product with few tiles and a long k (m = n = 256, k = 65,536 has four tiles of
//! 128 × 128) leaves most compute units idle. Dividing k gives each tile `parts` workgroups. The price is that
//! each of them writes its sums to memory and one reads them all: 2 · parts · 64 KiB per tile, which the host
//! weighs against the idle units.
//!
//! **XCDs.** Each has its own L2. Its workgroups compute the same parts of neighbouring tiles, which share rows of A and
//! columns of B.
//!
//! **Deterministic.** No floating-point atomics; see [`BlockGemm::contribute`]. The main loop is that of
//! step 15, with waves of 64 × 64, over the steps that [`first_step`] assigns to the part.
//!
//! **LDS.** Two buffers, 32 KiB.
//!
//! **32 × 32.** The smallest problems have so few products that latencies decide: of the first loads, of the stages along k, of
//! the sums' way to C. Four waves have a block of 16 × 16 each, and a stage has 128 bytes of each row, so that there are half as
//! many stages to wait for.
//!
//! **64 × 64 and 32 × 64.** Four waves have 32 × 32 or 32 × 16 each, in blocks of 16 × 16 (64 × 64 in one block of 32 × 32 in f32
//! and xf32, in fp8 on gfx950, with a sparse A and on gfx908). With one block, a wave stores and loads between two barriers, and
//! multiplies behind them; with several, it does both at a time. A tile of 32 × 64 has fewer rows of A than its threads can load
//! at once: half of them load the last row again, as in tiles of 80 × 128.
//!
//! **80 × 128.** 1024 × 1024 has 64 tiles of 128 × 128, for 104 compute units of MI210, and 256 of 64 × 64, so that some
//! units have three of them. It has 104 of 80 × 128: one for each unit. 80 rows are 5 blocks of 16, so that this kernel has the
//! instructions with 16 × 16 sums; 4 waves have 80 × 32 each. The 256 threads load two units of A each, although the tile has
//! 320: LDS has room for the others, which are those of the last row again and not multiplied.
//!
//! **By WMMA**, tiles and waves are those of step 15 by WMMA. 64 × 64 and 32 × 64 have waves of 32 × 32; 32 × 32 has the four waves
//! and the stages above.
//!
//! **By multiply-adds**, in f32 on RDNA: `matrix/fma.rs` has the part of a block that a lane computes. 64 × 64 are two waves of
//! 64 × 32, in which a lane has 8 × 8 sums, and 32 × 32 two of 32 × 16, with 4 × 4. A row of a stage in LDS has four units along
//! k; the loop over them is not unrolled, so that a lane has the operands of one. All multiply-adds are dual instructions,
//! but for two with 32 × 32.

use super::{
    Product,
    block_gemm::{BlockGemm, Config, Element, Output},
    s15_mfma_interleaved::weave,
};
use ferrowave_shared::workspace::{first_step, steps};

/// Computes a part of a tile of C.
///
/// # Safety
/// The kernel was launched with the block and LDS of the row that `C` is for.
#[inline(always)]
pub(super) unsafe fn run<C: Config>(product: Product<Element<C>, Output<C>>) {
    let (parts, k, tile_k) = (product.parts(), product.k(), product.kernel().tile.k as u32);
    let (tile, part) = product.tile_and_part();
    // A tile that is not shared needs no division.
    let (first, end) = if parts == 1 {
        (0, k)
    } else {
        // SAFETY: the host divides into at least one part.
        unsafe { core::hint::assert_unchecked(parts != 0) };
        let steps = steps(k, product.kernel().tile);
        let end = first_step(steps, parts, part + 1).saturating_mul(tile_k);
        (first_step(steps, parts, part) * tile_k, end.min(k))
    };
    // SAFETY: as the caller promises; all threads of the workgroup are here, and the host gives each tile
    // `parts` workgroups and slots.
    unsafe {
        let mut gemm = BlockGemm::<C>::new(product);
        gemm.sum_up::<1>(
            first,
            end,
            #[inline(always)]
            |gemm, source, stages| weave(gemm, source, stages),
        );
        let slot = |part| tile * parts + part;
        // Only one workgroup takes the tile's last ticket.
        if parts == 1 || gemm.contribute(tile, parts, slot(part), slot) {
            gemm.finish();
        }
    }
}
