//! Groups: products of different extents in one launch.
//!
//! A launch for each of many small products would leave most of a GPU idle, and take the host longer than the products
//! take. A group's launch has workgroups for all of them: as many along z as there are products, and as many along x as the
//! largest has tiles; those beyond a smaller product's tiles end at once. The products' parameters are an array in device
//! memory ([`Options::is_group`](ferrowave_shared::Options::is_group)).
//!
//! The kernel is that whose tiles take the least time, all tiles together on a full GPU or the longest one by itself, by
//! the machine's [table of costs](super::tuned). Without a table it is that whose tiles multiply and load the fewest
//! elements, overhang included.

use std::{sync::PoisonError, time::Duration};

use ferrowave_shared::{
    CATALOGUE, ElementType, ElementTypes, GemmArguments, GemmParameters, Kernel, catalogue::Access,
    workspace,
};
use thiserror::Error;

use super::{
    error::GemmError,
    launch::Gemm,
    machine::Machine,
    operands::{Addresses, Operands},
    plan::Plan,
    problem::Problem,
    tiles::GROUP_ROWS,
    tuned::Table,
};
use crate::hip::{Arguments, LaunchConfig};

/// A group of products that was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComputedGroup {
    /// The kernel; `None` if all products are empty.
    pub kernel: Option<&'static Kernel>,
    /// The time between HIP events around the launches, as [`Computed::time`](super::Computed::time).
    pub time: Duration,
}

impl ComputedGroup {
    /// Of no elements.
    const EMPTY: Self = Self {
        kernel: None,
        time: Duration::ZERO,
    };
}

/// Why products can't be a group.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupError {
    /// The products have different element types.
    #[error(
        "product {number} of the group computes {} from {}, but product 0 computes {} from {}; a group has one type",
        .is.output, .is.input, .first.output, .first.input
    )]
    Types {
        /// Which product.
        number: usize,
        /// Its types.
        is: ElementTypes,
        /// Those of the first one.
        first: ElementTypes,
    },
    /// A product is a batch.
    #[error("product {number} of the group is a batch of {batch}; a group has single products")]
    Batch {
        /// Which product.
        number: usize,
        /// How many products it is.
        batch: u32,
    },
    /// No kernel computes groups of these types on this GPU.
    #[error(
        "no kernel computes groups of {} on {gpu}; there are such kernels for {}", .types.input, list(.supported)
    )]
    NoKernel {
        /// The element types.
        types: ElementTypes,
        /// The GPU.
        gpu: String,
        /// The types of A and B that have such kernels on this GPU.
        supported: Vec<ElementType>,
    },
    /// The kernel computes single products and batches only.
    #[error("{0} computes no groups")]
    Kernel(&'static str),
    /// A product has more tiles than a launch has workgroups.
    #[error(
        "product {number} of the group has {tiles} tiles, but a launch has at most {max}; compute it by itself"
    )]
    TooLarge {
        /// Which product.
        number: usize,
        /// Its tiles.
        tiles: u64,
        /// The largest allowed number.
        max: u32,
    },
}

fn batch(number: usize, problem: &Problem) -> GroupError {
    GroupError::Batch {
        number,
        batch: problem.batch(),
    }
}

fn list(types: &[ElementType]) -> String {
    if types.is_empty() {
        return "no types".to_owned();
    }
    let names: Vec<_> = types.iter().map(|element| element.name()).collect();
    names.join(", ")
}

