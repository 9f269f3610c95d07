//! Subcommands and what they have in common.

pub(crate) mod check;
pub(crate) mod devices;
pub(crate) mod disasm;
pub(crate) mod foreign;
pub(crate) mod list;
pub(crate) mod product;
pub(crate) mod profile;
pub(crate) mod report;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod table;
pub(crate) mod target;

use std::error::Error;

use clap::{Args, Parser, Subcommand};
use ferrowave::{
    embedded,
    hip::{Device, DeviceSelector},
};
use ferrowave_code_object::Gpu;

/// Matrix multiplication for AMD GPUs in Rust, on a GPU or on the built-in emulator.
#[derive(Debug, Parser)]
#[command(name = "ferrowave", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the devices that kernels can run on.
    Devices(devices::Options),
    /// List the kernels with the registers, LDS and occupancy of their code objects.
    List(list::Options),
    /// Run a kernel on random matrices and compare the result with a reference in f64.
    Run(run::Options),
    /// Run a kernel on the emulator and look for races, bad accesses, missing waits and other bugs.
    Check(check::Options),
    /// Run a kernel on the emulator and count what it does, instruction by instruction.
    Profile(profile::Options),
    /// Print the instructions of a code object, an offload bundle or a HIP program, as `llvm-objdump -d` does.
    Disasm(disasm::Options),
    /// Run all kernels over a few sizes and print a table of errors and times.
    Report(report::Options),
}

/// Which device to run on.
#[derive(Debug, Args)]
pub(crate) struct DeviceOption {
    /// `auto`, `hip:0` or `emulator:gfx90a`.
    ///
    /// `auto` takes the first GPU that HIP counts, and the emulator as gfx942 where there is none.
    /// FERROWAVE_DEVICE does the same.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceSelector>,
}

impl DeviceOption {
    /// Opens the device and says on standard error which it is.
    pub(crate) fn open(&self) -> Result<Device, Failure> {
        let selector = match self.device {
            Some(selector) => selector,
            None => DeviceSelector::from_environment().map_err(Failure::usage)?,
        };
        let device = Device::open(&selector).map_err(Failure::failed)?;
        eprintln!("device {}", device.choice());
        Ok(device)
    }
}

impl DeviceOption {
    /// As [`Self::open`], where only the emulator can do `what`.
    pub(crate) fn open_emulator(&self, what: &str) -> Result<Device, Failure> {
        let selector = match self.device {
            Some(selector) => selector,
            None => DeviceSelector::from_environment().map_err(Failure::usage)?,
        };
        let selector = match selector {
            DeviceSelector::Auto => DeviceSelector::Emulator(Gpu::Gfx942),
            DeviceSelector::Emulator(_) => selector,
            DeviceSelector::Hip(_) => {
                return Err(Failure::usage(format!(
                    "`{selector}`: only the emulator {what}; choose it with --device emulator:gfx942"
                )));
            }
        };
        let device = Device::open(&selector).map_err(Failure::failed)?;
        eprintln!("device {}", device.choice());
        Ok(device)
    }
}

/// Why a subcommand ends without a result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line asks for what cannot be: exit code 2.
    Usage(Box<dyn Error>),
    /// It went wrong: exit code 1.
    Failed(Box<dyn Error>),
}

impl Failure {
    pub(crate) fn usage(error: impl Into<Box<dyn Error>>) -> Self {
        Failure::Usage(error.into())
    }

    pub(crate) fn failed(error: impl Into<Box<dyn Error>>) -> Self {
        Failure::Failed(error.into())
    }
}

/// The embedded kernels for a device's GPU.
pub(crate) fn code_object(device: &Device) -> Result<&'static [u8], Failure> {
    let gpu = device.properties().gpu_name();
    embedded::code_object(gpu).ok_or_else(|| {
        let built: Vec<_> = embedded::CODE_OBJECTS.iter().map(|(gpu, _)| gpu.name()).collect();
        Failure::failed(format!(
            "the kernels are not built for {gpu}, only for {}; build with FERROWAVE_GPUS={},{gpu} set",
            built.join(", "),
            built.join(",")
        ))
    })
}

/// Prints a value as JSON on standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
    println!("{text}");
    Ok(())
}
