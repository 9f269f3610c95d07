//! Streams: their functions, and submitting work to them.

use std::{
    ffi::{c_int, c_uint},
    ptr,
    sync::Arc,
};

use ferrowave_hip_abi::{
    self as abi, hipDevice_t, hipError_t, hipEvent_t, hipStream_t, hipStreamDefault,
    hipStreamNonBlocking,
};

use super::{
    error::{Failure, Out, is_absent, out},
    graph::capture,
    list::list,
    objects::{
        event::{Record, event},
        operation::Operation,
        shared_event::SharedEvent,
        stream::{STREAMS, Stream, StreamRef, is_default, stream, stream_or},
    },
    pool,
    runtime::{Device, Runtime},
};

impl StreamRef {
    /// Submits work, or adds a node to the graph if the stream is being captured.
    pub(super) fn submit(&self, operation: Operation) -> Result<(), Failure> {
        match capture::add(self, &operation)? {
            true => Ok(()),
            false => self.enqueue(operation).map(drop),
        }
    }

    /// Submits work. The call waits only if no work is left before it. CLR never waits here, but a GPU ends such work before the
    /// program's next call on another device, which does not wait for it either.
    pub(super) fn submit_now(&self, operation: Operation) -> Result<(), Failure> {
        if capture::add(self, &operation)? {
            return Ok(());
        }
        if let (task, true) = self.enqueue_first(operation) {
            // In a host function that a stream calls, this is an error, and the work goes on.
            let _ = task.wait();
        }
        Ok(())
    }

    /// Submits work that uses the caller's memory, and waits for it unless the stream is being captured.
    pub(super) fn submit_and_wait(&self, operation: Operation) -> Result<(), Failure> {
        if capture::add(self, &operation)? {
            return Ok(());
        }
        self.enqueue(operation)?.0.wait()
    }

    /// Waits for the stream's work, and reports its failures.
    pub(super) fn synchronize(&self) -> Result<(), Failure> {
        capture::refuse_waiting(self)?;
        self.finish()
    }

    /// As [`Self::synchronize`], for a call that does not ask whether the stream is captured.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        self.wait()?;
        pool::trim(&self.device);
        self.device.faults.report(self.waits())
    }
}

pub(super) unsafe fn hipStreamCreate(stream: *mut hipStream_t) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipStreamCreateWithFlags(stream, hipStreamDefault) }
}

pub(super) unsafe fn hipStreamCreateWithFlags(
    stream: *mut hipStream_t,
    flags: c_uint,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipStreamCreateWithPriority(stream, flags, 0) }
}

pub(super) unsafe fn hipStreamCreateWithPriority(
    stream: *mut hipStream_t,
    flags: c_uint,
    priority: c_int,
) -> Result<(), Failure> {
    let stream = out!(stream);
    check_flags(flags)?;
    let device = Runtime::get().current()?;
    create(stream, device, flags, priority, Vec::new());
    Ok(())
}

pub(super) fn check_flags(flags: c_uint) -> Result<(), Failure> {
    if flags != hipStreamDefault && flags != hipStreamNonBlocking {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0 (hipStreamDefault) or 1 (hipStreamNonBlocking)"
        )));
    }
    Ok(())
}

/// Creates a stream, and returns its handle.
pub(super) fn create(
    stream: Out<hipStream_t>,
    device: Arc<Device>,
    flags: c_uint,
    priority: c_int,
    compute_units: Vec<u32>,
) -> usize {
    // HIP clamps priorities too.
    let priority = priority.clamp(HIGHEST_PRIORITY, LOWEST_PRIORITY);
    let handle =
        STREAMS.insert_with(|handle| Stream::new(device, handle, flags, priority, compute_units));
    stream.set(ptr::without_provenance_mut(handle));
    handle
}

pub(super) unsafe fn hipExtStreamCreateWithCUMask(
    stream: *mut hipStream_t,
    words: u32,
    mask: *const u32,
) -> Result<(), Failure> {
    if stream.is_null() {
        return Err(Failure::handle("stream", 0));
    }
    if words == 0 {
        return Err(Failure::value("the mask of compute units is empty"));
    }
    // SAFETY: HIP's contract: the mask has that many words.
    let mask = unsafe { list(mask, words as usize, "cuMask") }?;
    let device = Runtime::get().current()?;
    create(out!(stream), device, hipStreamDefault, 0, mask);
    Ok(())
}

