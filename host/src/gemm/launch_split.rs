//! How a problem is split into launches and parts of k.

use super::{machine::Machine, problem::Problem, tiles::Tiles, tuned::Table};
use ferrowave_shared::{Kernel, TileOrder, Workspace, catalogue::Reduction, workspace};

/// The largest workspace of a launch, unless one tile of one product needs more. It is enough for two tiles of
/// 256 × 256 sums for every workgroup that any of the GPUs runs at once.
const WORKSPACE_BUDGET_BYTES: u64 = 1 << 28;

/// Minimum number of steps of k in a part of a tile: with fewer, storing and adding the parts costs more than computing
/// them in parallel gains.
const STEPS_PER_PART: u32 = 4;

/// The largest part of a problem that one launch computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Rows of C.
    pub(super) m: u32,
    /// Columns of C.
    pub(super) n: u32,
    /// Products.
    pub(super) batch: u32,
}

impl Chunk {
    /// The largest part of `problem` that a launch of `kernel` computes on `machine`, if k is divided into `parts`.
    pub(super) fn new(kernel: &Kernel, problem: &Problem, machine: &Machine, parts: u32) -> Self {
        let limits = machine.limits;
        // A dispatch packet counts work-items in 32 bits for each dimension.
        let workgroups = |limit: u32, threads: usize| {
            let by_packet = u32::MAX as usize / threads.max(1);
            // At most the limit, which has 32 bits.
            (limit as usize).min(by_packet).max(1) as u32
        };
        let along_x = workgroups(limits.x, kernel.block.x);
        let columns = problem.n().div_ceil(kernel.tile.n as u32).max(1);
        // The tiles of a product, and the steps of all of them, are counted in 32 bits.
        let countable = u32::MAX / workspace::steps(problem.k(), kernel.tile);
        let tile_bytes = workspace_of(kernel, 1, parts, 1)
            .size_bytes()
            .unwrap_or(u64::MAX)
            .max(1);
        let affordable = |bytes: u64| {
            u32::try_from(WORKSPACE_BUDGET_BYTES / bytes.max(1))
                .unwrap_or(u32::MAX)
                .max(1)
        };
        let tiles = match (kernel.order, kernel.reduction) {
            (TileOrder::Plane, _) => {
                return Self {
                    m: extent(workgroups(limits.y, kernel.block.y), kernel.tile.m),
                    n: extent(along_x, kernel.tile.n),
                    batch: limits.z.max(1),
                };
            }
            (TileOrder::Linear, Reduction::None) => along_x,
            (TileOrder::Linear, Reduction::SplitK) => {
                (along_x / parts).min(affordable(tile_bytes)).min(countable)
            }
            (TileOrder::Linear, Reduction::StreamK) => countable,
        }
        .max(1);
        let columns = columns.min(tiles);
        let rows = tiles / columns;
        let needed_rows = problem.m().div_ceil(kernel.tile.m as u32).max(1);
        let product_bytes = workspace_of(kernel, columns * rows.min(needed_rows), parts, 1)
            .size_bytes()
            .unwrap_or(u64::MAX);
        Self {
            m: extent(rows, kernel.tile.m),
            n: extent(columns, kernel.tile.n),
            batch: affordable(product_bytes).min(limits.z.max(1)),
        }
    }
}

/// The workspace of a launch for `batch` products of `tiles` tiles. With k in one part there is nothing to add, and none.
pub(super) const fn workspace_of(kernel: &Kernel, tiles: u32, parts: u32, batch: u32) -> Workspace {
    match (kernel.reduction, parts) {
        (Reduction::SplitK, 1) => Workspace::new(kernel, 0, parts, 0),
        _ => Workspace::new(kernel, tiles, parts, batch),
    }
}

/// Into how many parts `kernel` divides `problem`: for [`Reduction::SplitK`] as the machine's table of costs says, or
/// without one so many that each compute unit of `machine` has a workgroup; for [`Reduction::StreamK`] as many workgroups
/// as run at once.
pub(super) fn parts(kernel: &Kernel, problem: &Problem, machine: &Machine) -> u32 {
    let steps = workspace::steps(problem.k(), kernel.tile);
    match kernel.reduction {
        Reduction::None => 1,
        Reduction::SplitK => {
            let tuned = Table::of(machine).and_then(|table| table.row(kernel, problem));
            if let Some(row) = tuned {
                let tiles = Tiles::new(kernel, problem, machine, true);
                return row.cost.best_parts(&tiles).0;
            }
            let grid = kernel.tile.grid(problem.m(), problem.n(), problem.batch());
            let idle = u64::from(machine.compute_units) / grid.workgroups().max(1);
            // At most the number of steps, which has 32 bits.
            idle.clamp(1, (steps / STEPS_PER_PART).max(1).into()) as u32
        }
        Reduction::StreamK => machine.workgroups_at_once(kernel),
    }
}

