//! The subcommands, and what they share.

pub(crate) mod apart;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod devices;
pub(crate) mod disasm;
pub(crate) mod doctor;
#[cfg(target_os = "linux")]
mod emulated_library;
#[cfg(not(target_os = "linux"))]
#[path = "no_emulated_library.rs"]
mod emulated_library;
#[cfg(target_os = "linux")]
pub(crate) mod env;
#[cfg(target_os = "linux")]
pub(crate) mod exec;
pub(crate) mod list;
pub(crate) mod memory;
pub(crate) mod parameters;
pub(crate) mod product;
pub(crate) mod profile;
pub(crate) mod report;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod target;
pub(crate) mod tune;

use clap::{Parser, Subcommand};
use ferrowave::{embedded, hip::Device};
pub(crate) use ferrowave_launch::{
    Columns, DeviceOption, Failure, ParametersOption, print, print_json, say,
};

/// Matrix multiplication for AMD GPUs in Rust, on a GPU or on the built-in emulator.
#[derive(Debug, Parser)]
#[command(
    name = "ferrowave",
    version,
    arg_required_else_help = true,
    after_long_help = ferrowave_launch::ENVIRONMENT
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

// The lines of the list. As doc comments, they would replace the docs of the options in `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(about = "List the devices that kernels can run on")]
    Devices(devices::Options),
    #[command(
        about = "Check that kernels can run on this computer's GPUs, and say how to repair what fails"
    )]
    Doctor(doctor::Options),
    #[command(
        about = "List the kernels with the registers, LDS and occupancy of their code objects"
    )]
    List(list::Options),
    #[command(
        about = "Run a kernel on random matrices and compare the result with a reference in f64"
    )]
    Run(run::Options),
    #[command(
        about = "Run a kernel on the emulator and look for races, bad accesses, missing waits and other bugs"
    )]
    Check(check::Options),
    #[command(
        about = "Run a kernel on the emulator and count what it does, instruction by instruction"
    )]
    Profile(profile::Options),
    #[command(
        about = "Print the instructions of a code object, an offload bundle or a HIP program, as `llvm-objdump -d` does"
    )]
    Disasm(disasm::Options),
    // Only Linux has programs that load libamdhip64.so.
    #[cfg(target_os = "linux")]
    #[command(about = "Run any HIP program on the emulator")]
    Exec(exec::Options),
    #[cfg(target_os = "linux")]
    #[command(about = "Print what a shell exports so that HIP programs run on the emulator")]
    Env(env::Options),
    #[command(about = "Test every kernel on a device, each in a process of its own")]
    Selftest(selftest::Options),
    #[command(about = "Run kernels over sizes and write a report that compares them")]
    Report(report::Options),
    #[command(about = "Compare two reports")]
    Compare(compare::Options),
    #[command(
        about = "Model the kernels' costs on a machine, or measure the best kernels on a device, so that the fastest is chosen"
    )]
    Tune(tune::Options),
    #[command(about = "Measure the timing model's parameters on a device with microbenchmarks")]
    Calibrate(calibrate::Options),
    #[command(
        about = "Print the timing model's parameters with their sources, as --parameters takes them"
    )]
    Parameters(parameters::Options),
}

/// The embedded kernels for a device's GPU.
pub(crate) fn code_object(device: &Device) -> Result<&'static [u8], Failure> {
    let gpu = device.properties().gpu_name();
    embedded::code_object(gpu).ok_or_else(|| {
        let built: Vec<_> = embedded::gpus().iter().map(|gpu| gpu.name()).collect();
        Failure::failed(format!(
            "the kernels are not built for {gpu}, only for {}; build with FERROWAVE_GPUS={},{gpu} set",
            built.join(", "),
            built.join(",")
        ))
    })
}
