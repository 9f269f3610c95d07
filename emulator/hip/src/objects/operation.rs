//! Operations: the work of streams and of graphs' nodes.

use std::{ffi::c_void, sync::Arc};

use ferrowave_hip_abi::{hipError_t, hipStream_t};

use super::{
    event::{Event, Record},
    graph_memory::GraphMemory,
    launch::Launch,
    transfer::{Fill, Transfer},
};
use crate::{
    error::{Failure, warn},
    fault::Waits,
    queue::DEFAULT,
    runtime::Device,
    task::Task,
    trace::{self, Rows},
};

/// The stream that work is in. A call that waits for that stream reports what failed of the work.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) device: Arc<Device>,
    pub(crate) stream: usize,
    /// Its number among the device's work.
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

/// A function of the program's, with its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostCall {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    /// The argument's address.
    pub(crate) data: usize,
}

/// A function of the program's that is told whether its stream has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callback {
    pub(crate) function: unsafe extern "C" fn(hipStream_t, hipError_t, *mut c_void),
    /// The stream as the program named it.
    pub(crate) stream: usize,
    /// The argument's address.
    pub(crate) data: usize,
}

/// Work that takes several tasks.
pub(crate) trait Work: Send + Sync {
    /// Makes tasks of it that wait for others, and returns one that is over when all are.
    fn submit(&self, dependencies: Vec<Arc<Task>>, origin: &Origin) -> Arc<Task>;
}

/// A piece of work.
#[derive(Clone)]
pub(crate) enum Operation {
    Nothing,
    Launch(Arc<Launch>),
    Transfer(Transfer),
    Fill(Fill),
    Host(HostCall),
    Callback(Callback),
    /// Frees device memory by its first address.
    Free(u64),
    /// Allocates the memory of a graph.
    Allocate(GraphMemory),
    /// Frees it.
    FreeGraphs(GraphMemory),
    Record(Arc<Event>),
    Wait(Arc<Event>),
    Graph(Arc<dyn Work>),
}

impl Operation {
    /// Makes tasks of it that wait for others, and returns the last.
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

    /// Whether it allocates or frees memory of a graph.
    pub(crate) const fn is_memory(&self) -> bool {
        matches!(self, Operation::Allocate(_) | Operation::FreeGraphs(_))
    }

    /// Name and arguments, as a trace shows them.
    fn described(&self) -> (String, Rows) {
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

    /// Bytes that it moves or sets, if that is what it does.
    fn bytes(&self) -> Option<usize> {
        match self {
            Operation::Transfer(transfer) => Some(transfer.bytes()),
            Operation::Fill(fill) => Some(fill.bytes()),
            _ => None,
        }
    }

    /// Does it, on a thread that runs tasks.
    fn run(&self, origin: &Origin) {
        match self {
            Operation::Launch(launch) => origin.keep(launch.run()),
            Operation::Transfer(transfer) => origin.keep(transfer.run()),
            Operation::Fill(fill) => origin.keep(fill.run()),
            // SAFETY: the program promised that the function may be called with this argument, on any thread.
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
            // `submit` makes tasks without work of these.
            Operation::Nothing
            | Operation::Record(_)
            | Operation::Wait(_)
            | Operation::Graph(_) => {}
        }
    }
}
