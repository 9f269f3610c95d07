//! Every command of the tutorial runs, in the order of the page, and so do the commands for a crate that `new` creates.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    built::library,
    support::{command, empty, lock, page_commands, run_command, tmp, toolchain},
};

/// The variable of the emulator's library.
const EMULATOR: &str = "FERROWAVE_EMULATOR_LIBRARY";

const TUTORIAL: &str = include_str!("../../../examples/softmax/README.md");

fn run_in(dir: &Path, words: &[&str]) -> String {
    run_command(&mut command_in(dir, words)).ok()
}

/// A cargo command. Both crates share one build directory, so that dependencies are compiled once.
fn command_in(dir: &Path, words: &[&str]) -> Command {
    // Crates have separate target directories, as for a user.
    let cargo = |arguments: &[&str]| {
        let toolchain = toolchain();
        let mut command = Command::new(toolchain.cargo());
        command
            .args(arguments)
            .current_dir(dir)
            .env("RUSTC", toolchain.rustc())
            .env("FERROWAVE_HIP_LIBRARY", "/nonexistent/libamdhip64.so")
            .env_remove("FERROWAVE_DEVICE");
        command
    };
    let mut command = match words {
        ["gpu-amdgpu", arguments @ ..] => command(dir, arguments),
        words => cargo(words),
    };
    // Variables of the cargo that runs the tests, which a user would not have set.
    for name in [
        "CARGO_TARGET_DIR",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTFLAGS",
        "CARGO",
    ] {
        command.env_remove(name);
    }
    // A user's configuration could set these two.
    command
        .env("CARGO_BUILD_BUILD_DIR", tmp("host build"))
        .env("FERROWAVE_CACHE", tmp("cache"))
        .env(EMULATOR, library("libamdhip64.so"));
    command
}

#[test]
fn every_command_runs_and_says_what_the_page_shows() {
    let mut dir = empty("tutorial");
    let mut ran = 0;
    for (command, shown) in page_commands(TUTORIAL) {
        let words: Vec<_> = command.split(' ').collect();
        match words.as_slice() {
            // Already installed: it is the program under test.
            ["cargo", "install", "--locked", "--path", "cargo-gpu-amdgpu"] => {
                let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
                assert!(manifest.is_file());
            }
            ["cd", to] => {
                dir.push(to);
                lock(&dir);
            }
            ["cargo", arguments @ ..] => {
                let said = run_in(&dir, arguments);
                for line in shown {
                    assert!(
                        said.contains(line.trim_end()),
                        "{command}: {line:?} not in:\n{said}"
                    );
                }
                ran += 1;
            }
            _ => panic!("nothing runs `{command}`"),
        }
    }
    assert!(ran > 10, "{ran}");

    // The crate with one kernel, with the dependencies that the other crate compiled.
    let small = new_crate("small");
    runs(&small, &mut command_in(&small, &["gpu-amdgpu", "test"]));
    let mut test = command_in(&small, &["gpu-amdgpu", "test"]);
    test.env(EMULATOR, "/nonexistent/libamdhip64.so");
    run_command(&mut test).fails(
        2,
        &[EMULATOR, "/nonexistent/libamdhip64.so", "No such file"],
    );
    for (library, reason) in [
        ("/nonexistent/libamdhip64.so", "cannot be loaded"),
        ("libc.so.6", "lacks the function"),
        ("", "was built without the emulator"),
    ] {
        let mut program = command_in(&small, &["run"]);
        program.env(EMULATOR, library);
        run_command(&mut program).fails(1, &[reason, "`cargo gpu-amdgpu test` builds"]);
    }
}

/// The crate with one kernel.
fn new_crate(name: &str) -> PathBuf {
    let dir = empty(name);
    run_in(&dir, &["gpu-amdgpu", "new", "my-kernels"]);
    let dir = dir.join("my-kernels");
    lock(&dir);
    dir
}

/// Tests the crate with one kernel, then runs its program with the library that the test left.
fn runs(dir: &Path, test: &mut Command) {
    run_command(test).ok();
    let mut program = command_in(dir, &["run"]);
    let said = run_command(program.env_remove(EMULATOR)).ok();
    assert!(
        said.contains("= [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0]"),
        "{said}"
    );
}

#[test]
#[ignore = "takes minutes; `make test-all` runs it"]
fn the_emulators_library_is_compiled_when_none_is_given() {
    let dir = new_crate("compiled");
    runs(
        &dir,
        command_in(&dir, &["gpu-amdgpu", "test"]).env_remove(EMULATOR),
    );
}

#[test]
fn the_commands_of_the_page_are_all_there_are() {
    for verb in [
        "new", "build", "inspect", "asm", "run", "check", "profile", "test",
    ] {
        let command = format!("cargo gpu-amdgpu {verb}");
        assert!(
            page_commands(TUTORIAL)
                .iter()
                .any(|(given, _)| given.starts_with(&command)),
            "{verb}"
        );
    }
}
