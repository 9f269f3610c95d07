//! `ferrowave check`

use std::process::ExitCode;

use clap::Args;
use ferrowave::embedded;
use ferrowave_launch::check::{self, CheckOptions};

use super::{
    Failure,
    target::{self, Target},
};

/// Run a kernel on the emulator and look for bugs that a GPU does not report: accesses out of bounds, to freed memory
/// or of uninitialized bytes, races, missing waits and wait states, uninitialized registers.
///
/// Exit code 3 means findings.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    #[command(flatten)]
    target: target::Options,
    #[command(flatten)]
    check: CheckOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    check::run(&options.check, &embedded::gpus(), |device| {
        Target::new(&options.target, device)?.launch()
    })
}
