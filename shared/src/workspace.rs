//! The workspace of kernels that divide k, in which workgroups that share a tile store their partial sums, and how
//! the steps of k are divided among them.
//!
//! ```text
//!            ┌──────────────────────────────────────┬─────────┬────────┬────────┬─────
//! workspace  │ counters: u32 [batch][tile]          │ to 256 B│ slot 0 │ slot 1 │ …
//!            └──────────────────────────────────────┴─────────┴────────┴────────┴─────
//!             one for each tile of each product                 tile.m × tile.n sums each
//! ```
//!
//! | | slots of a product | slot of a workgroup |
//! |---|---|---|
//! | [`Reduction::SplitK`] | tiles · parts | `tile · parts + part` |
//! | [`Reduction::StreamK`] | 2 · parts | `2 · w` for the first tile of its share, `2 · w + 1` for the last; used only if it shares the tile |
//!
//! The number of a tile is that of [`TileOrder::place`](crate::TileOrder::place). The layout of the sums within a slot is
//! private to the kernel, which both writes and reads them.
//!
//! What a workgroup computes follows from its number `w` in [`TileOrder::by_xcd`](crate::TileOrder::by_xcd):
//! [`Reduction::StreamK`] gives it the tiles `w`, `w + parts`, … of the first [`whole_tiles`] and share `w` of the steps
//! of the others, [`Reduction::SplitK`] the tile and part of [`split_k`].
//!
//! **Counters are 0** before each launch, and every kernel resets them to 0. The slots need no initialization.
//!
//! The host guarantees for each launch that the [steps] of all tiles of a product, `tiles · steps`, are below 2³²,
//! and that [`parts`](crate::GemmParameters::parts) is from 1 to the number of steps that are divided.

use crate::{BlockTile, Kernel, catalogue::Reduction};

/// The counters are padded to a multiple of this, where the slots begin.
pub const ALIGNMENT_BYTES: u64 = 256;

/// The layout of a launch's workspace; see [the module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Tiles of one product.
    tiles: u32,
    /// Slots of one product.
    slots: u64,
    /// Sums of one slot, in bytes.
    slot_bytes: u64,
    /// Products.
    batch: u32,
}

impl Workspace {
    /// The workspace of a launch of `kernel` for `batch` products of `tiles` tiles, with `parts` as in
    /// [`GemmParameters::parts`](crate::GemmParameters::parts).
    #[inline(always)]
    pub const fn new(kernel: &Kernel, tiles: u32, parts: u32, batch: u32) -> Self {
        let BlockTile { m, n, .. } = kernel.tile;
        Self {
            tiles,
            slots: match kernel.reduction {
                Reduction::None => 0,
                Reduction::SplitK => tiles as u64 * parts as u64,
                Reduction::StreamK => 2 * parts as u64,
            },
            slot_bytes: (m * n * kernel.types.accumulator.size_bytes()) as u64,
            // Without slots there is nothing to count either.
            batch: match kernel.reduction {
                Reduction::None => 0,
                _ => batch,
            },
        }
    }

    /// Byte offset of the counter of tile number `tile` of product `batch`.
    #[inline(always)]
    pub const fn counter_offset_bytes(&self, batch: u32, tile: u32) -> u64 {
        (batch as u64 * self.tiles as u64 + tile as u64) * size_of::<u32>() as u64
    }

    /// Bytes of all counters, without the padding up to the first slot.
    #[inline(always)]
    pub const fn counter_bytes(&self) -> u64 {
        self.counter_offset_bytes(self.batch, 0)
    }

    /// Byte offset of slot `slot` of product `batch`. Does not overflow if
    /// [`size_bytes`](Self::size_bytes) is not `None`.
    #[inline(always)]
    pub const fn slot_offset_bytes(&self, batch: u32, slot: u64) -> u64 {
        self.counter_bytes().next_multiple_of(ALIGNMENT_BYTES)
            + (batch as u64 * self.slots + slot) * self.slot_bytes
    }

    /// The size in bytes: 0 for a kernel that does not divide k, `None` if it exceeds 64 bits.
    pub const fn size_bytes(&self) -> Option<u64> {
        // Counters: at most 2³² · 2³² of 4 bytes.
        let counters = self.batch as u128 * self.tiles as u128 * size_of::<u32>() as u128;
        let Some(slots) =
            (self.batch as u128 * self.slots as u128).checked_mul(self.slot_bytes as u128)
        else {
            return None;
        };
        let Some(bytes) = slots.checked_add(counters.next_multiple_of(ALIGNMENT_BYTES as u128))
        else {
            return None;
        };
        if bytes > u64::MAX as u128 {
            return None;
        }
        Some(bytes as u64)
    }
}

/// The steps along k of a tile: ⌈k / tile.k⌉. With k = 0 it is one empty step, so that one workgroup has the tile and
/// stores it.
#[inline(always)]
pub const fn steps(k: u32, tile: BlockTile) -> u32 {
    let steps = k.div_ceil(tile.k as u32);
    if steps == 0 { 1 } else { steps }
}

