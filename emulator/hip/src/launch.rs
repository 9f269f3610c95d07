//! Launches.

use std::{
    array,
    cell::RefCell,
    ffi::{c_int, c_uint, c_void},
    mem::ManuallyDrop,
    ptr,
    sync::Arc,
};

use ferrowave_gpu::GpuLimits;
use ferrowave_hip_abi::{
    HIP_LAUNCH_CONFIG, HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE,
    HIP_LAUNCH_PARAM_END, dim3, hipCooperativeLaunchMultiDeviceNoPostSync,
    hipCooperativeLaunchMultiDeviceNoPreSync, hipError_t, hipEvent_t, hipFunction_t,
    hipFunctionLaunchParams, hipLaunchAttribute, hipLaunchAttributeCooperative, hipLaunchConfig_t,
    hipLaunchParams, hipStream_t,
};

use super::{
    error::{Failure, out, present, read},
    event::check_device,
    graph::capture,
    list::list,
    objects::{
        event::optional_event,
        launch::{Launch, Shape},
        module::function,
        operation::Operation,
        stream::{StreamRef, stream, stream_or},
    },
    properties::MAX_GRID,
    registry,
    runtime::Runtime,
};

/// Checks the grid limits of `hipModuleLaunchKernel`. They apply to this function only: `hipExtModuleLaunchKernel`,
/// which Tensile uses, allows more workgroups along y and z (ROCm's clr, `hipamd/src/hip_module.cpp`).
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

/// The stream of the functions that return `hipErrorInvalidValue` for an invalid one.
fn launch_stream(handle: hipStream_t) -> Result<StreamRef, Failure> {
    stream_or(handle, hipError_t::hipErrorInvalidValue)
}

impl Launch {
    fn can_run_on(&self, stream: &StreamRef) -> Result<(), Failure> {
        match Arc::ptr_eq(&self.function.device, &stream.device) {
            true => Ok(()),
            false => Err(Failure::new(
                hipError_t::hipErrorInvalidHandle,
                format_args!(
                    "the kernel is of device {}, the stream of device {}",
                    self.function.device.ordinal, stream.device.ordinal
                ),
            )),
        }
    }

