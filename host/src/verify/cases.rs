//! The products that every kernel is tested with: edges, layouts, factors, biases, operations, batches, alignments,
//! partitions of k and numbers of XCDs. `tests/products.rs` and `ferrowave selftest` run them.

use ferrowave_shared::{
    Bias, ElementType, Kernel,
    catalogue::{Access, Reduction},
    workspace,
};
use thiserror::Error;

use super::{
    Elements, Inputs, InputsError,
    inputs::{LEAD, behind},
};
use crate::{
    gemm::{
        Gemm, GemmError, InputBuffers, Machine, Operation, Order, Plan, PlanError, Problem,
        ProblemError, Request, Target,
    },
    hip::{BufferError, DeviceBuffer},
};

/// Corner cases: single rows and columns, nothing to sum, nothing to compute, primes, and a k of less than 16 bytes.
const CORNERS: [(i64, i64, i64); 10] = [
    (1, 1, 1),
    (1, 70, 33),
    (70, 1, 33),
    (37, 53, 29),
    (5, 7, 0),
    (1, 1, 1000),
    (0, 4, 4),
    (4, 0, 4),
    (0, 0, 0),
    (33, 17, 3),
];

/// A shape with edges for every tile.
const EDGED: (i64, i64, i64) = (37, 53, 29);

/// α and β: C not read, only C, both, and infinity as IEEE 754 defines it.
const FACTORS: [(f64, f64); 6] = [
    (1.0, 0.0),
    (-2.5, 0.5),
    (0.0, 0.0),
    (0.0, 1.0),
    (1.0, 1.0),
    (f64::INFINITY, 0.0),
];

/// α and β for integers.
const INTEGER_FACTORS: [(f64, f64); 5] = [
    (1.0, 0.0),
    (-3.0, 2.0),
    (0.0, 0.0),
    (0.0, 1.0),
    (2_147_483_647.0, -1.0),
];

/// Operations before and after the product. Integers can hold the constants, too.
const OPERATIONS: [(Operation, Operation); 10] = [
    (Operation::None, Operation::None),
    (Operation::Relu, Operation::Gelu),
    (Operation::None, Operation::Silu),
    (Operation::Scale(3.0), Operation::Relu),
    (Operation::Set(2.0), Operation::None),
    (Operation::None, Operation::Scale(-2.0)),
    (Operation::None, Operation::Set(7.0)),
    (Operation::ReluGradient, Operation::None),
    (Operation::GeluGradient, Operation::Scale(3.0)),
    (Operation::SiluGradient, Operation::None),
];

const ORDERS: [(Order, Order); 4] = [
    (Order::RowMajor, Order::RowMajor),
    (Order::RowMajor, Order::ColumnMajor),
    (Order::ColumnMajor, Order::RowMajor),
    (Order::ColumnMajor, Order::ColumnMajor),
];

const BIASES: [Bias; 3] = [Bias::None, Bias::Row, Bias::Column];

/// A product, and where its matrices start in their buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The product.
    pub request: Request,
    /// Elements before the first of each matrix in its buffer.
    pub lead: usize,
    /// The number of parts into which a kernel that divides k should cut it; fewer if k has fewer.
    pub parts: Option<u32>,
    /// The number of XCDs to plan for.
    pub xcds: u32,
    /// The seed of its inputs.
    pub seed: u64,
}

