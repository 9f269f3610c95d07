//! Step 10, block order and pass order: a matrix instruction with four blocks, and two ways to schedule
//! four of them.
//!
//! ```text
//! for k = 0, 4, 8, …:   C[i][j] ← Σₚ A[i][k + p] · B[k + p][j] + C[i][j]      p = 0 … 3
//! at the end:           C[i][j] ← α · C[i][j] + β · old C[i][j]
//!
//!      C's tile, 64 × 64, one wave            B[k + p]: lane j holds column j
//!        16    16    16    16                 ┌─────┬─────┬─────┬─────┐
//!      ┌─────┬─────┬─────┬─────┐           ┌─┐├─────┼─────┼─────┼─────┤
//!   16 │ 1st instruction: 4 blocks           │0││  all four blocks of D take block 0 of A
//!      ├─────┼─────┼─────┼─────┤           ├─┤├─────┼─────┼─────┼─────┤
//!   16 │ 2nd                                 │1││                     1
//!      ├─────┼─────┼─────┼─────┤           ├─┤
//!   16 │ 3rd                                 │2│    A[…][k + p]: lane i holds row i
//!      ├─────┼─────┼─────┼─────┤           ├─┤
//!   16 │ 4th                                 │3│
//!      └─────┴─────┴─────┴─────┘           └─┘
//! ```
//!
//! `v_mfma_f32_16x16x1_4b_f32` multiplies four blocks of 16 × 1 by 1 × 16. With one block of A for all four
//! (CBSZ = 2, selected by ABID) it computes 16 × 64 elements of C from registers that hold 64 rows of A and 64
//! columns of B; four of them compute 64 × 64. [`crate::matrix`] has the map of lanes to elements.
//!
//! - **Block order**: in each step of k, one block of 16 rows is loaded from C, gets its four
//!   instructions, and is stored before the next one is loaded: 16 registers of sums.
//! - **Pass order**: all four are loaded, then all instructions are issued, then all are stored: 64
//!   registers, and one wait for C where block order has four.
//!
//! **What it adds to step 6.** Each element of A and B is loaded once for 64 multiplications instead of 16, and a
//! wave issues 4 (block order) or 16 (pass order) instructions of 1,024 multiply-adds between waits for C. But a
//! workgroup has only one wave, and C, with 16 times as many elements as each operand of a step, goes through memory
//! in every step. On MI100, block order took 29.0 ms and pass order 26.1 ms, slower than all other steps (published,
//! as in step 6). They are here to show the effect of the order; step 9 keeps C in the accumulators.
//!
//! **α, β.** As in step 6 the old C is kept in registers, 64 of them in both orders.
//!
//! **Edges.** As in step 6, with the addresses of C in scalar registers: a lane's offset from them is the same for all
//! elements of a block. LDS: none.

use super::{
    Product,
    uncached::{AccumulatorStorage, Uncached},
};
use crate::{
    arch,
    matrix::{F32x16x16x1By4, FourBlocks},
    tile::{
        global::Input,
        index::{LANES, Thread},
    },
};
use ferrowave_shared::{
    BlockTile,
    catalogue::{MFMA_BLOCK_ORDER_F32 as ROW, MFMA_PASS_ORDER_F32},
};

const TILE: BlockTile = ROW.tile;
const THREADS: usize = ROW.block.threads();
const _: () = assert!(
    MFMA_PASS_ORDER_F32.tile.m == TILE.m
        && MFMA_PASS_ORDER_F32.tile.n == TILE.n
        && MFMA_PASS_ORDER_F32.tile.k == TILE.k
        && MFMA_PASS_ORDER_F32.block.threads() == THREADS,
    "the orders differ in nothing else"
);
const _: () = assert!(
    TILE.m == 64 && TILE.n == 64 && THREADS == LANES,
    "a lane for each row of A and each column of B"
);

/// Computes 64 × 64 elements of C per wave, 16 rows at a time.
///
/// # Safety
/// The kernel was launched with the block of the rows.
#[inline(always)]
pub(super) unsafe fn run_block_order(product: Product<f32, f32>) {
    // SAFETY: as the caller promises.
    unsafe { run::<BlockOrder>(product) };
}

/// Computes 64 × 64 elements of C per wave, all rows at once.
///
/// # Safety
/// The kernel was launched with the block of the rows.
#[inline(always)]
pub(super) unsafe fn run_pass_order(product: Product<f32, f32>) {
    // SAFETY: as the caller promises.
    unsafe { run::<PassOrder>(product) };
}

/// The order in which a step's products are added to the four blocks of C.
trait Order {
    fn add(c: &mut [impl AccumulatorStorage<FourBlocks>; 4], step: &Step);
}

struct BlockOrder;

