//! A launch, with everything that the emulator can say of it.

use std::{collections::HashMap, env, hint, sync::Arc};

use ferrowave_check::{self as check, Check, Checked, Finding, Options};
use ferrowave_code_object::{CodeObject, nearest};
use ferrowave_emulator::{
    dispatch::{self, LaunchConfig, LaunchError, LaunchSummary, Limits, Observed},
    exec::{Observer, SimdLevel},
    memory::{AllocationKind, DeviceMemory, PAGE_BYTES},
    program::{Kernel, Names, Program, SymbolizedInstruction},
};
use ferrowave_gpu::{Gpu, Product};
use ferrowave_inspect::{
    ArgumentError, BufferAfter, BufferData, Element, KernelArgument, Shape, kernarg, parameters,
};
use ferrowave_profile::{Counted, Format as ProfileFormat, Profile, Setup};
use ferrowave_timing::{Format as TimingFormat, Parameters, Plan, Timing};
use serde::{Deserialize, Serialize};

/// The memory that a device has here: what a module of 32 bits can hold, without the emulator's own.
const MEMORY_BYTES: u64 = 3 << 30;

/// What the threads of a launch can allocate before the module's memory grows.
const THREADS_BYTES: usize = 256 << 20;

/// Elements of a buffer that the page shows.
const SHOWN_ELEMENTS: usize = 256;

/// A launch that the page asks for.
#[derive(Debug, Deserialize)]
pub struct Launch {
    /// The number of the code object.
    pub object: usize,
    /// The kernel's name.
    pub kernel: String,
    /// The GPU.
    pub gpu: String,
    /// Workgroups along x, y and z, as text.
    pub grid: String,
    /// Work-items of a workgroup along x, y and z, as text.
    pub block: String,
    /// LDS in addition to the kernel's own.
    #[serde(default)]
    pub lds_bytes: u32,
    /// The arguments in order, as on a command line.
    pub arguments: Vec<String>,
    /// Seed of random buffers.
    #[serde(default)]
    pub seed: u64,
    /// Names of checks with commas between, or `all`; none if empty.
    #[serde(default)]
    pub checks: String,
    /// Extra runs in other orders of waves, workgroups and loads.
    #[serde(default)]
    pub seeds: u32,
    /// The product to model the time of.
    pub machine: Option<String>,
    /// Maximum instructions of all waves.
    pub limit: Option<u64>,
}

/// What a launch did.
#[derive(Debug, Serialize)]
pub(crate) struct Ran {
    /// Why it ended before its end.
    error: Option<String>,
    wave_instructions: u64,
    workgroups: u64,
    waves: u64,
    /// The number of findings.
    findings: usize,
    /// The findings as text.
    report: String,
    /// The counters, and the modelled time, as a page.
    profile: String,
    /// The modelled time as text, or why there is none.
    timing: Option<Result<String, String>>,
    buffers: Vec<Shown>,
}

/// The start of a buffer.
#[derive(Debug, Serialize)]
struct Shown {
    argument: usize,
    /// Its extents and type.
    kind: String,
    elements: usize,
    first: Vec<String>,
}

/// The parts of a launch that can be wrong before it starts.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    #[error("{0}")]
    Other(String),
}

fn other(error: impl ToString) -> Refused {
    Refused::Other(error.to_string())
}

/// Loads a code object for a GPU.
fn load(object: &CodeObject, gpu: Gpu, memory: &Arc<DeviceMemory>) -> Result<Program, String> {
    Program::load(object.bytes(), gpu, memory, SimdLevel::detect())
        .map_err(|error| error.to_string())
}

fn find(program: &Program, name: &str) -> Result<Kernel, String> {
    program.kernel(name).ok_or_else(|| {
        let meant = nearest(name, program.kernel_names());
        let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
        format!("the code object has no kernel `{name}`{meant}")
    })
}

/// The instructions of a kernel, each with its source lines.
pub(crate) fn listing(
    object: &CodeObject,
    name: &str,
) -> Result<Vec<SymbolizedInstruction>, String> {
    let memory = Arc::new(DeviceMemory::new(MEMORY_BYTES));
    let program = load(object, object.target().gpu, &memory)?;
    let kernel = find(&program, name)?;
    let names = Names::new(&kernel);
    Ok(kernel
        .instructions()
        .filter_map(|index| names.place(index))
        .map(|mut place| {
            place.source = place.own_source().into_iter().cloned().collect();
            place
        })
        .collect())
}