/// A case cannot be computed.
#[derive(Debug, Error)]
pub enum CaseError {
    /// It is no valid product.
    #[error(transparent)]
    Request(#[from] ProblemError),
    /// This computer does not have the memory.
    #[error(transparent)]
    Inputs(#[from] InputsError),
    /// The kernel can't compute it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The device fails.
    #[error(transparent)]
    Gemm(#[from] GemmError),
    /// A matrix can't be copied.
    #[error(transparent)]
    Buffer(#[from] BufferError),
}

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    /// C and its tail.
    pub output: Elements,
    /// Whether elements before C were overwritten.
    pub is_lead_damaged: bool,
    /// Whether the counters of the workspace are 0, as a kernel must leave them.
    pub are_counters_clean: bool,
}

/// A case whose matrices are on a device.
pub struct Loaded<'a> {
    gemm: &'a Gemm,
    plan: Plan,
    lead: usize,
    inputs: InputBuffers,
    c: DeviceBuffer<u8>,
    /// The bytes of C before the product.
    before: Vec<u8>,
}

impl Case {
    /// The product alone, with matrices at the start of their buffers.
    pub const fn plain(request: Request, seed: u64) -> Self {
        Case {
            request,
            lead: 0,
            parts: None,
            xcds: 1,
            seed,
        }
    }

    /// Copies the matrices to the device of `gemm`.
    ///
    /// # Errors
    /// If the kernel can't compute the product, or the device fails.
    pub fn load<'a>(
        &self,
        gemm: &'a Gemm,
        kernel: &'static Kernel,
        problem: &Problem,
        inputs: &Inputs,
    ) -> Result<Loaded<'a>, CaseError> {
        let machine = Machine {
            xcds: self.xcds,
            ..gemm.machine().clone()
        };
        let plan = match (self.parts, kernel.reduction) {
            (None, _) | (_, Reduction::None) => Plan::new(kernel, problem, &machine),
            (Some(parts), Reduction::SplitK) => {
                let parts = parts.min(workspace::steps(problem.k(), kernel.tile));
                Plan::with_parts(kernel, problem, &machine, parts)
            }
            (Some(parts), Reduction::StreamK) => {
                Plan::with_parts(kernel, problem, &machine, parts.min(machine.limits.x))
            }
        };
        let before = behind(&inputs.c, self.lead).into_owned();
        Ok(Loaded {
            gemm,
            plan: plan?,
            lead: self.lead,
            inputs: inputs.upload(gemm.context(), self.lead)?,
            c: gemm.context().upload(&before)?,
            before,
        })
    }
}

impl Loaded<'_> {
    /// Computes the product from the same operands, also if it was computed before.
    ///
    /// # Errors
    /// If the device fails.
    pub fn run(&mut self) -> Result<Computed, CaseError> {
        self.c.copy_from_host(&self.before)?;
        let types = self.plan.problem().types();
        let c = Target::of_bytes(&mut self.c, types.output).skip(self.lead);
        let operands = self.inputs.operands(types, c);
        self.gemm.run_plan(&self.plan, operands)?;
        let mut bytes = self.c.to_vec()?;
        let output = bytes.split_off(self.lead * types.output.size_bytes());
        Ok(Computed {
            output: Elements::from_bytes(types.output, output),
            is_lead_damaged: bytes.iter().any(|&byte| byte != LEAD),
            are_counters_clean: self.gemm.counters()?.iter().all(|&count| count == 0),
        })
    }
}

/// The cases of every kernel: corner shapes with defaults and with different choices, shapes around the kernel's tile (a
/// third of them, which take most of the time; which third depends on the kernel), and every layout, pair of factors and
/// pair of operations on a shape with edges.
pub fn standard(kernel: &Kernel) -> Vec<Case> {
    let mut cases = corners(kernel);
    let around = around_tiles(kernel);
    let start = kernel.symbol.len() % 3;
    let shapes = CORNERS.iter().chain(around.iter().skip(start).step_by(3));
    cases.extend((100..).zip(shapes).map(|(seed, &shape)| {
        let digits = scattered(seed + 1000 * kernel.symbol.len() as u64);
        case(kernel, shape, Digits(digits), seed)
    }));
    let layouts = ORDERS.len() as u64;
    let choices = factors(kernel).len() as u64 * OPERATIONS.len() as u64;
    cases.extend((200..).zip(0..choices).map(|(seed, choice)| {
        let digits = (seed % layouts) + layouts * (choice + choices * (scattered(seed) >> 8));
        case(kernel, EDGED, Digits(digits), seed)
    }));
    cases
}

