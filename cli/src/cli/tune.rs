//! `ferrowave tune`

use std::{path::PathBuf, process::ExitCode, time::Instant};

use clap::Args;
use ferrowave::{
    embedded,
    gemm::{
        Gemm, Order,
        choose::ranked,
        tuned::{Cost, Row},
    },
    hip::Context,
};
use ferrowave_gpu::Product;
use ferrowave_shared::{CATALOGUE, Kernel, catalogue::Access};
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    Columns, DeviceOption, Failure, code_object, memory, print,
    request::{ElementName, ProductOptions, Size, TypeOption},
    say,
};
use crate::tune::{bench::Bench, costs::costs, table_file::TableFile};

/// Write the table of costs by which kernels are chosen, or measure the best few kernels on a device.
///
/// With --gpu, launches of every kernel are modelled on that machine, and the table of their costs is written. The table
/// that the library is built with is host/src/gemm/tuned/MACHINE.csv. It is written after each row; the same command
/// continues where it was interrupted, and models only rows that are missing or whose kernel's code has changed since.
///
/// With --sizes, the best few kernels by the table are measured on the device, and the fastest is kept in the user's cache
/// directory, for this device, driver and these kernels. FERROWAVE_TUNING says whether it is used.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Model this machine: MI100, MI210, MI250X, MI300X, MI355X, RX 7900 XTX, Radeon 8060S or RX 9070 XT, or its GPU's name.
    #[arg(
        long,
        value_name = "GPU",
        conflicts_with = "device",
        required_unless_present = "sizes"
    )]
    gpu: Option<Product>,
    /// The types of the elements of A and B in the table [default: all that there are kernels for].
    #[arg(long, value_delimiter = ',', value_name = "TYPE", requires = "gpu")]
    types: Vec<ElementName>,
    /// Kernels in the table, as `ferrowave list` names them [default: all from step 11 on, and double_buffered_16x8].
    #[arg(long, value_delimiter = ',', value_name = "KERNEL", requires = "gpu")]
    kernels: Vec<String>,
    /// The table's file [default: MACHINE.csv].
    #[arg(long, value_name = "FILE", requires = "gpu")]
    out: Option<PathBuf>,
    /// Instead of writing a table, compare the costs by the library's table with estimates of all kernels, for products of
    /// these sizes.
    #[arg(long, value_delimiter = ',', value_name = "SIZE", requires = "gpu", conflicts_with_all = ["types", "kernels", "out"])]
    check: Vec<Size>,
    /// How many kernels --check estimates for each size, the best by the table [default: all].
    #[arg(long, value_name = "COUNT", requires = "check")]
    best: Option<usize>,
    /// Sizes to measure on the device: one number, or m×n×k written with `x`.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SIZE",
        conflicts_with = "gpu"
    )]
    sizes: Vec<Size>,
    #[command(flatten)]
    element: TypeOption,
    #[command(flatten)]
    product: ProductOptions,
    #[command(flatten)]
    device: DeviceOption,
}

