//! Elements of six bits: panels of four stages, which are loaded line by line (`ferrowave_shared::six_bits` has the layout in
//! LDS).
//!
//! ```text
//!   a row of a panel, 24 units of 16 bytes         ┌───────────────┬───────────────┬───────────────┐
//!   lines of 128 bytes                             │       0       │       1       │       2       │
//!   stages of 96 bytes, 128 elements               │     0     │     1     │     2     │     3     │
//!                                                  └───────────┴───────────┴───────────┴───────────┘
//! ```
//!
//! A block of 24 bytes is read from LDS eight bytes at a time, as it begins at any multiple of eight. The scales of a row in a
//! panel are one unit, of which a thread loads a row's. In LDS a word has those of the same block of all four stages: a lane
//! reads it once in a panel, and the matrix instructions select a byte.

use super::{BlockGemm, BlockRow, Config, Element, LINE_UNITS};
use crate::{
    arch::{self, LINE_BYTES, Workgroup, permuted},
    matrix::{Multiply, Mxfp6, SixBitFormat},
    tile::{
        lds::Barrier as _,
        length::{Array, Length},
        operand::{Operand, UNIT_BYTES, Unit, shifted},
    },
};
use core::simd::u32x2;
use ferrowave_shared::six_bits::{
    BLOCK_BYTES, PANEL_BYTES, PANEL_SCALES, STAGE_BYTES, row_start, slot_bytes,
};

/// Steps of the matrix cores in a stage, in all formats of six bits.
pub(in super::super) const STEPS: usize = STAGE_BYTES / (Mxfp6::K_GROUPS * BLOCK_BYTES);

/// A lane's operand in all these formats: a block of 32 elements of a row, with its scale.
type Lane = <Mxfp6 as Multiply>::Operand;

/// Where the stages in LDS are, in bytes: of the stage that is multiplied, and of the next two. Uniform.
#[derive(Clone, Copy)]
pub(in super::super) struct Slots([u32; 3]);

impl Slots {
    /// The slots before the first stage.
    #[inline(always)]
    pub(in super::super) const fn before_the_first(rows: usize) -> Self {
        let bytes = slot_bytes(rows) as u32;
        Self([2 * bytes, 0, bytes])
    }

    /// The slots of the next stage.
    #[inline(always)]
    pub(in super::super) const fn next(self) -> Self {
        let [first, second, third] = self.0;
        Self([second, third, first])
    }
}

/// A lane's words of scales for the blocks of its wave, of a panel.
pub(in super::super) struct PanelScales<C: Config> {
    /// Of each step of a stage.
    a: [Array<u32, C::M>; STEPS],
    b: [Array<u32, C::N>; STEPS],
}

/// A wave's operands of one step.
pub(in super::super) struct SixBitOperands<C: Config> {
    a: Array<Lane, C::M>,
    b: Array<Lane, C::N>,
}

/// An operand's rows. All uniform: the main loop has no registers to keep offsets of threads.
#[derive(Clone, Copy)]
struct Rows {
    /// The panel's first byte in the tile's first row.
    base: *const u8,
    /// Bytes from one row to the next.
    stride: u32,
    /// The last row, in bytes from the first one. It takes the place of those behind it.
    last: u32,
}

impl Rows {
    #[inline(always)]
    fn new(operand: &Operand<u8>) -> Self {
        let stride = operand.strides.row;
        Self {
            base: operand.start,
            stride,
            last: (operand.rows - 1).wrapping_mul(stride),
        }
    }

    /// Loads the units of a line of thread number `thread`, of rows that are `apart` rows apart.
    ///
    /// # Safety
    /// They exist.
    #[inline(always)]
    unsafe fn load<V: Length>(&self, line: usize, thread: u32, apart: usize) -> Array<Unit, V> {
        let (row, unit) = row_and_unit(thread);
        let first = row * self.stride;
        V::from_fn(
            #[inline(always)]
            |i| {
                let row = (first + (i * apart) as u32 * self.stride).min(self.last);
                let address = self
                    .base
                    .wrapping_add((row + unit * UNIT_BYTES as u32) as usize)
                    .wrapping_add(line * LINE_BYTES);
                // SAFETY: as the caller promises. It needs no alignment: amdhsa enables unaligned access.
                unsafe { address.cast::<Unit>().read_unaligned() }
            },
        )
    }
}

