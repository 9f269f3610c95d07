//! The emulator's counters around launches.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use ferrowave_gpu::Product;
use ferrowave_hip::{
    profile,
    timing::{self, Settings},
};
use ferrowave_host::hip::Device;
use ferrowave_profile::Format;
use ferrowave_timing::Format as TimingFormat;

use crate::{DeviceOption, Failure, print};

/// How to write the counts, and where.
#[derive(Debug, Args)]
#[group(skip)]
pub struct ProfileOptions {
    /// Model the time on a machine, too: MI100, MI210, MI250X, MI300X or MI355X, or by its GPU's name [default: the one
    /// that the device is].
    #[arg(long, value_name = "MACHINE", num_args = 0..=1, require_equals = true)]
    timing: Option<Option<Product>>,
    /// Print all instructions with their counts, under the source lines that they come from.
    #[arg(long)]
    listing: bool,
    /// Write a page with all of it.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
}

impl ProfileOptions {
    /// The machine whose time is modelled, if one was named: for the model, or else as the device.
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

/// Launches what `launch` launches on the emulator, and writes the counts.
///
/// # Errors
/// Those of `launch`, after the counts are written, and if they cannot be.
pub fn run(
    options: &ProfileOptions,
    launch: impl FnOnce(&Device) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    profile::set_profiling(true);
    if options.timing.is_some() {
        // Before the device: what it has is the machine's.
        timing::set_timing(Some(Settings {
            machine: options.machine()?,
            estimate: false,
        }));
    }
    let device = options.device.open_emulator("counts what kernels do")?;
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
    // A kernel that faulted has counts, too.
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
        // All that the file would have said.
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
