//! The launches that give a kernel's costs.

use ferrowave::gemm::{
    Order, Problem, Request,
    tiles::{Tiles, near_square},
    tuned::{Cost, Line, Steps, modelled_steps},
};
use ferrowave_shared::{
    Kernel,
    catalogue::{Access, Reduction},
};

use super::bench::Bench;
use crate::cli::Failure;

/// Bytes of a lane's load.
const UNIT_BYTES: usize = 16;

/// Models the costs of a kernel for matrices with these orders.
pub(crate) fn costs(
    bench: &Bench,
    kernel: &'static Kernel,
    orders: (Order, Order),
) -> Result<Cost, Failure> {
    Launches {
        bench,
        kernel,
        orders,
    }
    .costs()
}

/// Launches of a kernel.
struct Launches<'a> {
    bench: &'a Bench,
    kernel: &'static Kernel,
    orders: (Order, Order),
}

/// A launch: tiles, k, and what differs from a plain one.
#[derive(Clone, Copy)]
struct Launch {
    rows: u32,
    columns: u32,
    k: u32,
    /// Elements that are missing at the end of rows and columns of C.
    missing: u32,
    /// Elements between lines of A and of B.
    gap: u32,
    parts: u32,
}

impl Launches<'_> {
    fn costs(&self) -> Result<Cost, Failure> {
        let kernel = self.kernel;
        let [short_steps, long_steps] = modelled_steps(kernel.tile);
        let resident = self.bench.resident(kernel);
        let units = self.bench.machine().compute_units;
        let all = units * resident;
        let few = self.steps((2, 2))?;
        let full = self.steps(near_square(all))?;
        let one = match resident {
            1 => full,
            _ => self.steps(near_square(units))?,
        };
        let three = self.steps(near_square(3 * all))?;
        let next = Steps {
            first: (three.first - full.first) / 2.0,
            more: Line {
                fixed: (three.more.fixed - full.more.fixed) / 2.0,
                step: (three.more.step - full.more.step) / 2.0,
            },
        };
        let of_line = |shape| -> Result<f64, Failure> {
            let long = self.cycles(self.plain(shape, long_steps))?;
            Ok((long - full.more.fixed) / f64::from(long_steps))
        };
        let (row_step, column_step) = (of_line((1, all))?, of_line((all, 1))?);
        let input = kernel.types.a;
        let unit = (8 * UNIT_BYTES / input.bits()) as u32;
        let square = near_square(units);
        let plain = self.plain(square, short_steps);
        let steps = f64::from(short_steps);
        let short = one.more.fixed + one.more.step * steps;
        // Whole blocks of elements, in types that have them.
        let within_stage = unit.max(kernel.types.block());
        let tail = self.cycles(Launch {
            // A part of a step that ends within a stage.
            k: plain.k + kernel.tile.k as u32 / 2 + within_stage,
            ..plain
        })? - self.cycles(self.plain(square, short_steps + 1))?;
        let overhanging = |steps| -> Result<f64, Failure> {
            self.cycles(Launch {
                missing: unit,
                ..self.plain(square, steps)
            })
        };
        let first_edge = overhanging(1)? - one.first;
        let edge_step = ((overhanging(short_steps)? - short) - first_edge) / (steps - 1.0);
        let edge = Line {
            fixed: first_edge - edge_step,
            step: edge_step.max(0.0),
        };
        let on_full = self.plain(near_square(all), short_steps);
        let straddle = match kernel.access {
            // Other lines are refused.
            Access::WideAlongK => 1.0,
            _ if kernel.types.block() > 1 => 1.0,
            _ => {
                let straddling = self.cycles(Launch { gap: 1, ..on_full })?;
                (straddling - full.more.fixed) / (full.more.step * steps)
            }
        };
        let cost = Cost {
            resident,
            few,
            one,
            full,
            next,
            row_step,
            column_step,
            tail: tail.max(0.0),
            edge,
            straddle,
            share_few: Line::default(),
            share: Line::default(),
        };
        if kernel.reduction == Reduction::None {
            return Ok(cost);
        }
        Ok(Cost {
            share_few: self.share(&cost, [4, 16], |_| (2, 2), 1)?,
            share: self.share(&cost, [2, 8], |parts| near_square(all / parts), short_steps)?,
            ..cost
        })
    }

    /// The cycles with this many tiles, by steps.
    fn steps(&self, shape: (u32, u32)) -> Result<Steps, Failure> {
        let [few, many] = modelled_steps(self.kernel.tile);
        let first = self.cycles(self.plain(shape, 1))?;
        let short = self.cycles(self.plain(shape, few))?;
        let long = self.cycles(self.plain(shape, many))?;
        let step = (long - short) / f64::from(many - few);
        Ok(Steps {
            first,
            more: Line {
                fixed: short - step * f64::from(few),
                step,
            },
        })
    }

    /// What sharing tiles adds: the rest of two launches, with these numbers of workgroups for each tile, of `steps` each.
    fn share(
        &self,
        cost: &Cost,
        parts: [u32; 2],
        shape: impl Fn(u32) -> (u32, u32),
        steps: u32,
    ) -> Result<Line, Failure> {
        let rest = |parts: u32| -> Result<f64, Failure> {
            let launch = self.plain(shape(parts), parts * steps);
            let launch = Launch {
                parts: match self.kernel.reduction {
                    Reduction::SplitK => parts,
                    _ => launch.rows * launch.columns * parts,
                },
                ..launch
            };
            let tiles = Tiles::new(
                self.kernel,
                &self.problem(launch)?,
                self.bench.machine(),
                true,
            );
            let computed = cost.cycles(self.kernel.reduction, &tiles, launch.parts);
            Ok(self.cycles(launch)? - computed)
        };
        let [few, many] = parts;
        let (short, long) = (rest(few)?, rest(many)?);
        let step = ((long - short) / f64::from(many - few)).max(0.0);
        Ok(Line {
            fixed: (short - f64::from(few) * step).max(0.0),
            step,
        })
    }

    /// Whole tiles, whole steps, k in one part.
    fn plain(&self, (rows, columns): (u32, u32), steps: u32) -> Launch {
        let all = self.bench.machine().workgroups_at_once(self.kernel);
        Launch {
            rows,
            columns,
            k: steps * self.kernel.tile.k as u32,
            missing: 0,
            gap: 0,
            parts: match self.kernel.reduction {
                Reduction::None | Reduction::SplitK => 1,
                // Whole tiles for each workgroup.
                Reduction::StreamK => all.min(rows * columns),
            },
        }
    }

    fn problem(&self, launch: Launch) -> Result<Problem, Failure> {
        let tile = self.kernel.tile;
        let m = i64::from(launch.rows * tile.m as u32 - launch.missing);
        let n = i64::from(launch.columns * tile.n as u32 - launch.missing);
        let (k, gap) = (i64::from(launch.k), i64::from(launch.gap));
        let line = |order, row: i64, column: i64| match order {
            Order::RowMajor => row + gap,
            Order::ColumnMajor => column + gap,
        };
        let request = Request {
            types: self.kernel.types,
            order_a: self.orders.0,
            order_b: self.orders.1,
            // A sparse A is stored without padding.
            lda: (!self.kernel.types.is_sparse).then(|| line(self.orders.0, k, m)),
            ldb: Some(line(self.orders.1, n, k)),
            ..Request::new(m, n, k)
        };
        request.check().map_err(Failure::failed)
    }

    fn cycles(&self, launch: Launch) -> Result<f64, Failure> {
        let problem = self.problem(launch)?;
        self.bench.cycles(self.kernel, &problem, launch.parts)
    }
}
