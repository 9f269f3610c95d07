//! The command line as somebody at a terminal meets it.

use std::process::{Command, Output};

use ferrowave::embedded;

fn ferrowave(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(arguments)
        .env_remove("FERROWAVE_DEVICE")
        .output()
        .expect("the binary runs")
}

/// A GPU that the kernels are built for, as `--device` takes it.
fn device() -> String {
    format!("emulator:{}", embedded::CODE_OBJECTS[0].0)
}

fn run<'a>(device: &'a str, extra: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", "--device", device];
    arguments.extend(extra);
    arguments
}

const SIZE: [&str; 6] = ["--m", "8", "--n", "8", "--k", "8"];

/// Asserts the exit code and that standard error holds all of `parts`, and nothing of a panic.
fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let output = ferrowave(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    assert!(!error.contains("panicked"), "{arguments:?}: {error}");
    for part in parts {
        assert!(
            error.contains(part),
            "{arguments:?}: no `{part}` in: {error}"
        );
    }
}

#[test]
fn a_product_is_run_and_verified() {
    let device = device();
    for kernel in ["naive", "lds_tiled", "register_tiled", "mfma_fragment"] {
        let arguments = [
            "--kernel", kernel, "--m", "37", "--n", "53", "--k", "29", "--lda", "40", "--beta",
            "0.5", "--alpha", "-2", "--batch", "2", "--seed", "7", "--json",
        ];
        let output = ferrowave(&run(&device, &arguments));
        assert_eq!(output.status.code(), Some(0));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["kernel"], kernel);
        assert_eq!(report["passed"], true);
        assert!(report["relative_error"].as_f64().unwrap() < 1e-6);
        assert!(report["emulator_kernel_ns"].as_u64().unwrap() > 0);
        assert!(report["gpu_kernel_ns"].is_null(), "no GPU ran");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains(&device) && said.contains("as asked for"),
            "{said}"
        );
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    let device = device();
    let with = |changed: &[&'static str]| {
        let mut arguments = run(&device, &["--kernel", "naive"]);
        arguments.extend(changed);
        arguments
    };
    let m = |m| [["--m", m].as_slice(), &SIZE[2..]].concat();
    refused(&with(&m("-3")), 2, &["m is -3", "from 0 to 2147483647"]);
    refused(&with(&m("3000000000")), 2, &["m is 3000000000"]);
    refused(
        &with(&m("99999999999999999999")),
        2,
        &["99999999999999999999"],
    );
    refused(&with(&m("x")), 2, &["--m", "x"]);
    refused(&with(&SIZE[2..]), 2, &["--m"]);
    let lda = [SIZE.as_slice(), &["--lda", "7"]].concat();
    refused(&with(&lda), 2, &["lda is 7", "from 8 (k)"]);
    let huge = [
        "--m",
        "2147483647",
        "--n",
        "2147483647",
        "--k",
        "2147483647",
    ];
    let output = ferrowave(&with(&huge));
    assert!(matches!(output.status.code(), Some(1 | 2)), "{output:?}");
}

#[test]
fn unknown_names_are_refused_with_the_known() {
    let device = device();
    let kernel = [["--kernel", "fastest"].as_slice(), &SIZE].concat();
    refused(
        &run(&device, &kernel),
        2,
        &["fastest", "naive", "mfma_fragment"],
    );
    let naive = [["--kernel", "naive"].as_slice(), &SIZE].concat();
    refused(
        &run("emulator:gfx1100", &naive),
        2,
        &["emulator:gfx1100", "gfx942"],
    );
    refused(&run("cuda:0", &naive), 2, &["cuda:0", "hip:N"]);
    refused(&["list", "--gpu", "gfx900"], 2, &["gfx900", "gfx942"]);
    refused(&["report", "--sizes", "8x8"], 2, &["8x8", "37x53x29"]);
    refused(&["report", "--kernels", "fastest"], 2, &["fastest"]);
    refused(&["fly"], 2, &["fly"]);
}

#[test]
fn what_is_not_there_is_said() {
    let naive = [["--kernel", "naive"].as_slice(), &SIZE].concat();
    // The catalogue has no kernel for gfx950 yet.
    refused(
        &run("emulator:gfx950", &naive),
        2,
        &["gemm_naive_f32", "gfx950", "gfx942"],
    );
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(run("hip:0", &naive))
        .env("FERROWAVE_HIP_LIBRARY", "/nowhere/libamdhip64.so")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains("/nowhere/libamdhip64.so") && error.contains("hip:0"),
        "{error}"
    );
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(["report", "--sizes", "8"])
        .env("FERROWAVE_DEVICE", "gfx942")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.contains("FERROWAVE_DEVICE") && error.contains("emulator:GPU"),
        "{error}"
    );
}

#[test]
fn a_report_lists_all_kernels() {
    let device = device();
    let output = ferrowave(&["report", "--sizes", "16,5x6x7", "--device", &device]);
    assert_eq!(output.status.code(), Some(0));
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(table.matches("correct").count(), 8, "{table}");
    assert!(
        table.contains("5×6×7") && table.contains("say nothing of a GPU"),
        "{table}"
    );
    let output = ferrowave(&[
        "report",
        "--sizes",
        "16",
        "--kernels",
        "mfma_fragment",
        "--device",
        &device,
        "--json",
    ]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["rows"].as_array().unwrap().len(), 1);
    assert_eq!(report["rows"][0]["passed"], true);
}

#[test]
fn kernels_and_devices_are_listed() {
    let output = ferrowave(&["list", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 4 * embedded::CODE_OBJECTS.len());
    for row in rows {
        assert!(row["vgprs"].as_u64().unwrap() > 0 && row["waves_per_simd"].as_u64().unwrap() > 0);
    }
    let output = ferrowave(&["devices", "--json"]);
    let devices: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let emulated = devices["devices"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["emulated"] == true);
    assert_eq!(emulated.count(), 4);
}
