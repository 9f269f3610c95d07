//! Events. Their times are of the emulator's own clock: how long emulating took, which says nothing of a GPU.

use std::{
    ffi::c_uint,
    ptr,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use ferrowave_hip_abi::{self as abi, hipError_t, hipEvent_t, hipStream_t};

use super::{
    error::{Failure, out},
    fault::Waits,
    runtime::{Device, Runtime},
    stream::stream,
};

/// An event that a program made.
pub(super) struct Event {
    pub(super) device: Arc<Device>,
    timed: bool,
    record: Mutex<Option<Record>>,
}

#[derive(Clone)]
struct Record {
    device: Arc<Device>,
    waits: Waits,
    at: Instant,
}

impl Event {
    fn record(&self) -> Option<Record> {
        self.record
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The event of a handle.
pub(super) fn event(handle: hipEvent_t) -> Result<Arc<Event>, Failure> {
    let found = Runtime::get().events.get(handle.addr());
    found.ok_or_else(|| Failure::handle("event", handle.addr()))
}

pub(super) unsafe fn hipEventCreate(event: *mut hipEvent_t) -> Result<(), Failure> {
    // SAFETY: the same contract.
    unsafe { hipEventCreateWithFlags(event, abi::hipEventDefault) }
}

pub(super) unsafe fn hipEventCreateWithFlags(
    event: *mut hipEvent_t,
    flags: c_uint,
) -> Result<(), Failure> {
    let event = out!(event);
    let known = abi::hipEventBlockingSync
        | abi::hipEventDisableTiming
        | abi::hipEventDisableSystemFence
        | abi::hipEventReleaseToDevice
        | abi::hipEventReleaseToSystem;
    if flags & abi::hipEventInterprocess != 0 {
        return Err(Failure::new(
            hipError_t::hipErrorNotSupported,
            "processes cannot share the emulator's events",
        ));
    }
    if flags & !known != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, of which only {known:#x} are known"
        )));
    }
    let runtime = Runtime::get();
    let handle = runtime.events.insert(Arc::new(Event {
        device: runtime.current()?,
        timed: flags & abi::hipEventDisableTiming == 0,
        record: Mutex::new(None),
    }));
    event.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipEventDestroy(event: hipEvent_t) -> Result<(), Failure> {
    let gone = Runtime::get().events.remove(event.addr());
    gone.map(drop)
        .ok_or_else(|| Failure::handle("event", event.addr()))
}

pub(super) unsafe fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> Result<(), Failure> {
    let event = self::event(event)?;
    let stream = self::stream(stream)?;
    if !Arc::ptr_eq(&event.device, &stream.device) {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidHandle,
            format_args!(
                "the event is of device {}, the stream of device {}",
                event.device.ordinal, stream.device.ordinal
            ),
        ));
    }
    let waits = match stream.waits() {
        Waits::Stream(stream_id) => Waits::Until {
            stream: stream_id,
            moment: stream.device.faults.next_moment(),
        },
        all => all,
    };
    let record = Record {
        device: stream.device,
        waits,
        at: Instant::now(),
    };
    *event.record.lock().unwrap_or_else(PoisonError::into_inner) = Some(record);
    Ok(())
}

pub(super) unsafe fn hipEventSynchronize(event: hipEvent_t) -> Result<(), Failure> {
    match self::event(event)?.record() {
        Some(record) => record.device.faults.report(record.waits),
        None => Ok(()),
    }
}

pub(super) unsafe fn hipEventQuery(event: hipEvent_t) -> Result<(), Failure> {
    // Work is done when a launch returns, so that asking is waiting.
    // SAFETY: the same contract.
    unsafe { hipEventSynchronize(event) }
}

pub(super) unsafe fn hipEventElapsedTime(
    milliseconds: *mut f32,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> Result<(), Failure> {
    let milliseconds = out!(milliseconds);
    let at = |handle: hipEvent_t, name: &str| {
        let event = event(handle)?;
        let reason = match event.record() {
            Some(record) if event.timed => return Ok(record.at),
            Some(_) => "was made without a time",
            None => "was never recorded",
        };
        Err(Failure::new(
            hipError_t::hipErrorInvalidHandle,
            format_args!("the {name} event {reason}"),
        ))
    };
    let (start, stop) = (at(start, "start")?, at(stop, "stop")?);
    let forward = stop.saturating_duration_since(start).as_secs_f64();
    let backward = start.saturating_duration_since(stop).as_secs_f64();
    milliseconds.set(((forward - backward) * 1e3) as f32);
    Ok(())
}
