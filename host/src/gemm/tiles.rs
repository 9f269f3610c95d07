//! The tiles of a problem, and their order.

use super::{machine::Machine, problem::Problem};
use ferrowave_shared::{BlockTile, Kernel, workspace};

/// The base-2 logarithm of the rows of tiles in a group of the linear order. A block of 8 × 8 tiles reads 8 rows of tiles of A and
/// 8 columns of tiles of B for 64 tiles of C. The fastest published kernels also use groups of 8.
pub(super) const GROUP_LOG: u32 = 3;

/// The tiles of a problem that a machine computes.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    pub(super) tile: BlockTile,
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) batch: u32,
    /// Whole and started steps along k of a tile.
    pub(super) steps: u32,
    pub(super) compute_units: u32,
    pub(super) has_tail: bool,
    pub(super) overhangs: bool,
    pub(super) is_aligned: bool,
}

impl Tiles {
    /// The tiles of `problem` by `kernel`; `is_aligned` if its lines begin at multiples of 16 bytes.
    pub fn new(kernel: &Kernel, problem: &Problem, machine: &Machine, is_aligned: bool) -> Self {
        let tile = kernel.tile;
        let grid = tile.grid(problem.m(), problem.n(), problem.batch());
        let overhangs = |extent: u32, tile: usize| !(extent as usize).is_multiple_of(tile);
        Self {
            tile,
            rows: grid.y,
            columns: grid.x,
            batch: grid.z,
            steps: workspace::steps(problem.k(), tile),
            compute_units: machine.compute_units.max(1),
            has_tail: overhangs(problem.k(), kernel.loop_k()),
            overhangs: overhangs(problem.m(), tile.m) || overhangs(problem.n(), tile.n),
            is_aligned,
        }
    }

    pub(super) fn count(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns) * u64::from(self.batch)
    }
}

/// Rows and columns of at most `count` tiles, nearly as many and nearly a square.
pub fn near_square(count: u32) -> (u32, u32) {
    let root = count.max(1).isqrt();
    // Rows from about three quarters of the root on.
    (root.div_ceil(2) + root / 4..=root)
        .map(|rows| (rows.max(1), count.max(1) / rows.max(1)))
        .max_by_key(|(rows, columns)| (rows * columns, *rows))
        .unwrap_or((1, 1))
}

/// Elements along k that each of the workgroups that run at once reads before the others, if they compute `count` of
/// `rows` × `columns` tiles in the order of the kernels.
pub(super) fn first_read(tile: BlockTile, rows: u32, columns: u32, count: u64) -> f64 {
    let in_group = rows.clamp(1, 1 << GROUP_LOG);
    let columns_at_once = count
        .div_ceil(in_group.into())
        .clamp(1, columns.max(1).into());
    let groups = (count / (u64::from(in_group) * columns_at_once))
        .clamp(1, rows.max(1).div_ceil(in_group).into());
    let (rows, columns) = (
        (u64::from(in_group) * groups) as f64,
        columns_at_once as f64,
    );
    (rows * tile.m as f64 + columns * tile.n as f64) / (rows * columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_squares_have_nearly_all_tiles() {
        for count in 1..2000 {
            let (rows, columns) = near_square(count);
            assert!(rows * columns <= count && rows <= columns, "{count}");
            assert!(
                f64::from(rows * columns) >= 0.85 * f64::from(count) || count < 20,
                "{count}: {rows} × {columns}"
            );
            assert!(
                columns <= 3 * rows || count < 20,
                "{count}: {rows} × {columns}"
            );
        }
    }
}