/// The row and the unit of a line of it that a thread moves. Neighbouring threads have a line, and those of the next one are eight rows
/// further, where the same halves of units are in other banks.
#[inline(always)]
const fn row_and_unit(thread: u32) -> (u32, u32) {
    let (line, unit) = (thread / LINE_UNITS as u32, thread % LINE_UNITS as u32);
    (line / 16 * 16 + line % 2 * 8 + line / 2 % 8, unit)
}

/// A workgroup's panels. All uniform.
pub(in super::super) struct Panels {
    a: Rows,
    b: Rows,
    /// The panel's first scale of the tile of A or of B of which a wave moves scales.
    scales: *const u8,
    /// Panels that are left behind this one.
    left: u32,
}

impl Panels {
    /// Advances to the next panel, unless this is the last one, which is then loaded again and not multiplied, so that the loop
    /// needs no branch.
    #[inline(always)]
    pub(in super::super) fn advance(&mut self) {
        let panels = u32::from(self.left > 0);
        self.left -= panels;
        let bytes = panels as usize * PANEL_BYTES;
        self.a.base = self.a.base.wrapping_add(bytes);
        self.b.base = self.b.base.wrapping_add(bytes);
        self.scales = self.scales.wrapping_add(panels as usize * PANEL_SCALES);
    }
}

impl<C: Config<Multiply: SixBitFormat>> BlockGemm<C> {
    /// Rows of both tiles.
    #[inline(always)]
    fn rows(&self) -> usize {
        let tile = self.product.kernel().tile;
        tile.m + tile.n
    }

    /// Computes the lane's number again, so that the main loop keeps only the thread's.
    #[inline(always)]
    pub(in super::super) fn recompute_lane(&mut self) {
        self.thread = crate::opaque(self.thread);
        self.lane = self.thread % Self::LANES as u32;
    }

    /// The slots before the first stage.
    #[inline(always)]
    pub(in super::super) fn slots(&self) -> Slots {
        Slots::before_the_first(self.rows())
    }

    /// Rows between those of a thread's units of a line.
    #[inline(always)]
    fn rows_at_once(&self) -> usize {
        self.threads() / LINE_UNITS
    }

    /// The workgroup's panels, and how many of them are whole; `None` if there are none. Uniform.
    #[inline(always)]
    pub(in super::super) fn panels(&self) -> Option<(Panels, u32)> {
        let (a, b) = self.product.operands()?;
        let count = self.product.k() / PANEL_BYTES as u32;
        if count == 0 || !a.is_near() || !b.is_near() {
            return None;
        }
        let row = arch::readfirstlane(self.scale_row(self.thread));
        let panels = Panels {
            a: Rows::new(&a),
            b: Rows::new(&b),
            scales: self.scales_of_row(row).0,
            left: count - 1,
        };
        Some((panels, count))
    }

    /// Loads the thread's units of line number `line` of A.
    ///
    /// # Safety
    /// The panel is whole.
    #[inline(always)]
    pub(in super::super) unsafe fn load_line_a(
        &self,
        panels: &Panels,
        line: usize,
    ) -> Array<Unit, C::AVecs> {
        // SAFETY: as the caller promises.
        unsafe {
            panels
                .a
                .load::<C::AVecs>(line, crate::opaque(self.thread), self.rows_at_once())
        }
    }

    /// The same of B.
    ///
    /// # Safety
    /// The panel is whole.
    #[inline(always)]
    pub(in super::super) unsafe fn load_line_b(
        &self,
        panels: &Panels,
        line: usize,
    ) -> Array<Unit, C::BVecs> {
        // SAFETY: as the caller promises.
        unsafe {
            panels
                .b
                .load::<C::BVecs>(line, crate::opaque(self.thread), self.rows_at_once())
        }
    }

