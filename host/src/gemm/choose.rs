//! Chooses the kernel for a problem.
//!
//! If there is a [table of costs](super::tuned) for the GPU, the kernel that costs least by it is taken, with k divided as
//! it says. Else a rule decides: of the kernels that are built for the GPU and the element types and can read the matrices
//! in their layout, the one with the highest expected throughput is taken:
//!
//! ```text
//! score = reach · tile efficiency · use of the compute units · width
//! ```
//!
//! | factor | what it is | why |
//! |---|---|---|
//! | reach | the share of the GPU's peak that the kernel reaches on a large problem | the ladder's order, from published ladders (see below) |
//! | tile efficiency | m·n·k over the extents rounded up to whole tiles | work on the overhang is wasted |
//! | use of the compute units | workgroups over the number that would fill all compute units in as many rounds | in the last round some compute units are idle; at 1024 × 1024, 256 × 256 tiles leave most of 304 compute units idle |
//! | width | ½ for a kernel that loads 16 bytes at any alignment, if lines begin at other addresses than multiples of 16 bytes | its loads straddle cache lines, and two lines are fetched instead of one |
//!
//! Kernels that divide k use all compute units. The cost of storing and adding their parts is modelled as
//! `REDUCTION_STEPS` additional steps for each workgroup. So they win only if there are few tiles and k is long.
//!
//! The reaches are not measured with these kernels. They come from published figures: on MI100 of the same variants
//! (1.4 % without matrix cores; 4.3, 6.2, 12.8 and 13.9 % with them), on RX 7900 and A6000 of ladders for the vector
//! unit, on MI355X of a ladder from 16-byte loads to ping-pong. Only their ratios matter here. Stages of whole cache
//! lines rank just above stages of half lines, by the timing model (`docs/timing.md`).
//!
//! If a better kernel is passed over only because of the matrices' layout or alignment, the [`Choice`] names it with
//! the reason.

use super::{
    access::{Misfit, check_addresses, check_layouts, is_aligned},
    launch_split,
    layout::Order,
    machine::Machine,
    operands::Addresses,
    problem::Problem,
    tiles::Tiles,
    tuned::Table,
};
use ferrowave_gpu::Product;
use ferrowave_shared::{
    CATALOGUE, ElementTypes, Kernel, Variant,
    catalogue::{Access, Reduction},
    workspace,
};
use std::{fmt, time::Duration};
use thiserror::Error;

/// The cost of storing and adding a part of a tile, in steps of k.
const REDUCTION_STEPS: f64 = 2.0;

/// The kernel that was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Into how many parts it divides k; with [`Reduction::StreamK`] the number of workgroups.
    pub parts: u32,
    /// What decided.
    pub decision: Decision,
    /// A better kernel, and why it can't read the matrices.
    pub passed_over: Option<(&'static Kernel, Misfit)>,
    /// Why the loads of the chosen kernel straddle cache lines, if it loads 16 bytes at any alignment and they do.
    pub straddling: Option<Misfit>,
}

/// What decided on a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// The rule for GPUs without a table of costs; see [the module](self).
    Rule,
    /// The kernel's row of the table of costs of this machine.
    Table {
        /// The machine that was modelled.
        machine: Product,
        /// The kernel's time by the table, at the machine's highest clock: modelled, not measured.
        seconds: f64,
        /// The next best.
        second: Option<Second>,
    },
    /// A [measurement](super::Gemm::tune) on this device; on the emulator, of the emulation.
    Measured {
        /// The kernel's time.
        time: Duration,
        /// The next best, if this process has measured it.
        second: Option<Second>,
    },
}

/// The kernel that was second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Into how many parts it would divide k.
    pub parts: u32,
    /// Its time in those of the chosen kernel.
    pub ratio: f64,
}

/// A kernel and its parts of k.
fn write_kernel(f: &mut fmt::Formatter<'_>, kernel: &Kernel, parts: u32) -> fmt::Result {
    f.write_str(kernel.variant.name())?;
    match kernel.reduction {
        Reduction::SplitK if parts > 1 => write!(f, " with k in {parts} parts"),
        _ => Ok(()),
    }
}

