//! `cargo gpu-amdgpu profile`

use std::process::ExitCode;

use clap::Args;
use ferrowave_gpu::Gpu;
use ferrowave_launch::{
    Failure,
    profile::{self, ProfileOptions},
};

use crate::target::TargetOptions;

/// Launch a kernel on the emulator and count instructions, lanes, operations, bytes, cache lines and bank conflicts.
///
/// The counts are exact. They describe what the machine code does, not how long a GPU takes; --timing models that.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    profile: ProfileOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    profile::run(&options.profile, &Gpu::ALL, |device| {
        options.target.run(device)
    })
}
