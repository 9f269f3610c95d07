//! Products with a sparse A: that of a dense matrix that is pruned and packed, computed here from the dense one; and operands that
//! do not fit.

use ferrowave::{
    embedded,
    gemm::{Element, Fp8, Fp8Fnuz, Gemm, Operands, Order, Request, Source, Target, sparse},
    hip::{Context, Device, DeviceSelector},
};
use ferrowave_shared::{CATALOGUE, ElementType, ElementTypes, Kernel};
use half::{bf16, f16};

const M: usize = 70;
const N: usize = 45;
const BATCH: usize = 2;

/// The emulators of the built GPUs that have sparse kernels.
fn built() -> impl Iterator<Item = (Context, Gemm)> {
    let has_kernels = |gpu: &str| {
        let mut all = CATALOGUE.iter().filter(|kernel| kernel.types.is_sparse);
        all.any(|kernel| kernel.gpus.contains(gpu))
    };
    embedded::code_objects()
        .filter(move |(gpu, _)| has_kernels(gpu.name()))
        .map(|(gpu, code_object)| {
            let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
            let context = Context::new(&device).unwrap();
            let gemm = Gemm::new(&context, code_object).unwrap();
            (context, gemm)
        })
}

/// Small integers, which every type represents and whose sums are exact.
fn number(seed: usize) -> i32 {
    // From -7 to 7.
    let hash = (seed as u32).wrapping_mul(0x9e37_79b9) >> 7;
    (hash % 15) as i32 - 7
}

/// A kernel's batch of products, from a dense A of elements that `element` makes of integers. C is f32, or i32 for integers.
fn check<T: Element>(
    (context, gemm): &(Context, Gemm),
    kernel: &'static Kernel,
    k: usize,
    element: fn(i32) -> T,
    value: fn(T) -> i32,
) {
    let mut dense: Vec<_> = (0..BATCH * M * k).map(|at| element(number(at))).collect();
    sparse::prune(&mut dense, k as u32).unwrap();
    let b: Vec<_> = (0..BATCH * k * N)
        .map(|at| element(number(at + 99)))
        .collect();
    let packed = dense
        .chunks(M * k)
        .map(|a| sparse::pack(a, M as u32, k as u32).unwrap());
    let (elements, indices): (Vec<_>, Vec<_>) = packed.map(|a| (a.elements, a.indices)).unzip();
    let [a_device, b_device] = [elements.concat(), b.clone()].map(|e| context.upload(&e).unwrap());
    let indices = context.upload(&indices.concat()).unwrap();
    let is_integer = kernel.types.a == ElementType::I8;
    let output = if is_integer {
        ElementType::I32
    } else {
        ElementType::F32
    };
    let mut c = context.allocate::<u8>(BATCH * M * N * 4).unwrap();
    let request = Request {
        types: kernel.types.with_output(output),
        order_b: Order::ColumnMajor,
        batch: BATCH as i64,
        ..Request::new(M as i64, N as i64, k as i64)
    };
    let operands = Operands::new(&a_device, &b_device, Target::of_bytes(&mut c, output));
    let operands = operands.with_indices(&indices);
    gemm.run_kernel(kernel, &request.check().unwrap(), operands)
        .unwrap();
    let c = c.to_vec().unwrap();
    for (at, bytes) in c.as_chunks::<4>().0.iter().enumerate() {
        let (batch, row, column) = (at / (M * N), at / N % M, at % N);
        let row = &dense[(batch * M + row) * k..][..k];
        let column = &b[(batch * N + column) * k..][..k];
        let products = row.iter().zip(column).map(|(&a, &b)| value(a) * value(b));
        let expected: i32 = products.sum();
        let computed = match is_integer {
            true => i32::from_le_bytes(*bytes) as f32,
            false => f32::from_le_bytes(*bytes),
        };
        assert_eq!(
            computed, expected as f32,
            "{} at {at}, k = {k}",
            kernel.symbol
        );
    }
}

/// The code of an integer from -7 to 7 in an E4M3 with this bias.
fn e4m3(bias: i32, number: i32) -> u8 {
    let magnitude = number.unsigned_abs();
    if magnitude == 0 {
        return 0;
    }
    let exponent = magnitude.ilog2();
    let fraction = (magnitude << 3 >> exponent) & 7;
    let sign = if number < 0 { 0x80 } else { 0 };
    sign | ((exponent as i32 + bias) << 3) as u8 | fraction as u8
}

