//! Launches, checks and profiles any kernel from a command line.
//!
//! This crate holds what the commands `ferrowave` and `cargo gpu-amdgpu` share: clap options, launching a kernel known
//! only from its code object, running the emulator's checks and counters, tables, and exit codes. It depends on code
//! objects, the host library and the emulator, not on Ferrowave's kernels.

mod argument;
mod array;
mod buffer;
pub mod check;
mod code;
mod device;
mod element;
mod environment;
mod failure;
pub mod kernel;
mod kernel_launch;
mod library;
mod npy;
mod options;
mod output;
mod parameters;
pub mod profile;
mod progress;
mod shape;
mod table;

pub use ferrowave_emulator::dispatch::parse_time;

pub use argument::{Contents, KernelArgument};
pub use array::BufferData;
pub use buffer::{BufferAfter, OutputFile};
pub use code::{CodeLine, code};
pub use device::DeviceOption;
pub use element::Element;
pub use environment::ENVIRONMENT;
pub use failure::{Failure, exit_code};
pub use kernel::{KernelParameter, LoadedKernel};
pub use kernel_launch::{KernelCall, KernelLaunch};
pub use library::{HIP_LIBRARY, library_places};
pub use options::LaunchOptions;
pub use output::{parse, print, print_json};
pub use parameters::ParametersOption;
pub use progress::{ProgressLine, note};
pub use shape::Shape;
pub use table::Columns;
