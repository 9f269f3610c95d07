//! Writes to standard output and standard error, which may be closed or full.

use std::{
    ffi::OsString,
    fmt::Display,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Parser, error::ErrorKind};

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

/// Writes to standard error. If it cannot be written, as when its reader has ended, the command goes on: its exit code tells
/// the rest. (`eprint!` would panic.)
pub fn say(text: impl Display) {
    let _ = write!(io::stderr().lock(), "{text}");
}

/// Parses the command line, and prints clap's help or error.
///
/// # Errors
/// The exit code if there is no command to run: 2 if clap refuses the command line, 1 if its text cannot be written,
/// else 0.
pub fn parse<A: Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<A, ExitCode> {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let error = match A::try_parse_from(&arguments) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => named(error, A::command(), &arguments),
    };
    Err(match error.print() {
        // An error that cannot be written to standard error is still that error.
        Err(failure) if !error.use_stderr() && failure.kind() != io::ErrorKind::BrokenPipe => {
            say(format_args!(
                "error: standard output cannot be written: {failure}\n"
            ));
            ExitCode::FAILURE
        }
        _ => ExitCode::from(error.exit_code() as u8),
    })
}

/// Clap does not say which argument is not UTF-8. Names of files need not be, and which arguments these are it does not say either.
fn named(error: clap::Error, mut command: clap::Command, arguments: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return error;
    }
    let others = arguments
        .iter()
        .filter(|argument| argument.to_str().is_none());
    let others: Vec<_> = others
        .map(|other| format!("`{}`", other.display()))
        .collect();
    command.error(
        ErrorKind::InvalidUtf8,
        format!(
            "{} is not UTF-8; only names of files need not be",
            others.join(" or ")
        ),
    )
}

/// Prints a value as JSON on standard output.
///
/// # Errors
/// If the value cannot be serialized, or as [`print()`].
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
    print(&format_args!("{text}\n"))
}
