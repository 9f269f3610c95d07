//! The library's API: typed buffers, the rule that picks a kernel, and refused requests.

use ferrowave::{
    embedded,
    gemm::{Gemm, GemmError, Machine, Operands, Operation, Plan, Request},
    hip::{Context, Device, DeviceSelector},
};
use ferrowave_gpu::Gpu;
use ferrowave_shared::{Bias, CATALOGUE, ElementTypes, catalogue::Reduction};

fn gemm() -> (Context, Gemm) {
    let (gpu, code_object) = embedded::code_objects().next().unwrap();
    let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
    let context = Context::new(&device).unwrap();
    let gemm = Gemm::new(&context, code_object).unwrap();
    (context, gemm)
}

/// [1 2 3; 4 5 6] · [1 0; 0 1; 1 1] = [4 5; 10 11].
const A: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const B: [f32; 6] = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];

#[test]
fn a_product_with_everything_is_what_the_formula_says() {
    let (context, gemm) = gemm();
    let problem = Request {
        alpha: 2.0,
        beta: -1.0,
        bias: Bias::Column,
        prologue: Operation::Relu,
        epilogue: Operation::Relu,
        ..Request::new(2, 2, 3)
    };
    let problem = problem.check().unwrap();
    let [a, b] = [A, B].map(|matrix| context.upload(&matrix).unwrap());
    let bias = context.upload(&[0.5_f32, -30.0]).unwrap();
    let mut c = context.upload(&[1.0_f32, -1.0, -9.0, 3.0]).unwrap();
    let operands = Operands::new(&a, &b, &mut c).with_bias(&bias);
    let computed = gemm.run(&problem, operands).unwrap();
    assert_eq!(computed.choice.kernel.types, ElementTypes::F32);
    // 8 − 1 + ½, 10 − 0 − 30, 20 − 0 + ½ and 22 − 3 − 30, with negative values set to 0.
    assert_eq!(c.to_vec().unwrap(), [7.5, 0.0, 20.5, 0.0]);
    let counters = gemm.counters().unwrap();
    let divides_k =
        computed.choice.kernel.reduction != Reduction::None && computed.choice.parts > 1;
    assert_eq!(counters.is_empty(), !divides_k);
    assert!(counters.iter().all(|&counter| counter == 0), "{counters:?}");
}

/// Only a division of k needs a workspace. It is kept until it is released, and then made again.
#[test]
fn a_released_workspace_is_made_again() {
    let (context, gemm) = gemm();
    let kernel = CATALOGUE
        .iter()
        .find(|kernel| {
            kernel.reduction == Reduction::SplitK
                && kernel.types == ElementTypes::F32
                && kernel.gpus.contains(&gemm.machine().gpu)
        })
        .unwrap();
    let k = 1024;
    let problem = Request::new(2, 2, k).check().unwrap();
    let a = context.upload(&vec![1.0_f32; 2 * k as usize]).unwrap();
    let b = context.upload(&vec![2.0_f32; 2 * k as usize]).unwrap();
    let counters_with = |parts| {
        let mut c = context.upload(&[0.0_f32; 4]).unwrap();
        let plan = Plan::with_parts(kernel, &problem, gemm.machine(), parts).unwrap();
        gemm.run_plan(&plan, Operands::new(&a, &b, &mut c)).unwrap();
        assert_eq!(c.to_vec().unwrap(), [2048.0; 4]);
        gemm.counters().unwrap()
    };
    assert!(counters_with(1).is_empty());
    for _ in 0..2 {
        assert_eq!(counters_with(3), [0]);
        gemm.release_workspace();
        assert!(gemm.counters().unwrap().is_empty());
    }
}

#[test]
fn operands_that_are_not_the_problem_s_are_named() {
    let (context, gemm) = gemm();
    let problem = Request::new(2, 2, 3).check().unwrap();
    let [a, b] = [A, B].map(|matrix| context.upload(&matrix).unwrap());
    let mut c = context.allocate::<f32>(4).unwrap();
    let refused = |result: Result<_, GemmError>| result.unwrap_err().to_string();

    let integers = context.upload(&[1_i8; 6]).unwrap();
    assert_eq!(
        refused(gemm.run(&problem, Operands::new(&integers, &b, &mut c))),
        "the elements of A are i8, but the problem has f32"
    );
    let short = context.upload(&B[..5]).unwrap();
    assert_eq!(
        refused(gemm.run(&problem, Operands::new(&a, &short, &mut c))),
        "B has 5 elements, but the problem needs 6"
    );
    let mut small = context.allocate::<f32>(3).unwrap();
    assert_eq!(
        refused(gemm.run(&problem, Operands::new(&a, &b, &mut small))),
        "C has 3 elements, but the problem needs 4"
    );
    let biased = Request {
        bias: Bias::Row,
        ..Request::new(2, 2, 3)
    };
    let biased = biased.check().unwrap();
    assert_eq!(
        refused(gemm.run(&biased, Operands::new(&a, &b, &mut c))),
        "the problem adds a bias of 2 elements, but none is given"
    );
    let bias = context.upload(&[1.0_f32]).unwrap();
    assert_eq!(
        refused(gemm.run(&biased, Operands::new(&a, &b, &mut c).with_bias(&bias))),
        "the bias has 1 elements, but the problem needs 2"
    );
    let device = Device::open(&DeviceSelector::Emulator(Gpu::Gfx908)).unwrap();
    let elsewhere = Context::new(&device).unwrap().upload(&A).unwrap();
    let error = refused(gemm.run(&problem, Operands::new(&elsewhere, &b, &mut c)));
    assert!(
        error.starts_with("A is in the memory of emulator:gfx908"),
        "{error}"
    );
    assert_eq!(context.take_drop_errors(), []);
}

#[test]
fn types_without_a_kernel_are_refused_with_those_that_have_one() {
    let (context, gemm) = gemm();
    // gfx942 has FNUZ, gfx950 and RDNA 4 have OCP, the others have neither.
    let missing = match embedded::gpus()[0] {
        Gpu::Gfx942 => ElementTypes::FP8,
        _ => ElementTypes::FP8_FNUZ,
    };
    let request = Request {
        types: missing,
        ..Request::new(2, 2, 3)
    };
    let [a, b] = [A, B].map(|matrix| context.upload(&matrix).unwrap());
    let mut c = context.allocate::<f32>(4).unwrap();
    let error = gemm
        .run(&request.check().unwrap(), Operands::new(&a, &b, &mut c))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("no kernel computes f32 from fp8") && error.contains("kernels for f32"),
        "{error}"
    );
}

/// An emulated device has the number of compute units of its product.
#[test]
fn a_machine_is_what_its_device_says() {
    for (gpu, compute_units, xcds) in [
        (Gpu::Gfx908, 120, 1),
        (Gpu::Gfx90a, 104, 1),
        (Gpu::Gfx942, 304, 8),
        (Gpu::Gfx950, 256, 8),
        // HIP counts 48 and 32 workgroup processors.
        (Gpu::Gfx1100, 96, 1),
        (Gpu::Gfx1201, 64, 1),
    ] {
        let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
        let machine = Machine::of(&device);
        assert_eq!(machine.gpu, gpu.name());
        assert_eq!(
            (machine.compute_units, machine.xcds),
            (compute_units, xcds),
            "{gpu}"
        );
    }
}
