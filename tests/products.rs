//! Every kernel on every built GPU, or on the device of FERROWAVE_DEVICE, over the cases of `ferrowave::verify::cases`,
//! through the whole path: plan, HIP, code object, device, comparison with a product in f64 or exact integers.

use std::{array, env};

use ferrowave::{
    embedded,
    gemm::{
        E8m0, Element, Gemm, Mxbf8, Mxfp4Pair, Mxfp6Quad, Mxfp8, Operands, Operation, Order, Plan,
        PlanError, Request, Target, choose,
    },
    hip::{Context, DEVICE_VARIABLE, Device, DeviceSelector},
    verify::{
        Inputs,
        cases::{self, Case},
        verify,
    },
};
use ferrowave_shared::{
    CATALOGUE, ElementType, ElementTypes, Kernel, SCALE_BLOCK,
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
            None => embedded::gpus()
                .into_iter()
                .map(DeviceSelector::Emulator)
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
                let block = i64::from(types.block());
                let k = k / block * block;
                for (order_a, order_b) in layouts.clone() {
                    // Types with blocks along k have one layout.
                    if block > 1 && (order_a, order_b) != (Order::RowMajor, Order::ColumnMajor) {
                        continue;
                    }
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

/// A scale that is NaN makes all elements of its block NaN, zeros too (OCP, *Microscaling Formats Specification*), wherever
/// the block is: in the main loop, or behind it. Scales behind the end of k are not read.
#[test]
fn a_nan_scale_makes_its_row_or_column_nan() {
    for bench in Bench::all() {
        let kernels = bench.kernels();
        for kernel in kernels.filter(|kernel| kernel.types.a.is_scaled()) {
            let [m, n] = [kernel.tile.m, kernel.tile.n].map(|extent| extent as i64 + 3);
            let k = 2 * kernel.tile.k as i64 + 32;
            let request = Request {
                types: kernel.types,
                ..Request::new(m, n, k)
            };
            let case = Case::plain(request, 1).fitted(kernel);
            let problem = case.request.check().unwrap();
            // A row of A with a block in the main loop, whose elements are 0, and a column of B with its last block. Its
            // first one follows the last of the column before, whose stage does not end with k.
            let (row, column, block) = (problem.m() - 2, 5, 1);
            let mut inputs = Inputs::random(&problem, 1).unwrap();
            for k in SCALE_BLOCK * block..SCALE_BLOCK * (block + 1) {
                let offset = problem.a().offset(0, row, k) as usize;
                inputs.a.set_bits(offset, 0);
            }
            let [of_a, of_b] = inputs.scales.as_mut().unwrap();
            let layout = problem.scales_a().unwrap();
            of_a.set_bits(layout.offset(0, row, block) as usize, 0xff);
            let layout = problem.scales_b().unwrap();
            for block in [0, layout.columns - 1] {
                of_b.set_bits(layout.offset(0, column, block) as usize, 0xff);
            }
            let loaded = case.load(&bench.gemm, kernel, &problem, &inputs);
            let computed = loaded.unwrap().run().unwrap();
            let verdict = verify(&problem, &inputs, &computed.output);
            assert!(verdict.passed(), "{}: {verdict:?}", kernel.symbol);
            for i in 0..problem.m() {
                for j in 0..problem.n() {
                    let offset = problem.c().offset(0, i, j) as usize;
                    let is_nan = computed.output.value(offset).is_nan();
                    let expected = i == row || j == column;
                    assert_eq!(is_nan, expected, "{} ({i}, {j})", kernel.symbol);
                }
            }
        }
    }
}

/// Rows whose distance in bytes needs more than 24 bits are loaded element by element, and have scales all the same.
#[test]
fn scales_are_those_of_rows_far_apart() {
    for bench in Bench::all() {
        for types in [
            ElementTypes::MXFP8,
            ElementTypes::MXBF8,
            ElementTypes::MXFP6,
            ElementTypes::MXBF6,
            ElementTypes::MXFP4,
        ] {
            let Some(kernel) = bench.kernels().find(|kernel| kernel.types == types) else {
                continue;
            };
            let request = Request {
                types,
                order_b: Order::ColumnMajor,
                lda: Some(1 << 25),
                ..Request::new(2, 3, 160)
            };
            bench.check(kernel, &Case::plain(request, 1));
        }
    }
}

/// Products by hand, with scales of 2, ½ and 2¹⁰. The row of A is 1 and 2 in turn, then 4; both columns of B are 3.
#[test]
fn scales_are_of_32_elements_along_k() {
    for bench in Bench::all() {
        for kernel in bench.kernels() {
            match kernel.types {
                ElementTypes::MXFP4 => {
                    let a: [_; 32] = array::from_fn(|byte| Mxfp4Pair([0x42, 0x66][byte / 16]));
                    product_by_hand(&bench, kernel, &a, &[Mxfp4Pair(0x55); 64]);
                }
                ElementTypes::MXBF8 => {
                    let a: [_; 64] =
                        array::from_fn(|i| Mxbf8(if i < 32 { [0x3c, 0x40][i % 2] } else { 0x44 }));
                    product_by_hand(&bench, kernel, &a, &[Mxbf8(0x42); 128]);
                }
                ElementTypes::MXFP6 | ElementTypes::MXBF6 => {
                    let [one, two, three, four] = match kernel.types {
                        ElementTypes::MXFP6 => [8, 16, 20, 24],
                        _ => [12, 16, 18, 20],
                    };
                    let quad = |codes: [u32; 4]| {
                        let bits = codes[0] | codes[1] << 6 | codes[2] << 12 | codes[3] << 18;
                        let [first, second, third, _] = bits.to_le_bytes();
                        Mxfp6Quad([first, second, third])
                    };
                    let a: [_; 16] =
                        array::from_fn(|i| quad([[one, two, one, two], [four; 4]][i / 8]));
                    product_by_hand(&bench, kernel, &a, &[quad([three; 4]); 32]);
                }
                _ => {}
            }
        }
    }
}

fn product_by_hand<T: Element>(bench: &Bench, kernel: &'static Kernel, a: &[T], b: &[T]) {
    let request = Request {
        types: kernel.types,
        order_b: Order::ColumnMajor,
        ..Request::new(1, 2, 64)
    };
    let problem = request.check().unwrap();
    let (a, b) = (
        bench.context.upload(a).unwrap(),
        bench.context.upload(b).unwrap(),
    );
    let scales_a = bench.context.upload(&[E8m0(128), E8m0(126)]).unwrap();
    let scales_b = [127, 127, 137, 127].map(E8m0);
    let scales_b = bench.context.upload(&scales_b).unwrap();
    let mut c = bench.context.allocate::<f32>(2).unwrap();
    let operands = Operands::new(&a, &b, &mut c).with_scales(&scales_a, &scales_b);
    bench.gemm.run_kernel(kernel, &problem, operands).unwrap();
    let (first, second) = (16.0 * 9.0 * 2.0, 32.0 * 12.0 / 2.0);
    let expected = [first + second, 1024.0 * first + second];
    assert_eq!(c.to_vec().unwrap(), expected, "{}", kernel.symbol);
}

#[test]
fn scales_that_do_not_fit_are_refused() {
    for bench in Bench::all() {
        let mut kernels = bench.kernels();
        let Some(kernel) = kernels.find(|kernel| kernel.types == ElementTypes::MXFP8) else {
            continue;
        };
        let request = Request {
            types: kernel.types,
            order_b: Order::ColumnMajor,
            ..Request::new(2, 3, 64)
        };
        let problem = request.check().unwrap();
        let upload = |codes: usize| bench.context.upload(&vec![E8m0(127); codes]).unwrap();
        let a = bench.context.upload(&[Mxfp8(0x38); 2 * 64]).unwrap();
        let b = bench.context.upload(&[Mxfp8(0x38); 3 * 64]).unwrap();
        let mut c = bench.context.allocate::<f32>(6).unwrap();
        let mut run = |scales: Option<[usize; 2]>| {
            let scales = scales.map(|scales| scales.map(upload));
            let mut operands = Operands::new(&a, &b, &mut c);
            if let Some([a, b]) = &scales {
                operands = operands.with_scales(a, b);
            }
            let ran = bench.gemm.run(&problem, operands);
            ran.map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(run(Some([4, 6])), Ok(()));
        assert_eq!(
            run(None).unwrap_err(),
            "elements of mxfp8 have scales, 4 for A and 6 for B, but none are given"
        );
        assert_eq!(
            run(Some([3, 6])).unwrap_err(),
            "the scale vector of A has 3 elements, but the problem needs 4"
        );
        assert_eq!(
            run(Some([4, 5])).unwrap_err(),
            "the scale vector of B has 5 elements, but the problem needs 6"
        );
        assert_eq!(c.to_vec().unwrap(), [64.0; 6]);
        // f32 has none.
        let ones = bench.context.upload(&[1.0_f32; 4]).unwrap();
        let scales = upload(4);
        let mut c = bench.context.allocate::<f32>(4).unwrap();
        let plain = Request::new(2, 2, 2).check().unwrap();
        let operands = Operands::new(&ones, &ones, &mut c).with_scales(&scales, &scales);
        assert_eq!(
            bench.gemm.run(&plain, operands).unwrap_err().to_string(),
            "scales are given, but elements of f32 have none; those of mxfp8, mxbf8, mxfp6, mxbf6 and mxfp4 have"
        );
    }
}

/// Results do not depend on the order in which waves take turns.
#[test]
fn schedules_do_not_matter() {
    use ferrowave_hip::DeviceConfig;
    for (gpu, code_object) in embedded::code_objects() {
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
                let buffers = inputs.upload(&context, 0).unwrap();
                let mut c = context.upload(inputs.c.bytes()).unwrap();
                let target = Target::of_bytes(&mut c, kernel.types.output);
                let operands = buffers.operands(kernel.types, target);
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
