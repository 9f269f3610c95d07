//! Devices, modules and kernels.

use std::{path::PathBuf, sync::Arc};

use ferrowave_gpu::Product;
use ferrowave_hip::timing::Settings;
use ferrowave_host::hip::{self, Context, DeviceSelector};
use ferrowave_launch::{
    BufferAfter, Failure, KernelArgument, KernelCall, KernelParameter, LoadedKernel, Shape,
    check::CheckList, kernel::load, read_file,
};
use ferrowave_timing::Parameters;
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    arguments::Call,
    error::{ArgumentError, Error, exception},
    observed,
    results::{Findings, Profile, Timing},
};

/// A device: an emulated GPU, or one of HIP's.
#[pyclass(frozen, module = "ferrowave")]
pub(crate) struct Device {
    context: Context,
    selector: DeviceSelector,
}

/// A loaded code object.
#[pyclass(frozen, module = "ferrowave")]
pub(crate) struct Module {
    module: hip::Module,
    source: Arc<Source>,
}

/// Where a kernel came from, to load it again on another device.
struct Source {
    bytes: Vec<u8>,
    selector: DeviceSelector,
}

/// A kernel of a module.
#[pyclass(frozen, module = "ferrowave")]
pub(crate) struct Kernel {
    kernel: LoadedKernel,
    source: Arc<Source>,
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (name = "gfx942"))]
    fn new(py: Python<'_>, name: &str) -> PyResult<Self> {
        let selector: DeviceSelector = name
            .parse()
            .map_err(|error| ArgumentError::new_err(format!("{error}")))?;
        let context = py
            .detach(|| open(&selector))
            .map_err(|failure| exception(py, &failure))?;
        Ok(Device { selector, context })
    }

    /// Loads a code object, an offload bundle, or a program or library with bundles: its bytes, or the path of a file.
    fn load(&self, py: Python<'_>, code_object: &Bound<'_, PyAny>) -> PyResult<Module> {
        let (bytes, name) = match code_object.cast::<PyBytes>() {
            Ok(bytes) => (bytes.as_bytes().to_vec(), "code_object".to_owned()),
            Err(_) => {
                let path: PathBuf = code_object.extract().map_err(|_| {
                    ArgumentError::new_err(
                        "code_object must be the bytes of a code object, or the path of a file",
                    )
                })?;
                let name = path.display().to_string();
                let bytes = read_file(&path)
                    .map_err(|error| ArgumentError::new_err(format!("{name}: {error}")))?;
                (bytes, name)
            }
        };
        let loaded = py.detach(|| load(&self.context, &bytes));
        let module =
            loaded.map_err(|failure| ArgumentError::new_err(format!("{name}: {failure}")))?;
        let source = Arc::new(Source {
            bytes,
            selector: self.selector,
        });
        Ok(Module { module, source })
    }

    /// The device's name.
    #[getter]
    fn name(&self) -> &str {
        &self.context.device().properties().name
    }

    /// Its GPU, such as gfx942.
    #[getter]
    fn gpu(&self) -> &str {
        self.context.device().properties().gpu_name()
    }

    #[getter]
    fn compute_units(&self) -> u32 {
        self.context.device().properties().compute_units
    }

    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.context.device().properties().memory_bytes
    }

    #[getter]
    fn lds_bytes(&self) -> u32 {
        self.context.device().properties().lds_bytes
    }

    #[getter]
    fn wave_size(&self) -> u32 {
        self.context.device().properties().wave_size
    }

    #[getter]
    fn is_emulated(&self) -> bool {
        self.context.device().is_emulated()
    }

    fn __repr__(&self) -> String {
        format!("<ferrowave.Device {}>", self.context.device().choice())
    }
}

#[pymethods]
impl Module {
    /// The names of its kernels.
    #[getter]
    fn kernels(&self) -> Vec<&str> {
        let kernels = self.module.code_object().kernels().iter();
        kernels
            .map(|kernel| kernel.metadata.name.as_str())
            .collect()
    }

