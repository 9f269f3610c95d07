//! Captures in progress, and each stream's part in one.

use std::{
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::ThreadId,
};

use ferrowave_hip_abi::{hipError_t, hipStreamCaptureMode as Mode};

use super::graph::{GRAPHS, Graph};
use crate::{error::Failure, handles::Handles, runtime::Device};

/// A capture in progress.
pub(crate) struct Capture {
    /// A unique number.
    pub(crate) id: usize,
    /// The device of the stream where it began.
    pub(crate) device: Arc<Device>,
    pub(crate) graph: Arc<Graph>,
    /// The graph's handle.
    pub(crate) handle: usize,
    /// Whether the capture made the graph.
    pub(crate) is_new: bool,
    /// Nodes that need not be joined: those of the graph from before that no other depended on, and those that the program
    /// replaced as dependencies.
    pub(crate) others: Mutex<Vec<usize>>,
    pub(crate) mode: Mode,
    pub(crate) thread: ThreadId,
    /// Set after an error: the capture can only be ended.
    pub(crate) invalid: AtomicBool,
    /// The parts of its streams. The first is that of the stream where the capture began.
    pub(crate) streams: Mutex<Vec<Weak<Part>>>,
}

impl Capture {
    pub(crate) fn streams(&self) -> MutexGuard<'_, Vec<Weak<Part>>> {
        locked(&self.streams)
    }

    pub(crate) fn others(&self) -> MutexGuard<'_, Vec<usize>> {
        locked(&self.others)
    }

    /// Removes the graph of a capture that failed, unless it is the program's.
    pub(crate) fn discard(&self) {
        if self.is_new {
            GRAPHS.remove(self.handle);
        }
    }

    pub(crate) fn invalidate(&self) {
        self.invalid.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_invalid() {
            return Err(Failure::new(
                hipError_t::hipErrorStreamCaptureInvalidated,
                "an earlier error has invalidated the capture; only hipStreamEndCapture is allowed",
            ));
        }
        Ok(())
    }
}

/// A stream's part in a capture.
pub(crate) struct Capturing {
    pub(crate) capture: Arc<Capture>,
    /// Handles of the nodes that the stream's next node depends on.
    pub(crate) next: Vec<usize>,
}

/// The stream's part in a capture; `None` if it is not being captured.
pub(crate) type Part = Mutex<Option<Capturing>>;

/// Captures in progress by ID.
pub(crate) static CAPTURES: LazyLock<Handles<Capture>> = LazyLock::new(Handles::new);

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A poisoned lock is ignored: the state is valid between statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
