//! Checks of launches that come through HIP: which, and where their findings go.
//!
//! A program of the same process chooses with [`set_checks`] and takes what was found with [`take_findings`]. Any other
//! is checked as the environment says: findings then go to standard error as they are made, at the end to the file that
//! [`OUTPUT_VARIABLE`] names, and the program ends with [`FINDINGS_EXIT_CODE`].

use std::{
    env, fs,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use ferrowave_hip_abi::hipError_t;

use super::error::Failure;
use ferrowave_check::{self as check, Check, Checked, Finding, Format, Options};
use ferrowave_emulator::dispatch::{self, LaunchConfig, LaunchError, Observed};
use ferrowave_emulator::exec::Observer;
use ferrowave_emulator::program::Kernel;

/// The environment variable that chooses checks by name, with commas between; `all` is every one.
pub const CHECK_VARIABLE: &str = "FERROWAVE_CHECK";

/// The environment variable that asks for so many runs of each launch in different orders of waves and loads.
pub const SEEDS_VARIABLE: &str = "FERROWAVE_CHECK_SEEDS";

/// The environment variable that asks for one schedule: launches run in the order of its number.
pub const SCHEDULE_VARIABLE: &str = "FERROWAVE_CHECK_SCHEDULE";

/// The environment variable that names a file for all findings: JSON if its name ends in `.json`, SARIF if in `.sarif`,
/// otherwise text.
pub const OUTPUT_VARIABLE: &str = "FERROWAVE_CHECK_OUTPUT";

/// What a checked program exits with if there are findings, whatever it wanted to exit with.
pub const FINDINGS_EXIT_CODE: i32 = 3;

/// Where findings go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sink {
    /// They are kept until a call takes them.
    Kept,
    /// To standard error, and to a file if one is named.
    Said(Option<String>),
}

struct State {
    options: Options,
    sink: Sink,
    findings: Vec<Finding>,
    /// What is wrong with the environment.
    misnamed: Option<String>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::from_environment()));

fn state() -> MutexGuard<'static, State> {
    // Valid between statements, even after a panic.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Chooses the checks of all launches from now on, whatever the environment says. Devices that are there already do not
/// know what was written to their memory before.
pub fn set_checks(options: Options) {
    let mut state = state();
    (state.options, state.sink, state.misnamed) = (options, Sink::Kept, None);
}

/// Takes what was found since the last time: the findings of one kernel at one place are one.
pub fn take_findings() -> Vec<Finding> {
    std::mem::take(&mut state().findings)
}

impl State {
    fn from_environment() -> Self {
        let text = |name| env::var_os(name).map(|text| text.to_string_lossy().into_owned());
        let mut state = State {
            options: Options::default(),
            sink: Sink::Kept,
            findings: Vec::new(),
            misnamed: None,
        };
        if let Some(names) = text(CHECK_VARIABLE) {
            match check::parse(&names) {
                Ok(checks) => state.options.checks = checks,
                Err(error) => state.misnamed = Some(format!("{CHECK_VARIABLE}: {error}")),
            }
        }
        if let Some(seeds) = text(SEEDS_VARIABLE) {
            match seeds.trim().parse() {
                Ok(seeds) => state.options.seeds = seeds,
                Err(_) => {
                    state.misnamed = Some(format!(
                        "{SEEDS_VARIABLE} is `{seeds}`, which is no number of runs"
                    ));
                }
            }
        }
        if let Some(schedule) = text(SCHEDULE_VARIABLE) {
            match schedule.trim().parse() {
                Ok(seed) => state.options.schedule = Some(seed),
                Err(_) => {
                    state.misnamed = Some(format!(
                        "{SCHEDULE_VARIABLE} is `{schedule}`, which is no number of a schedule"
                    ));
                }
            }
        }
        if state.options.is_active() {
            state.sink = Sink::Said(text(OUTPUT_VARIABLE));
            #[cfg(unix)]
            // SAFETY: the function is part of this program and takes nothing.
            unsafe {
                libc::atexit(at_exit);
            }
        }
        state
    }

    fn add(&mut self, found: Vec<Finding>) {
        for finding in found {
            if let Some(known) = self
                .findings
                .iter_mut()
                .find(|known| known.is_same(&finding))
            {
                known.count += finding.count;
                continue;
            }
            if self.sink != Sink::Kept {
                eprintln!("ferrowave: {finding}");
            }
            self.findings.push(finding);
        }
    }
}

/// What is wrong with the environment's choice of checks, if something is.
pub(super) fn misnamed() -> Option<Failure> {
    let state = state();
    let text = state.misnamed.as_ref()?;
    Some(Failure::new(hipError_t::hipErrorInvalidValue, text))
}

/// Whether memory must keep account of what is written to it.
pub(super) fn needs_account() -> bool {
    state().options.checks.contains(&Check::Memory)
}

/// Runs a launch, checked if that was chosen.
pub(super) fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<(), LaunchError> {
    let options = state().options.clone();
    if !options.is_active() {
        return dispatch::launch(kernel, config).map(drop);
    }
    let Checked { outcome, findings } = check::launch(kernel, config, &options)?;
    state().add(findings);
    outcome.map(drop)
}

/// Runs a launch as [`launch`] does, and beside the checks another observer on each host thread.
pub(super) fn launch_beside<O: Observer + Send>(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    other: impl Fn() -> O + Sync,
) -> Result<(Result<(), LaunchError>, Vec<O>), LaunchError> {
    let options = state().options.clone();
    if !options.is_active() {
        let Observed { outcome, observers } =
            dispatch::launch_observed(kernel, config, |_| other())?;
        return Ok((outcome.map(drop), observers));
    }
    let (Checked { outcome, findings }, observers) =
        check::launch_beside(kernel, config, &options, other)?;
    state().add(findings);
    Ok((outcome.map(drop), observers))
}

/// Reads the environment, unless it was read before.
pub(super) fn prepare() {
    LazyLock::force(&STATE);
}

/// Says how much was found, writes the file, and ends the program as one with findings.
#[cfg(unix)]
extern "C" fn at_exit() {
    let (options, sink, findings) = {
        let mut state = state();
        let findings = std::mem::take(&mut state.findings);
        (state.options.clone(), state.sink.clone(), findings)
    };
    let Sink::Said(file) = sink else {
        return;
    };
    if let Some(name) = &file {
        let text = Format::of_file(name).write(&options.checks, &findings);
        if let Err(error) = fs::write(name, text) {
            // They have been said on standard error already.
            eprintln!("ferrowave: findings could not be written to `{name}`: {error}");
        }
    }
    if findings.is_empty() {
        return;
    }
    let met: u64 = findings.iter().map(|finding| finding.count).sum();
    eprintln!(
        "ferrowave: {} findings, met {met} times in all",
        findings.len()
    );
    // SAFETY: what the program has written is flushed, which its own exit would do after this; nothing else of it runs.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(FINDINGS_EXIT_CODE);
    }
}
