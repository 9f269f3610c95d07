//! Kernel launches, checked when they are submitted.

use std::{
    ffi::c_void,
    slice,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use ferrowave_gpu::GpuLimits;
use ferrowave_hip_abi::{
    HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END, dim3,
    hipError_t,
};

use super::{
    module::Function,
    owner::{AddressOwner, owner_of},
};
use crate::{
    check,
    error::{Failure, is_absent, present},
    limits::limits,
    list::list,
    runtime::Device,
    timing,
    trace::{self, Rows},
};
use ferrowave_emulator::dispatch::{
    self, FaultReport, GridGroup, LaunchConfig, LaunchError, Limits,
};
use ferrowave_emulator::exec::FaultKind;
use ferrowave_emulator::memory::AllocationKind;
use ferrowave_timing::TimingError;

/// Maximum number of entries read from `extra`. No marker is needed twice.
const MAX_EXTRA: usize = 16;

/// Rejects grids that do not fit in a dispatch packet, which has 32 bits for the number of work-items along each axis.
fn check_grid(grid: [u32; 3], block: [u32; 3]) -> Result<(), Failure> {
    for (axis, (workgroups, size)) in ["x", "y", "z"].into_iter().zip(grid.into_iter().zip(block)) {
        if workgroups == 0 {
            return Err(Failure::value(format_args!(
                "a grid of 0 workgroups along {axis}; it must have 1 or more"
            )));
        }
        let threads = u64::from(workgroups) * u64::from(size);
        if threads > u64::from(u32::MAX) {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidConfiguration,
                format_args!(
                    "a grid of {threads} threads along {axis}; it must have less than 2^32"
                ),
            ));
        }
    }
    Ok(())
}

/// Copies the explicit arguments from a list of pointers.
///
/// # Safety
/// `parameters` points to as many pointers as the kernel has arguments, each to a value of its argument's size.
unsafe fn from_parameters(
    function: &Function,
    parameters: *mut *mut c_void,
) -> Result<Vec<u8>, Failure> {
    present(parameters, "the list of pointers to arguments")?;
    let arguments = &function.kernel.description().metadata.args;
    let mut bytes = Vec::new();
    let explicit = arguments
        .iter()
        .filter(|argument| !argument.value_kind.is_hidden());
    for (index, argument) in explicit.enumerate() {
        // SAFETY: the caller guarantees a pointer for each argument.
        let value = unsafe { parameters.add(index).read_unaligned() };
        present(value, format_args!("the pointer to argument {index}"))?;
        let (offset, size) = (argument.offset as usize, argument.size as usize);
        // SAFETY: the caller guarantees that it points to the argument's value.
        let value = unsafe { slice::from_raw_parts(value.cast::<u8>(), size) };
        if bytes.len() < offset + size {
            bytes.resize(offset + size, 0);
        }
        bytes[offset..offset + size].copy_from_slice(value);
    }
    Ok(bytes)
}

/// Copies the explicit arguments from a buffer.
///
/// # Safety
/// `extra` is a list of markers and values that ends with `HIP_LAUNCH_PARAM_END`; the buffer that it names is valid.
unsafe fn from_extra(function: &Function, extra: *mut *mut c_void) -> Result<Vec<u8>, Failure> {
    present(extra, "extra")?;
    let (mut buffer, mut size) = (None, None);
    let mut index = 0;
    let mut next = || {
        index += 1;
        // SAFETY: the caller guarantees a list that ends with the end marker; nothing is read after it.
        (index <= MAX_EXTRA).then(|| unsafe { extra.add(index - 1).read_unaligned() })
    };
    loop {
        match next() {
            Some(HIP_LAUNCH_PARAM_BUFFER_POINTER) => buffer = next(),
            Some(HIP_LAUNCH_PARAM_BUFFER_SIZE) => size = next(),
            Some(HIP_LAUNCH_PARAM_END) => break,
            other => {
                let what =
                    other.map_or("too long".to_owned(), |entry| format!("wrong at {entry:p}"));
                return Err(Failure::value(format_args!(
                    "extra is {what}: it must hold the markers 1 (buffer), 2 (size) and 3 (end), each but the last with a value"
                )));
            }
        }
    }
    let size = match size {
        // SAFETY: the caller guarantees that the marker's value points to the size.
        Some(size) if !is_absent(size) => unsafe { size.cast::<usize>().read_unaligned() },
        _ => return Err(Failure::value("extra does not state the buffer's size")),
    };
    // CLR reads no more than the arguments. Quadrants passes a size of 32 bits, with other bits behind it.
    let size = size.min(function.kernel.description().metadata.explicit_bytes());
    match buffer {
        _ if size == 0 => Ok(Vec::new()),
        Some(buffer) if !buffer.is_null() => {
            // SAFETY: the caller guarantees a buffer of that size.
            unsafe { list(buffer.cast::<u8>(), size, "extra's buffer") }
        }
        _ => Err(Failure::value(format_args!(
            "extra has no buffer for {size} bytes of arguments"
        ))),
    }
}

