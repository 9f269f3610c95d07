//! The epilogue: sums go to C through LDS. In registers, neighbouring lanes hold different rows of C (f64 and WMMA of RDNA 3:
//! neighbours in a row); from LDS, neighbouring lanes store a whole row.
//!
//! If the sums are only scaled and the tile is whole, blocks that are side by side pass together, as many as make a row of a
//! cache line of C: a part of a line takes caches as long as all of it. A lane then stores 16 bytes, two units of sums of
//! 16-bit elements. Otherwise blocks pass one at a time, a unit per lane, or small ones a row of blocks at a time: a wave waits
//! for LDS less often so.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over iterators unroll too late, and leave the registers in memory"
)]

use super::{BlockGemm, Config, Element, Output, Product};
use crate::{
    arch::{self, Workgroup},
    matrix::Multiply,
    tile::{
        epilogue::{MOST_RUNS, Runs},
        lds::Barrier as _,
        operand::{UNIT_BYTES, Unit},
        output::Plain,
    },
};

/// A sum.
type Sum<C> = <<C as Config>::Multiply as Multiply>::Sum;

impl<C: Config> BlockGemm<C> {
    /// Rows, and columns, of a block.
    const EDGE: u32 = C::Multiply::EDGE as u32;
    /// Units of a row of a block of sums.
    const SUM_UNITS: u32 = C::Multiply::SUM_UNITS;
    /// Rows of a block of sums that a wave reads from LDS in one access, a unit per lane.
    const ROWS_AT_ONCE: u32 = C::Multiply::LANES as u32 / Self::SUM_UNITS;
    /// Units of sums that a lane stores together: of blocks side by side, 16 bytes of C.
    const PLAIN_UNITS: u32 = if C::BESIDE > 1 {
        (size_of::<Sum<C>>() / size_of::<Output<C>>()) as u32
    } else {
        1
    };
    /// Lanes that store a row of the blocks that are stored together.
    const PLAIN_LANES: u32 = C::BESIDE as u32 * Self::SUM_UNITS / Self::PLAIN_UNITS;

    /// Updates C with the sums.
    ///
    /// # Safety
    /// No other workgroup updates this tile, and all threads of the workgroup call this.
    #[inline(always)]
    pub(in super::super) unsafe fn finish(self) {
        let (row, column) = self.first_plain();
        let (product, lane) = (self.product, self.lane);
        // SAFETY: as the caller promises. The choices are uniform.
        unsafe {
            if let Some(plain) = self.product.plain(row, column) {
                self.finish_plain(plain);
            } else if let Some(alpha) = self.product.plain_factor() {
                self.finish_in_a_loop(
                    #[inline(always)]
                    |product, runs, units| product.store_scaled(runs, units, alpha),
                );
            } else {
                let epilogue = self.product.epilogue();
                let mut amax = 0;
                self.finish_in_a_loop(
                    #[inline(always)]
                    |product, runs, units| product.store_units(runs, units, &epilogue, &mut amax),
                );
                product.raise_amax(lane, amax);
            }
        }
    }

    /// Row and column of the wave's first element in the workgroup's tile.
    #[inline(always)]
    fn corner(&self) -> (u32, u32) {
        (
            self.wave_row * Self::M as u32 * Self::EDGE,
            self.wave_column * Self::N as u32 * Self::EDGE,
        )
    }

    /// Row and column of the first unit of sums that the lane stores of a block.
    #[inline(always)]
    fn lane_corner(&self) -> (u32, u32) {
        let sums_of_a_unit = (UNIT_BYTES / size_of::<Sum<C>>()) as u32;
        (
            self.lane / Self::SUM_UNITS,
            self.lane % Self::SUM_UNITS * sums_of_a_unit,
        )
    }

    /// The lane's row, and its first unit in this row, of the blocks that are stored together.
    #[inline(always)]
    fn plain_place(&self) -> (u32, u32) {
        (
            self.lane / Self::PLAIN_LANES,
            self.lane % Self::PLAIN_LANES * Self::PLAIN_UNITS,
        )
    }

