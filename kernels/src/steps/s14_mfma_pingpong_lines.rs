//! Step 14 with whole cache lines (gfx950): ping-pong with stages of 128 bytes along k.
//!
//! ```text
//! slot       4s       4s+1     4s+2     4s+3     R A  read half 0 of stage s from LDS, store A of stage s + 1 to the
//! waves 0–3  R A s   │M 0 s   │R B s   │M 1 s         other buffer, load A of stage s + 2
//! waves 4–7  M 1 s-1 │R A s   │M 0 s   │R B s    R B  the same with half 1 and B
//!                    ↑        ↑        ↑         M h  multiply half h: one step (fp8) or two (others)
//! ```
//!
//! **What it adds to step 14.** In step 14, a stage of 64 bytes along k is half of a cache line. The other half is
//! loaded a stage later, when L1 has replaced the line, so each line is loaded from L2 twice. Here a stage is a whole
//! line.
//!
//! **Registers.** As many loads are in flight as with half lines, for as many slots: each set of A or of B is stored
//! four slots after it was loaded.
//!
//! **LDS.** Two buffers of a stage, 2 · (256 + 256) · 128 bytes = 128 KiB of the 160 KiB that gfx950 has. Stage s + 1
//! is written in slots 4s to 4s + 3, after the last reads of its buffer in slot 4s - 1, and read from slot 4s + 4 on.
//! Rows of 128 bytes have their own swizzle. Scales, of types that have them, move with A.
//!
//! Tiles, waves, priorities, waits and barriers are those of step 14.

use super::{
    Product,
    block_gemm::{BlockGemm, Config, Element, Output, Source},
    s14_mfma_pingpong::multiply_in_turn,
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
        gemm.compute::<2>(
            #[inline(always)]
            |gemm, source, stages| alternate(gemm, source, stages),
        );
    }
}

/// Multiplies an even number of stages, not 0. Too few registers are left for an odd one.
///
/// # Safety
/// The stages are whole, and all threads of the workgroup call this.
#[inline(always)]
unsafe fn alternate<C: Config>(gemm: &mut BlockGemm<C>, source: Source<C>, stages: u32) {
    const {
        let steps = BlockGemm::<C>::STEPS;
        assert!(
            steps == 2 || steps == 4,
            "one half stores A, the other B; each has one step or two"
        );
    }
    let source = gemm.recomputed_source(&source);
    // SAFETY: the caller promises whole stages, and `Fetch` stays within them. Buffers are written and read in
    // the slots that the module's documentation gives, with a barrier between any two.
    unsafe {
        let mut fetch = source.fetch(stages);
        let first = fetch.next();
        gemm.store(&fetch, 0, first);
        let mut in_flight = fetch.next();
        arch::Workgroup.wait();
        let half = gemm.half();
        if half == 1 {
            arch::barrier();
        }
        for _ in 0..stages / 2 {
            for buffer in 0..2 {
                gemm.store_a(&fetch, 1 - buffer, in_flight.a);
                gemm.store_scales(1 - buffer, in_flight.scales);
                gemm.store_indices(1 - buffer, in_flight.indices);
                arch::sched_barrier();
                in_flight.a = fetch.next_a();
                in_flight.scales = fetch.next_scales();
                in_flight.indices = fetch.next_indices();
                multiply_half(gemm, buffer, 0);
                gemm.store_b(&fetch, 1 - buffer, in_flight.b);
                arch::sched_barrier();
                in_flight.b = fetch.next_b();
                multiply_half(gemm, buffer, 1);
            }
        }
        if half == 0 {
            arch::barrier();
        }
    }
}

/// Reads the operands of half of a stage from LDS, and multiplies them in the next slot.
///
/// # Safety
/// As [`BlockGemm::operands`].
#[inline(always)]
unsafe fn multiply_half<C: Config>(gemm: &mut BlockGemm<C>, stage: usize, half: u32) {
    // One step or two.
    let steps = const { BlockGemm::<C>::STEPS / 2 };
    arch::sched_barrier();
    // SAFETY: as the caller promises.
    let (first, second) = unsafe {
        let first = gemm.recomputed_operands(stage, half * steps);
        let second = (steps > 1).then(|| gemm.recomputed_operands(stage, half * steps + 1));
        (first, second)
    };
    multiply_in_turn(gemm, first, second);
}