/// The kernel, what decided, the better one that was passed over, and straddling loads, in one line.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_kernel(f, self.kernel, self.parts)?;
        let second = match self.decision {
            Decision::Rule => {
                f.write_str(", by the rule for GPUs without a table")?;
                None
            }
            Decision::Table {
                machine,
                seconds,
                second,
            } => {
                let time = 1e6 * seconds;
                write!(f, ": {time:.1} µs by the table of {machine}, modelled")?;
                second
            }
            Decision::Measured { time, second } => {
                let time = 1e6 * time.as_secs_f64();
                write!(f, ": {time:.1} µs, measured on this device")?;
                second
            }
        };
        if let Some(second) = second {
            f.write_str("; ")?;
            write_kernel(f, second.kernel, second.parts)?;
            let slower = 100.0 * (second.ratio - 1.0);
            write!(f, " is second, {slower:.0} % slower")?;
        }
        if let Some((kernel, misfit)) = self.passed_over {
            write!(
                f,
                ", as {} can't read the matrices: {misfit}",
                kernel.variant.name()
            )?;
        }
        if let Some(misfit) = self.straddling {
            write!(f, ", loads straddle cache lines: {misfit}")?;
        }
        Ok(())
    }
}

/// No kernel on the GPU has the problem's element types.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("no kernel computes {} from {} on {gpu}; {}", .types.output, .types.name(), list(.supported))]
pub struct NoKernel {
    /// The problem's element types.
    pub types: ElementTypes,
    /// The GPU.
    pub gpu: String,
    /// The element types that there are kernels for on this GPU.
    pub supported: Vec<ElementTypes>,
}

fn list(types: &[ElementTypes]) -> String {
    if types.is_empty() {
        return format!(
            "it has no kernels; {} have",
            ferrowave_shared::gpus_with_kernels()
        );
    }
    let names: Vec<_> = types.iter().map(|types| types.name()).collect();
    format!("there are kernels for {}", names.join(", "))
}

/// Chooses among all kernels; see [the module](self).
///
/// Without addresses, the matrices count as aligned.
///
/// # Errors
/// [`NoKernel`] with the element types that the GPU has kernels for.
pub fn choose(
    problem: &Problem,
    machine: &Machine,
    addresses: Option<&Addresses>,
) -> Result<Choice, NoKernel> {
    choose_by_table(problem, machine, addresses)
        .map_or_else(|| choose_among(CATALOGUE, problem, machine, addresses), Ok)
}

/// The kernels whose costs are in the machine's table, cheapest first, with the division of k and the cycles of each; `None`
/// without such a kernel.
pub fn ranked(
    problem: &Problem,
    machine: &Machine,
    addresses: Option<&Addresses>,
) -> Option<Vec<Ranked>> {
    let table = Table::of(machine)?;
    let is_aligned = is_aligned(problem, addresses).is_ok();
    let mut ranked: Vec<_> = CATALOGUE
        .iter()
        .filter(|kernel| kernel.computes(problem.types()) && kernel.gpus.contains(&machine.gpu))
        .filter_map(|kernel| {
            let fits = check_layouts(kernel.access, problem).and_then(|()| {
                addresses.map_or(Ok(()), |addresses| {
                    check_addresses(kernel.access, addresses)
                })
            });
            let misfit = fits.err();
            // A kernel that can't read these layouts has costs for those that it can.
            let row = match (kernel.access, misfit) {
                (Access::WideAlongK, Some(_)) => {
                    table.row_of(kernel, (Order::RowMajor, Order::ColumnMajor))
                }
                _ => table.row(kernel, problem),
            }?;
            let tiles = Tiles::new(kernel, problem, machine, is_aligned || misfit.is_some());
            let (parts, cycles) = match kernel.reduction {
                Reduction::SplitK => row.cost.best_parts(&tiles),
                Reduction::None | Reduction::StreamK => {
                    let parts = launch_split::parts(kernel, problem, machine);
                    (parts, row.cost.cycles(kernel.reduction, &tiles, parts))
                }
            };
            Some(Ranked {
                kernel,
                parts,
                cycles,
                misfit,
            })
        })
        .collect();
    // Kernels of equal cost stay in the catalogue's order.
    ranked.sort_by(|left, right| left.cycles.total_cmp(&right.cycles));
    (!ranked.is_empty()).then_some(ranked)
}

/// A kernel and its cost by a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Into how many parts it divides k.
    pub parts: u32,
    /// The modelled cycles.
    pub cycles: f64,
    /// Why it can't read the matrices.
    pub misfit: Option<Misfit>,
}

