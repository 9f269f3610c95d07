//! The matrix for the epilogue's input, of every kernel on every built GPU, against a product in f64; and an activation's
//! backward pass.

use ferrowave::{
    embedded,
    gemm::{Gemm, InputBuffers, OperandError, Operands, Operation, Problem, Request, Target},
    hip::{Context, Device, DeviceBuffer, DeviceSelector},
    verify::{Elements, Inputs, cases, verify},
};
use ferrowave_shared::{Bias, CATALOGUE, ElementType, Kernel};

fn built() -> impl Iterator<Item = Gemm> {
    embedded::gpus().into_iter().map(|gpu| {
        let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
        let context = Context::new(&device).unwrap();
        Gemm::new(&context, embedded::code_object(gpu.name()).unwrap()).unwrap()
    })
}

/// The product whose result is the epilogue's input.
fn without_epilogue(request: Request) -> Request {
    Request {
        epilogue: Operation::None,
        beta: if request.gate { 0.0 } else { request.beta },
        gate: false,
        output_scale: 1.0,
        types: request.types.with_output(request.types.bias()),
        ..request
    }
}

/// A product and its matrices on a device.
struct Matrices {
    problem: Problem,
    inputs: Inputs,
    buffers: InputBuffers,
    c: DeviceBuffer<u8>,
    /// The product without an epilogue, and the matrices that it would have.
    before: (Problem, Inputs),
    input: DeviceBuffer<u8>,
}

impl Matrices {
    fn new(gemm: &Gemm, request: Request, seed: u64) -> Self {
        let problem = request.check().unwrap();
        let inputs = Inputs::random(&problem, seed).unwrap();
        let before = without_epilogue(request).check().unwrap();
        let before_inputs = Inputs::random(&before, seed).unwrap();
        let upload = |elements: &Elements| gemm.context().upload(elements.bytes()).unwrap();
        Self {
            buffers: inputs.upload(gemm.context(), 0).unwrap(),
            c: upload(&inputs.c),
            input: upload(&before_inputs.c),
            problem,
            inputs,
            before: (before, before_inputs),
        }
    }

    fn operands(&mut self) -> Operands<'_> {
        let types = self.problem.types();
        let c = Target::of_bytes(&mut self.c, types.output);
        let operands = self.buffers.operands(types, c);
        operands.with_epilogue_input(Target::of_bytes(&mut self.input, types.bias()))
    }

    fn check(&self, what: &str) {
        let types = self.problem.types();
        let of = |buffer: &DeviceBuffer<u8>, element| {
            Elements::from_bytes(element, buffer.to_vec().unwrap())
        };
        let verdict = verify(&self.problem, &self.inputs, &of(&self.c, types.output));
        assert!(verdict.passed(), "{what}, C: {verdict:?}");
        let (problem, inputs) = &self.before;
        let verdict = verify(problem, inputs, &of(&self.input, types.bias()));
        assert!(
            verdict.passed(),
            "{what}, the epilogue's input: {verdict:?}"
        );
    }
}

/// Cases of which the product without an epilogue reads the same old C, if it reads one.
fn requests(kernel: &Kernel) -> impl Iterator<Item = (Request, u64)> {
    let all = cases::standard(kernel).into_iter();
    all.map(|case| (case.request, case.seed))
        .filter(|(request, _)| {
            let before = without_epilogue(*request);
            before.beta == 0.0 || before.types == request.types
        })
        .step_by(7)
}

#[test]
fn every_kernel_keeps_the_input_of_its_epilogue() {
    for gemm in built() {
        let gpu = &gemm.machine().gpu;
        for kernel in CATALOGUE.iter().filter(|kernel| kernel.gpus.contains(gpu)) {
            for (request, seed) in requests(kernel) {
                let mut matrices = Matrices::new(&gemm, request, seed);
                let problem = matrices.problem;
                gemm.run_kernel(kernel, &problem, matrices.operands())
                    .unwrap();
                matrices.check(&format!("{} on {gpu}, {request:?}", kernel.symbol));
            }
        }
    }
}

