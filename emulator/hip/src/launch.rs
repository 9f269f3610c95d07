//! Launches.

use std::{
    cell::RefCell,
    ffi::{c_uint, c_void},
    mem::ManuallyDrop,
    slice,
    sync::{Arc, atomic::Ordering},
};

use ferrowave_hip_abi::{
    HIP_LAUNCH_CONFIG, HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE,
    HIP_LAUNCH_PARAM_END, dim3, hipError_t, hipEvent_t, hipFunction_t, hipLaunchAttribute,
    hipLaunchAttributeCooperative, hipLaunchConfig_t, hipStream_t,
};

use super::{
    check,
    error::{Failure, out, read},
    event::{check_device, optional_event},
    graph::capture,
    limits::limits,
    module::{Function, function},
    objects::place::{Place, place},
    operation::Operation,
    properties::MAX_GRID,
    registry,
    stream::{StreamRef, stream},
    timing,
};
use ferrowave_emulator::dispatch::{self, FaultReport, LaunchConfig, LaunchError, Limits};
use ferrowave_emulator::exec::FaultKind;
use ferrowave_emulator::memory::AllocationKind;
use ferrowave_timing::TimingError;

/// The entries of `extra` that are read at most: no marker has reason to stand twice.
const MAX_EXTRA: usize = 16;

/// Refuses grids that a dispatch packet has no room for: it counts the work-items along each axis in 32 bits.
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

/// Refuses the grids that `hipModuleLaunchKernel` does, and no other launch: `hipExtModuleLaunchKernel`, by which Tensile
/// launches, takes more of them along y and z (ROCm's clr, `hipamd/src/hip_module.cpp`).
fn check_module_grid(grid: [u32; 3]) -> Result<(), Failure> {
    for (axis, (workgroups, limit)) in ["x", "y", "z"]
        .into_iter()
        .zip(grid.into_iter().zip(MAX_GRID))
    {
        if workgroups > limit {
            return Err(Failure::value(format_args!(
                "a grid of {workgroups} workgroups along {axis}; it must have from 1 to {limit}"
            )));
        }
    }
    Ok(())
}

/// The explicit arguments, from pointers to each.
///
/// # Safety
/// `parameters` points to as many pointers as the kernel has arguments, each to a value of its argument's size.
unsafe fn from_parameters(
    function: &Function,
    parameters: *mut *mut c_void,
) -> Result<Vec<u8>, Failure> {
    let arguments = &function.kernel.description().metadata.args;
    let mut bytes = Vec::new();
    let explicit = arguments
        .iter()
        .filter(|argument| !argument.value_kind.is_hidden());
    for (index, argument) in explicit.enumerate() {
        // SAFETY: the caller promises a pointer for each argument.
        let value = unsafe { parameters.add(index).read_unaligned() };
        if value.is_null() {
            return Err(Failure::value(format_args!(
                "the pointer to argument {index} is null"
            )));
        }
        let (offset, size) = (argument.offset as usize, argument.size as usize);
        // SAFETY: the caller promises that it points to the argument's value.
        let value = unsafe { slice::from_raw_parts(value.cast::<u8>(), size) };
        if bytes.len() < offset + size {
            bytes.resize(offset + size, 0);
        }
        bytes[offset..offset + size].copy_from_slice(value);
    }
    Ok(bytes)
}

/// The explicit arguments, from a buffer of all of them.
///
/// # Safety
/// `extra` is a list of markers and values that ends in `HIP_LAUNCH_PARAM_END`, and the buffer that it names is there.
unsafe fn from_extra(extra: *mut *mut c_void) -> Result<Vec<u8>, Failure> {
    let (mut buffer, mut size) = (None, None);
    let mut index = 0;
    let mut next = || {
        index += 1;
        // SAFETY: the caller promises a list that ends in the marker, behind which nothing is read.
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
        // SAFETY: the caller promises that the marker's value points to the size.
        Some(size) if !size.is_null() => unsafe { size.cast::<usize>().read_unaligned() },
        _ => return Err(Failure::value("extra does not say how long the buffer is")),
    };
    match buffer {
        _ if size == 0 => Ok(Vec::new()),
        Some(buffer) if !buffer.is_null() && isize::try_from(size).is_ok() => {
            // SAFETY: the caller promises a buffer of that size.
            Ok(unsafe { slice::from_raw_parts(buffer.cast::<u8>(), size) }.to_vec())
        }
        _ => Err(Failure::value(format_args!(
            "extra has no buffer for {size} bytes of arguments"
        ))),
    }
}

/// Workgroups, work-items of each and LDS of a launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) dynamic_lds_bytes: u32,
}