fn choose_by_table(
    problem: &Problem,
    machine: &Machine,
    addresses: Option<&Addresses>,
) -> Option<Choice> {
    let product = Table::of(machine)?.machine;
    let ranked = ranked(problem, machine, addresses)?;
    let mut fitting = ranked.iter().filter(|ranked| ranked.misfit.is_none());
    let first = fitting.next()?;
    let second = fitting.next().map(|second| Second {
        kernel: second.kernel,
        parts: second.parts,
        // Nothing costs nothing.
        ratio: if first.cycles > 0.0 {
            second.cycles / first.cycles
        } else {
            1.0
        },
    });
    let clock_hz = 1e6 * f64::from(product.specifications().clock_mhz);
    Some(Choice {
        kernel: first.kernel,
        parts: first.parts,
        decision: Decision::Table {
            machine: product,
            seconds: first.cycles / clock_hz,
            second,
        },
        passed_over: ranked
            .first()
            .filter(|best| best.cycles < first.cycles)
            .and_then(|best| Some((best.kernel, best.misfit?))),
        straddling: straddling(first.kernel, problem, addresses),
    })
}

/// Why the loads of a kernel straddle cache lines, if they do.
fn straddling(kernel: &Kernel, problem: &Problem, addresses: Option<&Addresses>) -> Option<Misfit> {
    match kernel.access {
        Access::Wide => is_aligned(problem, addresses).err(),
        Access::Elements | Access::WideAlongK => None,
    }
}

fn choose_among(
    kernels: &'static [Kernel],
    problem: &Problem,
    machine: &Machine,
    addresses: Option<&Addresses>,
) -> Result<Choice, NoKernel> {
    let built = || {
        kernels
            .iter()
            .filter(|kernel| kernel.gpus.contains(&machine.gpu))
    };
    let scored: Vec<_> = built()
        .filter(|kernel| kernel.computes(problem.types()))
        .map(|kernel| {
            let misfit = check_layouts(kernel.access, problem).and_then(|()| {
                addresses.map_or(Ok(()), |addresses| {
                    check_addresses(kernel.access, addresses)
                })
            });
            (
                kernel,
                misfit.err(),
                score(kernel, problem, machine, addresses),
            )
        })
        .collect();
    let best = |fits: bool| {
        scored
            .iter()
            .filter(|(_, misfit, _)| misfit.is_none() == fits)
            // With equal scores, the first.
            .rev()
            .max_by(|left, right| left.2.total_cmp(&right.2))
    };
    let Some(&(kernel, _, score)) = best(true) else {
        let supported = ElementTypes::ALL.iter().copied();
        return Err(NoKernel {
            types: problem.types(),
            gpu: machine.gpu.clone(),
            supported: supported
                .filter(|types| built().any(|kernel| kernel.types == *types))
                .collect(),
        });
    };
    Ok(Choice {
        kernel,
        parts: launch_split::parts(kernel, problem, machine),
        decision: Decision::Rule,
        passed_over: best(false)
            .filter(|(_, _, other)| *other > score)
            .and_then(|&(kernel, misfit, _)| Some((kernel, misfit?))),
        straddling: straddling(kernel, problem, addresses),
    })
}

/// The share of the GPU's peak that a kernel reaches on a large problem, in percent; see [the module](self).
const fn reach(variant: Variant) -> f64 {
    match variant {
        Variant::MfmaBlockOrder | Variant::MfmaPassOrder => 1.0,
        Variant::Naive => 1.4,
        Variant::MfmaUncached => 4.3,
        Variant::LdsTiled => 6.0,
        Variant::MfmaLds => 6.2,
        Variant::MfmaDoubleBuffered => 12.8,
        Variant::MfmaFragment => 13.9,
        // Waves share nothing of what they load, and no cache is as fast as LDS.
        Variant::DirectToVgpr => 15.0,
        Variant::RegisterTiled => 25.0,
        Variant::RegisterTiled8x8 => 32.0,
        Variant::Vectorized => 37.0,
        Variant::DoubleBuffered => 42.0,
        Variant::DoubleBuffered16x8 => 43.0,
        // Below the steps that they are made of, so that they win only by their use of the compute units.
        Variant::SplitK | Variant::StreamK | Variant::WmmaSplitK => 44.0,
        Variant::SplitK64x64
        | Variant::SplitK32x64
        | Variant::SplitK32x32
        | Variant::SplitK80x128
        | Variant::WmmaSplitK64x64
        | Variant::WmmaSplitK32x64
        | Variant::WmmaSplitK32x32 => 40.0,
        // More than step 5 on RDNA.
        Variant::FmaSplitK64x64 => 42.5,
        Variant::FmaSplitK32x32 => 32.0,
        Variant::MfmaWide | Variant::WmmaWide => 45.0,
        Variant::MfmaSwizzled | Variant::WmmaSwizzled => 50.0,
        Variant::MfmaDirectToLds => 55.0,
        Variant::MfmaPingpongSmall => 62.0,
        Variant::MfmaPingpongSmallLines => 63.0,
        Variant::MfmaInterleaved | Variant::WmmaInterleaved => 68.0,
        // Below the step that they are made of, as above.
        Variant::MfmaPingpong160x256 | Variant::MfmaPingpong224x256 => 71.0,
        Variant::MfmaPingpong => 72.0,
        Variant::MfmaPingpongLines => 73.0,
        // A variant that this rule does not know yet.
        _ => 1.0,
    }
}

