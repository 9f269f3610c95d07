//! Launches.

use std::{
    ffi::{c_uint, c_void},
    slice,
};

use ferrowave_hip_abi::{
    HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END,
    hipError_t, hipFunction_t, hipStream_t,
};

use super::{
    error::Failure,
    module::{Function, function},
    properties::MAX_GRID,
    stream::stream,
};
use crate::{
    dispatch::{FaultReport, LaunchConfig, LaunchError, launch},
    exec::FaultKind,
};

/// The entries of `extra` that are read at most: no marker has reason to stand twice.
const MAX_EXTRA: usize = 16;

fn fault_code(report: &FaultReport) -> hipError_t {
    match report.kind {
        FaultKind::Memory { .. } | FaultKind::Private { .. } => hipError_t::hipErrorIllegalAddress,
        _ => hipError_t::hipErrorLaunchFailure,
    }
}

/// Refuses the grids that HIP does.
fn check_grid(grid: [u32; 3], block: [u32; 3]) -> Result<(), Failure> {
    for (axis, ((workgroups, limit), size)) in ["x", "y", "z"]
        .into_iter()
        .zip(grid.into_iter().zip(MAX_GRID).zip(block))
    {
        if !(1..=limit).contains(&workgroups) {
            return Err(Failure::value(format_args!(
                "a grid of {workgroups} workgroups along {axis}; it must have from 1 to {limit}"
            )));
        }
        let threads = u64::from(workgroups) * u64::from(size);
        if threads > u64::from(u32::MAX) {
            return Err(Failure::value(format_args!(
                "a grid of {threads} threads along {axis}; it must have less than 2^32"
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
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    check_grid(grid, block)?;
    if !std::sync::Arc::ptr_eq(&function.device, &stream.device) {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidHandle,
            format_args!(
                "the kernel is of device {}, the stream of device {}",
                function.device.ordinal, stream.device.ordinal
            ),
        ));
    }
    let kernarg = match (parameters.is_null(), extra.is_null()) {
        (true, true) => Vec::new(),
        // SAFETY: HIP's contract.
        (false, true) => unsafe { from_parameters(&function, parameters) }?,
        // SAFETY: HIP's contract.
        (true, false) => unsafe { from_extra(extra) }?,
        (false, false) => {
            return Err(Failure::value(
                "both kernelParams and extra hold arguments; one must be null",
            ));
        }
    };
    let device = &function.device;
    let config = LaunchConfig {
        grid,
        block,
        dynamic_lds_bytes,
        kernarg: &kernarg,
        seed: device.config.seed,
        threads: device.config.threads,
    };
    match launch(&function.kernel, &config) {
        Ok(_) => Ok(()),
        // A launch is asynchronous: what goes wrong in it comes to light later.
        Err(LaunchError::Fault(report)) => {
            let failure = Failure::new(fault_code(&report), &report);
            device.faults.add(stream.id, failure);
            Ok(())
        }
        Err(LaunchError::Memory(error)) => Err(error.into()),
        Err(error @ LaunchError::Unsupported { .. }) => {
            Err(Failure::new(hipError_t::hipErrorNotSupported, error))
        }
        Err(error) => Err(Failure::value(error)),
    }
}
