//! HIP's functions, implemented on the emulator.
//!
//! | module | contents |
//! |---|---|
//! | [`exports`] | the C boundary: one `extern "C"` function per row of the table; no panic unwinds through it |
//! | `error` | error codes and details, and each thread's last error |
//! | `runtime` | devices, their state, and each thread's current device |
//! | `task`, `queue` | work and its order |
//! | `handles` | objects by handle; no handle is ever reused |
//! | `objects` | streams, events, modules, graphs and their operations: the state, without HIP's functions |
//! | `graph` | functions for graphs and stream capture |
//! | `registry` | kernels and variables that programs compiled for HIP register as they start |
//! | `removal` | removing and resetting devices |
//! | [`check`] | which checks launches run, and where findings go |
//! | [`profile`] | whether launches are counted, and where profiles go |
//! | `rtc` | compiling and linking at run time, with AMD's compiler library |
//! | [`timing`] | whether launches are modelled, and where the times go |
//! | [`trace`](TRACE_VARIABLE) | records of calls and of streams' work |
//! | `fault` | failed work, until a call that waits for it reports it |
//! | the others | HIP's functions, grouped by topic |
//!
//! A program in the same process gets the table with [`FUNCTIONS`] and adds a device with [`add_device`]. Any other HIP
//! program loads the library built from `emulator/hip/lib`; [`DEVICE_VARIABLE`] names its devices.
//!
//! A call submits work to a stream and returns. `task` runs the work on worker threads, in the order that `queue`
//! determines. Streams, including the default stream, events and graphs are all expressed as tasks that depend on other
//! tasks.

#![expect(non_snake_case, reason = "HIP's own names")]

mod advice;
mod allocation;
mod array;
mod array_copy;
mod callback;
pub mod check;
mod context;
mod copy;
mod copy_batch;
mod device;
mod environment;
mod error;
mod event;
mod execution_context;
pub mod exports;
mod fault;
mod fill;
mod function;
mod graph;
mod handles;
mod image;
mod ipc;
mod launch;
mod library;
mod limits;
mod list;
mod module;
mod objects;
mod per_thread;
mod pointer;
mod pool;
mod pool_sharing;
pub mod profile;
mod profiler;
mod properties;
mod queue;
mod registry;
mod removal;
mod rtc;
mod runtime;
mod stream;
mod stream_attributes;
mod stream_memory;
mod symbols;
mod task;
#[cfg(test)]
mod tests;
mod texture;
mod texture_reference;
pub mod timing;
mod trace;
mod values;
mod virtual_memory;

pub use environment::check_environment;
pub use error::last_error_detail;
pub use exports::FUNCTIONS;
pub use limits::set_limits;
pub use properties::pci_location;
pub use removal::remove_device;
pub use runtime::{
    DEVICE_VARIABLE, DeviceConfig, add_device, device_name, devices_named, environment_devices,
};
pub use trace::{TRACE_VARIABLE, check_trace};
