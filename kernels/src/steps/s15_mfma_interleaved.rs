//! Step 15, interleaved: one wave per SIMD, whose matrix instructions follow each other without a gap while
//! everything else is issued between them.
//!
//! ```text
//!   C's tile, 256 × 128: 2 × 2 waves        one round of a wave, one stage
//!   ┌───────┬───────┐                       multiply step 0   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//!   │       │       │                         read step 1       r r r r r r
//!   │  w0   │  w1   │ 128                     fetch stage + 3            f f f f f f
//!   │       │       │                         store stage + 1        w w w w w w
//!   ├───────┼───────┤                       ── barrier ──
//!   │       │       │                       multiply step 1   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//!   │  w2   │  w3   │ 128                     read step 0 of    r r r r r r
//!   │       │       │                               stage + 1
//!   └───────┴───────┘
//!      64      64
//! ```
//!
//! **What it adds to step 14.** In step 14, two waves of a SIMD take turns, and each slot lasts as long as the
//! longer of its two halves. Here a SIMD has one wave, with registers for the operands of two steps and for two
//! stages in flight. A matrix instruction takes 32 to 64 cycles on the matrix core and 4 to issue. While it
//! runs, the wave issues the reads of the next step, which are complete when that step begins.
//! `sched_group_barrier` asks the compiler for this order.
//!
//! **Registers.** With one wave per SIMD, a wave may have 512 registers. Half of them are AGPRs, which would hold
//! the sums of 128 × 128 of C. But LLVM 23 keeps sums in the other half and moves those that do not fit back and
//! forth in the loop; its option to avoid this lost the initial zeros of the sums where it was tried. So a wave
//! has 128 × 64, whose sums fit. On gfx908, which has 256 registers of each kind, sums are always in AGPRs.
//!
//! **Waits.** As in step 14, a stage is fetched three stages ahead into two sets of registers. There is
//! one barrier per stage, between its two steps: it waits for the writes of stage + 1, which were issued a
//! step before.
//!
//! **LDS.** Two buffers of a stage, 2 · (256 + 128) · 64 bytes = 48 KiB. Stage s + 1 is written to the buffer of
//! stage s − 1 before the barrier of stage s. The last reads of that buffer, for step 1, were done before the
//! barrier of stage s − 1.
//!
//! **By WMMA**, on RDNA 3 and 3.5, tiles and waves are those of step 11. A wave has 64 × 32 of C: 64 VGPRs of sums, 96 for the
//! operands of two steps and 32 for two stages in flight. Four waves per SIMD fit, so that one multiplies where another waits.
//! LDS has 2 · (128 + 128) · 64 bytes = 32 KiB for each of two workgroups. On RDNA 4 the operands of two steps take 48 VGPRs,
//! and eight waves per SIMD fit.
//!
//! **A sparse A** has rows of 64 bytes in LDS, and B rows of 128: 2 · (256 · 64 + 128 · 128) bytes = 64 KiB, all that a workgroup has
//! on gfx942. So the indices go to registers, past LDS.
//!
//! **Types with one step per stage** (f64, and fp8 on gfx950) have the barrier between the two halves of their
//! rows of blocks.
#![expect(
    clippy::needless_range_loop,
    reason = "a buffer of registers has the number of its stage in LDS"
)]

use super::{
    Product,
    block_gemm::{BlockGemm, Config, Element, Output, Source},
};
use crate::{arch, matrix::Multiply as _, tile::lds::Barrier as _};

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
            |gemm, source, stages| weave(gemm, source, stages),
        );
    }
}

/// Multiplies at least one stage.
///
/// # Safety
/// The stages are whole, and all threads of the workgroup call this.
#[inline(always)]
pub(super) unsafe fn weave<C: Config>(gemm: &mut BlockGemm<C>, source: Source<C>, stages: u32) {
    if C::Multiply::ON_VECTOR_UNIT {
        // SAFETY: as the caller promises.
        unsafe { weave_vector(gemm, source, stages) };
        return;
    }
    if BlockGemm::<C>::M * BlockGemm::<C>::N == 1 {
        // SAFETY: as the caller promises.
        unsafe { weave_single(gemm, source, stages) };
        return;
    }
    if C::Multiply::SMALL_BLOCKS {
        // SAFETY: as the caller promises.
        unsafe { weave_small(gemm, source, stages) };
        return;
    }
    let two_steps = BlockGemm::<C>::STEPS == 2;
    let (m, n) = (BlockGemm::<C>::M, BlockGemm::<C>::N);
    let reads = (m + n) * C::Multiply::OPERAND_UNITS;
    // SAFETY: the caller promises whole stages, and `Fetch` stays within them. Buffers are written and read
    // as the module's documentation says, with a barrier between.
    unsafe {
        let mut fetch = source.fetch(stages);
        let first = fetch.next();
        gemm.store(&fetch, 0, first);
        let mut in_flight = [fetch.next(), fetch.next()];
        arch::Workgroup.wait();
        let mut operands = gemm.arrived(gemm.operands(0, 0));
        for _ in 0..stages / 2 {
            for buffer in 0..2 {
                if two_steps {
                    let second = gemm.operands(buffer, 1);
                    gemm.multiply_rows(&operands, 0, m / 2);
                    arch::interleave(m * n / 2 * C::Multiply::INSTRUCTIONS, reads);
                    gemm.store(&fetch, 1 - buffer, in_flight[buffer]);
                    arch::sched_barrier();
                    in_flight[buffer] = fetch.next();
                    gemm.multiply_rows(&operands, m / 2, m);
                    arch::sched_barrier();
                    arch::Workgroup.wait();
                    arch::sched_barrier();
                    let next = gemm.operands(1 - buffer, 0);
                    gemm.multiply(&gemm.settled(second));
                    arch::interleave(m * n * C::Multiply::INSTRUCTIONS, reads);
                    arch::sched_barrier();
                    operands = gemm.arrived(next);
                } else {
                    gemm.store(&fetch, 1 - buffer, in_flight[buffer]);
                    in_flight[buffer] = fetch.next();
                    gemm.multiply_rows(&operands, 0, m / 2);
                    arch::Workgroup.wait();
                    let next = gemm.operands(1 - buffer, 0);
                    gemm.multiply_rows(&operands, m / 2, m);
                    operands = gemm.arrived(next);
                }
            }
        }
        gemm.multiply_odd(stages);
    }
}