/// The layouts of A and B.
const ORDERS: [(Order, Order); 4] = [
    (Order::RowMajor, Order::RowMajor),
    (Order::RowMajor, Order::ColumnMajor),
    (Order::ColumnMajor, Order::RowMajor),
    (Order::ColumnMajor, Order::ColumnMajor),
];

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    match options.gpu {
        None => measure(options)?,
        Some(machine) => {
            let bench = Bench::new(machine, &options.device)?;
            match options.check.is_empty() {
                true => write(options, machine, &bench)?,
                false => check(options, machine, &bench)?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures the best few kernels on the device.
fn measure(options: &Options) -> Result<(), Failure> {
    let device = options.device.open(&embedded::gpus())?;
    let context = Context::new(&device).map_err(Failure::failed)?;
    let gemm = Gemm::new(&context, code_object(&device)?).map_err(Failure::failed)?;
    if let Some(note) = gemm.tuning_note() {
        say(format_args!("{note}\n"));
    }
    for size in &options.sizes {
        let (m, n, k) = (size.m, size.n, size.k);
        let request = options
            .product
            .request(options.element.of(&gemm.machine().gpu), m, n, k);
        let problem = request.check().map_err(Failure::usage)?;
        memory::check(&problem, &device)?;
        let tuned = gemm.tune(&problem).map_err(Failure::failed)?;
        for measured in &tuned.measured {
            if let Err(error) = &measured.time {
                say(format_args!(
                    "{} is left out: {error}\n",
                    measured.kernel.variant.name()
                ));
            }
        }
        print(&format_args!("{m}×{n}×{k}: {}\n", tuned.choice))?;
        match tuned.kept {
            Ok(Some(path)) => say(format_args!("kept in {}\n", path.display())),
            Ok(None) => {
                say(format_args!(
                    "not kept: there is no cache directory, or FERROWAVE_TUNING is off\n"
                ));
            }
            Err(error) => say(format_args!("{error}\n")),
        }
    }
    if device.is_emulated() {
        print(&"These are times of the emulation on this computer, not a GPU's.\n")?;
    }
    Ok(())
}

/// The rows that a table has, without costs.
fn wanted(options: &Options, machine: Product, bench: &Bench) -> Result<Vec<Row>, Failure> {
    let gpu = machine.gpu().name();
    let types: Vec<_> = options.types.iter().map(|name| name.types(gpu)).collect();
    let mut rows = Vec::new();
    for kernel in CATALOGUE {
        if !kernel.gpus.contains(gpu)
            || !kernel.has_costs()
            || !(types.is_empty() || types.contains(&kernel.types))
            || !(options.kernels.is_empty()
                || options
                    .kernels
                    .iter()
                    .any(|name| name == kernel.variant.name()))
        {
            continue;
        }
        let code = bench.code(kernel)?;
        for orders in ORDERS {
            let is_along_k = kernel.access == Access::WideAlongK || kernel.types.block() > 1;
            if !is_along_k || orders == ORDERS[1] {
                rows.push(Row {
                    kernel,
                    orders,
                    code,
                    cost: Cost::default(),
                });
            }
        }
    }
    Ok(rows)
}

fn write(options: &Options, machine: Product, bench: &Bench) -> Result<(), Failure> {
    let path = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{machine}.csv")));
    let mut file = TableFile::open(&path, machine)?;
    let mut rows = wanted(options, machine, bench)?;
    if rows.is_empty() {
        return Err(Failure::usage(format!(
            "{machine} has none of these kernels for these types, of those that can be in a table"
        )));
    }
    let all = rows.len();
    rows.retain(|row| !file.has(row));
    // The bar hides itself if standard error is no terminal.
    let bar = ProgressBar::new(rows.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let started = Instant::now();
    for row in &rows {
        bar.set_message(row.kernel.symbol);
        file.keep(Row {
            cost: costs(bench, row.kernel, row.orders)?,
            ..*row
        })?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    print(&format_args!(
        "{} rows modelled in {:.0} s, {} kept: {}\n",
        rows.len(),
        started.elapsed().as_secs_f64(),
        all - rows.len(),
        path.display()
    ))
}

/// Prints the costs of all kernels by the table beside estimates.
fn check(options: &Options, product: Product, bench: &Bench) -> Result<(), Failure> {
    let machine = bench.machine();
    let clock_hz = 1e6 * f64::from(product.specifications().clock_mhz);
    let mut table = Columns::new(&[
        "size",
        "kernel",
        "parts:",
        "table [µs]:",
        "estimate [µs]:",
        "ratio:",
        "behind the best:",
    ]);
    for size in &options.check {
        let request =
            options
                .product
                .request(options.element.of(&machine.gpu), size.m, size.n, size.k);
        let problem = request.check().map_err(Failure::usage)?;
        let ranked = ranked(&problem, machine, None).ok_or_else(|| {
            Failure::usage(format!(
                "no table has costs of {} on {}",
                problem.types().name(),
                product
            ))
        })?;
        let mut estimates: Vec<(&'static Kernel, u32, f64, f64)> = Vec::new();
        let fitting = ranked.iter().filter(|ranked| ranked.misfit.is_none());
        for ranked in fitting.take(options.best.unwrap_or(usize::MAX)) {
            let estimate = bench.cycles(ranked.kernel, &problem, ranked.parts)?;
            estimates.push((ranked.kernel, ranked.parts, ranked.cycles, estimate));
        }
        let best = estimates
            .iter()
            .map(|(.., estimate)| *estimate)
            .fold(f64::INFINITY, f64::min);
        for (kernel, parts, cycles, estimate) in estimates {
            let microseconds = |cycles: f64| format!("{:.1}", 1e6 * cycles / clock_hz);
            table.row([
                format!("{}×{}×{}", size.m, size.n, size.k),
                kernel.variant.name().to_owned(),
                parts.to_string(),
                microseconds(cycles),
                microseconds(estimate),
                format!("{:.2}", cycles / estimate),
                format!("{:.2}", estimate / best),
            ]);
        }
    }
    print(&table)
}
