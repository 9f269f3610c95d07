//! Streams, and the stream that a handle refers to.

use std::{
    cell::{Cell, RefCell},
    ffi::{c_int, c_uint},
    ptr,
    sync::{
        Arc, LazyLock, Mutex, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

use ferrowave_hip_abi::{
    hipError_t, hipStream_t, hipStreamCaptureMode as Mode, hipStreamDefault, hipStreamLegacy,
    hipStreamNonBlocking, hipStreamPerThread, hipSynchronizationPolicy,
};

use super::{
    capture::{CAPTURES, Capture, Capturing, Part, locked},
    graph::{GRAPHS, Graph},
    operation::{Operation, Origin},
};
use crate::{
    error::Failure,
    fault::Waits,
    handles::{self, Handles},
    queue::{DEFAULT, Order},
    runtime::{Device, Runtime},
    task::Task,
};

/// A stream created by a program, or a thread's own default stream.
pub(crate) struct Stream {
    pub(crate) device: Arc<Device>,
    /// Its handle.
    id: usize,
    pub(crate) flags: c_uint,
    pub(crate) priority: c_int,
    /// The compute units that the program chose, one bit each; empty for all. It has no effect.
    pub(crate) compute_units: Vec<u32>,
    /// How threads wait for it (`hipSynchronizationPolicy`). It is only stored.
    pub(crate) policy: AtomicU32,
    /// The stream's part in a capture.
    pub(crate) capture: Arc<Part>,
}

/// Streams by handle.
pub(crate) static STREAMS: LazyLock<Handles<Stream>> = LazyLock::new(Handles::new);

impl Stream {
    pub(crate) fn new(
        device: Arc<Device>,
        id: usize,
        flags: c_uint,
        priority: c_int,
        compute_units: Vec<u32>,
    ) -> Arc<Self> {
        Arc::new(Stream {
            device,
            id,
            flags,
            priority,
            compute_units,
            policy: AtomicU32::new(hipSynchronizationPolicy::hipSyncPolicyAuto.0),
            capture: Arc::default(),
        })
    }

    /// Whether it and the default stream synchronize with each other.
    pub(crate) fn waits_for_default(&self) -> bool {
        self.flags != hipStreamNonBlocking
    }

    /// Begins a capture into a graph of the program, after some of its nodes, or into a new graph. Returns false if the
    /// stream is being captured already.
    pub(crate) fn begin_capture(
        &self,
        mode: Mode,
        into: Option<(usize, Arc<Graph>, Vec<usize>)>,
    ) -> bool {
        let mut part = locked(&self.capture);
        if part.is_some() {
            return false;
        }
        let is_new = into.is_none();
        let (handle, graph, next) = into.unwrap_or_else(|| {
            let graph = Arc::new(Graph::default());
            (GRAPHS.insert(Arc::clone(&graph)), graph, Vec::new())
        });
        let others = graph.leaves();
        let capture = Arc::new(Capture {
            id: handles::unused(),
            device: Arc::clone(&self.device),
            handle,
            graph,
            is_new,
            others: Mutex::new(others),
            mode,
            thread: thread::current().id(),
            invalid: AtomicBool::new(false),
            streams: Mutex::new(vec![Arc::downgrade(&self.capture)]),
        });
        CAPTURES.insert_at(capture.id, Arc::clone(&capture));
        if self.waits_for_default() {
            self.device.captures.fetch_add(1, Ordering::Relaxed);
        }
        *part = Some(Capturing { capture, next });
        true
    }

    /// Whether `capture` began in this stream.
    pub(crate) fn began(&self, capture: &Capture) -> bool {
        let streams = capture.streams();
        let first = streams.first();
        first.is_some_and(|first| first.as_ptr() == Arc::as_ptr(&self.capture))
    }

    /// Ends a capture that began in this stream, for all its streams.
    pub(crate) fn end_capture(&self, capture: &Arc<Capture>) {
        CAPTURES.remove(capture.id);
        let parts: Vec<_> = capture.streams().drain(..).collect();
        for part in parts.iter().filter_map(Weak::upgrade) {
            let mut part = locked(&part);
            if part
                .as_ref()
                .is_some_and(|part| Arc::ptr_eq(&part.capture, capture))
            {
                *part = None;
            }
        }
        if self.waits_for_default() {
            self.device.captures.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Dropping a stream ends the capture that began in it, which cannot be completed any more. One that it joined goes on: what
/// it captured stays, joined or not. A stream is dropped when it is destroyed, when its device is reset or removed, and, if
/// it is a thread's own, when the thread ends.
impl Drop for Stream {
    fn drop(&mut self) {
        let capturing = locked(&self.capture).take();
        if let Some(Capturing { capture, .. }) = capturing
            && self.began(&capture)
        {
            capture.invalidate();
            self.end_capture(&capture);
            capture.discard();
        }
    }
}

/// A stream that a caller named.
#[derive(Clone)]
pub(crate) struct StreamRef {
    pub(crate) device: Arc<Device>,
    /// Its handle, or 0 for the default stream.
    pub(crate) id: usize,
    order: Order,
    /// The stream; `None` for the default stream, which cannot be captured.
    pub(crate) object: Option<Arc<Stream>>,
}

/// Handles of a thread's own default streams, one per device.
struct Own(Vec<(Weak<Device>, usize)>);

impl Drop for Own {
    fn drop(&mut self) {
        for &(_, handle) in &self.0 {
            STREAMS.remove(handle);
        }
    }
}

thread_local! {
    static OWN: RefCell<Own> = const { RefCell::new(Own(Vec::new())) };
    /// Whether a null stream means the thread's own default stream.
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call in which a null stream means the thread's own default stream.
pub(crate) fn per_thread<R>(call: impl FnOnce() -> R) -> R {
    let before = PER_THREAD.replace(true);
    let result = call();
    PER_THREAD.set(before);
    result
}

/// The calling thread's own default stream of a device. In a destructor of the program after the thread's streams are
/// gone, it is the device's default stream.
fn own(device: Arc<Device>) -> StreamRef {
    if OWN.try_with(|_| ()).is_err() {
        return StreamRef::default_of(device);
    }
    StreamRef::of(OWN.with_borrow_mut(|Own(own)| {
        let found = own
            .iter()
            .find(|(of, _)| of.as_ptr() == Arc::as_ptr(&device))
            .and_then(|&(_, handle)| STREAMS.get(handle));
        found.unwrap_or_else(|| {
            own.retain(|&(_, handle)| STREAMS.get(handle).is_some());
            let handle = handles::unused();
            let made = Stream::new(Arc::clone(&device), handle, hipStreamDefault, 0, Vec::new());
            STREAMS.insert_at(handle, Arc::clone(&made));
            own.push((Arc::downgrade(&device), handle));
            made
        })
    }))
}

impl StreamRef {
    fn of(stream: Arc<Stream>) -> Self {
        let order = match stream.waits_for_default() {
            true => Order::Blocking,
            false => Order::NonBlocking,
        };
        StreamRef {
            device: Arc::clone(&stream.device),
            id: stream.id,
            order,
            object: Some(stream),
        }
    }

    /// The default stream of a device.
    pub(crate) fn default_of(device: Arc<Device>) -> Self {
        StreamRef {
            device,
            id: DEFAULT,
            order: Order::Default,
            object: None,
        }
    }

    /// The work that a call waiting for this stream waits for. The default stream comes after all others.
    pub(crate) fn waits(&self) -> Waits {
        match self.id {
            DEFAULT => Waits::Device,
            id => Waits::Stream(id),
        }
    }

    /// Its priority; that of a default stream is 0.
    pub(crate) fn priority(&self) -> c_int {
        self.object.as_ref().map_or(0, |stream| stream.priority)
    }

    /// Submits an operation to the device's queues.
    pub(crate) fn enqueue(&self, operation: Operation) -> Result<(Arc<Task>, u64), Failure> {
        Ok(self.enqueue_after(operation, |_| ()))
    }

    /// Submits an operation, and returns also whether all work that it waits for has ended already.
    pub(crate) fn enqueue_first(&self, operation: Operation) -> (Arc<Task>, bool) {
        let mut is_first = false;
        let (task, _) = self.enqueue_after(operation, |dependencies| {
            is_first = dependencies.iter().all(|task| task.is_over());
        });
        (task, is_first)
    }

    /// Submits an operation. `look` has the work that it waits for.
    fn enqueue_after(
        &self,
        operation: Operation,
        look: impl FnOnce(&[Arc<Task>]),
    ) -> (Arc<Task>, u64) {
        let (device, stream) = (Arc::clone(&self.device), self.id);
        let submit = |dependencies: Vec<Arc<Task>>, sequence| {
            look(&dependencies);
            let origin = Origin {
                device,
                stream,
                sequence,
            };
            operation.submit(dependencies, origin)
        };
        self.device.queues.submit(stream, self.order, submit)
    }

    /// Submits a task that completes after all of the stream's work so far.
    pub(crate) fn mark(&self) -> (Arc<Task>, u64) {
        self.device
            .queues
            .submit(self.id, self.order, |dependencies, _| {
                Task::submit(&dependencies, None)
            })
    }

    /// Makes later work wait for a task.
    pub(crate) fn wait_for(&self, task: Arc<Task>) {
        self.device
            .queues
            .submit(self.id, self.order, |mut dependencies, _| {
                dependencies.push(task);
                Task::submit(&dependencies, None)
            });
    }

    /// Waits for the stream's work.
    pub(crate) fn wait(&self) -> Result<(), Failure> {
        self.device.queues.wait(self.id, self.order)
    }

    pub(crate) fn is_done(&self) -> bool {
        let dependencies = self.device.queues.dependencies(self.id, self.order);
        dependencies.iter().all(|task| task.is_over())
    }
}

pub(crate) fn is_default(stream: hipStream_t) -> bool {
    stream.is_null() || stream == hipStreamLegacy || stream == hipStreamPerThread
}

/// The stream of a handle. Null and HIP's special handles are default streams of the current device.
pub(crate) fn stream(handle: hipStream_t) -> Result<StreamRef, Failure> {
    let runtime = Runtime::get();
    if handle == hipStreamPerThread || (handle.is_null() && PER_THREAD.get()) {
        return Ok(own(runtime.current()?));
    }
    if is_default(handle) {
        return Ok(StreamRef::default_of(runtime.current()?));
    }
    match STREAMS.get(handle.addr()) {
        Some(stream) => Ok(StreamRef::of(stream)),
        // HIP's code for a stale stream differs from that for other handles.
        None => {
            Err(Failure::handle("stream", handle.addr())
                .coded(hipError_t::hipErrorContextIsDestroyed))
        }
    }
}

/// As [`stream`], for functions that return another code for an invalid handle.
pub(crate) fn stream_or(handle: hipStream_t, code: hipError_t) -> Result<StreamRef, Failure> {
    stream(handle).map_err(|failure| failure.coded(code))
}

/// The stream of calls without a stream argument: the current device's default stream, or the thread's own.
pub(crate) fn default_stream() -> Result<StreamRef, Failure> {
    stream(ptr::null_mut())
}
