//! Which lane of a wave holds which element of a matrix instruction, and how the sums of lanes become rows of C.
//!
//! The maps are those of the CDNA ISA documents, chapter «Matrix arithmetic instructions», and of the RDNA 3 and RDNA 4 ISA
//! guides, «Wave Matrix Multiply Accumulate (WMMA)», as GPUOpen's «How to accelerate AI applications on RDNA 3 using WMMA»
//! and «Using the Matrix Cores of AMD RDNA 4 architecture GPUs» use them. No other module contains them.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use crate::tile::{
    index::{Index, LANES},
    operand::{UNIT_BYTES, Unit},
    output::Fragment,
};

/// The map of an instruction D ← A · B + C whose blocks of D have `EDGE` rows and columns. The lanes of a wave are
/// `GROUPS` groups of `EDGE`, and `RUN` registers of a lane in sequence hold neighbours down a column of D. Of A and B,
/// `K_GROUPS` groups hold different k: all of them, except that RDNA 3's WMMA takes the same operands in both halves of a
/// wave. `SWAPS`: whether a block GEMM may swap A and B.
///
/// ```text
/// A[i][p], B[p][i]    lane EDGE · g + i: each group g holds other k, or if K_GROUPS = 1 the same
/// D[i][j]             lane EDGE · (⌊i / RUN⌋ mod GROUPS) + j, register RUN · ⌊i / (RUN · GROUPS)⌋ + i mod RUN
/// ```
pub struct LaneMap<
    const EDGE: usize,
    const GROUPS: usize,
    const RUN: usize,
    const K_GROUPS: usize = GROUPS,
    const SWAPS: bool = true,
>;

/// `v_mfma_f32_16x16x4_f32`: A 16 × 4, B 4 × 16, one register each; D 16 × 16, four registers.
pub type F32x16x16x4 = LaneMap<16, 4, 4>;

/// `v_mfma_f32_16x16x1_4b_f32` with CBSZ = 2, four blocks that share one block of A: A 16 × 1, B 1 × 64, D 16 × 64.
///
/// The operand A has four blocks, and ABID selects the one that all four products use. So four instructions with the
/// same operands and ABID from 0 to 3 multiply a column of 64 by a row of 64. Lane i holds row i of A and column i of
/// B. Each block of D has the map of [`F32x16x16x4`], in its own four registers.
pub type F32x16x16x1By4 = LaneMap<16, 4, 4>;

impl<
    const EDGE: usize,
    const GROUPS: usize,
    const RUN: usize,
    const K_GROUPS: usize,
    const SWAPS: bool,
