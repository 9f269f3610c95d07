//! Launches, checks and profiles any kernel from a command line.
//!
//! This crate holds what the commands `ferrowave` and `cargo gpu-amdgpu` share: clap options, launching a kernel known
//! only from its code object, running the emulator's checks and counters, tables, and exit codes. It depends on code
//! objects, the host library and the emulator, not on Ferrowave's kernels.

mod buffer;
pub mod check;
mod device;
mod environment;
mod failure;
mod file;
pub mod kernel;
mod kernel_launch;
mod library;
mod options;
mod output;
mod parameters;
pub mod profile;
mod progress;
mod table;

pub use ferrowave_emulator::dispatch::parse_time;

pub use ferrowave_inspect::{
    BufferAfter, BufferData, Element, KernelArgument, KernelParameter, Shape,
};

pub use buffer::OutputFile;
pub use device::DeviceOption;
pub use environment::ENVIRONMENT;
pub use failure::{Failure, exit_code};
pub use file::{read_file, read_text};
pub use kernel::LoadedKernel;
pub use kernel_launch::{KernelCall, KernelLaunch};
pub use library::{HIP_LIBRARY, library_places};
pub use options::LaunchOptions;
pub use output::{parse, print, print_json, say};
pub use parameters::ParametersOption;
pub use progress::{ProgressLine, note};
pub use table::Columns;
