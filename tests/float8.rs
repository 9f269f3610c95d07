//! C in 8-bit floats, on every built GPU that has them: against a product in f64 with values that are decoded here, the largest
//! magnitude, and what is stored for numbers that are too large, infinities and NaN.

use ferrowave::{
    embedded,
    gemm::{
        Gemm, GemmError, InputBuffers, Machine, OperandError, Operands, Operation, Order, Problem,
        Request, Target,
    },
    hip::{Context, Device, DeviceBuffer, DeviceSelector},
    verify::{Elements, Inputs},
};
use ferrowave_shared::{Bias, CATALOGUE, ElementType, ElementTypes, Kernel, catalogue::Access};

/// The emulators that have kernels with a C in 8-bit floats.
fn built() -> impl Iterator<Item = Gemm> {
    let gpus = embedded::gpus().into_iter();
    gpus.filter(|gpu| kernels(gpu.name()).next().is_some())
        .map(|gpu| {
            let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
            let context = Context::new(&device).unwrap();
            Gemm::new(&context, embedded::code_object(gpu.name()).unwrap()).unwrap()
        })
}

fn kernels(gpu: &str) -> impl Iterator<Item = (&'static Kernel, ElementTypes)> {
    let of_gpu = CATALOGUE
        .iter()
        .filter(move |kernel| kernel.gpus.contains(gpu));
    of_gpu.filter_map(|kernel| {
        let output = kernel.outputs().iter().find(|output| output.is_float8())?;
        Some((kernel, kernel.types.with_output(*output)))
    })
}

/// The exponent's bias, the bits of the fraction, and the largest number of an encoding.
fn encoding(element: ElementType) -> (i32, u32, f64) {
    match element {
        ElementType::Fp8 | ElementType::Mxfp8 => (7, 3, 448.0),
        ElementType::Fp8Fnuz => (8, 3, 240.0),
        ElementType::Bf8 | ElementType::Mxbf8 => (15, 2, 57344.0),
        ElementType::Bf8Fnuz => (16, 2, 57344.0),
        _ => panic!("{element} is no 8-bit float"),
    }
}

/// The value of a code; NaN and infinities have that of a number here.
fn decoded(element: ElementType, code: u8) -> f64 {
    let (bias, bits, _) = encoding(element);
    let (exponent, fraction) = (
        i32::from(code & 0x7f) >> bits,
        f64::from(code & ((1 << bits) - 1)),
    );
    let unit = 2.0_f64.powi(-(bits as i32));
    let magnitude = match exponent {
        0 => fraction * unit * 2.0_f64.powi(1 - bias),
        _ => (1.0 + fraction * unit) * 2.0_f64.powi(exponent - bias),
    };
    if code & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// The matrices of a product on a device, without a bias, and with the largest magnitude.
struct Matrices {
    problem: Problem,
    inputs: Inputs,
    buffers: InputBuffers,
    c: DeviceBuffer<u8>,
    amax: DeviceBuffer<f32>,
}

impl Matrices {
    fn new(gemm: &Gemm, request: Request) -> Self {
        let problem = request.check().unwrap();
        let inputs = Inputs::random(&problem, 5).unwrap();
        Self {
            buffers: inputs.upload(gemm.context(), 0).unwrap(),
            c: gemm.context().upload(inputs.c.bytes()).unwrap(),
            // Overwritten.
            amax: gemm.context().upload(&[1e30]).unwrap(),
            problem,
            inputs,
        }
    }

    fn operands(&mut self) -> Operands<'_> {
        let types = self.problem.types();
        let c = Target::of_bytes(&mut self.c, types.output);
        self.buffers.operands(types, c).with_amax(&mut self.amax)
    }

    /// An element of the product, in f64.
    fn exact(&self, batch: u32, row: u32, column: u32) -> f64 {
        let (problem, inputs) = (&self.problem, &self.inputs);
        let code = |elements: &Elements, place| {
            decoded(elements.element(), elements.bits(place as usize) as u8)
        };
        let scale =
            |scales: usize, line, k| match (&inputs.scales, problem.scales_a(), problem.scales_b())
            {
                (Some(elements), Some(a), Some(b)) => {
                    let place = [a, b][scales].offset(batch, line, k / 32);
                    2.0_f64.powi(elements[scales].bits(place as usize) as i32 - 127)
                }
                _ => 1.0,
            };
        // Where an element of a sparse A is stored, if it is.
        let stored = |indices: &[u8], k: u32| {
            let (layout, elements) = (problem.indices()?, problem.sparse_a()?);
            let (byte, bit) = layout.place(row, k / 4);
            let byte = u64::from(batch) * layout.size_bytes() + byte;
            let pair = indices[byte as usize] >> bit;
            let mut places = [pair & 3, pair >> 2 & 3].into_iter();
            let number = places.position(|place| u32::from(place) == k % 4)?;
            let place = elements.place(row, k / 4 * 2 + number as u32);
            Some(problem.a().offset(batch, 0, 0) + place)
        };
        let products = (0..problem.k()).map(|k| {
            let place = match &inputs.indices {
                Some(indices) => match stored(indices, k) {
                    Some(place) => place,
                    None => return 0.0,
                },
                None => problem.a().offset(batch, row, k),
            };
            let a = code(&inputs.a, place) * scale(0, row, k);
            let b = code(&inputs.b, problem.b().offset(batch, k, column)) * scale(1, column, k);
            a * b
        });
        products.sum()
    }

    /// Compares C and the largest magnitude with the product.
    fn check(&self, what: &str) {
        let problem = &self.problem;
        let output = problem.types().output;
        let (_, bits, most) = encoding(output);
        let c = self.c.to_vec().unwrap();
        let mut largest = 0.0_f64;
        for batch in 0..problem.batch() {
            for row in 0..problem.m() {
                for column in 0..problem.n() {
                    let exact = problem.alpha() * self.exact(batch, row, column);
                    largest = largest.max(exact.abs());
                    let expected = (exact * problem.output_scale()).clamp(-most, most);
                    let code = c[problem.c().offset(batch, row, column) as usize];
                    let error = (decoded(output, code) - expected).abs();
                    // Half a unit in the last place, of sums that may be off by a little.
                    let bound = expected.abs() * (0.5 / f64::from(1 << bits) + 1e-3) + 1e-3;
                    assert!(
                        error <= bound,
                        "{what} ({batch}, {row}, {column}): {code:#x}, {expected}"
                    );
                }
            }
        }
        let amax = f64::from(self.amax.to_vec().unwrap()[0]);
        assert!(
            (amax - largest).abs() <= 1e-4 * largest,
            "{what}: {amax}, {largest}"
        );
    }
}

