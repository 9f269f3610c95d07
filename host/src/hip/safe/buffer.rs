//! Device memory.

use std::{fmt, marker::PhantomData};

use bytemuck::Pod;
use thiserror::Error;

use super::Context;
use crate::hip::HipError;

/// A buffer of elements in a device's memory.
pub struct DeviceBuffer<T: Pod> {
    context: Context,
    address: u64,
    length: usize,
    elements: PhantomData<T>,
}

/// Why a buffer can't be allocated or copied.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BufferError {
    /// The buffer would exceed the address space.
    #[error("{length} elements of {element_bytes} bytes exceed the address space")]
    TooLarge {
        /// Elements requested.
        length: usize,
        /// Bytes of one element.
        element_bytes: usize,
    },
    /// HIP does not allocate that much.
    #[error("cannot allocate {bytes} bytes: {error}")]
    Allocation {
        /// Bytes requested.
        bytes: usize,
        /// Why not.
        error: HipError,
    },
    /// A copy between different lengths.
    #[error("cannot copy {from} elements to {to}; the lengths must be equal")]
    Length {
        /// Elements of the source.
        from: usize,
        /// Elements of the target.
        to: usize,
    },
    /// A copy between different devices.
    #[error("cannot copy from a buffer of {from} to one of {to}; they must be on the same device")]
    OtherDevice {
        /// The source's device.
        from: String,
        /// The target's device.
        to: String,
    },
    /// An error of HIP.
    #[error(transparent)]
    Hip(#[from] HipError),
}

impl<T: Pod> DeviceBuffer<T> {
    pub(super) fn new(context: &Context, length: usize) -> Result<Self, BufferError> {
        let element_bytes = size_of::<T>();
        let bytes = length
            .checked_mul(element_bytes)
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or(BufferError::TooLarge {
                length,
                element_bytes,
            })?;
        let address = context.bind()?.malloc(bytes);
        let address = address.map_err(|error| BufferError::Allocation { bytes, error })?;
        Ok(DeviceBuffer {
            context: context.clone(),
            address,
            length,
            elements: PhantomData,
        })
    }

    /// The device address of the first element; 0 for an empty buffer.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        // Checked in `new`.
        self.length * size_of::<T>()
    }

    /// The context that the buffer belongs to.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Copies `elements` to the buffer, after all earlier work.
    ///
    /// # Errors
    /// [`BufferError::Length`] unless the lengths are equal; HIP's, and those of earlier work.
    pub fn copy_from_host(&mut self, elements: &[T]) -> Result<(), BufferError> {
        self.check_length(elements.len(), self.length)?;
        let api = self.context.bind()?;
        // SAFETY: the buffer has the same length, and is borrowed mutably.
        unsafe { api.copy_to_device(self.address, bytemuck::cast_slice(elements)) }?;
        Ok(())
    }

    /// Copies all elements to `elements`, after all earlier work.
    ///
    /// # Errors
    /// [`BufferError::Length`] unless the lengths are equal; HIP's, and those of earlier work.
    pub fn copy_to_host(&self, elements: &mut [T]) -> Result<(), BufferError> {
        self.check_length(self.length, elements.len())?;
        let api = self.context.bind()?;
        // SAFETY: the buffer has the same length.
        unsafe { api.copy_to_host(bytemuck::cast_slice_mut(elements), self.address) }?;
        Ok(())
    }

    /// The elements, after all earlier work.
    ///
    /// # Errors
    /// HIP's, and those of earlier work.
    pub fn to_vec(&self) -> Result<Vec<T>, BufferError> {
        let mut elements = vec![T::zeroed(); self.length];
        self.copy_to_host(&mut elements)?;
        Ok(elements)
    }

    /// The first `length` elements, after all earlier work.
    ///
    /// # Errors
    /// [`BufferError::Length`] if the buffer is shorter; HIP's, and those of earlier work.
    pub fn first(&self, length: usize) -> Result<Vec<T>, BufferError> {
        if length > self.length {
            return Err(BufferError::Length {
                from: self.length,
                to: length,
            });
        }
        let mut elements = vec![T::zeroed(); length];
        let api = self.context.bind()?;
        // SAFETY: the buffer is at least as long.
        unsafe { api.copy_to_host(bytemuck::cast_slice_mut(&mut elements), self.address) }?;
        Ok(elements)
    }

    /// Copies another buffer of the device to this one, after all earlier work.
    ///
    /// # Errors
    /// [`BufferError::Length`] unless the lengths are equal; [`BufferError::OtherDevice`]; HIP's, and those of earlier
    /// work.
    pub fn copy_from(&mut self, source: &Self) -> Result<(), BufferError> {
        self.check_length(source.length, self.length)?;
        let (from, to) = (source.context.device(), self.context.device());
        if from != to {
            let name = |device: &super::Device| device.choice().to_owned();
            return Err(BufferError::OtherDevice {
                from: name(from),
                to: name(to),
            });
        }
        let api = self.context.bind()?;
        // SAFETY: both have the same length, and this one is borrowed mutably.
        unsafe { api.copy_on_device(self.address, source.address, self.bytes()) }?;
        Ok(())
    }

    /// Sets every byte to `value`.
    ///
    /// # Errors
    /// HIP's.
    pub fn fill_bytes(&mut self, value: u8) -> Result<(), BufferError> {
        let api = self.context.bind()?;
        // SAFETY: the buffer has this many bytes, and any bytes are valid `T`s.
        unsafe { api.fill(self.address, value, self.bytes()) }?;
        Ok(())
    }

    fn check_length(&self, from: usize, to: usize) -> Result<(), BufferError> {
        if from == to {
            Ok(())
        } else {
            Err(BufferError::Length { from, to })
        }
    }
}

impl<T: Pod> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: the address is from `malloc`; HIP waits for work that may still use it.
        self.context
            .release(|api| unsafe { api.free(self.address) });
    }
}

impl<T: Pod> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer")
            .field("address", &format_args!("{:#x}", self.address))
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
