//! The shape of a workgroup's work, and the grid of workgroups that covers a problem.

/// The part of a product that one workgroup computes, and the step in which it walks along k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockTile {
    /// Rows of C per workgroup.
    pub m: usize,
    /// Columns of C per workgroup.
    pub n: usize,
    /// Columns of A and rows of B that are multiplied between two barriers; 1 for a kernel that
    /// has none.
    pub k: usize,
}

/// The threads of a workgroup. `x` varies fastest: thread `(x, y)` is lane `(y · self.x + x) mod 64`
/// of wave `⌊(y · self.x + x) / 64⌋`.
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

/// A grid of workgroups.
///
/// Workgroup `(x, y, z)` computes rows `y · tile.m ..` and columns `x · tile.n ..` of product `z` of
/// the batch. x runs along the columns, so that workgroups which start one after the other read
/// neighbouring columns of B and the same rows of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// Workgroups along the columns of C.
    pub x: u32,
    /// Workgroups along the rows of C.
    pub y: u32,
    /// Workgroups along the batch: one a product.
    pub z: u32,
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
    use super::*;

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

    #[test]
    fn nothing_to_compute_has_no_workgroup() {
        check(0, 64, 1, 1, 0, 1);
        check(4, 0, 1, 0, 1, 1);
        check(4, 64, 0, 1, 1, 0);
    }
}