fn extent(tiles: u32, tile: usize) -> u32 {
    u32::try_from(tiles as usize * tile).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::{GridLimits, Request};
    use ferrowave_shared::{BlockTile, catalogue::NAIVE_F32};

    const fn kernel(reduction: Reduction) -> Kernel {
        Kernel {
            tile: BlockTile {
                m: 128,
                n: 256,
                k: 64,
            },
            waves_per_simd: 1,
            order: TileOrder::Linear,
            reduction,
            ..NAIVE_F32
        }
    }

    fn machine() -> Machine {
        Machine {
            compute_units: 304,
            ..Machine::smallest("gfx942")
        }
    }

    fn check(kernel: &Kernel, request: Request, machine: &Machine, expected: (u32, Chunk)) {
        let problem = request.check().expect("valid");
        let parts = parts(kernel, &problem, machine);
        let chunk = Chunk::new(kernel, &problem, machine, parts);
        assert_eq!((parts, chunk), expected);
    }

    #[test]
    fn a_row_of_tiles_is_not_cut_unless_it_must_be() {
        let machine = Machine {
            limits: GridLimits { x: 7, y: 1, z: 2 },
            ..machine()
        };
        let kernel = kernel(Reduction::None);
        let chunk = |m, n| Chunk { m, n, batch: 2 };
        check(
            &kernel,
            Request::new(9999, 3 * 256, 1),
            &machine,
            (1, chunk(2 * 128, 3 * 256)),
        );
        check(
            &kernel,
            Request::new(9999, 8 * 256, 1),
            &machine,
            (1, chunk(128, 7 * 256)),
        );
        check(
            &kernel,
            Request::new(9999, 1, 1),
            &machine,
            (1, chunk(7 * 128, 256)),
        );
    }

    #[test]
    fn k_is_cut_until_every_compute_unit_has_a_workgroup() {
        let split = kernel(Reduction::SplitK);
        let cut = |m, n, k| {
            let problem = Request::new(m, n, k).check().expect("valid");
            parts(&split, &problem, &machine())
        };
        // 2 tiles on 304 compute units.
        assert_eq!(cut(128, 512, 1 << 20), 152);
        // 40 steps, 4 for each part.
        assert_eq!(cut(128, 512, 40 * 64), 10);
        assert_eq!(cut(128, 512, 100), 1);
        assert_eq!(cut(128, 512, 0), 1);
        assert_eq!(cut(1 << 16, 1 << 16, 1 << 16), 1);
    }

    #[test]
    fn the_workspace_of_a_launch_stays_in_its_budget() {
        for reduction in [Reduction::SplitK, Reduction::StreamK] {
            let kernel = kernel(reduction);
            let request = Request {
                batch: 1000,
                ..Request::new(1 << 20, 1 << 20, 1 << 12)
            };
            let problem = request.check().expect("valid");
            // Without a division of k, split-K needs none.
            let parts = parts(&kernel, &problem, &machine()).max(2);
            let chunk = Chunk::new(&kernel, &problem, &machine(), parts);
            let grid = kernel.tile.grid(chunk.m, chunk.n, chunk.batch);
            let workspace = workspace_of(&kernel, grid.x * grid.y, parts, grid.z);
            let bytes = workspace.size_bytes().expect("small");
            // The slots are within the budget; the counters are small in comparison.
            assert!(bytes < 2 * WORKSPACE_BUDGET_BYTES, "{reduction:?}: {bytes}");
            assert!(chunk.m > 0 && chunk.n > 0 && chunk.batch > 0);
        }
    }

    #[test]
    fn steps_of_all_tiles_are_counted_in_32_bits() {
        let kernel = kernel(Reduction::StreamK);
        let problem = Request::new(1 << 30, 1, 1 << 20).check().expect("valid");
        let chunk = Chunk::new(&kernel, &problem, &machine(), 4);
        // 2¹⁴ steps per tile.
        assert!(u64::from(chunk.m) / 128 * (1 << 14) < 1 << 32);
        assert!(chunk.m >= 128);
    }
}
