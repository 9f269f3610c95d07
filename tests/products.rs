//! Every kernel on every built GPU, or on the device of FERROWAVE_DEVICE, over the cases of `ferrowave::verify::cases`,
//! through the whole path: plan, HIP, code object, device, comparison with a product in f64 or exact integers.

use std::env;

use ferrowave::{
    embedded,
    gemm::{Gemm, Operands, Operation, Order, Plan, PlanError, Request, Source, Target, choose},
    hip::{Context, DEVICE_VARIABLE, Device, DeviceSelector},
    verify::{
        Inputs,
        cases::{self, Case},
        verify,
    },
};
use ferrowave_shared::{
    CATALOGUE, ElementType, ElementTypes, Kernel,
    catalogue::{Access, Reduction},
};

/// A device with the kernels loaded.
struct Bench {
    gpu: String,
    context: Context,
    gemm: Gemm,
}

impl Bench {
    /// The device of FERROWAVE_DEVICE, or the emulator of every GPU that kernels were built for.
    fn all() -> impl Iterator<Item = Self> {
        let selectors: Vec<_> = match env::var_os(DEVICE_VARIABLE) {
            Some(_) => vec![DeviceSelector::from_environment().unwrap()],
            None => embedded::CODE_OBJECTS
                .iter()
                .map(|&(gpu, _)| DeviceSelector::Emulator(gpu))
                .collect(),
        };
        assert!(!selectors.is_empty());
        selectors.into_iter().map(|selector| {
            let device = embedded::open(&selector).unwrap_or_else(|error| panic!("{error}"));
            let gpu = device.properties().gpu_name().to_owned();
            let code_object = embedded::code_object(&gpu).unwrap_or_else(|| {
                panic!("the kernels are not built for {gpu}; set FERROWAVE_GPUS={gpu}")
            });
            let context = Context::new(&device).unwrap();
            let gemm = Gemm::new(&context, code_object).unwrap();
            Self { gpu, context, gemm }
        })
    }

    fn kernels(&self) -> impl Iterator<Item = &'static Kernel> {
        CATALOGUE
            .iter()
            .filter(|kernel| kernel.gpus.contains(&self.gpu))
    }

    /// Runs a case and asserts that the result is correct.
    fn check(&self, kernel: &'static Kernel, case: &Case) {
        let what = || format!("{} on {}, {case:?}", kernel.symbol, self.gpu);
        let problem = case
            .request
            .check()
            .unwrap_or_else(|error| panic!("{}: {error}", what()));
        let inputs = Inputs::random(&problem, case.seed).unwrap();
        let loaded = case.load(&self.gemm, kernel, &problem, &inputs);
        let computed = loaded.and_then(|mut loaded| loaded.run());
        let computed = computed.unwrap_or_else(|error| panic!("{}: {error}", what()));
        assert!(!computed.is_lead_damaged, "{}: written before C", what());
        let verdict = verify(&problem, &inputs, &computed.output);
        assert!(verdict.passed(), "{}: {verdict:?}", what());
        assert!(computed.are_counters_clean, "{}: counters", what());
    }
}

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
                    types: kernel.types,
                    ..Request::new(37, 53, 29)
                };
                bench.check(kernel, &Case::plain(request, 1).fitted(kernel));
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
            for case in cases::standard(kernel) {
                bench.check(kernel, &case);
            }
        }
        assert_eq!(bench.context.take_drop_errors(), []);
    }
}

#[test]
#[ignore = "takes long; `make test-all` runs it"]
fn every_kernel_computes_every_combination() {
    for bench in Bench::all() {
        for kernel in bench.kernels() {
            for case in cases::combinations(kernel) {
                bench.check(kernel, &case);
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
                let other = bench.kernels().find(|other| {
                    other.types == kernel.types && other.access != Access::WideAlongK
                });
                let Ok(choice) = choose(&problem, machine, None) else {
                    assert!(
                        other.is_none(),
                        "{other:?} can read what {} can't",
                        kernel.symbol
                    );
                    continue;
                };
                assert_ne!(choice.kernel.access, Access::WideAlongK);
                let case = Case {
                    lead: 1,
                    ..Case::plain(request, 1)
                };
                bench.check(choice.kernel, &case);
            }
        }
    }
}

/// Every kernel that the rule picks computes the problem.
#[test]
fn the_chosen_kernel_computes_the_problem() {
    let orders = [Order::RowMajor, Order::ColumnMajor];
    let layouts = orders.into_iter().flat_map(|a| orders.map(|b| (a, b)));
    for bench in Bench::all() {
        for &types in ElementTypes::ALL {
            for (m, n, k) in [(16, 16, 2000), (300, 200, 64), (129, 257, 100)] {
                for (order_a, order_b) in layouts.clone() {
                    let request = Request {
                        order_a,
                        order_b,
                        types,
                        ..Request::new(m, n, k)
                    };
                    let problem = request.check().unwrap();
                    let Ok(choice) = choose(&problem, bench.gemm.machine(), None) else {
                        assert!(
                            bench.kernels().all(|kernel| kernel.types != types),
                            "none chosen for {types:?}"
                        );
                        continue;
                    };
                    let case = Case {
                        xcds: bench.gemm.machine().xcds,
                        ..Case::plain(request, 3)
                    };
                    bench.check(choice.kernel, &case);
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
            let request = Case::plain(request, 1).fitted(kernel).request;
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
