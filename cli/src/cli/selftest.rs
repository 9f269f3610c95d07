//! `ferrowave selftest`

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, SystemTime},
};

use clap::Args;
use ferrowave::{
    embedded,
    gemm::Gemm,
    hip::{Context, Device, DeviceSelector},
};
use ferrowave_code_object::CodeObject;
use ferrowave_launch::{note, read_file};
use ferrowave_shared::{CATALOGUE, Kernel};

use super::{Columns, DeviceOption, Failure, code_object, print, print_json};
use crate::{
    child::{self, End},
    report::measure::describe,
    selftest::{
        kernel::{Bench, is_bit_exact},
        results::{CodeObjectIdentity, KernelResult, Results, SCHEMA},
    },
};

/// The emulator's environment variable that trades exact bits for speed (`docs/matrix.md`).
const MATRIX: &str = "FERROWAVE_MATRIX";
/// Lines of a process that ended early, kept in the file.
const SAID_LINES: usize = 20;

/// Test every kernel on a device: products of many shapes, layouts, factors and operations are compared with a
/// reference, and the padding around C with what was there.
///
/// - Some products have denormals, zeros of both signs and a NaN.
///
/// - On a GPU, bits are compared with the emulator's where both are exact (docs/matrix.md): on gfx908, gfx90a and
///   gfx942, without GELU.
///
/// - One larger product runs repeatedly, and all results must have the same bits: 100 times, 1,000 times where
///   workgroups share tiles (split_k and stream_k); with --quick 20 and 200; on the emulator 5, with --quick 2.
///
/// Each kernel runs in a process of its own. If that crashes or does not end, the others are still tested. Exit code 1
/// means that a kernel failed.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Test only the corner shapes and four shapes around each kernel's tile.
    #[arg(long)]
    quick: bool,
    /// Kernels: names as `ferrowave list` has them, for all types, or symbols of the code object [default: all].
    #[arg(long, value_delimiter = ',', value_name = "KERNEL")]
    kernels: Vec<String>,
    /// Runs of the product that is repeated.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Time limit of each kernel's process: seconds, or a number and s, m or h.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = ferrowave_launch::parse_time)]
    time_limit: Duration,
    /// Test the kernels of this code object, instead of the embedded ones.
    #[arg(long, value_name = "FILE")]
    code_object: Option<PathBuf>,
    /// Run the kernels in this process, for a debugger: a crash ends the test.
    #[arg(long)]
    in_process: bool,
    /// The file for the results, to attach to a report of a failure.
    #[arg(long, default_value = "ferrowave-selftest.json", value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    device: DeviceOption,
    /// Print the results as JSON, too.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let device = options.device.open(&embedded::gpus())?;
    let object = match &options.code_object {
        Some(file) => read_file(file).map_err(|error| unreadable(file, &error))?,
        None => code_object(&device)?.to_vec(),
    };
    let kernels = kernels(options, &device, &object)?;
    let file = options.code_object.as_deref();
    let mut results = Results {
        schema: SCHEMA,
        complete: false,
        command: env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: embedded::COMMIT.map(str::to_owned),
        toolchain: embedded::TOOLCHAIN.to_owned(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        device: describe(&device, None),
        code_object: CodeObjectIdentity::of(file.map(|file| file.display().to_string()), &object),
        kernels: Vec::new(),
    };
    // Before anything runs, so that the results can be kept.
    write(options, &results)?;
    match options.in_process {
        true => here(options, &device, &object, &kernels, &mut results)?,
        false => {
            for (number, kernel) in kernels.iter().enumerate() {
                note(&format!(
                    "{} of {}: {}",
                    number + 1,
                    kernels.len(),
                    kernel.symbol
                ));
                results.kernels.push(child_result(options, kernel)?);
                write(options, &results)?;
            }
        }
    }
    results.complete = true;
    write(options, &results)?;
    match options.json {
        true => print_json(&results)?,
        false => print(&text(&results, &options.out))?,
    }
    let passed = results.kernels.iter().all(|kernel| kernel.passed);
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn unreadable(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("`{}` cannot be read: {error}", file.display()))
}

fn write(options: &Options, results: &Results) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(results).map_err(Failure::failed)?;
    fs::write(&options.out, text + "\n").map_err(|error| {
        let file = options.out.display();
        Failure::usage(format!(
            "`{file}` cannot be written: {error}; choose another file with --out"
        ))
    })
}

/// The kernels to test, of those that the code object has.
fn kernels(
    options: &Options,
    device: &Device,
    object: &[u8],
) -> Result<Vec<&'static Kernel>, Failure> {
    let gpu = device.properties().gpu_name();
    let from = match &options.code_object {
        Some(file) => format!("`{}`", file.display()),
        None => "this build".to_owned(),
    };
    let parsed = CodeObject::parse(object)
        .map_err(|error| Failure::usage(format!("{from} is no code object: {error}")))?;
    let target = parsed.target().gpu.name();
    if target != gpu {
        return Err(Failure::usage(format!(
            "{from} is for {target}, and the device is a {gpu}"
        )));
    }
    let all: Vec<_> = CATALOGUE
        .iter()
        .filter(|kernel| kernel.gpus.contains(gpu) && parsed.kernel(kernel.symbol).is_some())
        .collect();
    if all.is_empty() {
        return Err(Failure::usage(format!(
            "{from} has none of Ferrowave's kernels for {gpu}"
        )));
    }
    let is = |kernel: &Kernel, name: &str| kernel.symbol == name || kernel.variant.name() == name;
    for name in &options.kernels {
        if !all.iter().any(|kernel| is(kernel, name)) {
            let mut names: Vec<_> = all.iter().map(|kernel| kernel.variant.name()).collect();
            names.sort_unstable();
            names.dedup();
            return Err(Failure::usage(format!(
                "unknown kernel `{name}`; for {gpu}, {from} has {}",
                names.join(", ")
            )));
        }
    }
    let is_asked = |kernel: &&&'static Kernel| {
        options.kernels.is_empty() || options.kernels.iter().any(|name| is(kernel, name))
    };
    Ok(all.iter().filter(is_asked).copied().collect())
}