/// A few of them: corner shapes with defaults, and four shapes around the kernel's tile.
pub fn quick(kernel: &Kernel) -> Vec<Case> {
    let mut cases = corners(kernel);
    // 4 of 54.
    let shapes = around_tiles(kernel).into_iter().step_by(15);
    cases.extend((100..).zip(shapes).map(|(seed, shape)| {
        let digits = scattered(seed + 1000 * kernel.symbol.len() as u64);
        case(kernel, shape, Digits(digits), seed)
    }));
    cases
}

/// Corner shapes with every layout, pair of factors and pair of operations, and the larger shapes with every layout and
/// three draws of the rest. The other choices vary with them.
pub fn combinations(kernel: &Kernel) -> Vec<Case> {
    let layouts = ORDERS.len() as u64;
    let all = layouts * (FACTORS.len() * OPERATIONS.len()) as u64;
    let mut cases = Vec::new();
    for (seed, &shape) in (0..).zip(&CORNERS) {
        cases.extend((0..all).map(|combination| {
            let rest = scattered(seed * all + combination) >> 16;
            case(kernel, shape, Digits(combination + all * rest), seed)
        }));
    }
    for (seed, &shape) in (1000..).zip(&around_tiles(kernel)) {
        cases.extend((0..3 * layouts).map(|draw| {
            let rest = scattered(seed * all + draw) >> 16;
            let digits = Digits(draw % layouts + layouts * rest);
            case(kernel, shape, digits, seed)
        }));
    }
    cases
}

/// Cases for [`Inputs::special`].
pub fn special(kernel: &Kernel) -> Vec<Case> {
    let [m, n, k] =
        [kernel.tile.m, kernel.tile.n, kernel.tile.k.max(8)].map(|extent| extent as i64 + 1);
    let shapes = [EDGED, (m, n, k)];
    let cases = (300..).zip(shapes);
    cases
        .map(|(seed, shape)| case(kernel, shape, Digits(0), seed))
        .collect()
}

/// A case of several tiles with edges in all directions, whose k is divided in three if the kernel can. `tiles` are the
/// whole tiles in a row of C, in a column, and along k.
pub fn repeated(kernel: &Kernel, tiles: [i64; 3]) -> Case {
    let tile = [kernel.tile.m, kernel.tile.n, kernel.tile.k.max(8)];
    let [m, n, k] = std::array::from_fn(|i| tiles[i] * tile[i] as i64 + 3);
    Case {
        parts: Some(3),
        ..case(kernel, (m, n, k), Digits(0), 400)
    }
}

/// The defaults on every corner shape: row-major, packed, α = 1, β = 0.
fn corners(kernel: &Kernel) -> Vec<Case> {
    let corners = (0..).zip(&CORNERS);
    corners
        .map(|(seed, &shape)| case(kernel, shape, Digits(0), seed))
        .collect()
}

fn factors(kernel: &Kernel) -> &'static [(f64, f64)] {
    match kernel.types.accumulator {
        ElementType::I32 => &INTEGER_FACTORS,
        _ => &FACTORS,
    }
}

/// Chooses the parameters of a case: each choice is a digit of the number.
struct Digits(u64);

impl Digits {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        let count = choices.len() as u64;
        let digit = self.0 % count;
        self.0 /= count;
        choices[digit as usize]
    }
}

/// Pseudo-random numbers, so that neighbouring cases differ in every choice.
fn scattered(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 32
}

