//! Step 12, swizzled LDS: step 11 without bank conflicts.
//!
//! ```text
//!   units of 16 bytes, by the four banks they are in      a phase of a read: one unit of 8 rows
//!
//!   step 11: unit u of row r at 4r + u                    step 12: swizzled by bits of r (f16)
//!        banks 0–3  4–7 …         … 28–31                      banks 0–3  4–7 …         … 28–31
//!   r=0,1   │ 00 │ 01 │ 02 │ 03 │ 10 │ 11 │ 12 │ 13 │     r=0,1   │ 00 │ 01 │ 02 │ 03 │ 10 │ 11 │ 12 │ 13 │
//!   r=2,3   │ 20 │ 21 │ 22 │ 23 │ 30 │ 31 │ 32 │ 33 │     r=2,3   │ 22 │ 23 │ 20 │ 21 │ 32 │ 33 │ 30 │ 31 │
//!   r=4,5   │ 40 │ 41 │ 42 │ 43 │ 50 │ 51 │ 52 │ 53 │     r=4,5   │ 41 │ 40 │ 43 │ 42 │ 51 │ 50 │ 53 │ 52 │
//!   r=6,7   │ 60 │ 61 │ 62 │ 63 │ 70 │ 71 │ 72 │ 73 │     r=6,7   │ 63 │ 62 │ 61 │ 60 │ 73 │ 72 │ 71 │ 70 │
//!             unit 0 of 8 rows: two places, 4 cycles        unit 0 of 8 rows: eight places, 1 cycle
//! ```
//!
//! **What it adds to step 11.** An LDS layout, [`Swizzled`]; the loop is that of step 11. A swizzle is an XOR of a few
//! bits of the address. A lane computes it once, and unlike padding it takes no memory.
//!
//! **Banks.** LDS has 32 banks of 4 bytes (64 on gfx950) and serves a wave's access in phases: groups of lanes whose
//! bytes fill all banks once. A phase takes one cycle if no two lanes need different words of one bank. Lanes of a
//! phase read the same unit of different rows. With rows of 64 bytes, one after the other, the same unit of all even
//! rows is in the same four banks, so that 8 lanes take 4 cycles.
//!
//! **The rule.** Unit `u` of row `r` is at `4r + u` (with rows of 128 bytes `8r + u`), with the lowest bits swizzled:
//! bit `i` is XORed with the parity of `r & mask[i]`. This is a bijection of the units of a few neighbouring rows. The
//! masks come from a search over all small masks for those without any conflict: in reads of operands, in writes of
//! rows along k and in writes of transposed rows. There are masks for 32 and for 64 banks, and others where only 16 lanes of
//! a wave read the same unit (blocks of 16 × 16). The tests in this file repeat the proof.
//!
//! **Expected gain.** In a step, a lane reads 4 units. The 4 KiB of a wave take 32 cycles of LDS without conflicts, and
//! 128 with conflicts of degree 4: 128 or 512 cycles for 4 waves. A matrix core needs 256 cycles for the step's 8
//! instructions in f16 on gfx942. So LDS limits step 11, and in step 12 the matrix cores are the limit once they do
//! not wait for loads from global memory, which the next steps achieve.

use crate::tile::operand::{LOCAL_BITS, LdsLayout, UNIT_BYTES};

/// The layout without bank conflicts: elements of `SIZE` bytes in rows of `UNITS` units, in an LDS of `BANKS` banks, where
/// `READERS` lanes in sequence read the same unit of different rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swizzled<
    const SIZE: usize,
    const BANKS: usize,
    const READERS: usize,
    const UNITS: usize = 4,
>;