/// The kernel that computes a group.
///
/// # Errors
/// [`GroupError`] if the products have different types or are batches, or no kernel of the GPU computes groups of their
/// type.
pub fn choose_for_group(
    problems: &[Problem],
    machine: &Machine,
) -> Result<Option<&'static Kernel>, GroupError> {
    let Some(first) = problems.first() else {
        return Ok(None);
    };
    for (number, problem) in problems.iter().enumerate() {
        if problem.types() != first.types() {
            return Err(GroupError::Types {
                number,
                is: problem.types(),
                first: first.types(),
            });
        }
        if problem.batch() > 1 {
            return Err(batch(number, problem));
        }
    }
    let types = first.types().of_kernels();
    let built = CATALOGUE.iter().filter(|kernel| {
        // Other kernels can't read each layout.
        kernel.computes_groups()
            && kernel.access == Access::Wide
            && kernel.gpus.contains(&machine.gpu)
    });
    let costs = built.clone().filter(|kernel| kernel.types == types);
    let cheapest = costs
        .map(|kernel| (kernel, cost(kernel, problems, machine)))
        // Kernels of the table come before others.
        .min_by(|(_, left), (_, right)| left.0.cmp(&right.0).then(left.1.total_cmp(&right.1)));
    match cheapest {
        Some((kernel, _)) => Ok(Some(kernel)),
        None => Err(GroupError::NoKernel {
            types: first.types(),
            gpu: machine.gpu.clone(),
            supported: ElementTypes::ALL
                .iter()
                .filter(|types| built.clone().any(|kernel| kernel.types == **types))
                .map(|types| types.input)
                .collect(),
        }),
    }
}

/// Whether the machine's table lacks the kernel, and the cost of a group: cycles by the table, or else elements that are
/// multiplied and loaded.
fn cost(kernel: &'static Kernel, problems: &[Problem], machine: &Machine) -> (bool, f64) {
    let table = Table::of(machine);
    let steps = |problem: &Problem| f64::from(workspace::steps(problem.k(), kernel.tile));
    let mut elements = 0.0;
    let (mut all, mut longest, mut has_rows) = (0.0, 0.0_f64, true);
    for problem in problems {
        let tiles = tiles(kernel, problem) as f64;
        let (m, n) = (kernel.tile.m as f64, kernel.tile.n as f64);
        let k = steps(problem) * kernel.tile.k as f64;
        // Loading an element takes as long as multiplying it by this many.
        elements += tiles * k * (m * n + 32.0 * (m + n));
        match table.and_then(|table| table.row(kernel, problem)) {
            Some(row) => {
                let (full, one) = (row.cost.full, row.cost.one);
                let at_once = machine.compute_units * row.cost.resident.max(1);
                all += tiles * (full.fixed + full.step * steps(problem)) / f64::from(at_once);
                longest = longest.max(one.fixed + one.step * steps(problem));
            }
            None => has_rows = false,
        }
    }
    match has_rows {
        true => (false, all.max(longest)),
        false => (true, elements),
    }
}

/// Tiles of a product.
fn tiles(kernel: &Kernel, problem: &Problem) -> u64 {
    let rows = u64::from(problem.m()).div_ceil(kernel.tile.m as u64);
    rows * u64::from(problem.n()).div_ceil(kernel.tile.n as u64)
}

/// Distances of a product's matrices from those of the first one, in elements, as [`GemmParameters`] of a group have them.
fn parameters(
    problem: &Problem,
    machine: &Machine,
    first: &Addresses,
    addresses: &Addresses,
) -> GemmParameters {
    let types = problem.types();
    // Signed, as the distance may be negative. Matrices begin at multiples of their elements.
    let elements = |is: u64, from: u64, element: ElementType| {
        (is.wrapping_sub(from) as i64 / element.size_bytes() as i64) as u64
    };
    let parameters = problem.parameters();
    GemmParameters {
        options: parameters.options.with_group(true),
        stride_a: elements(addresses.a, first.a, types.input),
        stride_b: elements(addresses.b, first.b, types.input),
        stride_c: elements(addresses.c, first.c, types.output),
        stride_bias: elements(addresses.bias, first.bias, types.output),
        parts: 1,
        order: GROUP_ROWS << 16 | machine.xcds,
        ..parameters
    }
}

