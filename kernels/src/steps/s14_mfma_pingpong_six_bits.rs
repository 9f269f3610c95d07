//! Step 14 for elements of six bits (gfx950): ping-pong with whole cache lines, of which a stage has no whole number.
//!
//! ```text
//!   stage of a panel     0             1             2             3
//!   written meanwhile    line 1        line 2        scales′       line 0′        ′ of the next panel
//!     stages of it       1, 2          2, 3                        0′, 1′
//!   loaded meanwhile     line 2        scales′       line 0′       line 1′
//! ```
//!
//! **What it adds to step 14 with lines.** 128 elements along k, as many as a matrix instruction takes, are 96 bytes of a row.
//! If these were a stage's loads, most lines would be loaded twice. So a line is loaded as a whole, and its units go to the one
//! or two stages in LDS that have them (`block_gemm/six_bits.rs`). Four stages are three lines: of each four stages, three have a
//! line to write and to load.
//!
//! **LDS.** Three stages: one is read, while a line is written that ends the next one and begins the one behind it. Those have
//! room, as both halves of the waves are done with the stage before. With 256 × 256 tiles, these are 147 KiB, and the scales of a
//! panel 8 KiB, of the 160 KiB that gfx950 has. A wave reads its scales once in a panel, so that those of the next one can take
//! their place.
//!
//! **Slots.** A stage has two steps of the matrix cores. A wave with 128 × 64 sums multiplies them in a slot each, one with 64 × 32 in
//! the same. Waits, priorities and barriers are those of step 14.
//!
//! **Edges.** Rows behind those of an operand are its last one. What is left of k behind the last panel, and rows that are far
//! apart, go through [`BlockGemm::rest_of_panels`].

use super::{
    Product,
    block_gemm::{
        BlockGemm, Config, Element, Output,
        six_bits::{PanelScales, Panels, STEPS, Slots},
    },
    s14_mfma_pingpong::{begin_turn, end_turn},
};
use crate::{
    arch,
    matrix::SixBitFormat,
    tile::{lds::Barrier as _, length::Array, operand::Unit},
};
use ferrowave_shared::six_bits::{PANEL_BYTES, PANEL_STAGES};

/// The most blocks of a wave that multiplies both steps of a stage in a slot.
const BLOCKS: usize = 4;

/// Computes the workgroup's tile of C.
///
/// # Safety
/// The kernel was launched with the block and LDS of the row that `C` is for.
#[inline(always)]
pub(super) unsafe fn run<C: Config<Multiply: SixBitFormat>>(
    product: Product<Element<C>, Output<C>>,
) {
    // SAFETY: as the caller promises. All threads of the workgroup are here, and have this tile for themselves.
    unsafe {
        let mut gemm = BlockGemm::<C>::new(product);
        gemm.recompute_lane();
        let mut done = 0;
        if let Some((panels, count)) = gemm.panels() {
            alternate(&mut gemm, panels, count);
            done = count * PANEL_BYTES as u32;
            gemm.recompute_lane();
        }
        gemm.rest_of_panels(done);
        gemm.finish();
    }
}

/// What a thread has in registers from stage to stage.
struct Flight<C: Config> {
    panels: Panels,
    /// The next line to write.
    a: Array<Unit, C::AVecs>,
    b: Array<Unit, C::BVecs>,
    /// The scales of the next panel.
    loaded_scales: Unit,
    /// The scales of this one.
    scales: PanelScales<C>,
    slots: Slots,
}

