//! Step 14, ping-pong: half of the waves multiply while the other half reads and writes LDS.
//!
//! ```text
//! slot       0    1    2    3    4    5    6            R  read stage s from LDS, store stage s + 1
//! waves 0–3  R 0 │M 0 │R 1 │M 1 │R 2 │M 2 │ …              to the other buffer, fetch stage s + 3
//! waves 4–7      │R 0 │M 0 │R 1 │M 1 │R 2 │M 2 │ …      M  multiply stage s
//!                ↑    ↑    ↑   a barrier between slots
//!
//!   C's tile, 256 × 256: 2 × 4 waves                 a wave's part, 128 × 64: 4 × 2 blocks
//!   ┌──────┬──────┬──────┬──────┐                    ┌──────┬──────┐
//!   │  w0  │  w1  │  w2  │  w3  │ 128                │      │      │ 32
//!   ├──────┼──────┼──────┼──────┤                    ├──────┼──────┤
//!   │  w4  │  w5  │  w6  │  w7  │ 128                │  …   │  …   │
//!   └──────┴──────┴──────┴──────┘                    └──────┴──────┘
//!      64                                               32
//! ```
//!
//! **What it adds to step 12.** A SIMD has one matrix core. If two waves of a SIMD do the same at the same
//! time, the matrix core is idle while both read LDS, and LDS is idle while both multiply. Here an extra
//! barrier before the loop, which only the second half of the waves executes, delays that half by one slot.
//! From then on every barrier ends a slot for both halves, and each SIMD has one wave that multiplies (at a
//! higher priority, `s_setprio`) and one that moves data.
//!
//! The tile is four times as large as in step 12: A and B are read from global memory half as often,
//! and 4 + 2 operands from LDS feed 8 products of blocks, instead of 2 + 2 for 4.
//!
//! **Waits.** A stage is fetched from global memory three stages before it is multiplied, into one of two
//! sets of registers. When one set is stored to LDS, the other is still in flight: the wait is for all but the
//! loads of one set, and never for all loads. Before the barrier that ends its reads and writes of LDS, a wave
//! waits for all of them, because the other half then writes to the buffer that it reads, and a read in flight
//! could see that. The wait costs nothing as long as the other half multiplies for longer.
//!
//! **LDS.** Two buffers of a stage of 64 bytes along k: 2 · (256 + 256) · 64 bytes = 64 KiB. Buffer
//! s mod 2 is read in slots 2s and 2s + 1 and written, with stage s + 2, in slots 2s + 2 and 2s + 3. Rows are
//! swizzled as in step 12.
//!
//! **Other tiles.** 2048 × 2048 has 64 tiles of 256 × 256 and 256 of 128 × 128, for 104 compute units of MI210. It has 104 of
//! 160 × 256: one for each unit. 4096 × 4096 has 256 tiles of 256 × 256 for 304 compute units of MI300X, and 304 of
//! 224 × 256. Five and seven blocks are no power of two, so that a wave has all rows of the tile: 1 × 8 waves of 160 × 32 or
//! 224 × 32. A wave then reads 5 + 1 operands for 5 products, or 7 + 1 for 7, more than 4 + 2 for 8; reads still take less
//! time than the products of the other half, except in types of 8 bits on gfx942. The 512 threads load two units of A each, as
//! for 256 rows: LDS has room for the others, which are those of the last row again and not multiplied.
//!
//! **Edges.** The loop takes two stages per round. At its end, LDS has the last of an odd number, which is then multiplied. The rest
//! of k, and tiles that cannot be loaded in whole units, go through [`BlockGemm::rest`].
#![expect(
    clippy::needless_range_loop,
    reason = "a buffer of registers has the number of its stage in LDS"
)]

use super::{
    Product,
    block_gemm::{BlockGemm, Config, Element, Operands, Output, Source},
};
use crate::{arch, tile::lds::Barrier as _};

/// Computes the workgroup's tile of C.
///
/// # Safety
/// The kernel was launched with the block and LDS of the row that `C` is for.
#[inline(always)]
pub(super) unsafe fn run<C: Config>(product: Product<Element<C>, Output<C>>) {
    // SAFETY: as the caller promises.
    let gemm = unsafe { BlockGemm::<C>::new(product) };
    // SAFETY: all threads of the workgroup are here, and have this tile for themselves.
    unsafe {
        gemm.compute::<1>(
            #[inline(always)]
            |gemm, source, stages| alternate(gemm, source, stages),
        );
    }
}

/// Multiplies at least one stage.
///
/// # Safety
/// The stages are whole, and all threads of the workgroup call this.
#[inline(always)]
unsafe fn alternate<C: Config>(gemm: &mut BlockGemm<C>, source: Source<C>, stages: u32) {
    let steps = BlockGemm::<C>::STEPS;
    // SAFETY: the caller promises whole stages, and `Fetch` stays within them. Buffers are written and read in
    // the slots that the module's documentation gives, with a barrier between any two.
    unsafe {
        let mut fetch = source.fetch(stages);
        let first = fetch.next();
        gemm.store(&fetch, 0, first);
        let mut in_flight = [fetch.next(), fetch.next()];
        arch::Workgroup.wait();
        let half = gemm.half();
        if half == 1 {
            arch::barrier();
        }
        for _ in 0..stages / 2 {
            for buffer in 0..2 {
                gemm.store(&fetch, 1 - buffer, in_flight[buffer]);
                in_flight[buffer] = fetch.next();
                arch::sched_barrier();
                let first = gemm.operands(buffer, 0);
                let last = gemm.operands(buffer, steps - 1);
                multiply_in_turn(gemm, first, (steps > 1).then_some(last));
            }
        }
        if half == 0 {
            arch::barrier();
        }
        gemm.multiply_odd(stages);
    }
}

/// Multiplies operands in the next slot, when the other half of the waves moves data.
#[inline(always)]
pub(super) fn multiply_in_turn<C: Config>(
    gemm: &mut BlockGemm<C>,
    first: Operands<C>,
    second: Option<Operands<C>>,
) {
    begin_turn();
    gemm.multiply(&gemm.settled(first));
    if let Some(second) = second {
        gemm.multiply(&gemm.settled(second));
    }
    end_turn();
}

/// Begins a slot of multiplications, at the higher priority, when what the wave read from LDS in the last slot is there.
#[inline(always)]
pub(super) fn begin_turn() {
    arch::sched_barrier();
    arch::wait_for_lds();
    arch::barrier();
    arch::sched_barrier();
    arch::set_priority::<1>();
}

/// Ends it.
#[inline(always)]
pub(super) fn end_turn() {
    arch::set_priority::<0>();
    arch::sched_barrier();
    arch::barrier();
    arch::sched_barrier();
}
