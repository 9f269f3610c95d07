//! Installs missing parts of the toolchain.

use std::process::Command;

use ferrowave_kernel_build::ToolchainError;
use ferrowave_launch::{Failure, say};

/// Runs the command that installs what is missing. The user sees its output.
pub(crate) fn install(error: &ToolchainError) -> Result<(), Failure> {
    let Some(command) = error.command() else {
        return Ok(());
    };
    say(format_args!("{error}\n"));
    let mut words = command.split(' ');
    let program = words.next().unwrap_or_default();
    let status = Command::new(program)
        .args(words)
        .env_remove("RUSTUP_TOOLCHAIN")
        .status()
        .map_err(|error| Failure::failed(format!("`{command}` can't be started: {error}")))?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure::failed(format!("`{command}` ended with {status}"))),
    }
}