    /// Loads the thread's scales: byte `g` of word `s` is of block `g` of stage `s`.
    ///
    /// # Safety
    /// The panel is whole.
    #[inline(always)]
    pub(in super::super) unsafe fn load_panel_scales(&self, panels: &Panels) -> Unit {
        let (_, row) = self.scales_of_row(self.scale_row(crate::opaque(self.thread)));
        let address = panels
            .scales
            .wrapping_add((row * self.scales_of_k()) as usize);
        // SAFETY: as the caller promises. Alignment as in `Rows::load`.
        unsafe { address.cast::<Unit>().read_unaligned() }
    }

    /// Scales of a row of an operand.
    #[inline(always)]
    fn scales_of_k(&self) -> u32 {
        self.product.k() / BLOCK_BYTES as u32
    }

    /// The first scale of the tile of A or of B that has row number `row` of both, and the row of it that has this one's.
    #[inline(always)]
    fn scales_of_row(&self, row: u32) -> (*const u8, u32) {
        // A wave's rows are in one of the tiles.
        let is_b = arch::readfirstlane(row) >= self.product.kernel().tile.m as u32;
        self.product.scales_of_row(row, is_b, BLOCK_BYTES)
    }

    /// The row of both tiles whose scales thread number `thread` moves. Tiles with fewer rows than threads have several for a row.
    #[inline(always)]
    fn scale_row(&self, thread: u32) -> u32 {
        thread % self.rows() as u32
    }

    /// Whether the thread is the one that writes its row's scales. The same in all lanes of a wave.
    #[inline(always)]
    fn writes_scales(&self) -> bool {
        self.threads() == self.rows() || arch::readfirstlane(self.thread) < self.rows() as u32
    }

    /// Writes the thread's units of a line of A to the stages behind the one that is multiplied.
    ///
    /// # Safety
    /// No thread reads this part of the stages until it has waited for this one.
    #[inline(always)]
    pub(in super::super) unsafe fn store_line_a(
        &self,
        slots: Slots,
        line: usize,
        units: Array<Unit, C::AVecs>,
    ) {
        // SAFETY: as the caller promises.
        unsafe { self.store_line::<C::AVecs>(slots, line, 0, units) }
    }

    /// The same of B.
    ///
    /// # Safety
    /// As [`store_line_a`](Self::store_line_a).
    #[inline(always)]
    pub(in super::super) unsafe fn store_line_b(
        &self,
        slots: Slots,
        line: usize,
        units: Array<Unit, C::BVecs>,
    ) {
        let rows_before = self.product.kernel().tile.m;
        // SAFETY: as the caller promises.
        unsafe { self.store_line::<C::BVecs>(slots, line, rows_before, units) }
    }

    /// Writes the thread's units of a line of the operand whose tile is behind `before` rows.
    ///
    /// # Safety
    /// As [`store_line_a`](Self::store_line_a).
    #[inline(always)]
    unsafe fn store_line<V: Length>(
        &self,
        slots: Slots,
        line: usize,
        before: usize,
        units: Array<Unit, V>,
    ) {
        const STAGE_UNITS: u32 = (STAGE_BYTES / UNIT_BYTES) as u32;
        // Computed again each time, so that the loop keeps no registers for it.
        let (row, unit) = row_and_unit(crate::opaque(self.thread));
        // A line begins in the next stage, behind as many units as the lines before it have left over.
        let begin = (line * (LINE_UNITS - STAGE_UNITS as usize)) as u32;
        let unit = begin + unit;
        let [_, next, second] = slots.0;
        let slot = if unit < STAGE_UNITS {
            next
        } else {
            second.wrapping_sub(STAGE_BYTES as u32)
        };
        let place = slot.wrapping_add(row_start(row as usize) as u32 + unit * UNIT_BYTES as u32);
        let first = self.lds.cast::<u8>().wrapping_add(place as usize);
        for i in 0..V::LEN {
            let further = row_start(i * self.rows_at_once()) + row_start(before);
            // SAFETY: as the caller promises.
            unsafe { write_halves(first.wrapping_add(further), units[i]) };
        }
    }

