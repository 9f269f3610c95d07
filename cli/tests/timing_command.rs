//! Modelled times of `ferrowave profile --timing`, and of unchanged HIP programs.

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
fn a_profiles_files_have_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (json, html) = (file("profile.json"), file("profile.html"));
    let profile = ["profile", "--kernel", "mfma_lds", "--json", &json];
    let read =
        || -> serde_json::Value { serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap() };
    let timed = [&profile[..], &["--html", &html, "--timing"]].concat();
    let (output, stdout, stderr) = run(&mut ferrowave(&timed));
    assert!(output.status.success(), "{stderr}");
    let written = read();
    assert_eq!(written["version"], 2);
    let timing = &written["timings"][0];
    assert_eq!(timing["kernel"], written["profiles"][0]["kernel"]);
    assert!(timing["seconds"].as_f64().unwrap() > 0.0, "{timing}");
    assert!(timing["bound_by"].is_object(), "{timing}");
    // The waits of the instructions add up to the total, and each instruction is one of the profile's.
    let of = |value: &serde_json::Value| value["offset"].as_u64().unwrap();
    let counted = written["profiles"][0]["instructions"].as_array().unwrap();
    let mut barriers = 0;
    for instruction in timing["instructions"].as_array().unwrap() {
        assert!(counted.iter().any(|other| of(other) == of(instruction)));
        barriers += instruction["stalls"]["barrier"].as_u64().unwrap_or(0);
    }
    assert_eq!(timing["stalls"]["barrier"].as_u64(), Some(barriers));
    let page = std::fs::read_to_string(&html).unwrap();
    let bound = stdout
        .lines()
        .find(|line| line.contains("bound by"))
        .unwrap();
    let bound = bound.trim().strip_prefix("bound by").unwrap().trim();
    for part in [
        "Time, modelled by Ferrowave, not measured on a GPU",
        "MI300X at 2.100 GHz",
        bound,
        ">waits</th>",
        "wait for vector memory",
        "wait8",
    ] {
        assert!(page.contains(part), "no `{part}`");
    }
    // Without --timing, neither page nor JSON mentions the model.
    let plain = [&profile[..], &["--html", &html]].concat();
    assert!(run(&mut ferrowave(&plain)).0.status.success());
    assert_eq!(read()["timings"], serde_json::json!([]));
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(!page.contains("odelled") && !page.contains("waits</th>"));
}

#[test]
fn machines_that_cannot_be() {
    let (output, _, stderr) = run(&mut ferrowave(&["profile", "--timing=H100"]));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let names =
        "known are gfx908 (MI100), gfx90a (MI210, MI250X), gfx942 (MI300X), gfx950 (MI355X)";
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
        stderr.contains("FERROWAVE_TIMING: unknown GPU `H100`"),
        "{stderr}"
    );
    let (output, _, stderr) = run(ferrowave(&arguments).env("FERROWAVE_TIMING", "MI100"));
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("MI100 runs gfx908, but kernel `gemm_naive_f32` is for gfx942"),
        "{stderr}"
    );
}

#[test]
fn profiles_in_a_directory_have_the_times_of_launches() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "--kernel", "naive"];
    let (output, _, stderr) = run(ferrowave(&arguments)
        .env("FERROWAVE_TIMING", "auto")
        .env("FERROWAVE_PROFILE", folder.path()));
    assert!(output.status.success(), "{stderr}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("gemm_naive_f32.json")).unwrap();
    assert_eq!(json["timings"][0]["kernel"], "gemm_naive_f32");
    assert_eq!(json["timings"][0]["machine"], "MI300X");
    let page = read("gemm_naive_f32.html");
    assert!(page.contains("modelled time"), "{page}");
}

#[test]
fn the_machine_that_is_modelled_is_what_programs_see() {
    let device = |machine: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowave"));
        command
            .args(["devices", "--json"])
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("FERROWAVE_DEVICE")
            .env("FERROWAVE_TIMING", machine);
        let (output, stdout, stderr) = run(&mut command);
        assert!(output.status.success(), "{stderr}");
        let all: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let devices = all["devices"].as_array().unwrap().clone();
        let of_gfx90a = devices.into_iter().find(|device| {
            let name = device["name"].as_str().unwrap_or_default();
            name.contains("(gfx90a, emulated")
        });
        of_gfx90a.expect("the emulated device")
    };
    for (machine, name, compute_units) in [
        ("MI250X", "AMD Instinct MI250X", 110),
        ("MI210", "AMD Instinct MI210", 104),
        // A product of another instruction set.
        ("MI300X", "AMD Instinct MI210", 104),
    ] {
        let device = device(machine);
        assert!(
            device["name"].as_str().unwrap().starts_with(name),
            "{device}"
        );
        assert_eq!(device["compute_units"], compute_units);
    }
}
