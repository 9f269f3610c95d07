//! Whether launches through HIP are modelled, and where the times go.
//!
//! A program in the same process enables the model with [`set_timing`] and reads times with [`take_timings`]. For other
//! programs, the environment may name a machine, or a file with its parameters, and ask for estimates. Times are then
//! printed to standard error: a summary after a kernel's first launch, and one line after each further launch.

use std::{
    env,
    ffi::OsStr,
    fmt::Display,
    path::Path,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use ferrowave_gpu::{Gpu, Product, Specifications};
use ferrowave_hip_abi::hipError_t;

use super::{
    error::{Failure, say, warn},
    profile,
};
use ferrowave_emulator::dispatch::LaunchConfig;
use ferrowave_emulator::program::Kernel;
use ferrowave_timing::{self as timing, Format, Parameters, Plan, Timing, TimingError};

/// Environment variable: the machine to model, or `auto` for each device's own product.
pub const TIMING_VARIABLE: &str = "FERROWAVE_TIMING";

/// Environment variable: a file with the parameters of the machine to model ([`Parameters::read`]).
pub const PARAMETERS_VARIABLE: &str = "FERROWAVE_TIMING_PARAMETERS";

/// Environment variable: `1` for [`Settings::estimate`].
pub const ESTIMATE_VARIABLE: &str = "FERROWAVE_TIMING_ESTIMATE";

/// The name of the default machine.
const AUTO: &str = "auto";

/// How launches are modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// The machine, a product or parameters from a file; `None` for [`Product::of`] the kernel's GPU.
    pub machine: Option<Parameters>,
    /// Runs launches only as far as the model needs: **their results in memory are invalid.**
    pub estimate: bool,
    /// Records what each replayed wave does, for `ferrowave_timing::write_timelines`.
    pub timeline: bool,
}

/// The results of the model.
#[derive(Debug, Default)]
pub struct Timings {
    /// The times, in the order of launches.
    pub modelled: Vec<Timing>,
    /// Why successful launches have no time.
    pub missed: Vec<TimingError>,
}

/// The destination of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    /// Kept until [`take_timings`].
    Kept,
    /// Printed to standard error.
    Said,
}

struct State {
    settings: Option<Settings>,
    sink: Sink,
    timings: Timings,
    /// Kernels whose summary was printed.
    said: Vec<u64>,
    /// The error in the environment, if any.
    misnamed: Option<String>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::from_environment()));

fn state() -> MutexGuard<'static, State> {
    // A poisoned lock is ignored: the state is valid between statements.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enables or disables the model from now on, overriding the environment.
pub fn set_timing(settings: Option<Settings>) {
    let mut state = state();
    (state.settings, state.sink, state.misnamed) = (settings, Sink::Kept, None);
}

/// Takes the times since the last call, one per launch, in order.
pub fn take_timings() -> Timings {
    std::mem::take(&mut state().timings)
}

/// Models all launches while `run` runs, including those of other threads. Restores the previous setting afterwards.
pub fn during<R>(settings: Settings, run: impl FnOnce() -> R) -> (R, Timings) {
    let (before, sink, timings) = {
        let mut state = state();
        let before = state.settings.replace(settings);
        let sink = std::mem::replace(&mut state.sink, Sink::Kept);
        (before, sink, std::mem::take(&mut state.timings))
    };
    let result = run();
    let mut state = state();
    (state.settings, state.sink) = (before, sink);
    (result, std::mem::replace(&mut state.timings, timings))
}

impl State {
    fn from_environment() -> Self {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
        let chosen = chosen(
            variable(TIMING_VARIABLE).as_deref(),
            variable(PARAMETERS_VARIABLE).as_deref(),
            variable(ESTIMATE_VARIABLE).as_deref(),
        );
        let (settings, misnamed) = match chosen {
            Ok(settings) => (settings, None),
            Err(message) => (None, Some(message)),
        };
        State {
            settings,
            sink: Sink::Said,
            timings: Timings::default(),
            said: Vec::new(),
            misnamed,
        }
    }

    fn add(&mut self, kernel: &Kernel, timing: Timing) {
        if self.sink == Sink::Kept {
            self.timings.modelled.push(timing);
            return;
        }
        let identity = kernel.identity();
        if self.said.contains(&identity) {
            warn(format_args!(
                "{} on {}: {:.3} ms, modelled; bound by {}",
                timing.kernel,
                timing.machine,
                1e3 * timing.seconds,
                timing.bound_by.text()
            ));
        } else {
            self.said.push(identity);
            say(Format::Summary.write(&[timing]));
        }
    }
}

/// Records a launch without a time.
fn miss(state: &mut State, error: TimingError) {
    match state.sink {
        Sink::Kept => state.timings.missed.push(error),
        Sink::Said => warn(error),
    }
}

fn parse(name: &str) -> Result<Settings, String> {
    if name.trim().eq_ignore_ascii_case(AUTO) {
        return Ok(Settings::default());
    }
    match name.parse::<Product>() {
        Ok(machine) => match Parameters::try_from(machine) {
            Ok(parameters) => Ok(Settings {
                machine: Some(parameters),
                ..Settings::default()
            }),
            Err(error) => Err(format!("{TIMING_VARIABLE}: {error}")),
        },
        Err(error) => Err(format!("{TIMING_VARIABLE}: {error}, and {AUTO}")),
    }
}

