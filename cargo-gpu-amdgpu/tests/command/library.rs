//! What the emulator's library is compiled from.

use std::{collections::BTreeSet, path::Path};

use crate::support::toolchain;

/// What cargo compiles for a release of these packages of the repository: package, target, profile, features.
fn units(packages: &[&str]) -> BTreeSet<String> {
    let mut command = toolchain().inner_cargo();
    command
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .args(["build", "--release", "--locked"])
        .args(["--unit-graph", "-Zunstable-options"]);
    for package in packages {
        command.args(["--package", package]);
    }
    let output = command.output().expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let graph: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let units = graph["units"].as_array().expect("a list").iter();
    units
        .map(|unit| {
            let parts = ["pkg_id", "target", "profile", "features", "mode"];
            parts.map(|part| unit[part].to_string()).join(" ")
        })
        .collect()
}

/// Otherwise the first `cargo gpu-amdgpu test` would compile the emulator again, which takes minutes.
#[test]
fn the_library_is_linked_from_what_the_command_was_compiled_from() {
    let command = units(&["cargo-gpu-amdgpu"]);
    let both = units(&["cargo-gpu-amdgpu", "ferrowave-libamdhip64"]);
    let lost: Vec<_> = command.difference(&both).collect();
    assert!(lost.is_empty(), "{lost:#?}");
    for unit in both.difference(&command) {
        assert!(unit.contains("ferrowave-libamdhip64"), "{unit}");
    }
}
