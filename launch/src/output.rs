//! Standard output that may be closed or full.

use std::{
    fmt::Display,
    io::{self, Write as _},
};

use crate::Failure;

/// Writes a text to standard output. That whoever reads it has seen enough and closed it, is no error.
///
/// # Errors
/// If it cannot be written for another reason, such as a full disk.
pub fn print(text: &impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(format!(
            "standard output cannot be written: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Prints a value as JSON on standard output.
///
/// # Errors
/// If it has no form in JSON, or as [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
    print(&format_args!("{text}\n"))
}