/// Grid, workgroup size and dynamic LDS of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// As [`LaunchConfig::partial`].
    pub(crate) partial: [u32; 3],
    pub(crate) dynamic_lds_bytes: u32,
}

impl Shape {
    pub(crate) fn new(grid: dim3, block: dim3, dynamic_lds_bytes: usize) -> Self {
        Shape {
            grid: [grid.x, grid.y, grid.z],
            block: [block.x, block.y, block.z],
            partial: [0; 3],
            // `check_launch` rejects this maximum, as it rejects every value above it.
            dynamic_lds_bytes: u32::try_from(dynamic_lds_bytes).unwrap_or(u32::MAX),
        }
    }
}

/// A kernel with its grid and arguments.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) function: Arc<Function>,
    pub(crate) shape: Shape,
    /// The explicit arguments, laid out as in the kernarg segment.
    pub(crate) kernarg: Vec<u8>,
    /// Whether all workgroups must be resident at once.
    pub(crate) cooperative: bool,
    /// Its place among launches on several devices that wait for each other.
    pub(crate) group: Option<Member>,
}

/// The place of a launch in a group ([`GridGroup`]).
#[derive(Clone)]
pub(crate) struct Member {
    rank: u32,
    count: u32,
    items_before: u64,
    items: u64,
    meeting: Arc<Meeting>,
}

impl Member {
    fn place(&self) -> GridGroup<'_> {
        GridGroup {
            failed: &self.meeting.failed,
            meeting: self.meeting.address(),
            rank: self.rank,
            count: self.count,
            items_before: self.items_before,
            items: self.items,
        }
    }

    /// Tells the other launches not to wait for this one, which failed.
    pub(crate) fn fail(&self) {
        self.meeting.failed.store(true, Ordering::Relaxed);
    }
}

/// The memory in which the launches of a group meet, registered with all their devices.
struct Meeting {
    words: Box<AtomicU64>,
    failed: AtomicBool,
    devices: Vec<Arc<Device>>,
}

impl Meeting {
    fn address(&self) -> u64 {
        self.words.as_ptr().expose_provenance() as u64
    }

    fn new(devices: &[Arc<Device>]) -> Result<Self, Failure> {
        let mut meeting = Meeting {
            words: Box::default(),
            failed: AtomicBool::new(false),
            devices: Vec::new(),
        };
        for device in devices {
            device
                .memory
                .register(meeting.address(), size_of::<AtomicU64>())?;
            meeting.devices.push(Arc::clone(device));
        }
        Ok(meeting)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        for device in &self.devices {
            // `new` registered it, and only this value knows the address.
            let _ = device.memory.free(self.address());
        }
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        let code = match &error {
            LaunchError::Fault(report) => fault_code(report),
            LaunchError::GroupFailed => hipError_t::hipErrorLaunchFailure,
            LaunchError::Memory(_) => hipError_t::hipErrorOutOfMemory,
            LaunchError::Limit(_) => hipError_t::hipErrorLaunchTimeOut,
            // CLR's code where the device could run the workgroup (`ihipLaunchKernel_validate` in `hip_module.cpp`).
            LaunchError::BlockTooLarge { threads, gpu, .. }
                if *threads <= GpuLimits::of(*gpu).max_workgroup_size.into() =>
            {
                hipError_t::hipErrorLaunchFailure
            }
            LaunchError::TooManyAtOnce { .. } => hipError_t::hipErrorCooperativeLaunchTooLarge,
            _ => hipError_t::hipErrorInvalidValue,
        };
        Failure::new(code, error)
    }
}

fn fault_code(report: &FaultReport) -> hipError_t {
    match report.kind {
        FaultKind::Memory { .. } | FaultKind::Private { .. } => hipError_t::hipErrorIllegalAddress,
        _ => hipError_t::hipErrorLaunchFailure,
    }
}

impl Launch {
    /// Creates a launch with arguments from one of two lists. Checks it against the limits of the kernel and the GPU.
    ///
    /// # Safety
    /// The lists are null, or valid as HIP requires.
    pub(crate) unsafe fn new(
        function: Arc<Function>,
        shape: Shape,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Result<Self, Failure> {
        check_grid(shape.grid, shape.block)?;
        let kernarg = match (parameters.is_null(), extra.is_null()) {
            (true, true) => Vec::new(),
            // SAFETY: guaranteed by the caller.
            (false, true) => unsafe { from_parameters(&function, parameters) }?,
            // SAFETY: guaranteed by the caller.
            (true, false) => unsafe { from_extra(&function, extra) }?,
            (false, false) => {
                return Err(Failure::value(
                    "both kernelParams and extra hold arguments; one must be null",
                ));
            }
        };
        let most = function.dynamic_lds_bytes.load(Ordering::Relaxed);
        if shape.dynamic_lds_bytes > most {
            return Err(Failure::value(format_args!(
                "{} bytes of dynamic LDS, but hipFuncSetAttribute allows {most}",
                shape.dynamic_lds_bytes
            )));
        }
        let launch = Launch {
            function,
            shape,
            kernarg,
            cooperative: false,
            group: None,
        };
        dispatch::check_launch(&launch.function.kernel, &launch.config())?;
        Ok(launch)
    }

    fn config(&self) -> LaunchConfig<'_> {
        let config = &self.function.device.config;
        LaunchConfig {
            grid: self.shape.grid,
            block: self.shape.block,
            dynamic_lds_bytes: self.shape.dynamic_lds_bytes,
            kernarg: &self.kernarg,
            seed: config.seed,
            threads: config.threads,
            limits: Limits::NONE,
            cooperative: self.cooperative,
            group: self.group.as_ref().map(Member::place),
            partial: self.shape.partial,
        }
    }

