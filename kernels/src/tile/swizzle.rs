//! Swizzles of LDS tiles: each moves the columns of a row, so that lanes that access a tile at the same time
//! find their elements in different banks without any padding.
//!
//! LDS serves 32 banks of 4 bytes a cycle, or 64 on gfx950. Each swizzle here is an exclusive or of the
//! column with bits of the row. It is free of conflicts for 32 lanes with 32 banks and for 64 lanes with
//! 64 banks alike, so that it does not matter how many lanes a GPU serves at once; the tests of
//! `tile::banks` prove both.

/// Which column of a row an element's place is.
pub trait Swizzle {
    /// A swizzle stays within groups of so many columns, a power of two.
    const REACH: usize;

    /// Whether four columns from a multiple of four on stay next to each other.
    const KEEPS_PIECES: bool;

    /// The exclusive or of the columns of a row: below [`REACH`](Self::REACH).
    fn mask(row: u32) -> u32;

    /// The place of `(row, column)` in its row.
    #[inline(always)]
    fn place(row: u32, column: u32) -> u32 {
        // In this form constant multiples of REACH become the offset of the instruction, and what is
        // computed is the same for all of them.
        let within = column % Self::REACH as u32;
        column - within + (within ^ Self::mask(row))
    }
}

/// No swizzle.
pub struct Straight;

impl Swizzle for Straight {
    const REACH: usize = 1;
    const KEEPS_PIECES: bool = true;

    #[inline(always)]
    fn mask(_: u32) -> u32 {
        0
    }
}

/// For lanes that read 16 rows and 2 or 4 neighbouring columns: an operand's fragment whose rows are
/// so long that all begin in the same bank.
///
/// Row bits 0 to 2 swizzle column bits 2 to 4, above the 4 columns. Row bit 3 swizzles bit 5, the last
/// of 64 banks, and bit 1, which is left of 32 banks when only 2 columns are read at a time.
pub struct SixteenRows;

impl Swizzle for SixteenRows {
    const REACH: usize = 64;
    const KEEPS_PIECES: bool = false;

    #[inline(always)]
    fn mask(row: u32) -> u32 {
        (4 * (row % 16)) ^ (2 * (row / 8 % 2))
    }
}

/// For lanes that read 16 neighbouring columns and 2 or 4 rows of 32 columns.
///
/// With 32 banks the two rows of a pair must differ; with 64, where every other row begins in the same
/// bank, the first rows of two pairs, too.
pub struct FourRows;

impl Swizzle for FourRows {
    const REACH: usize = 32;
    const KEEPS_PIECES: bool = true;

    #[inline(always)]
    fn mask(row: u32) -> u32 {
        16 * ((row ^ (row / 2)) % 2)
    }
}

/// For lanes that write 16 or 32 neighbouring columns of two rows that are 4 apart: pieces along a column, on
/// their way into a row-major tile of 8 rows, which begin in the same bank. Lanes that read pieces along a row see them in another
/// order.
pub struct PiecesOfColumns;

impl Swizzle for PiecesOfColumns {
    const REACH: usize = 64;
    const KEEPS_PIECES: bool = true;

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
