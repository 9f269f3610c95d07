//! Runs a launch under the emulator's checks.

use std::{fmt, fs, path::PathBuf, process::ExitCode, str::FromStr};

use clap::Args;
use ferrowave_check::{Check, Finding, Format, Options as Checks, parse};
use ferrowave_gpu::Gpu;
use ferrowave_hip::check;
use ferrowave_host::hip::Device;

use crate::{DeviceOption, Failure, print, say};

/// The exit code of a run with findings.
const FINDINGS: u8 = 3;

/// Which checks to run, and where to write the findings.
#[derive(Debug, Args)]
#[group(skip)]
pub struct CheckOptions {
    /// The checks to run, separated by commas: memory, lds, races, waits, hazards, registers, or all.
    #[arg(long, value_name = "CHECKS", default_value = "all")]
    checks: CheckList,
    /// Repeat each launch N times with other orders of waves, workgroups and loads, and compare the results.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seeds: u32,
    /// Run with this schedule: the number under which --seeds reported other results.
    #[arg(long, value_name = "NUMBER", conflicts_with = "seeds")]
    schedule: Option<u64>,
    /// How to write the findings.
    #[arg(long, value_enum, default_value_t = FormatName::Text)]
    format: FormatName,
    /// Write the findings to a file [default: standard output].
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
}

/// Checks by name, at least one. Its text is their names with commas between.
#[derive(Clone, Debug)]
pub struct CheckList(pub Vec<Check>);

impl FromStr for CheckList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let checks = parse(text).map_err(|error| error.to_string())?;
        match checks.is_empty() {
            true => Err("no check is named".into()),
            false => Ok(CheckList(checks)),
        }
    }
}

impl fmt::Display for CheckList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|check| check.name()).collect();
        f.write_str(&names.join(","))
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatName {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
    /// SARIF 2.1.0 for editors and code hosts.
    Sarif,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Text => Format::Text,
            FormatName::Json => Format::Json,
            FormatName::Sarif => Format::Sarif,
        }
    }
}

/// Runs `launch` on the emulator and writes the findings. The exit code is 3 if there are any; an error of `launch` is
/// then printed to standard error.
///
/// # Errors
/// The error of `launch` if there are no findings, or if the findings cannot be written.
pub fn run(
    options: &CheckOptions,
    built: &[Gpu],
    launch: impl FnOnce(&Device) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let checks = Checks {
        checks: options.checks.0.clone(),
        seeds: options.seeds,
        schedule: options.schedule,
    };
    // Checks are set before the device is opened, because its memory tracks writes from the first allocation.
    check::set_checks(checks);
    let device = options.device.open_emulator(built, "checks kernels")?;
    let outcome = launch(&device);
    let findings = check::take_findings();
    // Without findings, an error of `launch` is returned instead of a report that nothing was found.
    if findings.is_empty() {
        outcome?;
        write(options, &findings)?;
        return Ok(ExitCode::SUCCESS);
    }
    let written = write(options, &findings);
    if let Err(failure) = outcome {
        say(format_args!("error: {failure}\n"));
    }
    written?;
    Ok(ExitCode::from(FINDINGS))
}

/// Writes the findings to the file or to standard output. If the file cannot be written, they go to standard error.
fn write(options: &CheckOptions, findings: &[Finding]) -> Result<(), Failure> {
    let format = Format::from(options.format);
    let text = format.write(&options.checks.0, findings);
    let Some(path) = &options.output else {
        return print(&text);
    };
    fs::write(path, &text).map_err(|error| {
        say(Format::Text.write(&options.checks.0, findings));
        Failure::failed(format!("`{}` cannot be written: {error}", path.display()))
    })
}