/// Tests the kernels in this process.
fn here(
    options: &Options,
    device: &Device,
    object: &[u8],
    kernels: &[&'static Kernel],
    results: &mut Results,
) -> Result<(), Failure> {
    let context = Context::new(device).map_err(Failure::failed)?;
    let gemm = Gemm::new(&context, object).map_err(Failure::failed)?;
    let gpu = device.properties().gpu();
    let emulator = gpu
        .filter(|&gpu| !device.is_emulated() && is_bit_exact(gpu))
        .map(|gpu| {
            let device = Device::open(&DeviceSelector::Emulator(gpu)).map_err(Failure::failed)?;
            let context = Context::new(&device).map_err(Failure::failed)?;
            let emulator = Gemm::new(&context, object).map_err(Failure::failed)?;
            Ok::<_, Failure>(emulator.planned_for(gemm.machine().clone()))
        })
        .transpose()?;
    let bench = Bench {
        gemm: &gemm,
        emulator: emulator.as_ref(),
        quick: options.quick,
        runs: options.runs,
    };
    for kernel in kernels {
        note(&format!("kernel {}", kernel.symbol));
        results.kernels.push(bench.test(kernel, note));
        write(options, results)?;
    }
    Ok(())
}

/// Tests a kernel in a process of its own.
fn child_result(options: &Options, kernel: &'static Kernel) -> Result<KernelResult, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::failed)?;
    let out = folder.path().join("results.json");
    let mut command = child::this_program().map_err(Failure::failed)?;
    command
        .args(["selftest", "--in-process", "--json", "--kernels"])
        .arg(kernel.symbol)
        .args(["--device", &options.device.selector()?.to_string()])
        .arg("--out")
        .arg(&out)
        .env_remove(MATRIX);
    if options.quick {
        command.arg("--quick");
    }
    if let Some(runs) = options.runs {
        command.args(["--runs", &runs.to_string()]);
    }
    if let Some(file) = &options.code_object {
        command.arg("--code-object").arg(file);
    }
    if let Some(limit) = options.device.limit {
        command.args(["--limit", &limit.to_string()]);
    }
    if let Some(timeout) = options.device.timeout {
        command.args(["--timeout", &format!("{}ms", timeout.as_millis())]);
    }
    let ended = child::run(&mut command, options.time_limit).map_err(Failure::failed)?;
    let results: Option<Results> = serde_json::from_str(&ended.output).ok();
    let results = results.filter(|_| matches!(ended.end, End::Code(0 | 1)));
    if let Some(result) = results.and_then(|mut results| results.kernels.pop()) {
        return Ok(result);
    }
    let lines: Vec<_> = ended.error.lines().collect();
    let said = lines[lines.len().saturating_sub(SAID_LINES)..].iter();
    Ok(KernelResult {
        kernel: kernel.variant.name().to_owned(),
        symbol: kernel.symbol.to_owned(),
        input: kernel.types.name().to_owned(),
        output: kernel.types.output.name().to_owned(),
        process: Some(ended.end.to_string()),
        said: said.map(|line| (*line).to_owned()).collect(),
        ..KernelResult::default()
    })
}

fn text(results: &Results, out: &Path) -> String {
    let mut table = Columns::new(&[
        "kernel",
        "type",
        "products:",
        "as emulated:",
        "runs:",
        "seconds:",
        "result",
    ]);
    for kernel in &results.kernels {
        let verdict = match (&kernel.process, kernel.passed) {
            (Some(_), _) => "ENDED EARLY",
            (None, true) => "correct",
            (None, false) => "FAILED",
        };
        table.row([
            kernel.kernel.clone(),
            kernel.input.clone(),
            kernel.cases.to_string(),
            kernel.compared_with_emulator.to_string(),
            kernel.runs.to_string(),
            format!("{:.1}", kernel.seconds),
            verdict.to_owned(),
        ]);
    }
    let mut text = table.to_string();
    for kernel in results.kernels.iter().filter(|kernel| !kernel.passed) {
        text += &format!("{}: {}\n", kernel.symbol, complaint(kernel));
    }
    let failed = results.kernels.iter().filter(|kernel| !kernel.passed);
    let count = results.kernels.len();
    text += &match failed.count() {
        0 if count == 1 => format!("The kernel passed on {}.\n", results.device.name),
        0 => format!("All {count} kernels passed on {}.\n", results.device.name),
        failed => format!(
            "{failed} of {count} kernels FAILED on {}. Please report it with `{}`.\n",
            results.device.name,
            out.display()
        ),
    };
    text
}

/// What is wrong with a kernel.
fn complaint(kernel: &KernelResult) -> String {
    if let Some(end) = &kernel.process {
        let case = kernel.said.iter().rfind(|line| is_progress(line));
        let during = case.map_or_else(String::new, |case| format!(" during {case}"));
        let mut text = format!("its process failed{during}: {end}");
        for line in kernel.said.iter().filter(|line| !is_progress(line)) {
            text += &format!("\n  {line}");
        }
        return text;
    }
    let Some(first) = kernel.failures.first() else {
        return "no product failed".to_owned();
    };
    format!(
        "{} of {} products failed; the first: {}\n  {}",
        kernel.failed_cases, kernel.cases, first.what, first.case
    )
}

/// Whether a line of a process says which case begins.
fn is_progress(line: &str) -> bool {
    ["case ", "runs "].iter().any(|word| line.starts_with(word))
}
