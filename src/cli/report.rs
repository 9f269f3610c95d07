//! `ferrowave report`

use std::{process::ExitCode, time::Duration};

use clap::Args;
use ferrowave::{
    gemm::{Gemm, Machine, Plan, PlanError, Problem, choose, kernel_named},
    hip::Context,
};
use ferrowave_shared::{CATALOGUE, Kernel};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::{
    Columns, DeviceOption, Failure, code_object, print_json,
    product::{complaint, compute},
    request::{Preset, ProductOptions, Size},
};

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    /// Sizes, each one number or m×n×k with `x` between them.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "64,128,256,512,37x53x29,257x129x100",
        value_name = "SIZE"
    )]
    sizes: Vec<Size>,
    /// Sizes that published figures are for, instead of --sizes.
    #[arg(long, value_enum, conflicts_with = "sizes")]
    preset: Option<Preset>,
    /// Kernels, as `ferrowave list` names them [default: all that there are for the problem].
    #[arg(long, value_delimiter = ',', value_name = "KERNEL")]
    kernels: Vec<String>,
    #[command(flatten)]
    product: ProductOptions,
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
    input: &'static str,
    output: &'static str,
    seed: u64,
    rows: Vec<Row>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let device = options.device.open()?;
    let machine = Machine::of(&device);
    let preset = options.preset.map(|preset| vec![preset.size()]);
    let problems = preset
        .as_ref()
        .unwrap_or(&options.sizes)
        .iter()
        .map(|size| {
            options
                .product
                .request(&machine.gpu, size.m, size.n, size.k)
                .check()
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    let types = options.product.types(&machine.gpu);
    // All that was asked for must exist for the GPU and compute the problems; of all kernels, those that do.
    let mut pairs = Vec::new();
    if options.kernels.is_empty() {
        let kernels = CATALOGUE
            .iter()
            .filter(|kernel| kernel.types == types && kernel.gpus.contains(&machine.gpu));
        for (kernel, problem) in
            kernels.flat_map(|kernel| problems.iter().map(move |p| (kernel, p)))
        {
            match Plan::new(kernel, problem, &machine) {
                Ok(_) => pairs.push((kernel, *problem)),
                Err(PlanError::Misfit { misfit, .. }) => eprintln!(
                    "{} is left out for {}×{}×{}: {misfit}",
                    kernel.variant.name(),
                    problem.m(),
                    problem.n(),
                    problem.k()
                ),
                Err(error) => return Err(Failure::usage(error)),
            }
        }
    }
    for name in &options.kernels {
        let kernel = kernel_named(name, types).map_err(Failure::usage)?;
        for problem in &problems {
            Plan::new(kernel, problem, &machine).map_err(Failure::usage)?;
            pairs.push((kernel, *problem));
        }
    }
    if pairs.is_empty() && !problems.is_empty() {
        // Says which types there are kernels for.
        choose(&problems[0], &machine, None).map_err(Failure::usage)?;
    }
    let code_object = code_object(&device)?;
    let context = Context::new(&device).map_err(Failure::failed)?;
    let gemm = Gemm::new(&context, code_object).map_err(Failure::failed)?;
    let rows = measure(&gemm, &pairs, options.seed, device.is_emulated())?;
    let report = Report {
        device: device.choice().to_owned(),
        emulated: device.is_emulated(),
        version: env!("CARGO_PKG_VERSION"),
        input: types.input.name(),
        output: types.output.name(),
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
    pairs: &[(&'static Kernel, Problem)],
    seed: u64,
    emulated: bool,
) -> Result<Vec<Row>, Failure> {
    // Hidden by itself where standard error is no terminal.
    let bar = ProgressBar::new(pairs.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut rows = Vec::new();
    for &(kernel, ref problem) in pairs {
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
    println!("{} → {}", report.input, report.output);
    if report.emulated {
        println!("Emulation times are the emulator's wall clock; they say nothing of a GPU.");
    }
}
