//! Tiles of operands across rows on gfx950, which stay so in LDS: `ds_read_b64_tr_b8` and `ds_read_b64_tr_b16` transpose them.
//!
//! ```text
//! bytes                            elements of 2 bytes               16 lanes read 8 · 16 or 4 · 16 elements, 8 bytes each;
//!        rows →                           rows →                     lane number i gets column i: 8 or 4 elements along k
//!    k ┌───────┬───────┐              k ┌───┬───┬───┬───┐
//!    ↓ │ lane 0│ lane 1│              ↓ │ 0 │ 1 │ 2 │ 3 │
//!      ├───────┼───────┤                ├───┼───┼───┼───┤
//!      │   2   │   3   │                │ 4 │ 5 │ 6 │ 7 │
//!      └───────┴───────┘                └───┴───┴───┴───┘
//! ```
//!
//! Other GPUs transpose units in registers before they are stored, and a thread writes as many pieces as a unit has elements.
//! Here it writes whole units.

use super::{BlockGemm, Config, Element, Operands, Source};
use crate::{
    arch,
    matrix::Multiply as _,
    tile::operand::{LdsLayout, UNIT_BYTES, Unit, divided, transposing_read},
};
use core::{marker::PhantomData, mem::transmute, simd::u32x2};

/// Where a lane's first reads are in the tiles of A and B, if these stay across rows.
pub(super) struct Places<C: Config> {
    pub(super) a: Option<Place<C::Layout>>,
    pub(super) b: Option<Place<C::LayoutB>>,
}

impl<C: Config> Places<C> {
    /// Both tiles are along k.
    pub(super) const NONE: Self = Self { a: None, b: None };
}

/// Where a lane's first read is in a tile that stays across rows.
#[derive(Clone, Copy)]
pub(super) struct Place<L> {
    /// The byte in the tile.
    byte: u32,
    layout: PhantomData<L>,
}

impl<L: LdsLayout> Place<L> {
    /// Reads unit `unit` of the lane's row of block number `block` in a tile of `rows` rows. The caller lets it
    /// [arrive](BlockGemm::arrived).
    ///
    /// # Safety
    /// As [`operands`](BlockGemm::operands).
    #[inline(always)]
    pub(super) unsafe fn read<C: Config>(
        self,
        tile: *const Unit,
        rows: usize,
        block: usize,
        unit: u32,
    ) -> Unit {
        let per_unit = BlockGemm::<C>::PER_UNIT;
        let (k, units) = (
            unit * per_unit,
            (block * C::Multiply::EDGE) as u32 / per_unit,
        );
        let tile = tile.cast::<u8>();
        // SAFETY: both have the same size, and any bits are valid. The bytes are in the tile, and all lanes are active.
        unsafe {
            let first = self.read_half::<C>(tile, L::position_across(rows, k, units));
            let second = L::position_across(rows, k + per_unit / 2, units);
            let second = self.read_half::<C>(tile, second);
            transmute::<[u32x2; 2], Unit>([first, second])
        }
    }

    /// Reads 8 bytes at the position that is `further` units from the first.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn read_half<C: Config>(self, tile: *const u8, further: u32) -> u32x2 {
        let (high, local) = divided(further);
        let unit = UNIT_BYTES as u32;
        let byte = (self.byte ^ (local * unit)) + high * unit;
        let from = tile.wrapping_add(byte as usize);
        // SAFETY: as the caller promises.
        unsafe {
            if size_of::<Element<C>>() == 1 {
                arch::read_transposed::<1>(from)
            } else {
                arch::read_transposed::<2>(from)
            }
        }
    }
}

impl<C: Config> BlockGemm<C> {
    /// Elements of a unit.
    const PER_UNIT: u32 = (UNIT_BYTES / size_of::<Element<C>>()) as u32;

    /// Where the lane reads tiles of a source of which the compiler knows the layouts.
    #[inline(always)]
    pub(super) fn places(&self, source: &Source<C>) -> Places<C> {
        let edge = C::Multiply::EDGE as u32;
        let (row_a, row_b) = (
            self.wave_row * Self::M as u32 * edge,
            self.wave_column * Self::N as u32 * edge,
        );
        let (a, b) = (&source.loader_a, &source.loader_b);
        Places {
            a: a.stays_across().then(
                #[inline(always)]
                || self.place(C::LDS_ROWS.0, row_a),
            ),
            b: b.stays_across().then(
                #[inline(always)]
                || self.place(C::LDS_ROWS.1, row_b),
            ),
        }
    }

    /// The place of the lane's first read for the block that begins at row `row` of a tile of `rows` rows.
    #[inline(always)]
    fn place<L: LdsLayout>(&self, rows: usize, row: u32) -> Place<L> {
        let (edge, unit) = (C::Multiply::EDGE as u32, UNIT_BYTES as u32);
        let row = row + self.lane % edge / 16 * 16;
        let group = self.lane / edge % C::Multiply::K_GROUPS as u32;
        let (k, byte) = transposing_read(self.lane, size_of::<Element<C>>() as u32);
        let position = L::position_across(
            rows,
            group * Self::PER_UNIT + k,
            row / Self::PER_UNIT + byte / unit,
        );
        Place {
            byte: position * unit + byte % unit,
            layout: PhantomData,
        }
    }

    /// Waits for operands if reads have transposed them.
    #[inline(always)]
    pub(in super::super) fn arrived(&self, operands: Operands<C>) -> Operands<C> {
        if Self::MAY_STAY_ACROSS && (self.across.a.is_some() || self.across.b.is_some()) {
            // What the wave multiplies meanwhile stays before the wait.
            arch::sched_barrier();
            arch::wait_for_lds();
        }
        self.settled(operands)
    }

    /// The same after a wait for LDS.
    #[inline(always)]
    pub(in super::super) fn settled(&self, mut operands: Operands<C>) -> Operands<C> {
        if !Self::MAY_STAY_ACROSS {
            return operands;
        }
        if self.across.a.is_some() {
            for i in 0..Self::M {
                operands.a[i] = arch::settled(operands.a[i]);
            }
        }
        if self.across.b.is_some() {
            for j in 0..Self::N {
                operands.b[j] = arch::settled(operands.b[j]);
            }
        }
        operands
    }
}
