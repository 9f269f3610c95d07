//! Owners of HIP's objects.
//!
//! A [`Device`] is chosen, and a [`Context`] does work on it. Objects created by a context keep it alive, and free
//! themselves when they are dropped. Since `drop` cannot return an error, errors are kept for
//! [`Context::take_drop_errors`].
//!
//! HIP has a current device for each thread. Every call here sets it first, so these types may be used from any
//! thread, with several devices at a time.

mod arguments;
mod buffer;
mod context;
mod device;
mod event;
mod launch;
mod module;
mod properties;
mod stream;
mod xcds;

pub use arguments::{Argument, Arguments};
pub use buffer::{BufferError, DeviceBuffer};
pub use context::{Context, MemoryInfo};
pub use device::{Device, OpenError};
pub use event::Event;
pub use launch::{LaunchConfig, LaunchError};
pub use module::{Kernel, Module, ModuleError};
pub use properties::DeviceProperties;
pub use stream::Stream;
pub use xcds::{XcdSource, Xcds};

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests;

/// A handle of HIP's.
#[derive(Debug)]
struct Handle<T>(*mut T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

// SAFETY: HIP's handles may be used from any thread, and by several at once; this code does not dereference them.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}
