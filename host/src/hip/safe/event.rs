//! Points in a stream, and the times between them.

use std::{fmt, time::Duration};

use ferrowave_hip_abi::{hipEvent_t, ihipEvent_t};

use super::{Context, Handle, Stream};
use crate::hip::HipError;

/// A point in a stream's work, with its time.
///
/// On a GPU, times between events are the GPU's. If [`Device::is_emulated`](super::Device::is_emulated), they are
/// wall-clock times of the emulation, which say nothing about a GPU.
pub struct Event {
    context: Context,
    handle: Handle<ihipEvent_t>,
}

impl Event {
    pub(super) fn new(context: &Context) -> Result<Self, HipError> {
        let handle = Handle(context.bind()?.event_create()?);
        Ok(Event {
            context: context.clone(),
            handle,
        })
    }

    pub(super) fn handle(&self) -> hipEvent_t {
        self.handle.0
    }

    /// Records the event after all work that the stream has now.
    ///
    /// # Errors
    /// HIP's, for example if the stream is on another device.
    pub fn record(&self, stream: &Stream) -> Result<(), HipError> {
        let api = self.context.bind()?;
        // SAFETY: both are alive.
        unsafe { api.event_record(self.handle(), stream.handle()) }
    }

    /// Waits for the work before the event.
    ///
    /// # Errors
    /// Those of the work.
    pub fn synchronize(&self) -> Result<(), HipError> {
        let api = self.context.bind()?;
        // SAFETY: the event lives as long as this.
        unsafe { api.event_synchronize(self.handle()) }
    }

    /// Whether the work before the event is done.
    ///
    /// # Errors
    /// Those of the work.
    pub fn is_done(&self) -> Result<bool, HipError> {
        let api = self.context.bind()?;
        // SAFETY: the event lives as long as this.
        unsafe { api.event_is_done(self.handle()) }
    }

    /// HIP's milliseconds from `start` to this event; negative if it was recorded before `start`.
    ///
    /// # Errors
    /// If one of them was never recorded, or the work before it is not done.
    pub fn milliseconds_since(&self, start: &Event) -> Result<f32, HipError> {
        let api = self.context.bind()?;
        // SAFETY: both are alive.
        unsafe { api.event_elapsed_ms(start.handle(), self.handle()) }
    }

    /// The time from `start` to this event, rounded to nanoseconds; zero if it was recorded before `start`.
    ///
    /// # Errors
    /// As [`Self::milliseconds_since`].
    pub fn duration_since(&self, start: &Event) -> Result<Duration, HipError> {
        let nanoseconds = f64::from(self.milliseconds_since(start)?) * 1e6;
        // The cast turns negative values into 0.
        Ok(Duration::from_nanos(nanoseconds.round() as u64))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made by `event_create`, and the only copy of the handle.
        self.context
            .release(|api| unsafe { api.event_destroy(self.handle()) });
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.handle.0).finish()
    }
}
