//! The command `cargo gpu-amdgpu`: builds, shows, runs and checks any Rust crate of AMD GPU kernels.

mod asm;
mod bounds;
mod build;
mod check;
mod emulator;
mod help;
mod inspect;
mod install;
mod new;
mod object;
mod profile;
mod project;
mod run;
mod source;
mod target;
mod test;

use std::{env, ffi::OsString, process::ExitCode};

use clap::{Parser, Subcommand};

/// Build, inspect, run, check and profile Rust crates of AMD GPU kernels.
///
/// Works with any `#![no_std]` crate with `extern "gpu-kernel"` functions. Kernels run on a GPU through HIP, or on the
/// built-in emulator. Neither ROCm nor a GPU is needed.
///
/// Exit codes: 0 success, 1 failure, 2 invalid request, 3 `check` has findings.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-gpu-amdgpu",
    bin_name = "cargo gpu-amdgpu",
    version,
    arg_required_else_help = true,
    after_long_help = ferrowave_launch::ENVIRONMENT
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

// The lines of the list. As doc comments, they would replace the docs of the options in `--help`.
#[derive(Debug, Subcommand)]
enum Command {
    #[command(about = "Create a crate with a kernel, a program that launches it, and a test")]
    New(new::Options),
    #[command(about = "Compile a crate's kernels to code objects")]
    Build(build::Options),
    #[command(
        about = "Show what the compiler made of kernels: arguments, registers, LDS, scratch, spills, occupancy"
    )]
    Inspect(inspect::Options),
    #[command(
        about = "Print the instructions of kernels under their source lines, with their loops"
    )]
    Asm(asm::Options),
    #[command(about = "Launch a kernel and print its buffers or write them to files")]
    Run(run::Options),
    #[command(
        about = "Launch a kernel on the emulator and look for races, bad accesses, missing waits and other bugs"
    )]
    Check(check::Options),
    #[command(
        about = "Launch a kernel on the emulator and count what it does, instruction by instruction"
    )]
    Profile(profile::Options),
    #[command(
        about = "Build the kernels, then run `cargo test` with FERROWAVE_DEVICE and FERROWAVE_KERNELS set"
    )]
    Test(test::Options),
    #[command(about = "Print completions for a shell")]
    Completions(help::CompletionOptions),
    /// Print the man page.
    Man,
}

fn main() -> ExitCode {
    let arguments: Arguments = match ferrowave_launch::parse(without_subcommand(env::args_os())) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    ferrowave_launch::exit_code(match &arguments.command {
        Command::New(options) => new::run(options),
        Command::Build(options) => build::run(options),
        Command::Inspect(options) => inspect::run(options),
        Command::Asm(options) => asm::run(options),
        Command::Run(options) => run::run(options),
        Command::Check(options) => check::run(options),
        Command::Profile(options) => profile::run(options),
        Command::Test(options) => test::run(options),
        Command::Completions(options) => help::completions(options),
        Command::Man => help::man(),
    })
}

/// Cargo passes the name of the subcommand as the first argument.
fn without_subcommand(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.collect();
    if arguments.get(1).is_some_and(|name| name == "gpu-amdgpu") {
        arguments.remove(1);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn options_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn cargo_and_people_call_it_alike() {
        let check = |given: &[&str], expected: &[&str]| {
            assert_eq!(
                without_subcommand(given.iter().map(OsString::from)),
                expected
            );
        };
        check(&["p", "gpu-amdgpu", "build"], &["p", "build"]);
        check(&["p", "build"], &["p", "build"]);
        check(&["p"], &["p"]);
    }
}
