//! `ferrowave profile`

use std::process::ExitCode;

use clap::Args;
use ferrowave::embedded;
use ferrowave_launch::profile::{self, ProfileOptions};

use super::{
    Failure,
    target::{self, Target},
};

/// Run a kernel on the emulator and count instructions, lanes, operations, bytes, cache lines and bank conflicts.
///
/// The counts are exact. They describe what the machine code does, not how long a GPU takes; --timing models that.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct Options {
    #[command(flatten)]
    target: target::Options,
    #[command(flatten)]
    profile: ProfileOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    profile::run(&options.profile, &embedded::gpus(), |device| {
        let mut target = Target::new(&options.target, device)?;
        if let Some(machine) = options.profile.machine()? {
            target.plan_for(machine.hardware.multiprocessors());
        }
        target.launch()
    })
}