    fn submit_to(self, stream: &StreamRef) -> Result<(), Failure> {
        self.can_run_on(stream)?;
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
    let stream = launch_stream(stream)?;
    check_module_grid([grid_x, grid_y, grid_z])?;
    let shape = Shape {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        partial: [0; 3],
        dynamic_lds_bytes,
    };
    // SAFETY: the caller upholds HIP's contract.
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
    let stream = launch_stream(stream)?;
    let shape = Shape {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        partial: [0; 3],
        dynamic_lds_bytes,
    };
    // SAFETY: the caller upholds HIP's contract.
    let launch = unsafe { Launch::new(function, shape, parameters, ptr::null_mut()) }?;
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
    let stream = launch_stream(stream)?;
    let items = [items_x, items_y, items_z];
    let asked = [block_x, block_y, block_z];
    let threads = asked
        .iter()
        .fold(1_u64, |all, &size| all.saturating_mul(size.into()));
    let most = GpuLimits::of(function.kernel.gpu()).max_workgroup_size;
    if threads > most.into() {
        return Err(Failure::value(format_args!(
            "a workgroup of {asked:?}, but it can have {most} work-items"
        )));
    }
    // As CLR does (`ihipModuleLaunchKernel` in `hip_module.cpp`): a workgroup is no larger than the grid, and the last
    // may be smaller, unless the compiler was told that it is not.
    let block: [u32; 3] = array::from_fn(|axis| asked[axis].min(items[axis]));
    let grid = array::from_fn(|axis| items[axis].div_ceil(block[axis].max(1)));
    let partial = array::from_fn(|axis| items[axis].checked_rem(block[axis]).unwrap_or(0));
    let metadata = &function.kernel.description().metadata;
    if partial != [0; 3] && metadata.uniform_work_group_size {
        return Err(Failure::value(format_args!(
            "{items:?} work-items are not a multiple of the workgroup size {block:?}, as the kernel requires \
             (uniform_work_group_size)"
        )));
    }
    let shape = Shape {
        grid,
        block,
        partial,
        dynamic_lds_bytes: u32::try_from(dynamic_lds_bytes).unwrap_or(u32::MAX),
    };
    // SAFETY: the caller upholds HIP's contract.
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
    // SAFETY: the caller upholds the same contract.
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
    _flags: c_int,
) -> Result<(), Failure> {
    let stream = launch_stream(stream)?;
    let shape = Shape::new(grid, block, dynamic_lds_bytes);
    // SAFETY: the caller upholds HIP's contract.
    let launch = unsafe { of_stub(&stream, stub, shape, arguments) }?;
    between_events(launch, &stream, start, stop)
}

/// A launch of a program's kernel on the device of a stream, whichever device is current.
///
/// # Safety
/// `arguments` is null, or points to a pointer to each argument.
unsafe fn of_stub(
    stream: &StreamRef,
    stub: *const c_void,
    shape: Shape,
    arguments: *mut *mut c_void,
) -> Result<Launch, Failure> {
    let function = registry::kernel_on(&stream.device, stub)?;
    // SAFETY: guaranteed by the caller.
    unsafe { Launch::new(function, shape, arguments, ptr::null_mut()) }
}

pub(super) unsafe fn hipLaunchKernel(
    stub: *const c_void,
    grid: dim3,
    block: dim3,
    arguments: *mut *mut c_void,
    dynamic_lds_bytes: usize,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let stream = launch_stream(stream)?;
    let shape = Shape::new(grid, block, dynamic_lds_bytes);
    // SAFETY: the caller upholds HIP's contract.
    unsafe { of_stub(&stream, stub, shape, arguments) }?.submit_to(&stream)
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
    // SAFETY: the caller upholds HIP's contract.
    let launch = unsafe { of_stub(&stream, stub, shape, arguments) }?;
    launch.to_cooperative()?.submit_to(&stream)
}

/// Whether the attributes ask for a cooperative launch. Other attributes are rejected.
///
/// # Safety
/// `attributes` is null or has `count` elements.
unsafe fn is_cooperative(
    attributes: *mut hipLaunchAttribute,
    count: c_uint,
) -> Result<bool, Failure> {
    let mut cooperative = false;
    // SAFETY: guaranteed by the caller.
    for attribute in unsafe { list(attributes, count as usize, "attrs") }? {
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
    // SAFETY: the caller upholds HIP's contract.
    let (launch, cooperative) = unsafe {
        (
            of_stub(&stream, stub, shape, arguments)?,
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
        partial: [0; 3],
        dynamic_lds_bytes: config.sharedMemBytes,
    };
    // SAFETY: the caller upholds HIP's contract.
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

/// Launches on several devices. All are checked before the first is submitted.
fn on_devices(
    launches: Vec<(StreamRef, Launch)>,
    cooperative: bool,
    flags: c_uint,
) -> Result<(), Failure> {
    let known =
        hipCooperativeLaunchMultiDeviceNoPreSync | hipCooperativeLaunchMultiDeviceNoPostSync;
    if flags & !known != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, of which only {known:#x} are known"
        )));
    }
    let (mut streams, mut ready): (Vec<StreamRef>, Vec<Launch>) = (Vec::new(), Vec::new());
    for (stream, launch) in launches {
        // CLR has these codes (`ihipModuleLaunchCooperativeKernelMultiDevice` in `hip_module.cpp`).
        if stream.object.is_none() {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidHandle,
                "a launch on several devices needs streams other than the default stream",
            ));
        }
        let ordinal = stream.device.ordinal;
        if streams.iter().any(|other| other.device.ordinal == ordinal) {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidDevice,
                format_args!("two of the launches are on device {ordinal}"),
            ));
        }
        let launch = match cooperative {
            true => launch.to_cooperative()?,
            false => launch,
        };
        launch.can_run_on(&stream)?;
        capture::refuse(&stream, "launches on several devices cannot be in a graph")?;
        ready.push(launch);
        streams.push(stream);
    }
    if cooperative {
        Launch::join(&mut ready)?;
    }
    let wait = |unless: c_uint| match flags & unless {
        0 => streams.iter().try_for_each(StreamRef::synchronize),
        _ => Ok(()),
    };
    wait(hipCooperativeLaunchMultiDeviceNoPreSync)?;
    for (stream, launch) in streams.iter().zip(ready) {
        let member = launch.group.clone();
        if let Err(failure) = launch.submit_to(stream) {
            if let Some(member) = member {
                member.fail();
            }
            return Err(failure);
        }
    }
    wait(hipCooperativeLaunchMultiDeviceNoPostSync)
}