impl Shape {
    pub(super) fn new(grid: dim3, block: dim3, dynamic_lds_bytes: usize) -> Self {
        Shape {
            grid: [grid.x, grid.y, grid.z],
            block: [block.x, block.y, block.z],
            // More than a GPU has is more than it has, however much.
            dynamic_lds_bytes: u32::try_from(dynamic_lds_bytes).unwrap_or(u32::MAX),
        }
    }
}

/// A kernel with all that a launch of it needs.
#[derive(Clone)]
pub(super) struct Launch {
    pub(super) function: Arc<Function>,
    pub(super) shape: Shape,
    /// The explicit arguments as they lie in the kernarg segment.
    pub(super) kernarg: Vec<u8>,
    /// Whether its workgroups run side by side.
    pub(super) cooperative: bool,
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        let code = match &error {
            LaunchError::Fault(report) => fault_code(report),
            LaunchError::Memory(_) => hipError_t::hipErrorOutOfMemory,
            LaunchError::Limit(_) => hipError_t::hipErrorLaunchTimeOut,
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
    /// A launch, with arguments from one of two lists, that the kernel and the GPU allow.
    ///
    /// # Safety
    /// The lists are null or what HIP says.
    pub(super) unsafe fn new(
        function: Arc<Function>,
        shape: Shape,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Result<Self, Failure> {
        check_grid(shape.grid, shape.block)?;
        let kernarg = match (parameters.is_null(), extra.is_null()) {
            (true, true) => Vec::new(),
            // SAFETY: the caller's promise.
            (false, true) => unsafe { from_parameters(&function, parameters) }?,
            // SAFETY: the caller's promise.
            (true, false) => unsafe { from_extra(extra) }?,
            (false, false) => {
                return Err(Failure::value(
                    "both kernelParams and extra hold arguments; one must be null",
                ));
            }
        };
        let most = function.dynamic_lds_bytes.load(Ordering::Relaxed);
        if shape.dynamic_lds_bytes > most {
            return Err(Failure::value(format_args!(
                "{} bytes of LDS on top of the kernel's own, but hipFuncSetAttribute allows {most}",
                shape.dynamic_lds_bytes
            )));
        }
        let launch = Launch {
            function,
            shape,
            kernarg,
            cooperative: false,
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
        }
    }

    /// Runs it to its end.
    pub(super) fn run(&self) -> Result<(), Failure> {
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

    /// A fault at an address of another device's says so.
    fn with_owner(&self, mut error: TimingError) -> TimingError {
        if let TimingError::Launch(LaunchError::Fault(report)) = &mut error
            && let FaultKind::Memory { address, .. } = report.kind
            && let Ok(Place::Device(owner, AllocationKind::Device)) = place(address)
            && !Arc::ptr_eq(&owner, &self.function.device)
            && let Some(info) = owner.memory.find(address)
        {
            report.nearest = Some(format!(
                "at byte {} of {info}, which is on device {}; peer access from device {} is not enabled \
                 (hipDeviceEnablePeerAccess)",
                address - info.base,
                owner.ordinal,
                self.function.device.ordinal
            ));
        }
        error
    }

    /// Makes it a launch whose workgroups wait for each other, unless not all are on the device at once.
    pub(super) fn to_cooperative(&self) -> Result<Self, Failure> {
        let Shape {
            grid,
            block,
            dynamic_lds_bytes,
        } = self.shape;
        let held = u64::from(
            self.function
                .workgroups_per_compute_unit(block.iter().product(), dynamic_lds_bytes),
        ) * u64::from(self.function.device.row.compute_units);
        let workgroups = grid.iter().map(|&n| u128::from(n)).product::<u128>();
        if workgroups > u128::from(held) {
            return Err(Failure::new(
                hipError_t::hipErrorCooperativeLaunchTooLarge,
                format_args!(
                    "a cooperative launch of {workgroups} workgroups, of which the device holds {held}"
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

    fn submit_to(self, stream: &StreamRef) -> Result<(), Failure> {
        if !Arc::ptr_eq(&self.function.device, &stream.device) {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidHandle,
                format_args!(
                    "the kernel is of device {}, the stream of device {}",
                    self.function.device.ordinal, stream.device.ordinal
                ),
            ));
        }
        stream.submit(Operation::Launch(Arc::new(self)))
    }
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipModuleLaunchKernel(
    function: hipFunction_t,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_lds_bytes: c_uint,
    stream: hipStream_t,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<(), Failure> {
    let function = self::function(function)?;
    let stream = self::stream(stream)?;
    check_module_grid([grid_x, grid_y, grid_z])?;
    let shape = Shape {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_lds_bytes,
    };
    // SAFETY: HIP's contract.
    unsafe { Launch::new(function, shape, parameters, extra) }?.submit_to(&stream)
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipModuleLaunchCooperativeKernel(
    function: hipFunction_t,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_lds_bytes: c_uint,
    stream: hipStream_t,
    parameters: *mut *mut c_void,
) -> Result<(), Failure> {
    let function = self::function(function)?;
    let stream = self::stream(stream)?;
    let shape = Shape {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_lds_bytes,
    };
    // SAFETY: HIP's contract.
    let launch = unsafe { Launch::new(function, shape, parameters, std::ptr::null_mut()) }?;
    launch.to_cooperative()?.submit_to(&stream)
}

/// Launches a kernel between two events, which may be null.
fn between_events(
    launch: Launch,
    stream: &StreamRef,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> Result<(), Failure> {
    let (start, stop) = (optional_event(start)?, optional_event(stop)?);
    let events = [&start, &stop];
    for event in events.into_iter().flatten() {
        check_device(event, stream)?;
        capture::refuse(stream, "such events cannot be recorded in a graph")?;
    }
    let record = |event: Option<_>| match event {
        Some(event) => stream.submit(Operation::Record(event)),
        None => Ok(()),
    };
    record(start)?;
    launch.submit_to(stream)?;
    record(stop)
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipExtModuleLaunchKernel(
    function: hipFunction_t,
    items_x: u32,
    items_y: u32,
    items_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    dynamic_lds_bytes: usize,
    stream: hipStream_t,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
    start: hipEvent_t,
    stop: hipEvent_t,
    _flags: u32,
) -> Result<(), Failure> {
    let function = self::function(function)?;
    let stream = self::stream(stream)?;
    let (items, block) = ([items_x, items_y, items_z], [block_x, block_y, block_z]);
    let mut grid = [0; 3];
    for axis in 0..3 {
        let whole = items[axis].checked_rem(block[axis]) == Some(0);
        if !whole {
            return Err(Failure::value(format_args!(
                "{items:?} work-items are no whole workgroups of {block:?}"
            )));
        }
        grid[axis] = items[axis] / block[axis];
    }
    let shape = Shape {
        grid,
        block,
        dynamic_lds_bytes: u32::try_from(dynamic_lds_bytes).unwrap_or(u32::MAX),
    };
    // SAFETY: HIP's contract.
    let launch = unsafe { Launch::new(function, shape, parameters, extra) }?;
    between_events(launch, &stream, start, stop)
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipHccModuleLaunchKernel(
    function: hipFunction_t,
    items_x: u32,
    items_y: u32,
    items_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    lds: usize,
    stream: hipStream_t,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> Result<(), Failure> {
    // SAFETY: the same contract.
    unsafe {
        hipExtModuleLaunchKernel(
            function, items_x, items_y, items_z, block_x, block_y, block_z, lds, stream,
            parameters, extra, start, stop, 0,
        )
    }
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipExtLaunchKernel(
    stub: *const c_void,
    grid: dim3,
    block: dim3,
    arguments: *mut *mut c_void,
    dynamic_lds_bytes: usize,
    stream: hipStream_t,
    start: hipEvent_t,
    stop: hipEvent_t,
    _flags: std::ffi::c_int,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let shape = Shape::new(grid, block, dynamic_lds_bytes);
    // SAFETY: HIP's contract.
    let launch = unsafe { of_stub(stub, shape, arguments) }?;
    between_events(launch, &stream, start, stop)
}

/// The launch of a program's kernel.
///
/// # Safety
/// `arguments` is null or a pointer to each argument.
unsafe fn of_stub(
    stub: *const c_void,
    shape: Shape,
    arguments: *mut *mut c_void,
) -> Result<Launch, Failure> {
    // SAFETY: the caller's promise.
    unsafe {
        Launch::new(
            registry::kernel(stub)?,
            shape,
            arguments,
            std::ptr::null_mut(),
        )
    }
}

pub(super) unsafe fn hipLaunchKernel(
    stub: *const c_void,
    grid: dim3,
    block: dim3,
    arguments: *mut *mut c_void,
    dynamic_lds_bytes: usize,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let shape = Shape::new(grid, block, dynamic_lds_bytes);
    // SAFETY: HIP's contract.
    unsafe { of_stub(stub, shape, arguments) }?.submit_to(&stream)
}

pub(super) unsafe fn hipLaunchCooperativeKernel(
    stub: *const c_void,
    grid: dim3,
    block: dim3,
    arguments: *mut *mut c_void,
    dynamic_lds_bytes: c_uint,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let shape = Shape::new(grid, block, dynamic_lds_bytes as usize);
    // SAFETY: HIP's contract.
    let launch = unsafe { of_stub(stub, shape, arguments) }?;
    launch.to_cooperative()?.submit_to(&stream)
}

/// Whether attributes ask for a cooperative launch; any other is refused.
///
/// # Safety
/// `attributes` is null or has `count` of them.
unsafe fn is_cooperative(
    attributes: *mut hipLaunchAttribute,
    count: c_uint,
) -> Result<bool, Failure> {
    if attributes.is_null() && count > 0 {
        return Err(Failure::value("attrs is null"));
    }
    let mut cooperative = false;
    for index in 0..count as usize {
        // SAFETY: the caller's promise.
        let attribute = unsafe { attributes.add(index).read_unaligned() };
        if attribute.id != hipLaunchAttributeCooperative {
            return Err(Failure::new(
                hipError_t::hipErrorNotSupported,
                format_args!(
                    "attribute {} of a launch; the emulator has only 2 (cooperative)",
                    attribute.id
                ),
            ));
        }
        cooperative = attribute.value[0] != 0;
    }
    Ok(cooperative)
}

pub(super) unsafe fn hipLaunchKernelExC(
    config: *const hipLaunchConfig_t,
    stub: *const c_void,
    arguments: *mut *mut c_void,
) -> Result<(), Failure> {
    let config = read!(config);
    let stream = stream(config.stream)?;
    let shape = Shape::new(config.gridDim, config.blockDim, config.dynamicSmemBytes);
    // SAFETY: HIP's contract.
    let (launch, cooperative) = unsafe {
        (
            of_stub(stub, shape, arguments)?,
            is_cooperative(config.attrs, config.numAttrs)?,
        )
    };
    let launch = match cooperative {
        true => launch.to_cooperative()?,
        false => launch,
    };
    launch.submit_to(&stream)
}

pub(super) unsafe fn hipDrvLaunchKernelEx(
    config: *const HIP_LAUNCH_CONFIG,
    function: hipFunction_t,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<(), Failure> {
    let config = read!(config);
    let function = self::function(function)?;
    let stream = stream(config.hStream)?;
    let shape = Shape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        dynamic_lds_bytes: config.sharedMemBytes,
    };
    // SAFETY: HIP's contract.
    let (launch, cooperative) = unsafe {
        (
            Launch::new(function, shape, parameters, extra)?,
            is_cooperative(config.attrs, config.numAttrs)?,
        )
    };
    let launch = match cooperative {
        true => launch.to_cooperative()?,
        false => launch,
    };
    launch.submit_to(&stream)
}

/// What a `<<<>>>` keeps until its stub asks for it.
#[derive(Clone, Copy)]
struct Configuration {
    grid: dim3,
    block: dim3,
    dynamic_lds_bytes: usize,
    stream: usize,
}

/// The most configurations that are kept: a program that never asks for them must not fill memory.
const MAX_CONFIGURATIONS: usize = 4096;

thread_local! {
    /// A launch's arguments may be made by other launches: the last one kept is the first asked for. Never dropped, so that
    /// destructors of the program can launch after the thread's variables are gone.
    static CONFIGURATIONS: RefCell<ManuallyDrop<Vec<Configuration>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

pub(super) unsafe fn __hipPushCallConfiguration(
    grid: dim3,
    block: dim3,
    dynamic_lds_bytes: usize,
    stream: hipStream_t,
) -> Result<(), Failure> {
    CONFIGURATIONS.with_borrow_mut(|kept| {
        if kept.len() >= MAX_CONFIGURATIONS {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidConfiguration,
                format_args!("{MAX_CONFIGURATIONS} launches were configured and none made"),
            ));
        }
        kept.push(Configuration {
            grid,
            block,
            dynamic_lds_bytes,
            stream: stream.addr(),
        });
        Ok(())
    })
}

pub(super) unsafe fn __hipPopCallConfiguration(
    grid: *mut dim3,
    block: *mut dim3,
    dynamic_lds_bytes: *mut usize,
    stream: *mut hipStream_t,
) -> Result<(), Failure> {
    let (grid, block) = (out!(grid), out!(block));
    let (dynamic_lds_bytes, stream) = (out!(dynamic_lds_bytes), out!(stream));
    let last = CONFIGURATIONS.with_borrow_mut(|kept| {
        let last = kept.pop();
        if kept.is_empty() {
            // Nothing else would give the memory back.
            kept.shrink_to_fit();
        }
        last
    });
    let kept = last.ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorMissingConfiguration,
            "no launch is configured on this thread",
        )
    })?;
    grid.set(kept.grid);
    block.set(kept.block);
    dynamic_lds_bytes.set(kept.dynamic_lds_bytes);
    stream.set(std::ptr::without_provenance_mut(kept.stream));
    Ok(())
}
