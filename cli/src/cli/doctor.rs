//! `ferrowave doctor`

mod steps;

use std::{fmt, process::ExitCode, time::Duration};

use clap::Args;
use ferrowave::{
    embedded,
    hip::{DeviceSelector, load::emulated, system::System},
};
use ferrowave_shared::gpus_with_kernels;
use serde::Serialize;

use super::{Failure, print, print_json};
use crate::child::{self, End};
use steps::{Absence, Facts, Hip, Line, Step};

/// Check, step by step, that kernels can run on this computer's GPUs, and say how to repair what fails.
///
/// Exit code 0 means that nothing failed, 1 that something did. A computer without a GPU passes: the emulator runs the
/// kernels.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Check only this device: `hip:0`, or a GPU to emulate [default: FERROWAVE_DEVICE, or else all of HIP's].
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceSelector>,
    /// Time limit for HIP to list its devices, and for each device to run a small kernel: seconds, or a number and s, m
    /// or h.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = ferrowave_launch::parse_time)]
    time_limit: Duration,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Do one step in this process.
    #[arg(long, hide = true, requires = "device")]
    step: Option<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// Worth knowing; nothing to repair.
    Note,
    Failed,
}

#[derive(Debug, Serialize)]
struct Check {
    /// `driver`, `HIP` or a device.
    subject: String,
    state: State,
    text: String,
    repair: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Report {
    /// Whether no check failed.
    passed: bool,
    /// Whether the computer has a GPU that HIP can use.
    has_gpu: bool,
    /// The device that runs kernels if none is named.
    runs: String,
    checks: Vec<Check>,
    hip: Option<Hip>,
    devices: Vec<Facts>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let selector = match options.device {
        Some(selector) => selector,
        None => DeviceSelector::from_environment().map_err(Failure::usage)?,
    };
    if let Some(step) = options.step {
        steps::run(step, selector)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut doctor = Doctor {
        limit: options.time_limit,
        report: Report::default(),
    };
    doctor.examine(selector)?;
    let mut report = doctor.report;
    report.passed = report
        .checks
        .iter()
        .all(|check| check.state != State::Failed);
    if options.json {
        print_json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(if report.passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What a step wrote, and how it ended if not well.
struct Ran {
    lines: Vec<Line>,
    trouble: Option<String>,
}

struct Doctor {
    /// Time limit of a step.
    limit: Duration,
    report: Report,
}

impl Doctor {
    fn examine(&mut self, selector: DeviceSelector) -> Result<(), Failure> {
        let runs = match selector {
            DeviceSelector::Auto | DeviceSelector::Hip(_) => self.gpus(selector)?,
            DeviceSelector::Emulator(_) | DeviceSelector::Product(_) => None,
        };
        let runs = match (runs, selector) {
            (Some(gpu), _) => gpu,
            // An emulated device is known to run, once it was tried.
            (None, DeviceSelector::Auto) => DeviceSelector::Emulator(emulated(&embedded::gpus())),
            (None, asked) => asked,
        };
        if runs.product().is_some() {
            self.launch(runs)?;
        }
        self.report.runs = runs.to_string();
        Ok(())
    }

    /// Checks the requested device or all that HIP has. Returns the one that runs kernels.
    fn gpus(&mut self, selector: DeviceSelector) -> Result<Option<DeviceSelector>, Failure> {
        let listed = self.step(Step::List, DeviceSelector::Auto)?;
        let system = System::here();
        let unusable = listed.lines.iter().find_map(|line| match line {
            Line::Unusable {
                reason, absence, ..
            } => Some((reason, *absence)),
            _ => None,
        });
        if let (false, DeviceSelector::Auto, Some((reason, Some(absence)))) =
            (system.has_gpu(), selector, unusable)
        {
            let reason = match absence {
                Absence::Library => "no HIP library was found",
                Absence::Device => reason,
            };
            let text = format!("no GPU: there is no /dev/kfd, and {reason}");
            self.add("driver", State::Note, text, None);
            return Ok(None);
        }
        self.report.has_gpu = true;
        self.driver(&system);
        if let Some(trouble) = listed.trouble {
            let text = format!("it cannot be asked for its devices: {trouble}");
            self.failed("HIP", text, steps::RESET);
        }
        let mut devices = Vec::new();
        for line in listed.lines {
            match line {
                Line::Unusable {
                    reason, repairs, ..
                } => {
                    if repairs.is_empty() {
                        self.failed("HIP", reason, "see what failed above");
                    }
                    for (what, repair) in repairs {
                        self.failed("HIP", what, &repair);
                    }
                }
                Line::Hip(hip) => {
                    let emulated = match hip.emulated {
                        true => ", Ferrowave's emulator",
                        false => "",
                    };
                    let text = format!("HIP {} from {}{emulated}", hip.version, hip.library);
                    self.add("HIP", State::Ok, text, None);
                    self.report.hip = Some(hip);
                }
                Line::Device(facts) => devices.push(facts),
                Line::Silent { device, reason } => self.failed(&device, reason, steps::RESET),
                Line::Begins(_) | Line::Done(_) | Line::Failed { .. } | Line::End => {}
            }
        }
        let asked = selector.to_string();
        if selector != DeviceSelector::Auto {
            if self.report.hip.is_some() && !devices.iter().any(|facts| facts.device == asked) {
                let names: Vec<_> = devices.iter().map(|facts| &*facts.device).collect();
                let text = format!("HIP has no such device, only {}", names.join(", "));
                self.failed(&asked, text, "name one of these with --device");
            }
            devices.retain(|facts| facts.device == asked);
        }
        let mut runs = None;
        for facts in &devices {
            self.device(facts, selector)?;
            if facts.kernels_built && runs.is_none() {
                runs = facts.device.parse().ok();
            }
        }
        self.report.devices = devices;
        Ok(runs)
    }

    /// Whether this process may use the GPUs, and which Linux' driver lists.
    fn driver(&mut self, system: &System) {
        let mut targets: Vec<_> = system.gpus().into_iter().map(|gpu| gpu.target).collect();
        let count = targets.len();
        targets.dedup();
        let lists = match count {
            0 => "the driver lists no GPU".to_owned(),
            1 => format!("the driver lists one GPU, {}", targets.join(", ")),
            count => format!("the driver lists {count} GPUs: {}", targets.join(", ")),
        };
        if !system.has_gpu() {
            // ROCm for WSL uses another device.
            return self.add(
                "driver",
                State::Note,
                "there is no /dev/kfd".to_owned(),
                None,
            );
        }
        let troubles = system.access();
        if troubles.is_empty() {
            let text = format!("/dev/kfd can be opened; {lists}");
            self.add("driver", State::Ok, text, None);
        }
        for trouble in troubles {
            self.failed("driver", trouble.what, &trouble.repair);
        }
    }

    /// What a device is, whether kernels are built for it, and whether they run.
    fn device(&mut self, facts: &Facts, selector: DeviceSelector) -> Result<(), Failure> {
        let gpu = facts.target.split(':').next().unwrap_or_default();
        let mode = match &facts.partition {
            Some(mode) => format!(", in mode {mode}"),
            None => String::new(),
        };
        let text = format!(
            "{}, {}: {} compute units, XCDs: {} (from {}){mode}, {} KiB of LDS a workgroup",
            facts.name,
            facts.target,
            facts.compute_units,
            facts.xcds,
            facts.xcds_from,
            facts.lds_bytes >> 10
        );
        self.add(&facts.device, State::Ok, text, None);
        if facts.kernels_built {
            let device = facts.device.parse().map_err(Failure::failed)?;
            return self.launch(device);
        }
        let text = if facts.kernels_exist {
            let text = format!("no kernels are built for {gpu}");
            self.failed(&facts.device, text, &steps::build(gpu));
            return Ok(());
        } else {
            format!(
                "Ferrowave has no kernels for {gpu}, only for {}",
                gpus_with_kernels()
            )
        };
        // With another GPU, or the emulator, there is nothing to repair.
        match selector {
            DeviceSelector::Auto => self.add(&facts.device, State::Note, text, None),
            _ => self.failed(
                &facts.device,
                text,
                "choose another device, or a GPU to emulate",
            ),
        }
        Ok(())
    }

    fn launch(&mut self, selector: DeviceSelector) -> Result<(), Failure> {
        let device = selector.to_string();
        let Ran { lines, trouble } = self.step(Step::Launch, selector)?;
        let mut begun = "starting".to_owned();
        for line in lines {
            match line {
                Line::Begins(what) => begun = what,
                Line::Done(text) => self.add(&device, State::Ok, text, None),
                Line::Failed { reason, repair } => {
                    self.failed(&device, format!("{begun} failed: {reason}"), &repair);
                }
                _ => {}
            }
        }
        if let Some(trouble) = trouble {
            self.failed(&device, format!("{begun} failed: {trouble}"), steps::RESET);
        }
        Ok(())
    }

    /// Runs a step in a process of its own.
    fn step(&self, step: Step, selector: DeviceSelector) -> Result<Ran, Failure> {
        let mut command = child::this_program().map_err(Failure::failed)?;
        command
            .args(["doctor", "--step", step.name(), "--device"])
            .arg(selector.to_string());
        let ended = child::run(&mut command, self.limit).map_err(Failure::failed)?;
        let lines = ended.output.lines();
        // HIP may write there, too.
        let lines = lines.filter_map(|line| serde_json::from_str(line).ok());
        let lines: Vec<Line> = lines.collect();
        let is_whole = matches!(lines.last(), Some(Line::End));
        let trouble = (ended.end != End::Code(0) || !is_whole).then(|| {
            let said: Vec<_> = ended
                .error
                .lines()
                .filter(|line| !line.is_empty())
                .collect();
            let last = &said[said.len().saturating_sub(SAID_LINES)..];
            match last {
                [] => format!("{}, without a word", ended.end),
                last => format!("{}, and wrote: {}", ended.end, last.join("\n    ")),
            }
        });
        Ok(Ran { lines, trouble })
    }

    fn failed(&mut self, subject: &str, text: String, repair: &str) {
        self.add(subject, State::Failed, text, Some(repair.to_owned()));
    }

    fn add(&mut self, subject: &str, state: State, text: String, repair: Option<String>) {
        self.report.checks.push(Check {
            subject: subject.to_owned(),
            state,
            text,
            repair,
        });
    }
}

/// Lines of a step's standard error that are shown.
const SAID_LINES: usize = 5;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Two lines where there is nothing to check.
        if self.passed && !self.has_gpu {
            for check in self
                .checks
                .iter()
                .filter(|check| check.state == State::Note)
            {
                writeln!(f, "{}", check.text)?;
            }
            return writeln!(
                f,
                "{} runs the kernels instead: results are a GPU's, times are modelled",
                self.runs
            );
        }
        for Check {
            subject,
            state,
            text,
            repair,
        } in &self.checks
        {
            let state = match state {
                State::Ok => "ok",
                State::Note => "note",
                State::Failed => "FAILED",
            };
            writeln!(f, "{state:<6}  {subject:<8}  {text}")?;
            if let Some(repair) = repair {
                writeln!(f, "          repair: {repair}")?;
            }
        }
        match self.passed {
            true => writeln!(f, "{} runs the kernels", self.runs),
            false => writeln!(
                f,
                "something failed; --device {} emulates a GPU in the meantime",
                emulated(&embedded::gpus())
            ),
        }
    }
}
