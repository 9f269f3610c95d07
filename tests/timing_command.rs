//! Modelled times of `ferrowave profile --timing`, and of programs that know nothing of it.

use std::process::{Command, Output};

const SIZE: [&str; 6] = ["--m", "64", "--n", "64", "--k", "64"];

fn ferrowave(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowave"));
    command
        .args(arguments)
        .args(SIZE)
        .env("FERROWAVE_DEVICE", "emulator:gfx942")
        .env_remove("FERROWAVE_TIMING");
    command
}

fn run(command: &mut Command) -> (Output, String, String) {
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    (output, stdout, stderr)
}

#[test]
fn a_profile_with_its_time() {
    let arguments = ["profile", "--kernel", "mfma_fragment", "--timing"];
    let (output, stdout, stderr) = run(&mut ferrowave(&arguments));
    assert!(output.status.success(), "{stderr}");
    let heading =
        "gemm_mfma_fragment_f32 on MI300X (gfx942), modelled by Ferrowave, not measured on a GPU";
    for part in [heading, "modelled time", "bound by", "matrix cores"] {
        assert!(stdout.contains(part), "no `{part}` in {stdout}");
    }
    let (_, stdout, _) = run(&mut ferrowave(&arguments[..3]));
    assert!(!stdout.contains("modelled"), "{stdout}");
}

#[test]
fn machines_that_cannot_be() {
    let (output, _, stderr) = run(&mut ferrowave(&["profile", "--timing=H100"]));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let names = "there are MI100, MI210, MI250X, MI300X, MI355X";
    assert!(stderr.contains(names), "{stderr}");
    let (output, _, stderr) = run(&mut ferrowave(&["profile", "--timing=MI210"]));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let message = "MI210 runs gfx90a, but the device is gfx942";
    assert!(stderr.contains(message), "{stderr}");
}

#[test]
fn programs_are_modelled_if_the_environment_says_so() {
    let arguments = ["run", "--kernel", "naive"];
    let (output, _, stderr) = run(ferrowave(&arguments).env("FERROWAVE_TIMING", "auto"));
    assert!(output.status.success(), "{stderr}");
    assert!(
        stderr.contains("gemm_naive_f32 on MI300X (gfx942), modelled"),
        "{stderr}"
    );
    let (output, _, stderr) = run(ferrowave(&arguments).env("FERROWAVE_TIMING", "H100"));
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("FERROWAVE_TIMING: no machine `H100` is modelled"),
        "{stderr}"
    );
    let (output, _, stderr) = run(ferrowave(&arguments).env("FERROWAVE_TIMING", "MI100"));
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("MI100 runs gfx908, but kernel `gemm_naive_f32` is for gfx942"),
        "{stderr}"
    );
}
