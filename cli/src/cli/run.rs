//! `ferrowave run`

use std::process::ExitCode;

use clap::Args;
use ferrowave::{
    embedded,
    gemm::{Gemm, Machine, Plan, Request, choose, kernel_named},
    hip::Context,
};
use serde::Serialize;

use super::{
    DeviceOption, Failure,
    apart::Apart,
    code_object, print, print_json,
    product::{References, complaint, compute},
    request::{Preset, ProductOptions, TypeOption, extent, layout_letters, seed},
    say,
};

/// C ← epilogue(α·A·B + β·prologue(C) + bias)
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    /// The kernel, as `ferrowave list` names it [default: the one that fits the problem best].
    #[arg(long)]
    kernel: Option<String>,
    /// Rows of A and C.
    #[arg(long, required_unless_present = "preset", value_parser = extent)]
    m: Option<i64>,
    /// Columns of B and C.
    #[arg(long, required_unless_present = "preset", value_parser = extent)]
    n: Option<i64>,
    /// Columns of A, rows of B.
    #[arg(long, required_unless_present = "preset", value_parser = extent)]
    k: Option<i64>,
    /// Size of published figures, for those of --m, --n and --k that are not given.
    #[arg(long, value_enum)]
    preset: Option<Preset>,
    /// Elements from one row of A to the next, or from one column if A is column-major [default: the length of a row or
    /// column].
    #[arg(long, value_parser = extent)]
    lda: Option<i64>,
    /// Elements from one row of B to the next, or from one column if B is column-major [default: the length of a row or
    /// column].
    #[arg(long, value_parser = extent)]
    ldb: Option<i64>,
    /// Elements from one row of C to the next [default: n].
    #[arg(long, value_parser = extent)]
    ldc: Option<i64>,
    #[command(flatten)]
    element: TypeOption,
    #[command(flatten)]
    product: ProductOptions,
    /// Seed of the random matrices.
    #[arg(long, default_value_t = 0, value_parser = seed)]
    seed: u64,
    #[command(flatten)]
    apart: Apart,
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
    input: &'static str,
    output: &'static str,
    layout: String,
    alpha: f64,
    beta: f64,
    bias_elements: u32,
    prologue: String,
    epilogue: String,
    gate: bool,
    output_scale: f64,
    /// The largest magnitude of the results before they are scaled and stored in 8-bit floats; null for other types of C, and
    /// if it is not finite.
    amax: Option<f32>,
    seed: u64,
    passed: bool,
    /// ‖out − ref‖ / ‖ref‖ over the elements whose reference is finite; null if there is none.
    relative_error: Option<f64>,
    /// The largest element error in units of its rounding bound.
    worst_error_in_bounds: Option<f64>,
    /// Which elements were compared, and how the others were verified.
    verified: String,
    /// Between HIP events; only on a GPU.
    gpu_kernel_ns: Option<u128>,
    /// The emulator's wall clock; only on the emulator.
    emulator_kernel_ns: Option<u128>,
    wall_ns: u128,
    complaint: Option<String>,
}

