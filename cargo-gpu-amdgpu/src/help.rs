//! Completions and the man page.

use std::{io::Write as _, process::ExitCode};

use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;
use ferrowave_launch::{Failure, print};

use crate::Arguments;

/// Print shell completions for `cargo-gpu-amdgpu`.
#[derive(Debug, Args)]
pub(crate) struct CompletionOptions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn completions(options: &CompletionOptions) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    // Shells complete the program's own name. Completing what follows `cargo` is up to cargo's completions.
    clap_complete::generate(options.shell, &mut command(), "cargo-gpu-amdgpu", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// The man page: one page, with a section for each command.
pub(crate) fn man() -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    let mut command = command();
    command.build();
    clap_mangen::Man::new(command.clone())
        .render(&mut text)
        .map_err(Failure::failed)?;
    for subcommand in command.get_subcommands() {
        if subcommand.get_name() == "help" {
            continue;
        }
        writeln!(
            text,
            ".SH CARGO GPU-AMDGPU {}",
            subcommand.get_name().to_uppercase()
        )
        .map_err(Failure::failed)?;
        let man = clap_mangen::Man::new(subcommand.clone());
        man.render_synopsis_section(&mut text)
            .and_then(|()| man.render_description_section(&mut text))
            .and_then(|()| man.render_options_section(&mut text))
            .map_err(Failure::failed)?;
    }
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

fn command() -> Command {
    Arguments::command()
}