    /// Where the scales are in LDS: words of a lane for a block, four of each row.
    #[inline(always)]
    fn scales_in_lds(&self) -> *mut u32 {
        let stages = ferrowave_shared::six_bits::SLOTS * slot_bytes(self.rows());
        self.lds.cast::<u8>().wrapping_add(stages).cast()
    }

    /// Writes the scales that the thread has loaded: word `g` is of block `g` of all four stages.
    ///
    /// # Safety
    /// No thread reads the scales until it has waited for this one.
    #[inline(always)]
    pub(in super::super) unsafe fn store_panel_scales(&self, scales: Unit) {
        if !self.writes_scales() {
            return;
        }
        let [a, b, c, d] = scales.to_array();
        let halves = |low, high| {
            [
                permuted(high, low, 0x0501_0400),
                permuted(high, low, 0x0703_0602),
            ]
        };
        let ([a, b], [c, d]) = (halves(a, b), halves(c, d));
        let blocks = |low, high| {
            [
                permuted(high, low, 0x0504_0100),
                permuted(high, low, 0x0706_0302),
            ]
        };
        let ([first, second], [third, fourth]) = (blocks(a, c), blocks(b, d));
        // SAFETY: as the caller promises.
        unsafe { self.write_scales(Unit::from_array([first, second, third, fourth])) };
    }

    /// Writes the words of the thread's row.
    ///
    /// # Safety
    /// As [`store_panel_scales`](Self::store_panel_scales).
    #[inline(always)]
    unsafe fn write_scales(&self, words: Unit) {
        let place = self
            .scales_in_lds()
            .cast::<Unit>()
            .wrapping_add(self.scale_row(self.thread) as usize);
        // SAFETY: as the caller promises.
        unsafe { place.write(words) };
    }

    /// Reads the lane's words of scales.
    ///
    /// # Safety
    /// The threads have written them.
    #[inline(always)]
    pub(in super::super) unsafe fn read_panel_scales(&self) -> PanelScales<C> {
        // Computed again: once in a panel, which is not worth registers throughout the loop.
        let lane = crate::opaque(self.thread) % Self::LANES as u32;
        let [row_a, row_b] = self.wave_rows();
        let (first_a, first_b) = (self.lane_scales(lane, row_a), self.lane_scales(lane, row_b));
        let mut scales = PanelScales::<C> {
            a: [C::M::splat(0_u32); STEPS],
            b: [C::N::splat(0_u32); STEPS],
        };
        for step in 0..STEPS {
            let a: &mut Array<u32, C::M> = &mut scales.a[step];
            for block in 0..Self::M {
                // SAFETY: as the caller promises.
                a[block] = unsafe { read_scales(first_a, step, block) };
            }
            let b: &mut Array<u32, C::N> = &mut scales.b[step];
            for block in 0..Self::N {
                // SAFETY: as the caller promises.
                b[block] = unsafe { read_scales(first_b, step, block) };
            }
        }
        scales
    }

    /// The lane's word of scales in LDS in the first step, for the block of sums that begins at a row of both tiles. The words of a
    /// row are side by side, and rows follow each other.
    #[inline(always)]
    fn lane_scales(&self, lane: u32, wave_row: u32) -> *const u32 {
        let edge = C::Multiply::EDGE as u32;
        let word = 4 * (wave_row + lane % edge) + lane / edge;
        self.scales_in_lds().wrapping_add(word as usize)
    }

