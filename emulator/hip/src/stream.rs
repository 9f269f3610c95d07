//! Streams.

use std::{
    cell::{Cell, RefCell},
    ffi::{c_int, c_uint},
    ptr,
    sync::{Arc, LazyLock, Mutex, Weak},
};

use ferrowave_hip_abi::{
    self as abi, hipDevice_t, hipError_t, hipEvent_t, hipStream_t, hipStreamDefault,
    hipStreamLegacy, hipStreamNonBlocking, hipStreamPerThread,
};

use super::{
    error::{Failure, out},
    event::{Record, event},
    fault::Waits,
    graph::capture::{self, Capturing},
    handles::{self, Handles},
    operation::{Operation, Origin},
    queue::{DEFAULT, Order},
    runtime::{Device, Runtime},
    task::Task,
};

/// A stream that a program made, or a thread's own default stream.
pub(super) struct Stream {
    pub(super) device: Arc<Device>,
    /// Its handle.
    id: usize,
    flags: c_uint,
    priority: c_int,
    /// The graph that its work goes to, if it is captured.
    pub(super) capture: Mutex<Option<Capturing>>,
}

/// Streams by handle.
pub(super) static STREAMS: LazyLock<Handles<Stream>> = LazyLock::new(Handles::new);

impl Stream {
    fn new(device: Arc<Device>, id: usize, flags: c_uint, priority: c_int) -> Arc<Self> {
        Arc::new(Stream {
            device,
            id,
            flags,
            priority,
            capture: Mutex::new(None),
        })
    }

    /// Whether it and the default stream wait for each other.
    pub(super) fn waits_for_default(&self) -> bool {
        self.flags != hipStreamNonBlocking
    }
}

/// A stream that a caller named.
#[derive(Clone)]
pub(super) struct StreamRef {
    pub(super) device: Arc<Device>,
    /// Its handle, or 0 for the default stream.
    pub(super) id: usize,
    order: Order,
    /// What it is but for the default stream, which is not captured.
    pub(super) object: Option<Arc<Stream>>,
}

/// Handles of a thread's own default streams, of one device each.
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
    /// Whether a call means the thread's own default stream where it names none.
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call in which a null stream is the thread's own default stream.
pub(super) fn per_thread<R>(call: impl FnOnce() -> R) -> R {
    let before = PER_THREAD.replace(true);
    let result = call();
    PER_THREAD.set(before);
    result
}

/// The calling thread's own default stream of a device. For a call from a destructor of the program, after the thread's
/// streams are gone, it is the device's default stream.
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
            own.retain(|(of, _)| of.strong_count() > 0);
            let handle = handles::unused();
            let made = Stream::new(Arc::clone(&device), handle, hipStreamDefault, 0);
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
    pub(super) fn default_of(device: Arc<Device>) -> Self {
        StreamRef {
            device,
            id: DEFAULT,
            order: Order::Default,
            object: None,
        }
    }

    /// What whoever waits for it waits for: the default stream comes after all others.
    pub(super) fn waits(&self) -> Waits {
        match self.id {
            DEFAULT => Waits::Device,
            id => Waits::Stream(id),
        }
    }

    /// Adds work, or a node to the graph that the stream's work goes to.
    pub(super) fn submit(&self, operation: Operation) -> Result<(), Failure> {
        match capture::add(self, &operation)? {
            true => Ok(()),
            false => self.enqueue(operation).map(drop),
        }
    }

    /// Adds work of which the caller's memory is a part, and waits for it, unless it is captured.
    pub(super) fn submit_and_wait(&self, operation: Operation) -> Result<(), Failure> {
        if capture::add(self, &operation)? {
            return Ok(());
        }
        self.enqueue(operation)?.0.wait()
    }

    /// Adds work to the device's queues.
    pub(super) fn enqueue(&self, operation: Operation) -> Result<(Arc<Task>, u64), Failure> {
        let (device, stream) = (Arc::clone(&self.device), self.id);
        Ok(self
            .device
            .queues
            .submit(stream, self.order, |dependencies, sequence| {
                let origin = Origin {
                    device,
                    stream,
                    sequence,
                };
                operation.submit(dependencies, origin)
            }))
    }

    /// A task that is over when all is that the stream has now.
    pub(super) fn mark(&self) -> (Arc<Task>, u64) {
        self.device
            .queues
            .submit(self.id, self.order, |dependencies, _| {
                Task::submit(&dependencies, None)
            })
    }

    /// Has later work wait for a task.
    pub(super) fn wait_for(&self, task: Arc<Task>) {
        self.device
            .queues
            .submit(self.id, self.order, |mut dependencies, _| {
                dependencies.push(task);
                Task::submit(&dependencies, None)
            });
    }

    /// Waits for all that the stream has, and reports what failed of it.
    pub(super) fn synchronize(&self) -> Result<(), Failure> {
        capture::refuse_waiting(self)?;
        self.device.queues.wait(self.id, self.order)?;
        self.device.faults.report(self.waits())
    }

    fn is_done(&self) -> bool {
        let dependencies = self.device.queues.dependencies(self.id, self.order);
        dependencies.iter().all(|task| task.is_over())
    }
}