/// The first step of share number `share` when `total` steps are divided into `shares`, not 0; with `share = shares`
/// the end of the last one. Shares are contiguous and differ by at most one step, longer ones first.
///
/// [`Reduction::SplitK`] divides the steps of one tile among its parts, [`Reduction::StreamK`] those of a product's
/// tiles after the first [`whole_tiles`], tile after tile, among its workgroups.
///
/// ```
/// use ferrowave_shared::workspace::first_step;
///
/// let starts = [0, 1, 2, 3].map(|share| first_step(10, 3, share));
/// assert_eq!(starts, [0, 4, 7, 10]);
/// ```
#[inline(always)]
pub const fn first_step(total: u32, shares: u32, share: u32) -> u32 {
    let (each, rest) = (total / shares, total % shares);
    each * share + if share < rest { share } else { rest }
}

/// The share that contains step number `step` of `total`, as [`first_step`] divides them; `shares` is at most `total`.
#[inline(always)]
pub const fn share_of_step(total: u32, shares: u32, step: u32) -> u32 {
    let (each, rest) = (total / shares, total % shares);
    // The first `rest` shares have one step more.
    let longer = rest * (each + 1);
    if step < longer {
        step / (each + 1)
    } else {
        (step - rest) / each
    }
}

/// How many of a product's `tiles` [`Reduction::StreamK`] does not divide: as many for each of the `workgroups` as there
/// are. Fewer than one for each of them is left.
#[inline(always)]
pub const fn whole_tiles(tiles: u32, workgroups: u32) -> u32 {
    tiles - tiles % workgroups
}