/// A product that the kernel can read: some read 16 bytes along k.
fn request(kernel: &Kernel, types: ElementTypes, m: i64, n: i64, k: i64) -> Request {
    let along_k = types.block() > 1 || kernel.access == Access::WideAlongK;
    Request {
        order_b: match along_k {
            true => Order::ColumnMajor,
            false => Order::RowMajor,
        },
        k: if along_k { (k + 31) / 32 * 32 } else { k },
        alpha: 0.5,
        output_scale: 1.0 / 16384.0,
        types,
        ..Request::new(m, n, k)
    }
}

#[test]
fn every_kernel_stores_8_bit_floats_and_their_largest_magnitude() {
    for gemm in built() {
        for (kernel, types) in kernels(&gemm.machine().gpu) {
            for (m, n, k, batch) in [
                (1, 1, 1, 1),
                (37, 53, 64, 3),
                (130, 70, 100, 1),
                (0, 5, 32, 1),
            ] {
                let request = Request {
                    batch,
                    ..request(kernel, types, m, n, k)
                };
                let mut matrices = Matrices::new(&gemm, request);
                let problem = matrices.problem;
                gemm.run_kernel(kernel, &problem, matrices.operands())
                    .unwrap();
                matrices.check(&format!(
                    "{} on {}, {m}x{n}x{k}",
                    kernel.symbol,
                    gemm.machine().gpu
                ));
            }
        }
    }
}

/// Each has its own largest magnitude, and one has none.
#[test]
fn the_products_of_a_group_have_their_own_largest_magnitudes() {
    for gemm in built() {
        let gpu = gemm.machine().gpu.clone();
        for (kernel, types) in kernels(&gpu).filter(|(kernel, _)| kernel.computes_groups()) {
            let mut members = [(3, 40, 16), (70, 33, 5), (0, 9, 7), (64, 64, 64)]
                .map(|(m, n, k)| Matrices::new(&gemm, request(kernel, types, m, n, k)));
            let mut plain = Matrices::new(&gemm, request(kernel, types, 20, 20, 20));
            let c = Target::of_bytes(&mut plain.c, types.output);
            let without = plain.buffers.operands(types, c);
            let mut products: Vec<_> = members
                .iter_mut()
                .map(|member| (member.problem, member.operands()))
                .collect();
            products.insert(1, (plain.problem, without));
            gemm.run_group_kernel(kernel, products).unwrap();
            for member in &members {
                member.check(kernel.symbol);
            }
            assert_eq!(plain.amax.to_vec().unwrap(), [1e30]);
        }
    }
}