#[test]
fn the_products_of_a_group_keep_their_inputs() {
    for gemm in built() {
        let gpu = &gemm.machine().gpu;
        let kernels = CATALOGUE.iter().filter(|kernel| kernel.gpus.contains(gpu));
        for kernel in kernels.filter(|kernel| kernel.computes_groups()) {
            for &output in kernel.outputs() {
                let of_type =
                    requests(kernel).filter(|(request, _)| request.types.output == output);
                let mut members: Vec<_> = of_type
                    .map(|(request, seed)| {
                        Matrices::new(
                            &gemm,
                            Request {
                                batch: 1,
                                ..request
                            },
                            seed,
                        )
                    })
                    .collect();
                let products: Vec<_> = members
                    .iter_mut()
                    .map(|member| (member.problem, member.operands()))
                    .collect();
                gemm.run_group_kernel(kernel, products).unwrap();
                for member in &members {
                    member.check(kernel.symbol);
                }
            }
        }
    }
}

/// y = GELU(x·W + b), and its gradient for x·W + b from that for y: the derivative, here by differences.
#[test]
fn an_activation_and_its_backward_pass() {
    for gemm in built() {
        let context = gemm.context();
        let [x, w, bias] = [
            vec![0.5_f32, -1.0],
            vec![1.0, 2.0, -3.0, 0.25],
            vec![0.125, -0.5],
        ];
        let uploaded = [&x, &w, &bias].map(|elements| context.upload(elements).unwrap());
        let (mut y, mut before) = (
            context.allocate::<f32>(2).unwrap(),
            context.allocate::<f32>(2).unwrap(),
        );
        let forward = Request {
            bias: Bias::Column,
            epilogue: Operation::Gelu,
            ..Request::new(1, 2, 2)
        };
        let operands = Operands::new(&uploaded[0], &uploaded[1], &mut y)
            .with_bias(&uploaded[2])
            .with_epilogue_input(&mut before);
        gemm.run(&forward.check().unwrap(), operands).unwrap();
        let z = [0.5 + 3.0 + 0.125, 1.0 - 0.25 - 0.5].map(|z: f32| z);
        assert_eq!(before.to_vec().unwrap(), z);

        // The gradient for y is (2, 3)·V, with V of 2 × 2.
        let (of_y, v) = (
            context.upload(&[2.0_f32, 3.0]).unwrap(),
            context.upload(&[1.0_f32, -1.0, 0.5, 2.0]).unwrap(),
        );
        let backward = Request {
            gate: true,
            beta: 1.0,
            prologue: Operation::GeluGradient,
            ..Request::new(1, 2, 2)
        };
        gemm.run(
            &backward.check().unwrap(),
            Operands::new(&of_y, &v, &mut before),
        )
        .unwrap();
        let gelu = |x: f64| {
            let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            0.5 * x * (1.0 + u.tanh())
        };
        let gradients = before.to_vec().unwrap();
        for (found, (z, of_y)) in gradients.iter().zip(z.iter().zip([3.5, 4.0])) {
            let z = f64::from(*z);
            let expected = of_y * (gelu(z + 1e-5) - gelu(z - 1e-5)) / 2e-5;
            assert!(
                (f64::from(*found) - expected).abs() < 1e-5,
                "{found}, {expected}"
            );
        }
    }
}

#[test]
fn a_matrix_for_the_input_that_does_not_fit_is_refused() {
    for gemm in built() {
        let context = gemm.context();
        let buffer = |length| context.upload(&vec![0.0_f32; length]).unwrap();
        let (a, b, mut c, mut short) = (buffer(16), buffer(16), buffer(16), buffer(15));
        let problem = Request::new(4, 4, 4).check().unwrap();
        let operands = Operands::new(&a, &b, &mut c).with_epilogue_input(&mut short);
        assert_eq!(
            gemm.run(&problem, operands).unwrap_err().to_string(),
            "the epilogue's input has 15 elements, but the problem needs 16"
        );
        let mut other = context.upload(&[0_i32; 16]).unwrap();
        let operands = Operands::new(&a, &b, &mut c).with_epilogue_input(&mut other);
        assert_eq!(
            operands.check(&problem, context.device()).unwrap_err(),
            OperandError::WrongType {
                matrix: "the epilogue's input",
                is: ElementType::I32,
                must: ElementType::F32,
            }
        );
    }
}

#[test]
fn derivatives_are_prologues_only() {
    let request = Request {
        epilogue: Operation::SiluGradient,
        ..Request::new(1, 1, 1)
    };
    assert_eq!(
        request.check().unwrap_err().to_string(),
        "the epilogue silu-gradient is not supported with sums in f32; expected one of none, set, scale, relu, gelu, silu"
    );
}
