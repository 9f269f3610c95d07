//! Runs plans on a device.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ferrowave_shared::{GroupMember, Kernel};

use super::{
    error::GemmError,
    group::GroupPlan,
    machine::Machine,
    operands::{Addresses, Operands},
    plan::{Launch, Plan},
    problem::Problem,
    winners::Winners,
    workspace::WorkspaceBuffer,
};
use crate::hip::{self, BufferError, Context, Event, LaunchConfig, Module, Stream};

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
    winners: Winners,
}

impl Gemm {
    /// Loads the kernels.
    ///
    /// # Errors
    /// If the code object is not for the device's GPU, or `FERROWAVE_TUNING` is neither off, read nor on.
    pub fn new(context: &Context, code_object: &[u8]) -> Result<Self, GemmError> {
        let machine = Machine::of(context.device());
        Ok(Gemm {
            context: context.clone(),
            winners: Winners::new(context, &machine, code_object)?,
            machine,
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

    /// With other winners than those of the environment.
    #[cfg(test)]
    pub(super) fn with_winners(self, winners: Winners) -> Self {
        Gemm { winners, ..self }
    }

    pub(super) const fn winners(&self) -> &Winners {
        &self.winners
    }

    /// The machine that launches are planned for.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Computes the [product](super::Problem) with a given kernel, and waits for it. Returns the
    /// [time](super::Computed::time).
    ///
    /// # Errors
    /// If the kernel is not for the problem or the GPU, an operand does not fit the problem, or the device fails.
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
    /// As [`Self::run_kernel`], and if the plan is for another GPU, whose kernel the code object does not contain.
    pub fn run_plan(&self, plan: &Plan, operands: Operands<'_>) -> Result<Duration, GemmError> {
        self.launch(plan, &[operands], |launch| {
            let mut launches = plan.launches();
            let (first, second) = (launches.next(), launches.next());
            if let (Some(only), None) = (first, second) {
                return launch.one(0, &only, true);
            }
            self.start.record(&self.stream)?;
            launch.all(0)?;
            Ok(self.end.record(&self.stream)?)
        })
    }

    /// Computes `runs` products one behind the other without waiting between them, with the operands in turn, and waits
    /// for the last. Returns the time between HIP events around all of them: also what a GPU waits for launches, if they
    /// take the host longer than the kernels run.
    ///
    /// # Errors
    /// As [`Self::run_plan`].
    pub fn run_many(
        &self,
        plan: &Plan,
        operands: &mut [Operands<'_>],
        runs: usize,
    ) -> Result<Duration, GemmError> {
        self.launch(plan, operands, |launch| {
            self.start.record(&self.stream)?;
            for run in (0..operands.len()).cycle().take(runs) {
                launch.all(run)?;
            }
            Ok(self.end.record(&self.stream)?)
        })
    }

    /// Checks the operands, lets `enqueue` launch and record the events, and waits.
    fn launch(
        &self,
        plan: &Plan,
        operands: &[Operands<'_>],
        enqueue: impl FnOnce(&PlanLaunch<'_>) -> Result<(), GemmError>,
    ) -> Result<Duration, GemmError> {
        let mut addresses = Vec::new();
        for operands in operands {
            operands.check(plan.problem(), self.context.device())?;
            plan.check_addresses(&operands.addresses())?;
            addresses.push(operands.addresses());
        }
        let amax = addresses.iter().map(|addresses| addresses.amax);
        self.clear(amax)?;
        let bytes = plan.workspace_bytes().ok_or(GemmError::NoAddresses)?;
        let kernel = self.module.kernel(plan.kernel().symbol)?;
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
        let launched = enqueue(&PlanLaunch {
            gemm: self,
            plan,
            kernel,
            addresses,
            workspace,
        });
        // Also after an error: what was launched before it uses the operands.
        let waited = self.stream.synchronize();
        launched?;
        waited?;
        buffer.clean(bytes);
        Ok(self.end.duration_since(&self.start)?)
    }

    /// Sets largest magnitudes at these addresses to 0, if they are not null.
    fn clear(&self, amax: impl Iterator<Item = u64>) -> Result<(), GemmError> {
        let api = self.context.bind()?;
        for address in amax.filter(|&address| address != 0) {
            // SAFETY: it is the address of an element of 4 bytes that is borrowed mutably.
            unsafe { api.fill_u32(address, 0, 1) }?;
        }
        Ok(())
    }

    /// Runs the launches of a group, whose operands live until it returns, and waits. Returns the time between HIP events
    /// around them.
    pub(super) fn launch_group(&self, group: &GroupPlan) -> Result<Duration, GemmError> {
        self.clear(group.amax.iter().copied())?;
        if group.members.is_empty() {
            return Ok(Duration::ZERO);
        }
        let row = group.kernel;
        let kernel = self.module.kernel(row.symbol)?;
        let members = self.context.upload(&group.members).map_err(|error| {
            let bytes = size_of_val(&group.members[..]) as u64;
            GemmError::Workspace { bytes, error }
        })?;
        // The events belong to one product at a time.
        let _events = self
            .workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let at_once = self.machine.limits.z.max(1) as usize;
        let enqueue = || -> Result<(), GemmError> {
            self.start.record(&self.stream)?;
            for (number, chunk) in group.members.chunks(at_once).enumerate() {
                let config = LaunchConfig {
                    // A chunk has at most as many members as the limit, which has 32 bits.
                    grid: [group.tiles, 1, chunk.len() as u32],
                    // The catalogue's tests keep blocks and LDS far below 2³².
                    block: [row.block.x as u32, row.block.y as u32, 1],
                    dynamic_lds_bytes: row.lds_bytes as u32,
                };
                let skipped = (number * at_once * size_of::<GroupMember>()) as u64;
                let arguments = group.arguments(&chunk[0], members.address() + skipped);
                // SAFETY: the matrices have the length of the problems' layouts, live until the stream is synchronized, and
                // are on this device; each C is borrowed mutably. There is a member for each workgroup along z. Block and
                // LDS are those of the catalogue's row, for which the device crate is compiled.
                unsafe { kernel.launch(&self.stream, &config, &arguments) }?;
            }
            Ok(self.end.record(&self.stream)?)
        };
        let launched = enqueue();
        // Also after an error: what was launched before it uses the operands.
        let waited = self.stream.synchronize();
        launched?;
        waited?;
        Ok(self.end.duration_since(&self.start)?)
    }

    /// Frees the workspace of kernels that divide k, which is kept from product to product and is as large as the largest of them
    /// needed. The next such product allocates another.
    pub fn release_workspace(&self) {
        *self
            .workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = WorkspaceBuffer::default();
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

/// A plan with checked operands and a workspace, which are not used by anything else until the stream is synchronized.
struct PlanLaunch<'a> {
    gemm: &'a Gemm,
    plan: &'a Plan,
    kernel: hip::Kernel,
    addresses: Vec<Addresses>,
    workspace: u64,
}

impl PlanLaunch<'_> {
    /// All launches of the product with the operands of this index.
    fn all(&self, operands: usize) -> Result<(), GemmError> {
        let mut launches = self.plan.launches();
        launches.try_for_each(|launch| self.one(operands, &launch, false))
    }

    /// One of them, on request between the events.
    fn one(&self, operands: usize, launch: &Launch, timed: bool) -> Result<(), GemmError> {
        let row = self.plan.kernel();
        let config = LaunchConfig {
            grid: [launch.grid.x, launch.grid.y, launch.grid.z],
            // The catalogue's tests keep blocks and LDS far below 2³².
            block: [row.block.x as u32, row.block.y as u32, 1],
            dynamic_lds_bytes: row.lds_bytes as u32,
        };
        let arguments =
            self.plan
                .kernel_arguments(launch, &self.addresses[operands], self.workspace);
        let Gemm {
            stream, start, end, ..
        } = self.gemm;
        // SAFETY: the matrices have the length of the problem's layouts, live until the stream is synchronized, and are
        // on this device; C is borrowed mutably. The workspace is large enough for each launch, its counters are 0,
        // and the lock excludes other launches; launches in one stream run one after the other, and each leaves the
        // counters 0. Block and LDS are those of the catalogue's row, for which the device crate is compiled.
        unsafe {
            match timed {
                true => self
                    .kernel
                    .launch_timed(stream, &config, &arguments, start, end),
                false => self.kernel.launch(stream, &config, &arguments),
            }
        }?;
        Ok(())
    }
}
