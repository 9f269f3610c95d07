//! Writes to standard output, which may be closed or full.

use std::{
    ffi::OsString,
    fmt::Display,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser;

use crate::Failure;

/// Writes to standard output. A reader that closes it early is not an error.
///
/// # Errors
/// If standard output cannot be written for another reason, for example a full disk.
pub fn print(text: &impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(format!(
            "standard output cannot be written: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Parses the command line, and prints clap's help or error.
///
/// # Errors
/// The exit code if there is no command to run: 2 if clap refuses the command line, 1 if its text cannot be written,
/// else 0.
pub fn parse<A: Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<A, ExitCode> {
    A::try_parse_from(arguments).map_err(|error| match error.print() {
        Err(failure) if failure.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("error: standard output cannot be written: {failure}");
            ExitCode::FAILURE
        }
        _ => ExitCode::from(error.exit_code() as u8),
    })
}

/// Prints a value as JSON on standard output.
///
/// # Errors
/// If the value cannot be serialized, or as [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
    print(&format_args!("{text}\n"))
}