/// The elements of a list of launches.
///
/// # Safety
/// `list` is null or has `count` elements.
unsafe fn launches<T: Copy>(list: *const T, count: usize) -> Result<Vec<T>, Failure> {
    present(list, "the list of launches")?;
    // Before the list is read: a wrong count would lead behind it.
    let devices = Runtime::get().with_devices(|devices| devices.iter().flatten().count())?;
    if count == 0 || count > devices {
        return Err(Failure::value(format_args!(
            "{count} launches, but there are {devices} devices and each runs one"
        )));
    }
    // SAFETY: guaranteed by the caller.
    unsafe { self::list(list, count, "the list of launches") }
}

/// The launches of programs' kernels, each on the device of its stream.
///
/// # Safety
/// `list` is null or has `count` valid elements.
unsafe fn of_stubs(
    list: *mut hipLaunchParams,
    count: c_int,
) -> Result<Vec<(StreamRef, Launch)>, Failure> {
    let count = usize::try_from(count).unwrap_or_default();
    // SAFETY: guaranteed by the caller.
    let list = unsafe { launches(list, count) }?;
    let one = |p: hipLaunchParams| {
        let stream = launch_stream(p.stream)?;
        let shape = Shape::new(p.gridDim, p.blockDim, p.sharedMem);
        // SAFETY: guaranteed by the caller.
        let launch = unsafe { of_stub(&stream, p.func, shape, p.args) }?;
        Ok((stream, launch))
    };
    list.into_iter().map(one).collect()
}

pub(super) unsafe fn hipLaunchCooperativeKernelMultiDevice(
    list: *mut hipLaunchParams,
    count: c_int,
    flags: c_uint,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    on_devices(unsafe { of_stubs(list, count) }?, true, flags)
}

pub(super) unsafe fn hipExtLaunchMultiKernelMultiDevice(
    list: *mut hipLaunchParams,
    count: c_int,
    flags: c_uint,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    on_devices(unsafe { of_stubs(list, count) }?, false, flags)
}

pub(super) unsafe fn hipModuleLaunchCooperativeKernelMultiDevice(
    list: *mut hipFunctionLaunchParams,
    count: c_uint,
    flags: c_uint,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    let list = unsafe { launches(list, count as usize) }?;
    let one = |p: hipFunctionLaunchParams| {
        let stream = launch_stream(p.hStream)?;
        let function = function(p.function)?;
        let shape = Shape {
            grid: [p.gridDimX, p.gridDimY, p.gridDimZ],
            block: [p.blockDimX, p.blockDimY, p.blockDimZ],
            partial: [0; 3],
            dynamic_lds_bytes: p.sharedMemBytes,
        };
        // SAFETY: the caller upholds HIP's contract.
        let launch = unsafe { Launch::new(function, shape, p.kernelParams, ptr::null_mut()) }?;
        Ok::<_, Failure>((stream, launch))
    };
    on_devices(
        list.into_iter().map(one).collect::<Result<_, _>>()?,
        true,
        flags,
    )
}

