//! `cargo gpu-amdgpu profile`

use std::process::ExitCode;

use clap::Args;
use ferrowave_launch::{
    Failure,
    profile::{self, ProfileOptions},
};

use crate::target::TargetOptions;

/// Launch a kernel on the emulator and count: instructions, lanes, operations, bytes and cache lines, bank conflicts.
///
/// The counts are exact and say what the machine code asks for, not how long a GPU takes.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    profile: ProfileOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    profile::run(&options.profile, |device| options.target.run(device))
}