impl<const SIZE: usize, const BANKS: usize, const READERS: usize, const UNITS: usize>
    Swizzled<SIZE, BANKS, READERS, UNITS>
{
    /// The bits of k that can differ in half of a wave whose reads transpose a tile.
    const BITS_OF_K: &[u32] = if SIZE == 1 { &[0, 1, 2, 4] } else { &[0, 1, 3] };

    /// For each of the lowest bits of a position, the mask of the row bits that swizzle it.
    const MASKS: [u32; LOCAL_BITS as usize] = match (BANKS, SIZE, UNITS, READERS) {
        (32, 1, 4, 32) => [0b10_0100, 0b1_0010, 0b100_0000, 0],
        (32, 2, 4, 32) => [0b10_0100, 0b1_0010, 0b1000, 0],
        (32, 4, 4, 32) => [0b1_0010, 0b100, 0b1000, 0],
        (32, 1, 4, 16) => [0b1_0010, 0b10_0100, 0b100_0000, 0],
        (32, 2, 4, 16) => [0b10_0010, 0b1_0100, 0b1000, 0],
        (32, 4, 4, 16) => [0b1_0010, 0b100, 0b1000, 0],
        (32, 8, 4, 16) => [0b10, 0b100, 0b1000, 0],
        // Multiply-adds of the vector unit.
        (32, 4, 4, 8) => [0b100, 0b1000, 0b1_0010, 0],
        (64, 1, 4, 32) => [0b1000, 0b10_0100, 0b100_0000, 0b1_1000],
        (64, 2, 4, 32) => [0b100, 0b1000, 0b1_0000, 0b10_0000],
        (64, 4, 4, 32) => [0b100, 0b110, 0b1_0000, 0b1000],
        (64, 1 | 2 | 4, 4, 16) => [0b10_0100, 0b1100, 0b1_0100, 0b1_0001],
        (64, 8, 4, 16) => [0b1000, 0b1010, 0b1_0010, 0b100],
        (32, 1, 8, 16 | 32) => [0b1, 0b100, 0b1_0010, 0],
        (32, 2, 8, 16 | 32) => [0b1, 0b1100, 0b1_0010, 0],
        // Only B of a product with a sparse A has these, along k.
        (64, 1, 8, 32) => [0b10, 0b10_0100, 0b100_1000, 0b1_0000],
        (64, 2, 8, 32) => [0b10, 0b1000, 0b10_0100, 0b1_0000],
        (32, 4, 8, 16) => [0b1_0010, 0b1001, 0b100, 0],
        (32, 8, 8, 16) => [0b1001, 0b100, 0b10, 0],
        (64, 1, 8, 16) => [0b100, 0b1_1100, 0b10, 0],
        (64, 2, 8, 16) => [0b10, 0b1_0100, 0b1000, 0],
        (64, 4, 8, 16) => [0b10, 0b1_0001, 0b1000, 0b100],
        (64, 8, 8, 16) => [0b1, 0b1000, 0b100, 0b10],
        _ => panic!("the search has not been done for this layout"),
    };
}