fn of_e4m3(bias: i32, code: u8) -> i32 {
    (-7..=7).find(|&number| e4m3(bias, number) == code).unwrap()
}

#[test]
fn a_pruned_and_packed_matrix_has_the_product_of_the_dense_one() {
    for on in built() {
        let gpu = on.1.machine().gpu.clone();
        let kernels = CATALOGUE
            .iter()
            .filter(|kernel| kernel.types.is_sparse && kernel.gpus.contains(&gpu));
        for kernel in kernels {
            // With and without a part of a stage, an odd and an even number of stages.
            for k in [32, 128, 160, 384, 416] {
                match kernel.types.a {
                    ElementType::I8 => check(&on, kernel, k, |n| n as i8, i32::from),
                    ElementType::F16 => {
                        check(
                            &on,
                            kernel,
                            k,
                            |n| f16::from_f32(n as f32),
                            |x| x.to_f32() as i32,
                        );
                    }
                    ElementType::Bf16 => {
                        check(
                            &on,
                            kernel,
                            k,
                            |n| bf16::from_f32(n as f32),
                            |x| x.to_f32() as i32,
                        );
                    }
                    ElementType::Fp8 => {
                        check(&on, kernel, k, |n| Fp8(e4m3(7, n)), |x| of_e4m3(7, x.0));
                    }
                    ElementType::Fp8Fnuz => {
                        check(&on, kernel, k, |n| Fp8Fnuz(e4m3(8, n)), |x| of_e4m3(8, x.0));
                    }
                    other => panic!("{other}"),
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (context, gemm) in built() {
        let types = ElementTypes::I8.sparse();
        let request = Request {
            types,
            order_b: Order::ColumnMajor,
            ..Request::new(3, 5, 64)
        };
        let refused = |request: Request| request.check().unwrap_err().to_string();
        assert_eq!(
            refused(Request { k: 48, ..request }),
            "k is 48, but must be a multiple of 32 for sparse_i8"
        );
        assert_eq!(
            refused(Request {
                order_b: Order::RowMajor,
                ..request
            }),
            "B is row-major, but must be column-major for sparse_i8: elements along k are stored in fours, and are contiguous"
        );
        assert_eq!(
            refused(Request {
                lda: Some(32),
                ..request
            }),
            "lda is 32, but a sparse A is stored without padding; 64 elements are stored of a row"
        );
        assert_eq!(
            refused(Request {
                types: ElementTypes::F32.sparse(),
                ..request
            }),
            "a sparse A cannot be f32; it can be f16, bf16, i8, fp8_fnuz, fp8"
        );
        let problem = request.check().unwrap();
        assert_eq!(problem.index_bytes(), Some(32 * 16));
        let bytes = |length: usize| context.upload(&vec![0_u8; length]).unwrap();
        let (a, b) = (bytes(4 * 64), bytes(5 * 64));
        let mut c = bytes(3 * 5 * 4);
        let mut run = |problem, indices: Option<usize>| {
            let indices = indices.map(bytes);
            let source = |buffer| Source::of_bytes(buffer, ElementType::I8);
            let c = Target::of_bytes(&mut c, ElementType::I32);
            let mut operands = Operands::new(source(&a), source(&b), c);
            if let Some(indices) = &indices {
                operands = operands.with_indices(indices);
            }
            gemm.run(problem, operands)
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        assert_eq!(run(&problem, Some(512)), Ok(()));
        assert_eq!(
            run(&problem, None).unwrap_err(),
            "A is sparse, with indices of 512 bytes, but none are given"
        );
        assert_eq!(
            run(&problem, Some(511)).unwrap_err(),
            "the index vector of A has 511 elements, but the problem needs 512"
        );
        let dense = Request {
            types: ElementTypes::I8,
            k: 32,
            ..request
        };
        assert_eq!(
            run(&dense.check().unwrap(), Some(512)).unwrap_err(),
            "indices are given, but A is not sparse"
        );
        let group = gemm.run_group(vec![(
            problem,
            Operands::new(
                Source::of_bytes(&a, ElementType::I8),
                Source::of_bytes(&b, ElementType::I8),
                Target::of_bytes(&mut bytes(60), ElementType::I32),
            ),
        )]);
        assert_eq!(
            group.unwrap_err().to_string(),
            "product 0 of the group: A is sparse, with indices of 512 bytes, but none are given"
        );
    }
}
