//! Events, and where they were last recorded.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use ferrowave_hip_abi::{hipError_t, hipEvent_t};

use super::shared_event::SharedEvent;
use crate::{error::Failure, fault::Waits, handles::Handles, runtime::Device, task::Task};

/// An event that a program made.
pub(crate) struct Event {
    pub(crate) device: Arc<Device>,
    /// Its handle.
    pub(crate) id: usize,
    pub(crate) timed: bool,
    /// Its part that other processes see, if they can.
    pub(crate) shared: Option<Arc<SharedEvent>>,
    record: Mutex<Option<Record>>,
}

/// Where an event was last recorded.
#[derive(Clone)]
pub(crate) enum Record {
    /// In a stream.
    Done(Recorded),
    /// In a stream that was being captured.
    Captured(Point),
}

/// A position in a capture.
#[derive(Clone)]
pub(crate) struct Point {
    /// The capture's ID.
    pub(crate) capture: usize,
    /// Handles of the nodes that the next node depends on.
    pub(crate) next: Vec<usize>,
}

/// An event in a stream.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) device: Arc<Device>,
    pub(crate) waits: Waits,
    pub(crate) task: Arc<Task>,
}

impl Event {
    pub(crate) fn new(
        device: Arc<Device>,
        id: usize,
        timed: bool,
        shared: Option<Arc<SharedEvent>>,
    ) -> Self {
        Event {
            device,
            id,
            timed,
            shared,
            record: Mutex::new(None),
        }
    }

    pub(crate) fn record(&self) -> Option<Record> {
        self.record
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set(&self, record: Record) {
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = Some(record);
    }

    /// Sets the record: a task with the number `sequence` in the device's order of submission.
    pub(crate) fn recorded_at(
        &self,
        device: Arc<Device>,
        waits: Waits,
        sequence: u64,
        task: Arc<Task>,
    ) {
        let waits = match waits {
            Waits::Stream(stream) => Waits::Until { stream, sequence },
            all => all,
        };
        self.set(Record::Done(Recorded {
            device,
            waits,
            task,
        }));
    }

    /// The record in a stream. An error if the event was recorded in a capture, because it then never completes.
    pub(crate) fn happens(&self) -> Result<Option<Recorded>, Failure> {
        match self.record() {
            None => Ok(None),
            Some(Record::Done(recorded)) => Ok(Some(recorded)),
            Some(Record::Captured(_)) => Err(Failure::new(
                hipError_t::hipErrorCapturedEvent,
                "the event was last recorded in a stream that is captured",
            )),
        }
    }
}

/// Events by handle.
pub(crate) static EVENTS: LazyLock<Handles<Event>> = LazyLock::new(Handles::new);

/// The event of a handle.
pub(crate) fn event(handle: hipEvent_t) -> Result<Arc<Event>, Failure> {
    let found = EVENTS.get(handle.addr());
    found.ok_or_else(|| Failure::handle("event", handle.addr()))
}

/// The event of a handle; `None` for null.
pub(crate) fn optional_event(handle: hipEvent_t) -> Result<Option<Arc<Event>>, Failure> {
    if handle.is_null() {
        return Ok(None);
    }
    event(handle).map(Some)
}
