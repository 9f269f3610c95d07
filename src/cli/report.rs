//! `ferrowave report`

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use ferrowave::{
    embedded,
    gemm::{Gemm, Machine as Host, Plan, PlanError, Problem, Request, choose, kernel_named},
    hip::{Context, Device, DeviceSelector},
    vendor::{Vendor, VendorGemm},
};
use ferrowave_code_object::CodeObject;
use ferrowave_emulator::{gpu::Gpu, timing::Machine};
use ferrowave_shared::{Bias, CATALOGUE, Kernel};
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    Columns, DeviceOption, Failure, code_object,
    compare::comparison,
    memory, print, print_json,
    request::{Preset, ProductOptions, Size, layout_letters},
};
use crate::report::{
    compare::pairs,
    files::Folder,
    measure::{Bench, describe},
    results::{Product, Results, Row, Run, SCHEMA},
    tabular::{Section, caption, ladder, sections, shown},
};

/// Run kernels over sizes, compare them and write a report: a page, Markdown, CSV, JSON and plots.
///
/// On a GPU times are measured between HIP events; on the emulator they are modelled, which is said everywhere.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    /// Sizes, each one number or m×n×k with `x` between them.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "128,256,512,1024,257x129x100",
        value_name = "SIZE"
    )]
    sizes: Vec<Size>,
    /// Sizes that published figures are for, instead of --sizes.
    #[arg(long, value_enum, conflicts_with = "sizes")]
    preset: Option<Preset>,
    /// Kernels, as `ferrowave list` names them [default: all that there are for the problem].
    #[arg(long, value_delimiter = ',', value_name = "KERNEL")]
    kernels: Vec<String>,
    /// GPUs to emulate, by LLVM's name or the machine's: gfx90a, MI250X.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "GPU",
        conflicts_with = "device"
    )]
    gpus: Vec<String>,
    /// Leave out AMD's libraries, rocBLAS and hipBLASLt, which are compared with on a GPU where they are found.
    #[arg(long)]
    no_libraries: bool,
    #[command(flatten)]
    product: ProductOptions,
    /// Seed of the random matrices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Timed runs of each kernel on a GPU; what the emulator's model says does not vary.
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// The folder that the report goes to; files in it are replaced.
    #[arg(long, default_value = "ferrowave-report", value_name = "FOLDER")]
    out: PathBuf,
    /// An earlier report, or its results.json, to compare with.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
}