/// Gives the stream's mask, without compute units that the device lacks; all of them for a mask without any other.
pub(super) unsafe fn hipExtStreamGetCUMask(
    stream: hipStream_t,
    words: u32,
    mask: *mut u32,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let count = stream.device.row.compute_units as usize;
    let needed = count.div_ceil(32);
    if is_absent(mask) || (words as usize) < needed {
        return Err(Failure::value(format_args!(
            "the mask is null or has {words} words; {count} compute units need {needed}"
        )));
    }
    let all = (0..needed).map(|word| match count - 32 * word {
        bits @ ..32 => (1 << bits) - 1,
        _ => u32::MAX,
    });
    let chosen = stream.object.map(|stream| stream.compute_units.clone());
    let chosen = chosen.unwrap_or_default().into_iter();
    let both: Vec<u32> = chosen.zip(all.clone()).map(|(a, b)| a & b).collect();
    let both = match both.iter().any(|&word| word != 0) {
        true => both,
        false => all.collect(),
    };
    for (index, word) in both.into_iter().enumerate() {
        // SAFETY: HIP's contract: the mask has `words` words, and there are no more here.
        unsafe { mask.add(index).write_unaligned(word) };
    }
    Ok(())
}

/// HIP's priorities for AMD GPUs. They have no effect here.
const LOWEST_PRIORITY: c_int = 1;
const HIGHEST_PRIORITY: c_int = -1;

pub(super) unsafe fn hipDeviceGetStreamPriorityRange(
    least: *mut c_int,
    greatest: *mut c_int,
) -> Result<(), Failure> {
    Runtime::get().current()?;
    if !least.is_null() {
        out!(least).set(LOWEST_PRIORITY);
    }
    if !greatest.is_null() {
        out!(greatest).set(HIGHEST_PRIORITY);
    }
    Ok(())
}

pub(super) unsafe fn hipStreamDestroy(stream: hipStream_t) -> Result<(), Failure> {
    if is_default(stream) {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidHandle,
            "the default stream cannot be destroyed",
        ));
    }
    // The stream's work continues. A call that waits for the device also waits for it, and reports its failures.
    let gone = STREAMS.remove(stream.addr());
    gone.map(drop).ok_or_else(|| {
        Failure::handle("stream", stream.addr()).coded(hipError_t::hipErrorContextIsDestroyed)
    })
}

pub(super) unsafe fn hipStreamSynchronize(stream: hipStream_t) -> Result<(), Failure> {
    self::stream(stream)?.synchronize()
}

pub(super) unsafe fn hipStreamQuery(stream: hipStream_t) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    capture::refuse_waiting(&stream)?;
    if !stream.is_done() {
        return Err(Failure::new(
            hipError_t::hipErrorNotReady,
            "the stream has unfinished work",
        ));
    }
    stream.device.faults.report(stream.waits())
}

pub(super) unsafe fn hipStreamWaitEvent(
    stream: hipStream_t,
    event: hipEvent_t,
    flags: c_uint,
) -> Result<(), Failure> {
    if flags & !abi::hipEventWaitExternal != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0 or 1 (hipEventWaitExternal)"
        )));
    }
    let stream = stream_or(stream, hipError_t::hipErrorInvalidHandle)?;
    let event = self::event(event)?;
    if flags & abi::hipEventWaitExternal != 0
        && capture::add(&stream, &Operation::Wait(Arc::clone(&event)))?
    {
        return Ok(());
    }
    if let Some(record) = event.shared.as_ref().and_then(SharedEvent::last)
        && !record.is_reached()
    {
        // Another process may have recorded it.
        capture::refuse_captured(&stream)?;
        stream.enqueue(Operation::Host(record.wait_in_stream()))?;
        return Ok(());
    }
    match event.record() {
        // In HIP, an event that was never recorded is not waited for.
        None => Ok(()),
        Some(Record::Captured(point)) => capture::join(&stream, &point),
        Some(Record::Done(done)) => {
            capture::refuse_captured(&stream)?;
            stream.wait_for(done.task);
            Ok(())
        }
    }
}

pub(super) unsafe fn hipStreamGetPriority(
    stream: hipStream_t,
    priority: *mut c_int,
) -> Result<(), Failure> {
    let priority = out!(priority);
    priority.set(self::stream(stream)?.priority());
    Ok(())
}

pub(super) unsafe fn hipStreamGetFlags(
    stream: hipStream_t,
    flags: *mut c_uint,
) -> Result<(), Failure> {
    let flags = out!(flags);
    // In HIP, the default stream has no flags. Its function per thread has another stream here.
    let Some(stream) = self::stream(stream)?.object else {
        return Err(Failure::value("the default stream has no flags"));
    };
    flags.set(stream.flags);
    Ok(())
}

pub(super) unsafe fn hipStreamGetDevice(
    stream: hipStream_t,
    device: *mut hipDevice_t,
) -> Result<(), Failure> {
    let device = out!(device);
    device.set(self::stream(stream)?.device.ordinal);
    Ok(())
}

pub(super) unsafe fn hipStreamGetId(stream: hipStream_t, id: *mut u64) -> Result<(), Failure> {
    let id = out!(id);
    let stream = self::stream(stream)?;
    id.set(stream.id as u64);
    Ok(())
}

pub(super) unsafe fn hipGetStreamDeviceId(stream: hipStream_t) -> c_int {
    self::stream(stream).map_or(-1, |stream| stream.device.ordinal)
}
