//! `ferrowave report`

mod cases;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use clap::Args;
use ferrowave::{
    embedded,
    gemm::{Gemm, Machine as Host, Problem, Request},
    hip::{Context, Device, DeviceSelector},
    vendor::{Vendor, VendorGemm},
};
use ferrowave_code_object::CodeObject;
use ferrowave_gpu as gpu;
use ferrowave_shared::Bias;
use ferrowave_timing::Parameters;
use indicatif::{ProgressBar, ProgressStyle};

use cases::{Case, LARGE, plan};

use super::{
    Columns, DeviceOption, Failure, ParametersOption,
    apart::Apart,
    code_object,
    compare::comparison,
    emulated_library::EmulatedLibraries,
    print, print_json,
    product::References,
    request::{ElementName, Preset, ProductOptions, Size, layout_letters, seed},
    say,
};
use crate::child;
use crate::report::{
    compare::pairs,
    files::Folder,
    headline::headline,
    measure::{Bench, describe},
    results::{Product, Results, Row, Run, SCHEMA},
    tabular::{caption, ladder, sections, shown},
};

/// Run kernels over sizes, compare them and write a report: a page, Markdown, CSV, JSON and plots.
///
/// On a GPU, times are measured between HIP events. On the emulator they are modelled, and labelled as modelled
/// everywhere; for GPUs that the timing model has no parameters of, there are none.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    /// Sizes: one number, or m×n×k written with `x` [default, if no other size is given: 128,256,512,1024,257x129x100 and
    /// 4096, which the emulator estimates for some kernels].
    #[arg(long, value_delimiter = ',', value_name = "SIZE")]
    sizes: Vec<Size>,
    /// Sizes for which the emulator runs each kernel only as far as the timing model needs. Their products are not
    /// computed and not verified. A GPU computes them like other sizes.
    #[arg(long, value_delimiter = ',', value_name = "SIZE")]
    estimate: Vec<Size>,
    /// Sizes of published figures, instead of --sizes.
    #[arg(long, value_enum, conflicts_with = "sizes")]
    preset: Option<Preset>,
    /// Kernels, as `ferrowave list` names them [default: all that can compute the problem].
    #[arg(long, value_delimiter = ',', value_name = "KERNEL")]
    kernels: Vec<String>,
    /// GPUs to emulate, by LLVM's name or the product's: gfx90a, MI250X.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "GPU",
        conflicts_with = "device"
    )]
    gpus: Vec<String>,
    /// Leave out AMD's rocBLAS and hipBLASLt, which a report on a GPU has where they are found.
    #[arg(long)]
    no_libraries: bool,
    /// Types of the elements of A and B, as `ferrowave run --help` lists them [default: f32, and also f16 if neither sizes nor
    /// kernels are given].
    #[arg(long = "type", value_delimiter = ',', value_name = "TYPE")]
    types: Vec<ElementName>,
    #[command(flatten)]
    product: ProductOptions,
    /// Seed of the random matrices.
    #[arg(long, default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// Timed runs of each kernel on a GPU. Modelled times do not vary.
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// The report's folder; files in it are replaced.
    #[arg(long, default_value = "ferrowave-report", value_name = "FOLDER")]
    out: PathBuf,
    /// Continue the interrupted report in the folder of --out and keep its rows. The other options must be the same.
    #[arg(long)]
    resume: bool,
    /// Write the page, the tables and the plots of an earlier report, or of its results.json, into its folder again.
    /// Runs nothing.
    #[arg(long, value_name = "FILE", exclusive = true)]
    render: Option<PathBuf>,
    /// An earlier report, or its results.json, to compare with.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    baseline: Option<PathBuf>,
    /// Prints rows as JSON, a line each, and writes no files: those of this case and the next ones of the same problem. So
    /// a report on a GPU survives kernels that fault.
    #[arg(long, hide = true, value_name = "NUMBER")]
    row: Option<usize>,
    /// With --row: the row of this library, which finds the emulator as libamdhip64.so.
    #[arg(long, hide = true, value_name = "LIBRARY", requires = "row", value_parser = parse_vendor)]
    library: Option<Vendor>,
    #[command(flatten)]
    apart: Apart,
    #[command(flatten)]
    parameters: ParametersOption,
    #[command(flatten)]
    device: DeviceOption,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
}

