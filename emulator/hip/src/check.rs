//! Which checks launches through HIP run, and where the findings go.
//!
//! A program in the same process selects checks with [`set_checks`] and reads the findings with [`take_findings`]. For
//! other programs, the environment selects the checks. Findings are then printed to standard error as they occur, and
//! written at exit to the file that [`OUTPUT_VARIABLE`] names; the program exits with [`FINDINGS_EXIT_CODE`].

use std::{
    env, fs,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use ferrowave_hip_abi::hipError_t;

use super::error::{Failure, warn};
use ferrowave_check::{self as check, Check, Checked, Finding, Format, Options};
use ferrowave_emulator::dispatch::{self, LaunchConfig, LaunchError, Observed};
use ferrowave_emulator::exec::Observer;
use ferrowave_emulator::program::Kernel;

/// Environment variable: names of checks, separated by commas; `all` selects every check.
pub const CHECK_VARIABLE: &str = "FERROWAVE_CHECK";

/// Environment variable: the number of extra runs of each launch with other orders of waves and loads.
pub const SEEDS_VARIABLE: &str = "FERROWAVE_CHECK_SEEDS";

/// Environment variable: the number of the schedule in which launches run.
pub const SCHEDULE_VARIABLE: &str = "FERROWAVE_CHECK_SCHEDULE";

/// Environment variable: the file for all findings. The format is JSON if the name ends in `.json`, SARIF for `.sarif`,
/// otherwise text.
pub const OUTPUT_VARIABLE: &str = "FERROWAVE_CHECK_OUTPUT";

/// The exit code of a checked program with findings; it replaces the program's own.
pub const FINDINGS_EXIT_CODE: i32 = 3;

/// The destination of findings.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sink {
    /// Kept until [`take_findings`].
    Kept,
    /// Printed to standard error, and written to the file if one is named.
    Said(Option<String>),
}

struct State {
    options: Options,
    sink: Sink,
    findings: Vec<Finding>,
    /// The error in the environment, if any.
    misnamed: Option<String>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::from_environment()));

fn state() -> MutexGuard<'static, State> {
    // A poisoned lock is ignored: the state is valid between statements.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the checks of all launches from now on, overriding the environment. Existing devices have not tracked earlier
/// writes to their memory.
pub fn set_checks(options: Options) {
    let mut state = state();
    (state.options, state.sink, state.misnamed) = (options, Sink::Kept, None);
}

/// Takes the findings since the last call. Equal findings of one kernel at one place are counted as one.
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
                        "{SEEDS_VARIABLE} is `{seeds}`, which is not a number of runs"
                    ));
                }
            }
        }
        if let Some(schedule) = text(SCHEDULE_VARIABLE) {
            match schedule.trim().parse() {
                Ok(seed) => state.options.schedule = Some(seed),
                Err(_) => {
                    state.misnamed = Some(format!(
                        "{SCHEDULE_VARIABLE} is `{schedule}`, which is not the number of a schedule"
                    ));
                }
            }
        }
        if state.options.is_active() {
            state.sink = Sink::Said(text(OUTPUT_VARIABLE));
            // SAFETY: the function is part of this program and takes no arguments.
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
                warn(&finding);
            }
            self.findings.push(finding);
        }
    }
}

/// The error in the environment's checks, if any.
pub(super) fn misnamed() -> Option<Failure> {
    let state = state();
    let text = state.misnamed.as_ref()?;
    Some(Failure::new(hipError_t::hipErrorInvalidValue, text))
}

/// Whether memory must track which bytes were written.
pub(super) fn needs_account() -> bool {
    state().options.checks.contains(&Check::Memory)
}

/// Runs a launch under the selected checks.
pub(super) fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<(), LaunchError> {
    let options = state().options.clone();
    if !options.is_active() {
        return dispatch::launch(kernel, config).map(drop);
    }
    let Checked { outcome, findings } = check::launch(kernel, config, &options)?;
    state().add(findings);
    outcome.map(drop)
}

/// Like [`launch`], with another observer on each host thread.
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

/// Reads the environment on the first call.
pub(super) fn prepare() {
    LazyLock::force(&STATE);
}

/// Prints the number of findings, writes the file, and exits with the findings' exit code.
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
            // The findings were already printed to standard error.
            warn(format_args!(
                "findings could not be written to `{name}`: {error}"
            ));
        }
    }
    if findings.is_empty() {
        return;
    }
    let met: u64 = findings.iter().map(|finding| finding.count).sum();
    warn(format_args!(
        "{} findings, met {met} times in total",
        findings.len()
    ));
    // SAFETY: output is flushed, as the normal exit would do later; no other code of the program runs.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(FINDINGS_EXIT_CODE);
    }
}
