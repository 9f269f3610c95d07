//! Step 13, direct to LDS (gfx950): loads from global memory go straight to LDS, past the registers.
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
//! **What it adds to step 12.** A load that needs no register can be issued early: three stages are in flight
//! while one is multiplied, without registers for them and without instructions that store to LDS. gfx942 has such
//! loads, too, but with 4 bytes per lane, which are slower than the way through registers; on gfx950 they have 16.
//!
//! **Swizzling.** The instruction writes the units of a wave's lanes to consecutive addresses, so a lane cannot
//! choose where its unit goes in LDS. It chooses what it loads instead: the unit of global memory whose position in
//! the swizzled tile is the one that the lane writes ([`LdsLayout::at`](crate::tile::operand::LdsLayout::at)).
//!
//! **Waits.** Loads return in order. Before stage s is read, all loads but those of the next two stages must be
//! done; no wait in the loop is for all loads. The compiler does not see the loads of inline assembly, so the waits
//! are explicit.
//!
//! **LDS.** 4 · (128 + 128) · 64 bytes = 64 KiB of the 160 KiB that gfx950 has: two workgroups per compute unit.
//!
//! **Requirements.** Operands along k, aligned to 16 bytes; the host chooses another step for others.

use super::{
    Product,
    block_gemm::{BlockGemm, Config, Element, Output, Source},
};
use crate::{
    arch,
    tile::{lds::Barrier as _, length::Length as _},
};

/// Stages in LDS.
const RING: usize = 4;

/// Computes the workgroup's tile of C.
///
/// # Safety
/// The kernel was launched with the block and LDS of the row that `C` is for.
#[inline(always)]
pub(super) unsafe fn run<C: Config>(product: Product<Element<C>, Output<C>>) {
    let k = product.k();
    // SAFETY: as the caller promises; all threads of the workgroup are here, and have this tile for
    // themselves.
    unsafe {
        let mut gemm = BlockGemm::<C>::new(product);
        if let Some(source) = gemm.direct_source() {
            let mut done = 0;
            let stages = gemm.whole_stages(&source, 0, k) / RING as u32 * RING as u32;
            if stages > 0 {
                stream(&mut gemm, source, stages);
                done = stages * BlockGemm::<C>::STAGE_K;
            }
            gemm.rest(done, k);
        }
        gemm.finish();
    }
}

/// Multiplies `stages` stages, a multiple of [`RING`], not 0.
///
/// # Safety
/// The stages are whole and along k, and all threads of the workgroup call this.
#[inline(always)]
unsafe fn stream<C: Config>(gemm: &mut BlockGemm<C>, source: Source<C>, stages: u32) {
    // SAFETY: the caller promises whole stages, and `Fetch` stays within them. A stage is read after every
    // wave has waited for its own loads of it and a barrier has followed. Its buffer is written after the next
    // barrier, which no wave reaches before it has its operands.
    unsafe {
        let mut fetch = source.fetch(stages);
        for buffer in 0..RING - 1 {
            gemm.load_to_lds(&mut fetch, buffer);
        }
        for _ in 0..stages / RING as u32 {
            for buffer in 0..RING {
                arch::wait_for_loads_until((RING - 2) * (C::AVecs::LEN + C::BVecs::LEN));
                arch::Workgroup.wait();
                gemm.load_to_lds(&mut fetch, (buffer + RING - 1) % RING);
                for step in 0..BlockGemm::<C>::STEPS {
                    let operands = gemm.operands(buffer, step);
                    gemm.multiply(&operands);
                }
            }
        }
        // The last loads are not multiplied, but must end before LDS is used for something else.
        arch::wait_for_loads_until(0);
    }
}
