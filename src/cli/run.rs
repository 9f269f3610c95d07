//! `ferrowave run`

use std::process::ExitCode;

use clap::Args;
use ferrowave::{
    gemm::{Gemm, GridLimits, Plan, Request, kernel_named},
    hip::Context,
};
use ferrowave_shared::ElementTypes;
use serde::Serialize;

use super::{
    DeviceOption, Failure, code_object, print_json,
    product::{complaint, compute},
};

/// C ← α·A·B + β·C with row-major matrices.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    /// The kernel, as `ferrowave list` names it.
    #[arg(long)]
    kernel: String,
    /// Rows of A and C.
    #[arg(long)]
    m: i64,
    /// Columns of B and C.
    #[arg(long)]
    n: i64,
    /// Columns of A, rows of B.
    #[arg(long)]
    k: i64,
    /// Elements from one row of A to the next [default: k].
    #[arg(long)]
    lda: Option<i64>,
    /// Elements from one row of B to the next [default: n].
    #[arg(long)]
    ldb: Option<i64>,
    /// Elements from one row of C to the next [default: n].
    #[arg(long)]
    ldc: Option<i64>,
    /// Factor of the product.
    #[arg(long, default_value_t = 1.0)]
    alpha: f32,
    /// Factor of the old C; with 0, C is only written.
    #[arg(long, default_value_t = 0.0)]
    beta: f32,
    /// How many products.
    #[arg(long, default_value_t = 1)]
    batch: i64,
    /// Seed of the random matrices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    device: DeviceOption,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    kernel: &'static str,
    device: &'a str,
    emulated: bool,
    m: u32,
    n: u32,
    k: u32,
    batch: u32,
    alpha: f32,
    beta: f32,
    seed: u64,
    passed: bool,
    /// ‖out − ref‖ / ‖ref‖.
    relative_error: f64,
    /// The largest element error in units of its rounding bound.
    worst_error_in_bounds: Option<f64>,
    /// Between HIP events; only where a GPU ran.
    gpu_kernel_ns: Option<u128>,
    /// The emulator's wall clock; only where it ran.
    emulator_kernel_ns: Option<u128>,
    wall_ns: u128,
    complaint: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let request = Request {
        lda: options.lda,
        ldb: options.ldb,
        ldc: options.ldc,
        batch: options.batch,
        alpha: options.alpha,
        beta: options.beta,
        ..Request::new(options.m, options.n, options.k)
    };
    let problem = request.check().map_err(Failure::usage)?;
    let kernel = kernel_named(&options.kernel, ElementTypes::F32).map_err(Failure::usage)?;
    let device = options.device.open()?;
    // Before the code object is looked for: which GPUs a kernel exists for does not depend on this build.
    Plan::new(
        kernel,
        &problem,
        device.properties().gpu_name(),
        GridLimits::HIP,
    )
    .map_err(Failure::usage)?;
    let code_object = code_object(&device)?;
    let context = Context::new(&device).map_err(Failure::failed)?;
    let gemm = Gemm::new(&context, code_object).map_err(Failure::failed)?;
    let outcome = compute(&gemm, kernel, &problem, options.seed)?;
    let emulated = device.is_emulated();
    let kernel_ns = outcome.kernel_time.as_nanos();
    let report = Report {
        kernel: kernel.variant.name(),
        device: device.choice(),
        emulated,
        m: problem.m(),
        n: problem.n(),
        k: problem.k(),
        batch: problem.batch(),
        alpha: problem.alpha(),
        beta: problem.beta(),
        seed: options.seed,
        passed: outcome.verdict.passed(),
        relative_error: outcome.verdict.relative_error,
        worst_error_in_bounds: outcome
            .verdict
            .worst
            .as_ref()
            .map(|worst| worst.error_in_bounds),
        gpu_kernel_ns: (!emulated).then_some(kernel_ns),
        emulator_kernel_ns: emulated.then_some(kernel_ns),
        wall_ns: outcome.wall_time.as_nanos(),
        complaint: complaint(&outcome.verdict),
    };
    if options.json {
        print_json(&report)?;
    } else {
        print(&report);
    }
    Ok(if report.passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn print(report: &Report<'_>) {
    let milliseconds = |ns: u128| ns as f64 / 1e6;
    println!(
        "{} {}×{}×{}, batch {}, α {}, β {}, seed {}",
        report.kernel,
        report.m,
        report.n,
        report.k,
        report.batch,
        report.alpha,
        report.beta,
        report.seed
    );
    println!("relative error   {:.3e}", report.relative_error);
    if let Some(worst) = report.worst_error_in_bounds {
        println!("worst element    {worst:.4} of its rounding bound");
    }
    if let Some(ns) = report.gpu_kernel_ns {
        println!("kernel time      {:.3} ms on the GPU", milliseconds(ns));
    }
    if let Some(ns) = report.emulator_kernel_ns {
        println!(
            "emulation time   {:.3} ms, which says nothing of a GPU",
            milliseconds(ns)
        );
    }
    println!(
        "wall time        {:.3} ms with copies",
        milliseconds(report.wall_ns)
    );
    match &report.complaint {
        None => println!("correct"),
        Some(complaint) => println!("WRONG: {complaint}"),
    }
}
