//! `ferrowave calibrate`: microbenchmarks on the model give back the model's parameters.

use std::{collections::BTreeMap, path::Path, process::Command};

fn ferrowave(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowave"));
    command
        .args(arguments)
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("FERROWAVE_DEVICE")
        .env_remove("FERROWAVE_TIMING_PARAMETERS");
    command
}

fn stdout(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The numbers of a file of parameters.
fn numbers(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter_map(|line| line.split_once(" = "));
    lines
        .filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
        .collect()
}

/// The file with other values.
fn with(text: &str, changed: &[(&str, f64)]) -> String {
    let line = |line: &str| {
        let name = line.split_once(" = ").map(|(name, _)| name);
        match changed.iter().find(|(changed, _)| Some(*changed) == name) {
            Some((name, value)) => format!("{name} = {value}\n"),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// Parameters that microbenchmarks measure, and by how much they may differ: latencies are multiples of a SIMD's turn of
/// four cycles, and rates have a start and an end.
const MEASURED: [(&str, f64); 13] = [
    ("double_cycles", 0.01),
    ("integer_product_cycles", 0.01),
    ("scalar_latency", 0.1),
    ("lds_latency", 0.08),
    ("l1_latency", 0.04),
    ("l2_latency", 0.03),
    ("infinity_latency", 0.03),
    ("memory_latency", 0.03),
    ("l1_to_l2_bytes_per_cycle", 0.05),
    ("l2_bytes_per_cycle", 0.05),
    ("l2_written_bytes_per_cycle", 0.05),
    ("infinity_bytes_per_second", 0.08),
    ("memory_efficiency", 0.05),
];

fn calibrate(machine: &str, parameters: Option<&Path>, out: &Path) -> BTreeMap<String, f64> {
    let mut command = ferrowave(&["calibrate", "--device", machine, "--out"]);
    command.arg(out);
    if let Some(file) = parameters {
        command.arg("--parameters").arg(file);
    }
    let text = stdout(&mut command);
    for part in [
        "latency of L2",
        "s_barrier",
        "Modelled, not measured on a GPU",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    numbers(&std::fs::read_to_string(out).expect("the file"))
}

fn compare(expected: &BTreeMap<String, f64>, found: &BTreeMap<String, f64>) {
    for (name, within) in MEASURED {
        let (expected, found) = (expected[name], found[name]);
        let error = (found - expected) / expected.max(f64::MIN_POSITIVE);
        assert!(error.abs() <= within, "{name}: {found}, not {expected}");
    }
}

#[test]
fn the_model_gives_back_its_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("measured.toml");
    let own = stdout(&mut ferrowave(&["parameters", "MI300X"]));
    compare(&numbers(&own), &calibrate("MI300X", None, &out));
    // Other parameters give other measurements: they are not read from the table.
    let changed = [
        ("scalar_latency", 60.0),
        ("lds_latency", 90.0),
        ("l1_latency", 150.0),
        ("l2_latency", 400.0),
        ("infinity_latency", 700.0),
        ("memory_latency", 1300.0),
        ("l2_bytes_per_cycle", 700.0),
        ("l2_written_bytes_per_cycle", 300.0),
        ("infinity_bytes_per_second", 9e12),
        ("memory_efficiency", 0.6),
    ];
    let text = with(&own, &changed);
    let file = folder.path().join("changed.toml");
    std::fs::write(&file, &text).unwrap();
    let expected = numbers(&text);
    let found = calibrate("MI300X", Some(&file), &out);
    compare(&expected, &found);
    // --parameters takes what was measured.
    let again = stdout(ferrowave(&["parameters", "--parameters"]).arg(&out));
    assert_eq!(numbers(&again), found);
}

#[test]
fn the_model_of_a_radeon_gives_back_its_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("measured.toml");
    for machine in ["RX 7900 XTX", "RX 9070 XT", "Strix Halo"] {
        let own = stdout(&mut ferrowave(&["parameters", machine]));
        // L2 of RX 9070 XT has more than its compute units read.
        compare(&numbers(&own), &calibrate(machine, None, &out));
    }
    let own = stdout(&mut ferrowave(&["parameters", "RX 9070 XT"]));
    let changed = with(
        &own,
        &[("l2_latency", 300.0), ("l2_bytes_per_cycle", 1300.0)],
    );
    let file = folder.path().join("changed.toml");
    std::fs::write(&file, &changed).unwrap();
    compare(
        &numbers(&changed),
        &calibrate("RX 9070 XT", Some(&file), &out),
    );
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        folder.path().join("nowhere/p.toml"),
        folder.path().to_owned(),
    ] {
        let mut command = ferrowave(&["calibrate", "--device", "MI300X", "--out"]);
        let output = command.arg(&path).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        let expected = format!("`{}` cannot be written: ", path.display());
        assert!(error.contains(&expected), "{error}");
        assert!(output.stdout.is_empty());
    }
}