> LaneMap<EDGE, GROUPS, RUN, K_GROUPS, SWAPS>
{
    /// Lanes of a wave.
    pub const LANES: usize = EDGE * GROUPS;
    /// Rows and columns of a block of D.
    pub const EDGE: usize = EDGE;
    /// Groups of lanes that hold different k. Each holds all rows of A and columns of B for its own k, so that this is
    /// an instruction's extent along k if a lane holds one element of each operand.
    pub const K_GROUPS: usize = K_GROUPS;
    /// Whether a block GEMM swaps the operands A and B. The instruction then computes the transpose of the block of C,
    /// and a lane's neighbours down a column of D are neighbours in a row of C. A sparse operand is always the instruction's A.
    pub const SWAPPED: bool = SWAPS && RUN > 1;

    /// Row and column of the element of A that `lane` holds.
    #[inline(always)]
    pub const fn a(lane: Index<LANES>) -> (Index<EDGE>, Index<K_GROUPS>) {
        let (p, i) = lane.split();
        (i, p)
    }

    /// Row and column of the element of B that `lane` holds.
    #[inline(always)]
    pub const fn b(lane: Index<LANES>) -> (Index<K_GROUPS>, Index<EDGE>) {
        lane.split()
    }

    /// The lane's group, and its column of D.
    #[inline(always)]
    pub const fn d(lane: Index<LANES>) -> (Index<GROUPS>, Index<EDGE>) {
        lane.split()
    }

    /// The number of the run of `RUN` rows of D that the lanes of `group` hold in their register run `number`.
    #[inline(always)]
    pub const fn run(group: u32, number: u32) -> u32 {
        GROUPS as u32 * number + group
    }

    /// The row of D that register `register` of the lanes of `group` holds.
    #[inline(always)]
    pub const fn row(group: u32, register: u32) -> u32 {
        let run = RUN as u32;
        run * Self::run(group, register / run) + register % run
    }

    /// The position of unit `unit` of row `row` in a block of sums whose rows have `units` units, in an LDS of `BANKS`
    /// banks of 4 bytes.
    ///
    /// `beside` is the block's [`beside`](Self::beside).
    ///
    /// A row of 8 units fills 32 banks. So without a swizzle, the same unit of all rows (with 64 banks, of every other row)
    /// is in the same 4 banks. The swizzle puts the same unit of 8 such rows into different banks. Of rows of 4 units, it
    /// does so if lanes write units. Otherwise lanes write and read whole neighbours, which are in different banks as they
    /// are.
    #[inline(always)]
    pub const fn sum_position<const BANKS: usize>(
        units: u32,
        row: u32,
        unit: u32,
        beside: u32,
    ) -> u32 {
        const { assert!(BANKS == 32 || BANKS == 64) }
        let unit = if units < 8 && !Self::SWAPPED {
            unit
        } else {
            let rows_at_once = BANKS as u32 / (4 * units);
            unit ^ (row / rows_at_once % units)
        };
        (units * row + unit) ^ beside
    }

    /// What positions in block number `number` of `blocks` (1, 2 or 4) that are stored together, side by side, are XORed with:
    /// lanes that read a row of all these blocks, a unit or two units each, then use different banks. Found by trying all.
    #[inline(always)]
    pub const fn beside(number: u32, blocks: u32) -> u32 {
        if blocks == 4 {
            number % 2 + number / 2 * 12
        } else {
            13 * number
        }
    }

    /// Writes a lane's sums to the block of sums at `block`: `EDGE` rows of 64 or 128 bytes, with their units at
    /// [`sum_position`](Self::sum_position).
    ///
    /// # Safety
    /// `block` points to the units of `EDGE` rows, and no other thread writes the part of this `lane`.
    #[inline(always)]
    pub unsafe fn stage_to_lds<S: Copy, const SUMS: usize, const BANKS: usize>(
        lane: u32,
        sums: &[S; SUMS],
        block: *mut Unit,
        beside: u32,
    ) {
        const {
            assert!(
                matches!(EDGE * size_of::<S>(), 64 | 128),
                "a row of a block has 64 or 128 bytes"
            );
            assert!(
                RUN == 1 || RUN.is_multiple_of(4) && size_of::<[S; 4]>() == UNIT_BYTES,
                "a run is a sum, or whole units of four"
            );
        }
        let (group, across) = (lane / EDGE as u32, lane % EDGE as u32);
        let per_unit = (UNIT_BYTES / size_of::<S>()) as u32;
        let units = EDGE as u32 / per_unit;
        // Sums that are written together.
        let piece = if Self::SWAPPED { 4 } else { 1 };
        for number in 0..SUMS / piece {
            let first = number * piece;
            let row_of_d = Self::row(group, first as u32);
            let (row, unit) = if Self::SWAPPED {
                (across, row_of_d / 4)
            } else {
                (row_of_d, across / per_unit)
            };
            let position = Self::sum_position::<BANKS>(units, row, unit, beside);
            // SAFETY: the unit is in the block, and the bytes written are in the unit.
            unsafe {
                let unit = block.add(position as usize);
                if Self::SWAPPED {
                    // Written out, so that the sums stay in registers.
                    let run = [
                        sums[first],
                        sums[first + 1],
                        sums[first + 2],
                        sums[first + 3],
                    ];
                    unit.write(core::mem::transmute_copy(&run));
                } else {
                    let sum = unit.cast::<S>().add((across % per_unit) as usize);
                    sum.write(sums[first]);
                }
            }
        }
    }
}

