//! The HIP functions, over the emulator's own parts.
//!
//! | room | what is in it |
//! |---|---|
//! | [`exports`] | the C boundary: one `extern "C"` function a row of the table, and nothing that unwinds through it |
//! | `error` | what a call that failed leaves behind on its thread |
//! | `runtime` | the list of devices and each thread's current one |
//! | `handles` | streams, events, modules and kernels by handle; none is ever used twice |
//! | `fault` | kernels that failed, until a call that waits for them says so |
//! | the others | the functions, by what they are about |
//!
//! A program in the same process gets the table with [`FUNCTIONS`] and a device with [`add_device`]. A program that
//! knows only HIP loads the library made from `emulator/hip`; its devices are what [`DEVICE_VARIABLE`] names.
//!
//! Launches run to their end before they return, so that streams are in order by themselves.

#![expect(non_snake_case, reason = "HIP's own names")]

mod device;
mod error;
mod event;
pub mod exports;
mod fault;
mod handles;
mod image;
mod launch;
mod memory;
mod module;
mod properties;
mod runtime;
mod stream;
mod symbols;
#[cfg(test)]
mod tests;

pub use error::last_error_detail;
pub use exports::FUNCTIONS;
pub use runtime::{DEVICE_VARIABLE, DeviceConfig, add_device, remove_device};