    /// Runs the launch. If it fails, the others of its group fail, too.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let ran = self.run_alone();
        if let (Err(_), Some(member)) = (&ran, &self.group) {
            member.fail();
        }
        ran
    }

    fn run_alone(&self) -> Result<(), Failure> {
        let config = LaunchConfig {
            limits: limits()?,
            ..self.config()
        };
        if let Some(failure) = check::misnamed().or_else(timing::misnamed) {
            return Err(failure);
        }
        let ran = timing::launch(&self.function.kernel, &config);
        Ok(ran.map_err(|error| self.with_owner(error))?)
    }

    /// If a fault's address belongs to another device, names that device in the report.
    fn with_owner(&self, mut error: TimingError) -> TimingError {
        if let TimingError::Launch(LaunchError::Fault(report)) = &mut error
            && let FaultKind::Memory { address, .. } = report.kind
            && let Ok(AddressOwner::Device(owner, AllocationKind::Device)) = owner_of(address)
            && !Arc::ptr_eq(&owner, &self.function.device)
            && let Some(info) = owner.memory.find(address)
        {
            report.nearest = Some(format!(
                "at byte {} of {info}, which is on device {}; peer access from device {} is not enabled \
                 (hipDeviceEnablePeerAccess, hipMemPoolSetAccess)",
                address - info.base,
                owner.ordinal,
                self.function.device.ordinal
            ));
        }
        error
    }

    /// The same launch, cooperative. An error if the device cannot hold all workgroups at once.
    pub(crate) fn to_cooperative(&self) -> Result<Self, Failure> {
        let Shape {
            grid,
            block,
            dynamic_lds_bytes,
            ..
        } = self.shape;
        let held = u64::from(
            self.function
                .workgroups_per_compute_unit(block.iter().product(), dynamic_lds_bytes),
        ) * u64::from(self.function.device.row.multiprocessors());
        let workgroups = grid.iter().map(|&n| u128::from(n)).product::<u128>();
        if workgroups > u128::from(held) {
            return Err(Failure::new(
                hipError_t::hipErrorCooperativeLaunchTooLarge,
                format_args!(
                    "a cooperative launch of {workgroups} workgroups, but the device holds only {held} at once"
                ),
            ));
        }
        let cooperative = Launch {
            cooperative: true,
            ..self.clone()
        };
        dispatch::check_launch(&self.function.kernel, &cooperative.config())?;
        Ok(cooperative)
    }

    /// Makes a group of cooperative launches, which may wait for each other.
    pub(crate) fn join(launches: &mut [Launch]) -> Result<(), Failure> {
        let devices = launches.iter().map(|launch| &launch.function.device);
        let devices: Vec<_> = devices.map(Arc::clone).collect();
        let meeting = Arc::new(Meeting::new(&devices)?);
        let items = |launch: &Launch| -> u64 {
            let Shape { grid, block, .. } = launch.shape;
            grid.into_iter().chain(block).map(u64::from).product()
        };
        let (count, all) = (launches.len(), launches.iter().map(items).sum());
        let mut items_before = 0;
        for (rank, launch) in launches.iter_mut().enumerate() {
            launch.group = Some(Member {
                rank: rank as u32,
                count: count as u32,
                items_before,
                items: all,
                meeting: Arc::clone(&meeting),
            });
            items_before += items(launch);
        }
        Ok(())
    }

    /// Grid, workgroup size, dynamic LDS and explicit arguments, for a trace.
    pub(crate) fn described(&self) -> Rows {
        let shape = &self.shape;
        let mut rows = vec![
            ("grid".to_owned(), trace::extents(shape.grid)),
            ("block".to_owned(), trace::extents(shape.block)),
        ];
        let description = self.function.kernel.description();
        let lds = u64::from(description.metadata.group_segment_fixed_size)
            + u64::from(shape.dynamic_lds_bytes);
        rows.push(("lds_bytes".to_owned(), lds.to_string()));
        let explicit = description.metadata.args.iter();
        let explicit = explicit.filter(|argument| !argument.value_kind.is_hidden());
        for (index, argument) in explicit.enumerate() {
            let name = argument.name.clone();
            let name = name.unwrap_or_else(|| format!("argument {index}"));
            let (start, size) = (argument.offset as usize, argument.size as usize);
            let bytes = self.kernarg.get(start..start.saturating_add(size));
            let text = bytes.map_or("missing".to_owned(), |bytes| {
                trace::of_kernel(argument, bytes, &self.function.device.memory)
            });
            rows.push((name, text));
        }
        rows
    }
}
