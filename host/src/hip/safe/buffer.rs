//! Device memory.

use std::{fmt, marker::PhantomData};

use bytemuck::Pod;
use thiserror::Error;

use super::Context;
use crate::hip::HipError;

/// Elements in a device's memory.
pub struct DeviceBuffer<T: Pod> {
    context: Context,
    address: u64,
    length: usize,
    elements: PhantomData<T>,
}

/// Why a buffer can't be made, or not be copied.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BufferError {
    /// More bytes than there are addresses.
    #[error("{length} elements of {element_bytes} bytes are more than there are addresses")]
    TooLarge {
        /// Elements asked for.
        length: usize,
        /// Bytes of one.
        element_bytes: usize,
    },
    /// A copy between different lengths.
    #[error("a copy of {from} elements to {to}; they must be as many")]
    Length {
        /// Elements of the source.
        from: usize,
        /// Elements of the target.
        to: usize,
    },
    /// A copy between different devices.
    #[error("a copy from a buffer of {from} to one of {to}; they must be of one device")]
    OtherDevice {
        /// The source's device.
        from: String,
        /// The target's device.
        to: String,
    },
    /// HIP's.
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
        let address = context.bind()?.malloc(bytes)?;
        Ok(DeviceBuffer {
            context: context.clone(),
            address,
            length,
            elements: PhantomData,
        })
    }

    /// The device address of the first element; 0 for a buffer of none.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        // Checked when it was made.
        self.length * size_of::<T>()
    }

    /// The context that it belongs to.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Copies `elements` here, after all earlier work.
    ///
    /// # Errors
    /// [`BufferError::Length`] unless they are as many; HIP's, and those of earlier work.
    pub fn copy_from_host(&mut self, elements: &[T]) -> Result<(), BufferError> {
        self.check_length(elements.len(), self.length)?;
        let api = self.context.bind()?;
        // SAFETY: the buffer has as many bytes, and is borrowed mutably.
        unsafe { api.copy_to_device(self.address, bytemuck::cast_slice(elements)) }?;
        Ok(())
    }

    /// Copies all elements to `elements`, after all earlier work.
    ///
    /// # Errors
    /// [`BufferError::Length`] unless they are as many; HIP's, and those of earlier work.
    pub fn copy_to_host(&self, elements: &mut [T]) -> Result<(), BufferError> {
        self.check_length(self.length, elements.len())?;
        let api = self.context.bind()?;
        // SAFETY: the buffer has as many bytes.
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
    /// [`BufferError::Length`] if there are not that many; HIP's, and those of earlier work.
    pub fn first(&self, length: usize) -> Result<Vec<T>, BufferError> {
        if length > self.length {
            return Err(BufferError::Length {
                from: self.length,
                to: length,
            });
        }
        let mut elements = vec![T::zeroed(); length];
        let api = self.context.bind()?;
        // SAFETY: the buffer has at least as many bytes.
        unsafe { api.copy_to_host(bytemuck::cast_slice_mut(&mut elements), self.address) }?;
        Ok(elements)
    }

    /// Copies another buffer of the device here, after all earlier work.
    ///
    /// # Errors
    /// [`BufferError::Length`] unless it is as long; [`BufferError::OtherDevice`]; HIP's, and those of earlier work.
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
        // SAFETY: both have as many bytes, and this one is borrowed mutably.
        unsafe { api.copy_on_device(self.address, source.address, self.bytes()) }?;
        Ok(())
    }

    /// Sets every byte to `value`.
    ///
    /// # Errors
    /// HIP's.
    pub fn fill_bytes(&mut self, value: u8) -> Result<(), BufferError> {
        let api = self.context.bind()?;
        // SAFETY: the buffer has as many bytes, and any are a `T`.
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
        // SAFETY: from `malloc`; HIP waits for work that may still use it.
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
