//! The emulator's checks around launches.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Args;
use ferrowave_check::{Check, Finding, Format, Options as Checks, parse};
use ferrowave_hip::check;
use ferrowave_host::hip::Device;

use crate::{DeviceOption, Failure, print};

/// The exit code of a run with findings.
const FINDINGS: u8 = 3;

/// What to look for, and where to write it.
#[derive(Debug, Args)]
#[group(skip)]
pub struct CheckOptions {
    /// What to look for: memory, lds, races, waits, hazards, registers, or all; several with commas.
    #[arg(long, value_name = "CHECKS", default_value = "all", value_parser = parse_checks)]
    checks: CheckList,
    /// Run each launch so many times more, in other orders of waves, workgroups and loads, and compare the results.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seeds: u32,
    /// Run in the schedule of this number, which --seeds has found to give other results.
    #[arg(long, value_name = "NUMBER", conflicts_with = "seeds")]
    schedule: Option<u64>,
    /// How to write the findings.
    #[arg(long, value_enum, default_value_t = FormatName::Text)]
    format: FormatName,
    /// Write them to a file [default: standard output].
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
}

#[derive(Clone, Debug)]
struct CheckList(Vec<Check>);

fn parse_checks(text: &str) -> Result<CheckList, String> {
    let checks = parse(text).map_err(|error| error.to_string())?;
    match checks.is_empty() {
        true => Err("no check is named".into()),
        false => Ok(CheckList(checks)),
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatName {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For editors and code hosts: SARIF 2.1.0.
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

/// Launches what `launch` launches on the emulator, and writes the findings; the exit code is 3 if there are any, and what
/// `launch` failed with follows on standard error.
///
/// # Errors
/// Those of `launch` without findings, and if the findings cannot be written.
pub fn run(
    options: &CheckOptions,
    launch: impl FnOnce(&Device) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let checks = Checks {
        checks: options.checks.0.clone(),
        seeds: options.seeds,
        schedule: options.schedule,
    };
    // Before the first device: its memory must know from the start what is written to it.
    check::set_checks(checks);
    let device = options.device.open_emulator("checks kernels")?;
    let outcome = launch(&device);
    let findings = check::take_findings();
    // That nothing was found would be said of what did not run to its end.
    if findings.is_empty() {
        outcome?;
        write(options, &findings)?;
        return Ok(ExitCode::SUCCESS);
    }
    let written = write(options, &findings);
    if let Err(failure) = outcome {
        eprintln!("error: {failure}");
    }
    written?;
    Ok(ExitCode::from(FINDINGS))
}

/// Writes the findings where they shall go; they are not lost if that cannot be.
fn write(options: &CheckOptions, findings: &[Finding]) -> Result<(), Failure> {
    let format = Format::from(options.format);
    let text = format.write(&options.checks.0, findings);
    let Some(path) = &options.output else {
        return print(&text);
    };
    fs::write(path, &text).map_err(|error| {
        eprint!("{}", Format::Text.write(&options.checks.0, findings));
        Failure::failed(format!("`{}` cannot be written: {error}", path.display()))
    })
}
