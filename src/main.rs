//! The command line `ferrowave`.

mod cli;

use std::{error::Error, process::ExitCode};

use clap::Parser as _;

use cli::{Command, Failure};

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    let result = match &arguments.command {
        Command::Devices(options) => cli::devices::run(options),
        Command::List(options) => cli::list::run(options),
        Command::Run(options) => cli::run::run(options),
        Command::Check(options) => cli::check::run(options),
        Command::Profile(options) => cli::profile::run(options),
        Command::Disasm(options) => cli::disasm::run(options),
        Command::Report(options) => cli::report::run(options),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            let (error, code): (&dyn Error, u8) = match &failure {
                Failure::Usage(error) => (&**error, 2),
                Failure::Failed(error) => (&**error, 1),
            };
            eprintln!("error: {}", chain(error));
            ExitCode::from(code)
        }
    }
}

/// An error and its causes, as far as they say something new.
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