    /// Row and column of the first element that the lane stores in [`finish_plain`](Self::finish_plain), in the workgroup's
    /// tile.
    #[inline(always)]
    fn first_plain(&self) -> (u32, u32) {
        let ((row, column), (down, unit)) = (self.corner(), self.plain_place());
        let sums_of_a_unit = (UNIT_BYTES / size_of::<Sum<C>>()) as u32;
        (row + down, column + unit * sums_of_a_unit)
    }

    /// Row and column of the first unit of sums that the lane stores otherwise, in the workgroup's tile.
    #[inline(always)]
    fn first_run(&self) -> (u32, u32) {
        let ((row, column), (down, right)) = (self.corner(), self.lane_corner());
        (row + down, column + right)
    }

    /// The LDS for the wave's block of sums.
    #[inline(always)]
    fn sum_block(&self) -> *mut Unit {
        let wave = self.thread / C::Multiply::LANES as u32;
        self.lds
            .wrapping_add((wave * Self::EDGE * Self::SUM_UNITS) as usize)
    }

    /// Reads the unit of the block of sums in LDS that is `rows` below the lane's first one.
    ///
    /// # Safety
    /// The unit's row is in the block, which has been written.
    #[inline(always)]
    unsafe fn staged(&self, block: *const Unit, rows: u32) -> Unit {
        let (row, unit) = (self.lane / Self::SUM_UNITS, self.lane % Self::SUM_UNITS);
        let position = C::Multiply::sum_position(rows + row, unit, 0);
        // SAFETY: as the caller promises.
        unsafe { block.add(position as usize).read() }
    }

    /// Updates C if the sums are only multiplied by α and the tile is whole: blocks after blocks, without branches.
    ///
    /// # Safety
    /// As [`finish`](Self::finish).
    #[inline(always)]
    unsafe fn finish_plain(self, plain: Plain<Output<C>>) {
        let block_units = Self::EDGE * Self::SUM_UNITS;
        let wave = self.thread / C::Multiply::LANES as u32;
        let blocks = self
            .lds
            .wrapping_add((wave * C::BESIDE as u32 * block_units) as usize);
        let (row, unit) = self.plain_place();
        let (number, unit) = (unit / Self::SUM_UNITS, unit % Self::SUM_UNITS);
        let beside = |number| C::Multiply::beside(number, C::BESIDE as u32);
        let rows_at_once = C::Multiply::LANES as u32 / Self::PLAIN_LANES;
        // Until all waves have read their last operands.
        Workgroup.wait();
        for i in 0..Self::M {
            for group in 0..Self::N / C::BESIDE {
                let first = group * C::BESIDE;
                for number in 0..C::BESIDE {
                    let block = blocks.wrapping_add(number * block_units as usize);
                    let sums = &self.sums[i][first + number];
                    // SAFETY: the part of LDS is the wave's.
                    unsafe {
                        C::Multiply::stage_to_lds(self.lane, sums, block, beside(number as u32));
                    }
                }
                arch::wait_for_lds();
                let plain = plain.opaque();
                for part in 0..Self::EDGE / rows_at_once {
                    let rows = part * rows_at_once;
                    let staged = |unit| {
                        let position = C::Multiply::sum_position(rows + row, unit, beside(number));
                        blocks.wrapping_add((number * block_units + position) as usize)
                    };
                    let (row, column) = (i as u32 * Self::EDGE + rows, first as u32 * Self::EDGE);
                    // SAFETY: the wave has written the blocks. Lanes store different units of them, and waves have
                    // different blocks of the tile.
                    unsafe {
                        if Self::PLAIN_UNITS == 2 {
                            plain.store_units(
                                row,
                                column,
                                [staged(unit).cast(), staged(unit + 1).cast()],
                            );
                        } else {
                            plain.store_unit(row, column, staged(unit).cast());
                        }
                    }
                }
                arch::sched_barrier();
            }
        }
    }