impl<const SIZE: usize, const BANKS: usize, const READERS: usize, const UNITS: usize> LdsLayout
    for Swizzled<SIZE, BANKS, READERS, UNITS>
{
    const ROW_UNITS: usize = UNITS;
    const IS_READ_ACROSS: bool = BANKS == 64 && SIZE <= 2;
    const SWIZZLED_BITS: u32 = if READERS == 8 { 3 } else { LOCAL_BITS };

    #[inline(always)]
    fn position_across(rows: usize, k: u32, unit: u32) -> u32 {
        let units = (rows * SIZE / UNIT_BYTES) as u32;
        let width = units.ilog2();
        let mut swizzle = 0;
        // The lowest bits of the unit also differ in half of a wave.
        let mut to = (READERS * SIZE / UNIT_BYTES).ilog2();
        for &from in Self::BITS_OF_K {
            // The other bits of k are among the lowest of the position already.
            if from + width >= LOCAL_BITS && to < width.min(LOCAL_BITS) {
                swizzle |= (k >> from & 1) << to;
                to += 1;
            }
        }
        (units * k + unit) ^ swizzle
    }

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

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::tile::{
        banks::{Access, degree},
        operand::{RowMajor, transposing_read},
    };
    use std::collections::HashSet;

    fn check<const SIZE: usize, const BANKS: usize, const READERS: usize, const UNITS: usize>(
        lanes: u32,
    ) {
        let position = Swizzled::<SIZE, BANKS, READERS, UNITS>::position;
        let edge = READERS as u32;
        let units = UNITS as u32;
        // A bijection, which `at` inverts.
        let all: HashSet<u32> = (0..256)
            .flat_map(|row| (0..units).map(move |unit| position(row, unit)))
            .collect();
        assert_eq!(all.len(), 256 * UNITS);
        assert!(all.into_iter().max() == Some(256 * units - 1));
        for place in 0..256 * units {
            let (row, unit) = Swizzled::<SIZE, BANKS, READERS, UNITS>::at(place);
            assert_eq!(position(row, unit), place);
        }
        // Reads of operands: block by block, step by step.
        for first in (0..256).step_by(edge as usize) {
            for step in (0..units).step_by((lanes / edge) as usize) {
                let address =
                    |lane| 16 * position(first + lane % edge, step + lane % lanes / edge) as usize;
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
        check::<1, 32, 32, 4>(64);
        check::<2, 32, 32, 4>(64);
        check::<4, 32, 32, 4>(64);
        check::<1, 32, 16, 4>(64);
        check::<2, 32, 16, 4>(64);
        check::<4, 32, 16, 4>(64);
        check::<8, 32, 16, 4>(64);
        check::<1, 64, 32, 4>(64);
        check::<2, 64, 32, 4>(64);
        check::<4, 64, 32, 4>(64);
        check::<1, 64, 16, 4>(64);
        check::<2, 64, 16, 4>(64);
        check::<4, 64, 16, 4>(64);
        check::<8, 64, 16, 4>(64);
        check::<1, 32, 32, 8>(64);
        check::<2, 32, 32, 8>(64);
        check::<1, 64, 32, 8>(64);
        check::<2, 64, 32, 8>(64);
        check::<1, 32, 16, 8>(64);
        check::<2, 32, 16, 8>(64);
        check::<4, 32, 16, 8>(64);
        check::<8, 32, 16, 8>(64);
        check::<1, 64, 16, 8>(64);
        check::<2, 64, 16, 8>(64);
        check::<4, 64, 16, 8>(64);
        check::<8, 64, 16, 8>(64);
        // WMMA of RDNA 4, in waves of 32 lanes.
        check::<1, 32, 16, 4>(32);
        check::<2, 32, 16, 4>(32);
        check::<1, 32, 16, 8>(32);
        check::<2, 32, 16, 8>(32);
    }

    /// The operands of multiply-adds: every other row of A for four lanes each, and every fourth column of B.
    #[test]
    fn operands_of_the_vector_unit_are_read_without_bank_conflicts() {
        type Layout = Swizzled<4, 32, 8>;
        for first in (0..128).step_by(16) {
            for unit in 0..4 {
                let check = |row: &dyn Fn(u32) -> u32| {
                    let address =
                        |lane| 16 * Layout::position(first + row(lane % 32), unit) as usize;
                    assert_eq!(degree(32, Access::Read(16), address), 1, "{first} {unit}");
                };
                for further in 0..4 {
                    check(&|lane| 2 * (lane / 4) + further % 2);
                    check(&|lane| 4 * (lane % 4) + further);
                }
            }
        }
        for (rows, units) in [(64, 2), (64, 4), (32, 1)] {
            assert_eq!(transposed::<4, 32, 8, 4>(rows, units), 1, "{rows} {units}");
        }
        for position in 0..256 {
            let (row, unit) = Layout::at(position);
            assert_eq!(Layout::position(row, unit), position);
        }
    }

    /// A tile of `rows` rows that stays across rows, on gfx950.
    fn check_across<const SIZE: usize, const READERS: usize>(rows: usize) {
        let position = |k, unit| Swizzled::<SIZE, 64, READERS>::position_across(rows, k, unit);
        let (size, edge, per_unit) = (SIZE as u32, READERS as u32, 16 / SIZE as u32);
        let (extent, units) = (128 / size, rows as u32 / per_unit);
        let all: HashSet<u32> = (0..extent)
            .flat_map(|k| (0..units).map(move |unit| position(k, unit)))
            .collect();
        assert_eq!(all.len() as u32, extent * units);
        assert_eq!(all.into_iter().max(), Some(extent * units - 1));
        // Reads of operands: block by block, half a unit after the other.
        for first in (0..rows as u32).step_by(READERS) {
            for half in 0..2 * 64 / edge {
                let address = |lane: u32| {
                    let (k, byte) = transposing_read(lane, size);
                    let row = first + lane % edge / 16 * 16;
                    let k = k + lane / edge * per_unit + half * (per_unit / 2);
                    let unit = row / per_unit + byte / 16;
                    (16 * position(k % extent, unit) + byte % 16) as usize
                };
                assert_eq!(
                    degree(64, Access::Read(8), address),
                    1,
                    "read {rows} {half}"
                );
            }
        }
        for thread in (0..extent * units).step_by(64) {
            let address = |lane| 16 * position((thread + lane) / units, (thread + lane) % units);
            for banks in [32, 64] {
                let address = |lane| address(lane) as usize;
                assert_eq!(degree(banks, Access::Write(16), address), 1, "write {rows}");
            }
        }
    }

    #[test]
    fn tiles_across_rows_are_read_and_written_without_bank_conflicts() {
        for rows in [32, 64, 128, 256] {
            check_across::<1, 32>(rows);
            check_across::<2, 32>(rows);
            check_across::<1, 16>(rows);
            check_across::<2, 16>(rows);
        }
    }

    /// WMMA's operands on RDNA 3: 16 rows, the same in both halves of a wave of 32 lanes, and two units of each.
    fn check_wmma<const SIZE: usize, const UNITS: usize>() {
        let position = Swizzled::<SIZE, 32, 32, UNITS>::position;
        for first in (0..256).step_by(16) {
            for unit in 0..UNITS as u32 {
                let address = |lane| 16 * position(first + lane % 16, unit) as usize;
                assert_eq!(degree(32, Access::Read(16), address), 1, "{first} {unit}");
            }
        }
    }

    #[test]
    fn repeated_operands_are_read_without_bank_conflicts() {
        check_wmma::<1, 4>();
        check_wmma::<2, 4>();
        check_wmma::<1, 8>();
        check_wmma::<2, 8>();
    }

    /// The conflicts of step 11, which step 12 removes.
    #[test]
    fn without_the_swizzle_reads_have_conflicts_of_degree_4() {
        let address = |lane| 16 * RowMajor::position(lane % 32, lane / 32) as usize;
        assert_eq!(degree(32, Access::Read(16), address), 4);
        assert_eq!(degree(64, Access::Read(16), address), 4);
    }

    /// The degree of the writes of transposed blocks, with the threads, rows and bytes of a block that
    /// `TileLoader` uses.
    fn transposed<
        const SIZE: usize,
        const BANKS: usize,
        const READERS: usize,
        const UNITS: usize,
    >(
        rows: usize,
        units: usize,
    ) -> usize {
        let per_row = 16 / SIZE;
        let groups = (16 * UNITS / SIZE / units) as u32;
        let bytes = units * SIZE;
        let piece = bytes.min(16);
        let threads = (rows * UNITS / units) as u32;
        // A tile of few rows has fewer blocks of them.
        let neighbours = (rows / per_row).min(8) as u32;
        let mut worst = 0;
        for wave in (0..threads).step_by(64) {
            for row in 0..per_row {
                for part in 0..bytes / piece {
                    let address = |lane: u32| {
                        let thread = wave + lane;
                        let (high, low) = (thread / neighbours, thread % neighbours);
                        let (block, group) = (high / groups * neighbours + low, high % groups);
                        let byte = group as usize * bytes + part * piece;
                        let row = block * per_row as u32 + row as u32;
                        let unit = Swizzled::<SIZE, BANKS, READERS, UNITS>::position(
                            row,
                            byte as u32 / 16,
                        );
                        16 * unit as usize + byte % 16
                    };
                    worst = worst.max(degree(BANKS, Access::Write(piece), address));
                }
            }
        }
        worst
    }

    /// The shares of the catalogue's rows: 256 or 128 rows, 1 to 4 units per thread.
    #[test]
    fn transposed_rows_are_written_without_bank_conflicts() {
        for (rows, units) in [(256, 4), (256, 2), (128, 2), (128, 1)] {
            assert_eq!(transposed::<1, 32, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<2, 32, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<4, 32, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<1, 32, 16, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<2, 32, 16, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<4, 32, 16, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<8, 32, 16, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<1, 64, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<2, 64, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<4, 64, 32, 4>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<8, 64, 16, 4>(rows, units), 1, "{rows} {units}");
        }
        for (rows, units) in [(256, 4), (128, 2)] {
            assert_eq!(transposed::<1, 64, 32, 8>(rows, units), 1, "{rows} {units}");
            assert_eq!(transposed::<2, 64, 32, 8>(rows, units), 1, "{rows} {units}");
        }
        for units in [1, 2] {
            assert_eq!(transposed::<1, 32, 16, 8>(32, units), 1, "{units}");
            assert_eq!(transposed::<2, 32, 16, 8>(32, units), 1, "{units}");
            assert_eq!(transposed::<1, 32, 32, 8>(32, units), 1, "{units}");
            assert_eq!(transposed::<2, 32, 32, 8>(32, units), 1, "{units}");
        }
        assert_eq!(transposed::<4, 32, 16, 8>(32, 1), 1);
        assert_eq!(transposed::<8, 32, 16, 8>(32, 1), 1);
        assert_eq!(transposed::<1, 64, 16, 8>(32, 1), 1);
        assert_eq!(transposed::<2, 64, 16, 8>(32, 1), 1);
        assert_eq!(transposed::<4, 64, 16, 8>(32, 1), 1);
        assert_eq!(transposed::<8, 64, 16, 8>(32, 1), 1);
        assert_eq!(transposed::<1, 32, 16, 4>(64, 2), 1);
        assert_eq!(transposed::<1, 32, 16, 4>(64, 1), 1);
        assert_eq!(transposed::<1, 64, 16, 4>(64, 1), 1);
        assert_eq!(transposed::<2, 32, 16, 4>(64, 1), 1);
        assert_eq!(transposed::<4, 32, 16, 4>(64, 1), 1);
        assert_eq!(transposed::<2, 64, 16, 4>(64, 1), 1);
        assert_eq!(transposed::<4, 64, 16, 4>(64, 1), 1);
        for (rows, units) in [(64, 2), (64, 4), (32, 2)] {
            assert_eq!(transposed::<2, 32, 16, 4>(rows, units), 1, "{rows} {units}");
        }
    }
}
