//! Errors of a command and their exit codes.

use std::{error::Error, fmt, process::ExitCode};

use ferrowave_inspect::ArgumentError;

use crate::say;

/// Why a subcommand failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line is invalid: exit code 2.
    Usage(Box<dyn Error + Send + Sync>),
    /// The command failed: exit code 1.
    Failed(Box<dyn Error + Send + Sync>),
}

impl Failure {
    /// An error in the command line.
    pub fn usage(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Failure::Usage(error.into())
    }

    /// A failure of the command.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Failure::Failed(error.into())
    }
}

/// Arguments are given on the command line.
impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        Failure::usage(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Usage(error) | Failure::Failed(error)) = self;
        f.write_str(&chain(&**error))
    }
}

/// The exit code of a command. Prints a failure and its causes to standard error.
pub fn exit_code(result: Result<ExitCode, Failure>) -> ExitCode {
    let failure = match result {
        Ok(code) => return code,
        Err(failure) => failure,
    };
    let (error, code): (&dyn Error, u8) = match &failure {
        Failure::Usage(error) => (&**error, 2),
        Failure::Failed(error) => (&**error, 1),
    };
    say(format_args!("error: {}\n", chain(error)));
    ExitCode::from(code)
}

/// An error and its causes; a cause that the text already contains is left out.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str("\n  because ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}
