//! Modelled times of launches that come through HIP: whether, and where they go.
//!
//! A program of the same process asks with [`set_timing`] and gets them from [`take_timings`]. Any other has its launches
//! modelled if the environment names a machine, and finds what came of them on standard error: all of it the first time
//! that a kernel runs, then a line for each launch.

use std::{
    env,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use ferrowave_gpu::{Gpu, Product, Specifications};
use ferrowave_hip_abi::hipError_t;

use super::{error::Failure, profile};
use ferrowave_emulator::dispatch::LaunchConfig;
use ferrowave_emulator::program::Kernel;
use ferrowave_timing::{self as timing, Format, Plan, Timing, TimingError};

/// The environment variable that names the machine whose time is modelled, or `auto` for the one that each device is.
pub const TIMING_VARIABLE: &str = "FERROWAVE_TIMING";

/// What `auto` is called.
const AUTO: &str = "auto";

/// How launches are modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The machine; without one, that which a device's instruction set is known for ([`Product::of`]).
    pub machine: Option<Product>,
    /// Launches run only as far as the model needs them: **what they leave in memory is no result.**
    pub estimate: bool,
}

/// What was modelled.
#[derive(Debug, Default)]
pub struct Timings {
    /// The times, in the order of their launches.
    pub modelled: Vec<Timing>,
    /// Why launches that went well have no time.
    pub missed: Vec<TimingError>,
}

/// Where timings go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    /// They are kept until a call takes them.
    Kept,
    /// To standard error.
    Said,
}

struct State {
    settings: Option<Settings>,
    sink: Sink,
    timings: Timings,
    /// Kernels of which everything has been said.
    said: Vec<u64>,
    /// What is wrong with the environment.
    misnamed: Option<String>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::from_environment()));

fn state() -> MutexGuard<'static, State> {
    // Valid between statements, even after a panic.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says whether launches are modelled from now on and how, whatever the environment says.
pub fn set_timing(settings: Option<Settings>) {
    let mut state = state();
    (state.settings, state.sink, state.misnamed) = (settings, Sink::Kept, None);
}

/// Takes the times that were modelled since the last time, one for each launch, in their order.
pub fn take_timings() -> Timings {
    std::mem::take(&mut state().timings)
}

/// Models what is launched while `run` runs, whatever was asked for before, which stands again afterwards. Launches of
/// other threads are modelled, too.
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
        let name = env::var_os(TIMING_VARIABLE).filter(|name| !name.is_empty());
        let chosen = name.map(|name| parse(&name.to_string_lossy()));
        let (settings, misnamed) = match chosen {
            None => (None, None),
            Some(Ok(settings)) => (Some(settings), None),
            Some(Err(message)) => (None, Some(message)),
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
            eprintln!(
                "ferrowave: {} on {}: {:.3} ms, modelled; bound by {}",
                timing.kernel,
                timing.machine,
                1e3 * timing.seconds,
                timing.bound_by.text()
            );
        } else {
            self.said.push(identity);
            eprint!("{}", Format::Summary.write(&[timing]));
        }
    }
}

/// A launch without a time.
fn miss(state: &mut State, error: TimingError) {
    match state.sink {
        Sink::Kept => state.timings.missed.push(error),
        Sink::Said => eprintln!("ferrowave: {error}"),
    }
}

fn parse(name: &str) -> Result<Settings, String> {
    if name.trim().eq_ignore_ascii_case(AUTO) {
        return Ok(Settings::default());
    }
    match name.parse() {
        Ok(machine) => Ok(Settings {
            machine: Some(machine),
            estimate: false,
        }),
        Err(error) => Err(format!("{TIMING_VARIABLE}: {error}, and {AUTO}")),
    }
}

/// What programs see of a GPU: that of the machine that is modelled, where it has the GPU's instruction set.
pub(super) fn device(gpu: Gpu) -> &'static Specifications {
    let modelled = state().settings.and_then(|settings| settings.machine);
    match modelled {
        Some(machine) if machine.gpu() == gpu => machine.specifications(),
        _ => Product::of(gpu).specifications(),
    }
}

/// What is wrong with the environment's choice of a machine, if something is.
pub(super) fn misnamed() -> Option<Failure> {
    let state = state();
    let text = state.misnamed.as_ref()?;
    Some(Failure::new(hipError_t::hipErrorInvalidValue, text))
}

/// Runs a launch, checked, counted and modelled if that was chosen.
pub(super) fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<(), TimingError> {
    let Some(settings) = state().settings else {
        return Ok(profile::launch(kernel, config)?);
    };
    let machine = settings.machine.unwrap_or(Product::of(kernel.gpu()));
    let timing = if settings.estimate {
        timing::estimate(kernel, config, machine)
    } else {
        let plan = Plan::new(kernel, config, machine)?;
        let config = plan.config(config);
        let (outcome, tracers) = profile::launch_beside(kernel, &config, || plan.tracer())?;
        outcome?;
        // Of what was counted: an estimate is not.
        plan.timing(kernel, tracers)
            .inspect(|timing| profile::add_timing(kernel, timing))
    };
    match timing {
        Ok(timing) => state().add(kernel, timing),
        // What it computed is right all the same.
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
                machine: Some(machine),
                estimate: false,
            })
        };
        assert_eq!(parse("MI250X"), named(Product::Mi250x));
        assert_eq!(parse("mi100"), named(Product::Mi100));
        let message = "FERROWAVE_TIMING: unknown GPU `H100`; known are gfx908 (MI100), gfx90a (MI210, MI250X), gfx942 \
                       (MI300X), gfx950 (MI355X), and auto";
        assert_eq!(parse("H100"), Err(message.to_owned()));
    }
}
