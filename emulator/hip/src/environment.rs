//! Whether the environment's settings of launches are valid.

use super::{check, error::Failure, limits::limits, timing, trace};
use ferrowave_emulator::exec::MatrixSums;

/// Checks the variables that launches in this process read: those of limits, checks, the timing model, traces and
/// matrix sums. A setting that a call has overridden is not looked at.
///
/// Without it, a launch, or what comes before one, fails with the same message.
///
/// # Errors
/// The first invalid variable, with its value and what is allowed.
pub fn check_environment() -> Result<(), String> {
    MatrixSums::from_environment().map_err(|error| error.to_string())?;
    limits().map_err(|failure| failure.detail)?;
    let misnamed = check::misnamed()
        .or_else(timing::misnamed)
        .or_else(trace::misnamed);
    misnamed.map_or(Ok(()), |Failure { detail, .. }| Err(detail))
}
