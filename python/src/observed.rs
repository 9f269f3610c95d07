//! Launches under checks, counters and the timing model. What the emulator observes is set for the whole process, so that one
//! observed launch runs alone.

use std::{
    mem,
    sync::{Mutex, MutexGuard, PoisonError, RwLock},
};

use ferrowave_check::{Check, Finding, Options};
use ferrowave_hip::{
    check::{set_checks as set, take_findings as take},
    profile,
    timing::{self, Settings, Timings},
};
use ferrowave_launch::check::CheckList;
use ferrowave_profile::Profile;
use pyo3::prelude::*;

use crate::{error::ArgumentError, results::Findings};

/// Plain launches share it; an observed one has it alone.
static LAUNCHES: RwLock<()> = RwLock::new(());

/// The checks of plain launches, and their findings, which an observed launch sets aside.
#[derive(Default)]
struct Standing {
    checks: Vec<Check>,
    findings: Vec<Finding>,
}

static STANDING: Mutex<Standing> = Mutex::new(Standing {
    checks: Vec::new(),
    findings: Vec::new(),
});

fn standing() -> MutexGuard<'static, Standing> {
    // A poisoned lock is ignored: the state is valid between statements.
    STANDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a launch as any other.
pub(crate) fn plain<R>(run: impl FnOnce() -> R) -> R {
    let _shared = LAUNCHES.read().unwrap_or_else(PoisonError::into_inner);
    run()
}

/// Runs a launch under these checks only.
pub(crate) fn checked<R>(
    checks: &[Check],
    seeds: u32,
    run: impl FnOnce() -> R,
) -> (R, Vec<Finding>) {
    let _alone = LAUNCHES.write().unwrap_or_else(PoisonError::into_inner);
    let mut standing = standing();
    standing.findings.extend(take());
    set(Options {
        checks: checks.to_vec(),
        seeds,
        schedule: None,
    });
    let result = run();
    let findings = take();
    set(Options {
        checks: standing.checks.clone(),
        ..Options::default()
    });
    (result, findings)
}

/// Runs a launch with counters, and without checks.
pub(crate) fn counted<R>(run: impl FnOnce() -> R) -> (R, Vec<Profile>) {
    let ((result, profiles), _) = checked(&[], 0, || profile::during(run));
    (result, profiles)
}

/// Runs a launch with counters and the timing model, and without checks.
pub(crate) fn timed<R>(settings: Settings, run: impl FnOnce() -> R) -> (R, Vec<Profile>, Timings) {
    let ((result, timings), profiles) = counted(|| timing::during(settings, run));
    (result, profiles, timings)
}

/// Sets the checks of all launches of devices that are opened from now on; an empty text ends them.
#[pyfunction]
#[pyo3(name = "_set_checks")]
pub(crate) fn set_checks(py: Python<'_>, checks: &str) -> PyResult<()> {
    let checks = match checks.is_empty() {
        true => Vec::new(),
        false => {
            checks
                .parse::<CheckList>()
                .map_err(ArgumentError::new_err)?
                .0
        }
    };
    py.detach(|| {
        let _alone = LAUNCHES.write().unwrap_or_else(PoisonError::into_inner);
        set(Options {
            checks: checks.clone(),
            ..Options::default()
        });
        standing().checks = checks;
    });
    Ok(())
}

/// Takes the findings of plain launches since the last call.
#[pyfunction]
#[pyo3(name = "_take_findings")]
pub(crate) fn take_findings(py: Python<'_>) -> Findings {
    py.detach(|| {
        let _alone = LAUNCHES.write().unwrap_or_else(PoisonError::into_inner);
        let mut standing = standing();
        let mut findings = mem::take(&mut standing.findings);
        findings.extend(take());
        Findings::new(standing.checks.clone(), findings)
    })
}
