//! HIP from Rust, in three layers.
//!
//! - [`load`] gets the table of functions, from `libamdhip64.so` or from the emulator, and chooses the device.
//! - [`result`] wraps each function in one that returns its result or a [`HipError`].
//! - [`safe`] has owners for HIP's objects: a [`DeviceBuffer`] frees itself, a [`Kernel`] keeps its module loaded, and
//!   a launch is checked against the kernel's metadata.
//!
//! Code above this module does not know whether a GPU or the emulator is behind the table.
//!
//! ```no_run
//! use ferrowave_host::hip::{Context, Device};
//!
//! let device = Device::from_environment()?;
//! println!("{}", device.choice());
//! let context = Context::new(&device)?;
//! let mut buffer = context.allocate::<f32>(3)?;
//! buffer.copy_from_host(&[1.0, 2.0, 3.0])?;
//! assert_eq!(buffer.to_vec()?, [1.0, 2.0, 3.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod load;
pub mod result;
pub mod safe;
pub mod system;

#[cfg(test)]
mod fake;

pub use load::{
    Api, DEVICE_VARIABLE, DeviceSelector, EMULATOR_VARIABLE, LIBRARY_VARIABLE, LoadError,
    SelectorError, Source,
};
pub use result::HipError;
pub use safe::{
    Arguments, BufferError, Context, Device, DeviceBuffer, DeviceProperties, Event, Kernel,
    LaunchConfig, LaunchError, MemoryInfo, Module, ModuleError, OpenError, Stream, XcdSource, Xcds,
};
