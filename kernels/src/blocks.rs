//! Products of the matrix cores' largest blocks, in units of 16 bytes along k.
//!
//! What [`crate::mfma`] says of a single instruction, this says of as many as two units need: a lane
//! gives 16 consecutive bytes of a row of each operand (32, where one instruction takes as many), and
//! all lanes of a wave together give a step of k. Which of them multiplies which k does not matter, as
//! long as both operands agree.
//!
//! The maps of D are those of the CDNA ISA documents, chapter «Matrix arithmetic instructions».
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use crate::tile::{
    element::{Accumulator, Stored},
    lds_layout::Unit,
    tile_loader::Bits,
};

/// A product of blocks, of whose sums `RUN` are 16 bytes.
pub trait Multiply<const RUN: usize> {
    /// An element of A and B, as bits.
    type Element: Bits;
    /// An element of C.
    type Output: Stored<Sum = Self::Sum>;
    /// What is summed up.
    type Sum: Accumulator;
    /// A lane's sums of one block.
    type Sums: Copy;
    /// A lane's part of an operand in one step.
    type Operand: Copy;

    /// Rows, and columns, of a block.
    const EDGE: usize;
    /// Units of a row in one step: those of all lanes that share the row.
    const STEP_UNITS: usize;
    /// Units of a lane in one step.
    const OPERAND_UNITS: usize;
    /// Instructions of one product of blocks.
    const INSTRUCTIONS: usize;
    /// Sums of nothing.
    const ZERO: Self::Sums;

    /// A lane's part of an operand: `unit(u)` reads unit `u` of a step for the lane's row, where lanes
    /// with the same row count on from `u` by their number, `⌊lane / EDGE⌋`.
    fn operand(unit: impl Fn(u32) -> Unit) -> Self::Operand;

    /// Part number `part` of [`INSTRUCTIONS`](Self::INSTRUCTIONS) of `sums + a · b`, with all lanes of the
    /// wave together.
    fn multiply(part: usize, a: Self::Operand, b: Self::Operand, sums: Self::Sums) -> Self::Sums;

    /// Writes a lane's sums to the block of C at `block`: `EDGE` rows of 128 bytes, whose units lie as
    /// [`sum_position`] says for the GPU's banks.
    ///
    /// # Safety
    /// There are `8 · EDGE` units at `block`, and no other lane writes a lane's part.
    unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit);
}

/// Units of a row of a block of sums.
pub const SUM_UNITS: u32 = 8;

/// Where unit `unit` of row `row` of a block of sums is, in an LDS of `BANKS` banks of 4 bytes.
///
/// A row fills 32 banks, so that the same unit of all rows is in the same 4 of them, and on 64 banks that of
/// every other row. The swizzle puts the same unit of 8 such rows into different banks.
#[inline(always)]
pub const fn sum_position<const BANKS: usize>(row: u32, unit: u32) -> u32 {
    const { assert!(BANKS == 32 || BANKS == 64) }
    let rows_at_once = BANKS as u32 / 32;
    SUM_UNITS * row + (unit ^ (row / rows_at_once % SUM_UNITS))
}

/// [`Multiply::stage_to_lds`] for D of the 32 × 32 blocks with the operands exchanged, so that i counts columns
/// of C and j rows: register g of a lane is D[8⌊g/4⌋ + 4⌊lane/32⌋ + g mod 4][lane mod 32]. Four registers
/// are four neighbours in a row of C.
///
/// # Safety
/// As there.
#[inline(always)]
pub unsafe fn spill_32x32<A: Copy, const BANKS: usize>(
    lane: u32,
    sums: &[A; 16],
    block: *mut Unit,
) {
    const { assert!(size_of::<[A; 4]>() == size_of::<Unit>()) }
    let (row, half) = (lane % 32, lane / 32);
    for group in 0..4 {
        let first = 4 * group;
        let run = [
            sums[first],
            sums[first + 1],
            sums[first + 2],
            sums[first + 3],
        ];
        let position = sum_position::<BANKS>(row, 2 * group as u32 + half);
        // SAFETY: the unit is in the block, and of the same size as four sums.
        unsafe {
            let unit: Unit = core::mem::transmute_copy(&run);
            block.add(position as usize).write(unit);
        }
    }
}