impl Gemm {
    /// Computes a group of products, each as [`run`](Self::run) does, in one launch, and waits for it: see
    /// [the module](self). Products may have different extents, layouts, factors, biases and operations, but have the same
    /// element types. Empty products are left out. More products than a launch has workgroups along z take several.
    ///
    /// # Errors
    /// [`GroupError`]; and as [`run`](Self::run) for each product. Nothing is computed then, unless the device fails.
    pub fn run_group<'a>(
        &self,
        products: impl IntoIterator<Item = (Problem, Operands<'a>)>,
    ) -> Result<ComputedGroup, GemmError> {
        let products: Vec<_> = products.into_iter().collect();
        let problems: Vec<_> = products.iter().map(|(problem, _)| *problem).collect();
        match choose_for_group(&problems, self.machine())? {
            Some(kernel) => self.run_group_kernel(kernel, products),
            None => Ok(ComputedGroup::EMPTY),
        }
    }

    /// The same with a given kernel.
    ///
    /// # Errors
    /// As [`run_group`](Self::run_group), and if the kernel is not for the products or the GPU, or computes no groups
    /// ([`Kernel::computes_groups`]).
    pub fn run_group_kernel<'a>(
        &self,
        kernel: &'static Kernel,
        products: impl IntoIterator<Item = (Problem, Operands<'a>)>,
    ) -> Result<ComputedGroup, GemmError> {
        if !kernel.computes_groups() {
            return Err(GroupError::Kernel(kernel.symbol).into());
        }
        let products: Vec<_> = products.into_iter().collect();
        let machine = self.machine();
        let (mut members, mut first) = (Vec::new(), None);
        let mut most_tiles = 0;
        for (number, (problem, operands)) in products.iter().enumerate() {
            if problem.batch() > 1 {
                return Err(batch(number, problem).into());
            }
            operands.check(problem, self.context().device())?;
            let addresses = operands.addresses();
            Plan::with_parts(kernel, problem, machine, 1)?.check_addresses(&addresses)?;
            let tiles = tiles(kernel, problem);
            let max = machine
                .limits
                .x
                .min(u32::MAX / kernel.block.threads() as u32);
            if tiles > max.into() {
                return Err(GroupError::TooLarge { number, tiles, max }.into());
            }
            if tiles == 0 || problem.batch() == 0 {
                continue;
            }
            let first = first.get_or_insert(addresses);
            members.push(parameters(problem, machine, first, &addresses));
            most_tiles = most_tiles.max(tiles as u32);
        }
        let Some(first) = first else {
            return Ok(ComputedGroup::EMPTY);
        };
        let loaded = self.module.kernel(kernel.symbol)?;
        let table = self.context().upload(&members).map_err(|error| {
            let bytes = size_of_val(&members[..]) as u64;
            GemmError::Workspace { bytes, error }
        })?;
        // The events belong to one product at a time.
        let _events = self
            .workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.start.record(&self.stream)?;
        let mut launched = Ok(());
        let at_once = machine.limits.z.max(1) as usize;
        for (number, members) in members.chunks(at_once).enumerate() {
            let config = LaunchConfig {
                grid: [most_tiles, 1, members.len() as u32],
                // The catalogue's tests keep blocks and LDS far below 2³².
                block: [kernel.block.x as u32, kernel.block.y as u32, 1],
                dynamic_lds_bytes: kernel.lds_bytes as u32,
            };
            let skipped = (number * at_once * size_of::<GemmParameters>()) as u64;
            let arguments = Arguments::from_struct(&GemmArguments {
                a: first.a,
                b: first.b,
                c: first.c,
                bias: first.bias,
                workspace: table.address() + skipped,
                parameters: members[0],
            });
            // SAFETY: the matrices have the length of the problems' layouts, live until the stream is synchronized, and are
            // on this device; each C is borrowed mutably. The table has parameters for each workgroup along z. Block and LDS
            // are those of the catalogue's row, for which the device crate is compiled.
            launched = unsafe { loaded.launch(&self.stream, &config, &arguments) };
            if launched.is_err() {
                break;
            }
        }
        let recorded = self.end.record(&self.stream);
        // Also after an error: what was launched before it uses the operands.
        let waited = self.stream.synchronize();
        launched?;
        recorded?;
        waited?;
        Ok(ComputedGroup {
            kernel: Some(kernel),
            time: self.end.duration_since(&self.start)?,
        })
    }
}
