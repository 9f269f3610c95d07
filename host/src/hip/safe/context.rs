//! Contexts: the entry point for work on a device.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use bytemuck::Pod;

use super::{BufferError, Device, DeviceBuffer, Event, Module, ModuleError, Stream};
use crate::hip::{Api, HipError};

/// The most errors of drops that are kept: after a device has failed, every drop fails.
const MAX_DROP_ERRORS: usize = 16;

/// A context for work on one device. Clones are the same context. Objects that it creates keep it alive.
#[derive(Clone)]
pub struct Context(Arc<Shared>);

struct Shared {
    device: Device,
    drop_errors: Mutex<Vec<HipError>>,
}

/// A device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Free bytes.
    pub free_bytes: usize,
    /// Total bytes.
    pub total_bytes: usize,
}

impl Context {
    /// A context on a device.
    ///
    /// # Errors
    /// If HIP does not make the device current.
    pub fn new(device: &Device) -> Result<Self, HipError> {
        let context = Context(Arc::new(Shared {
            device: device.clone(),
            drop_errors: Mutex::default(),
        }));
        context.bind()?;
        Ok(context)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// HIP's functions, with this thread's current device set to the context's.
    pub(crate) fn bind(&self) -> Result<&Api, HipError> {
        let device = &self.0.device;
        device.api().set_device(device.ordinal())?;
        Ok(device.api())
    }

    /// Waits for all work on the device.
    ///
    /// # Errors
    /// Those of the work, such as a kernel's access outside its memory.
    pub fn synchronize(&self) -> Result<(), HipError> {
        self.bind()?.device_synchronize()
    }

    /// The free and the total memory of the device.
    ///
    /// # Errors
    /// HIP's.
    pub fn memory_info(&self) -> Result<MemoryInfo, HipError> {
        let (free_bytes, total_bytes) = self.bind()?.memory_info()?;
        Ok(MemoryInfo {
            free_bytes,
            total_bytes,
        })
    }

    /// A buffer of `length` elements with unspecified contents.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn allocate<T: Pod>(&self, length: usize) -> Result<DeviceBuffer<T>, BufferError> {
        DeviceBuffer::new(self, length)
    }

    /// A buffer with a copy of `elements`.
    ///
    /// # Errors
    /// If there is not enough memory, or the copy fails.
    pub fn upload<T: Pod>(&self, elements: &[T]) -> Result<DeviceBuffer<T>, BufferError> {
        let mut buffer = self.allocate(elements.len())?;
        buffer.copy_from_host(elements)?;
        Ok(buffer)
    }

    /// Loads a code object.
    ///
    /// # Errors
    /// If it is malformed, or for another GPU.
    pub fn load(&self, code_object: &[u8]) -> Result<Module, ModuleError> {
        Module::load(self, code_object)
    }

    /// A new stream.
    ///
    /// # Errors
    /// HIP's.
    pub fn stream(&self) -> Result<Stream, HipError> {
        Stream::new(self)
    }

    /// A new event that records its time.
    ///
    /// # Errors
    /// HIP's.
    pub fn event(&self) -> Result<Event, HipError> {
        Event::new(self)
    }

    /// Errors of drops since this was last called, oldest first; only the first few are kept.
    pub fn take_drop_errors(&self) -> Vec<HipError> {
        let mut errors = self
            .0
            .drop_errors
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut errors)
    }

    /// Releases an object of HIP in a drop, and keeps the error if that fails.
    pub(super) fn release(&self, release: impl FnOnce(&Api) -> Result<(), HipError>) {
        let Err(error) = self.bind().and_then(release) else {
            return;
        };
        let mut errors = self
            .0
            .drop_errors
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if errors.len() < MAX_DROP_ERRORS {
            errors.push(error);
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.0.device).finish()
    }
}
