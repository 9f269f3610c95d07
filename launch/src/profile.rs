//! The emulator's counters around launches.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use ferrowave_emulator::{
    hip::profile,
    profile::{Format, Profile},
};
use ferrowave_host::hip::Device;

use crate::{DeviceOption, Failure, print};

/// How to write the counts, and where.
#[derive(Debug, Args)]
#[group(skip)]
pub struct ProfileOptions {
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

/// Launches what `launch` launches on the emulator, and writes the counts.
///
/// # Errors
/// Those of `launch`, after the counts are written, and if they cannot be.
pub fn run(
    options: &ProfileOptions,
    launch: impl FnOnce(&Device) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    profile::set_profiling(true);
    let device = options.device.open_emulator("counts what kernels do")?;
    let outcome = launch(&device);
    let profiles = profile::take_profiles();
    // A kernel that faulted has counts, too.
    let format = match options.listing {
        true => Format::Listing,
        false => Format::Summary,
    };
    let printed = print(&format.write(&profiles));
    let files = [(&options.html, Format::Html), (&options.json, Format::Json)];
    let written = files.into_iter().try_for_each(|(path, format)| match path {
        Some(path) => write(path, format, &profiles),
        None => Ok(()),
    });
    if written.is_err() && !options.listing {
        // All that the file would have said.
        eprint!("{}", Format::Listing.write(&profiles));
    }
    outcome
        .and(printed)
        .and(written)
        .map(|()| ExitCode::SUCCESS)
}

fn write(path: &Path, format: Format, profiles: &[Profile]) -> Result<(), Failure> {
    fs::write(path, format.write(profiles)).map_err(|error| {
        Failure::failed(format!("`{}` cannot be written: {error}", path.display()))
    })
}
