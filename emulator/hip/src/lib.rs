//! The HIP functions, over the emulator's own parts.
//!
//! | room | what is in it |
//! |---|---|
//! | [`exports`] | the C boundary: one `extern "C"` function a row of the table, and nothing that unwinds through it |
//! | `error` | what a call that failed leaves behind on its thread |
//! | `runtime` | devices, their state, and each thread's current one |
//! | `task`, `queue` | work and its order |
//! | `handles` | objects by handle; no handle is ever used twice |
//! | `objects` | streams, events, modules, graphs and their operations: the state, without HIP's functions |
//! | `graph` | the functions about graphs, and about streams whose work goes to one |
//! | `registry` | what programs compiled for HIP register as they start |
//! | `removal` | what a removed or reset device takes with it |
//! | [`check`] | checks of launches, and where their findings go |
//! | [`profile`] | counters of launches, and where profiles go |
//! | `rtc` | compiling and linking at run time, over AMD's compiler library |
//! | [`timing`] | modelled times of launches, and where they go |
//! | [`trace`](TRACE_VARIABLE) | calls and the work of streams, written as they end |
//! | `fault` | kernels that failed, until a call that waits for them says so |
//! | the others | the functions, by what they are about |
//!
//! A program in the same process gets the table with [`FUNCTIONS`] and a device with [`add_device`]. A program that
//! knows only HIP loads the library made from `emulator/hip/lib`; its devices are what [`DEVICE_VARIABLE`] names.
//!
//! A call adds work to a stream and returns; `task` runs it on threads of its own, in the order that `queue` keeps:
//! streams, the default stream among them, events and graphs all come down to tasks that wait for others.

#![expect(non_snake_case, reason = "HIP's own names")]

mod allocation;
mod callback;
pub mod check;
mod context;
mod copy;
mod device;
mod error;
mod event;
pub mod exports;
mod fault;
mod fill;
mod function;
mod graph;
mod handles;
mod image;
mod launch;
mod limits;
mod module;
mod objects;
mod per_thread;
mod pointer;
mod pool;
pub mod profile;
mod profiler;
mod properties;
mod queue;
mod registry;
mod removal;
mod rtc;
mod runtime;
mod stream;
mod symbols;
mod task;
#[cfg(test)]
mod tests;
mod texture;
pub mod timing;
mod trace;
mod values;

pub use error::last_error_detail;
pub use exports::FUNCTIONS;
pub use limits::set_limits;
pub use properties::pci_location;
pub use removal::remove_device;
pub use runtime::{DEVICE_VARIABLE, DeviceConfig, add_device, device_name, environment_devices};
pub use trace::TRACE_VARIABLE;
