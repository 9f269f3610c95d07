//! Groups of products on every built GPU: one launch computes what a launch for each would.

use ferrowave::{
    embedded,
    gemm::{
        Gemm, GemmError, GroupError, InputBuffers, Machine, Operands, Operation, Order, Problem,
        Request, Source, Target, choose_for_group,
    },
    hip::{Context, Device, DeviceBuffer, DeviceSelector},
    verify::{Inputs, cases, verify},
};
use ferrowave_gpu::Gpu;
use ferrowave_shared::{Bias, CATALOGUE, ElementType, ElementTypes, Kernel};

/// The emulator of a GPU, with the kernels.
fn gemm(gpu: Gpu) -> Gemm {
    let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
    let context = Context::new(&device).unwrap();
    Gemm::new(&context, embedded::code_object(gpu.name()).unwrap()).unwrap()
}

fn built() -> impl Iterator<Item = Gemm> {
    embedded::gpus().into_iter().map(gemm)
}

/// A product and its matrices, each `lead` elements behind the beginning of its buffer.
struct Member {
    problem: Problem,
    inputs: Inputs,
    lead: usize,
    buffers: InputBuffers,
    c: DeviceBuffer<u8>,
}

impl Member {
    fn new(gemm: &Gemm, request: Request, lead: usize, seed: u64) -> Self {
        let problem = request.check().unwrap();
        let inputs = Inputs::random(&problem, seed).unwrap();
        let c = [
            &vec![0; lead * problem.types().output.size_bytes()],
            inputs.c.bytes(),
        ]
        .concat();
        Self {
            buffers: inputs.upload(gemm.context(), lead).unwrap(),
            c: gemm.context().upload(&c).unwrap(),
            problem,
            inputs,
            lead,
        }
    }

    fn product(&mut self) -> (Problem, Operands<'_>) {
        let types = self.problem.types();
        let c = Target::of_bytes(&mut self.c, types.output).skip(self.lead);
        (self.problem, self.buffers.operands(types, c))
    }

    fn check(&self, what: &str) {
        let output = self.problem.types().output;
        let bytes = self.c.to_vec().unwrap();
        let bytes = bytes[self.lead * output.size_bytes()..].to_vec();
        let output = ferrowave::verify::Elements::from_bytes(output, bytes);
        let verdict = verify(&self.problem, &self.inputs, &output);
        assert!(verdict.passed(), "{what}, {:?}: {verdict:?}", self.problem);
    }
}

fn of_gpu(machine: &Machine) -> impl Iterator<Item = &'static Kernel> {
    CATALOGUE
        .iter()
        .filter(|kernel| kernel.computes_groups() && kernel.gpus.contains(&machine.gpu))
}

/// One launch with products of all shapes, layouts, factors, biases and operations, empty ones among them.
#[test]
fn every_kernel_computes_groups_of_all_products() {
    for gemm in built() {
        for kernel in of_gpu(gemm.machine()) {
            for &output in kernel.outputs() {
                let some = cases::standard(kernel).into_iter().step_by(4);
                let all = cases::quick(kernel).into_iter().chain(some);
                let mut members: Vec<_> = all
                    .map(|case| {
                        let request = Request {
                            batch: 1,
                            types: case.request.types.with_output(output),
                            output_scale: match output.is_float8() {
                                true => 1.0 / 65536.0,
                                false => 1.0,
                            },
                            ..case.request
                        };
                        Member::new(&gemm, request, case.lead, case.seed)
                    })
                    .collect();
                let products = members.iter_mut().map(Member::product);
                let computed = gemm.run_group_kernel(kernel, products).unwrap();
                assert_eq!(computed.kernel, Some(kernel));
                for member in &members {
                    member.check(kernel.symbol);
                }
            }
        }
    }
}

