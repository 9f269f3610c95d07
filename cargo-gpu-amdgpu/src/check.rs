//! `cargo gpu-amdgpu check`

use std::process::ExitCode;

use clap::Args;
use ferrowave_gpu::Gpu;
use ferrowave_launch::{
    Failure,
    check::{self, CheckOptions},
};

use crate::target::TargetOptions;

/// Launch a kernel on the emulator and look for bugs that a GPU does not report: accesses out of bounds, to freed
/// memory or of uninitialized bytes, races, missing waits and wait states, uninitialized registers.
///
/// Exit code 3 means findings.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    check: CheckOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    check::run(&options.check, &Gpu::ALL, |device| {
        options.target.run(device)
    })
}