    /// Reads the wave's operands of a step, of the stage that is multiplied.
    ///
    /// # Safety
    /// The threads have written the stage.
    #[inline(always)]
    pub(in super::super) unsafe fn read_step(
        &self,
        slots: Slots,
        scales: &PanelScales<C>,
        step: usize,
    ) -> SixBitOperands<C> {
        let [row_a, row_b] = self.wave_rows();
        let first_a = self.lane_block(slots, row_a, step);
        let first_b = self.lane_block(slots, row_b, step);
        SixBitOperands {
            a: C::M::from_fn(
                #[inline(always)]
                |block| {
                    // SAFETY: as the caller promises.
                    unsafe { read_block(first_a, block, scales.a[step][block]) }
                },
            ),
            b: C::N::from_fn(
                #[inline(always)]
                |block| {
                    // SAFETY: as the caller promises.
                    unsafe { read_block(first_b, block, scales.b[step][block]) }
                },
            ),
        }
    }

    /// Where the lane's elements of a step are, for the block of sums that begins at a row of both tiles, in the stage that is
    /// multiplied.
    #[inline(always)]
    fn lane_block(&self, slots: Slots, wave_row: u32, step: usize) -> *const u8 {
        let edge = C::Multiply::EDGE as u32;
        let row = wave_row + self.lane % edge;
        let place = row_start(row as usize) as u32 + self.lane / edge * BLOCK_BYTES as u32;
        // Opaque: stages that are in the same slot would share the addresses of all blocks, which need registers then.
        let place = crate::opaque(place) + slots.0[0];
        let lds = self.lds.cast::<u8>().wrapping_add(place as usize);
        lds.wrapping_add(step * C::Multiply::K_GROUPS * BLOCK_BYTES)
    }

    /// The first row of both tiles of the wave's blocks of A, and of those of B. Uniform.
    #[inline(always)]
    fn wave_rows(&self) -> [u32; 2] {
        let edge = C::Multiply::EDGE as u32;
        let tile = self.product.kernel().tile;
        [
            self.wave_row * Self::M as u32 * edge,
            tile.m as u32 + self.wave_column * Self::N as u32 * edge,
        ]
    }

    /// Multiplies the operands of a step, in a stage of a panel.
    #[inline(always)]
    pub(in super::super) fn multiply_step<const STAGE: i32>(
        &mut self,
        operands: &SixBitOperands<C>,
    ) {
        for i in 0..Self::M {
            let sums: &mut BlockRow<C> = &mut self.sums[i];
            for j in 0..Self::N {
                let (a, b) = (operands.a[i], operands.b[j]);
                sums[j] = C::Multiply::multiply_scaled::<STAGE>(a, b, sums[j]);
            }
        }
    }

    /// Adds the products from byte `k` of the rows on, a stage after the other: each is loaded, waited for and multiplied before
    /// the next one. Elements behind the end of k are 0, and their scales 2⁻¹²⁷: a NaN would not leave zeros.
    ///
    /// # Safety
    /// All threads of the workgroup call this. The accesses to LDS that each has issued before are complete, or it waits for
    /// them at its next barrier.
    #[inline(always)]
    pub(in super::super) unsafe fn rest_of_panels(&mut self, mut k: u32) {
        let Some((a, b)) = self.product.operands() else {
            return;
        };
        let slots = self.slots().next();
        while k < a.k {
            Workgroup.wait();
            // SAFETY: barriers are before the writes and behind them.
            unsafe {
                self.store_stage(&a, &b, k);
                if self.writes_scales() {
                    self.write_scales(self.scales_of_stage(k));
                }
            }
            Workgroup.wait();
            // SAFETY: as above.
            unsafe {
                let scales = self.read_panel_scales();
                for step in 0..STEPS {
                    let operands = self.read_step(slots, &scales, step);
                    self.multiply_step::<0>(&operands);
                }
            }
            k += STAGE_BYTES as u32;
        }
    }