/// The settings that the values of [`TIMING_VARIABLE`], [`PARAMETERS_VARIABLE`] and [`ESTIMATE_VARIABLE`] ask for. A file
/// alone selects its machine.
fn chosen(
    name: Option<&OsStr>,
    file: Option<&OsStr>,
    estimate: Option<&OsStr>,
) -> Result<Option<Settings>, String> {
    let named = name
        .map(|name| parse(&name.to_string_lossy()))
        .transpose()?;
    let read = file.map(|file| read(Path::new(file), named)).transpose()?;
    let estimate = match estimate.map(OsStr::to_string_lossy).as_deref() {
        None | Some("0") => false,
        Some("1") => true,
        Some(other) => return Err(format!("{ESTIMATE_VARIABLE}: `{other}` is neither 0 nor 1")),
    };
    let settings = read.or(named);
    if estimate && settings.is_none() {
        return Err(format!(
            "{ESTIMATE_VARIABLE}: {TIMING_VARIABLE} names no machine"
        ));
    }
    Ok(settings.map(|settings| Settings {
        estimate,
        ..settings
    }))
}

/// The parameters in a file, which must be of the named machine, if there is one.
fn read(file: &Path, named: Option<Settings>) -> Result<Settings, String> {
    let in_variable = |error: &dyn Display| format!("{PARAMETERS_VARIABLE}: {error}");
    let parameters = Parameters::read(file).map_err(|error| in_variable(&error))?;
    match named.and_then(|named| named.machine) {
        Some(other) if other.machine != parameters.machine => Err(in_variable(&format_args!(
            "`{}` has parameters of {}, but {TIMING_VARIABLE} is {}",
            file.display(),
            parameters.machine,
            other.machine
        ))),
        _ => Ok(Settings {
            machine: Some(parameters),
            ..Settings::default()
        }),
    }
}

/// The product whose properties programs see: the modelled machine if it has this GPU, else the GPU's default.
pub(super) fn device(gpu: Gpu) -> &'static Specifications {
    let modelled = state().settings.and_then(|settings| settings.machine);
    match modelled.map(|parameters| parameters.machine) {
        Some(machine) if machine.gpu() == gpu => machine.specifications(),
        _ => Product::of(gpu).specifications(),
    }
}

/// The error in the environment's machine, if any.
pub(super) fn misnamed() -> Option<Failure> {
    let state = state();
    let text = state.misnamed.as_ref()?;
    Some(Failure::new(hipError_t::hipErrorInvalidValue, text))
}

/// Runs a launch, checked, counted and modelled if enabled.
pub(super) fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<(), TimingError> {
    let Some(settings) = state().settings else {
        return Ok(profile::launch(kernel, config)?);
    };
    let machine = match settings.machine {
        Some(machine) => machine,
        None => Parameters::try_from(Product::of(kernel.gpu()))?,
    };
    let timing = if settings.estimate {
        timing::estimate(kernel, config, machine)
            .inspect(|timing| profile::add_estimate(kernel, config, timing))
    } else {
        let mut plan = Plan::new(kernel, config, machine)?;
        if settings.timeline {
            plan = plan.with_timeline();
        }
        let config = plan.config(config);
        let (outcome, tracers) = profile::launch_beside(kernel, &config, || plan.tracer())?;
        outcome?;
        plan.timing(kernel, tracers)
            .inspect(|timing| profile::add_timing(kernel, timing))
    };
    match timing {
        Ok(timing) => state().add(kernel, timing),
        // The launch itself was correct.
        Err(error @ TimingError::TooLong { .. }) => miss(&mut state(), error),
        Err(error) => return Err(error),
    }
    Ok(())
}

impl From<TimingError> for Failure {
    fn from(error: TimingError) -> Self {
        match error {
            TimingError::Launch(error) => error.into(),
            error => Failure::new(hipError_t::hipErrorInvalidValue, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_named_in_the_environment() {
        assert_eq!(parse(" Auto "), Ok(Settings::default()));
        let named = |machine| {
            Ok(Settings {
                machine: Parameters::of(machine).copied(),
                ..Settings::default()
            })
        };
        assert_eq!(parse("MI250X"), named(Product::Mi250x));
        assert_eq!(parse("mi100"), named(Product::Mi100));
        let unknown = parse("H100").expect_err("unknown");
        assert!(
            unknown.starts_with("FERROWAVE_TIMING: unknown GPU `H100`; known are gfx908 (MI100), ")
                && unknown.ends_with(", and auto"),
            "{unknown}"
        );
        let message = "FERROWAVE_TIMING: the timing model has no parameters for RX 7600, only for MI100, MI210, MI250X, MI300X, \
                       MI355X, RX 7900 XTX, Radeon 8060S, RX 9070 XT";
        assert_eq!(parse("RX 7600"), Err(message.to_owned()));
        assert_eq!(parse("RX 7900 XTX"), named(Product::Rx7900Xtx));
    }

    #[test]
    fn the_environment_asks_for_estimates() {
        let chosen = |name: Option<&str>, estimate: &str| {
            chosen(name.map(OsStr::new), None, Some(OsStr::new(estimate)))
        };
        let settings = |estimate| {
            Ok(Some(Settings {
                estimate,
                ..Settings::default()
            }))
        };
        assert_eq!(chosen(Some("auto"), "1"), settings(true));
        assert_eq!(chosen(Some("auto"), "0"), settings(false));
        assert_eq!(chosen(None, "0"), Ok(None));
        let alone = "FERROWAVE_TIMING_ESTIMATE: FERROWAVE_TIMING names no machine";
        assert_eq!(chosen(None, "1"), Err(alone.to_owned()));
        let unknown = "FERROWAVE_TIMING_ESTIMATE: `yes` is neither 0 nor 1";
        assert_eq!(chosen(Some("auto"), "yes"), Err(unknown.to_owned()));
    }
}
