//! What a kernel's launch costs, from a few launches that were modelled.
//!
//! A workgroup's time is a fixed part (until its first stage is there, and from its last product to its last store) and a
//! part for each step along k; a few steps cost less ([`Steps`]). Both depend on how many workgroups share a compute unit,
//! and the second on how much of what they read is read by others, too. [`Cost`] has both for four loads of the GPU:
//!
//! ```text
//! few     a handful of workgroups on an idle GPU                            cycles
//! one     one workgroup on every compute unit                                 │              ┌─ next
//! full    as many on every compute unit as it holds at once                   │      ┌───────┘
//! next    each further batch of as many                                       │  ┌───┘ full
//!                                                                             │ few…one
//!                                                                             └──────────────── workgroups
//! ```
//!
//! - Up to one workgroup for each compute unit, the time is interpolated between `few` and `one` by the number of
//!   workgroups; up to a full GPU between `one` and `full` by the workgroups of a compute unit, between their mean and those of
//!   the fullest. Behind it each batch adds `next`; the last one, if it is not full, what its workgroups add.
//! - These loads are of tiles that are nearly a square. Tiles in one row share their part of A only, and those in one
//!   column their part of B. Their steps cost [`row_step`](Cost::row_step) and [`column_step`](Cost::column_step) on a full
//!   GPU, and the difference falls with the third power of its load; between, steps are interpolated by the elements that the
//!   workgroups read for the first time.
//! - A step that is not whole costs [`tail`](Cost::tail) more than a whole one, once in each batch. Tiles that overhang C cost
//!   [`edge`](Cost::edge), and lines that straddle cache lines make steps longer by a factor, [`straddle`](Cost::straddle).
//! - Workgroups that share a tile store their sums, and the last one of the tile adds them. On an idle GPU this costs
//!   [`share_few`](Cost::share_few), on a full one [`share`](Cost::share): a fixed part, and one for each workgroup of the
//!   tile; between, it is interpolated by the number of workgroups.

use crate::gemm::tiles::{Tiles, first_read, near_square};
use ferrowave_shared::{BlockTile, catalogue::Reduction};

/// The most parts of k that are considered.
const MOST_PARTS: u32 = 64;

/// Where a batch that is not full is between the mean number of a compute unit's workgroups (0) and the largest (1). Compute
/// units with fewer leave bandwidth to the others. Of 0, ¼, ½ and 1, this chooses best among the kernels of MI100 and MI210.
const MOST_SHARE: f64 = 0.5;

/// The steps along k of two launches whose difference is what a step costs. Problems have fewer steps of kernels whose steps
/// are long; of steps of 8 elements, 24 end before a large grid is at its pace.
pub fn modelled_steps(tile: BlockTile) -> [u32; 2] {
    match tile.k {
        256.. => [2, 8],
        ..16 => [32, 96],
        _ => [8, 24],
    }
}

/// Cycles that grow with a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Of no steps.
    pub fixed: f64,
    /// Of each step.
    pub step: f64,
}

impl Line {
    fn at(self, steps: f64) -> f64 {
        (self.fixed + self.step * steps).max(0.0)
    }
}

/// Cycles that grow with the steps of a workgroup. A few steps cost less than steps of a long loop: they are loaded at once,
/// and small tiles wait only once for all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// Of one step.
    pub first: f64,
    /// Of more, from the first of [`modelled_steps`] on. Between, cycles are interpolated.
    pub more: Line,
}

impl Steps {
    /// The cycles of a number of steps of a kernel with this tile.
    pub fn at(self, steps: f64, tile: BlockTile) -> f64 {
        let short = f64::from(modelled_steps(tile)[0]);
        if steps >= short {
            return self.more.at(steps);
        }
        let share = (steps - 1.0).max(0.0) / (short - 1.0);
        self.first + (self.more.at(short) - self.first) * share
    }

    /// With a step that takes `by` times as long.
    fn scaled(self, by: f64) -> Self {
        let Line { fixed, step } = self.more;
        Self {
            first: self.first + (by - 1.0) * step,
            more: Line {
                fixed,
                step: step * by,
            },
        }
    }
}

/// What launches of a kernel cost, in cycles; see [the module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Workgroups that a compute unit holds at once.
    pub resident: u32,
    /// A handful of workgroups.
    pub few: Steps,
    /// One workgroup on every compute unit.
    pub one: Steps,
    /// [`resident`](Self::resident) on every compute unit.
    pub full: Steps,
    /// Each further batch of as many.
    pub next: Steps,
    /// A step on a full GPU whose tiles are in one row.
    pub row_step: f64,
    /// A step on a full GPU whose tiles are in one column.
    pub column_step: f64,
    /// What a step at the end of k that is not whole costs beyond a whole one.
    pub tail: f64,
    /// Tiles that overhang: C's stores, and loads of lines that do not begin with cache lines.
    pub edge: Line,
    /// The factor of a step if lines of A or B do not begin at multiples of 16 bytes.
    pub straddle: f64,
    /// What workgroups that share a tile add on an idle GPU, by their number.
    pub share_few: Line,
    /// The same on a full GPU.
    pub share: Line,
}

