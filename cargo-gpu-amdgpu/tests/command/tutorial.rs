//! Every command of the tutorial runs, in the order of the page, and so do the commands for a crate that `new` creates.

use std::{env, path::Path, process::Command};

use crate::support::{command, empty, lock, page_commands, run_command, tmp, toolchain};

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
        .env("FERROWAVE_CACHE", tmp("cache"));
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
            ["cargo", "install", "--path", "cargo-gpu-amdgpu"] => {
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
    let small = empty("small");
    run_in(&small, &["gpu-amdgpu", "new", "my-kernels"]);
    let small = small.join("my-kernels");
    lock(&small);
    run_in(&small, &["gpu-amdgpu", "test"]);
    let said = run_in(&small, &["run"]);
    assert!(
        said.contains("= [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0]"),
        "{said}"
    );
    for (library, reason) in [
        ("/nonexistent/libamdhip64.so", "cannot be loaded"),
        ("libc.so.6", "lacks the function"),
        ("", "was built without the emulator"),
    ] {
        let mut program = command_in(&small, &["run"]);
        program.env("FERROWAVE_EMULATOR_LIBRARY", library);
        run_command(&mut program).fails(1, &[reason, "`cargo gpu-amdgpu test` builds"]);
    }
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