/// Multiplies `count` panels, not 0.
///
/// # Safety
/// The panels are whole, and all threads of the workgroup call this.
#[inline(always)]
unsafe fn alternate<C: Config<Multiply: SixBitFormat>>(
    gemm: &mut BlockGemm<C>,
    panels: Panels,
    count: u32,
) {
    // SAFETY: the caller promises whole panels, and `Panels` stays within them. Stages are written and read in the slots that
    // the module's documentation gives, with a barrier between any two.
    unsafe {
        let (a, b, loaded_scales) = (
            gemm.load_line_a(&panels, 0),
            gemm.load_line_b(&panels, 0),
            gemm.load_panel_scales(&panels),
        );
        let slots = gemm.slots();
        gemm.store_line_a(slots, 0, a);
        gemm.store_line_b(slots, 0, b);
        gemm.store_panel_scales(loaded_scales);
        let (a, b) = (gemm.load_line_a(&panels, 1), gemm.load_line_b(&panels, 1));
        arch::Workgroup.wait();
        let scales = gemm.read_panel_scales();
        let mut flight = Flight {
            panels,
            a,
            b,
            loaded_scales,
            scales,
            slots: slots.next(),
        };
        let half = gemm.half();
        if half == 1 {
            arch::barrier();
        }
        for _ in 0..count {
            multiply_stage::<C, 0>(gemm, &mut flight);
            flight.panels.advance();
            multiply_stage::<C, 1>(gemm, &mut flight);
            multiply_stage::<C, 2>(gemm, &mut flight);
            multiply_stage::<C, 3>(gemm, &mut flight);
        }
        if half == 0 {
            arch::barrier();
        }
    }
}

/// Multiplies a stage of a panel, and meanwhile moves a line and scales as the module's documentation says.
///
/// # Safety
/// As [`alternate`].
#[inline(always)]
unsafe fn multiply_stage<C: Config<Multiply: SixBitFormat>, const STAGE: i32>(
    gemm: &mut BlockGemm<C>,
    flight: &mut Flight<C>,
) {
    const { assert!(PANEL_STAGES == 4 && STEPS == 2) }
    // SAFETY: as the caller promises.
    unsafe {
        if STAGE == 0 {
            flight.scales = gemm.read_panel_scales();
        }
        move_a::<C, STAGE>(gemm, flight);
        if const { BlockGemm::<C>::M * BlockGemm::<C>::N > BLOCKS } {
            let operands = gemm.read_step(flight.slots, &flight.scales, 0);
            begin_turn();
            gemm.multiply_step::<STAGE>(&operands);
            end_turn();
            move_b::<C, STAGE>(gemm, flight);
            let operands = gemm.read_step(flight.slots, &flight.scales, 1);
            begin_turn();
            gemm.multiply_step::<STAGE>(&operands);
            end_turn();
        } else {
            move_b::<C, STAGE>(gemm, flight);
            let first = gemm.read_step(flight.slots, &flight.scales, 0);
            let second = gemm.read_step(flight.slots, &flight.scales, 1);
            begin_turn();
            gemm.multiply_step::<STAGE>(&first);
            gemm.multiply_step::<STAGE>(&second);
            end_turn();
        }
    }
    flight.slots = flight.slots.next();
}

/// The line that is written in a stage, and the one that is loaded then.
const fn lines(stage: i32) -> Option<(usize, usize)> {
    match stage {
        0 => Some((1, 2)),
        1 => Some((2, 0)),
        2 => None,
        _ => Some((0, 1)),
    }
}

/// Writes the line of A that has been loaded, and loads the next one.
///
/// # Safety
/// As [`alternate`].
#[inline(always)]
unsafe fn move_a<C: Config<Multiply: SixBitFormat>, const STAGE: i32>(
    gemm: &BlockGemm<C>,
    flight: &mut Flight<C>,
) {
    arch::sched_barrier();
    if let Some((write, load)) = const { lines(STAGE) } {
        // SAFETY: as the caller promises.
        unsafe {
            gemm.store_line_a(flight.slots, write, flight.a);
            arch::sched_barrier();
            flight.a = gemm.load_line_a(&flight.panels, load);
        }
    }
    arch::sched_barrier();
}

/// The same of B, and the scales, which have no line in two stages.
///
/// # Safety
/// As [`alternate`].
#[inline(always)]
unsafe fn move_b<C: Config<Multiply: SixBitFormat>, const STAGE: i32>(
    gemm: &BlockGemm<C>,
    flight: &mut Flight<C>,
) {
    arch::sched_barrier();
    // SAFETY: as the caller promises.
    unsafe {
        if let Some((write, load)) = const { lines(STAGE) } {
            gemm.store_line_b(flight.slots, write, flight.b);
            arch::sched_barrier();
            flight.b = gemm.load_line_b(&flight.panels, load);
        }
        match STAGE {
            1 => flight.loaded_scales = gemm.load_panel_scales(&flight.panels),
            2 => gemm.store_panel_scales(flight.loaded_scales),
            _ => {}
        }
    }
    arch::sched_barrier();
}