fn is_default(stream: hipStream_t) -> bool {
    stream.is_null() || stream == hipStreamLegacy || stream == hipStreamPerThread
}

/// The stream of a handle; null and HIP's special values are default streams of the current device.
pub(super) fn stream(handle: hipStream_t) -> Result<StreamRef, Failure> {
    let runtime = Runtime::get();
    if handle == hipStreamPerThread || (handle.is_null() && PER_THREAD.get()) {
        return Ok(own(runtime.current()?));
    }
    if is_default(handle) {
        return Ok(StreamRef::default_of(runtime.current()?));
    }
    match STREAMS.get(handle.addr()) {
        Some(stream) => Ok(StreamRef::of(stream)),
        None => Err(Failure::handle("stream", handle.addr())),
    }
}

/// The current device's default stream, as calls mean it that name none.
pub(super) fn default_stream() -> Result<StreamRef, Failure> {
    stream(ptr::null_mut())
}

pub(super) unsafe fn hipStreamCreate(stream: *mut hipStream_t) -> Result<(), Failure> {
    // SAFETY: the same contract.
    unsafe { hipStreamCreateWithFlags(stream, hipStreamDefault) }
}

pub(super) unsafe fn hipStreamCreateWithFlags(
    stream: *mut hipStream_t,
    flags: c_uint,
) -> Result<(), Failure> {
    // SAFETY: the same contract.
    unsafe { hipStreamCreateWithPriority(stream, flags, 0) }
}

pub(super) unsafe fn hipStreamCreateWithPriority(
    stream: *mut hipStream_t,
    flags: c_uint,
    priority: c_int,
) -> Result<(), Failure> {
    let stream = out!(stream);
    if flags != hipStreamDefault && flags != hipStreamNonBlocking {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0 (hipStreamDefault) or 1 (hipStreamNonBlocking)"
        )));
    }
    let device = Runtime::get().current()?;
    // HIP, too, takes the nearest that there is.
    let priority = priority.clamp(HIGHEST_PRIORITY, LOWEST_PRIORITY);
    let handle = STREAMS.insert_with(|handle| Stream::new(device, handle, flags, priority));
    stream.set(ptr::without_provenance_mut(handle));
    Ok(())
}

/// The priorities that HIP gives AMD's GPUs; here they decide nothing.
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
    let Some(gone) = STREAMS.remove(stream.addr()) else {
        return Err(Failure::handle("stream", stream.addr()));
    };
    // Its work goes on, and whoever waits for the device waits for it and hears of what failed in it.
    capture::abandon(&gone);
    Ok(())
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
            "the stream has work left",
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
    let stream = self::stream(stream)?;
    let event = self::event(event)?;
    if flags & abi::hipEventWaitExternal != 0
        && capture::add(&stream, &Operation::Wait(Arc::clone(&event)))?
    {
        return Ok(());
    }
    match event.record() {
        // HIP: nothing was recorded, so that there is nothing to wait for.
        None => Ok(()),
        Some(Record::Captured(point)) => capture::join(&stream, &point),
        Some(Record::Done(done)) => {
            capture::refuse_waiting(&stream)?;
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
    let stream = self::stream(stream)?;
    priority.set(stream.object.map_or(0, |stream| stream.priority));
    Ok(())
}

pub(super) unsafe fn hipStreamGetFlags(
    stream: hipStream_t,
    flags: *mut c_uint,
) -> Result<(), Failure> {
    let flags = out!(flags);
    let stream = self::stream(stream)?;
    flags.set(
        stream
            .object
            .map_or(hipStreamDefault, |stream| stream.flags),
    );
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