/// The tile and the part of workgroup number `number` of [`Reduction::SplitK`], of `tiles` · parts.
///
/// Neighbours compute the same part of different tiles, which share rows of A and columns of B. The parts of one tile
/// share no input.
#[inline(always)]
pub const fn split_k(number: u32, tiles: u32) -> (u32, u32) {
    (number % tiles, number / tiles)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{TileOrder, catalogue::NAIVE_F32};
    use std::{collections::BTreeSet, vec::Vec};

    const TILE: BlockTile = BlockTile { m: 16, n: 8, k: 4 };

    const fn kernel(reduction: Reduction) -> Kernel {
        Kernel {
            tile: TILE,
            reduction,
            ..NAIVE_F32
        }
    }

    #[test]
    fn split_k_has_a_slot_for_each_part_of_each_tile() {
        let workspace = Workspace::new(&kernel(Reduction::SplitK), 70, 3, 2);
        // 140 counters are 560 bytes, 768 with the padding; a slot is 16 · 8 · 4 bytes.
        assert_eq!(workspace.counter_bytes(), 560);
        assert_eq!(workspace.counter_offset_bytes(1, 2), 288);
        assert_eq!(workspace.slot_offset_bytes(0, 0), 768);
        assert_eq!(workspace.slot_offset_bytes(1, 5), 768 + (210 + 5) * 512);
        assert_eq!(workspace.size_bytes(), Some(768 + 420 * 512));
    }

    #[test]
    fn stream_k_has_two_slots_for_each_workgroup() {
        let workspace = Workspace::new(&kernel(Reduction::StreamK), 64, 5, 1);
        assert_eq!(workspace.counter_bytes(), 256);
        assert_eq!(workspace.slot_offset_bytes(0, 0), 256);
        assert_eq!(workspace.size_bytes(), Some(256 + 10 * 512));
    }

    #[test]
    fn other_kernels_have_none() {
        let workspace = Workspace::new(&kernel(Reduction::None), 70, 1, 9);
        assert_eq!(workspace.size_bytes(), Some(0));
        assert_eq!(workspace.counter_bytes(), 0);
    }

    #[test]
    fn a_workspace_beyond_64_bits_is_none() {
        let workspace = Workspace::new(&kernel(Reduction::SplitK), u32::MAX, u32::MAX, 1);
        assert_eq!(workspace.size_bytes(), None);
    }

    #[test]
    fn an_empty_sum_is_one_step() {
        assert_eq!([0, 1, 4, 5].map(|k| steps(k, TILE)), [1, 1, 1, 2]);
        assert_eq!(steps(u32::MAX, TILE), 1 << 30);
    }

    #[test]
    fn every_step_is_found_in_its_share() {
        for (total, shares) in [(1, 1), (10, 3), (10, 10), (304, 16), (1001, 304)] {
            for share in 0..shares {
                for step in first_step(total, shares, share)..first_step(total, shares, share + 1) {
                    assert_eq!(share_of_step(total, shares, step), share);
                }
            }
        }
    }

    #[test]
    fn shares_are_contiguous_and_even() {
        for total in [1, 7, 8, 9, 1000, u32::MAX] {
            for shares in [1, 2, 3, 7, 304] {
                assert_eq!(first_step(total, shares, 0), 0);
                assert_eq!(first_step(total, shares, shares), total);
                for share in 0..shares {
                    let length =
                        first_step(total, shares, share + 1) - first_step(total, shares, share);
                    assert!(length == total / shares || length == total / shares + 1);
                }
            }
        }
    }

    /// MI300X: compute units, and XCDs.
    const COMPUTE_UNITS: u32 = 304;
    const XCDS: u32 = 8;

    /// A square of `edge` × `edge` tiles of `steps` steps each.
    #[derive(Clone, Copy)]
    struct Square {
        edge: u32,
        steps: u32,
    }

    impl Square {
        fn place(self, tile: u32) -> (u32, u32) {
            // The host's groups of 8 rows.
            TileOrder::place(tile, self.edge, self.edge, 3)
        }

        /// The first tile and the part of k of workgroup `x` of [`Reduction::StreamK`]. What two tiles read of a row of
        /// A counts as the same wherever they begin along k.
        fn stream_k(self, x: u32, workgroups: u32) -> (u32, u32) {
            let share = TileOrder::by_xcd(x, workgroups, XCDS);
            let tiles = self.edge * self.edge;
            let whole = whole_tiles(tiles, workgroups);
            let total = (tiles - whole) * self.steps;
            let divided = whole + first_step(total, workgroups, share) / self.steps;
            (if whole > 0 { share } else { divided }, 0)
        }

        /// The tile and the part of k of workgroup `x` of [`Reduction::SplitK`].
        fn split_k(self, x: u32, parts: u32) -> (u32, u32) {
            let tiles = self.edge * self.edge;
            split_k(TileOrder::by_xcd(x, tiles * parts, XCDS), tiles)
        }

        /// The most panels (a row of tiles of A, or a column of B, in a part of k) that the workgroups of an XCD read,
        /// of the first `at_once`.
        fn panels(self, at_once: u32, work: impl Fn(u32) -> (u32, u32)) -> usize {
            let of_xcd = |xcd: u32| {
                let places: Vec<_> = (xcd..at_once)
                    .step_by(XCDS as usize)
                    .map(&work)
                    .map(|(tile, part)| (self.place(tile), part))
                    .collect();
                let rows: BTreeSet<_> = places.iter().map(|((row, _), part)| (row, part)).collect();
                let columns: BTreeSet<_> = places
                    .iter()
                    .map(|((_, column), part)| (column, part))
                    .collect();
                rows.len() + columns.len()
            };
            (0..XCDS).map(of_xcd).max().expect("XCDs")
        }
    }

    /// The most panels of `tiles` consecutive tiles: their columns of 8, one more if they begin inside one, and the rows
    /// of two groups.
    fn bound(tiles: u32) -> usize {
        (tiles.div_ceil(8) + 1 + 2 * 8) as usize
    }

    #[test]
    fn the_workgroups_of_an_xcd_share_panels_in_stream_k() {
        // Tiles of 128 × 128 × 64, two workgroups on each compute unit: 76 on each XCD. 4096³ and 8192³ have whole tiles
        // for all of them, so that those of an XCD begin with consecutive ones.
        let workgroups = 2 * COMPUTE_UNITS;
        for (edge, steps) in [(32, 64), (64, 128)] {
            let square = Square { edge, steps };
            let panels = square.panels(workgroups, |x| square.stream_k(x, workgroups));
            assert!(panels <= bound(76), "{edge}: {panels}");
        }
        // 2048³: 256 tiles, which are all divided; each XCD has 32 consecutive ones and a part of another.
        let square = Square {
            edge: 16,
            steps: 32,
        };
        let panels = square.panels(workgroups, |x| square.stream_k(x, workgroups));
        assert!(panels <= bound(33), "{panels}");
    }

    #[test]
    fn stream_k_divides_less_than_a_tile_for_each_workgroup() {
        assert_eq!(whole_tiles(4096, 608), 6 * 608);
        assert_eq!(whole_tiles(1216, 608), 1216);
        assert_eq!(whole_tiles(607, 608), 0);
    }

    #[test]
    fn the_workgroups_of_an_xcd_share_panels_in_split_k() {
        // With a tile for each compute unit, k is not divided: 4096³ and 8192³, 76 consecutive tiles on each XCD.
        for edge in [32, 64] {
            let square = Square { edge, steps: 64 };
            let panels = square.panels(2 * COMPUTE_UNITS, |x| square.split_k(x, 1));
            assert!(panels <= bound(76), "{edge}: {panels}");
        }
        // 512 × 512 in 19 parts of k, 38 workgroups on each XCD: two parts of 4 × 4 tiles, and some tiles of a third,
        // each with at most 4 + 4 panels. The 19 parts of two tiles would have 19 · (1 + 2).
        let square = Square {
            edge: 4,
            steps: 1024,
        };
        let panels = square.panels(COMPUTE_UNITS, |x| square.split_k(x, 19));
        assert!(panels <= 4 * (4 + 4), "{panels}");
    }

    #[test]
    fn every_part_of_split_k_has_a_workgroup() {
        for (tiles, parts) in [(1, 1), (4, 76), (16, 19), (7, 3)] {
            let all: BTreeSet<_> = (0..tiles * parts)
                .map(|x| split_k(TileOrder::by_xcd(x, tiles * parts, XCDS), tiles))
                .collect();
            assert_eq!(all.len(), (tiles * parts) as usize);
            assert!(
                all.into_iter()
                    .all(|(tile, part)| tile < tiles && part < parts)
            );
        }
    }
}