/// A device and what is to run on it.
struct Work {
    device: Device,
    machine: Option<Machine>,
    /// What launches are planned for: the device, or the machine that is modelled.
    planned_for: Host,
    code_object: &'static [u8],
    pairs: Vec<(&'static Kernel, Request, Problem)>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let baseline = options.baseline.as_deref().map(Results::read);
    let baseline = baseline.transpose().map_err(Failure::usage)?;
    let mut work = Vec::new();
    for (device, machine) in devices(options)? {
        let planned_for = modelled_host(&device, machine);
        let pairs = plan(options, &device, &planned_for)?;
        work.push(Work {
            code_object: code_object(&device)?,
            device,
            machine,
            planned_for,
            pairs,
        });
    }
    let folder = Folder::create(&options.out).map_err(Failure::failed)?;
    let mut results = Results {
        schema: SCHEMA,
        complete: false,
        run: Run {
            command: env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: embedded::COMMIT.map(str::to_owned),
            toolchain: embedded::TOOLCHAIN.to_owned(),
            date: jiff::Timestamp::now().to_string(),
            seed: options.seed,
            devices: work
                .iter()
                .map(|w| describe(&w.device, w.machine))
                .collect(),
            notes: Vec::new(),
        },
        rows: Vec::new(),
        plots: Vec::new(),
    };
    measure(options, &work, &folder, &mut results)?;
    results.complete = true;
    // What cannot be written is still told.
    let written = folder.finish(&mut results).map_err(Failure::failed);
    let mut text = String::new();
    if !options.json {
        text = table(&results);
    }
    if let Some(baseline) = &baseline
        && !options.json
    {
        let path = options.baseline.as_deref().unwrap_or(Path::new(""));
        text += &format!(
            "\nCompared with {}:\n{}",
            path.display(),
            comparison(&pairs(baseline, &results))
        );
    }
    if options.json {
        print_json(&results)?;
    } else {
        print(&text)?;
    }
    written?;
    if !options.json {
        let page = folder.page();
        print(&format_args!(
            "\nAll of it, with plots: {}\n",
            page.display()
        ))?;
    }
    // The libraries are compared with, not judged.
    let mut ours = results.rows.iter().filter(|row| !row.is_library());
    let passed = ours.all(|row| row.outcome.passed);
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The devices to run on, and for emulated ones the machine to model.
fn devices(options: &Options) -> Result<Vec<(Device, Option<Machine>)>, Failure> {
    if options.gpus.is_empty() {
        let device = options.device.open()?;
        let gpu = device.properties().gpu().filter(|_| device.is_emulated());
        return Ok(vec![(device, gpu.map(Machine::of))]);
    }
    let mut devices = Vec::new();
    for name in &options.gpus {
        let machine = match name.parse::<Gpu>() {
            Ok(gpu) => Machine::of(gpu),
            Err(_) => name.parse().map_err(|error| {
                let gpus = Gpu::ALL.map(|gpu| gpu.name()).join(", ");
                Failure::usage(format!("--gpus: {error}, and {gpus}"))
            })?,
        };
        let selector = DeviceSelector::Emulator(machine.parameters().gpu);
        let device = Device::open(&selector).map_err(Failure::failed)?;
        eprintln!("device {}", device.choice());
        devices.push((device, Some(machine)));
    }
    Ok(devices)
}

/// What launches are planned for: the device, or a product that has another number of compute units than the emulated
/// device of its GPU.
fn modelled_host(device: &Device, machine: Option<Machine>) -> Host {
    let mut host = Host::of(device);
    if let Some(machine) = machine {
        host.compute_units = machine.parameters().compute_units;
    }
    host
}

/// What is to run on a device. All that was asked for must exist for the GPU and compute the problems; of all kernels,
/// those that do.
fn plan(
    options: &Options,
    device: &Device,
    host: &Host,
) -> Result<Vec<(&'static Kernel, Request, Problem)>, Failure> {
    let preset = options.preset.map(|preset| vec![preset.size()]);
    let sizes = preset.as_ref().unwrap_or(&options.sizes);
    let mut problems = Vec::new();
    for size in sizes {
        let request = options.product.request(&host.gpu, size.m, size.n, size.k);
        let problem = request.check().map_err(Failure::usage)?;
        memory::check(&problem, device)?;
        if !problems.contains(&(request, problem)) {
            problems.push((request, problem));
        }
    }
    let types = options.product.types(&host.gpu);
    let mut pairs = Vec::new();
    if options.kernels.is_empty() {
        for (request, problem) in &problems {
            let kernels = CATALOGUE.iter();
            for kernel in
                kernels.filter(|kernel| kernel.types == types && kernel.gpus.contains(&host.gpu))
            {
                match Plan::new(kernel, problem, host) {
                    Ok(_) => pairs.push((kernel, *request, *problem)),
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
    }
    for (request, problem) in &problems {
        for name in &options.kernels {
            let kernel = kernel_named(name, types, &host.gpu).map_err(Failure::usage)?;
            Plan::new(kernel, problem, host).map_err(Failure::usage)?;
            let pair = (kernel, *request, *problem);
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    if pairs.is_empty() && !problems.is_empty() {
        // Says which types there are kernels for.
        choose(&problems[0].1, host, None).map_err(Failure::usage)?;
    }
    Ok(pairs)
}

fn described(request: &Request, problem: &Problem) -> Product {
    Product {
        m: problem.m(),
        n: problem.n(),
        k: problem.k(),
        batch: problem.batch(),
        input: problem.types().input.name().to_owned(),
        output: problem.types().output.name().to_owned(),
        layout: layout_letters(problem.a().order, problem.b().order),
        alpha: request.alpha,
        beta: request.beta,
        bias: request.bias != Bias::None,
        prologue: request.prologue.to_string(),
        epilogue: request.epilogue.to_string(),
    }
}

fn measure(
    options: &Options,
    work: &[Work],
    folder: &Folder,
    results: &mut Results,
) -> Result<(), Failure> {
    // Hidden by itself where standard error is no terminal.
    let bar = ProgressBar::new(work.iter().map(|w| w.pairs.len() as u64).sum());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    for (number, work) in work.iter().enumerate() {
        let context = Context::new(&work.device).map_err(Failure::failed)?;
        let gemm = Gemm::new(&context, work.code_object).map_err(Failure::failed)?;
        let gemm = gemm.planned_for(work.planned_for.clone());
        let Some(gpu) = work.device.properties().gpu() else {
            continue;
        };
        let bench = Bench {
            gemm: &gemm,
            code_object: &CodeObject::parse(work.code_object).map_err(Failure::failed)?,
            gpu,
            device: number,
            machine: work.machine,
            seed: options.seed,
            samples: options.samples,
        };
        let libraries = libraries(options, &context, &mut results.run.notes);
        // Pairs of one problem stand together.
        for pairs in work.pairs.chunk_by(|(_, _, a), (_, _, b)| a == b) {
            for (kernel, request, problem) in pairs {
                let described = described(request, problem);
                bar.set_message(format!("{} {}", kernel.variant.name(), described.size()));
                results.rows.push(bench.row(kernel, problem, &described));
                folder.keep(results).map_err(Failure::failed)?;
                bar.inc(1);
            }
            let (_, request, problem) = &pairs[0];
            let described = described(request, problem);
            for library in &libraries {
                let name = library.vendor().name();
                bar.set_message(format!("{name} {}", described.size()));
                match bench.library_row(library, problem, &described) {
                    Ok(row) => results.rows.push(row),
                    Err(failure) => {
                        let note =
                            format!("{name} is left out for {}: {failure}", described.size());
                        results.run.notes.push(note);
                    }
                }
                folder.keep(results).map_err(Failure::failed)?;
            }
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// The libraries that there are, and notes of those that there are not.
fn libraries(options: &Options, context: &Context, notes: &mut Vec<String>) -> Vec<VendorGemm> {
    if options.no_libraries {
        return Vec::new();
    }
    if context.device().is_emulated() {
        let [first, second] = Vendor::ALL;
        let note =
            format!("{first} and {second} are left out: they are compared with on a GPU only");
        if !notes.contains(&note) {
            notes.push(note);
        }
        return Vec::new();
    }
    let open = |vendor| match VendorGemm::open(vendor, context) {
        Ok(library) => Some(library),
        Err(error) => {
            notes.push(format!("{vendor} is left out: {error}"));
            None
        }
    };
    Vendor::ALL.into_iter().filter_map(open).collect()
}

fn table(results: &Results) -> String {
    let mut text = String::new();
    let columns = ladder(results);
    for Section { title, rows } in sections(results) {
        let shown: Vec<&Row> = shown(&rows);
        text += &format!("{title}\n");
        let names: Vec<_> = columns
            .iter()
            .map(|column| match column.is_number {
                true => format!("{}:", column.name),
                false => column.name.to_owned(),
            })
            .collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let mut table = Columns::new(&names);
        for row in shown {
            table.row(columns.iter().map(|column| column.cell(row)));
        }
        text += &table.to_string();
    }
    for row in &results.rows {
        if let Some(complaint) = &row.outcome.complaint {
            text += &format!("{} {}: {complaint}\n", row.name(), row.problem.size());
        }
    }
    for note in &results.run.notes {
        text += &format!("{note}.\n");
    }
    text + caption(results) + "\n"
}