/// The configuration of a `<<<>>>` launch, until its stub reads it, or of `hipLaunchByPtr`.
#[derive(Clone)]
struct Configuration {
    grid: dim3,
    block: dim3,
    dynamic_lds_bytes: usize,
    stream: usize,
    /// The arguments of `hipSetupArgument`.
    kernarg: Vec<u8>,
}

/// Maximum number of saved configurations, so that a program that never reads them does not fill memory.
const MAX_CONFIGURATIONS: usize = 4096;

thread_local! {
    /// A stack, because a launch's arguments may be computed by other launches. It is never dropped, so that
    /// destructors of the program can launch kernels after the thread's variables are gone.
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
            kernarg: Vec::new(),
        });
        Ok(())
    })
}

fn not_configured() -> Failure {
    Failure::new(
        hipError_t::hipErrorMissingConfiguration,
        "no launch is configured on this thread",
    )
}

fn pop() -> Result<Configuration, Failure> {
    CONFIGURATIONS.with_borrow_mut(|kept| {
        let last = kept.pop().ok_or_else(not_configured);
        if kept.is_empty() {
            // Nothing else frees the memory.
            kept.shrink_to_fit();
        }
        last
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
    let kept = pop()?;
    grid.set(kept.grid);
    block.set(kept.block);
    dynamic_lds_bytes.set(kept.dynamic_lds_bytes);
    stream.set(ptr::without_provenance_mut(kept.stream));
    Ok(())
}

pub(super) unsafe fn hipConfigureCall(
    grid: dim3,
    block: dim3,
    dynamic_lds_bytes: usize,
    stream: hipStream_t,
) -> Result<(), Failure> {
    // SAFETY: the function takes no pointers.
    unsafe { __hipPushCallConfiguration(grid, block, dynamic_lds_bytes, stream) }
}

/// The largest kernarg segment that `hipSetupArgument` fills. HIP documents 4 KiB as the limit of arguments.
const MAX_KERNARG: usize = 1 << 16;

pub(super) unsafe fn hipSetupArgument(
    argument: *const c_void,
    bytes: usize,
    offset: usize,
) -> Result<(), Failure> {
    let end = offset.checked_add(bytes).filter(|&end| end <= MAX_KERNARG);
    present(argument, "arg")?;
    let Some(end) = end else {
        return Err(Failure::value(format_args!(
            "an argument of {bytes} bytes for byte {offset}; it must end before byte {MAX_KERNARG}"
        )));
    };
    // SAFETY: HIP's contract: the argument has that many bytes.
    let value = unsafe { list(argument.cast::<u8>(), bytes, "arg") }?;
    CONFIGURATIONS.with_borrow_mut(|kept| {
        let kernarg = &mut kept.last_mut().ok_or_else(not_configured)?.kernarg;
        if kernarg.len() < end {
            kernarg.resize(end, 0);
        }
        kernarg[offset..end].copy_from_slice(&value);
        Ok(())
    })
}

pub(super) unsafe fn hipLaunchByPtr(stub: *const c_void) -> Result<(), Failure> {
    let Configuration {
        grid,
        block,
        dynamic_lds_bytes,
        stream,
        mut kernarg,
    } = pop()?;
    let stream = launch_stream(ptr::without_provenance_mut(stream))?;
    let mut bytes = kernarg.len();
    let mut extra = [
        HIP_LAUNCH_PARAM_BUFFER_POINTER,
        kernarg.as_mut_ptr().cast(),
        HIP_LAUNCH_PARAM_BUFFER_SIZE,
        (&raw mut bytes).cast(),
        HIP_LAUNCH_PARAM_END,
    ];
    let shape = Shape::new(grid, block, dynamic_lds_bytes);
    let function = registry::kernel_on(&stream.device, stub)?;
    // SAFETY: the list is as HIP requires, and the buffer has that many bytes.
    let launch = unsafe { Launch::new(function, shape, ptr::null_mut(), extra.as_mut_ptr()) }?;
    launch.submit_to(&stream)
}
