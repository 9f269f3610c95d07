//! Events. Their times are those of the host's clock: they measure the emulation, not a GPU.

use std::{ffi::c_uint, ptr, sync::Arc, time::Instant};

use ferrowave_hip_abi::{self as abi, hipError_t, hipEvent_t, hipStream_t};

use super::{
    error::{Failure, out},
    graph::capture,
    objects::{
        event::{EVENTS, Event, Record, Recorded, event},
        operation::Operation,
        shared_event::{SharedEvent, SharedRecord},
        stream::{StreamRef, stream},
    },
    pool,
    runtime::{Device, Runtime},
    task::Task,
};

pub(super) unsafe fn hipEventCreate(event: *mut hipEvent_t) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipEventCreateWithFlags(event, abi::hipEventDefault) }
}

pub(super) unsafe fn hipEventCreateWithFlags(
    event: *mut hipEvent_t,
    flags: c_uint,
) -> Result<(), Failure> {
    let event = out!(event);
    let fences = abi::hipEventDisableSystemFence
        | abi::hipEventReleaseToDevice
        | abi::hipEventReleaseToSystem;
    let known =
        abi::hipEventBlockingSync | abi::hipEventDisableTiming | abi::hipEventInterprocess | fences;
    if flags & !known != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, of which only {known:#x} are known"
        )));
    }
    if (flags & fences).count_ones() > 1 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but an event has one kind of fence"
        )));
    }
    if flags & abi::hipEventInterprocess != 0 && flags & abi::hipEventDisableTiming == 0 {
        return Err(Failure::value(
            "an event that processes share must not record the time (hipEventDisableTiming)",
        ));
    }
    let device = Runtime::get().current()?;
    let timed = flags & abi::hipEventDisableTiming == 0;
    let shared = match flags & abi::hipEventInterprocess {
        0 => None,
        // Where processes cannot share memory, it is an event as any other.
        _ => SharedEvent::new().ok(),
    };
    event.set(make(device, timed, shared));
    Ok(())
}

/// Makes an event and its handle.
pub(super) fn make(
    device: Arc<Device>,
    timed: bool,
    shared: Option<Arc<SharedEvent>>,
) -> hipEvent_t {
    let handle = EVENTS.insert_with(|id| Arc::new(Event::new(device, id, timed, shared)));
    ptr::without_provenance_mut(handle)
}

pub(super) unsafe fn hipEventDestroy(event: hipEvent_t) -> Result<(), Failure> {
    let gone = EVENTS.remove(event.addr());
    // As CLR does (`hipEventDestroy` in `hip_event.cpp`).
    let code = match event.is_null() {
        true => hipError_t::hipErrorInvalidHandle,
        false => hipError_t::hipErrorContextIsDestroyed,
    };
    gone.map(drop)
        .ok_or_else(|| Failure::handle("event", event.addr()).coded(code))
}

/// Rejects an event of a different device than the stream's.
pub(super) fn check_device(event: &Event, stream: &StreamRef) -> Result<(), Failure> {
    if Arc::ptr_eq(&event.device, &stream.device) {
        return Ok(());
    }
    Err(Failure::new(
        hipError_t::hipErrorInvalidHandle,
        format_args!(
            "the event is of device {}, the stream of device {}",
            event.device.ordinal, stream.device.ordinal
        ),
    ))
}

/// Records an event in a stream that is not being captured.
pub(super) fn record_in(event: &Event, stream: &StreamRef) {
    let (task, sequence) = stream.mark();
    event.recorded_at(Arc::clone(&stream.device), stream.waits(), sequence, task);
    if let Some(shared) = &event.shared {
        // An error means that the device is going, with the stream.
        let _ = stream.enqueue(Operation::Host(shared.record().reach()));
    }
}

pub(super) unsafe fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipEventRecordWithFlags(event, stream, 0) }
}

pub(super) unsafe fn hipEventRecordWithFlags(
    event: hipEvent_t,
    stream: hipStream_t,
    flags: c_uint,
) -> Result<(), Failure> {
    if flags & !abi::hipEventRecordExternal != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0 or 1 (hipEventRecordExternal)"
        )));
    }
    let event = self::event(event)?;
    let stream = self::stream(stream)?;
    check_device(&event, &stream)?;
    let external = flags & abi::hipEventRecordExternal != 0;
    if external && capture::add(&stream, &Operation::Record(Arc::clone(&event)))? {
        return Ok(());
    }
    match capture::point(&stream)? {
        Some(point) => event.set(Record::Captured(point)),
        None => record_in(&event, &stream),
    }
    Ok(())
}

/// The record of an event that a call waits for or asks about. Neither is allowed during a capture, which it invalidates.
fn awaited(event: hipEvent_t) -> Result<Option<Recorded>, Failure> {
    let event = self::event(event)?;
    if let Some(Record::Captured(point)) = event.record() {
        capture::invalidate(&point);
    }
    event.happens()
}

/// The last record of an event that processes share, wherever it was recorded.
fn shared_record(event: hipEvent_t) -> Result<Option<SharedRecord>, Failure> {
    let event = self::event(event)?;
    Ok(event.shared.as_ref().and_then(SharedEvent::last))
}

pub(super) unsafe fn hipEventSynchronize(event: hipEvent_t) -> Result<(), Failure> {
    if let Some(record) = shared_record(event)? {
        record.wait();
    }
    let Some(recorded) = awaited(event)? else {
        return Ok(());
    };
    recorded.task.wait()?;
    pool::trim(&recorded.device);
    recorded.device.faults.report(recorded.waits)
}

pub(super) unsafe fn hipEventQuery(event: hipEvent_t) -> Result<(), Failure> {
    let not_ready = || {
        Failure::new(
            hipError_t::hipErrorNotReady,
            "the stream has not reached the event",
        )
    };
    if shared_record(event)?.is_some_and(|record| !record.is_reached()) {
        return Err(not_ready());
    }
    let Some(recorded) = awaited(event)? else {
        return Ok(());
    };
    if !recorded.task.is_over() {
        return Err(not_ready());
    }
    recorded.device.faults.report(recorded.waits)
}

pub(super) unsafe fn hipEventElapsedTime(
    milliseconds: *mut f32,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> Result<(), Failure> {
    let milliseconds = out!(milliseconds);
    // An event that cannot be timed is an error even if the other is not ready, as in CLR.
    let (start, stop) = (timed(start, "start")?, timed(stop, "stop")?);
    let (start, stop) = (at(&start, "start")?, at(&stop, "stop")?);
    let forward = stop.saturating_duration_since(start).as_secs_f64();
    let backward = start.saturating_duration_since(stop).as_secs_f64();
    milliseconds.set(((forward - backward) * 1e3) as f32);
    Ok(())
}

/// The work whose end an event times.
fn timed(handle: hipEvent_t, name: &str) -> Result<Arc<Task>, Failure> {
    let event = event(handle)?;
    let reason = match event.happens()? {
        Some(recorded) if event.timed => return Ok(Arc::clone(&recorded.task)),
        Some(_) => "was created without timing",
        None => "was never recorded",
    };
    Err(Failure::new(
        hipError_t::hipErrorInvalidHandle,
        format_args!("the {name} event {reason}"),
    ))
}

/// The time at which work ended.
fn at(task: &Task, name: &str) -> Result<Instant, Failure> {
    task.over_at().ok_or_else(|| {
        Failure::new(
            hipError_t::hipErrorNotReady,
            format_args!("the stream has not reached the {name} event"),
        )
    })
}