/// [`Multiply::stage_to_lds`] for D of the 16 × 16 blocks in binary64: register g of a lane is
/// D[4g + ⌊lane/16⌋][lane mod 16], and the operands are not exchanged.
///
/// # Safety
/// As there.
#[inline(always)]
pub unsafe fn spill_16x16_f64<const BANKS: usize>(lane: u32, sums: &[f64; 4], block: *mut Unit) {
    let column = lane % 16;
    for g in 0..4 {
        let position = sum_position::<BANKS>(4 * g as u32 + lane / 16, column / 2);
        // SAFETY: the sum is half of a unit of the block.
        unsafe {
            let unit = block.add(position as usize).cast::<f64>();
            unit.add(column as usize % 2).write(sums[g]);
        }
    }
}

/// A lane's sums of `M` × `N` blocks, those of a wave.
pub struct BlockSums<T: Multiply<RUN>, const RUN: usize, const M: usize, const N: usize> {
    /// The sums.
    pub blocks: [[T::Sums; N]; M],
    /// The lane's number in its wave.
    pub lane: u32,
}

impl<T: Multiply<RUN>, const RUN: usize, const M: usize, const N: usize> BlockSums<T, RUN, M, N> {
    /// Sums of nothing.
    #[inline(always)]
    pub fn zero(lane: u32) -> Self {
        Self {
            blocks: [[T::ZERO; N]; M],
            lane,
        }
    }

    /// Adds part number `part` of the products of the rows of blocks from `first` up to `end` with `N` columns
    /// of blocks.
    #[inline(always)]
    pub fn add_products(
        &mut self,
        part: usize,
        a: &[T::Operand; M],
        b: &[T::Operand; N],
        first: usize,
        end: usize,
    ) {
        for i in first..end {
            for j in 0..N {
                self.blocks[i][j] = T::multiply(part, a[i], b[j], self.blocks[i][j]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::tile::banks::{Access, degree};
    use std::{vec, vec::Vec};

    /// 32 × 32 sums that tell register and lane, as `64 · register + lane`, after all lanes have spilled them.
    fn block_32x32<const BANKS: usize>() -> Vec<u32> {
        let mut block = vec![Unit::splat(u32::MAX); 32 * 8];
        for lane in 0..64 {
            let sums: [u32; 16] = core::array::from_fn(|register| register as u32 * 64 + lane);
            // SAFETY: the block is as large, and lanes come one after the other.
            unsafe { spill_32x32::<_, BANKS>(lane, &sums, block.as_mut_ptr()) };
        }
        block.into_iter().flat_map(Unit::to_array).collect()
    }

    /// The same of 16 × 16 in f64.
    fn block_16x16<const BANKS: usize>() -> Vec<f64> {
        let mut block = vec![Unit::splat(u32::MAX); 16 * 8];
        for lane in 0..64 {
            let sums = core::array::from_fn(|register| (register * 64) as f64 + f64::from(lane));
            // SAFETY: the block is as large, and lanes come one after the other.
            unsafe { spill_16x16_f64::<BANKS>(lane, &sums, block.as_mut_ptr()) };
        }
        let halves = block.iter().flat_map(|unit| {
            let [a, b, c, d] = unit.to_array().map(u64::from);
            [a | b << 32, c | d << 32]
        });
        halves.map(f64::from_bits).collect()
    }

    /// AMD gives D[i][j] as register and lane; the exchange makes i the column of C.
    fn check_32x32<const BANKS: usize>() {
        let block = block_32x32::<BANKS>();
        for i in 0..32 {
            for j in 0..32 {
                let (register, lane) = (4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j);
                let position = 4 * sum_position::<BANKS>(j, i / 4) + i % 4;
                assert_eq!(block[position as usize], 64 * register + lane);
            }
        }
    }

    fn check_16x16<const BANKS: usize>() {
        let block = block_16x16::<BANKS>();
        for i in 0..16 {
            for j in 0..16 {
                let (register, lane) = (i / 4, 16 * (i % 4) + j);
                let position = 2 * sum_position::<BANKS>(i, j / 2) + j % 2;
                assert_eq!(block[position as usize], f64::from(64 * register + lane));
            }
        }
    }

    #[test]
    fn blocks_are_where_amd_says() {
        check_32x32::<32>();
        check_32x32::<64>();
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
            let read = |lane| 16 * sum_position::<BANKS>(first + lane / 8, lane % 8) as usize;
            assert_eq!(degree(BANKS, Access::Read(16), read), 1);
        }
    }

    #[test]
    fn sums_are_spilled_and_read_without_bank_conflicts() {
        check_banks::<32>();
        check_banks::<64>();
    }

    /// What the swizzle for 32 banks would cost on 64, where 16 lanes write at a time.
    #[test]
    fn the_exchange_depends_on_the_banks() {
        let block = block_32x32::<32>();
        let written = |lane| address(&block, lane);
        assert_eq!(degree(64, Access::Write(16), written), 2);
    }
}