/// Runs a launch. `files` are those that its arguments name. Returns the buffers, too.
pub(crate) fn run(
    object: &CodeObject,
    launch: &Launch,
    files: &HashMap<String, Vec<u8>>,
) -> Result<(Ran, Vec<BufferAfter>), String> {
    let gpu: Gpu = launch.gpu.parse().map_err(|error| format!("{error}"))?;
    let options = Options {
        checks: match launch.checks.trim() {
            "" => Vec::new(),
            names => check::parse(names).map_err(|error| error.to_string())?,
        },
        seeds: launch.seeds,
        schedule: None,
    };
    let machine = launch.machine.as_deref().filter(|name| !name.is_empty());
    let machine = machine
        .map(|name| name.parse::<Product>().map_err(|error| error.to_string()))
        .transpose()?;
    let memory = match options.checks.contains(&Check::Memory) {
        true => DeviceMemory::with_account(MEMORY_BYTES),
        false => DeviceMemory::new(MEMORY_BYTES),
    };
    let memory = Arc::new(memory);
    let program = load(object, gpu, &memory)?;
    let kernel = find(&program, &launch.kernel)?;
    let (kernarg, placed) =
        arguments(object, launch, files, &memory).map_err(|error| error.to_string())?;
    let shape = |name: &str, text: &str| {
        let shape: Result<Shape, _> = text.parse();
        shape
            .map(|shape| shape.0)
            .map_err(|error| format!("{name}: {error}"))
    };
    let config = LaunchConfig {
        grid: shape("grid", &launch.grid)?,
        block: shape("block", &launch.block)?,
        dynamic_lds_bytes: launch.lds_bytes,
        kernarg: &kernarg,
        seed: 0,
        threads: None,
        limits: Limits {
            instructions: launch.limit,
            ..Limits::NONE
        },
        cooperative: false,
        group: None,
        partial: [0; 3],
    };
    // The page says how many threads there are, if it has some.
    if env::var_os("RAYON_NUM_THREADS").is_some() {
        grow_memory();
    }
    let seen = watch(&kernel, &config, &options, machine).map_err(|error| error.to_string())?;
    let after = placed
        .into_iter()
        .map(|(address, mut after)| {
            let read = memory.read(address, &mut after.data.bytes);
            read.map(|()| after).map_err(|error| error.to_string())
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok((seen.described(&options.checks, &after), after))
}

/// Has the module's memory grow before threads run, as far as it can. V8 is late to tell threads what another one has added, and
/// their atomic operations on it fail until then («memory access out of bounds»).
fn grow_memory() {
    // Where memory is short, a few blocks of each size.
    let mut held = Vec::with_capacity(64);
    let (mut left, mut part) = (THREADS_BYTES, THREADS_BYTES);
    while left > 0 && part >= PAGE_BYTES && held.len() < held.capacity() {
        let mut bytes = Vec::<u8>::new();
        part = part.min(left);
        match bytes.try_reserve_exact(part) {
            Ok(()) => {
                left -= part;
                held.push(bytes);
            }
            Err(_) => part /= 2,
        }
    }
    // What is freed stays the module's.
    hint::black_box(held);
}

/// Buffers with their addresses.
type Placed = Vec<(u64, BufferAfter)>;

fn arguments(
    object: &CodeObject,
    launch: &Launch,
    files: &HashMap<String, Vec<u8>>,
    memory: &DeviceMemory,
) -> Result<(Vec<u8>, Placed), Refused> {
    let described = object.kernel(&launch.kernel);
    let parameters = described.map_or_else(Vec::new, |kernel| parameters(object, kernel));
    let read = |name: &str| {
        let found = files.get(name).cloned();
        found.ok_or_else(|| "there is no file of that name; drop it on the page".to_owned())
    };
    let given = launch.arguments.iter().enumerate();
    let given = given.map(|(index, text)| {
        let parsed: Result<KernelArgument, String> = text.trim().parse();
        let read = parsed.and_then(|argument| argument.with_file(read));
        read.map_err(|error| Refused::Other(format!("argument {index}: {error}")))
    });
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let mut placed = Vec::new();
    let kernarg = kernarg(&launch.kernel, &parameters, given, launch.seed, |buffer| {
        let address = memory
            .allocate(buffer.bytes, AllocationKind::Device)
            .map_err(other)?;
        let data = BufferData {
            element: buffer.element,
            shape: buffer.shape,
            bytes: match buffer.contents {
                Some(contents) => {
                    memory.write(address, &contents).map_err(other)?;
                    contents
                }
                None => vec![0; buffer.bytes],
            },
        };
        let argument = buffer.argument;
        placed.push((address, BufferAfter { argument, data }));
        Ok::<_, Refused>(address)
    })?;
    Ok((kernarg, placed))
}

/// What was seen of a launch.
struct Seen {
    outcome: Result<LaunchSummary, LaunchError>,
    findings: Vec<Finding>,
    profile: Profile,
    timing: Option<Result<Timing, String>>,
}

fn watch(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    options: &Options,
    machine: Option<Product>,
) -> Result<Seen, LaunchError> {
    let setup = Setup::new(kernel);
    let mut profile = Profile::new(kernel);
    let mut counted = |counters| profile.add(kernel, &Counted::new(kernel, config, counters));
    let plan = machine.map(|machine| {
        let parameters = Parameters::try_from(machine).map_err(|error| error.to_string())?;
        Plan::new(kernel, config, parameters).map_err(|error| error.to_string())
    });
    let (outcome, findings, timing) = match plan {
        Some(Ok(plan)) => {
            let both = || (setup.counter(), plan.tracer());
            let (outcome, findings, observers) =
                observe(kernel, &plan.config(config), options, both)?;
            let (counters, tracers) = observers.into_iter().unzip();
            counted(counters);
            // A launch that failed has no time.
            let timing = outcome.is_ok().then(|| {
                let timing = plan.timing(kernel, tracers);
                timing.map_err(|error| error.to_string())
            });
            (outcome, findings, timing)
        }
        plan => {
            let (outcome, findings, counters) =
                observe(kernel, config, options, || setup.counter())?;
            counted(counters);
            (outcome, findings, plan.and_then(Result::err).map(Err))
        }
    };
    Ok(Seen {
        outcome,
        findings,
        profile,
        timing,
    })
}

type Observation<O> = (Result<LaunchSummary, LaunchError>, Vec<Finding>, Vec<O>);

/// Runs a launch with an observer and the checks that are asked for.
fn observe<O: Observer + Send>(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    options: &Options,
    observer: impl Fn() -> O + Sync,
) -> Result<Observation<O>, LaunchError> {
    if !options.is_active() {
        let Observed { outcome, observers } =
            dispatch::launch_observed(kernel, config, |_| observer())?;
        return Ok((outcome, Vec::new(), observers));
    }
    let (Checked { outcome, findings }, observers) =
        check::launch_beside(kernel, config, options, observer)?;
    Ok((outcome, findings, observers))
}

impl Seen {
    fn described(self, checks: &[Check], after: &[BufferAfter]) -> Ran {
        let summary = self.outcome.as_ref().copied().unwrap_or_default();
        let timings: Vec<_> = self.timing.iter().flatten().cloned().collect();
        let profiles = [self.profile];
        Ran {
            error: self.outcome.err().map(|error| error.to_string()),
            wave_instructions: summary.wave_instructions,
            workgroups: summary.workgroups,
            waves: summary.waves,
            findings: self.findings.len(),
            report: match checks.is_empty() && self.findings.is_empty() {
                true => String::new(),
                false => check::Format::Text.write(checks, &self.findings),
            },
            profile: ProfileFormat::Html.write_with(&profiles, &timings),
            timing: self
                .timing
                .map(|timing| timing.map(|timing| TimingFormat::Summary.write(&[timing]))),
            buffers: after.iter().map(shown).collect(),
        }
    }
}

fn shown(after: &BufferAfter) -> Shown {
    Shown {
        argument: after.argument,
        kind: after.kind(),
        elements: after.len(),
        first: after.elements().take(SHOWN_ELEMENTS).collect(),
    }
}

/// The name of the file that a page offers for a buffer. NumPy has no bf16.
pub(crate) fn file_name(after: &BufferAfter) -> String {
    let extension = match after.data.element {
        Element::Bf16 => "bin",
        _ => "npy",
    };
    format!("argument-{}.{extension}", after.argument)
}
