//! Running plans on a device.

use std::time::Duration;

use ferrowave_shared::Kernel;
use thiserror::Error;

use super::{
    layout::Layout,
    plan::{GridLimits, Plan, PlanError},
    problem::Problem,
};
use crate::hip::{
    Arguments, Context, DeviceBuffer, Event, HipError, LaunchConfig, LaunchError, Module,
    ModuleError, Stream,
};

/// Why a product was not computed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GemmError {
    /// The kernel does not compute the problem on this GPU.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The code object can't be loaded, or has not the kernel.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The launch was refused.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A buffer is shorter than the problem's matrix.
    #[error("{matrix} has {length} elements, but the problem needs {needed}")]
    BufferTooShort {
        /// Which matrix.
        matrix: &'static str,
        /// Elements of the buffer.
        length: usize,
        /// Elements from the first to the last that the problem names.
        needed: u128,
    },
    /// HIP's, such as a kernel's access outside its memory.
    #[error(transparent)]
    Hip(#[from] HipError),
}

/// The kernels of one code object, loaded on a device and ready to run.
#[derive(Debug)]
pub struct Gemm {
    context: Context,
    module: Module,
    stream: Stream,
    start: Event,
    end: Event,
}

impl Gemm {
    /// Loads the kernels.
    ///
    /// # Errors
    /// If the code object is not one for the device's GPU.
    pub fn new(context: &Context, code_object: &[u8]) -> Result<Self, GemmError> {
        Ok(Gemm {
            context: context.clone(),
            module: context.load(code_object)?,
            stream: context.stream()?,
            start: context.event()?,
            end: context.event()?,
        })
    }

    /// The device that it runs on.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Computes C ← α·A·B + β·C by one kernel, waits for it, and returns the time between HIP events
    /// around its launches. On a GPU that is the GPU's time; on the emulator it is the emulator's wall
    /// clock and says nothing of a GPU.
    ///
    /// # Errors
    /// If the kernel is not for the problem or the GPU, a buffer is too short, or the device fails.
    pub fn run(
        &self,
        kernel: &'static Kernel,
        problem: &Problem,
        a: &DeviceBuffer<f32>,
        b: &DeviceBuffer<f32>,
        c: &mut DeviceBuffer<f32>,
    ) -> Result<Duration, GemmError> {
        let properties = self.context.device().properties();
        let [x, y, z] = properties.max_grid;
        let plan = Plan::new(
            kernel,
            problem,
            properties.gpu_name(),
            GridLimits { x, y, z },
        )?;
        check_length("A", problem.a(), a)?;
        check_length("B", problem.b(), b)?;
        check_length("C", problem.c(), c)?;
        let loaded = self.module.kernel(kernel.symbol)?;
        self.start.record(&self.stream)?;
        for launch in plan.launches() {
            let config = LaunchConfig {
                grid: [launch.grid.x, launch.grid.y, launch.grid.z],
                // The catalogue's tests keep blocks and LDS far below 2³².
                block: [kernel.block.x as u32, kernel.block.y as u32, 1],
                dynamic_lds_bytes: kernel.lds_bytes as u32,
            };
            let arguments = plan.arguments(&launch, a.address(), b.address(), c.address());
            // SAFETY: the buffers are as long as the problem's layouts, live until the synchronization
            // below, and are of this device; C is borrowed for writing. Block and LDS are the catalogue's
            // for this kernel, which the device crate is compiled from.
            unsafe { loaded.launch(&self.stream, &config, &Arguments::from_struct(&arguments)) }?;
        }
        self.end.record(&self.stream)?;
        self.stream.synchronize()?;
        Ok(self.end.duration_since(&self.start)?)
    }
}

fn check_length(
    matrix: &'static str,
    layout: &Layout,
    buffer: &DeviceBuffer<f32>,
) -> Result<(), GemmError> {
    let (length, needed) = (buffer.len(), layout.span());
    if (length as u128) < needed {
        return Err(GemmError::BufferTooShort {
            matrix,
            length,
            needed,
        });
    }
    Ok(())
}
