//! Swizzles of LDS tiles: each permutes the columns of a row, so that lanes that access a tile at the same
//! time use different banks, without padding.
//!
//! LDS has 32 banks of 4 bytes, or 64 on gfx950. Each swizzle here is an XOR of the column with bits of the
//! row. It is free of conflicts both for 32 lanes on 32 banks and for 64 lanes on 64 banks, so it suits all
//! GPUs; the tests of `tile::banks` prove both.

/// A permutation of the columns of each row.
pub trait Swizzle {
    /// Columns are permuted within groups of this many, a power of two.
    const REACH: usize;

    /// Whether four columns that begin at a multiple of four stay contiguous.
    const KEEPS_PIECES: bool;

    /// Whether four rows that begin at a multiple of four are permuted alike.
    const KEEPS_COLUMNS: bool;

    /// What the columns of a row are XORed with: below [`REACH`](Self::REACH).
    fn mask(row: u32) -> u32;

    /// The position of `(row, column)` in its row.
    #[inline(always)]
    fn place(row: u32, column: u32) -> u32 {
        // In this form constant multiples of REACH become the instruction's offset, and the computed
        // part is the same for all of them.
        let within = column % Self::REACH as u32;
        column - within + (within ^ Self::mask(row))
    }
}

/// No swizzle.
pub struct Straight;

impl Swizzle for Straight {
    const REACH: usize = 1;
    const KEEPS_PIECES: bool = true;
    const KEEPS_COLUMNS: bool = true;

    #[inline(always)]
    fn mask(_: u32) -> u32 {
        0
    }
}

/// For lanes that read 16 rows and 2 or 4 neighbouring columns: an operand's fragment whose rows are
/// so long that all begin in the same bank.
///
/// Row bits 0 to 2 swizzle column bits 2 to 4, above the 4 columns. Row bit 3 swizzles column bit 5, the
/// highest bit of 64 banks, and bit 1, which is free on 32 banks, where only 2 columns are read at a time.
pub struct SixteenRows;

impl Swizzle for SixteenRows {
    const REACH: usize = 64;
    const KEEPS_PIECES: bool = false;
    const KEEPS_COLUMNS: bool = false;

    #[inline(always)]
    fn mask(row: u32) -> u32 {
        (4 * (row % 16)) ^ (2 * (row / 8 % 2))
    }
}

/// For lanes that read 16 neighbouring columns and 2 or 4 rows of 32 columns.
///
/// With 32 banks, the two rows of a pair begin in the same bank and must differ. With 64, every other row
/// begins in the same bank, so rows that are 2 apart must differ, too.
pub struct FourRows;

impl Swizzle for FourRows {
    const REACH: usize = 32;
    const KEEPS_PIECES: bool = true;
    const KEEPS_COLUMNS: bool = false;

    #[inline(always)]
    fn mask(row: u32) -> u32 {
        16 * ((row ^ (row / 2)) % 2)
    }
}

/// For lanes that write 16 or 32 neighbouring columns of two rows that are 4 apart: pieces along a column that are
/// transposed into a row-major tile of 8 rows, all of which begin in the same bank. Reads of pieces along a row stay
/// free of conflicts.
pub struct PiecesOfColumns;

impl Swizzle for PiecesOfColumns {
    const REACH: usize = 64;
    const KEEPS_PIECES: bool = true;
    const KEEPS_COLUMNS: bool = true;

    #[inline(always)]
    fn mask(row: u32) -> u32 {
        (16 + 32) * (row / 4 % 2)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn check<X: Swizzle>() {
        for row in 0..256 {
            let mut places: Vec<u32> = (0..128).map(|column| X::place(row, column)).collect();
            if X::KEEPS_PIECES {
                let pieces = places.as_chunks::<4>().0;
                for &[a, b, c, d] in pieces {
                    assert_eq!((a % 4, b, c, d), (0, a + 1, a + 2, a + 3));
                }
            }
            if X::KEEPS_COLUMNS {
                assert_eq!(X::mask(row), X::mask(row / 4 * 4));
            }
            for group in places.chunks_mut(X::REACH) {
                group.sort_unstable();
            }
            assert!(places.into_iter().eq(0..128));
        }
    }

    #[test]
    fn columns_change_places_within_their_reach() {
        check::<Straight>();
        check::<SixteenRows>();
        check::<FourRows>();
        check::<PiecesOfColumns>();
    }
}
