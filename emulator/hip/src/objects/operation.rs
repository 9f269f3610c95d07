//! Operations of streams and of graph nodes.

use std::{ffi::c_void, sync::Arc};

use ferrowave_hip_abi::{hipError_t, hipStream_t};

use super::{
    event::{Event, Record},
    graph_memory::GraphMemory,
    host_call::HostCall,
    launch::Launch,
    transfer::{Fill, Transfer},
    value::Value,
};
use crate::{
    error::{Failure, warn},
    fault::Waits,
    queue::DEFAULT,
    runtime::Device,
    task::Task,
    trace::{self, Rows},
};

/// The stream that an operation was submitted to. A call that waits for the stream reports the operation's failure.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) device: Arc<Device>,
    pub(crate) stream: usize,
    /// The operation's position in the device's order of submission.
    pub(crate) sequence: u64,
}

impl Origin {
    fn waits(&self) -> Waits {
        match self.stream {
            DEFAULT => Waits::Device,
            stream => Waits::Stream(stream),
        }
    }

    fn keep(&self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            if self.device.is_loud {
                warn(&failure.detail);
            }
            self.device.faults.add(self.stream, self.sequence, failure);
        }
    }
}

/// A host function that gets its stream's error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callback {
    pub(crate) function: unsafe extern "C" fn(hipStream_t, hipError_t, *mut c_void),
    /// The stream's handle as the program passed it.
    pub(crate) stream: usize,
    /// The argument's address.
    pub(crate) data: usize,
}

/// An operation that is submitted as several tasks.
pub(crate) trait Work: Send + Sync {
    /// Submits the tasks with their dependencies. Returns a task that completes after all of them.
    fn submit(&self, dependencies: Vec<Arc<Task>>, origin: &Origin) -> Arc<Task>;

    /// Whether it copies pageable memory.
    fn is_pageable(&self) -> bool;
}

/// An operation.
#[derive(Clone)]
pub(crate) enum Operation {
    Nothing,
    Launch(Arc<Launch>),
    Transfer(Transfer),
    Fill(Fill),
    Value(Value),
    Host(HostCall),
    Callback(Callback),
    /// Frees the device memory at an address.
    Free(u64),
    /// Allocates a graph's memory.
    Allocate(GraphMemory),
    /// Frees a graph's memory.
    FreeGraphs(GraphMemory),
    Record(Arc<Event>),
    Wait(Arc<Event>),
    Graph(Arc<dyn Work>),
}

impl Operation {
    /// Submits the operation with its dependencies. Returns its last task.
    pub(crate) fn submit(self, mut dependencies: Vec<Arc<Task>>, origin: Origin) -> Arc<Task> {
        match self {
            Operation::Nothing => Task::submit(&dependencies, None),
            Operation::Record(event) => {
                let task = Task::submit(&dependencies, None);
                let device = Arc::clone(&origin.device);
                event.recorded_at(device, origin.waits(), origin.sequence, Arc::clone(&task));
                task
            }
            Operation::Wait(event) => {
                if let Some(Record::Done(recorded)) = event.record() {
                    dependencies.push(recorded.task);
                }
                Task::submit(&dependencies, None)
            }
            Operation::Graph(plan) => plan.submit(dependencies, &origin),
            work => {
                let run = move || {
                    let device = origin.device.ordinal;
                    let described = || work.described();
                    trace::work(device, origin.stream, described, || work.run(&origin));
                };
                Task::submit(&dependencies, Some(Box::new(run)))
            }
        }
    }

    /// Whether it allocates or frees a graph's memory.
    pub(crate) const fn is_memory(&self) -> bool {
        matches!(self, Operation::Allocate(_) | Operation::FreeGraphs(_))
    }

    /// Name and arguments, for a trace.
    pub(crate) fn described(&self) -> (String, Rows) {
        if let Operation::Launch(launch) = self {
            return (launch.function.kernel.name().to_owned(), launch.described());
        }
        let bytes = self
            .bytes()
            .map(|bytes| ("bytes".to_owned(), bytes.to_string()));
        (self.name().to_owned(), bytes.into_iter().collect())
    }

    fn name(&self) -> &'static str {
        match self {
            Operation::Nothing => "nothing",
            Operation::Launch(_) => "launch",
            Operation::Transfer(_) => "copy",
            Operation::Fill(_) => "fill",
            Operation::Value(value) => match value.wait {
                Some(_) => "wait for a value",
                None => "write a value",
            },
            Operation::Host(_) => "host function",
            Operation::Callback(_) => "callback",
            Operation::Free(_) => "free",
            Operation::Allocate(_) => "allocate a graph's memory",
            Operation::FreeGraphs(_) => "free a graph's memory",
            Operation::Record(_) => "record an event",
            Operation::Wait(_) => "wait for an event",
            Operation::Graph(_) => "graph",
        }
    }

    /// The number of bytes that it copies or sets, if any.
    fn bytes(&self) -> Option<usize> {
        match self {
            Operation::Transfer(transfer) => Some(transfer.bytes()),
            Operation::Fill(fill) => Some(fill.bytes()),
            _ => None,
        }
    }

    /// Runs the operation on a worker thread.
    fn run(&self, origin: &Origin) {
        match self {
            Operation::Launch(launch) => origin.keep(launch.run()),
            Operation::Transfer(transfer) => origin.keep(transfer.run()),
            Operation::Fill(fill) => origin.keep(fill.run()),
            Operation::Value(value) => origin.keep(value.run()),
            // SAFETY: the program guarantees that the function may be called with this argument on any thread.
            Operation::Host(call) => unsafe {
                (call.function)(std::ptr::with_exposed_provenance_mut(call.data));
            },
            Operation::Callback(callback) => {
                let failed = origin.device.faults.of_stream(origin.stream);
                let status = failed.map_or(hipError_t::hipSuccess, |failure| failure.code);
                // SAFETY: as above.
                unsafe {
                    (callback.function)(
                        std::ptr::without_provenance_mut(callback.stream),
                        status,
                        std::ptr::with_exposed_provenance_mut(callback.data),
                    );
                }
            }
            Operation::Free(address) => origin.keep(origin.device.release(*address)),
            Operation::Allocate(memory) => origin.keep(memory.allocate()),
            Operation::FreeGraphs(memory) => origin.keep(memory.free()),
            // `submit` creates tasks without work for these.
            Operation::Nothing
            | Operation::Record(_)
            | Operation::Wait(_)
            | Operation::Graph(_) => {}
        }
    }
}
