//! Which lane of a wave holds which element of a matrix-core operand.
//!
//! The maps are those of the CDNA ISA documents, chapter «Matrix arithmetic instructions». No other
//! module knows them.

use crate::tile::index::Index;

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
}
