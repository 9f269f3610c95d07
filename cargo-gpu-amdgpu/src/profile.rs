//! `cargo gpu-amdgpu profile`

use std::process::ExitCode;

use clap::Args;
use ferrowave_host::hip::Context;
use ferrowave_launch::{
    Failure, LaunchOptions,
    profile::{self, ProfileOptions},
};

use crate::object::KernelOptions;

/// Launch a kernel on the emulator and count: instructions, lanes, operations, bytes and cache lines, bank conflicts.
///
/// The counts are exact and say what the machine code asks for, not how long a GPU takes.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    #[command(flatten)]
    kernel: KernelOptions,
    #[command(flatten)]
    launch: LaunchOptions,
    #[command(flatten)]
    profile: ProfileOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    profile::run(&options.profile, |device| {
        let file = options.kernel.file(device)?;
        let launch = options.launch.launch(&file, &options.kernel.kernel)?;
        launch.run(&Context::new(device).map_err(Failure::failed)?)
    })
}
