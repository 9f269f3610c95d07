//! Tiles in LDS as rows of 64 or 128 bytes along k, in units of 16 bytes, whatever the elements are.
//!
//! Both operands lie the same way: a row is a row of A or a column of B, and its bytes are
//! consecutive elements along k. A lane of a matrix instruction holds consecutive elements along k
//! of one row, so that it reads whole units.
//!
//! # Banks
//! LDS serves 32 banks of 4 bytes in a cycle (64 on gfx950), and a wave's access in phases: groups of
//! lanes whose bytes fill all banks once, if no two lanes need different words of one bank. Lanes
//! of a phase read one unit of different rows. Rows of 64 bytes, one after the other, put the same
//! unit of all even rows in the same four banks, so that 8 lanes take 4 cycles.
//!
//! [`Swizzled`] therefore stores unit `u` of row `r` at `4r + u`, or `8r + u`, with the lowest bits exchanged by
//! an exclusive or: bit `i` by the parity of `r & mask[i]`. That is a bijection of the units of a few
//! neighbouring rows, costs one instruction an address, once, and no memory. The masks were found by
//! a search over all small ones for those under which no access of a kernel has a conflict; the tests
//! here repeat the proof.

use core::{marker::PhantomData, simd::u32x4};

/// 16 bytes, the widest that one lane reads from LDS or global memory at once.
pub type Unit = u32x4;

/// The bytes of a [`Unit`].
pub const UNIT_BYTES: usize = size_of::<Unit>();

/// Where the units of a tile are in LDS.
pub trait Arrangement: Copy {
    /// Units of a row.
    const ROW_UNITS: usize;

    /// Bytes of a row.
    const ROW_BYTES: usize = Self::ROW_UNITS * UNIT_BYTES;

    /// How many units after the tile's first one unit `unit` of row `row` is.
    ///
    /// Linear over exclusive or: the position of the sum of two coordinates without common bits is the
    /// exclusive or of their positions. Only the lowest [`LOCAL_BITS`] bits mix rows.
    fn position(row: u32, unit: u32) -> u32;

    /// Row and unit at a position.
    #[inline(always)]
    fn at(position: u32) -> (u32, u32) {
        // Row by row the bits of a position depend on higher bits of the row alone, or on its own lower
        // ones: as many rounds as there are local bits settle them all.
        let units = Self::ROW_UNITS as u32;
        let mut plain = position;
        for _ in 0..LOCAL_BITS {
            plain ^= position ^ Self::position(plain / units, plain % units);
        }
        (plain / units, plain % units)
    }
}

/// Bits of a position in which rows are mixed.
pub const LOCAL_BITS: u32 = 4;

/// Row after row, of 64 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Arrangement for Plain {
    const ROW_UNITS: usize = 4;

    #[inline(always)]
    fn position(row: u32, unit: u32) -> u32 {
        Self::ROW_UNITS as u32 * row + unit
    }
}

/// Without bank conflicts, for elements of `SIZE` bytes in rows of `UNITS` units, in an LDS of `BANKS` banks.
#[derive(Clone, Copy, Debug)]
pub struct Swizzled<const SIZE: usize, const BANKS: usize, const UNITS: usize = 4>;

impl<const SIZE: usize, const BANKS: usize, const UNITS: usize> Swizzled<SIZE, BANKS, UNITS> {
    /// For each of the lowest bits of a position, the bits of the row that swizzle it.
    const MASKS: [u32; LOCAL_BITS as usize] = match (BANKS, SIZE, UNITS) {
        (32, 1, 4) => [0b10_0100, 0b1_0010, 0b100_0000, 0],
        (32, 2, 4) => [0b10_0100, 0b1_0010, 0b1000, 0],
        (32, 4, 4) => [0b1_0010, 0b100, 0b1000, 0],
        (32, 8, 4) => [0b10, 0b100, 0b1000, 0],
        (64, 1, 4) => [0b1000, 0b10_0100, 0b100_0000, 0b1_1000],
        (64, 2, 4) => [0b100, 0b1000, 0b1_0000, 0b10_0000],
        (64, 4, 4) => [0b100, 0b110, 0b1_0000, 0b1000],
        (64, 8, 4) => [0b1000, 0b1010, 0b1_0010, 0b100],
        (64, 1, 8) => [0b10, 0b10_0100, 0b100_1000, 0b1_0000],
        _ => panic!(
            "elements have 1, 2, 4 or 8 bytes, LDS 32 or 64 banks, rows 4 units, or 8 of single bytes in 64 banks"
        ),
    };
}

impl<const SIZE: usize, const BANKS: usize, const UNITS: usize> Arrangement
    for Swizzled<SIZE, BANKS, UNITS>
{
    const ROW_UNITS: usize = UNITS;

    #[inline(always)]
    fn position(row: u32, unit: u32) -> u32 {
        let mut swizzle = 0;
        let mut bit = 0;
        while bit < LOCAL_BITS {
            let parity = (row & Self::MASKS[bit as usize]).count_ones() & 1;
            swizzle |= parity << bit;
            bit += 1;
        }
        (UNITS as u32 * row + unit) ^ swizzle
    }
}

