//! `ferrowave env`

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Args;

use super::Failure;
use crate::hip_program::{LIBRARY_PATH, Library, Settings, quoted, variables};

/// Print what a shell has to export so that HIP programs run on the emulator.
///
/// eval "$(ferrowave env --gpu gfx942)" sets it in sh, bash, dash, ksh and zsh.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    settings: Settings,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let library = Library::find()?;
    let mut lines = Vec::new();
    for (variable, value) in variables(&options.settings, &library)? {
        lines.extend(format!("export {variable}=").bytes());
        lines.extend(quoted(&value));
        if variable == LIBRARY_PATH {
            lines.extend(format!("\"${{{variable}:+:${variable}}}\"").bytes());
        }
        lines.push(b'\n');
    }
    // Paths need not be UTF-8.
    let mut out = io::stdout().lock();
    match out.write_all(&lines).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(format!(
            "standard output cannot be written: {error}"
        ))),
        _ => Ok(ExitCode::SUCCESS),
    }
}
