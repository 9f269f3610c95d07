//! Step 13, direct to LDS (gfx950): global memory goes straight to LDS, past the registers.
//!
//! ```text
//!   step 12    global memory ─ global_load ─→ registers ─ ds_write ─→ LDS
//!   here       global memory ─── global_load_lds_dwordx4 ───────────→ LDS
//!
//!   LDS, a ring of four stages              stage        s     s + 1   s + 2   s + 3
//!   ┌────────┬────────┬────────┬────────┐   being     multiplied   on the way …
//!   │ s mod 4│        │        │        │
//!   └────────┴────────┴────────┴────────┘
//! ```
//!
//! **What it adds to step 12.** A load that needs no register can be issued early: three stages are on their
//! way while one is multiplied, and the registers and the instructions of the detour are free. gfx942
//! has such loads too, but of 4 bytes a lane, where the detour is faster; from gfx950 on they take 16.
//!
//! **Swizzling.** The instruction writes the 64 lanes' units side by side from one address on: where a
//! unit goes in LDS is not the lane's to choose. So a lane chooses what it loads instead: the unit of
//! global memory whose place is the one that the lane writes. The exchange of units is its own inverse
//! within the rows that it mixes, so that the same rule tells.
//!
//! **Waits.** Loads return in order. Before stage s is read, all but those of the two stages after it must be
//! done, and no wait in the loop is for all of them. The compiler does not see what inline assembly loads, so
//! that the waits are written out.
//!
//! **LDS.** 4 · (128 + 128) · 64 bytes = 64 KiB of the 160 KiB that gfx950 has: two workgroups a compute unit.
//!
//! **What it takes.** Operands along k, aligned to 16 bytes; the host chooses another step for others.

use super::{
    Product,
    matrix::{BlockGemm, Source},
};
use crate::{
    arch,
    blocks::Multiply,
    tile::{lds::Barrier as _, lds_layout::Arrangement},
};

/// Stages in LDS.
const RING: usize = 4;

/// Computes `M` × `N` blocks of C per wave.
///
/// # Safety
/// The kernel was launched with the row's block and LDS, and the parameters
/// [fit](BlockGemm::fits) the row.
#[inline(always)]
pub(super) unsafe fn run<
    T: Multiply<RUN>,
    R: Arrangement,
    const RUN: usize,
    const M: usize,
    const N: usize,
    const A_VECS: usize,
    const B_VECS: usize,
>(
    product: Product<T::Element, T::Output>,
) {
    let k = product.k();
    // SAFETY: as the caller promises; all threads of the workgroup are here, and have this tile for
    // themselves.
    unsafe {
        let mut matrix = BlockGemm::<T, R, RUN, M, N, A_VECS, B_VECS>::new(product);
        let mut done = 0;
        if let Some(source) = matrix.direct_source() {
            let stages = matrix.whole_stages(&source, 0, k) / RING as u32 * RING as u32;
            if stages > 0 {
                stream(&mut matrix, source, stages);
                done = stages * BlockGemm::<T, R, RUN, M, N, A_VECS, B_VECS>::STAGE_K;
            }
        }
        matrix.sequential(done, k);
        matrix.finish();
    }
}

/// Multiplies a number of stages that fills the ring once or more.
///
/// # Safety
/// The stages are whole and along k, and all threads of the workgroup call this.
#[inline(always)]
unsafe fn stream<
    T: Multiply<RUN>,
    R: Arrangement,
    const RUN: usize,
    const M: usize,
    const N: usize,
    const A_VECS: usize,
    const B_VECS: usize,
>(
    matrix: &mut BlockGemm<T, R, RUN, M, N, A_VECS, B_VECS>,
    source: Source<T::Element, R, A_VECS, B_VECS>,
    stages: u32,
) {
    // SAFETY: the caller promises whole stages, among which `Fetch` stays. A stage is read after a wait of every
    // wave for its own loads of it and a barrier, and its buffer written after the next barrier, which
    // no wave reaches before it has its operands.
    unsafe {
        let mut fetch = source.fetch(stages);
        for buffer in 0..RING - 1 {
            matrix.load_to_lds(&mut fetch, buffer);
        }
        for _ in 0..stages / RING as u32 {
            for buffer in 0..RING {
                arch::wait_for_loads_until((RING - 2) * (A_VECS + B_VECS));
                arch::Workgroup.wait();
                matrix.load_to_lds(&mut fetch, (buffer + RING - 1) % RING);
                for step in 0..BlockGemm::<T, R, RUN, M, N, A_VECS, B_VECS>::STEPS {
                    let operands = matrix.operands(buffer, step);
                    matrix.multiply(&operands);
                }
            }
        }
        // Loads that will not be multiplied must end before LDS is used for something else.
        arch::wait_for_loads_until(0);
    }
}