/// An infinity, a number that is too large and NaN, in all places; the bias is in f32.
#[test]
fn what_is_too_large_saturates_and_infinities_and_nan_stay() {
    for gemm in built() {
        for (kernel, types) in kernels(&gemm.machine().gpu) {
            let request = Request {
                alpha: 0.0,
                beta: 0.0,
                bias: Bias::Column,
                output_scale: 2.0,
                ..request(kernel, types, 3, 5, 32)
            };
            let mut matrices = Matrices::new(&gemm, request);
            let bias = [1e9, -1e9, f32::INFINITY, f32::NEG_INFINITY, 0.25];
            let uploaded = gemm.context().upload(&bias).unwrap();
            let problem = matrices.problem;
            let operands = matrices.operands().with_bias(&uploaded);
            gemm.run_kernel(kernel, &problem, operands).unwrap();
            let what = format!("{} on {}", kernel.symbol, gemm.machine().gpu);
            assert_eq!(matrices.amax.to_vec().unwrap(), [f32::INFINITY], "{what}");
            // Largest, infinity or NaN, 0.5.
            let codes = match types.output {
                ElementType::Fp8 => [0x7e, 0xfe, 0x7f, 0xff, 0x30],
                ElementType::Fp8Fnuz => [0x7f, 0xff, 0x80, 0x80, 0x38],
                ElementType::Bf8Fnuz => [0x7f, 0xff, 0x80, 0x80, 0x3c],
                _ => [0x7b, 0xfb, 0x7c, 0xfc, 0x38],
            };
            assert_eq!(
                matrices.c.to_vec().unwrap()[..15],
                codes.repeat(3),
                "{what}"
            );

            let request = Request {
                alpha: f64::NAN,
                ..request
            };
            let mut matrices = Matrices::new(&gemm, request);
            let problem = request.check().unwrap();
            let operands = matrices.operands().with_bias(&uploaded);
            gemm.run_kernel(kernel, &problem, operands).unwrap();
            assert!(matrices.amax.to_vec().unwrap()[0].is_nan(), "{what}");
        }
    }
}

/// The largest magnitude is that of the results before the scale, and behind the epilogue.
#[test]
fn the_largest_magnitude_is_behind_the_epilogue() {
    for gemm in built() {
        let gpu = gemm.machine().gpu.clone();
        let (kernel, types) = kernels(&gpu).next().unwrap();
        let request = Request {
            epilogue: Operation::Set(-7.0),
            output_scale: 0.5,
            ..request(kernel, types, 40, 40, 64)
        };
        let mut matrices = Matrices::new(&gemm, request);
        let problem = matrices.problem;
        gemm.run_kernel(kernel, &problem, matrices.operands())
            .unwrap();
        assert_eq!(matrices.amax.to_vec().unwrap(), [7.0]);
        let c = matrices.c.to_vec().unwrap();
        assert_eq!(decoded(types.output, c[0]), -3.5);
    }
}

#[test]
fn what_has_no_scale_is_refused() {
    let scaled = Request {
        output_scale: 2.0,
        ..Request::new(4, 4, 4)
    };
    assert_eq!(
        scaled.check().unwrap_err().to_string(),
        "output_scale is 2, but must be 1 for a C of f32: only 8-bit floats are scaled"
    );
    for gemm in built() {
        let context = gemm.context();
        let buffer = || context.upload(&[0.0_f32; 16]).unwrap();
        let (a, b, mut c, mut amax) = (buffer(), buffer(), buffer(), buffer());
        let problem = Request::new(4, 4, 4).check().unwrap();
        let operands = Operands::new(&a, &b, &mut c).with_amax(&mut amax);
        let error = gemm.run(&problem, operands).unwrap_err();
        assert!(
            matches!(error, GemmError::Operand(OperandError::Amax { .. })),
            "{error}"
        );
        let gpu = Machine::of(context.device()).gpu;
        let (kernel, types) = kernels(&gpu).next().unwrap();
        let mut empty = context.upload::<f32>(&[]).unwrap();
        let mut matrices = Matrices::new(&gemm, request(kernel, types, 4, 4, 32));
        let problem = matrices.problem;
        let error = gemm
            .run(&problem, matrices.operands().with_amax(&mut empty))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the largest magnitude has 0 elements, but the problem needs 1"
        );
    }
}