    /// A kernel by its name.
    fn kernel(&self, name: &str) -> PyResult<Kernel> {
        let kernel = LoadedKernel::find(&self.module, name)
            .map_err(|failure| ArgumentError::new_err(failure.to_string()))?;
        Ok(Kernel {
            kernel,
            source: Arc::clone(&self.source),
        })
    }

    fn __repr__(&self) -> String {
        let object = self.module.code_object();
        format!(
            "<ferrowave.Module for {} with {} kernels>",
            object.target(),
            object.kernels().len()
        )
    }
}

#[pymethods]
impl Kernel {
    #[getter]
    fn name(&self) -> &str {
        self.kernel.kernel().name()
    }

    /// What it takes, in words, in order.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.kernel
            .parameters()
            .iter()
            .map(KernelParameter::kind)
            .collect()
    }

    /// Launches the kernel, waits for it, and copies what it wrote back to the arrays.
    #[pyo3(signature = (grid, block, args, *, lds_bytes = 0))]
    fn launch(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyAny>,
        lds_bytes: u32,
    ) -> PyResult<()> {
        let call = Call::new(&self.kernel, args)?;
        let launch = Launch::new(grid, block, lds_bytes, &call.arguments)?;
        let after = py.detach(|| observed::plain(|| launch.run(&self.kernel)));
        call.write_back(&after.map_err(|failure| exception(py, &failure))?)
    }

    /// Launches the kernel under the emulator's checks, and returns the findings. A kernel that faults has some.
    #[pyo3(signature = (grid, block, args, *, checks = "all", seeds = 0, lds_bytes = 0))]
    #[expect(clippy::too_many_arguments, reason = "Python has keywords")]
    fn check(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyAny>,
        checks: &str,
        seeds: u32,
        lds_bytes: u32,
    ) -> PyResult<Findings> {
        let CheckList(checks) = checks
            .parse()
            .map_err(|error| ArgumentError::new_err(format!("checks: {error}")))?;
        let call = Call::new(&self.kernel, args)?;
        let launch = Launch::new(grid, block, lds_bytes, &call.arguments)?;
        let selector = self.emulated("checks kernels")?;
        let (outcome, findings) =
            py.detach(|| observed::checked(&checks, seeds, || self.again(selector, &launch)));
        match outcome {
            Ok(after) => call.write_back(&after)?,
            Err(failure) if findings.is_empty() => return Err(exception(py, &failure)),
            Err(_) => {}
        }
        Ok(Findings::new(checks, findings))
    }

    /// Launches the kernel, and counts what it does.
    #[pyo3(signature = (grid, block, args, *, lds_bytes = 0))]
    fn profile(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyAny>,
        lds_bytes: u32,
    ) -> PyResult<Profile> {
        let call = Call::new(&self.kernel, args)?;
        let launch = Launch::new(grid, block, lds_bytes, &call.arguments)?;
        let selector = self.emulated("counts what kernels do")?;
        let (outcome, profiles) = py.detach(|| observed::counted(|| self.again(selector, &launch)));
        call.write_back(&outcome.map_err(|failure| exception(py, &failure))?)?;
        Ok(Profile::new(profiles))
    }

    /// Launches the kernel, and models the time that it takes on a machine: the device's, or another with the same GPU.
    #[pyo3(signature = (grid, block, args, *, machine = None, lds_bytes = 0))]
    fn time(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        args: &Bound<'_, PyAny>,
        machine: Option<&str>,
        lds_bytes: u32,
    ) -> PyResult<Timing> {
        let call = Call::new(&self.kernel, args)?;
        let launch = Launch::new(grid, block, lds_bytes, &call.arguments)?;
        let mut selector = self.emulated("models times")?;
        let machine: Option<Product> = match machine {
            Some(name) => Some(
                name.parse()
                    .map_err(|error| ArgumentError::new_err(format!("machine: {error}")))?,
            ),
            None => selector.product(),
        };
        if let Some(machine) = machine {
            let gpu = self.kernel.kernel().module().code_object().target().gpu;
            if machine.gpu() != gpu {
                return Err(ArgumentError::new_err(format!(
                    "machine: {machine} runs {}, but the kernel is for {gpu}",
                    machine.gpu()
                )));
            }
            selector = DeviceSelector::of_product(machine);
        }
        let settings = Settings {
            machine: machine
                .map(Parameters::try_from)
                .transpose()
                .map_err(|error| ArgumentError::new_err(format!("machine: {error}")))?,
            ..Settings::default()
        };
        let (outcome, profiles, timings) =
            py.detach(|| observed::timed(settings, || self.again(selector, &launch)));
        call.write_back(&outcome.map_err(|failure| exception(py, &failure))?)?;
        match timings.modelled.into_iter().next() {
            Some(timing) => Ok(Timing::new(timing, profiles)),
            None => Err(Error::new_err(match timings.missed.first() {
                Some(error) => format!("the launch cannot be modelled: {error}"),
                None => "the launch was not modelled".to_owned(),
            })),
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<ferrowave.Kernel {}({})>",
            self.name(),
            self.parameters().join(", ")
        )
    }
}

