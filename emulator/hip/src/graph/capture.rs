//! Stream capture: streams whose work is added to a graph instead of the device's queues.
//!
//! A capture begins in one stream. Another stream joins it by waiting for an event that was recorded in it. Each stream
//! keeps the nodes that its next node depends on.

use std::{
    cell::Cell,
    ptr,
    sync::{Arc, atomic::Ordering},
    thread,
};

use ferrowave_hip_abi::{
    hipError_t, hipGraph_t, hipGraphEdgeData, hipGraphNode_t, hipStream_t,
    hipStreamAddCaptureDependencies, hipStreamCaptureMode as Mode,
    hipStreamCaptureStatus as Status, hipStreamSetCaptureDependencies,
};

use crate::{
    error::{Failure, out, read},
    objects::{
        capture::{CAPTURES, Capture, Capturing, locked},
        event::Point,
        graph::{Graph, graph, listed},
        operation::Operation,
        stream::{StreamRef, stream},
    },
    runtime::Runtime,
};

fn failure(code: hipError_t, detail: &str) -> Failure {
    Failure::new(code, detail)
}

/// Rejects a question whether the default stream is captured while a blocking stream is. Work of the default stream runs
/// at once, as in CLR.
fn check_default(stream: &StreamRef) -> Result<(), Failure> {
    if stream.object.is_some() || stream.device.captures.load(Ordering::Relaxed) == 0 {
        return Ok(());
    }
    Err(failure(
        hipError_t::hipErrorStreamCaptureImplicit,
        "the default stream cannot be used while a stream that waits for it is captured",
    ))
}

/// The captures that the calling thread began, and those in streams of its current device. CLR looks at those of all
/// devices.
fn nearby() -> Vec<Arc<Capture>> {
    let mut captures = CAPTURES.all();
    if captures.is_empty() {
        return captures;
    }
    let (device, thread) = (Runtime::get().current().ok(), thread::current().id());
    captures.retain(|capture| {
        let on_device = device.as_ref();
        capture.thread == thread || on_device.is_some_and(|of| Arc::ptr_eq(of, &capture.device))
    });
    captures
}

/// The captures that forbid calls that may be unsafe: none if the thread's mode is relaxed, the thread's own that are not
/// relaxed, and others of mode global if the thread's mode is that too.
fn forbidding() -> Vec<Arc<Capture>> {
    let mode = MODE.get();
    if mode == Mode::hipStreamCaptureModeRelaxed {
        return Vec::new();
    }
    let mut captures = nearby();
    captures.retain(|capture| match capture.mode {
        Mode::hipStreamCaptureModeRelaxed => false,
        Mode::hipStreamCaptureModeGlobal if mode == capture.mode => true,
        _ => capture.thread == thread::current().id(),
    });
    captures
}

/// Fails if there are such captures, and invalidates them.
fn none_of(captures: &[Arc<Capture>], code: hipError_t, detail: &str) -> Result<(), Failure> {
    if captures.is_empty() {
        return Ok(());
    }
    captures.iter().for_each(|capture| capture.invalidate());
    Err(failure(code, detail))
}

/// Rejects a call that is unsafe during a capture, such as `hipMalloc` (CLR's `CHECK_STREAM_CAPTURE_SUPPORTED`).
pub(crate) fn refuse_unsafe() -> Result<(), Failure> {
    none_of(
        &forbidding(),
        hipError_t::hipErrorStreamCaptureUnsupported,
        "a stream is captured, during which only threads whose capture mode is relaxed \
         (hipThreadExchangeStreamCaptureMode) may call this function",
    )
}

/// Rejects a copy or memset that waits while a stream is captured, in whatever mode (CLR's `CHECK_STREAM_CAPTURING`).
pub(crate) fn refuse_synchronous() -> Result<(), Failure> {
    none_of(
        &nearby(),
        hipError_t::hipErrorStreamCaptureImplicit,
        "a stream is captured, and this function uses the default stream and waits for it",
    )
}