impl Order for BlockOrder {
    #[inline(always)]
    fn add([c0, c1, c2, c3]: &mut [impl AccumulatorStorage<FourBlocks>; 4], step: &Step) {
        c0.store(step.multiply::<0>(c0.load()));
        c1.store(step.multiply::<1>(c1.load()));
        c2.store(step.multiply::<2>(c2.load()));
        c3.store(step.multiply::<3>(c3.load()));
    }
}

struct PassOrder;

impl Order for PassOrder {
    #[inline(always)]
    fn add([c0, c1, c2, c3]: &mut [impl AccumulatorStorage<FourBlocks>; 4], step: &Step) {
        let [s0, s1, s2, s3] = [c0.load(), c1.load(), c2.load(), c3.load()];
        let (s0, s1) = (step.multiply::<0>(s0), step.multiply::<1>(s1));
        let (s2, s3) = (step.multiply::<2>(s2), step.multiply::<3>(s3));
        c0.store(s0);
        c1.store(s1);
        c2.store(s2);
        c3.store(s3);
    }
}

/// Adds the products of all steps of k in the order `O`.
///
/// # Safety
/// The kernel was launched with the block of the rows.
#[inline(always)]
unsafe fn run<O: Order>(product: Product<f32, f32>) {
    // SAFETY: the block is the rows', as the caller promises.
    let thread = unsafe { arch::thread::<THREADS>() };
    let (_, lane) = thread.wave_and_lane::<1>();
    let (rows, column) = F32x16x16x1By4::d(lane);
    // SAFETY: lanes and blocks hold different elements of the tile.
    let block = |number: u32| unsafe {
        let row = 16 * number + 4 * rows.get();
        Uncached::new(&product, row, column.get(), FourBlocks::ZERO)
    };
    let mut c = [block(0), block(1), block(2), block(3)];
    if let Some((a, b)) = product.factors() {
        let mut k = 0;
        let [c0, c1, c2, c3] = &mut c;
        let near =
            a.is_near(TILE.m as u32, TILE.k as u32) && b.is_near(TILE.k as u32, TILE.n as u32);
        // The same in all lanes.
        if near
            && let (Some(c0), Some(c1), Some(c2), Some(c3)) =
                (c0.whole(), c1.whole(), c2.whole(), c3.whole())
        {
            let mut c = [c0, c1, c2, c3];
            let end = a.columns() / TILE.k as u32 * TILE.k as u32;
            while k < end {
                // SAFETY: A has the rows and B the columns of the tile, since C has it, and both have these k.
                let step = unsafe { Step::load_whole(&a, &b, thread, k) };
                O::add(&mut c, &step);
                k += TILE.k as u32;
            }
        }
        for k in (k..a.columns()).step_by(TILE.k) {
            O::add(&mut c, &Step::load(&a, &b, thread, k));
        }
    }
    let [c0, c1, c2, c3] = c;
    c0.finish();
    c1.finish();
    c2.finish();
    c3.finish();
}

/// A lane's elements of A and B in a step of k.
struct Step {
    a: [f32; TILE.k],
    b: [f32; TILE.k],
}

impl Step {
    /// The elements from `k` on of the row of A and the column of B with the lane's number.
    #[inline(always)]
    fn load(a: &Input<f32>, b: &Input<f32>, lane: Thread<THREADS>, k: u32) -> Self {
        let number = lane.number();
        Self {
            a: core::array::from_fn(|p| a.element_or_zero(number, k + p as u32)),
            b: core::array::from_fn(|p| b.element_or_zero(k + p as u32, number)),
        }
    }

    /// The same if all of them are in the matrices.
    ///
    /// # Safety
    /// All of them exist, and those of the tile's first step are [near](Input::is_near).
    #[inline(always)]
    unsafe fn load_whole(a: &Input<f32>, b: &Input<f32>, lane: Thread<THREADS>, k: u32) -> Self {
        let number = lane.number();
        // SAFETY: as the caller promises.
        unsafe {
            let (a, b) = (a.part(0, k), b.part(k, 0));
            Self {
                a: core::array::from_fn(|p| a.near(number, p as u32)),
                b: core::array::from_fn(|p| b.near(p as u32, number)),
            }
        }
    }

    /// Adds the step's products to a block of 16 rows.
    #[inline(always)]
    fn multiply<const BLOCK: i32>(&self, sums: FourBlocks) -> FourBlocks {
        let [a0, a1, a2, a3] = self.a;
        let [b0, b1, b2, b3] = self.b;
        let sums = arch::mfma::f32_16x16x1_4b_f32::<BLOCK>(a0, b0, sums.0);
        let sums = arch::mfma::f32_16x16x1_4b_f32::<BLOCK>(a1, b1, sums);
        let sums = arch::mfma::f32_16x16x1_4b_f32::<BLOCK>(a2, b2, sums);
        FourBlocks(arch::mfma::f32_16x16x1_4b_f32::<BLOCK>(a3, b3, sums))
    }
}