/// Experts of a mixture: the same weights' shape, different numbers of rows, two of them without any.
#[test]
fn the_chosen_kernel_computes_a_group() {
    for gemm in built() {
        for &types in ElementTypes::ALL {
            let request = |m| Request {
                types,
                order_b: Order::ColumnMajor,
                bias: Bias::Column,
                ..Request::new(m, 96, 160)
            };
            let rows = [3, 0, 130, 1, 64, 0, 17];
            let mut members: Vec<_> = (0..)
                .zip(rows)
                .map(|(seed, m)| Member::new(&gemm, request(m), 0, seed))
                .collect();
            let products = members.iter_mut().map(Member::product);
            match gemm.run_group(products) {
                Ok(computed) => {
                    let kernel = computed.kernel.unwrap();
                    assert_eq!(kernel.types, types);
                    for member in &members {
                        member.check(kernel.symbol);
                    }
                }
                Err(error) => {
                    let mut kernels = of_gpu(gemm.machine());
                    assert!(kernels.all(|kernel| kernel.types != types), "{error}");
                    let text = error.to_string();
                    let gpu = &gemm.machine().gpu;
                    let expected =
                        format!("no kernel computes groups of {} on {gpu}", types.name());
                    assert!(
                        text.starts_with(&expected) && text.contains("f16"),
                        "{text}"
                    );
                }
            }
        }
    }
}

/// More products than a launch has workgroups along z.
#[test]
fn large_groups_take_several_launches() {
    let gpu = embedded::gpus()[0];
    let gemm = gemm(gpu);
    let mut machine = gemm.machine().clone();
    machine.limits.z = 2;
    let gemm = gemm.planned_for(machine);
    let request = Request {
        types: ElementTypes::F16,
        ..Request::new(40, 70, 33)
    };
    let mut members: Vec<_> = (0..5)
        .map(|seed| Member::new(&gemm, request, 0, seed))
        .collect();
    gemm.run_group(members.iter_mut().map(Member::product))
        .unwrap();
    for member in &members {
        member.check("in several launches");
    }
}

#[test]
fn what_is_no_group_is_refused() {
    let gpu = embedded::gpus()[0];
    let gemm = gemm(gpu);
    let base = Request {
        types: ElementTypes::F16,
        ..Request::new(4, 5, 6)
    };
    let refused = |second: Request| {
        let mut members = [base, second].map(|request| Member::new(&gemm, request, 0, 1));
        let before: Vec<_> = members
            .iter()
            .map(|member| member.c.to_vec().unwrap())
            .collect();
        let error = gemm
            .run_group(members.iter_mut().map(Member::product))
            .unwrap_err();
        let after: Vec<_> = members
            .iter()
            .map(|member| member.c.to_vec().unwrap())
            .collect();
        assert_eq!(before, after);
        error.to_string()
    };
    let types = base.types.with_output(ElementType::F32);
    assert_eq!(
        refused(Request { types, ..base }),
        "product 1 of the group computes f32 from f16, but product 0 computes f16 from f16; a group has one type"
    );
    assert_eq!(
        refused(Request { batch: 3, ..base }),
        "product 1 of the group is a batch of 3; a group has single products"
    );
    // A bias that is missing.
    let problem = Request {
        bias: Bias::Row,
        epilogue: Operation::Silu,
        ..base
    };
    let mut member = Member::new(&gemm, problem, 0, 1);
    let InputBuffers { a, b, .. } = &member.buffers;
    let f16 = ElementType::F16;
    let operands = Operands::new(
        Source::of_bytes(a, f16),
        Source::of_bytes(b, f16),
        Target::of_bytes(&mut member.c, f16),
    );
    let error = gemm.run_group([(member.problem, operands)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "product 0 of the group: the problem adds a bias of 4 elements, but none is given"
    );
    let naive = Kernel::by_variant("naive", ElementTypes::F32).unwrap();
    let error = gemm.run_group_kernel(naive, []).unwrap_err();
    assert!(matches!(error, GemmError::Group(GroupError::Kernel(_))));
    assert_eq!(error.to_string(), "gemm_naive_f32 computes no groups");
}

#[test]
fn nothing_is_a_group_of_nothing() {
    let gpu = embedded::gpus()[0];
    let gemm = gemm(gpu);
    assert_eq!(gemm.run_group([]).unwrap().kernel, None);
    assert_eq!(choose_for_group(&[], gemm.machine()), Ok(None));
    let request = Request {
        types: ElementTypes::F16,
        ..Request::new(0, 5, 6)
    };
    let mut empty = Member::new(&gemm, request, 0, 1);
    assert_eq!(gemm.run_group([empty.product()]).unwrap().kernel, None);
}