fn score(
    kernel: &Kernel,
    problem: &Problem,
    machine: &Machine,
    addresses: Option<&Addresses>,
) -> f64 {
    let width = match kernel.access {
        Access::Wide if is_aligned(problem, addresses).is_err() => 0.5,
        _ => 1.0,
    };
    reach(kernel.variant)
        * tile_efficiency(kernel, problem)
        * use_of_units(kernel, problem, machine)
        * width
}

fn tile_efficiency(kernel: &Kernel, problem: &Problem) -> f64 {
    let tile = kernel.tile;
    [
        (problem.m(), tile.m),
        (problem.n(), tile.n),
        (problem.k(), tile.k),
    ]
    .into_iter()
    // With an extent of 0 there is nothing to compute, by any kernel.
    .filter(|&(extent, _)| extent > 0)
    .map(|(extent, tile)| {
        let whole = (extent as usize).next_multiple_of(tile);
        f64::from(extent) / whole as f64
    })
    .product()
}

fn use_of_units(kernel: &Kernel, problem: &Problem, machine: &Machine) -> f64 {
    let grid = kernel.tile.grid(problem.m(), problem.n(), problem.batch());
    let tiles = grid.workgroups() as f64;
    if tiles == 0.0 {
        return 1.0;
    }
    let units = f64::from(machine.compute_units);
    let steps = f64::from(workspace::steps(problem.k(), kernel.tile));
    let parts = f64::from(launch_split::parts(kernel, problem, machine));
    // Workgroups, the steps of each, and its cost of sharing tiles.
    let (workgroups, each, reduction) = match kernel.reduction {
        Reduction::None => (tiles, steps, 0.0),
        Reduction::SplitK if parts == 1.0 => (tiles, steps, 0.0),
        Reduction::SplitK => (tiles * parts, steps / parts, REDUCTION_STEPS),
        Reduction::StreamK => {
            let workgroups = units.min(tiles * steps);
            (workgroups, tiles * steps / workgroups, REDUCTION_STEPS)
        }
    };
    let rounds = (workgroups / units).ceil();
    workgroups / (rounds * units) * (each / (each + reduction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Request;
    use ferrowave_shared::{BlockTile, GpuSet, catalogue::NAIVE_F32};

    const fn row(variant: Variant, edge: usize, access: Access, reduction: Reduction) -> Kernel {
        Kernel {
            variant,
            types: ElementTypes::F16,
            tile: BlockTile {
                m: edge,
                n: edge,
                k: 64,
            },
            access,
            reduction,
            gpus: GpuSet::GFX942,
            ..NAIVE_F32
        }
    }

    /// Rows that are independent of the catalogue's.
    const ROWS: &[Kernel] = &[
        NAIVE_F32,
        row(Variant::MfmaWide, 128, Access::Wide, Reduction::None),
        row(
            Variant::MfmaPingpong,
            256,
            Access::WideAlongK,
            Reduction::None,
        ),
        row(
            Variant::MfmaPingpongSmall,
            128,
            Access::WideAlongK,
            Reduction::None,
        ),
        row(Variant::SplitK, 128, Access::Wide, Reduction::SplitK),
    ];

    const F16: Request = Request {
        types: ElementTypes::F16,
        order_b: Order::ColumnMajor,
        ..Request::new(8192, 8192, 8192)
    };

    fn machine() -> Machine {
        Machine {
            compute_units: 304,
            xcds: 8,
            ..Machine::smallest("gfx942")
        }
    }

    fn chosen(request: Request, addresses: Option<&Addresses>) -> Choice {
        let problem = request.check().expect("valid");
        choose_among(ROWS, &problem, &machine(), addresses).expect("f16 on gfx942")
    }

    fn check(request: Request, expected: Variant) {
        let choice = chosen(request, None);
        assert_eq!(choice.kernel.variant, expected, "{request:?}: {choice}");
    }

    #[test]
    fn large_problems_take_large_tiles_and_smaller_ones_smaller() {
        check(F16, Variant::MfmaPingpong);
        // 16 tiles of 256 × 256 on 304 compute units, or 64 of 128 × 128.
        check(
            Request {
                m: 1024,
                n: 1024,
                k: 256,
                ..F16
            },
            Variant::MfmaPingpongSmall,
        );
        // Half of each 256 × 256 tile would overhang.
        check(
            Request {
                m: 128,
                n: 304 * 128,
                ..F16
            },
            Variant::MfmaPingpongSmall,
        );
    }

    #[test]
    fn few_tiles_and_a_long_k_are_split() {
        check(
            Request {
                m: 128,
                n: 128,
                k: 65536,
                ..F16
            },
            Variant::SplitK,
        );
        // k is too short to be worth dividing.
        check(
            Request {
                m: 128,
                n: 128,
                k: 128,
                ..F16
            },
            Variant::MfmaPingpongSmall,
        );
    }

    #[test]
    fn what_cannot_be_read_is_passed_over_and_said() {
        let choice = chosen(
            Request {
                order_b: Order::RowMajor,
                ..F16
            },
            None,
        );
        assert_eq!(choice.kernel.variant, Variant::MfmaWide);
        assert_eq!(
            choice.to_string(),
            "mfma_wide, by the rule for GPUs without a table, as mfma_pingpong can't read the matrices: B is row-major, but must be column-major"
        );
        let choice = chosen(
            Request {
                lda: Some(8193),
                ..F16
            },
            None,
        );
        assert_eq!(choice.kernel.variant, Variant::MfmaWide);
        assert_eq!(
            choice.to_string(),
            "mfma_wide, by the rule for GPUs without a table, as mfma_pingpong can't read the matrices: lda is 16386 bytes, no multiple of 16, \
             loads straddle cache lines: lda is 16386 bytes, no multiple of 16"
        );
        let addresses = Addresses {
            b: 0x1002,
            ..Addresses::default()
        };
        let choice = chosen(F16, Some(&addresses));
        assert_eq!(choice.kernel.variant, Variant::MfmaWide);
        let (kernel, misfit) = choice.passed_over.expect("misaligned");
        assert_eq!(kernel.variant, Variant::MfmaPingpong);
        assert_eq!(
            misfit,
            Misfit::Address {
                matrix: "B",
                address: 0x1002
            }
        );
        assert_eq!(chosen(F16, Some(&Addresses::default())).passed_over, None);
    }

    #[test]
    fn without_a_kernel_the_supported_types_are_named() {
        let problem = Request {
            types: ElementTypes::FP8,
            ..F16
        }
        .check()
        .expect("valid");
        let error = |gpu| {
            let machine = Machine::smallest(gpu);
            choose_among(ROWS, &problem, &machine, None)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("gfx942"),
            "no kernel computes f32 from fp8 on gfx942; there are kernels for f32, f16"
        );
        assert_eq!(
            error("gfx908"),
            "no kernel computes f32 from fp8 on gfx908; there are kernels for f32"
        );
        assert_eq!(
            error("gfx1030"),
            "no kernel computes f32 from fp8 on gfx1030; it has no kernels; gfx908, gfx90a, gfx942, gfx950, gfx1100, gfx1101, \
             gfx1102, gfx1150, gfx1151, gfx1200, gfx1201 have"
        );
    }

    #[test]
    fn empty_problems_have_a_kernel() {
        for (m, n, k) in [(0, 4, 4), (4, 0, 4), (4, 4, 0)] {
            chosen(Request { m, n, k, ..F16 }, None);
        }
    }

    #[test]
    fn every_kernel_of_the_catalogue_can_be_scored() {
        for kernel in CATALOGUE {
            // Types with blocks along k have one layout.
            let order_b = match kernel.types.block() > 1 {
                true => Order::ColumnMajor,
                false => Order::RowMajor,
            };
            let request = Request {
                types: kernel.types,
                order_b,
                ..Request::new(1000, 2000, 3008)
            };
            let score = score(kernel, &request.check().expect("valid"), &machine(), None);
            assert!(score > 0.0 && score <= 100.0, "{}: {score}", kernel.symbol);
        }
    }
}
