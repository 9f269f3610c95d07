//! Every command of the README and of the pages in `docs` runs.

use std::{fs, path::Path, process::Command};

/// The workspace.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The `console` commands of all pages, without their prompts.
fn commands() -> Vec<String> {
    let root = root();
    let mut pages = vec![root.join("README.md")];
    for entry in fs::read_dir(root.join("docs")).expect("the pages") {
        let path = entry.expect("a page").path();
        // `cargo-gpu-amdgpu/tests/command/bugs.rs` runs this page's.
        let is_elsewhere = path.ends_with("docs/bugs.md");
        if path.extension().is_some_and(|extension| extension == "md") && !is_elsewhere {
            pages.push(path);
        }
    }
    let mut commands = Vec::new();
    for page in pages {
        let mut inside = false;
        for line in fs::read_to_string(page).expect("its text").lines() {
            if let Some(language) = line.strip_prefix("```") {
                inside = language == "console";
            } else if inside
                && let Some(command) = line.strip_prefix("$ ")
                && !commands.iter().any(|other| other == command)
            {
                commands.push(command.to_owned());
            }
        }
    }
    commands
}

#[test]
fn commands_run() {
    let commands = commands();
    let mut ran = 0;
    for command in &commands {
        // Runs the binary of this build instead, which differs only in the profile.
        let Some(arguments) = command.strip_prefix("cargo run --release -- ") else {
            let target = command
                .strip_prefix("make ")
                .map(|target| format!("\n{target}:"));
            let known = match target {
                Some(target) => fs::read_to_string(root().join("Makefile"))
                    .unwrap()
                    .contains(&target),
                None => [
                    "cargo build --release -p ferrowave-libamdhip64 -p ferrowave-librocm-smi64 -p ferrowave-libhsa-runtime64",
                    // `tests/real_programs/browser.sh` runs it.
                    "python3 browser/serve.py target/browser",
                ]
                .contains(&command.as_str()),
            };
            assert!(known, "nothing tests `{command}`");
            continue;
        };
        let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
            .args(arguments.split_whitespace())
            .current_dir(root())
            .env_remove("FERROWAVE_DEVICE")
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        assert!(!output.stdout.is_empty(), "{command}");
        ran += 1;
    }
    assert!(ran >= 4, "{commands:?}");
}

/// The report command of `make report`.
#[test]
fn the_report_runs() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let command = "cargo run --release --quiet -- report --out target/report\n";
    assert!(makefile.contains(command));
    let folder = tempfile::tempdir().unwrap();
    // The Makefile's sizes are for a release build; `tests/report.rs` reads what such a run writes.
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(["report", "--sizes", "64,128", "--out"])
        .arg(folder.path())
        .env_remove("FERROWAVE_DEVICE")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}
