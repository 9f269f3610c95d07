//! The steps of `ferrowave doctor` that call HIP. Each runs in a process of its own, since it may abort or never return, and
//! writes what it finds as lines of JSON.

use std::{fs, path::Path};

use clap::ValueEnum;
use ferrowave::{
    embedded,
    gemm::{Gemm, Plan, Request, kernel_named},
    hip::{
        Context, Device, DeviceSelector, LoadError, OpenError, Source,
        load::Unusable,
        system::{self, System},
    },
};
use ferrowave_code_object::CodeObject;
use ferrowave_gpu::PciPlace;
use ferrowave_hip_abi::hipError_t;
use ferrowave_shared::gpus_with_kernels;
use serde::{Deserialize, Serialize};

use crate::cli::{
    Failure, print,
    product::{References, complaint, compute},
};

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Step {
    /// Loads HIP and lists its devices.
    List,
    /// Loads the kernels on a device and launches one.
    Launch,
}

impl Step {
    /// Its name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Step::List => "list",
            Step::Launch => "launch",
        }
    }
}

/// A line of a step's output.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Line {
    /// HIP cannot be used.
    Unusable {
        reason: String,
        /// What is missing, if something is.
        absence: Option<Absence>,
        /// What is wrong beyond the driver's files, each with its repair.
        repairs: Vec<(String, String)>,
    },
    /// HIP can be used.
    Hip(Hip),
    /// One of its devices.
    Device(Facts),
    /// A device does not answer.
    Silent { device: String, reason: String },
    /// What the step does next.
    Begins(String),
    /// It did what it began with, as these words say.
    Done(String),
    /// It did not: why.
    Failed { reason: String, repair: String },
    /// The last line.
    End,
}

/// What HIP lacks on a computer without a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Absence {
    /// There is no library where HIP is looked for.
    Library,
    /// HIP finds no device.
    Device,
}

/// The HIP library.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hip {
    pub(super) library: String,
    /// Version of HIP, as in `6.2.41133`.
    pub(super) version: String,
    pub(super) emulated: bool,
}

/// What is known of a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) device: String,
    pub(super) name: String,
    pub(super) target: String,
    pub(super) compute_units: u32,
    pub(super) xcds: u32,
    /// Where the number of XCDs is from.
    pub(super) xcds_from: String,
    /// The mode in which the driver divides the GPU into devices, such as SPX, if it tells.
    pub(super) partition: Option<String>,
    /// LDS of a workgroup, in bytes.
    pub(super) lds_bytes: u32,
    pub(super) memory_bytes: u64,
    pub(super) kernels_built: bool,
    /// Whether Ferrowave has kernels for the GPU that could be built.
    pub(super) kernels_exist: bool,
}

pub(super) fn run(step: Step, selector: DeviceSelector) -> Result<(), Failure> {
    match step {
        Step::List => list(),
        Step::Launch => launch(selector),
    }?;
    say(&Line::End)
}

fn say(line: &Line) -> Result<(), Failure> {
    let line = serde_json::to_string(line).map_err(Failure::failed)?;
    print(&format_args!("{line}\n"))
}

fn list() -> Result<(), Failure> {
    let mut has_said_hip = false;
    for ordinal in 0.. {
        let selector = DeviceSelector::Hip(ordinal);
        match Device::open(&selector) {
            Ok(device) => {
                if !has_said_hip {
                    say(&Line::Hip(hip(&device)))?;
                    has_said_hip = true;
                }
                say(&Line::Device(facts(&selector, &device)))?;
            }
            // The first number past the last device.
            Err(OpenError::NoSuchDevice { .. }) => break,
            Err(OpenError::Unusable { reason, .. }) => {
                let absence = match &reason {
                    Unusable::Load(LoadError::NotFound { .. }) => Some(Absence::Library),
                    Unusable::NoDevice => Some(Absence::Device),
                    Unusable::Hip(error) if error.code == hipError_t::hipErrorNoDevice => {
                        Some(Absence::Device)
                    }
                    _ => None,
                };
                return say(&Line::Unusable {
                    reason: reason.to_string(),
                    absence,
                    repairs: repairs(&reason),
                });
            }
            Err(error) => say(&Line::Silent {
                device: selector.to_string(),
                reason: error.to_string(),
            })?,
        }
    }
    Ok(())
}

/// What is wrong with HIP itself.
fn repairs(reason: &Unusable) -> Vec<(String, String)> {
    let system = System::here();
    let access = system.access();
    let mut troubles = system.troubles(reason);
    troubles.retain(|trouble| !access.contains(trouble));
    if troubles.is_empty() && access.is_empty() {
        // Without the driver's files, as in WSL.
        let repair = "install ROCm 6.0 or later, or correct FERROWAVE_HIP_LIBRARY";
        return vec![(reason.to_string(), repair.to_owned())];
    }
    let pairs = troubles
        .into_iter()
        .map(|trouble| (trouble.what, trouble.repair));
    pairs.collect()
}