/// Adds a node to the graph of a stream's capture. Returns false if the stream is not being captured.
pub(crate) fn add(stream: &StreamRef, operation: &Operation) -> Result<bool, Failure> {
    let Some(object) = &stream.object else {
        return Ok(false);
    };
    let mut part = locked(&object.capture);
    let Some(capturing) = part.as_mut() else {
        return Ok(false);
    };
    capturing.capture.check()?;
    let dependencies = capturing.next.clone();
    let node = capturing.capture.graph.add(operation.clone(), dependencies);
    capturing.next = vec![node];
    Ok(true)
}

/// The graph of a stream's capture, if it is being captured.
pub(crate) fn graph_of(stream: &StreamRef) -> Option<Arc<Graph>> {
    let part = locked(&stream.object.as_ref()?.capture);
    Some(Arc::clone(&part.as_ref()?.capture.graph))
}

pub(crate) fn is_captured(stream: &StreamRef) -> bool {
    let object = stream.object.as_ref();
    object.is_some_and(|stream| locked(&stream.capture).is_some())
}

/// Rejects work that a graph cannot contain.
pub(crate) fn refuse(stream: &StreamRef, why: &str) -> Result<(), Failure> {
    let Some(object) = &stream.object else {
        return Ok(());
    };
    match locked(&object.capture).as_ref() {
        Some(capturing) => {
            capturing.capture.invalidate();
            Err(failure(
                hipError_t::hipErrorStreamCaptureUnsupported,
                &format!("the stream is captured, and {why}"),
            ))
        }
        None => Ok(()),
    }
}

/// Rejects waiting for captured work, which does not run.
pub(crate) fn refuse_captured(stream: &StreamRef) -> Result<(), Failure> {
    refuse(
        stream,
        "captured work does not run, so no call can wait for it",
    )
}

/// Rejects a wait for a stream that is captured, and for any but the default stream while a capture forbids unsafe calls
/// (`Stream::StreamCaptureOngoing` in CLR's `hip_stream.cpp`).
pub(crate) fn refuse_waiting(stream: &StreamRef) -> Result<(), Failure> {
    if stream.object.is_none() {
        return Ok(());
    }
    refuse_captured(stream)?;
    refuse_unsafe()
}

/// Rejects a wait for a device while streams are captured (CLR's `CHECK_SUPPORTED_DURING_CAPTURE`).
pub(crate) fn refuse_waiting_for_all() -> Result<(), Failure> {
    none_of(
        &nearby(),
        hipError_t::hipErrorStreamCaptureUnsupported,
        "a stream is captured, and captured work does not run, so no call can wait for the device",
    )
}

/// A stream's position in its capture; `None` if it is not being captured.
pub(crate) fn point(stream: &StreamRef) -> Result<Option<Point>, Failure> {
    let Some(object) = &stream.object else {
        return Ok(None);
    };
    let part = locked(&object.capture);
    let Some(capturing) = part.as_ref() else {
        return Ok(None);
    };
    capturing.capture.check()?;
    Ok(Some(Point {
        capture: capturing.capture.id,
        next: capturing.next.clone(),
    }))
}

/// Invalidates the capture of a position, unless it has ended.
pub(crate) fn invalidate(point: &Point) {
    if let Some(capture) = CAPTURES.get(point.capture) {
        capture.invalidate();
    }
}

/// Makes a stream wait for a position in a capture. The stream joins the capture.
pub(crate) fn join(stream: &StreamRef, point: &Point) -> Result<(), Failure> {
    let capture = CAPTURES.get(point.capture).ok_or_else(|| {
        failure(
            hipError_t::hipErrorCapturedEvent,
            "the event was recorded in a capture that has ended",
        )
    })?;
    let Some(object) = &stream.object else {
        capture.invalidate();
        return Err(failure(
            hipError_t::hipErrorStreamCaptureImplicit,
            "the default stream cannot join a capture",
        ));
    };
    capture.check()?;
    let mut part = locked(&object.capture);
    match part.as_mut() {
        None => {
            capture.streams().push(Arc::downgrade(&object.capture));
            *part = Some(Capturing {
                capture: Arc::clone(&capture),
                next: point.next.clone(),
            });
        }
        Some(capturing) if Arc::ptr_eq(&capturing.capture, &capture) => {
            let new = point.next.iter().filter(|id| !capturing.next.contains(id));
            let new: Vec<_> = new.copied().collect();
            capturing.next.extend(new);
        }
        Some(capturing) => {
            capturing.capture.invalidate();
            capture.invalidate();
            return Err(failure(
                hipError_t::hipErrorStreamCaptureMerge,
                "the event was recorded in another capture than the stream is in",
            ));
        }
    }
    Ok(())
}

