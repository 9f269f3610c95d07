//! The tile and the threads of a workgroup, and the grid of workgroups that covers a problem.

/// Lanes of a wave of CDNA.
pub const LANES: usize = 64;

/// Bytes of a unit, the most that a lane moves in one access.
pub const UNIT_BYTES: usize = 16;

/// The part of a product that one workgroup computes, and its step along k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockTile {
    /// Rows of C per workgroup.
    pub m: usize,
    /// Columns of C per workgroup.
    pub n: usize,
    /// Columns of A and rows of B that are multiplied between two barriers; 1 for a kernel without
    /// barriers.
    pub k: usize,
}

/// Rows of a tile of A or B in LDS, where a row has `row_units` units of 16 bytes. Each of the `threads` stores the same number
/// of units, a power of two; if the tile has fewer, the rows behind it are never read. If it has less than a unit for each thread, as
/// many waves as it needs store one.
pub const fn lds_rows(rows: usize, row_units: usize, threads: usize) -> usize {
    let units = rows * row_units;
    if units < threads && units.is_multiple_of(LANES) {
        return rows;
    }
    let of_a_thread = units.div_ceil(threads).next_power_of_two();
    of_a_thread * threads / row_units
}

/// The threads of a workgroup. `x` varies fastest: thread `(x, y)` is lane `(y · self.x + x) mod L` of wave
/// `⌊(y · self.x + x) / L⌋`, in waves of L lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockShape {
    /// Threads along x.
    pub x: usize,
    /// Threads along y.
    pub y: usize,
}

impl BlockShape {
    /// How many threads there are.
    pub const fn threads(self) -> usize {
        self.x * self.y
    }
}

/// How the tiles of C are assigned to the workgroups of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileOrder {
    /// A two-dimensional grid: workgroup `(x, y)` computes the tile in column x and row y.
    Plane,
    /// A one-dimensional grid, in which workgroups that run at the same time on one XCD compute
    /// neighbouring tiles. A launch whose workgroups all run at the same time on one XCD may have the two-dimensional grid of
    /// [`Plane`](Self::Plane) instead ([`PLANE_GRID`](Self::PLANE_GRID)).
    ///
    /// The hardware distributes workgroups to the XCDs round-robin, and each XCD has its own L2. So
    /// workgroups are numbered by XCD ([`by_xcd`](Self::by_xcd)), and tiles so that a range of numbers is
    /// compact ([`place`](Self::place)). Which tiles a number stands for is the kernel's
    /// [`Reduction`](crate::catalogue::Reduction).
    Linear,
}

impl TileOrder {
    /// In [`GemmParameters::order`](crate::GemmParameters::order): the grid is that of [`Plane`](Self::Plane), which a workgroup finds
    /// its tile in without divisions, and k is not divided.
    pub const PLANE_GRID: u32 = 1 << 31;

    /// The number of workgroup `x` of `count`, not 0: those of one XCD have consecutive numbers. Workgroup
    /// `x` runs on XCD `x mod xcds`.
    #[inline(always)]
    pub const fn by_xcd(x: u32, count: u32, xcds: u32) -> u32 {
        let (xcd, turn) = (x % xcds, x / xcds);
        let (share, rest) = (count / xcds, count % xcds);
        xcd * share + if xcd < rest { xcd } else { rest } + turn
    }

    /// Row and column of tile number `number` of `rows` × `columns`, neither of them 0. Tiles are numbered in groups of
    /// 1 << `group_log` rows of tiles: within a group column by column, from top to bottom.
    #[inline(always)]
    pub const fn place(number: u32, rows: u32, columns: u32, group_log: u32) -> (u32, u32) {
        let group = 1 << group_log;
        // One group has all rows: a division less.
        let first = if rows <= group {
            0
        } else {
            ((number >> group_log) / columns) << group_log
        };
        let place = number - first * columns;
        // Only the last group may have fewer rows, which are divided by: not 0, as the compiler sees, so that it does not check.
        let rest = if rows > first { rows - first } else { 1 };
        let (row, column) = if rest >= group {
            (place % group, place >> group_log)
        } else {
            (place % rest, place / rest)
        };
        (first + row, column)
    }
}

