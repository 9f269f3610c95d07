//! `cargo gpu-amdgpu check`

use std::process::ExitCode;

use clap::Args;
use ferrowave_host::hip::Context;
use ferrowave_launch::{
    Failure, LaunchOptions,
    check::{self, CheckOptions},
};

use crate::object::KernelOptions;

/// Launch a kernel on the emulator and look for what a GPU would not say: accesses out of bounds, to freed memory or of
/// bytes that nobody wrote, races, missing waits and wait states, registers that nobody wrote.
///
/// Exit code 3 if there are findings.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    #[command(flatten)]
    kernel: KernelOptions,
    #[command(flatten)]
    launch: LaunchOptions,
    #[command(flatten)]
    check: CheckOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    check::run(&options.check, |device| {
        let file = options.kernel.file(device)?;
        let launch = options.launch.launch(&file, &options.kernel.kernel)?;
        launch.run(&Context::new(device).map_err(Failure::failed)?)
    })
}