impl Cost {
    /// The modelled cycles with k divided into `parts`, or for [`Reduction::StreamK`] with as many workgroups.
    pub fn cycles(&self, reduction: Reduction, tiles: &Tiles, parts: u32) -> f64 {
        let count = tiles.count();
        if count == 0 {
            return 0.0;
        }
        let at_once = self.at_once(tiles);
        let steps = f64::from(tiles.steps);
        // Steps of the longest workgroup.
        let mut longest = steps;
        let cycles = match reduction {
            Reduction::None => self.batches(tiles, count, steps, 1),
            Reduction::SplitK => {
                let parts = parts.clamp(1, tiles.steps);
                // The longest part decides.
                longest = f64::from(tiles.steps.div_ceil(parts));
                let workgroups = count * u64::from(parts);
                let sharing = match parts {
                    1 => 0.0,
                    _ => self.sharing(workgroups, at_once, parts.into()),
                };
                self.batches(tiles, workgroups, longest, parts) + sharing
            }
            Reduction::StreamK => {
                let workgroups = u64::from(parts).min(count * u64::from(tiles.steps)).max(1);
                let (whole, rest) = (count / workgroups, count % workgroups);
                let whole_tiles = match whole {
                    0 => 0.0,
                    _ => self.batches(tiles, whole * workgroups, steps, 1),
                };
                let each = rest as f64 * steps / workgroups as f64;
                let rest_tiles = match (rest, whole) {
                    (0, _) => 0.0,
                    (_, 0) => self.batches(tiles, workgroups, each, 1),
                    _ => {
                        let step = self.full.more.step * self.straddling(tiles, at_once);
                        step * each + self.next.more.fixed.max(0.0)
                    }
                };
                let sharing = match rest {
                    0 => 0.0,
                    _ => self.sharing(workgroups, at_once, workgroups as f64 / rest as f64),
                };
                whole_tiles + rest_tiles + sharing
            }
        };
        // The workgroups of a compute unit hide each other's waits, so that a batch has one tail.
        let batches = count.div_ceil(at_once) as f64;
        // An only step that is not whole costs no more than a whole one: all of it is loaded at once.
        let tail = match tiles.has_tail && longest > 1.0 {
            true => self.tail * batches,
            false => 0.0,
        };
        let edge = self.edge.at(longest);
        let edge = match tiles.overhangs {
            false => 0.0,
            // Each workgroup has an edge.
            true if tiles.rows == 1 || tiles.columns == 1 => edge * batches,
            true => edge,
        };
        cycles + tail + edge
    }

    /// Workgroups that run at once on a full GPU.
    fn at_once(&self, tiles: &Tiles) -> u64 {
        u64::from(tiles.compute_units) * u64::from(self.resident.max(1))
    }

    /// The factor of a step for the alignment of lines. On a GPU that is not full, less is loaded at once.
    fn straddling(&self, tiles: &Tiles, workgroups: u64) -> f64 {
        let load = (workgroups as f64 / self.at_once(tiles) as f64).min(1.0);
        match tiles.is_aligned {
            true => 1.0,
            false => 1.0 + (self.straddle - 1.0).max(0.0) * load,
        }
    }

    /// Into how many parts a kernel with [`Reduction::SplitK`] divides k best, and the cycles.
    pub fn best_parts(&self, tiles: &Tiles) -> (u32, f64) {
        let at_once = self.at_once(tiles);
        let filling = (2 * at_once).div_ceil(tiles.count().max(1));
        // At most `MOST_PARTS`.
        let most = filling.min(tiles.steps.min(MOST_PARTS).into()).max(1) as u32;
        (1..=most)
            .map(|parts| (parts, self.cycles(Reduction::SplitK, tiles, parts)))
            .min_by(|left, right| left.1.total_cmp(&right.1))
            .unwrap_or((1, f64::INFINITY))
    }

    /// What `workgroups`, of which `at_once` run at once, add if `parts` share a tile.
    fn sharing(&self, workgroups: u64, at_once: u64, parts: f64) -> f64 {
        let load = (workgroups as f64 / at_once as f64).min(1.0);
        let few = self.share_few.at(parts);
        few + (self.share.at(parts) - few) * load
    }

