//! Every kernel on every GPU that was built, over edges, layouts and factors, through the whole path: plan, HIP,
//! code object, emulator, verification against f64.

use ferrowave::{
    embedded,
    gemm::{Gemm, Request},
    hip::{Context, Device, DeviceSelector},
    verify::{Inputs, verify},
};
use ferrowave_shared::{CATALOGUE, Kernel};

/// Shapes around the corners: single rows and columns, nothing to sum, nothing to compute, primes.
const CORNERS: [(i64, i64, i64); 9] = [
    (1, 1, 1),
    (1, 70, 33),
    (70, 1, 33),
    (37, 53, 29),
    (5, 7, 0),
    (1, 1, 1000),
    (0, 4, 4),
    (4, 0, 4),
    (0, 0, 0),
];

/// α and β: ignored C, only C, all of both, and what IEEE makes of ∞.
const FACTORS: [(f32, f32); 5] = [
    (0.0, 0.0),
    (0.0, 1.0),
    (1.0, 1.0),
    (-2.5, 0.5),
    (f32::INFINITY, 0.0),
];

/// The tile itself and one less and more in each direction, for one tile and for several.
fn around_tiles(kernel: &Kernel) -> Vec<Request> {
    let tile = [kernel.tile.m, kernel.tile.n, kernel.tile.k.max(8)].map(|extent| extent as i64);
    let mut requests = Vec::new();
    for offsets in (0..27).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1]) {
        for tiles in [[1, 1, 1], [2, 2, 3]] {
            let [m, n, k] = std::array::from_fn(|i| tiles[i] * tile[i] + offsets[i]);
            requests.push(Request::new(m, n, k));
        }
    }
    requests
}

/// The same with padded rows, where canaries stand.
fn padded(request: &Request) -> Request {
    Request {
        lda: Some(request.k + 3),
        ldb: Some(request.n + 5),
        ldc: Some(request.n + 7),
        ..*request
    }
}

fn requests(kernel: &Kernel) -> Vec<Request> {
    let corners = CORNERS.map(|(m, n, k)| Request::new(m, n, k));
    let plain: Vec<_> = corners.into_iter().chain(around_tiles(kernel)).collect();
    let mut all = plain.clone();
    all.extend(plain.iter().map(padded));
    for (index, request) in plain.iter().enumerate().step_by(4) {
        let (alpha, beta) = FACTORS[index / 4 % FACTORS.len()];
        // One B for all products of the batch.
        all.push(Request {
            batch: 3,
            stride_b: Some(0),
            alpha,
            beta,
            ..padded(request)
        });
    }
    // Every pair of factors, on a shape with edges.
    all.extend(FACTORS.map(|(alpha, beta)| Request {
        alpha,
        beta,
        ..Request::new(37, 53, 29)
    }));
    all
}

#[test]
fn every_kernel_computes_every_shape() {
    check_all(requests);
}

/// Every shape of the other test with every layout, pair of factors and a batch.
#[test]
#[ignore = "takes long; `make test-all` runs it"]
fn every_kernel_computes_every_combination() {
    check_all(|kernel| {
        let corners = CORNERS.map(|(m, n, k)| Request::new(m, n, k));
        let plain: Vec<_> = corners.into_iter().chain(around_tiles(kernel)).collect();
        let shapes = plain.iter().flat_map(|request| [*request, padded(request)]);
        let products = shapes.flat_map(|request| [1, 3].map(|batch| Request { batch, ..request }));
        products
            .flat_map(|request| {
                FACTORS.map(|(alpha, beta)| Request {
                    alpha,
                    beta,
                    ..request
                })
            })
            .collect()
    });
}

fn check_all(requests: impl Fn(&Kernel) -> Vec<Request>) {
    assert!(!embedded::CODE_OBJECTS.is_empty());
    for &(gpu, code_object) in embedded::CODE_OBJECTS {
        let device = Device::open(&DeviceSelector::Emulator(gpu)).unwrap();
        let context = Context::new(&device).unwrap();
        let gemm = Gemm::new(&context, code_object).unwrap();
        for kernel in CATALOGUE
            .iter()
            .filter(|kernel| kernel.gpus.contains(gpu.name()))
        {
            for (seed, request) in requests(kernel).iter().enumerate() {
                let problem = request.check().unwrap();
                let inputs = Inputs::random(&problem, seed as u64).unwrap();
                let a = context.upload(&inputs.a).unwrap();
                let b = context.upload(&inputs.b).unwrap();
                let mut c = context.upload(&inputs.c).unwrap();
                let what = || format!("{} on {gpu}, {request:?}", kernel.symbol);
                gemm.run(kernel, &problem, &a, &b, &mut c)
                    .unwrap_or_else(|error| panic!("{}: {error}", what()));
                let verdict = verify(&problem, &inputs, &c.to_vec().unwrap());
                assert!(verdict.passed(), "{}: {verdict:?}", what());
            }
        }
        assert_eq!(context.take_drop_errors(), []);
    }
}

/// The order in which waves take turns does not show in the results.
#[test]
fn schedules_do_not_matter() {
    use ferrowave_emulator::hip::DeviceConfig;
    for &(gpu, code_object) in embedded::CODE_OBJECTS {
        for kernel in CATALOGUE
            .iter()
            .filter(|kernel| kernel.gpus.contains(gpu.name()))
        {
            let problem = Request::new(70, 70, 70).check().unwrap();
            let inputs = Inputs::random(&problem, 1).unwrap();
            let results = [0, 1, 2, 3].map(|seed| {
                let device = Device::emulator(DeviceConfig {
                    seed,
                    ..DeviceConfig::new(gpu)
                })
                .unwrap();
                let context = Context::new(&device).unwrap();
                let gemm = Gemm::new(&context, code_object).unwrap();
                let a = context.upload(&inputs.a).unwrap();
                let b = context.upload(&inputs.b).unwrap();
                let mut c = context.upload(&inputs.c).unwrap();
                gemm.run(kernel, &problem, &a, &b, &mut c).unwrap();
                c.to_vec()
                    .unwrap()
                    .iter()
                    .map(|x| x.to_bits())
                    .collect::<Vec<_>>()
            });
            assert!(
                results.iter().all(|result| *result == results[0]),
                "{} on {gpu}",
                kernel.symbol
            );
        }
    }
}
