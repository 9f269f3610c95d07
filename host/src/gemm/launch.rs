//! Runs plans on a device.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ferrowave_shared::Kernel;
use thiserror::Error;

use super::{
    choose::{Choice, NoKernel, choose},
    machine::Machine,
    operands::{OperandError, Operands},
    plan::{Plan, PlanError},
    problem::Problem,
    workspace::WorkspaceBuffer,
};
use crate::hip::{
    Arguments, BufferError, Context, Event, HipError, LaunchConfig, LaunchError, Module,
    ModuleError, Stream,
};

/// Why a product was not computed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GemmError {
    /// No kernel on this GPU has the problem's element types.
    #[error(transparent)]
    NoKernel(#[from] NoKernel),
    /// The kernel can't compute the problem on this GPU.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The code object can't be loaded, or does not contain the kernel.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The launch was refused.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A matrix does not fit the problem.
    #[error(transparent)]
    Operand(#[from] OperandError),
    /// The kernel's workspace can't be allocated.
    #[error("cannot allocate a workspace of {bytes} bytes for the parts of k: {error}")]
    Workspace {
        /// Its size.
        bytes: u64,
        /// Why it can't be allocated.
        error: BufferError,
    },
    /// The workspace would exceed the address space.
    #[error("the workspace for the parts of k would exceed the address space")]
    NoAddresses,
    /// An error of HIP, such as a kernel's access outside its memory.
    #[error(transparent)]
    Hip(#[from] HipError),
}

/// The kernels of one code object, loaded on a device and ready to run.
#[derive(Debug)]
pub struct Gemm {
    context: Context,
    machine: Machine,
    module: Module,
    stream: Stream,
    start: Event,
    end: Event,
    /// Locked while a product is computed.
    workspace: Mutex<WorkspaceBuffer>,
}

/// A product that was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Computed {
    /// The kernel, and why it was chosen.
    pub choice: Choice,
    /// The time between HIP events around its launches. On a GPU this is the GPU's time. On the emulator it is
    /// wall-clock time of the emulation, which says nothing about a GPU.
    pub time: Duration,
}

impl Gemm {
    /// Loads the kernels.
    ///
    /// # Errors
    /// If the code object is not for the device's GPU.
    pub fn new(context: &Context, code_object: &[u8]) -> Result<Self, GemmError> {
        Ok(Gemm {
            context: context.clone(),
            machine: Machine::of(context.device()),
            module: context.load(code_object)?,
            stream: context.stream()?,
            start: context.event()?,
            end: context.event()?,
            workspace: Mutex::default(),
        })
    }

    /// Plans for another machine than the device reports, such as a product with more compute units. The GPU must be
    /// the same: the code object has no kernels for another one.
    #[must_use]
    pub fn planned_for(self, machine: Machine) -> Self {
        Gemm { machine, ..self }
    }

    /// The context of the device that the kernels run on.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The machine that launches are planned for.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Computes C ← epilogue(α·A·B + β·prologue(C) + bias) with the kernel that [`choose`] takes, and waits for it.
    ///
    /// # Errors
    /// If there is no kernel for the problem on the GPU, an operand does not fit the problem, or the device fails.
    pub fn run(&self, problem: &Problem, operands: Operands<'_>) -> Result<Computed, GemmError> {
        let choice = choose(problem, &self.machine, Some(&operands.addresses()))?;
        let time = self.run_kernel(choice.kernel, problem, operands)?;
        Ok(Computed { choice, time })
    }

    /// The same with a given kernel; returns the [time](Computed::time).
    ///
    /// # Errors
    /// As [`Self::run`], and if the kernel is not for the problem or the GPU.
    pub fn run_kernel(
        &self,
        kernel: &'static Kernel,
        problem: &Problem,
        operands: Operands<'_>,
    ) -> Result<Duration, GemmError> {
        self.run_plan(&Plan::new(kernel, problem, &self.machine)?, operands)
    }

    /// The same with a given plan.
    ///
    /// # Errors
    /// As [`Self::run`], and if the plan is for another GPU, whose kernel the code object does not contain.
    pub fn run_plan(&self, plan: &Plan, operands: Operands<'_>) -> Result<Duration, GemmError> {
        operands.check(plan.problem(), self.context.device())?;
        let addresses = operands.addresses();
        plan.check_addresses(&addresses)?;
        let kernel = plan.kernel();
        let loaded = self.module.kernel(kernel.symbol)?;
        let bytes = plan.workspace_bytes().ok_or(GemmError::NoAddresses)?;
        let mut buffer = self
            .workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let workspace =
            buffer
                .reserve(&self.context, bytes)
                .map_err(|error| GemmError::Workspace {
                    bytes: bytes.all,
                    error,
                })?;
        self.start.record(&self.stream)?;
        for launch in plan.launches() {
            let config = LaunchConfig {
                grid: [launch.grid.x, launch.grid.y, launch.grid.z],
                // The catalogue's tests keep blocks and LDS far below 2³².
                block: [kernel.block.x as u32, kernel.block.y as u32, 1],
                dynamic_lds_bytes: kernel.lds_bytes as u32,
            };
            let arguments = plan.arguments(&launch, &addresses, workspace);
            // SAFETY: the matrices have the length of the problem's layouts, live until the synchronization
            // below, and are on this device; C is borrowed mutably. The workspace is large enough for each launch,
            // its counters are 0, and the lock excludes other launches; launches in one stream run one after the
            // other. Block and LDS are those of the catalogue's row, for which the device crate is compiled.
            unsafe { loaded.launch(&self.stream, &config, &Arguments::from_struct(&arguments)) }?;
        }
        self.end.record(&self.stream)?;
        self.stream.synchronize()?;
        buffer.clean(bytes);
        Ok(self.end.duration_since(&self.start)?)
    }

    /// The counters of the workspace after the last product with a kernel that divides k. A correct kernel leaves all
    /// of them 0. Empty if there was no such product.
    ///
    /// # Errors
    /// If they can't be copied.
    pub fn counters(&self) -> Result<Vec<u32>, BufferError> {
        let workspace = self
            .workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        workspace.counters()
    }
}