    /// A further batch. Beyond the steps that were modelled, a step costs no more than one of the first batch: a long loop hides
    /// what else a batch waits for, such as the stores of the batch before.
    fn further(&self, spread: f64, steps: f64, tile: BlockTile) -> f64 {
        let [next, full] = [self.next, self.full].map(|cost| cost.scaled(spread));
        let modelled = steps.min(modelled_steps(tile)[1].into());
        next.at(modelled, tile) + (steps - modelled) * next.more.step.min(full.more.step)
    }

    /// `workgroups` of `steps` each, of which `parts` share each tile.
    fn batches(&self, tiles: &Tiles, workgroups: u64, steps: f64, parts: u32) -> f64 {
        let units = u64::from(tiles.compute_units);
        let resident = u64::from(self.resident.max(1));
        let straddle = self.straddling(tiles, workgroups);
        let spread = self.spread(tiles, workgroups, parts) * straddle;
        let [one, full] =
            [self.one, self.full].map(|cost| cost.scaled(spread).at(steps, tiles.tile));
        let next = self.further(spread, steps, tiles.tile);
        let few = self.few.scaled(straddle).at(steps, tiles.tile).min(one);
        // The last batch, by its workgroups on a compute unit.
        let of_batch = |each: f64| match resident {
            _ if each <= 1.0 => few + (one - few) * each,
            1 => full,
            _ => one + (full - one) * (each - 1.0) / (resident - 1) as f64,
        };
        let mean = workgroups as f64 / units as f64;
        let most = workgroups.div_ceil(units);
        let whole = (most - 1) / resident;
        let each = mean + MOST_SHARE * (most as f64 - mean) - (whole * resident) as f64;
        if workgroups <= units {
            return of_batch(mean);
        }
        if whole == 0 {
            return of_batch(each);
        }
        let share = next * each / resident as f64;
        let alone = of_batch(each) - (full - next);
        full + (whole - 1) as f64 * next + share.max(alone)
    }

