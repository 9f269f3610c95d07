//! Streams.

use std::{ffi::c_uint, ptr, sync::Arc};

use ferrowave_hip_abi::{
    hipError_t, hipEvent_t, hipStream_t, hipStreamDefault, hipStreamLegacy, hipStreamNonBlocking,
    hipStreamPerThread,
};

use super::{
    error::{Failure, out},
    event::event,
    fault::Waits,
    runtime::{Device, Runtime},
};

/// A stream that a program made.
pub(super) struct Stream {
    pub(super) device: Arc<Device>,
}

/// The number of a device's default stream, in place of a handle.
const DEFAULT: usize = 0;

/// A stream that a caller named.
pub(super) struct StreamRef {
    pub(super) device: Arc<Device>,
    /// Its handle, or 0 for the default stream.
    pub(super) id: usize,
}

impl StreamRef {
    /// What whoever waits for it waits for: the default stream comes after all others.
    pub(super) fn waits(&self) -> Waits {
        match self.id {
            DEFAULT => Waits::Device,
            id => Waits::Stream(id),
        }
    }
}

fn is_default(stream: hipStream_t) -> bool {
    stream.is_null() || stream == hipStreamLegacy || stream == hipStreamPerThread
}

/// The stream of a handle; null and HIP's special values are the current device's default stream.
pub(super) fn stream(handle: hipStream_t) -> Result<StreamRef, Failure> {
    let runtime = Runtime::get();
    if is_default(handle) {
        return Ok(StreamRef {
            device: runtime.current()?,
            id: DEFAULT,
        });
    }
    match runtime.streams.get(handle.addr()) {
        Some(stream) => Ok(StreamRef {
            device: Arc::clone(&stream.device),
            id: handle.addr(),
        }),
        None => Err(Failure::handle("stream", handle.addr())),
    }
}

pub(super) unsafe fn hipStreamCreate(stream: *mut hipStream_t) -> Result<(), Failure> {
    // SAFETY: the same contract.
    unsafe { hipStreamCreateWithFlags(stream, hipStreamDefault) }
}

pub(super) unsafe fn hipStreamCreateWithFlags(
    stream: *mut hipStream_t,
    flags: c_uint,
) -> Result<(), Failure> {
    let stream = out!(stream);
    if flags != hipStreamDefault && flags != hipStreamNonBlocking {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0 (hipStreamDefault) or 1 (hipStreamNonBlocking)"
        )));
    }
    let runtime = Runtime::get();
    let device = runtime.current()?;
    let handle = runtime.streams.insert(Arc::new(Stream { device }));
    stream.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipStreamDestroy(stream: hipStream_t) -> Result<(), Failure> {
    if is_default(stream) {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidHandle,
            "the default stream cannot be destroyed",
        ));
    }
    let Some(gone) = Runtime::get().streams.remove(stream.addr()) else {
        return Err(Failure::handle("stream", stream.addr()));
    };
    // Whoever waits for the device still hears of what failed in it.
    drop(gone);
    Ok(())
}

pub(super) unsafe fn hipStreamSynchronize(stream: hipStream_t) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    stream.device.faults.report(stream.waits())
}

pub(super) unsafe fn hipStreamQuery(stream: hipStream_t) -> Result<(), Failure> {
    // Work is done when a launch returns, so that asking is waiting.
    let stream = self::stream(stream)?;
    stream.device.faults.report(stream.waits())
}

pub(super) unsafe fn hipStreamWaitEvent(
    stream: hipStream_t,
    event: hipEvent_t,
    flags: c_uint,
) -> Result<(), Failure> {
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    self::stream(stream)?;
    // What was recorded has happened.
    self::event(event).map(drop)
}
