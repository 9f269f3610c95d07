//! Every kernel on every built GPU, over edges, layouts, factors, biases and operations, through the whole path: plan,
//! HIP, code object, emulator, comparison with a product in f64 or exact integers.

use ferrowave::{
    embedded,
    gemm::{
        Gemm, Machine, Operands, Operation, Order, Plan, PlanError, Request, Source, Target, choose,
    },
    hip::{Context, Device, DeviceBuffer, DeviceSelector},
    verify::{Elements, Inputs, verify},
};
use ferrowave_gpu::Gpu;
use ferrowave_shared::{
    Bias, CATALOGUE, ElementType, ElementTypes, Kernel,
    catalogue::{Access, Reduction},
    workspace,
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
const OPERATIONS: [(Operation, Operation); 6] = [
    (Operation::None, Operation::None),
    (Operation::Relu, Operation::Gelu),
    (Operation::Scale(3.0), Operation::Relu),
    (Operation::Set(2.0), Operation::None),
    (Operation::None, Operation::Scale(-2.0)),
    (Operation::None, Operation::Set(7.0)),
];

const ORDERS: [(Order, Order); 4] = [
    (Order::RowMajor, Order::RowMajor),
    (Order::RowMajor, Order::ColumnMajor),
    (Order::ColumnMajor, Order::RowMajor),
    (Order::ColumnMajor, Order::ColumnMajor),
];

const BIASES: [Bias; 3] = [Bias::None, Bias::Row, Bias::Column];

/// A product, and where its matrices start in their buffers.
#[derive(Clone, Copy, Debug)]
struct Case {
    request: Request,
    /// Elements before the first of each matrix in its buffer.
    lead: usize,
    /// The number of parts into which a kernel that divides k should cut it; fewer if k has fewer.
    parts: Option<u32>,
    xcds: u32,
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
fn case(kernel: &Kernel, (m, n, k): (i64, i64, i64), mut digits: Digits) -> Case {
    let types = kernel.types;
    let (order_a, order_b) = digits.of(&ORDERS);
    let (alpha, beta) = match types.accumulator {
        ElementType::I32 => digits.of(&INTEGER_FACTORS),
        _ => digits.of(&FACTORS),
    };
    let (prologue, mut epilogue) = digits.of(&OPERATIONS);
    if epilogue == Operation::Gelu && types.accumulator != ElementType::F32 {
        epilogue = Operation::None;
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
        types,
        ..Request::new(m, n, k)
    };
    let padding = digits.of(&[[0; 3], [3, 5, 7], [16, 16, 8]]);
    let case = Case {
        request: padded(&request, padding),
        lead: digits.of(&[0, 1]),
        parts: digits.of(&[None, Some(1), Some(2), Some(3), Some(u32::MAX)]),
        xcds: digits.of(&[1, 8]),
    };
    match kernel.access {
        Access::Elements | Access::Wide => case,
        Access::WideAlongK => fitting(&case),
    }
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

/// The same case for a kernel that reads 16 bytes at once along k: rows of A and columns of B start at multiples of 16
/// bytes.
fn fitting(case: &Case) -> Case {
    let elements = 16 / case.request.types.input.size_bytes() as i64;
    let up = |extent: i64| (extent + elements - 1) / elements * elements;
    let Request { m, k, lda, .. } = case.request;
    let lda = up(lda.unwrap_or(k).max(k));
    let request = Request {
        order_a: Order::RowMajor,
        order_b: Order::ColumnMajor,
        lda: Some(lda),
        ldb: Some(up(k) + lda - up(lda.min(k))),
        stride_a: case.request.stride_a.map(|stride| match stride {
            0 => 0,
            _ => up(m * lda) + 16,
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

/// A device with the kernels loaded.
struct Bench {
    gpu: Gpu,
    context: Context,
    gemm: Gemm,
}

impl Bench {
    fn all() -> impl Iterator<Item = Self> {
        assert!(!embedded::CODE_OBJECTS.is_empty());
        embedded::CODE_OBJECTS.iter().map(|&(gpu, code_object)| {
            let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
            let context = Context::new(&device).unwrap();
            let gemm = Gemm::new(&context, code_object).unwrap();
            Self { gpu, context, gemm }
        })
    }

    fn kernels(&self) -> impl Iterator<Item = &'static Kernel> {
        let gpu = self.gpu;
        CATALOGUE
            .iter()
            .filter(move |kernel| kernel.gpus.contains(gpu.name()))
    }

    /// A buffer with the elements behind `lead` others.
    fn upload(&self, elements: &Elements, lead: usize) -> DeviceBuffer<u8> {
        let mut bytes = vec![LEAD; lead * elements.element().size_bytes()];
        bytes.extend(elements.bytes());
        self.context.upload(&bytes).unwrap()
    }

    /// Runs a case and asserts that the result is correct.
    fn check(&self, kernel: &'static Kernel, case: &Case, seed: u64) {
        let what = || format!("{} on {}, seed {seed}, {case:?}", kernel.symbol, self.gpu);
        let problem = case
            .request
            .check()
            .unwrap_or_else(|error| panic!("{}: {error}", what()));
        let inputs = Inputs::random(&problem, seed).unwrap();
        let [a, b, bias] =
            [&inputs.a, &inputs.b, &inputs.bias].map(|elements| self.upload(elements, case.lead));
        let mut c = self.upload(&inputs.c, case.lead);
        let types = problem.types();
        let operands = Operands::new(
            Source::of_bytes(&a, types.input).skip(case.lead),
            Source::of_bytes(&b, types.input).skip(case.lead),
            Target::of_bytes(&mut c, types.output).skip(case.lead),
        )
        .with_bias(Source::of_bytes(&bias, types.output).skip(case.lead));
        let machine = Machine {
            xcds: case.xcds,
            ..self.gemm.machine().clone()
        };
        let plan = match (case.parts, kernel.reduction) {
            (None, _) | (_, Reduction::None) => Plan::new(kernel, &problem, &machine),
            (Some(parts), Reduction::SplitK) => {
                let parts = parts.min(workspace::steps(problem.k(), kernel.tile));
                Plan::with_parts(kernel, &problem, &machine, parts)
            }
            (Some(parts), Reduction::StreamK) => {
                Plan::with_parts(kernel, &problem, &machine, parts.min(machine.limits.x))
            }
        };
        let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", what()));
        self.gemm
            .run_plan(&plan, operands)
            .unwrap_or_else(|error| panic!("{}: {error}", what()));
        let mut bytes = c.to_vec().unwrap();
        let output = bytes.split_off(case.lead * types.output.size_bytes());
        assert!(
            bytes.iter().all(|&byte| byte == LEAD),
            "{}: written before C",
            what()
        );
        let verdict = verify(
            &problem,
            &inputs,
            &Elements::from_bytes(types.output, output),
        );
        assert!(verdict.passed(), "{}: {verdict:?}", what());
        let counters = self.gemm.counters().unwrap();
        assert!(
            counters.iter().all(|&count| count == 0),
            "{}: {counters:?}",
            what()
        );
    }
}

/// The byte before the first elements.
const LEAD: u8 = 0xa5;

/// f32 cannot hold 0.1 and 2²⁴ + 1, but the type of the sums may.
#[test]
fn constants_have_the_precision_of_the_sums() {
    for bench in Bench::all() {
        for kernel in bench.kernels() {
            let constant = match kernel.types.accumulator {
                ElementType::I32 => 16_777_217.0,
                ElementType::F64 => 0.1,
                _ => continue,
            };
            let shape = (37, 53, 29);
            let base = case(kernel, shape, Digits(0));
            for (prologue, epilogue) in [
                (Operation::Set(constant), Operation::None),
                (Operation::Scale(constant), Operation::None),
                (Operation::None, Operation::Set(constant)),
                (Operation::None, Operation::Scale(constant)),
            ] {
                let request = Request {
                    beta: 1.0,
                    prologue,
                    epilogue,
                    ..base.request
                };
                bench.check(kernel, &Case { request, ..base }, 1);
            }
        }
    }
}

/// A sample of the cases of [`every_kernel_computes_every_combination`]: all corner shapes, each with different
/// choices.
#[test]
fn every_kernel_computes_every_shape() {
    for bench in Bench::all() {
        for kernel in bench.kernels() {
            // Defaults: row-major, packed, α = 1, β = 0.
            for (seed, &shape) in (0..).zip(&CORNERS) {
                bench.check(kernel, &case(kernel, shape, Digits(0)), seed);
            }
            let around = around_tiles(kernel);
            // A third of the larger shapes, which take most of the time; which third depends on the kernel.
            let start = kernel.symbol.len() % 3;
            let shapes = CORNERS.iter().chain(around.iter().skip(start).step_by(3));
            for (seed, &shape) in (100..).zip(shapes) {
                let digits = scattered(seed + 1000 * kernel.symbol.len() as u64);
                bench.check(kernel, &case(kernel, shape, Digits(digits)), seed);
            }
            // Every layout, bias and operation, on a shape with edges.
            let layouts = ORDERS.len() as u64;
            let factors = match kernel.types.accumulator {
                ElementType::I32 => INTEGER_FACTORS.len(),
                _ => FACTORS.len(),
            } as u64;
            let operations = OPERATIONS.len() as u64;
            for (seed, choice) in (200..).zip(0..factors * operations) {
                let digits = (seed % layouts)
                    + layouts * (choice + factors * operations * (scattered(seed) >> 8));
                bench.check(kernel, &case(kernel, (37, 53, 29), Digits(digits)), seed);
            }
        }
        assert_eq!(bench.context.take_drop_errors(), []);
    }
}

/// Corner shapes with every layout, pair of factors and pair of operations, and the larger shapes with every layout and
/// three draws of the rest. The other choices vary with them.
#[test]
#[ignore = "takes long; `make test-all` runs it"]
fn every_kernel_computes_every_combination() {
    let layouts = ORDERS.len() as u64;
    let all = layouts * (FACTORS.len() * OPERATIONS.len()) as u64;
    for bench in Bench::all() {
        for kernel in bench.kernels() {
            for (seed, &shape) in (0..).zip(&CORNERS) {
                for combination in 0..all {
                    let rest = scattered(seed * all + combination) >> 16;
                    let digits = Digits(combination + all * rest);
                    bench.check(kernel, &case(kernel, shape, digits), seed);
                }
            }
            for (seed, &shape) in (1000..).zip(&around_tiles(kernel)) {
                for draw in 0..3 * layouts {
                    let rest = scattered(seed * all + draw) >> 16;
                    let digits = Digits(draw % layouts + layouts * rest);
                    bench.check(kernel, &case(kernel, shape, digits), seed);
                }
            }
        }
    }
}

/// What a kernel cannot read is refused by name. The rule picks a kernel that can read it, and that kernel computes it.
#[test]
fn what_a_kernel_cannot_read_is_refused_and_computed_by_another() {
    for bench in Bench::all() {
        let machine = bench.gemm.machine();
        let along_k = bench
            .kernels()
            .filter(|kernel| kernel.access == Access::WideAlongK);
        for kernel in along_k {
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let request = Request {
                    order_a: Order::RowMajor,
                    order_b: order,
                    // One element more than a multiple of 16 bytes.
                    lda: Some(65),
                    ldb: Some(65),
                    types: kernel.types,
                    ..Request::new(64, 64, 64)
                };
                let problem = request.check().unwrap();
                let refused = Plan::new(kernel, &problem, machine).unwrap_err();
                assert!(matches!(refused, PlanError::Misfit { .. }), "{refused}");
                if let Ok(choice) = choose(&problem, machine, None) {
                    assert_ne!(choice.kernel.access, Access::WideAlongK);
                    let case = Case {
                        request,
                        lead: 1,
                        parts: None,
                        xcds: 1,
                    };
                    bench.check(choice.kernel, &case, 1);
                }
            }
        }
    }
}

/// Every kernel that the rule picks computes the problem.
#[test]
fn the_chosen_kernel_computes_the_problem() {
    for bench in Bench::all() {
        for &types in ElementTypes::ALL {
            for (m, n, k) in [(16, 16, 2000), (300, 200, 64), (129, 257, 100)] {
                for (order_a, order_b) in ORDERS {
                    let request = Request {
                        order_a,
                        order_b,
                        types,
                        ..Request::new(m, n, k)
                    };
                    // If no kernel has these types, there is nothing to choose; the command line's tests cover that.
                    let problem = request.check().unwrap();
                    if let Ok(choice) = choose(&problem, bench.gemm.machine(), None) {
                        let case = Case {
                            request,
                            lead: 0,
                            parts: None,
                            xcds: bench.gemm.machine().xcds,
                        };
                        bench.check(choice.kernel, &case, 3);
                    }
                }
            }
        }
    }
}

/// Results do not depend on the order in which waves take turns.
#[test]
fn schedules_do_not_matter() {
    use ferrowave_hip::DeviceConfig;
    for &(gpu, code_object) in embedded::CODE_OBJECTS {
        for kernel in CATALOGUE
            .iter()
            .filter(|kernel| kernel.gpus.contains(gpu.name()))
        {
            let [m, n, k] = [kernel.tile.m, kernel.tile.n, kernel.tile.k.max(8) * 5]
                .map(|extent| extent as i64 + 6);
            let request = Request {
                types: kernel.types,
                ..Request::new(m, n, k)
            };
            let case = Case {
                request,
                lead: 0,
                parts: None,
                xcds: 1,
            };
            let request = match kernel.access {
                Access::WideAlongK => fitting(&case).request,
                Access::Elements | Access::Wide => request,
            };
            let problem = request.check().unwrap();
            let inputs = Inputs::random(&problem, 1).unwrap();
            let results = [0, 1, 2, 3].map(|seed| {
                let device = Device::emulator(DeviceConfig {
                    seed,
                    ..DeviceConfig::new(gpu)
                })
                .unwrap();
                let context = Context::new(&device).unwrap();
                let gemm = Gemm::new(&context, code_object).unwrap();
                let a = context.upload(inputs.a.bytes()).unwrap();
                let b = context.upload(inputs.b.bytes()).unwrap();
                let mut c = context.upload(inputs.c.bytes()).unwrap();
                let operands = Operands::new(
                    Source::of_bytes(&a, kernel.types.input),
                    Source::of_bytes(&b, kernel.types.input),
                    Target::of_bytes(&mut c, kernel.types.output),
                );
                let plan = match kernel.reduction {
                    Reduction::None => Plan::new(kernel, &problem, gemm.machine()),
                    // Several workgroups share a tile and end in any order.
                    Reduction::SplitK | Reduction::StreamK => {
                        Plan::with_parts(kernel, &problem, gemm.machine(), 3)
                    }
                };
                gemm.run_plan(&plan.unwrap(), operands).unwrap();
                c.to_vec().unwrap()
            });
            assert!(
                results.iter().all(|result| *result == results[0]),
                "{} on {gpu}",
                kernel.symbol
            );
        }
    }
}
