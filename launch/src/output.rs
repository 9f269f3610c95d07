//! Standard output that may be closed or full.

use std::{
    ffi::OsString,
    fmt::Display,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser;

use crate::Failure;

/// Writes a text to standard output. A reader that closes it early is no error.
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

/// The command line's arguments; what clap prints instead, such as the help, is printed here.
///
/// # Errors
/// The exit code of a command line without a command: 2 if clap refuses it, else 0, or 1 if the text cannot be written.
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
/// If it has no form in JSON, or as [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
    print(&format_args!("{text}\n"))
}
