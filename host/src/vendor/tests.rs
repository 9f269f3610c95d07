//! Tests of the calls, with a library that has the same interfaces and computes on the host (`tests/blas.c`).

use std::{path::Path, process::Command, sync::OnceLock};

use ferrowave_gpu::Gpu;
use ferrowave_shared::ElementTypes;
use tempfile::TempDir;

use super::*;
use crate::{
    gemm::{Order, Request, Source, Target},
    hip::{Device, DeviceSelector},
    verify::{Elements, Inputs, verify},
};

/// Compiles the library with a C compiler, which building Rust also needs.
fn compile(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let library = folder.join(name);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/vendor/tests/blas.c");
    let mut command = Command::new("cc");
    command.args([
        "-O1",
        "-Wall",
        "-Wno-unused-function",
        "-Werror",
        "-shared",
        "-fPIC",
    ]);
    command.args(options).arg(source).arg("-o").arg(&library);
    let status = command.status().expect("a C compiler, cc");
    assert!(status.success(), "{command:?}");
    library
}

fn library() -> &'static Path {
    static LIBRARY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, library) = LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let library = compile(folder.path(), "libblas.so", &[]);
        (folder, library)
    });
    library
}

fn context() -> Context {
    let device = Device::open(&DeviceSelector::Emulator(Gpu::Gfx942)).unwrap();
    Context::new(&device).unwrap()
}

fn open(vendor: Vendor, path: &Path) -> Result<VendorGemm, VendorError> {
    VendorGemm::open_file(vendor, path, &context())
}

/// Computes a request on random matrices and compares it with the reference.
fn check(gemm: &VendorGemm, request: &Request) {
    let problem = request.check().unwrap();
    let inputs = Inputs::random(&problem, 7).unwrap();
    let context = &gemm.context;
    let upload = |elements: &Elements| context.upload(elements.bytes()).unwrap();
    let (a, b) = (upload(&inputs.a), upload(&inputs.b));
    let mut c = upload(&inputs.c);
    let types = problem.types();
    let product = gemm.product(&problem).unwrap();
    // If the result does not depend on the old C, a second run must give the same result.
    for _ in 0..if problem.reads_c() { 1 } else { 2 } {
        let operands = Operands::new(
            Source::of_bytes(&a, types.a),
            Source::of_bytes(&b, types.b),
            Target::of_bytes(&mut c, types.output),
        );
        product.run(operands).unwrap();
    }
    let output = Elements::from_bytes(types.output, c.to_vec().unwrap());
    let verdict = verify(&problem, &inputs, &output);
    assert!(verdict.passed(), "{request:?}: {verdict:?}");
}

fn check_all(vendor: Vendor, all_types: &[ElementTypes]) {
    let gemm = open(vendor, library()).unwrap();
    assert_eq!(gemm.vendor(), vendor);
    for &types in all_types {
        for (order_a, order_b) in [
            (Order::RowMajor, Order::RowMajor),
            (Order::RowMajor, Order::ColumnMajor),
            (Order::ColumnMajor, Order::RowMajor),
            (Order::ColumnMajor, Order::ColumnMajor),
        ] {
            let plain = Request {
                order_a,
                order_b,
                types,
                ..Request::new(9, 14, 21)
            };
            check(&gemm, &plain);
            let padded = Request {
                lda: Some(23),
                ldb: Some(27),
                ldc: Some(16),
                alpha: -2.0,
                beta: 3.0,
                ..plain
            };
            check(&gemm, &padded);
            let batch = Request { batch: 3, ..padded };
            check(&gemm, &batch);
            // One A for all.
            let shared = Request {
                stride_a: Some(0),
                ..batch
            };
            check(&gemm, &shared);
        }
    }
}

#[test]
fn rocblas_computes_what_our_kernels_do() {
    let types = [
        ElementTypes::F32,
        ElementTypes::F64,
        ElementTypes::F16,
        ElementTypes::BF16,
        ElementTypes::I8,
    ];
    check_all(Vendor::RocBlas, &types);
    let gemm = open(Vendor::RocBlas, library()).unwrap();
    assert_eq!(gemm.version(), "4.2.1.test");
}

#[test]
fn hipblaslt_computes_what_our_kernels_do() {
    let types: Vec<_> = ElementTypes::ALL
        .iter()
        .copied()
        .filter(|types| types.block() == 1)
        .collect();
    check_all(Vendor::HipBlasLt, &types);
    let gemm = open(Vendor::HipBlasLt, library()).unwrap();
    assert_eq!(gemm.version(), "1.2.3");
}

fn complaint<T>(result: Result<T, VendorError>) -> String {
    match result {
        Ok(_) => panic!("it must fail"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_not_computed_is_said() {
    let gemm = open(Vendor::RocBlas, library()).unwrap();
    let product = |request: Request| complaint(gemm.product(&request.check().unwrap()));
    let request = Request::new(4, 4, 4);
    assert_eq!(
        product(Request {
            types: ElementTypes::FP8_FNUZ,
            ..request
        }),
        "rocBLAS does not compute fp8_fnuz"
    );
    assert_eq!(
        product(Request {
            epilogue: Operation::Relu,
            ..request
        }),
        "rocBLAS does not compute the operation `relu`"
    );
    assert_eq!(
        product(Request {
            bias: Bias::Row,
            ..request
        }),
        "rocBLAS does not compute a bias as problems define it"
    );
    let gemm = open(Vendor::HipBlasLt, library()).unwrap();
    // Their m is our n.
    let problem = Request::new(4, 17, 4).check().unwrap();
    assert_eq!(
        complaint(gemm.product(&problem)),
        "hipBLASLt has no kernel for the problem"
    );
}

#[test]
fn failures_name_the_function_and_the_status() {
    let expected = [
        "rocBLAS: rocblas_gemm_ex failed with rocblas_status_internal_error (6)",
        "hipBLASLt: hipblasLtMatmul failed with HIPBLAS_STATUS_EXECUTION_FAILED (5)",
    ];
    for (vendor, expected) in Vendor::ALL.into_iter().zip(expected) {
        let gemm = open(vendor, library()).unwrap();
        let problem = Request::new(4, 13, 4).check().unwrap();
        let buffer = || gemm.context.allocate::<f32>(64).unwrap();
        let (a, b, mut c) = (buffer(), buffer(), buffer());
        let product = gemm.product(&problem).unwrap();
        let result = product.run(Operands::new(&a, &b, &mut c));
        assert_eq!(complaint(result), expected);
    }
}

#[test]
fn a_library_that_is_another_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let lacking = compile(folder.path(), "lacking.so", &["-DWITHOUT_GEMM"]);
    for (vendor, function) in Vendor::ALL
        .into_iter()
        .zip(["rocblas_gemm_ex", "hipblasLtMatmul"])
    {
        let file = lacking.display();
        assert_eq!(
            complaint(open(vendor, &lacking)),
            format!("{vendor}: `{file}` lacks the function {function}")
        );
    }
    let old = compile(folder.path(), "old.so", &["-DVERSION=300"]);
    assert_eq!(
        complaint(open(Vendor::HipBlasLt, &old)),
        "hipBLASLt 0.3.0 is too old; 0.6.0 or later is needed"
    );
    let missing = folder.path().join("missing.so");
    let message = complaint(open(Vendor::RocBlas, &missing));
    assert!(
        message.starts_with("rocBLAS: `") && message.contains("missing.so` cannot be loaded: "),
        "{message}"
    );
}
