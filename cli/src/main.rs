//! The command line `ferrowave`.

mod calibrate;
mod child;
mod cli;
#[cfg(target_os = "linux")]
mod hip_program;
mod report;
mod selftest;
mod tune;

use std::{env, process::ExitCode};

use cli::Command;

fn main() -> ExitCode {
    let arguments: cli::Arguments = match ferrowave_launch::parse(env::args_os()) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let result = match &arguments.command {
        Command::Devices(options) => cli::devices::run(options),
        Command::Doctor(options) => cli::doctor::run(options),
        Command::List(options) => cli::list::run(options),
        Command::Run(options) => cli::run::run(options),
        Command::Check(options) => cli::check::run(options),
        Command::Profile(options) => cli::profile::run(options),
        Command::Disasm(options) => cli::disasm::run(options),
        #[cfg(target_os = "linux")]
        Command::Exec(options) => cli::exec::run(options),
        #[cfg(target_os = "linux")]
        Command::Env(options) => cli::env::run(options),
        Command::Selftest(options) => cli::selftest::run(options),
        Command::Report(options) => cli::report::run(options),
        Command::Compare(options) => cli::compare::run(options),
        Command::Tune(options) => cli::tune::run(options),
        Command::Calibrate(options) => cli::calibrate::run(options),
        Command::Parameters(options) => cli::parameters::run(options),
    };
    ferrowave_launch::exit_code(result)
}