/// A device and its cases.
struct Work {
    device: Device,
    /// The machine to model on the emulator, if the timing model has its parameters.
    machine: Option<Parameters>,
    /// What launches are planned for: the device or the modelled product.
    planned_for: Host,
    code_object: &'static [u8],
    cases: Vec<Case>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    if let Some(path) = &options.render {
        return render(path);
    }
    let baseline = options.baseline.as_deref().map(Results::read);
    let baseline = baseline.transpose().map_err(Failure::usage)?;
    let mut work = Vec::new();
    for (device, machine) in devices(options)? {
        let planned_for = modelled_host(&device, machine.as_ref());
        let cases = plan(options, &device, machine.is_some(), &planned_for)?;
        work.push(Work {
            code_object: code_object(&device)?,
            device,
            machine,
            planned_for,
            cases,
        });
    }
    if let Some(number) = options.row {
        match options.library {
            Some(vendor) => library_row(options, &work, number, vendor)?,
            None => rows(options, &work, number)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut results = Results {
        schema: SCHEMA,
        complete: false,
        run: this_run(options, &work),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    let earlier = match options.resume {
        true => earlier(&options.out, &results.run)?,
        false => Vec::new(),
    };
    let folder = Folder::create(&options.out).map_err(Failure::failed)?;
    measure(options, &work, &folder, earlier, &mut results)?;
    results.run.notes.extend(verification_notes(&results));
    results.complete = true;
    // The results are printed even if a file cannot be written.
    let written = folder.finish(&mut results).map_err(Failure::failed);
    if options.json {
        print_json(&results)?;
        written?;
    } else {
        let mut text = table(&results);
        if let (Some(path), Some(baseline)) = (&options.baseline, &baseline) {
            let compared = comparison(&pairs(baseline, &results));
            text += &format!("\nCompared with {}:\n{compared}", path.display());
        }
        print(&text)?;
        written?;
        let page = folder.page();
        print(&format_args!(
            "\nAll of it, with plots: {}\n",
            page.display()
        ))?;
    }
    // Libraries are compared with the kernels, but do not decide the exit code.
    let mut ours = results.rows.iter().filter(|row| !row.is_library());
    let passed = !ours.any(Row::failed);
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What is run, on what, and by which version.
fn this_run(options: &Options, work: &[Work]) -> Run {
    Run {
        command: env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: embedded::COMMIT.map(str::to_owned),
        toolchain: embedded::TOOLCHAIN.to_owned(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        seed: options.seed,
        devices: work
            .iter()
            .map(|w| describe(&w.device, w.machine.as_ref()))
            .collect(),
        notes: (estimate_note(options, work).into_iter())
            .chain(work.iter().filter_map(parameters_note))
            .chain(work.iter().filter_map(untimed_note))
            .collect(),
    }
}

/// The note that only some kernels are estimated.
fn estimate_note(options: &Options, work: &[Work]) -> Option<String> {
    let mut cases = work.iter().flat_map(|work| &work.cases);
    let all = !options.estimate.is_empty() || !options.kernels.is_empty();
    (!all && cases.any(|case| case.estimated)).then(|| {
        format!("{LARGE}×{LARGE}×{LARGE} is estimated for some kernels; --estimate {LARGE} estimates all")
    })
}

/// The note that times of a device are modelled with parameters of the user's.
fn parameters_note(work: &Work) -> Option<String> {
    let machine = work.machine.as_ref()?;
    let changed = machine.changed();
    let changed: Vec<_> = changed.iter().map(ToString::to_string).collect();
    (!changed.is_empty()).then(|| {
        format!(
            "{} is modelled with parameters from a file: {}",
            machine.machine,
            changed.join(", ")
        )
    })
}

/// The note that the times of an emulated device are unknown.
fn untimed_note(work: &Work) -> Option<String> {
    (work.device.is_emulated() && work.machine.is_none()).then(|| {
        let name = &work.device.properties().name;
        format!("the timing model has no parameters of {name}: its rows have results and counts, but no times")
    })
}

/// How products were verified of which not all elements were compared; one note for each size.
fn verification_notes(results: &Results) -> Vec<String> {
    let mut notes: Vec<(String, String)> = Vec::new();
    for row in &results.rows {
        let size = row.problem.size();
        if let Some(verified) = &row.outcome.verified
            && !notes.iter().any(|(other, _)| *other == size)
        {
            notes.push((size, verified.clone()));
        }
    }
    notes
        .into_iter()
        .map(|(size, verified)| format!("{size} is verified by samples: {verified}"))
        .collect()
}

/// Writes the page of existing results.
fn render(path: &Path) -> Result<ExitCode, Failure> {
    let mut results = Results::read(path).map_err(Failure::usage)?;
    let folder = match path.is_dir() {
        true => path,
        false => path.parent().unwrap_or(Path::new("")),
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let folder = Folder::create(folder).map_err(Failure::failed)?;
    folder.finish(&mut results).map_err(Failure::failed)?;
    print(&table(&results))?;
    let page = folder.page();
    print(&format_args!(
        "\nAll of it, with plots: {}\n",
        page.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The rows of an interrupted report in the folder, if there is one.
fn earlier(out: &Path, run: &Run) -> Result<Vec<Row>, Failure> {
    if !out.join("results.json").exists() {
        return Ok(Vec::new());
    }
    let earlier = Results::read(out).map_err(Failure::usage)?;
    let was = &earlier.run;
    let same = [
        ("version", was.version == run.version),
        ("commit", was.commit == run.commit),
        ("compiler of the kernels", was.toolchain == run.toolchain),
        ("seed", was.seed == run.seed),
        ("devices", was.devices == run.devices),
    ];
    let other: Vec<_> = same
        .iter()
        .filter(|(_, same)| !same)
        .map(|(name, _)| *name)
        .collect();
    match other.is_empty() {
        true => Ok(earlier.rows),
        false => Err(Failure::usage(format!(
            "--resume: the report in `{}` is of another {}; choose another folder with --out, or leave --resume out",
            out.display(),
            other.join(", ")
        ))),
    }
}

/// The devices to run on, and the machine to model for each emulated one.
fn devices(options: &Options) -> Result<Vec<(Device, Option<Parameters>)>, Failure> {
    let mut devices = Vec::new();
    for (device, product) in products(options)? {
        if product.is_none() && options.parameters.is_given() {
            return Err(Failure::usage(format!(
                "--parameters: times on {} are measured; only the emulator's are modelled",
                device.choice()
            )));
        }
        let machine = match product {
            None => None,
            Some(product) => match options.parameters.read()? {
                Some(_) => Some(options.parameters.of(product)?),
                None => Parameters::try_from(product).ok(),
            },
        };
        if device.is_emulated() && machine.is_none() && !options.estimate.is_empty() {
            return Err(Failure::usage(format!(
                "--estimate: the timing model has no parameters of {}",
                device.properties().name
            )));
        }
        devices.push((device, machine));
    }
    Ok(devices)
}

/// The devices to run on, and the product to model for each emulated one.
fn products(options: &Options) -> Result<Vec<(Device, Option<gpu::Product>)>, Failure> {
    if options.gpus.is_empty() {
        let device = options.device.open(&embedded::gpus())?;
        let gpu = device.properties().gpu().filter(|_| device.is_emulated());
        let asked = options.device.selector()?.product();
        return Ok(vec![(device, asked.or(gpu.map(gpu::Product::of)))]);
    }
    let mut devices = Vec::new();
    for name in &options.gpus {
        let machine: gpu::Product = name.parse().map_err(Failure::usage)?;
        if devices.iter().any(|(_, other)| *other == Some(machine)) {
            continue;
        }
        let selector = DeviceSelector::of_product(machine);
        let device = Device::open(&selector).map_err(Failure::failed)?;
        options.device.limit_launches(&device)?;
        say(format_args!("device {}\n", device.choice()));
        devices.push((device, Some(machine)));
    }
    Ok(devices)
}

/// What launches are planned for: the device, with the number of compute units of the modelled product.
fn modelled_host(device: &Device, machine: Option<&Parameters>) -> Host {
    let mut host = Host::of(device);
    if let Some(machine) = machine {
        host.compute_units = machine.hardware.multiprocessors();
    }
    host
}

fn described(request: &Request, problem: &Problem) -> Product {
    Product {
        m: problem.m(),
        n: problem.n(),
        k: problem.k(),
        batch: problem.batch(),
        input: problem.types().name().to_owned(),
        output: problem.types().output.name().to_owned(),
        layout: layout_letters(problem.a().order, problem.b().order),
        alpha: request.alpha,
        beta: request.beta,
        bias: request.bias != Bias::None,
        prologue: request.prologue.to_string(),
        epilogue: request.epilogue.to_string(),
        gate: request.gate,
        output_scale: request.output_scale,
    }
}

/// The kernels of a device, ready to run.
struct Loaded {
    gemm: Gemm,
    code_object: CodeObject,
}

impl Loaded {
    fn new(work: &Work) -> Result<Self, Failure> {
        let context = Context::new(&work.device).map_err(Failure::failed)?;
        let gemm = Gemm::new(&context, work.code_object).map_err(Failure::failed)?;
        Ok(Loaded {
            gemm: gemm.planned_for(work.planned_for.clone()),
            code_object: CodeObject::parse(work.code_object).map_err(Failure::failed)?,
        })
    }

    /// `None` if the device is none of the known GPUs.
    fn bench(&self, options: &Options, work: &Work, device: usize) -> Option<Bench<'_>> {
        Some(Bench {
            gemm: &self.gemm,
            code_object: &self.code_object,
            gpu: work.device.properties().gpu()?,
            device,
            is_emulated: work.device.is_emulated(),
            machine: work.machine,
            references: References::new(options.seed),
            samples: options.samples,
        })
    }
}

/// The device of a case, and the case and the next ones there.
type FromCase<'a> = (usize, &'a Work, &'a [Case]);

/// The case with this number, counted over all devices.
fn from_case(work: &[Work], number: usize) -> Result<FromCase<'_>, Failure> {
    let mut first = number;
    for (device, work) in work.iter().enumerate() {
        match work.cases.get(first..) {
            Some(cases) if !cases.is_empty() => return Ok((device, work, cases)),
            _ => first -= work.cases.len(),
        }
    }
    Err(Failure::usage(format!(
        "--row {number}: there is no such case"
    )))
}

/// Prints the row of a case and those of the next cases of the same problem and device.
fn rows(options: &Options, work: &[Work], number: usize) -> Result<(), Failure> {
    let (device, work, cases) = from_case(work, number)?;
    let loaded = Loaded::new(work)?;
    let bench = loaded.bench(options, work, device).ok_or_else(unknown)?;
    let problem = &cases[0].problem;
    for case in cases.iter().take_while(|case| case.problem == *problem) {
        let described = described(&case.request, &case.problem);
        let row = bench.row(case.kernel, &case.problem, &described, case.estimated);
        let line = serde_json::to_string(&row).map_err(Failure::failed)?;
        print(&format_args!("{line}\n"))?;
    }
    Ok(())
}

/// Prints the row of a library for the problem of a case, without times. The emulator takes the place of libamdhip64.so here,
/// so that it is HIP's device. Exit code 2 means that the library cannot be used at all.
fn library_row(
    options: &Options,
    work: &[Work],
    number: usize,
    vendor: Vendor,
) -> Result<(), Failure> {
    let (device, work, cases) = from_case(work, number)?;
    let work = Work {
        device: Device::open(&DeviceSelector::Hip(0)).map_err(Failure::failed)?,
        machine: None,
        planned_for: work.planned_for.clone(),
        code_object: work.code_object,
        cases: Vec::new(),
    };
    let loaded = Loaded::new(&work)?;
    let bench = loaded.bench(options, &work, device).ok_or_else(unknown)?;
    let library = VendorGemm::open(vendor, loaded.gemm.context()).map_err(Failure::usage)?;
    let Case {
        request,
        problem,
        estimated,
        ..
    } = &cases[0];
    let described = described(request, problem);
    let row = bench.library_once(&library, problem, &described, *estimated)?;
    let line = serde_json::to_string(&row).map_err(Failure::failed)?;
    print(&format_args!("{line}\n"))
}

fn unknown() -> Failure {
    Failure::failed("the device is none of the known GPUs")
}

fn parse_vendor(text: &str) -> Result<Vendor, String> {
    let mut vendors = Vendor::ALL.into_iter();
    let vendor = vendors.find(|vendor| vendor.name() == text);
    vendor.ok_or_else(|| format!("allowed are {} and {}", Vendor::ALL[0], Vendor::ALL[1]))
}

/// The rows of a problem's cases, from a process of their own, so that they share operands and reference. After a row that
/// fails, the next begins another.
struct RowProcess<'a> {
    options: &'a Options,
    /// The number of its next row.
    process: Option<(usize, child::Lines)>,
}

impl RowProcess<'_> {
    /// The row of a case with this number.
    fn row(
        &mut self,
        bench: &Bench<'_>,
        case: &Case,
        described: &Product,
        number: usize,
    ) -> Result<Row, Failure> {
        let mut process = match self.process.take() {
            Some((next, process)) if next == number => process,
            _ => {
                let command = child::this_command(&["--row", &number.to_string()]);
                let mut command = command.map_err(Failure::failed)?;
                child::Lines::start(&mut command).map_err(Failure::failed)?
            }
        };
        loop {
            let line = process.next(self.options.apart.time_limit);
            match line.map_err(Failure::failed)? {
                // HIP may write lines, too.
                Ok(line) => {
                    if let Ok(row) = serde_json::from_str::<Row>(&line) {
                        // A fault may leave the device unusable for the process.
                        if row.outcome.passed {
                            self.process = Some((number + 1, process));
                        }
                        let problem = described.clone();
                        return Ok(Row { problem, ..row });
                    }
                }
                Err(ended) => {
                    return Ok(bench.failed_row(case.kernel, described, ended.complaint()));
                }
            }
        }
    }
}

fn measure(
    options: &Options,
    work: &[Work],
    folder: &Folder,
    earlier: Vec<Row>,
    results: &mut Results,
) -> Result<(), Failure> {
    let count = work.iter().map(|w| w.cases.len()).sum();
    let kept = Kept::say_if_interrupted(&options.out, count)?;
    let bar = progress_bar(count);
    let mut next = 0;
    for (number, work) in work.iter().enumerate() {
        let loaded = Loaded::new(work)?;
        let Some(bench) = loaded.bench(options, work, number) else {
            continue;
        };
        let is_apart = !work.device.is_emulated() && !options.apart.in_process;
        let libraries = libraries(options, loaded.gemm.context(), &mut results.run.notes);
        let mut emulated = match (options.no_libraries, work.machine) {
            (false, Some(machine)) => {
                EmulatedLibraries::find(machine, &options.parameters, options.apart.time_limit)
            }
            _ => EmulatedLibraries::default(),
        };
        // Cases of the same problem are adjacent.
        for cases in work.cases.chunk_by(|a, b| a.problem == b.problem) {
            let described = described(&cases[0].request, &cases[0].problem);
            let before = |name: &str, estimated| {
                let same = |row: &&Row| {
                    row.device == number
                        && row.kernel == name
                        && row.problem == described
                        && row.estimated == estimated
                };
                earlier.iter().find(same).cloned()
            };
            let mut apart = RowProcess {
                options,
                process: None,
            };
            let first = next;
            for case in cases {
                let name = case.kernel.variant.name();
                bar.set_message(format!("{name} {}", described.size()));
                let row = match before(name, case.estimated) {
                    Some(row) => row,
                    None if is_apart => apart.row(&bench, case, &described, next)?,
                    None => bench.row(case.kernel, &case.problem, &described, case.estimated),
                };
                next += 1;
                results.rows.push(row);
                kept.keep(folder, results)?;
                bar.inc(1);
            }
            for library in &libraries {
                let name = library.vendor().name();
                bar.set_message(format!("{name} {}", described.size()));
                let row = match before(name, false) {
                    Some(row) => Ok(row),
                    None => bench.library_row(library, &cases[0].problem, &described),
                };
                add_row(results, name, &described, row);
                kept.keep(folder, results)?;
            }
            let estimated = cases[0].estimated;
            for vendor in emulated.usable() {
                let name = vendor.name();
                bar.set_message(format!("{name} {}", described.size()));
                let row = match before(name, estimated) {
                    Some(row) => Ok(row),
                    None => emulated.row(vendor, first, estimated),
                };
                add_row(results, name, &described, row);
                kept.keep(folder, results)?;
            }
        }
        results.run.notes.extend(emulated.notes);
    }
    bar.finish_and_clear();
    kept.is_done();
    Ok(())
}

/// The bar hides itself if standard error is no terminal.
fn progress_bar(count: usize) -> ProgressBar {
    let bar = ProgressBar::new(count as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Adds a library's row for a problem, or a note why there is none.
fn add_row(results: &mut Results, library: &str, problem: &Product, row: Result<Row, Failure>) {
    match row {
        Ok(row) => results.rows.push(Row {
            problem: problem.clone(),
            ..row
        }),
        Err(failure) => {
            let note = format!("{library} is left out for {}: {failure}", problem.size());
            results.run.notes.push(note);
        }
    }
}

/// The number of rows written. The lock is held while a file is written, so that an interruption finds the file whole.
struct Kept(Arc<Mutex<Option<usize>>>);

impl Kept {
    /// On an interruption (Ctrl-C, SIGTERM), prints what has been written and ends the program.
    fn say_if_interrupted(out: &Path, count: usize) -> Result<Self, Failure> {
        let rows = Arc::new(Mutex::new(Some(0)));
        let (kept, out) = (Arc::clone(&rows), out.display().to_string());
        let handler = move || {
            let rows = kept.lock().unwrap_or_else(PoisonError::into_inner);
            match *rows {
                Some(0) => say(format_args!("\ninterrupted before the first row\n")),
                Some(rows) => say(format_args!(
                    "\ninterrupted: `{out}/results.json` has {rows} of {count} rows; the same command with --resume goes \
                     on, and `ferrowave report --render {out}` makes a page of them\n"
                )),
                None => {}
            }
            // The exit code of a shell for a program that SIGINT has ended.
            std::process::exit(130);
        };
        ctrlc::set_handler(handler).map_err(Failure::failed)?;
        Ok(Kept(rows))
    }

    fn keep(&self, folder: &Folder, results: &mut Results) -> Result<(), Failure> {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        folder.keep(results).map_err(Failure::failed)?;
        *rows = Some(results.rows.len());
        Ok(())
    }

    /// Makes an interruption silent from here on; what follows is quick.
    fn is_done(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The libraries that were found, and notes about the others.
fn libraries(options: &Options, context: &Context, notes: &mut Vec<String>) -> Vec<VendorGemm> {
    if options.no_libraries {
        return Vec::new();
    }
    // EmulatedLibraries has those.
    if context.device().is_emulated() {
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
    for section in sections(results) {
        let shown: Vec<&Row> = shown(&section.rows);
        let columns = ladder(&shown);
        let size = shown
            .first()
            .map_or_else(String::new, |row| row.problem.size());
        text += &format!("{}, {size}\n", section.title);
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
        let left_out = table.fit();
        text += &table.to_string();
        if left_out > 0 {
            text += &format!("({left_out} more columns in a wider terminal and in the report.)\n");
        }
        text += &format!("{}\n\n", headline(&section).join("\n"));
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
