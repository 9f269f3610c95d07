//! Kernels on a GPU in a process of their own: under ROCm, one that faults aborts the process, and one that hangs never
//! lets it end.

use std::{process::ExitCode, time::Duration};

use clap::Args;
use ferrowave::embedded;

use super::{DeviceOption, Failure, print, say};
use crate::child::{self, End};

#[derive(Debug, Args)]
pub(crate) struct Apart {
    /// Time limit of a kernel's process on a GPU: seconds, or a number and s, m or h.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = ferrowave_launch::parse_time)]
    pub(crate) time_limit: Duration,
    /// Run kernels in this process on a GPU, too, for a debugger: a fault ends it.
    #[arg(long)]
    pub(crate) in_process: bool,
}

impl Apart {
    /// Whether the kernel runs in another process: on a GPU. The emulator survives faults, and ends kernels by itself.
    pub(crate) fn is_wanted(&self, device: &DeviceOption) -> bool {
        let selector = device.selector();
        // A device that cannot be opened is an error of the command itself.
        let device = selector
            .ok()
            .and_then(|selector| embedded::open(&selector).ok());
        !self.in_process && device.is_some_and(|device| !device.is_emulated())
    }

    /// Runs this command in another process, and says if that does not end by itself.
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let mut command = child::this_command(&["--in-process"]).map_err(Failure::failed)?;
        let ended = child::run(&mut command, self.time_limit).map_err(Failure::failed)?;
        let End::Code(code) = ended.end else {
            return Err(Failure::failed(ended.complaint()));
        };
        say(ended.error);
        print(&ended.output)?;
        // Exit codes have 8 bits.
        Ok(ExitCode::from(code as u8))
    }
}