/// A lane's part of D of [`F32x16x16x1By4`]: four rows, and one column of each of four blocks.
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
    extern crate std;
    use super::*;
    use crate::tile::banks::{Access, degree};
    use std::{vec, vec::Vec};

    /// AMD gives the inverse maps: the lane of an element.
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
                let row = F32x16x16x4::row(rows.get(), i as u32 % 4);
                assert_eq!((row as usize, column.as_usize()), (i, j));
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

    /// 32 × 32 sums with the values `64 · register + lane`, after all lanes have staged them.
    fn block_32x32<const BANKS: usize>() -> Vec<u32> {
        let mut block = vec![Unit::splat(u32::MAX); 32 * 8];
        for lane in 0..64 {
            let sums: [u32; 16] = core::array::from_fn(|register| register as u32 * 64 + lane);
            // SAFETY: the block is as large, and lanes come one after the other.
            unsafe {
                LaneMap::<32, 2, 4>::stage_to_lds::<_, 16, BANKS>(
                    lane,
                    &sums,
                    block.as_mut_ptr(),
                    0,
                );
            };
        }
        block.into_iter().flat_map(Unit::to_array).collect()
    }

    /// The same for 16 × 16 in f64.
    fn block_16x16<const BANKS: usize>() -> Vec<f64> {
        let mut block = vec![Unit::splat(u32::MAX); 16 * 8];
        for lane in 0..64 {
            let sums = core::array::from_fn(|register| (register * 64) as f64 + f64::from(lane));
            // SAFETY: the block is as large, and lanes come one after the other.
            unsafe {
                LaneMap::<16, 4, 1>::stage_to_lds::<_, 4, BANKS>(
                    lane,
                    &sums,
                    block.as_mut_ptr(),
                    0,
                );
            };
        }
        let halves = block.iter().flat_map(|unit| {
            let [a, b, c, d] = unit.to_array().map(u64::from);
            [a | b << 32, c | d << 32]
        });
        halves.map(f64::from_bits).collect()
    }

    /// The same for 16 × 16 with runs of four.
    fn block_of_runs() -> Vec<u32> {
        let mut block = vec![Unit::splat(u32::MAX); 16 * 4];
        for lane in 0..64 {
            let sums: [u32; 4] = core::array::from_fn(|register| register as u32 * 64 + lane);
            // SAFETY: the block is as large, and lanes come one after the other.
            unsafe { F32x16x16x4::stage_to_lds::<_, 4, 32>(lane, &sums, block.as_mut_ptr(), 0) };
        }
        block.into_iter().flat_map(Unit::to_array).collect()
    }

    /// The maps of WMMA on RDNA 3 and 4.
    type Rdna3 = LaneMap<16, 2, 1, 1>;
    type Rdna4 = LaneMap<16, 2, 8>;

    /// The same for the 16 × 16 sums of WMMA.
    fn block_wmma<const RUN: usize, const K_GROUPS: usize>() -> Vec<u32> {
        let mut block = vec![Unit::splat(u32::MAX); 16 * 4];
        for lane in 0..32 {
            let sums: [u32; 8] = core::array::from_fn(|register| register as u32 * 32 + lane);
            // SAFETY: the block is as large, and lanes come one after the other.
            unsafe {
                LaneMap::<16, 2, RUN, K_GROUPS>::stage_to_lds::<_, 8, 32>(
                    lane,
                    &sums,
                    block.as_mut_ptr(),
                    0,
                );
            };
        }
        block.into_iter().flat_map(Unit::to_array).collect()
    }

    /// AMD gives D[i][j] as register and lane; the swap makes i the column of C.
    fn check_32x32<const BANKS: usize>() {
        let block = block_32x32::<BANKS>();
        for i in 0..32 {
            for j in 0..32 {
                let (register, lane) = (4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j);
                let position =
                    4 * LaneMap::<32, 2, 4>::sum_position::<BANKS>(8, j, i / 4, 0) + i % 4;
                assert_eq!(block[position as usize], 64 * register + lane);
            }
        }
    }

    fn check_16x16<const BANKS: usize>() {
        let block = block_16x16::<BANKS>();
        for i in 0..16 {
            for j in 0..16 {
                let (register, lane) = (i / 4, 16 * (i % 4) + j);
                let position =
                    2 * LaneMap::<16, 4, 1>::sum_position::<BANKS>(8, i, j / 2, 0) + j % 2;
                assert_eq!(block[position as usize], f64::from(64 * register + lane));
            }
        }
    }

    fn check_runs() {
        let block = block_of_runs();
        for i in 0..16 {
            for j in 0..16 {
                let (register, lane) = (i % 4, 16 * (i / 4) + j);
                let position = 4 * F32x16x16x4::sum_position::<32>(4, j, i / 4, 0) + i % 4;
                assert_eq!(block[position as usize], 64 * register + lane);
            }
        }
    }

    /// RDNA 3 ISA guide, 7.9: in waves of 32, lanes 0 to 15 hold the even rows of D and the others the odd ones.
    #[test]
    fn wmma_blocks_are_where_amd_says() {
        let block = block_wmma::<1, 1>();
        for i in 0..16 {
            for j in 0..16 {
                let (register, lane) = (i / 2, 16 * (i % 2) + j);
                let position = 4 * Rdna3::sum_position::<32>(4, i, j / 4, 0) + j % 4;
                assert_eq!(block[position as usize], 32 * register + lane);
            }
        }
        assert_eq!((Rdna3::run(0, 3), Rdna3::run(1, 3)), (6, 7));
    }

    /// RDNA 4 ISA guide, 7.12: lanes 0 to 15 hold the upper 8 rows of D and the others the lower ones. The swap makes i the
    /// column of C.
    #[test]
    fn wmma_blocks_of_rdna_4_are_where_amd_says() {
        let block = block_wmma::<8, 2>();
        for i in 0..16 {
            for j in 0..16 {
                let (register, lane) = (i % 8, 16 * (i / 8) + j);
                let position = 4 * Rdna4::sum_position::<32>(4, j, i / 4, 0) + i % 4;
                assert_eq!(block[position as usize], 32 * register + lane);
            }
        }
        assert_eq!((Rdna4::row(0, 3), Rdna4::row(1, 3)), (3, 11));
    }

    #[test]
    fn blocks_are_where_amd_says() {
        check_32x32::<32>();
        check_32x32::<64>();
        check_runs();
        check_16x16::<32>();
        check_16x16::<64>();
    }

    /// The byte address of a sum in its block.
    fn address<T: PartialEq>(block: &[T], sum: T) -> usize {
        let position = block.iter().position(|other| *other == sum);
        size_of::<T>() * position.expect("every lane has written its registers")
    }

    fn check_banks<const BANKS: usize>() {
        let block = block_32x32::<BANKS>();
        for register in (0..16).step_by(4) {
            let written = |lane| address(&block, 64 * register + lane);
            assert_eq!(degree(BANKS, Access::Write(16), written), 1);
        }
        let block = block_16x16::<BANKS>();
        for register in 0..4 {
            let written = |lane| address(&block, f64::from(64 * register + lane));
            assert_eq!(degree(BANKS, Access::Write(8), written), 1);
        }
        for first in (0..32).step_by(8) {
            let position = LaneMap::<32, 2, 4>::sum_position::<BANKS>;
            let read = |lane| 16 * position(8, first + lane / 8, lane % 8, 0) as usize;
            assert_eq!(degree(BANKS, Access::Read(16), read), 1);
        }
    }

    #[test]
    fn sums_are_staged_and_read_without_bank_conflicts() {
        check_banks::<32>();
        check_banks::<64>();
        let block = block_of_runs();
        let written = |lane| address(&block, lane);
        assert_eq!(degree(32, Access::Write(16), written), 1);
        let read = |lane| 16 * F32x16x16x4::sum_position::<32>(4, lane / 4, lane % 4, 0) as usize;
        assert_eq!(degree(32, Access::Read(16), read), 1);
        // Two waves of 32 lanes, the second in the place of the upper half of one of 64.
        let block = block_wmma::<1, 1>();
        for register in 0..8 {
            let written = |lane| address(&block, 32 * register + lane % 32);
            assert_eq!(degree(32, Access::Write(4), written), 1);
        }
        let block = block_wmma::<8, 2>();
        for register in [0, 4] {
            let written = |lane| address(&block, 32 * register + lane % 32);
            assert_eq!(degree(32, Access::Write(16), written), 1);
        }
        for position in [Rdna3::sum_position::<32>, Rdna4::sum_position::<32>] {
            for first in [0, 8] {
                let read = |lane| 16 * position(4, first + lane % 32 / 4, lane % 4, 0) as usize;
                assert_eq!(degree(32, Access::Read(16), read), 1);
            }
        }
    }

    /// Sums of `blocks` side by side: a lane reads one unit of a row, or `at_once` of 16-bit elements of C, one after the other.
    fn check_rows_of_blocks<const BANKS: usize>(
        position: fn(u32, u32, u32, u32) -> u32,
        units: u32,
        blocks: u32,
        at_once: u32,
    ) {
        let edge = 4 * units;
        let lanes_of_a_row = blocks * units / at_once;
        for number in 0..at_once {
            for first_row in (0..edge).step_by((64 / lanes_of_a_row) as usize) {
                let read = |lane| {
                    let unit = lane % lanes_of_a_row * at_once + number;
                    let (row, block) = (first_row + lane / lanes_of_a_row, unit / units);
                    let beside = LaneMap::<32, 2, 4>::beside(block, blocks);
                    let position = position(units, row % edge, unit % units, beside);
                    16 * (block * edge * units + position) as usize
                };
                assert_eq!(degree(BANKS, Access::Read(16), read), 1);
            }
        }
    }

    #[test]
    fn blocks_side_by_side_are_read_without_bank_conflicts() {
        for (blocks, at_once) in [(2, 1), (2, 2), (4, 2)] {
            if blocks == 2 {
                type Large = LaneMap<32, 2, 4>;
                check_rows_of_blocks::<32>(Large::sum_position::<32>, 8, blocks, at_once);
                check_rows_of_blocks::<64>(Large::sum_position::<64>, 8, blocks, at_once);
            }
            check_rows_of_blocks::<32>(F32x16x16x4::sum_position::<32>, 4, blocks, at_once);
            check_rows_of_blocks::<64>(F32x16x16x4::sum_position::<64>, 4, blocks, at_once);
            check_rows_of_blocks::<32>(Rdna3::sum_position::<32>, 4, blocks, at_once);
            check_rows_of_blocks::<32>(Rdna4::sum_position::<32>, 4, blocks, at_once);
        }
    }

    /// The swizzle for 32 banks has conflicts on 64, where 16 lanes write at a time.
    #[test]
    fn the_swizzle_depends_on_the_banks() {
        let block = block_32x32::<32>();
        let written = |lane| address(&block, lane);
        assert_eq!(degree(64, Access::Write(16), written), 2);
    }
}
