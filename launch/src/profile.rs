//! Runs a launch under the emulator's counters.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
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
use ferrowave_timing::{
    Format as TimingFormat, MOST_TIMELINE_INSTRUCTIONS, Parameters, Timing, write_timelines,
};

use crate::{DeviceOption, Failure, ParametersOption, note, print, say};

/// How to write the counters, and where.
#[derive(Debug, Args)]
#[group(skip)]
pub struct ProfileOptions {
    /// Also model the time on a machine: MI100, MI210, MI250X, MI300X, MI355X, RX 7900 XTX, Radeon 8060S or RX 9070 XT, or
    /// its GPU's name [default: the device's].
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
    /// With --timing, write what each modelled wave does in each cycle as Chrome's trace events, for
    /// ui.perfetto.dev.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParametersOption,
    #[command(flatten)]
    device: DeviceOption,
}

impl ProfileOptions {
    /// The machine to model if `--timing` is given: the one that it names, or else the one that the device option
    /// or the file of parameters names.
    ///
    /// # Errors
    /// If FERROWAVE_DEVICE names no device, or the file has no parameters of the machine.
    pub fn machine(&self) -> Result<Option<Parameters>, Failure> {
        let named = match self.timing {
            Some(None) => self.device.selector()?.product(),
            Some(named) => named,
            None if self.parameters.is_given() => {
                return Err(Failure::usage("--parameters needs --timing"));
            }
            None if self.trace.is_some() => {
                return Err(Failure::usage("--trace needs --timing"));
            }
            None => return Ok(None),
        };
        match named {
            Some(machine) => self.parameters.of(machine).map(Some),
            None => self.parameters.read(),
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
    let machine = options.machine()?;
    if options.timing.is_some() {
        // Timing is set before the device is opened, because the device takes the machine's properties.
        timing::set_timing(Some(Settings {
            machine,
            estimate: false,
            timeline: options.trace.is_some(),
        }));
    }
    // A file that cannot be written is an error before a long run, not after it.
    let trace = options
        .trace
        .as_deref()
        .map(TraceFile::create)
        .transpose()?;
    let device = options
        .device
        .open_emulator(built, "counts what kernels do")?;
    if let Some(Parameters { machine, .. }) = machine {
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
        say(Format::Listing.write(&profiles));
    }
    let traced = trace.map_or(Ok(()), |trace| trace.write(&timings));
    let timed = match missed.into_iter().next() {
        Some(error) => Err(Failure::failed(error)),
        None => Ok(()),
    };
    outcome
        .and(printed)
        .and(written)
        .and(traced)
        .and(timed)
        .map(|()| ExitCode::SUCCESS)
}

/// The file of `--trace`.
struct TraceFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> TraceFile<'a> {
    fn create(path: &'a Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        Ok(TraceFile { path, file })
    }

    /// Writes the timelines, and says what is left out.
    fn write(self, timings: &[Timing]) -> Result<(), Failure> {
        let shown = write_timelines(timings, BufWriter::new(self.file))
            .map_err(|error| unwritable(self.path, &error))?;
        for shown in shown.iter().filter(|shown| shown.is_cut) {
            if let Some(timing) = timings.get(shown.launch) {
                note(&format!(
                    "`{}` has the first {MOST_TIMELINE_INSTRUCTIONS} instructions of {}: {} of {} modelled cycles",
                    self.path.display(),
                    timing.kernel,
                    shown.cycles,
                    timing.cycles_modelled
                ));
            }
        }
        Ok(())
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("`{}` cannot be written: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| unwritable(path, &error))
}
