//! Launches of kernels, and the devices that they are built for.

use std::path::PathBuf;

use clap::Args;
use ferrowave_gpu::Gpu;
use ferrowave_host::hip::{Context, Device};
use ferrowave_launch::{BufferAfter, Failure, KernelLaunch, LaunchOptions, OutputFile};

use crate::project::{Project, ProjectOptions};

/// A launch of a kernel of the crate in the current directory, or of a file.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct TargetOptions {
    /// The kernel's name.
    kernel: String,
    /// Launch the kernel from this code object or offload bundle, and build nothing.
    #[arg(long, value_name = "FILE")]
    code_object: Option<PathBuf>,
    #[command(flatten)]
    launch: LaunchOptions,
    #[command(flatten)]
    project: ProjectOptions,
}

impl TargetOptions {
    /// Launches the kernel on a device and waits.
    pub(crate) fn run(&self, device: &Device) -> Result<(), Failure> {
        self.with(device, |launch, context| launch.run(context))
    }

    /// Like [`Self::run`], then reads all buffers and writes some to files.
    pub(crate) fn run_and_read(
        &self,
        device: &Device,
        outputs: &[OutputFile],
    ) -> Result<Vec<BufferAfter>, Failure> {
        self.with(device, |launch, context| {
            launch.run_and_read(context, outputs)
        })
    }

    fn with<T>(
        &self,
        device: &Device,
        run: impl FnOnce(&KernelLaunch<'_>, &Context) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let file = self.file(device)?;
        let context = Context::new(device).map_err(Failure::failed)?;
        run(&self.launch.launch(&file, &self.kernel)?, &context)
    }

    /// The file with the kernel for a device. Builds the crate if no file was given.
    fn file(&self, device: &Device) -> Result<PathBuf, Failure> {
        if let Some(file) = &self.code_object {
            return Ok(file.clone());
        }
        let project = Project::find(&self.project)?;
        Ok(project.build_one(gpu(device)?)?.path)
    }
}

/// The GPU to build for.
pub(crate) fn gpu(device: &Device) -> Result<Gpu, Failure> {
    let properties = device.properties();
    properties.gpu().ok_or_else(|| {
        Failure::failed(format!(
            "kernels can't be built for this device: {} is not one of {}",
            properties.gpu_name(),
            Gpu::ALL.map(Gpu::name).join(", ")
        ))
    })
}