/// A grid of workgroups.
///
/// Workgroup `(x, y, z)` computes rows `y · tile.m ..` and columns `x · tile.n ..` of product `z` of
/// the batch. x runs along the columns, so that consecutive workgroups read neighbouring columns of
/// B and the same rows of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// Workgroups along the columns of C.
    pub x: u32,
    /// Workgroups along the rows of C.
    pub y: u32,
    /// Workgroups along the batch: one per product.
    pub z: u32,
}

impl Grid {
    /// All workgroups.
    pub const fn workgroups(self) -> u64 {
        (self.x as u64 * self.y as u64).saturating_mul(self.z as u64)
    }
}

impl BlockTile {
    /// The workgroups that cover `batch` products of `m` × `n` elements. One of the three is 0 when
    /// there is nothing to compute; such a grid must not be launched.
    pub const fn grid(self, m: u32, n: u32, batch: u32) -> Grid {
        // A tile edge is a small constant, far below u32::MAX.
        Grid {
            x: n.div_ceil(self.n as u32),
            y: m.div_ceil(self.m as u32),
            z: batch,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    const TILE: BlockTile = BlockTile { m: 4, n: 64, k: 1 };

    fn check(m: u32, n: u32, batch: u32, x: u32, y: u32, z: u32) {
        assert_eq!(TILE.grid(m, n, batch), Grid { x, y, z });
    }

    #[test]
    fn a_started_tile_has_a_workgroup() {
        check(4, 64, 1, 1, 1, 1);
        check(5, 65, 3, 2, 2, 3);
        check(3, 63, 1, 1, 1, 1);
    }

    #[test]
    fn the_largest_extent_does_not_overflow() {
        check(u32::MAX, u32::MAX, 1, 1 << 26, 1 << 30, 1);
    }

    /// The tile of each workgroup of a kernel with one workgroup for each tile.
    fn tiles(rows: u32, columns: u32, group_log: u32, xcds: u32) -> Vec<(u32, u32)> {
        let count = rows * columns;
        (0..count)
            .map(|x| TileOrder::place(TileOrder::by_xcd(x, count, xcds), rows, columns, group_log))
            .collect()
    }

    #[test]
    fn every_tile_of_the_linear_order_is_computed_once() {
        for (rows, columns) in [(1, 1), (1, 7), (7, 1), (8, 8), (19, 5), (5, 19)] {
            for group_log in [0, 2, 3, 6] {
                for xcds in [1, 3, 8] {
                    let mut tiles = tiles(rows, columns, group_log, xcds);
                    tiles.sort_unstable();
                    let all =
                        (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
                    assert!(
                        tiles.into_iter().eq(all),
                        "{rows} × {columns}, {group_log}, {xcds}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_workgroups_of_an_xcd_compute_neighbours() {
        // 16 tiles on 2 XCDs: the even workgroups take the two upper rows, the odd ones the lower.
        let tiles = tiles(4, 4, 1, 2);
        assert_eq!(
            [tiles[0], tiles[2], tiles[4], tiles[6]],
            [(0, 0), (1, 0), (0, 1), (1, 1)]
        );
        assert_eq!(
            [tiles[1], tiles[3], tiles[5], tiles[7]],
            [(2, 0), (3, 0), (2, 1), (3, 1)]
        );
    }

    #[test]
    fn threads_store_whole_shares_of_a_tile() {
        assert_eq!(lds_rows(128, 4, 256), 128);
        assert_eq!(lds_rows(32, 4, 128), 32);
        assert_eq!(lds_rows(32, 4, 256), 32, "two of four waves store");
        assert_eq!(lds_rows(24, 4, 256), 64, "one and a half waves");
        assert_eq!(lds_rows(80, 4, 256), 128, "320 units are two a thread");
        assert_eq!(lds_rows(192, 4, 256), 256, "768 units are four a thread");
    }

    #[test]
    fn nothing_to_compute_has_no_workgroup() {
        check(0, 64, 1, 1, 0, 1);
        check(4, 0, 1, 0, 1, 1);
        check(4, 64, 0, 1, 1, 0);
    }
}
