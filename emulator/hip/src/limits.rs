//! Limits of launches through HIP.
//!
//! A program in the same process sets them with [`set_limits`]. For other programs they come from the environment
//! ([`Limits::from_environment`]), read at the first launch.

use std::sync::{LazyLock, Mutex, PoisonError};

use super::error::Failure;
use ferrowave_emulator::dispatch::Limits;

/// The limits, or the error in the environment.
static LIMITS: LazyLock<Mutex<Result<Limits, String>>> =
    LazyLock::new(|| Mutex::new(Limits::from_environment().map_err(|error| error.to_string())));

/// Sets the limits of all launches from now on, overriding the environment.
pub fn set_limits(limits: Limits) {
    *LIMITS.lock().unwrap_or_else(PoisonError::into_inner) = Ok(limits);
}

/// The current limits.
pub(super) fn limits() -> Result<Limits, Failure> {
    let limits = LIMITS.lock().unwrap_or_else(PoisonError::into_inner);
    limits.as_ref().copied().map_err(Failure::value)
}