    /// Updates C with any epilogue and any edges: `store` has the product, the lane's runs, and their sums. This code is
    /// large, so it is a loop over blocks, or over rows of small blocks, that is not unrolled.
    ///
    /// # Safety
    /// As [`finish`](Self::finish).
    #[inline(always)]
    unsafe fn finish_in_a_loop(
        self,
        store: impl FnMut(&Product<Element<C>, Output<C>>, &Runs, &[Unit; MOST_RUNS]),
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            if C::Multiply::SMALL_BLOCKS {
                self.finish_rows(store);
            } else {
                self.finish_blocks(store);
            }
        }
    }

    /// The same, a block at a time.
    ///
    /// # Safety
    /// As [`finish`](Self::finish).
    #[inline(always)]
    unsafe fn finish_blocks(
        self,
        mut store: impl FnMut(&Product<Element<C>, Output<C>>, &Runs, &[Unit; MOST_RUNS]),
    ) {
        let (row, column) = self.corner();
        let (lane_row, lane_column) = self.lane_corner();
        let block = self.sum_block();
        // As in `finish_plain`.
        Workgroup.wait();
        let mut number = crate::opaque_zero();
        while number < (Self::M * Self::N) as u32 {
            for i in 0..Self::M {
                for j in 0..Self::N {
                    if number == (i * Self::N + j) as u32 {
                        // SAFETY: the part of LDS is the wave's.
                        unsafe { C::Multiply::stage_to_lds(self.lane, &self.sums[i][j], block, 0) };
                    }
                }
            }
            arch::wait_for_lds();
            let row = row + number / Self::N as u32 * Self::EDGE + lane_row;
            let column = column + number % Self::N as u32 * Self::EDGE + lane_column;
            let runs = Runs {
                first: (row, column),
                step: (Self::ROWS_AT_ONCE, 0),
                count: (Self::EDGE / Self::ROWS_AT_ONCE) as usize,
            };
            let mut units = [Unit::splat(0); MOST_RUNS];
            for part in 0..runs.count {
                // SAFETY: the wave has written the block. Lanes read different units of it, and waves have different blocks
                // of the tile.
                units[part] =
                    opaque(unsafe { self.staged(block, part as u32 * Self::ROWS_AT_ONCE) });
            }
            store(&self.product, &runs, &units);
            number += 1;
        }
    }

    /// The same, a row of blocks at a time.
    ///
    /// # Safety
    /// As [`finish`](Self::finish).
    #[inline(always)]
    unsafe fn finish_rows(
        self,
        mut store: impl FnMut(&Product<Element<C>, Output<C>>, &Runs, &[Unit; MOST_RUNS]),
    ) {
        let (mut row, column) = self.first_run();
        let block_units = (Self::EDGE * Self::SUM_UNITS) as usize;
        let wave = (self.thread / C::Multiply::LANES as u32) as usize;
        let blocks = self.lds.wrapping_add(wave * Self::N * block_units);
        // As in `finish_plain`.
        Workgroup.wait();
        let mut number = crate::opaque_zero();
        while number < Self::M as u32 {
            for i in 0..Self::M {
                if number == i as u32 {
                    for j in 0..Self::N {
                        let block = blocks.wrapping_add(j * block_units);
                        // SAFETY: the part of LDS is the wave's.
                        unsafe { C::Multiply::stage_to_lds(self.lane, &self.sums[i][j], block, 0) };
                    }
                }
            }
            arch::wait_for_lds();
            let runs = Runs {
                first: (row, column),
                step: (0, Self::EDGE),
                count: Self::N,
            };
            let mut units = [Unit::splat(0); MOST_RUNS];
            for j in 0..Self::N {
                let block = blocks.wrapping_add(j * block_units);
                // SAFETY: as in `finish_blocks`; a wave reads a whole block in one access.
                units[j] = opaque(unsafe { self.staged(block, 0) });
            }
            store(&self.product, &runs, &units);
            row += Self::EDGE;
            number += 1;
        }
    }
}

/// The unit, read as a whole before anything is stored. Otherwise the compiler would move parts of the read to the branches that
/// store them, and wait in each.
#[inline(always)]
fn opaque(unit: Unit) -> Unit {
    Unit::from_array(unit.to_array().map(crate::opaque))
}