pub(crate) unsafe fn hipStreamBeginCapture(stream: hipStream_t, mode: Mode) -> Result<(), Failure> {
    begin(stream, mode, None)
}

pub(crate) unsafe fn hipStreamBeginCaptureToGraph(
    stream: hipStream_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    data: *const hipGraphEdgeData,
    count: usize,
    mode: Mode,
) -> Result<(), Failure> {
    if !data.is_null() {
        return Err(failure(
            hipError_t::hipErrorNotSupported,
            "data of edges is not supported on AMD's GPUs",
        ));
    }
    if list.is_null() != (count == 0) {
        return Err(Failure::value(format_args!(
            "a list of {count} dependencies at {list:p}"
        )));
    }
    let object = self::graph(graph)?;
    // SAFETY: the caller upholds HIP's contract.
    let next = unsafe { listed(&object, list, count) }?;
    begin(stream, mode, Some((graph.addr(), object, next)))
}

/// Begins a capture, into a graph with a handle and after some of its nodes, or into a new graph.
fn begin(
    stream: hipStream_t,
    mode: Mode,
    into: Option<(usize, Arc<Graph>, Vec<usize>)>,
) -> Result<(), Failure> {
    if mode.0 > Mode::hipStreamCaptureModeRelaxed.0 {
        return Err(Failure::value(format_args!(
            "{} is not a capture mode; expected 0 to 2",
            mode.0
        )));
    }
    let stream = self::stream(stream)?;
    let Some(object) = &stream.object else {
        return Err(failure(
            hipError_t::hipErrorStreamCaptureUnsupported,
            "the default stream cannot be captured",
        ));
    };
    match object.begin_capture(mode, into) {
        true => Ok(()),
        false => Err(failure(
            hipError_t::hipErrorIllegalState,
            "the stream is captured already",
        )),
    }
}

pub(crate) unsafe fn hipStreamEndCapture(
    stream: hipStream_t,
    graph: *mut hipGraph_t,
) -> Result<(), Failure> {
    let graph = out!(graph);
    let stream = self::stream(stream)?;
    let not_captured = || {
        failure(
            hipError_t::hipErrorIllegalState,
            "the stream is not captured",
        )
    };
    let object = stream.object.as_ref().ok_or_else(not_captured)?;
    let (capture, next) = match locked(&object.capture).as_ref() {
        Some(capturing) => (Arc::clone(&capturing.capture), capturing.next.clone()),
        None => return Err(not_captured()),
    };
    if !object.began(&capture) {
        return Err(failure(
            hipError_t::hipErrorStreamCaptureUnmatched,
            "the capture began in another stream",
        ));
    }
    if capture.mode != Mode::hipStreamCaptureModeRelaxed && capture.thread != thread::current().id()
    {
        return Err(failure(
            hipError_t::hipErrorStreamCaptureWrongThread,
            "the capture began on another thread, and its mode is not relaxed",
        ));
    }
    let others = capture.others().clone();
    let mut leaves = capture.graph.leaves().into_iter();
    let unjoined = leaves.any(|leaf| !next.contains(&leaf) && !others.contains(&leaf));
    object.end_capture(&capture);
    let result = capture.check().and_then(|()| match unjoined {
        true => Err(failure(
            hipError_t::hipErrorStreamCaptureUnjoined,
            "another stream of the capture was not joined to the stream where the capture began",
        )),
        false => Ok(()),
    });
    match result {
        Ok(()) => graph.set(ptr::without_provenance_mut(capture.handle)),
        Err(_) => {
            graph.set(ptr::null_mut());
            capture.discard();
        }
    }
    result
}

