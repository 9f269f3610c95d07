//! Start, versions, devices.

use std::ffi::{c_char, c_int, c_uint};

use ferrowave_hip_abi::hipDevice_t;

use super::{
    error::{Failure, copy_text, out},
    fault::Waits,
    runtime::{Device, Runtime},
};

/// The HIP whose interface this is, in HIP's decimal form: 6.4.0.
const VERSION: c_int = 60_400_000;

/// Succeeds if there are devices.
pub(super) unsafe fn hipInit(flags: c_uint) -> Result<(), Failure> {
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    Runtime::get().with_devices(|_| ())
}

pub(super) unsafe fn hipDriverGetVersion(version: *mut c_int) -> Result<(), Failure> {
    out!(version).set(VERSION);
    Ok(())
}

pub(super) unsafe fn hipRuntimeGetVersion(version: *mut c_int) -> Result<(), Failure> {
    out!(version).set(VERSION);
    Ok(())
}

pub(super) unsafe fn hipGetDeviceCount(count: *mut c_int) -> Result<(), Failure> {
    let count = out!(count);
    // Places whose device was removed count, as ordinals stay what they are.
    count.set(Runtime::get().with_devices(|devices| devices.len() as c_int)?);
    Ok(())
}

pub(super) unsafe fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> Result<(), Failure> {
    let device = out!(device);
    device.set(Runtime::get().device(ordinal)?.ordinal);
    Ok(())
}

impl Device {
    /// What it calls itself: nobody shall take it for a GPU.
    pub(super) fn name(&self) -> String {
        let (gpu, product) = (self.row.gpu, self.row.product);
        format!("{product} ({gpu}, emulated by Ferrowave)")
    }
}

pub(super) unsafe fn hipDeviceGetName(
    name: *mut c_char,
    bytes: c_int,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let device = Runtime::get().device(device)?;
    let room = usize::try_from(bytes)
        .ok()
        .and_then(|bytes| bytes.checked_sub(1));
    let (false, Some(room)) = (name.is_null(), room) else {
        return Err(Failure::value(format_args!(
            "no room for a name: {bytes} bytes at {name:p}"
        )));
    };
    // SAFETY: the caller promises `bytes` bytes at `name`.
    unsafe { copy_text(&device.name(), name, room) }
    Ok(())
}

pub(super) unsafe fn hipDeviceTotalMem(
    bytes: *mut usize,
    device: hipDevice_t,
) -> Result<(), Failure> {
    let bytes = out!(bytes);
    bytes.set(Runtime::get().device(device)?.memory.capacity_bytes() as usize);
    Ok(())
}

pub(super) unsafe fn hipSetDevice(device: c_int) -> Result<(), Failure> {
    Runtime::get().set_current(device)
}

pub(super) unsafe fn hipGetDevice(device: *mut c_int) -> Result<(), Failure> {
    let device = out!(device);
    device.set(Runtime::get().current()?.ordinal);
    Ok(())
}

pub(super) unsafe fn hipDeviceSynchronize() -> Result<(), Failure> {
    // Work is done when a launch returns; only its failures wait.
    Runtime::get().current()?.faults.report(Waits::Device)
}
