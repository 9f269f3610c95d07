//! `ferrowave exec`

use std::{
    ffi::OsString,
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};

use clap::Args;

use super::{Failure, say};
use crate::hip_program::{Library, Program, Refused, Settings, set, variables};

/// Run a HIP program on the emulator, which takes the place of libamdhip64.so.
///
/// The program keeps its input, output, exit code and signals. Exit code 127 means that there is no such program, 126 that it
/// cannot run on the emulator, and 3 that --check has findings.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    settings: Settings,
    /// Do not print the line about the program.
    #[arg(long)]
    quiet: bool,
    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let Some((name, arguments)) = options.program.split_first() else {
        return Err(Failure::usage("no program is named"));
    };
    let gpus = options.settings.gpus()?;
    let library = Library::find()?;
    let variables = variables(&options.settings, &library)?;
    let program = match Program::find(name) {
        Ok(program) => program,
        Err(refused) => {
            let (text, code) = match refused {
                Refused::Missing(text) => (text, 127),
                Refused::Unfit(text) => (text, 126),
            };
            say(format_args!("error: {text}\n"));
            return Ok(ExitCode::from(code));
        }
    };
    if !options.quiet {
        let names: Vec<_> = gpus.iter().map(|row| row.gpu.name()).collect();
        let devices: Vec<_> = gpus
            .iter()
            .map(|row| format!("{} ({})", row.full_name, row.gpu))
            .collect();
        say(format_args!(
            "ferrowave: {}; {}, emulated by {}\n",
            program.description(&names),
            devices.join(", "),
            library.file.display()
        ));
    }
    let mut command = Command::new(&program.path);
    command.arg0(name).args(arguments);
    set(&mut command, variables);
    // Only returns if the program does not start. Signals and the exit code are the program's, because it is this process.
    let error = command.exec();
    say(format_args!("error: {}: {error}\n", program.path.display()));
    Ok(ExitCode::from(126))
}