    /// How much longer a step takes than that of tiles that are nearly a square, as a factor.
    fn spread(&self, tiles: &Tiles, workgroups: u64, parts: u32) -> f64 {
        let at_once = self.at_once(tiles);
        let running = workgroups.min(at_once);
        // The parts of a tile share nothing.
        let of_part = (running / u64::from(parts)).max(1);
        let read = first_read(tiles.tile, tiles.rows, tiles.columns, of_part);
        // The launches that were modelled with this load.
        let modelled = match workgroups <= u64::from(tiles.compute_units) {
            true => u64::from(tiles.compute_units),
            false => at_once,
        };
        let all = u32::try_from(modelled).unwrap_or(u32::MAX);
        let (rows, columns) = near_square(all);
        let square = first_read(tiles.tile, rows, columns, modelled);
        let is_row = tiles.rows <= tiles.columns;
        let (line, step) = match is_row {
            true => (first_read(tiles.tile, 1, all, modelled), self.row_step),
            false => (first_read(tiles.tile, all, 1, modelled), self.column_step),
        };
        if self.full.more.step <= 0.0 || line <= square {
            return 1.0;
        }
        // Beyond what was modelled, where parts share nothing at all, it grows on.
        let share = ((read - square) / (line - square)).clamp(0.0, 2.0);
        let load = running as f64 / at_once as f64;
        // Half of the workgroups wait for memory less than half as long. Of the powers 1, 2 and 3, the last one chooses best
        // among the kernels of six GPUs.
        (1.0 + (step / self.full.more.step - 1.0) * share * load.powi(3)).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::{Machine, Request};
    use ferrowave_shared::{Kernel, catalogue::NAIVE_F32};

    const KERNEL: Kernel = Kernel {
        tile: BlockTile {
            m: 64,
            n: 64,
            k: 32,
        },
        ..NAIVE_F32
    };

    /// Costs in which the first step is like the others.
    const fn steps(fixed: f64, step: f64) -> Steps {
        Steps {
            first: fixed + step,
            more: Line { fixed, step },
        }
    }

    const COST: Cost = Cost {
        resident: 2,
        few: steps(1000.0, 100.0),
        one: steps(2000.0, 200.0),
        full: steps(2000.0, 300.0),
        next: steps(500.0, 300.0),
        row_step: 600.0,
        column_step: 300.0,
        tail: 70.0,
        edge: Line {
            fixed: 10.0,
            step: 2.0,
        },
        straddle: 1.5,
        share_few: Line {
            fixed: 100.0,
            step: 10.0,
        },
        share: Line {
            fixed: 500.0,
            step: 30.0,
        },
    };

    fn tiles(m: i64, n: i64, k: i64) -> Tiles {
        let machine = Machine {
            compute_units: 16,
            ..Machine::smallest("gfx90a")
        };
        let problem = Request::new(m, n, k).check().expect("valid");
        Tiles::new(&KERNEL, &problem, &machine, true)
    }

    fn cycles(m: i64, n: i64, k: i64) -> f64 {
        COST.cycles(Reduction::None, &tiles(m, n, k), 1)
    }

    #[test]
    fn loads_that_were_modelled_cost_what_the_model_said() {
        // 16 tiles on 16 compute units, 10 steps.
        assert_eq!(cycles(256, 256, 320), 4000.0);
        // 32 tiles: two on each.
        assert_eq!(cycles(4 * 64, 8 * 64, 320), 5000.0);
        // 30 tiles: two on the fullest, and 1.875 in the mean.
        assert_eq!(cycles(5 * 64, 6 * 64, 320), 4937.5);
        // A second batch.
        assert_eq!(cycles(8 * 64, 8 * 64, 320), 5000.0 + 3500.0);
        // Half of a second batch takes as long as one workgroup alone, without what the first batch hides.
        assert_eq!(cycles(6 * 64, 8 * 64, 320), 5000.0 + 4000.0 - 1500.0);
    }

    #[test]
    fn a_row_of_tiles_costs_its_own_steps() {
        assert_eq!(cycles(64, 32 * 64, 320), 2000.0 + 10.0 * 600.0);
        assert_eq!(cycles(32 * 64, 64, 320), 5000.0);
        // Half of a full GPU: an eighth of the difference.
        assert_eq!(cycles(64, 16 * 64, 320), 2000.0 + 10.0 * 225.0);
    }

    #[test]
    fn edges_the_end_of_k_and_straddling_cost_more() {
        assert_eq!(cycles(256, 255, 320), 4030.0);
        assert_eq!(cycles(256, 256, 319), 4070.0);
        // Two workgroups on each compute unit, and two batches.
        assert_eq!(cycles(4 * 64, 8 * 64, 319), 5000.0 + 70.0);
        assert_eq!(cycles(8 * 64, 8 * 64, 319), 5000.0 + 3500.0 + 140.0);
        let straddling = Tiles {
            is_aligned: false,
            ..tiles(256, 256, 320)
        };
        // Half of a full GPU.
        assert_eq!(COST.cycles(Reduction::None, &straddling, 1), 4500.0);
    }

    #[test]
    fn a_few_steps_cost_what_the_first_one_did_and_a_part_of_the_others() {
        let mut cost = COST;
        cost.one.first = 1000.0;
        let cycles = |k| cost.cycles(Reduction::None, &tiles(256, 256, k), 1);
        assert_eq!([cycles(32), cycles(8 * 32)], [1000.0, 3600.0]);
        assert_eq!(cycles(4 * 32), 1000.0 + 2600.0 * 3.0 / 7.0);
        assert_eq!([cycles(16), cycles(7 * 32 + 16)], [1000.0, 3670.0]);
    }

    #[test]
    fn k_is_divided_where_that_is_faster() {
        let (parts, divided) = COST.best_parts(&tiles(64, 64, 32 * 1000));
        let whole = COST.cycles(Reduction::SplitK, &tiles(64, 64, 32 * 1000), 1);
        assert!(parts > 4 && divided < whole / 3.0, "{parts}: {divided}");
        assert_eq!(COST.best_parts(&tiles(64, 64, 32)).0, 1);
    }

    #[test]
    fn long_steps_of_further_batches_are_those_of_the_first_one() {
        let slow = Cost {
            next: steps(500.0, 400.0),
            ..COST
        };
        // Two batches of 32 workgroups of 64 × 64. 24 steps were modelled.
        for (more, by_step) in [(0, 700.0), (24, 600.0)] {
            let of = |steps: i64| {
                let tiles = tiles(64 * 64, 64, 32 * steps);
                slow.cycles(Reduction::None, &tiles, 1)
            };
            let step = of(24 + more) - of(23 + more);
            assert!((step - by_step).abs() < 1e-6, "{more}: {step}");
        }
    }

    #[test]
    fn workgroups_that_share_a_tile_cost_more_on_a_full_gpu() {
        // 16 compute units, 2 workgroups on each at once.
        for (parts, steps, shared) in [(8, 5, 180.0 + 0.25 * 560.0), (32, 5, 500.0 + 960.0)] {
            let tiles = tiles(64, 64, 32 * i64::from(parts * steps));
            let all = COST.cycles(Reduction::SplitK, &tiles, parts);
            let alone = Cost {
                share_few: Line::default(),
                share: Line::default(),
                ..COST
            };
            let alone = alone.cycles(Reduction::SplitK, &tiles, parts);
            assert!(
                (all - alone - shared).abs() < 1e-6,
                "{parts}: {all} {alone}"
            );
        }
    }

    #[test]
    fn nothing_costs_nothing() {
        assert_eq!(cycles(0, 64, 64), 0.0);
        assert!(cycles(64, 64, 0) >= 0.0);
    }
}
