//! Which lane of a wave holds which element of a matrix-core operand.
//!
//! The maps are those of the CDNA ISA documents, chapter «Matrix arithmetic instructions». No other
//! module knows them.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use crate::tile::{index::Index, output::Fragment};

/// Lanes of a wave.
pub const LANES: usize = 64;

/// `v_mfma_f32_16x16x4_f32`: D ← A · B + C with A 16 × 4, B 4 × 16, C and D 16 × 16, in binary32.
///
/// ```text
/// A[i][p]   lane 16p + i                    one register
/// B[p][j]   lane 16p + j                    one register
/// D[i][j]   lane 16⌊i/4⌋ + j, register i mod 4    four registers
/// ```
pub struct F32x16x16x4;

impl F32x16x16x4 {
    /// Columns of A, rows of B.
    pub const K: usize = 4;

    /// Row and column of the element of A that `lane` holds.
    #[inline(always)]
    pub const fn a(lane: Index<LANES>) -> (Index<16>, Index<4>) {
        let (p, i) = lane.split();
        (i, p)
    }

    /// Row and column of the element of B that `lane` holds.
    #[inline(always)]
    pub const fn b(lane: Index<LANES>) -> (Index<4>, Index<16>) {
        lane.split()
    }

    /// Which group of four rows of D, one a register, and which column `lane` holds.
    #[inline(always)]
    pub const fn d(lane: Index<LANES>) -> (Index<4>, Index<16>) {
        lane.split()
    }
}

/// `v_mfma_f32_16x16x1_4b_f32` with CBSZ = 2, four blocks that share one block of A: D ← A · B + C with A
/// 16 × 1, B 1 × 64, C and D 16 × 64, in binary32.
///
/// The instruction takes four blocks of A, and ABID chooses which one all four products use. So four
/// instructions with the same operands and ABID from 0 to 3 multiply a column of 64 by a row of 64.
///
/// ```text
/// A[i]      block ABID of the column: lane 16 ABID + i                  one register
/// B[j]      lane j: block ⌊j / 16⌋ of the row                           one register
/// D[i][j]   lane 16⌊i/4⌋ + j mod 16, register 4⌊j/16⌋ + i mod 4         sixteen registers
/// ```
pub struct F32x16x16x1By4;

impl F32x16x16x1By4 {
    /// Which group of four rows of D, and which column of each block of 16, `lane` holds.
    #[inline(always)]
    pub const fn d(lane: Index<LANES>) -> (Index<4>, Index<16>) {
        lane.split()
    }
}

/// What a lane holds of D of [`F32x16x16x1By4`]: four rows, and one column of each of four blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FourBlocks(pub [f32; 16]);

impl FourBlocks {
    /// All zeros.
    pub const ZERO: Self = Self([0.0; 16]);
}

impl Fragment<1> for FourBlocks {
    type Sum = f32;

    #[inline(always)]
    fn for_each_run(&mut self, mut visit: impl FnMut(u32, u32, &mut [f32; 1])) {
        for register in 0..16 {
            let mut run = [self.0[register]];
            visit(register as u32 % 4, register as u32 / 4 * 16, &mut run);
            [self.0[register]] = run;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AMD gives the maps the other way round: the lane of an element.
    #[test]
    fn every_element_is_where_amd_says() {
        let lane = |number: usize| Index::<LANES>::wrapping(number as u32);
        for i in 0..16 {
            for p in 0..4 {
                let (row, column) = F32x16x16x4::a(lane(16 * p + i));
                assert_eq!((row.as_usize(), column.as_usize()), (i, p));
                let (row, column) = F32x16x16x4::b(lane(16 * p + i));
                assert_eq!((row.as_usize(), column.as_usize()), (p, i));
            }
            for j in 0..16 {
                let (rows, column) = F32x16x16x4::d(lane(16 * (i / 4) + j));
                assert_eq!((4 * rows.as_usize() + i % 4, column.as_usize()), (i, j));
            }
        }
    }

    #[test]
    fn every_element_of_four_blocks_is_where_amd_says() {
        let mut seen = 0;
        for i in 0..16 {
            for j in 0..64 {
                let lane = Index::wrapping(16 * (i / 4) + j % 16);
                let register = 4 * (j / 16) + i % 4;
                let mut fragment = FourBlocks::ZERO;
                fragment.0[register as usize] = 1.0;
                let (rows, column) = F32x16x16x1By4::d(lane);
                fragment.for_each_run(|down, right, &mut [value]| {
                    if value == 1.0 {
                        assert_eq!((4 * rows.get() + down, column.get() + right), (i, j));
                        seen += 1;
                    }
                });
            }
        }
        assert_eq!(seen, 16 * 64);
    }
}