/// A stream's capture: status, ID, graph and dependencies.
struct Info {
    status: Status,
    id: u64,
    graph: usize,
    /// The list is valid until the stream's capture changes.
    next: (*const hipGraphNode_t, usize),
}

fn info(stream: hipStream_t) -> Result<Info, Failure> {
    let stream = self::stream(stream)?;
    let none = Info {
        status: Status::hipStreamCaptureStatusNone,
        id: 0,
        graph: 0,
        next: (ptr::null(), 0),
    };
    let Some(object) = &stream.object else {
        check_default(&stream)?;
        return Ok(none);
    };
    Ok(match locked(&object.capture).as_ref() {
        None => none,
        Some(Capturing { capture, next }) => Info {
            status: match capture.is_invalid() {
                true => Status::hipStreamCaptureStatusInvalidated,
                false => Status::hipStreamCaptureStatusActive,
            },
            id: capture.id as u64,
            graph: capture.handle,
            next: (next.as_ptr().cast(), next.len()),
        },
    })
}

pub(crate) unsafe fn hipStreamIsCapturing(
    stream: hipStream_t,
    status: *mut Status,
) -> Result<(), Failure> {
    let status = out!(status);
    status.set(info(stream)?.status);
    Ok(())
}

pub(crate) unsafe fn hipStreamGetCaptureInfo(
    stream: hipStream_t,
    status: *mut Status,
    id: *mut u64,
) -> Result<(), Failure> {
    let (null, none) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the caller upholds the same contract.
    unsafe { hipStreamGetCaptureInfo_v2(stream, status, id, null, none, ptr::null_mut()) }
}

pub(crate) unsafe fn hipStreamGetCaptureInfo_v2(
    stream: hipStream_t,
    status: *mut Status,
    id: *mut u64,
    graph: *mut hipGraph_t,
    list: *mut *const hipGraphNode_t,
    count: *mut usize,
) -> Result<(), Failure> {
    let status = out!(status);
    let info = info(stream)?;
    status.set(info.status);
    if !id.is_null() {
        out!(id).set(info.id);
    }
    if !graph.is_null() {
        out!(graph).set(ptr::without_provenance_mut(info.graph));
    }
    if !list.is_null() {
        out!(list).set(info.next.0);
    }
    if !count.is_null() {
        out!(count).set(info.next.1);
    }
    Ok(())
}

pub(crate) unsafe fn hipStreamUpdateCaptureDependencies(
    stream: hipStream_t,
    list: *mut hipGraphNode_t,
    count: usize,
    flags: std::ffi::c_uint,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    let not_captured = || {
        failure(
            hipError_t::hipErrorIllegalState,
            "the stream is not captured",
        )
    };
    let object = stream.object.as_ref().ok_or_else(not_captured)?;
    let mut part = locked(&object.capture);
    let capturing = part.as_mut().ok_or_else(not_captured)?;
    capturing.capture.check()?;
    // SAFETY: the caller upholds HIP's contract.
    let mut nodes = unsafe { listed(&capturing.capture.graph, list, count) }?;
    if flags == hipStreamAddCaptureDependencies {
        nodes.retain(|id| !capturing.next.contains(id));
        capturing.next.extend(nodes);
    } else if flags == hipStreamSetCaptureDependencies {
        // What is replaced need not be joined.
        capturing.capture.others().append(&mut capturing.next);
        capturing.next = nodes;
    } else {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0 (add) or 1 (set)"
        )));
    }
    Ok(())
}

thread_local! {
    /// Which captures forbid the thread unsafe calls.
    static MODE: Cell<Mode> = const { Cell::new(Mode::hipStreamCaptureModeGlobal) };
}

pub(crate) unsafe fn hipThreadExchangeStreamCaptureMode(mode: *mut Mode) -> Result<(), Failure> {
    let wanted = read!(mode);
    if wanted.0 > Mode::hipStreamCaptureModeRelaxed.0 {
        return Err(Failure::value(format_args!(
            "{} is not a capture mode; expected 0 to 2",
            wanted.0
        )));
    }
    out!(mode).set(MODE.replace(wanted));
    Ok(())
}