/// The case of a shape with the choices in `digits`.
fn case(kernel: &Kernel, (m, n, k): (i64, i64, i64), mut digits: Digits, seed: u64) -> Case {
    let types = kernel.types;
    let (order_a, order_b) = digits.of(&ORDERS);
    let (alpha, beta) = digits.of(factors(kernel));
    let (mut prologue, mut epilogue) = digits.of(&OPERATIONS);
    if types.accumulator != ElementType::F32 {
        if epilogue.is_activation() {
            epilogue = Operation::None;
        }
        if prologue.is_gradient() {
            prologue = Operation::None;
        }
    }
    // One matrix for all products of the batch, or matrices with a gap between them.
    let (batch, [stride_a, stride_b]) = digits.of(&[
        (1, [None; 2]),
        (3, [None, Some(0)]),
        (3, [Some(0), None]),
        (2, [Some(m * k + 16 * (m + k)), None]),
    ]);
    let request = Request {
        order_a,
        order_b,
        alpha,
        beta,
        prologue,
        epilogue,
        bias: digits.of(&BIASES),
        batch,
        stride_a,
        stride_b,
        types: types.with_output(digits.of(kernel.outputs())),
        ..Request::new(m, n, k)
    };
    let request = Request {
        output_scale: match request.types.output.is_float8() {
            // Most results are numbers; or most saturate.
            true => digits.of(&[1.0 / 65536.0, 1.0 / 65536.0, -1.0]),
            false => 1.0,
        },
        ..request
    };
    let request = Request {
        gate: beta != 0.0 && digits.of(&[false, true]),
        ..request
    };
    let padding = digits.of(&[[0; 3], [3, 5, 7], [16, 16, 8]]);
    let case = Case {
        request: padded(&request, padding),
        lead: digits.of(&[0, 1]),
        parts: digits.of(&[None, Some(1), Some(2), Some(3), Some(u32::MAX)]),
        xcds: digits.of(&[1, 8]),
        seed,
    };
    case.fitted(kernel)
}

/// The same request with this many elements after each row or column of A, B and C, where canaries are.
fn padded(request: &Request, [a, b, c]: [i64; 3]) -> Request {
    let Request { m, n, k, .. } = *request;
    let line = |order, row, column| match order {
        Order::RowMajor => row,
        Order::ColumnMajor => column,
    };
    Request {
        lda: Some(line(request.order_a, k, m) + a),
        ldb: Some(line(request.order_b, n, k) + b),
        ldc: Some(n + c),
        ..*request
    }
}

impl Case {
    /// The same case with matrices that the kernel can read. For one that reads 16 bytes at once along k, rows of A and
    /// columns of B start at multiples of 16 bytes. For types with blocks along k, k and the rows' distances are multiples of 32.
    #[must_use]
    pub fn fitted(&self, kernel: &Kernel) -> Self {
        let types = kernel.types;
        match kernel.access {
            _ if types.block() > 1 => fitting(self, types.block().into()),
            Access::Elements | Access::Wide => *self,
            Access::WideAlongK => fitting(self, 16 / types.a.size_bytes() as i64),
        }
    }
}

/// The same case along k, with distances that are multiples of this many elements; as is k, if types have blocks along k.
fn fitting(case: &Case, elements: i64) -> Case {
    let up = |extent: i64| (extent + elements - 1) / elements * elements;
    let Request {
        m, k, lda, types, ..
    } = case.request;
    let k = match types.block() > 1 {
        true => up(k),
        false => k,
    };
    let lda = up(lda.unwrap_or(k).max(k));
    let request = Request {
        k,
        order_a: Order::RowMajor,
        order_b: Order::ColumnMajor,
        // A sparse A has no padding.
        lda: (!types.is_sparse).then_some(lda),
        ldb: Some(up(k) + lda - up(lda.min(k))),
        stride_a: case.request.stride_a.map(|stride| match stride {
            0 => 0,
            // As much for what is stored of it at least.
            _ if types.is_sparse => up(m + 1) * up(k + 64),
            _ => up(m * lda) + up(16),
        }),
        ..case.request
    };
    // Whole 16 bytes, so that the matrices are as aligned as their buffers.
    let lead = case.lead * elements as usize;
    Case {
        request,
        lead,
        ..*case
    }
}

/// The tile itself, and one less and one more in each direction, for one tile and for several.
fn around_tiles(kernel: &Kernel) -> Vec<(i64, i64, i64)> {
    let tile = [kernel.tile.m, kernel.tile.n, kernel.tile.k.max(8)].map(|extent| extent as i64);
    let offsets = (0..27).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1]);
    offsets
        .flat_map(|offsets| {
            [[1, 1, 1], [2, 2, 3]].map(|tiles: [i64; 3]| {
                let [m, n, k] = std::array::from_fn(|i| tiles[i] * tile[i] + offsets[i]);
                (m, n, k)
            })
        })
        .collect()
}
