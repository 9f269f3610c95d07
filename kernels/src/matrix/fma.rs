//! Products of blocks in f32 by multiply-adds of the vector unit, on RDNA, whose matrix instructions take no f32.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{LaneMap, Multiply};
use crate::{arch, tile::operand::Unit};
use core::{
    intrinsics::simd::simd_fma,
    simd::{f32x2, f32x4},
};

/// The extents, and what is XORed for blocks side by side, are those of WMMA.
type Map16x16 = LaneMap<16, 2, 1, 1>;

/// f32: `v_fmac_f32`, mostly in pairs (`v_dual_fmac_f32`).
///
/// ```text
/// lane l    rows 2 ⌊l / 4⌋ and 2 ⌊l / 4⌋ + 1 of A, columns 4 (l mod 4) to 4 (l mod 4) + 3 of B, and the sums of both
/// ```
///
/// A lane has 4 elements along k of each row and column. Blocks that are above each other take the same columns, and blocks
/// side by side the same rows, so that a wave of 4 × 2 blocks reads 8 rows and 8 columns a lane for 256 multiply-adds.
pub(crate) struct F32;

/// Rows and columns of a block that a lane has.
const ROWS: usize = 2;
const COLUMNS: usize = 4;

impl F32 {
    /// The lane's elements of a row or column.
    #[inline(always)]
    fn elements(unit: Unit) -> f32x4 {
        // SAFETY: both have the same size, and any bits are floats.
        unsafe { core::mem::transmute(unit) }
    }
}

impl Multiply for F32 {
    type Element = u32;
    type Output = f32;
    type Sum = f32;
    type Sums = [f32; ROWS * COLUMNS];
    type Operand = [f32x4; ROWS];
    type OperandB = [f32x4; COLUMNS];

    const LANES: usize = Map16x16::LANES;
    const EDGE: usize = Map16x16::EDGE;
    const K_GROUPS: usize = Map16x16::K_GROUPS;
    // Four lanes in sequence read the same row of A, or four different columns of B.
    const READERS: usize = 8;
    const OPERAND_UNITS: usize = 1;
    const B_UNITS: usize = 1;
    const B_GROUP_UNITS: usize = 1;
    const INDEX_WORDS: usize = 0;
    const SCALE_BYTES: usize = 0;
    // One multiply-add for each sum.
    const INSTRUCTIONS: usize = 4;
    const ON_VECTOR_UNIT: bool = true;
    const ZERO: Self::Sums = [0.0; ROWS * COLUMNS];

    #[inline(always)]
    fn rows(lane: u32) -> (u32, u32) {
        let (rows, columns) = (ROWS as u32, COLUMNS as u32);
        (lane / columns * rows, lane % columns * columns)
    }

    #[inline(always)]
    fn operand(unit: impl Fn(u32, u32) -> Unit, _: impl Fn() -> u32) -> Self::Operand {
        [Self::elements(unit(0, 0)), Self::elements(unit(1, 0))]
    }

    #[inline(always)]
    fn operand_b(unit: impl Fn(u32, u32) -> Unit, _: impl Fn() -> u32) -> Self::OperandB {
        [
            Self::elements(unit(0, 0)),
            Self::elements(unit(1, 0)),
            Self::elements(unit(2, 0)),
            Self::elements(unit(3, 0)),
        ]
    }

    #[inline(always)]
    fn multiply(
        part: usize,
        a: Self::Operand,
        b: Self::OperandB,
        mut sums: Self::Sums,
    ) -> Self::Sums {
        // The bank of an element's register follows from its k. A pair's operands must be in different banks, so the second
        // multiply-add of a pair has the k beside that of the first.
        let (first, second) = (part, part ^ 1);
        macro_rules! pair {
            ($i:literal, $j:literal) => {{
                let number = COLUMNS * $i + $j;
                let rows = f32x2::from_array([a[$i][first], a[$i][second]]);
                let columns = f32x2::from_array([b[$j][first], b[$j + 1][second]]);
                let pair = f32x2::from_array([sums[number], sums[number + 1]]);
                // SAFETY: the intrinsic is defined for all vectors of floats.
                let pair = unsafe { simd_fma(rows, columns, pair) }.to_array();
                [sums[number], sums[number + 1]] = pair;
            }};
        }
        pair!(0, 0);
        pair!(0, 2);
        pair!(1, 0);
        pair!(1, 2);
        // No part is delayed: its multiply-adds can be pairs, as none waits for another.
        for number in 0..ROWS * COLUMNS {
            sums[number] = arch::computed(sums[number]);
        }
        sums
    }

    #[inline(always)]
    fn sum_position(row: u32, unit: u32, beside: u32) -> u32 {
        // Two of the rows that eight lanes write fill all banks, as do two neighbours, which they read. In the other order of
        // reads (`tile::banks`), two blocks side by side have conflicts of degree 2.
        (Self::SUM_UNITS * row + unit) ^ (row / 2 % 2 * 4) ^ beside
    }

    #[inline(always)]
    fn beside(number: u32, blocks: u32) -> u32 {
        Map16x16::beside(number, blocks)
    }

    #[inline(always)]
    unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit, beside: u32) {
        let (row, column) = Self::rows(lane);
        let unit = column / COLUMNS as u32;
        let first = Self::sum_position(row, unit, beside) as usize;
        let second = Self::sum_position(row + 1, unit, beside) as usize;
        let &[a, b, c, d, e, f, g, h] = sums;
        // SAFETY: the units are in the block, as the caller promises. Any bits are a unit.
        unsafe {
            block
                .add(first)
                .write(core::mem::transmute::<[f32; 4], Unit>([a, b, c, d]));
            block
                .add(second)
                .write(core::mem::transmute::<[f32; 4], Unit>([e, f, g, h]));
        }
    }
}