/// A position that a lane computes once, for its first row and unit. Others are a constant away.
#[derive(Clone, Copy, Debug)]
pub struct Place<R> {
    position: u32,
    arrangement: PhantomData<R>,
}

impl<R: Arrangement> Place<R> {
    /// The place of unit `unit` of row `row`.
    #[inline(always)]
    pub fn new(row: u32, unit: u32) -> Self {
        Self {
            position: R::position(row, unit),
            arrangement: PhantomData,
        }
    }

    /// The place some units further.
    #[inline(always)]
    #[must_use]
    pub fn plus(self, units: u32) -> Self {
        Self {
            position: self.position + units,
            ..self
        }
    }

    /// The position `rows` and `units` further, which are constants without common bits with the
    /// place's own row and unit.
    ///
    /// Written so that the part that rows don't mix becomes the offset of the instruction, and what is
    /// computed is the same for most constants.
    #[inline(always)]
    pub fn further(self, rows: u32, units: u32) -> usize {
        let constant = R::position(rows, units);
        let local = constant & ((1 << LOCAL_BITS) - 1);
        (self.position ^ local) as usize + (constant - local) as usize
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::tile::banks::{Access, degree};
    use std::collections::HashSet;

    fn check<const SIZE: usize, const BANKS: usize, const UNITS: usize>(edge: u32) {
        let position = Swizzled::<SIZE, BANKS, UNITS>::position;
        let units = UNITS as u32;
        // A bijection, and undone.
        let all: HashSet<u32> = (0..256)
            .flat_map(|row| (0..units).map(move |unit| position(row, unit)))
            .collect();
        assert_eq!(all.len(), 256 * UNITS);
        assert!(all.into_iter().max() == Some(256 * units - 1));
        for place in 0..256 * units {
            let (row, unit) = Swizzled::<SIZE, BANKS, UNITS>::at(place);
            assert_eq!(position(row, unit), place);
        }
        // Reads of operands: block by block, step by step.
        for first in (0..256).step_by(edge as usize) {
            for step in (0..UNITS).step_by(64 / edge as usize) {
                let address =
                    |lane| 16 * position(first + lane % edge, step as u32 + lane / edge) as usize;
                assert_eq!(degree(BANKS, Access::Read(16), address), 1, "read");
            }
        }
        // Writes of rows along k.
        for thread in (0..256 * units).step_by(64) {
            let address =
                |lane| 16 * position((thread + lane) / units, (thread + lane) % units) as usize;
            assert_eq!(degree(BANKS, Access::Write(16), address), 1, "write");
        }
    }

    #[test]
    fn operands_are_read_and_rows_written_without_bank_conflicts() {
        check::<1, 32, 4>(32);
        check::<2, 32, 4>(32);
        check::<4, 32, 4>(32);
        check::<8, 32, 4>(16);
        check::<1, 64, 4>(32);
        check::<2, 64, 4>(32);
        check::<4, 64, 4>(32);
        check::<8, 64, 4>(16);
        check::<1, 64, 8>(32);
    }

    /// What step 11 pays, and step 12 takes away.
    #[test]
    fn without_the_exchange_reads_have_conflicts_of_degree_4() {
        let address = |lane| 16 * Plain::position(lane % 32, lane / 32) as usize;
        assert_eq!(degree(32, Access::Read(16), address), 4);
        assert_eq!(degree(64, Access::Read(16), address), 4);
    }

    /// The writes of blocks that were turned, of so many bytes each: threads, and the rows and bytes of k
    /// of a block, as `TileLoader` gives them out.
    fn turned<const SIZE: usize, const BANKS: usize, const UNITS: usize>(
        rows: usize,
        units: usize,
    ) -> usize {
        let per_row = 16 / SIZE;
        let groups = (16 * UNITS / SIZE / units) as u32;
        let bytes = units * SIZE;
        let piece = bytes.min(16);
        let threads = (rows * UNITS / units) as u32;
        let mut worst = 0;
        for wave in (0..threads).step_by(64) {
            for row in 0..per_row {
                for part in 0..bytes / piece {
                    let address = |lane: u32| {
                        let thread = wave + lane;
                        let (high, low) = (thread / 8, thread % 8);
                        let (block, group) = (high / groups * 8 + low, high % groups);
                        let byte = group as usize * bytes + part * piece;
                        let row = block * per_row as u32 + row as u32;
                        let unit = Swizzled::<SIZE, BANKS, UNITS>::position(row, byte as u32 / 16);
                        16 * unit as usize + byte % 16
                    };
                    worst = worst.max(degree(BANKS, Access::Write(piece), address));
                }
            }
        }
        worst
    }

    /// The shares of the catalogue's rows: 256 or 128 rows, 1 to 4 units a thread.
    #[test]
    fn turned_rows_are_written_without_bank_conflicts() {
        for (rows, units) in [(256, 4), (256, 2), (128, 2), (128, 1)] {
            assert_eq!(turned::<1, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(turned::<2, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(turned::<4, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(turned::<8, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(turned::<1, 64, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(turned::<2, 64, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(turned::<4, 64, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(turned::<8, 64, 4>(rows, units), 1, "{rows} {units}");
        }
        for (rows, units) in [(256, 4), (128, 2)] {
            assert_eq!(turned::<1, 64, 8>(rows, units), 1, "{rows} {units}");
        }
    }
}
