//! Launches.

use std::{
    array,
    cell::RefCell,
    ffi::{c_uint, c_void},
    mem::ManuallyDrop,
    sync::Arc,
};

use ferrowave_hip_abi::{
    HIP_LAUNCH_CONFIG, dim3, hipError_t, hipEvent_t, hipFunction_t, hipLaunchAttribute,
    hipLaunchAttributeCooperative, hipLaunchConfig_t, hipStream_t,
};

use super::{
    error::{Failure, out, read},
    event::check_device,
    graph::capture,
    objects::{
        event::optional_event,
        launch::{Launch, Shape},
        module::function,
        operation::Operation,
        stream::{StreamRef, stream},
    },
    properties::MAX_GRID,
    registry,
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

impl Launch {
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
    let stream = self::stream(stream)?;
    let shape = Shape {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        partial: [0; 3],
        dynamic_lds_bytes,
    };
    // SAFETY: the caller upholds HIP's contract.
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
    let items = [items_x, items_y, items_z];
    // As CLR does (`ihipModuleLaunchKernel` in `hip_module.cpp`): a workgroup is no larger than the grid, and the last
    // may be smaller, unless the compiler was told that it is not.
    let block: [u32; 3] = array::from_fn(|axis| [block_x, block_y, block_z][axis].min(items[axis]));
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
    _flags: std::ffi::c_int,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let shape = Shape::new(grid, block, dynamic_lds_bytes);
    // SAFETY: the caller upholds HIP's contract.
    let launch = unsafe { of_stub(stub, shape, arguments) }?;
    between_events(launch, &stream, start, stop)
}

/// A launch of a program's kernel.
///
/// # Safety
/// `arguments` is null, or points to a pointer to each argument.
unsafe fn of_stub(
    stub: *const c_void,
    shape: Shape,
    arguments: *mut *mut c_void,
) -> Result<Launch, Failure> {
    // SAFETY: guaranteed by the caller.
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
    // SAFETY: the caller upholds HIP's contract.
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
    // SAFETY: the caller upholds HIP's contract.
    let launch = unsafe { of_stub(stub, shape, arguments) }?;
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
    if attributes.is_null() && count > 0 {
        return Err(Failure::value("attrs is null"));
    }
    let mut cooperative = false;
    for index in 0..count as usize {
        // SAFETY: guaranteed by the caller.
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
    // SAFETY: the caller upholds HIP's contract.
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

/// The configuration of a `<<<>>>` launch, until its stub reads it.
#[derive(Clone, Copy)]
struct Configuration {
    grid: dim3,
    block: dim3,
    dynamic_lds_bytes: usize,
    stream: usize,
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
            // Nothing else frees the memory.
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
