//! Limits of launches that come through HIP.
//!
//! A program of the same process sets them with [`set_limits`]; for any other the environment does
//! ([`Limits::from_environment`]), as it is when the first kernel is launched.

use std::sync::{LazyLock, Mutex, PoisonError};

use super::error::Failure;
use ferrowave_emulator::dispatch::Limits;

/// The limits, or what is wrong with the environment's.
static LIMITS: LazyLock<Mutex<Result<Limits, String>>> =
    LazyLock::new(|| Mutex::new(Limits::from_environment().map_err(|error| error.to_string())));

/// Limits all launches from now on, whatever the environment says.
pub fn set_limits(limits: Limits) {
    *LIMITS.lock().unwrap_or_else(PoisonError::into_inner) = Ok(limits);
}

/// The limits of a launch that begins.
pub(super) fn limits() -> Result<Limits, Failure> {
    let limits = LIMITS.lock().unwrap_or_else(PoisonError::into_inner);
    limits.as_ref().copied().map_err(Failure::value)
}
