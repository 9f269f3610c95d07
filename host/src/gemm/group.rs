//! Groups: products of different extents in one launch.
//!
//! A launch for each of many small products would leave most of a GPU idle, and take the host longer than the products
//! take. A group's launch has workgroups for all of them: as many along z as there are products, and as many along x as the
//! largest has tiles; those beyond a smaller product's tiles end at once. The products' parameters are an array in device
//! memory, [`GroupMember`]s.
//!
//! The kernel is that whose tiles take the least time, all tiles together on a full GPU or the longest one by itself, by
//! the machine's [table of costs](super::tuned). Without a table it is that whose tiles multiply and load the fewest
//! elements, overhang included.

use ferrowave_shared::{
    CATALOGUE, ElementType, ElementTypes, GemmArguments, GemmParameters, GroupMember, Kernel,
    ScaleParameters, catalogue::Access, workspace,
};
use thiserror::Error;

use super::{
    machine::Machine,
    operands::{Addresses, OperandError, Operands},
    plan::{Plan, PlanError, kernel_arguments},
    problem::Problem,
    tiles::GROUP_LOG,
    tuned::Table,
};
use crate::hip::{Arguments, Device};

/// Why products can't be a group.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupError {
    /// The products have different element types.
    #[error(
        "product {number} of the group computes {} from {}, but product 0 computes {} from {}; a group has one type",
        .is.output, .is.name(), .first.output, .first.name()
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
        "no kernel computes groups of {} on {gpu}; there are such kernels for {}", .types.name(), list(.supported)
    )]
    NoKernel {
        /// The element types.
        types: ElementTypes,
        /// The GPU.
        gpu: String,
        /// The types that have such kernels on this GPU.
        supported: Vec<ElementTypes>,
    },
    /// A matrix does not fit a product.
    #[error("product {number} of the group: {error}")]
    Operand {
        /// Which product.
        number: usize,
        /// Why it does not fit.
        error: OperandError,
    },
    /// The kernel can't compute a product.
    #[error("product {number} of the group: {error}")]
    Plan {
        /// Which product.
        number: usize,
        /// Why it can't.
        error: PlanError,
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

fn list(types: &[ElementTypes]) -> String {
    if types.is_empty() {
        return "no types".to_owned();
    }
    let names: Vec<_> = types.iter().map(|types| types.name()).collect();
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
                .copied()
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
                all += tiles * full.at(steps(problem), kernel.tile) / f64::from(at_once);
                longest = longest.max(one.at(steps(problem), kernel.tile));
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

/// The launches of a kernel that compute a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GroupPlan {
    pub(super) kernel: &'static Kernel,
    /// The products that have elements.
    pub(super) members: Vec<GroupMember>,
    /// Where the matrices of the first member are.
    first: Addresses,
    /// Where the largest magnitudes of all products are; 0 if they are not asked for.
    pub(super) amax: Vec<u64>,
    /// Tiles of the largest product: workgroups along x.
    pub(super) tiles: u32,
}

impl GroupPlan {
    /// Plans the launches of `kernel` that compute `products`, and checks their operands.
    pub(super) fn new(
        kernel: &'static Kernel,
        products: &[(Problem, Operands<'_>)],
        machine: &Machine,
        device: &Device,
    ) -> Result<Self, GroupError> {
        if !kernel.computes_groups() {
            return Err(GroupError::Kernel(kernel.symbol));
        }
        let mut group = Self {
            kernel,
            members: Vec::new(),
            first: Addresses::default(),
            amax: Vec::new(),
            tiles: 0,
        };
        for (number, (problem, operands)) in products.iter().enumerate() {
            if problem.batch() > 1 {
                return Err(batch(number, problem));
            }
            let checked = operands.check(problem, device);
            checked.map_err(|error| GroupError::Operand { number, error })?;
            let addresses = operands.addresses();
            Plan::with_parts(kernel, problem, machine, 1)
                .and_then(|plan| plan.check_addresses(&addresses))
                .map_err(|error| GroupError::Plan { number, error })?;
            let tiles = tiles(kernel, problem);
            // A dispatch packet counts work-items in 32 bits.
            let countable = u32::MAX / kernel.block.threads() as u32;
            let max = machine.limits.x.min(countable);
            if tiles > max.into() {
                return Err(GroupError::TooLarge { number, tiles, max });
            }
            group.amax.push(addresses.amax);
            if tiles == 0 || problem.batch() == 0 {
                continue;
            }
            if group.members.is_empty() {
                group.first = addresses;
            }
            let member = member(problem, machine, &group.first, &addresses);
            group.members.push(member);
            group.tiles = group.tiles.max(tiles as u32);
        }
        Ok(group)
    }

    /// The arguments of a launch of some of the members, which are in device memory at `address`.
    pub(super) fn arguments(&self, first: &GroupMember, address: u64) -> Arguments {
        let gemm = GemmArguments {
            a: self.first.a,
            b: self.first.b,
            c: self.first.c,
            bias: self.first.bias,
            workspace: address,
            amax: self.first.amax,
            input: self.first.input,
            parameters: first.parameters,
        };
        kernel_arguments(self.kernel.types, gemm, &self.first, first.scales)
    }
}

/// A product of a group whose first one has its matrices at `first`.
fn member(
    problem: &Problem,
    machine: &Machine,
    first: &Addresses,
    addresses: &Addresses,
) -> GroupMember {
    let types = problem.types();
    // Signed, as the distance may be negative. Matrices begin at multiples of their elements.
    let elements = |is: u64, from: u64, element: ElementType| {
        (is.wrapping_sub(from) as i64 / element.size_bytes() as i64) as u64
    };
    let parameters = problem.parameters();
    GroupMember {
        parameters: GemmParameters {
            options: addresses.options(parameters.options).with_group(true),
            stride_a: elements(addresses.a, first.a, types.a),
            stride_b: elements(addresses.b, first.b, types.b),
            stride_c: elements(addresses.c, first.c, types.output),
            parts: 1,
            order: GROUP_LOG << 16 | machine.xcds,
            ..parameters
        },
        distance_bias: elements(addresses.bias, first.bias, types.bias()),
        distance_amax: elements(addresses.amax, first.amax, types.accumulator),
        distance_input: elements(addresses.input, first.input, types.bias()),
        scales: ScaleParameters {
            stride_a: addresses.scale_a.wrapping_sub(first.scale_a),
            stride_b: addresses.scale_b.wrapping_sub(first.scale_b),
        },
    }
}
