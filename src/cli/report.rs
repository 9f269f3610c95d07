//! `ferrowave report`

use std::{process::ExitCode, str::FromStr, time::Duration};

use clap::Args;
use ferrowave::{
    gemm::{Gemm, GridLimits, Plan, Problem, Request, kernel_named},
    hip::Context,
};
use ferrowave_shared::{CATALOGUE, ElementTypes, Kernel};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::{
    DeviceOption, Failure, code_object, print_json,
    product::{complaint, compute},
    table::Columns,
};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Sizes, each one number or m×n×k with `x` between them.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "64,128,256,512,37x53x29,257x129x100",
        value_name = "SIZE"
    )]
    sizes: Vec<Size>,
    /// Kernels, as `ferrowave list` names them [default: all].
    #[arg(long, value_delimiter = ',', value_name = "KERNEL")]
    kernels: Vec<String>,
    /// Seed of the random matrices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    device: DeviceOption,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The extents of a problem.
#[derive(Clone, Copy, Debug)]
struct Size {
    m: i64,
    n: i64,
    k: i64,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("`{text}` is not a size; write one number, or m×n×k like 37x53x29");
        let numbers = text
            .split('x')
            .map(|number| number.trim().parse().map_err(|_| error()))
            .collect::<Result<Vec<i64>, _>>()?;
        match numbers[..] {
            [n] => Ok(Size { m: n, n, k: n }),
            [m, n, k] => Ok(Size { m, n, k }),
            _ => Err(error()),
        }
    }
}

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    m: u32,
    n: u32,
    k: u32,
    passed: bool,
    relative_error: f64,
    worst_error_in_bounds: Option<f64>,
    gpu_kernel_ns: Option<u128>,
    emulator_kernel_ns: Option<u128>,
    complaint: Option<String>,
}

#[derive(Serialize)]
struct Report {
    device: String,
    emulated: bool,
    version: &'static str,
    seed: u64,
    rows: Vec<Row>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let problems = options
        .sizes
        .iter()
        .map(|size| Request::new(size.m, size.n, size.k).check())
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    let mut kernels = options
        .kernels
        .iter()
        .map(|name| kernel_named(name, ElementTypes::F32))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    if kernels.is_empty() {
        kernels.extend(CATALOGUE);
    }
    let device = options.device.open()?;
    let gpu = device.properties().gpu_name();
    // All that was asked for must exist for the GPU; of all kernels, those that do.
    if options.kernels.is_empty() {
        kernels.retain(|kernel| kernel.gpus.contains(gpu));
    }
    for problem in &problems {
        for kernel in &kernels {
            Plan::new(kernel, problem, gpu, GridLimits::HIP).map_err(Failure::usage)?;
        }
    }
    let code_object = code_object(&device)?;
    let context = Context::new(&device).map_err(Failure::failed)?;
    let gemm = Gemm::new(&context, code_object).map_err(Failure::failed)?;
    let rows = measure(
        &gemm,
        &kernels,
        &problems,
        options.seed,
        device.is_emulated(),
    )?;
    let report = Report {
        device: device.choice().to_owned(),
        emulated: device.is_emulated(),
        version: env!("CARGO_PKG_VERSION"),
        seed: options.seed,
        rows,
    };
    if options.json {
        print_json(&report)?;
    } else {
        print(&report);
    }
    let passed = report.rows.iter().all(|row| row.passed);
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn measure(
    gemm: &Gemm,
    kernels: &[&'static Kernel],
    problems: &[Problem],
    seed: u64,
    emulated: bool,
) -> Result<Vec<Row>, Failure> {
    // Hidden by itself where standard error is no terminal.
    let bar = ProgressBar::new((kernels.len() * problems.len()) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut rows = Vec::new();
    for kernel in kernels {
        for problem in problems {
            let (m, n, k) = (problem.m(), problem.n(), problem.k());
            bar.set_message(format!("{} {m}×{n}×{k}", kernel.variant.name()));
            let outcome = compute(gemm, kernel, problem, seed)?;
            let kernel_ns = outcome.kernel_time.as_nanos();
            rows.push(Row {
                kernel: kernel.variant.name(),
                m,
                n,
                k,
                passed: outcome.verdict.passed(),
                relative_error: outcome.verdict.relative_error,
                worst_error_in_bounds: outcome.verdict.worst.as_ref().map(|w| w.error_in_bounds),
                gpu_kernel_ns: (!emulated).then_some(kernel_ns),
                emulator_kernel_ns: emulated.then_some(kernel_ns),
                complaint: complaint(&outcome.verdict),
            });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(rows)
}

fn print(report: &Report) {
    let time = if report.emulated {
        "emulation [ms]:"
    } else {
        "kernel on GPU [ms]:"
    };
    let mut table = Columns::new(&[
        "kernel",
        "m×n×k:",
        "relative error:",
        "worst/bound:",
        time,
        "result",
    ]);
    for row in &report.rows {
        let ns = row.gpu_kernel_ns.or(row.emulator_kernel_ns).unwrap_or(0);
        table.row([
            row.kernel.to_owned(),
            format!("{}×{}×{}", row.m, row.n, row.k),
            format!("{:.2e}", row.relative_error),
            row.worst_error_in_bounds
                .map_or_else(String::new, |worst| format!("{worst:.4}")),
            format!("{:.3}", ns as f64 / 1e6),
            if row.passed { "correct" } else { "WRONG" }.to_owned(),
        ]);
    }
    print!("{table}");
    for row in &report.rows {
        if let Some(complaint) = &row.complaint {
            println!("{} {}×{}×{}: {complaint}", row.kernel, row.m, row.n, row.k);
        }
    }
    if report.emulated {
        println!("Emulation times are the emulator's wall clock; they say nothing of a GPU.");
    }
}