fn hip(device: &Device) -> Hip {
    let api = device.api();
    Hip {
        library: match api.source() {
            Source::Library(path) => path.display().to_string(),
            Source::Emulator => "the built-in emulator".to_owned(),
        },
        // HIP_VERSION of hip_version.h: major × 10^7 + minor × 10^5 + patch.
        version: api.runtime_version().map_or_else(
            |error| error.to_string(),
            |version| {
                let (major, minor) = (version / 10_000_000, version / 100_000 % 100);
                format!("{major}.{minor}.{}", version % 100_000)
            },
        ),
        emulated: api.is_emulated(),
    }
}

fn facts(selector: &DeviceSelector, device: &Device) -> Facts {
    let properties = device.properties();
    let xcds = device.xcds();
    Facts {
        device: selector.to_string(),
        name: properties.name.clone(),
        target: properties.target.clone(),
        compute_units: properties.compute_units,
        xcds: xcds.count,
        xcds_from: xcds.source.to_string(),
        partition: partition(&system::root(), properties.pci),
        lds_bytes: properties.lds_bytes,
        memory_bytes: properties.memory_bytes,
        kernels_built: embedded::code_object(properties.gpu_name()).is_some(),
        kernels_exist: gpus_with_kernels().contains(properties.gpu_name()),
    }
}

/// Linux' name of the mode in which a GPU is divided, where it can be: `current_compute_partition` in the folder of the PCI
/// device (`amdgpu_gfx_get_current_compute_partition` in `drivers/gpu/drm/amd/amdgpu/amdgpu_gfx.c`).
fn partition(root: &Path, place: PciPlace) -> Option<String> {
    let PciPlace {
        domain,
        bus,
        device,
    } = place;
    let folder = format!("sys/bus/pci/devices/{domain:04x}:{bus:02x}:{device:02x}.0");
    let text = fs::read_to_string(root.join(folder).join("current_compute_partition")).ok()?;
    Some(text.trim().to_owned()).filter(|mode| !mode.is_empty())
}

/// The extent of the small product: several workgroups, and a moment's work for the emulator.
const EXTENT: i64 = 64;

fn launch(selector: DeviceSelector) -> Result<(), Failure> {
    let failed = |reason: String, repair: &str| {
        say(&Line::Failed {
            reason,
            repair: repair.to_owned(),
        })
    };
    say(&Line::Begins("opening it".to_owned()))?;
    let opened = Device::open(&selector)
        .map_err(|error| error.to_string())
        .and_then(|device| Context::new(&device).map_err(|error| error.to_string()));
    let context = match opened {
        Ok(context) => context,
        Err(error) => return failed(error, RESET),
    };
    let device = context.device();
    let gpu = device.properties().gpu_name();
    let Some(code_object) = embedded::code_object(gpu) else {
        return failed(format!("no kernels are built for {gpu}"), &build(gpu));
    };
    say(&Line::Begins("loading the kernels".to_owned()))?;
    let gemm = match Gemm::new(&context, code_object) {
        Ok(gemm) => gemm,
        Err(error) => return failed(error.to_string(), &refused(code_object)),
    };
    let request = Request::new(EXTENT, EXTENT, EXTENT);
    let problem = request.check().map_err(Failure::failed)?;
    let kernel = kernel_named("naive", problem.types(), gpu).map_err(Failure::failed)?;
    say(&Line::Done("the kernels can be loaded".to_owned()))?;
    say(&Line::Begins(format!(
        "running `{}` on {EXTENT}×{EXTENT} matrices",
        kernel.variant.name()
    )))?;
    let plan = Plan::new(kernel, &problem, gemm.machine()).map_err(Failure::failed)?;
    match compute(&gemm, &plan, &References::new(0)) {
        Ok(outcome) => match complaint(&outcome.verdict) {
            None => say(&Line::Done("the product is right".to_owned())),
            Some(complaint) => failed(
                format!("the product is wrong: {complaint}"),
                "run `ferrowave selftest`, and attach its file to a report of this failure",
            ),
        },
        Err(error) => failed(error.to_string(), RESET),
    }
}

/// What may help if a device does not do what others of its kind do.
pub(super) const RESET: &str = "see what the driver says (`dmesg | grep -e amdgpu -e kfd`), and what else uses the GPU \
                                (`rocm-smi --showpids`); reset it with `rocm-smi --gpureset -d N`, or restart the computer";

/// How the kernels of a GPU are built.
pub(super) fn build(gpu: &str) -> String {
    let mut gpus: Vec<_> = embedded::gpus().iter().map(|gpu| gpu.name()).collect();
    gpus.push(gpu);
    format!("build with FERROWAVE_GPUS={} set", gpus.join(","))
}

/// What helps if HIP refuses a code object. ROCr before 6.2 knows versions to 5 (`ExecutableImpl::LoadCodeObject` in
/// `loader/executable.cpp`), and HIP then says that there is no code for the GPU.
fn refused(code_object: &[u8]) -> String {
    let version = match CodeObject::parse(code_object) {
        Ok(object) => object.target().version.to_string(),
        Err(error) => error.to_string(),
    };
    format!(
        "update ROCm: before 6.2 it loads code objects to v5, and this is {version}; or build the kernels again"
    )
}