    /// Loads the thread's units of the stage that begins at byte `k`, from rows at any distance, and writes them.
    ///
    /// # Safety
    /// No thread accesses the first slot until it has waited for this one.
    #[inline(always)]
    unsafe fn store_stage(&self, a: &Operand<Element<C>>, b: &Operand<Element<C>>, k: u32) {
        const STAGE_UNITS: u32 = (STAGE_BYTES / UNIT_BYTES) as u32;
        let tile = self.product.kernel().tile;
        let mut number = self.thread;
        while number < self.rows() as u32 * STAGE_UNITS {
            let (row, unit) = (number / STAGE_UNITS, number % STAGE_UNITS);
            let is_b = row >= tile.m as u32;
            let (operand, row_of) = if is_b {
                (b, row - tile.m as u32)
            } else {
                (a, row)
            };
            let row_of = row_of.min(operand.rows - 1) as usize;
            // A unit that would end behind the row is loaded from where it fits. A row has a block of 24 bytes at least.
            let wanted = k + unit * UNIT_BYTES as u32;
            let from = wanted.min(operand.k - UNIT_BYTES as u32);
            let address = operand
                .start
                .wrapping_add(row_of * operand.strides.row as usize + from as usize);
            // SAFETY: the unit is in the row.
            let loaded = unsafe { address.cast::<Unit>().read_unaligned() };
            let place = row_start(row as usize) + unit as usize * UNIT_BYTES;
            // SAFETY: as the caller promises.
            unsafe {
                let unit = shifted::<u8>(loaded, (wanted - from).min(UNIT_BYTES as u32));
                write_halves(self.lds.cast::<u8>().wrapping_add(place), unit);
            }
            number += self.threads() as u32;
        }
    }

    /// The scales of the stage at byte `k` of the thread's row, each in the lowest byte of a word, and 0 behind the end of k.
    ///
    /// # Safety
    /// The scales exist up to the end of k.
    #[inline(always)]
    unsafe fn scales_of_stage(&self, k: u32) -> Unit {
        let (blocks, before) = (self.scales_of_k(), k / BLOCK_BYTES as u32);
        let (start, row) = self.scales_of_row(self.scale_row(self.thread));
        let start = start.wrapping_add(row as usize * blocks as usize);
        let words = core::array::from_fn(
            #[inline(always)]
            |block| {
                let number = before + block as u32;
                // SAFETY: this scale or the last one exists.
                let scale = unsafe { start.wrapping_add(number.min(blocks - 1) as usize).read() };
                if number < blocks { scale.into() } else { 0 }
            },
        );
        Unit::from_array(words)
    }
}

/// Writes a unit in two halves, as it may begin at any multiple of eight bytes.
///
/// # Safety
/// The 16 bytes at `place` may be written.
#[inline(always)]
unsafe fn write_halves(place: *mut u8, unit: Unit) {
    let [a, b, c, d] = unit.to_array();
    let place = place.cast::<u32x2>();
    // SAFETY: as the caller promises.
    unsafe {
        place.write(u32x2::from_array([a, b]));
        place.wrapping_add(1).write(u32x2::from_array([c, d]));
    }
}

/// Reads the lane's word of scales for block number `block` of a wave in a step.
///
/// # Safety
/// That of the wave's first block in the first step is at `first` in LDS, and the threads have written it.
#[inline(always)]
unsafe fn read_scales(first: *const u32, step: usize, block: usize) -> u32 {
    let words = block * Mxfp6::EDGE * PANEL_SCALES / 4 + step * Mxfp6::K_GROUPS;
    // SAFETY: as the caller promises.
    unsafe { first.wrapping_add(words).read() }
}

/// Reads the lane's elements of block number `block` of a wave, eight bytes at a time.
///
/// # Safety
/// Those of the wave's first block are at `first` in LDS, and the threads have written the stage.
#[inline(always)]
unsafe fn read_block(first: *const u8, block: usize, scale: u32) -> Lane {
    // Otherwise the compiler would read the last eight bytes of two blocks with one instruction, to registers from which they
    // would have to be moved.
    arch::sched_barrier();
    let start = first
        .wrapping_add(block * row_start(Mxfp6::EDGE))
        .cast::<u32x2>();
    // SAFETY: as the caller promises.
    let [first, second, third] = [0, 1, 2].map(
        #[inline(always)]
        |number| unsafe { start.wrapping_add(number).read() }.to_array(),
    );
    Mxfp6::of_words(
        [first[0], first[1], second[0], second[1], third[0], third[1]],
        scale,
    )
}
