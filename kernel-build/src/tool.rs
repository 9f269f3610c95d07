//! Runs programs of the toolchain and keeps their output.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::Toolchain;

/// A program of the toolchain failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// It can't be started.
    #[error("{} can't be started", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It ended with an error.
    #[error("{} ended with {status}:\n{messages}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// What it wrote to standard error, unchanged.
        messages: String,
    },
    /// One of its files can't be written or read.
    #[error("{}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It printed a line that can't be parsed.
    #[error("{} printed an unexpected line: {line:?}", program.display())]
    Output {
        /// The program.
        program: PathBuf,
        /// The line.
        line: String,
    },
}

/// Runs a program and returns its standard output.
pub(crate) fn run(command: &mut Command) -> Result<String, ToolError> {
    let program = PathBuf::from(command.get_program());
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| ToolError::Start {
            program: program.clone(),
            source,
        })?;
    if !output.status.success() {
        return Err(ToolError::Failed {
            program,
            status: output.status,
            messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Links object files to a code object.
pub(crate) fn link(
    toolchain: &Toolchain,
    objects: impl IntoIterator<Item: AsRef<OsStr>>,
    path: &Path,
) -> Result<(), ToolError> {
    let mut linker = Command::new(toolchain.rust_lld());
    linker.args(["-flavor", "gnu", "-shared"]).args(objects);
    run(linker.arg("-o").arg(path))?;
    Ok(())
}

/// Adds the path to an error about a file.
pub(crate) fn file_error(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ToolError {
    let path = path.into();
    move |source| ToolError::File { path, source }
}
