//! `cargo gpu-amdgpu test`

use std::{
    env,
    path::PathBuf,
    process::{Command, ExitCode},
};

use clap::Args;
use ferrowave_emulator::dispatch::{INSTRUCTION_LIMIT_VARIABLE, TIMEOUT_VARIABLE};
use ferrowave_gpu::Gpu;
use ferrowave_host::hip::EMULATOR_VARIABLE;
use ferrowave_launch::{DeviceOption, Failure};

use crate::{
    emulator,
    project::{Project, ProjectOptions},
    target::gpu,
};

/// Build the kernels, then run `cargo test` with FERROWAVE_DEVICE set to the device and FERROWAVE_KERNELS set to the
/// directory of the code objects, `<gpu>/<crate>.elf`.
///
/// For a crate whose `ferrowave-host` has no feature `emulator`, FERROWAVE_EMULATOR_LIBRARY is the emulator's library. If it is
/// not set, the library is compiled, once for all crates.
///
/// Exit code 1 means that a test failed.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    device: DeviceOption,
    #[command(flatten)]
    project: ProjectOptions,
    /// Arguments for `cargo test`, after `--`.
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let device = options.device.open(&Gpu::ALL)?;
    let project = Project::find(&options.project)?;
    let gpu = gpu(&device)?;
    project.build(&[gpu])?;
    let chosen = match device.is_emulated() {
        true => format!("emulator:{gpu}"),
        false => format!("hip:{}", device.ordinal()),
    };
    let cargo = project.toolchain.cargo();
    let mut command = Command::new(&cargo);
    if device.is_emulated() && project.krate.loads_emulator {
        let given = env::var_os(EMULATOR_VARIABLE).filter(|path| !path.is_empty());
        let library = emulator::library(given.map(PathBuf::from), &project.products)?;
        command.env(EMULATOR_VARIABLE, library);
    }
    if let Some(timeout) = options.device.timeout {
        command.env(TIMEOUT_VARIABLE, format!("{}s", timeout.as_secs_f64()));
    }
    if let Some(limit) = options.device.limit {
        command.env(INSTRUCTION_LIMIT_VARIABLE, limit.to_string());
    }
    let status = command
        .arg("test")
        .args(&options.arguments)
        .current_dir(&project.krate.dir)
        .env("FERROWAVE_DEVICE", chosen)
        .env("FERROWAVE_KERNELS", &project.products)
        .env("RUSTUP_TOOLCHAIN", project.toolchain.name())
        .env("RUSTC", project.toolchain.rustc())
        .env_remove("CARGO")
        .status()
        .map_err(|error| {
            Failure::failed(format!("{} can't be started: {error}", cargo.display()))
        })?;
    Ok(match status.code() {
        Some(0) => ExitCode::SUCCESS,
        // Cargo's own code is 101.
        _ => ExitCode::FAILURE,
    })
}
