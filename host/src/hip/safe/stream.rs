//! Streams.

use std::fmt;

use ferrowave_hip_abi::{hipStream_t, ihipStream_t};

use super::{Context, Event, Handle};
use crate::hip::HipError;

/// A queue of work that runs in order. Copies of buffers wait for all of it.
pub struct Stream {
    context: Context,
    handle: Handle<ihipStream_t>,
}

impl Stream {
    pub(super) fn new(context: &Context) -> Result<Self, HipError> {
        let handle = Handle(context.bind()?.stream_create()?);
        Ok(Stream {
            context: context.clone(),
            handle,
        })
    }

    pub(crate) fn handle(&self) -> hipStream_t {
        self.handle.0
    }

    /// The context that the stream belongs to.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Waits for the stream's work.
    ///
    /// # Errors
    /// Those of the work, such as a kernel's access outside its memory.
    pub fn synchronize(&self) -> Result<(), HipError> {
        let api = self.context.bind()?;
        // SAFETY: the stream lives as long as this.
        unsafe { api.stream_synchronize(self.handle()) }
    }

    /// Whether no work is left.
    ///
    /// # Errors
    /// Those of the work.
    pub fn is_done(&self) -> Result<bool, HipError> {
        let api = self.context.bind()?;
        // SAFETY: the stream lives as long as this.
        unsafe { api.stream_is_done(self.handle()) }
    }

    /// Makes all later work wait for an event.
    ///
    /// # Errors
    /// HIP's.
    pub fn wait(&self, event: &Event) -> Result<(), HipError> {
        let api = self.context.bind()?;
        // SAFETY: both are alive; HIP keeps what it needs of the event.
        unsafe { api.stream_wait(self.handle(), event.handle()) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the handle is from `stream_create` and its only copy; HIP finishes the stream's work.
        self.context
            .release(|api| unsafe { api.stream_destroy(self.handle()) });
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.handle.0).finish()
    }
}
