//! Which lane of a wave holds which element of a matrix-core operand.
//!
//! The maps are those of AMD's «Matrix Instruction Calculator» and of the CDNA ISA documents. No
//! other module knows them.

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

    /// The 4 × 4 × 4 corner cases that AMD's calculator prints for this instruction.
    #[test]
    fn lanes_hold_what_the_calculator_says() {
        let lane = Index::<LANES>::wrapping;
        // `--register-layout -A`: A[5][2] is in lane 37.
        let (i, p) = F32x16x16x4::a(lane(37));
        assert_eq!((i.get(), p.get()), (5, 2));
        let (p, j) = F32x16x16x4::b(lane(37));
        assert_eq!((p.get(), j.get()), (2, 5));
        // D[9][3] is in register 1 of lane 35: rows 8 to 11.
        let (rows, j) = F32x16x16x4::d(lane(35));
        assert_eq!((rows.get() * 4, j.get()), (8, 3));
    }
}