impl Report<'_> {
    fn is_empty(&self) -> bool {
        [self.m, self.n, self.batch].contains(&0)
    }
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    if options.apart.is_wanted(&options.device) {
        return options.apart.run();
    }
    let preset = options.preset.map(Preset::size);
    // clap has made sure that one of the two is given.
    let extent = |given: Option<i64>, preset: Option<i64>| given.or(preset).unwrap_or(0);
    let [m, n, k] = [
        extent(options.m, preset.map(|size| size.m)),
        extent(options.n, preset.map(|size| size.n)),
        extent(options.k, preset.map(|size| size.k)),
    ];
    let device = options.device.open(&embedded::gpus())?;
    let machine = Machine::of(&device);
    let request = Request {
        lda: options.lda,
        ldb: options.ldb,
        ldc: options.ldc,
        ..options
            .product
            .request(options.element.of(&machine.gpu), m, n, k)
    };
    let problem = request.check().map_err(Failure::usage)?;
    // Checked before the code object is looked up: which GPUs a kernel exists for does not depend on this build.
    let named = match &options.kernel {
        Some(name) => {
            let kernel =
                kernel_named(name, problem.types(), &machine.gpu).map_err(Failure::usage)?;
            Some(Plan::new(kernel, &problem, &machine).map_err(Failure::usage)?)
        }
        None => {
            choose(&problem, &machine, None).map_err(Failure::usage)?;
            None
        }
    };
    let code_object = code_object(&device)?;
    let context = Context::new(&device).map_err(Failure::failed)?;
    let gemm = Gemm::new(&context, code_object).map_err(Failure::failed)?;
    let plan = match named {
        Some(plan) => plan,
        None => {
            // Uploaded buffers are aligned.
            let choice = gemm.tuned_choice(&problem, None).map_err(Failure::usage)?;
            if let Some(note) = gemm.tuning_note() {
                say(format_args!("{note}\n"));
            }
            if options.device.verbose {
                say(format_args!("kernel {choice}\n"));
            }
            Plan::with_parts(choice.kernel, &problem, &machine, choice.parts)
                .map_err(Failure::usage)?
        }
    };
    let kernel = plan.kernel();
    let outcome = compute(&gemm, &plan, &References::new(options.seed))?;
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
        input: problem.types().name(),
        output: problem.types().output.name(),
        layout: layout_letters(problem.a().order, problem.b().order),
        alpha: request.alpha,
        beta: request.beta,
        bias_elements: problem.bias_length(),
        prologue: request.prologue.to_string(),
        epilogue: request.epilogue.to_string(),
        gate: request.gate,
        output_scale: request.output_scale,
        amax: outcome.amax,
        seed: options.seed,
        passed: outcome.verdict.passed(),
        relative_error: outcome.verdict.relative_error,
        worst_error_in_bounds: outcome
            .verdict
            .worst
            .as_ref()
            .map(|worst| worst.error_in_bounds),
        verified: outcome.verdict.method.to_string(),
        gpu_kernel_ns: (!emulated).then_some(kernel_ns),
        emulator_kernel_ns: emulated.then_some(kernel_ns),
        wall_ns: outcome.wall_time.as_nanos(),
        complaint: complaint(&outcome.verdict),
    };
    if options.json {
        print_json(&report)?;
    } else {
        print(&text(&report))?;
    }
    Ok(if report.passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn text(report: &Report<'_>) -> String {
    let milliseconds = |ns: u128| ns as f64 / 1e6;
    let mut text = format!(
        "{} {}×{}×{} {} → {}, layout {}, batch {}, α {}, β {}, seed {}\n",
        report.kernel,
        report.m,
        report.n,
        report.k,
        report.input,
        report.output,
        report.layout,
        report.batch,
        report.alpha,
        report.beta,
        report.seed
    );
    let bias = match report.bias_elements {
        0 => "no bias".to_owned(),
        count => format!("bias of {count} elements"),
    };
    let operates = report.prologue != "none" || report.epilogue != "none";
    if report.bias_elements > 0 || operates || report.gate {
        let gate = if report.gate { ", gate" } else { "" };
        text += &format!(
            "{bias}, prologue {}, epilogue {}{gate}\n",
            report.prologue, report.epilogue
        );
    }
    if let Some(amax) = report.amax {
        text += &format!(
            "output scale     {}; the largest magnitude before it is {amax:e}\n",
            report.output_scale
        );
    }
    text += &match report.relative_error {
        Some(error) => format!("relative error   {error:.3e}\n"),
        None if report.is_empty() => "relative error   none: C has no elements\n".to_owned(),
        None => "relative error   none: no element of the reference is finite\n".to_owned(),
    };
    if let Some(worst) = report.worst_error_in_bounds {
        text += &format!("worst element    {worst:.4} of its rounding bound\n");
    }
    text += &format!("verified by      {}\n", report.verified);
    if let Some(ns) = report.gpu_kernel_ns {
        text += &format!("kernel time      {:.3} ms on the GPU\n", milliseconds(ns));
    }
    if let Some(ns) = report.emulator_kernel_ns {
        text += &format!(
            "emulation time   {:.3} ms on this computer, not a GPU's time\n",
            milliseconds(ns)
        );
    }
    text += &format!(
        "wall time        {:.3} ms with copies\n",
        milliseconds(report.wall_ns)
    );
    match &report.complaint {
        None if report.relative_error.is_none() && report.worst_error_in_bounds.is_some() => {
            text + "correct: NaN and infinities where the reference has them; no finite element was compared\n"
        }
        None if report.is_empty() => text + "correct: there is nothing to compute\n",
        None => text + "correct\n",
        Some(complaint) => text + &format!("WRONG: {complaint}\n"),
    }
}