/// The same in small blocks, which have one step per stage. Their products are short, so that everything else is distributed
/// among them: what moves stages among those of the upper blocks, the reads of the next step among the others.
///
/// # Safety
/// As [`weave`].
#[inline(always)]
unsafe fn weave_small<C: Config>(gemm: &mut BlockGemm<C>, source: Source<C>, stages: u32) {
    let (m, n) = (BlockGemm::<C>::M, BlockGemm::<C>::N);
    let reads = (m + n) * C::Multiply::OPERAND_UNITS;
    let upper = m.div_ceil(2);
    let products = |rows: usize| rows * n * C::Multiply::INSTRUCTIONS;
    // SAFETY: as in `weave`.
    unsafe {
        let mut fetch = source.fetch(stages);
        let first = fetch.next();
        gemm.store(&fetch, 0, first);
        let mut in_flight = [fetch.next(), fetch.next()];
        arch::Workgroup.wait();
        let mut operands = gemm.arrived(gemm.operands(0, 0));
        for _ in 0..stages / 2 {
            for buffer in 0..2 {
                arch::sched_barrier();
                gemm.store(&fetch, 1 - buffer, in_flight[buffer]);
                in_flight[buffer] = fetch.next();
                gemm.multiply_rows(&operands, 0, upper);
                // Transposing two operands takes twice as many instructions.
                if fetch.transposes_both() {
                    arch::interleave_store::<7>(products(upper));
                } else {
                    arch::interleave_store::<5>(products(upper));
                }
                arch::sched_barrier();
                arch::Workgroup.wait();
                arch::sched_barrier();
                let next = gemm.operands(1 - buffer, 0);
                gemm.multiply_rows(&operands, upper, m);
                arch::interleave(products(m - upper), reads);
                arch::sched_barrier();
                operands = gemm.arrived(next);
            }
        }
        gemm.multiply_odd(stages);
    }
}

/// The same for a single block, whose waves have little to multiply: the latency of memory decides, which several workgroups on
/// a compute unit hide.
///
/// # Safety
/// As [`weave`].
#[inline(always)]
unsafe fn weave_single<C: Config>(gemm: &mut BlockGemm<C>, source: Source<C>, stages: u32) {
    // SAFETY: as in `weave`.
    unsafe {
        let mut fetch = source.fetch(stages);
        let first = fetch.next();
        gemm.store(&fetch, 0, first);
        let mut in_flight = [fetch.next(), fetch.next()];
        arch::Workgroup.wait();
        for _ in 0..stages / 2 {
            for buffer in 0..2 {
                gemm.store(&fetch, 1 - buffer, in_flight[buffer]);
                in_flight[buffer] = fetch.next();
                gemm.multiply_buffer(buffer);
                arch::Workgroup.wait();
            }
        }
        gemm.multiply_odd(stages);
    }
}

/// The same for the vector unit. Its waves have no registers for a second step, nor for a third stage: several workgroups on a
/// compute unit hide the latency of memory and of LDS.
///
/// # Safety
/// As [`weave`].
#[inline(always)]
unsafe fn weave_vector<C: Config>(gemm: &mut BlockGemm<C>, source: Source<C>, stages: u32) {
    // SAFETY: as in `weave`.
    unsafe {
        let mut fetch = source.fetch(stages);
        let first = fetch.next();
        gemm.store(&fetch, 0, first);
        let mut in_flight = fetch.next();
        arch::Workgroup.wait();
        for _ in 0..stages / 2 {
            for buffer in 0..2 {
                gemm.store(&fetch, 1 - buffer, in_flight);
                in_flight = fetch.next();
                gemm.multiply_buffer(buffer);
                arch::Workgroup.wait();
            }
        }
        gemm.multiply_odd(stages);
    }
}
