//! Runs a launch under the emulator's counters.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use ferrowave_gpu::{Gpu, Product};
use ferrowave_hip::{
    profile,
    timing::{self, Settings},
};
use ferrowave_host::hip::Device;
use ferrowave_profile::Format;
use ferrowave_timing::Format as TimingFormat;

use crate::{DeviceOption, Failure, print};

/// How to write the counters, and where.
#[derive(Debug, Args)]
#[group(skip)]
pub struct ProfileOptions {
    /// Also model the time on a machine: MI100, MI210, MI250X, MI300X or MI355X, or its GPU's name [default: the
    /// device's].
    #[arg(long, value_name = "MACHINE", num_args = 0..=1, require_equals = true)]
    timing: Option<Option<Product>>,
    /// Print every instruction with its counters, under its source line.
    #[arg(long)]
    listing: bool,
    /// Write an HTML page with all counters.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write all counters as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
}

impl ProfileOptions {
    /// The machine to model if `--timing` is given: the one that it names, or else the one that the device option
    /// names.
    ///
    /// # Errors
    /// If FERROWAVE_DEVICE names no device.
    pub fn machine(&self) -> Result<Option<Product>, Failure> {
        match self.timing {
            Some(None) => Ok(self.device.selector()?.product()),
            Some(named) => Ok(named),
            None => Ok(None),
        }
    }
}

/// Runs `launch` on the emulator, and writes the counters.
///
/// # Errors
/// The error of `launch`, after the counters are written, or if they cannot be written.
pub fn run(
    options: &ProfileOptions,
    built: &[Gpu],
    launch: impl FnOnce(&Device) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    profile::set_profiling(true);
    if options.timing.is_some() {
        // Timing is set before the device is opened, because the device takes the machine's properties.
        timing::set_timing(Some(Settings {
            machine: options.machine()?,
            estimate: false,
        }));
    }
    let device = options
        .device
        .open_emulator(built, "counts what kernels do")?;
    if let Some(Some(machine)) = options.timing {
        let runs = machine.gpu().name();
        let gpu = device.properties().gpu_name();
        if runs != gpu {
            return Err(Failure::usage(format!(
                "{machine} runs {runs}, but the device is {gpu}; choose it with --device {machine}"
            )));
        }
    }
    let outcome = launch(&device);
    let profiles = profile::take_profiles();
    // A kernel that faulted has counters too.
    let format = match options.listing {
        true => Format::Listing,
        false => Format::Summary,
    };
    let mut text = format.write(&profiles);
    let timing::Timings {
        modelled: timings,
        missed,
    } = timing::take_timings();
    if !timings.is_empty() {
        let format = match options.listing {
            true => TimingFormat::Listing,
            false => TimingFormat::Summary,
        };
        text.push('\n');
        text.push_str(&format.write(&timings));
    }
    let printed = print(&text);
    let files = [(&options.html, Format::Html), (&options.json, Format::Json)];
    let written = files.into_iter().try_for_each(|(path, format)| match path {
        Some(path) => write(path, &format.write_with(&profiles, &timings)),
        None => Ok(()),
    });
    if written.is_err() && !options.listing {
        // Prints what the files would have contained.
        eprint!("{}", Format::Listing.write(&profiles));
    }
    let timed = match missed.into_iter().next() {
        Some(error) => Err(Failure::failed(error)),
        None => Ok(()),
    };
    outcome
        .and(printed)
        .and(written)
        .and(timed)
        .map(|()| ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| {
        Failure::failed(format!("`{}` cannot be written: {error}", path.display()))
    })
}
