//! Captures under way, and the part that each stream has in one.

use std::{
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::ThreadId,
};

use ferrowave_hip_abi::{hipError_t, hipStreamCaptureMode as Mode};

use super::graph::Graph;
use crate::{error::Failure, handles::Handles};

/// A capture under way.
pub(crate) struct Capture {
    /// A number that no other capture has.
    pub(crate) id: usize,
    pub(crate) graph: Arc<Graph>,
    /// The graph's handle.
    pub(crate) handle: usize,
    pub(crate) mode: Mode,
    pub(crate) thread: ThreadId,
    /// Something went wrong: the capture can only be ended.
    pub(crate) invalid: AtomicBool,
    /// The parts of the streams that are in it, first that of the stream where it began.
    pub(crate) streams: Mutex<Vec<Weak<Part>>>,
}

impl Capture {
    pub(crate) fn streams(&self) -> MutexGuard<'_, Vec<Weak<Part>>> {
        locked(&self.streams)
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
                "an earlier call has ended the capture; only hipStreamEndCapture is left",
            ));
        }
        Ok(())
    }
}

/// A stream's part in a capture.
pub(crate) struct Capturing {
    pub(crate) capture: Arc<Capture>,
    /// Handles of the nodes that its next one will wait for.
    pub(crate) next: Vec<usize>,
}

/// The capture that a stream is in, if it is in one.
pub(crate) type Part = Mutex<Option<Capturing>>;

/// Captures by number, until they end.
pub(crate) static CAPTURES: LazyLock<Handles<Capture>> = LazyLock::new(Handles::new);

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Valid between statements, even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