impl Kernel {
    /// The device to open again, where only the emulator can do `what`.
    fn emulated(&self, what: &str) -> PyResult<DeviceSelector> {
        let context = self.kernel.kernel().module().context();
        match (context.device().is_emulated(), self.source.selector) {
            (true, DeviceSelector::Auto) => {
                let gpu = self.kernel.kernel().module().code_object().target().gpu;
                Ok(DeviceSelector::Emulator(gpu))
            }
            (true, selector) => Ok(selector),
            (false, _) => Err(ArgumentError::new_err(format!(
                "only the emulator {what}; this kernel is loaded on {}",
                context.device().choice()
            ))),
        }
    }

    /// Launches the kernel on a device of its own, which is opened after the checks are chosen: its memory tracks writes from
    /// the first.
    fn again(
        &self,
        selector: DeviceSelector,
        launch: &Launch<'_>,
    ) -> Result<Vec<BufferAfter>, Failure> {
        let module = load(&open(&selector)?, &self.source.bytes)?;
        launch.run(&LoadedKernel::find(&module, self.kernel.kernel().name())?)
    }
}

fn open(selector: &DeviceSelector) -> Result<Context, Failure> {
    let device = hip::Device::open(selector).map_err(Failure::failed)?;
    Context::new(&device).map_err(Failure::failed)
}

/// The shape of a launch, and its arguments.
struct Launch<'a>(KernelCall<'a>);

impl<'a> Launch<'a> {
    fn new(
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        lds_bytes: u32,
        arguments: &'a [KernelArgument],
    ) -> PyResult<Self> {
        Ok(Launch(KernelCall {
            grid: shape("grid", "workgroups", grid)?,
            block: shape("block", "work-items of a workgroup", block)?,
            lds_bytes,
            arguments,
            seed: 0,
        }))
    }

    fn run(&self, kernel: &LoadedKernel) -> Result<Vec<BufferAfter>, Failure> {
        self.0.run_and_read(kernel)
    }
}

/// One to three extents; missing ones are 1.
fn shape(name: &str, what: &str, value: &Bound<'_, PyAny>) -> PyResult<Shape> {
    let wrong = || {
        let given = value
            .repr()
            .map_or_else(|_| "it".to_owned(), |text| text.to_string());
        ArgumentError::new_err(format!(
            "{name}: {given} is not the number of {what}, or up to three along x, y and z"
        ))
    };
    if let Ok(x) = value.extract::<u32>() {
        return Ok(Shape([x, 1, 1]));
    }
    let extents: Vec<u32> = value.extract().map_err(|_| wrong())?;
    let mut shape = [1; 3];
    match extents.len() {
        1..=3 => shape[..extents.len()].copy_from_slice(&extents),
        _ => return Err(wrong()),
    }
    Ok(Shape(shape))
}
