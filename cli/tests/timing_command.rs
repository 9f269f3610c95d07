//! Modelled times of `ferrowave profile --timing`, and of unchanged HIP programs.

use std::process::{Command, Output};

const SIZE: [&str; 6] = ["--m", "64", "--n", "64", "--k", "64"];

fn ferrowave(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowave"));
    command
        .args(arguments)
        .args(SIZE)
        .env("FERROWAVE_DEVICE", "emulator:gfx942")
        .env_remove("FERROWAVE_TIMING")
        .env_remove("FERROWAVE_TIMING_PARAMETERS")
        .env_remove("FERROWAVE_TIMING_ESTIMATE");
    command
}

/// The parameters of a machine as `ferrowave parameters` prints them.
fn parameters(machine: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(["parameters", machine])
        .env_remove("FERROWAVE_TIMING_PARAMETERS")
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A file of parameters in which a field has another value.
fn changed(text: &str, field: &str, value: &str) -> String {
    let start = format!("{field} = ");
    let lines = text.lines().map(|line| match line.starts_with(&start) {
        true => format!("{start}{value}"),
        false => line.to_owned(),
    });
    let lines: Vec<_> = lines.collect();
    assert!(lines.iter().any(|line| *line == format!("{start}{value}")));
    lines.join("\n")
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
    for part in [
        heading,
        "modelled cycles",
        " at the highest clock, 2.100 GHz",
        // One workgroup does not fill the GPU.
        "the sustained clock is unknown: we know no figures of MI300X with matrix cores that",
        "bound by",
        "\n  error  ",
        "published kernel",
        "matrix cores",
    ] {
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
        "at the sustained clock",
        "we know no figures of MI300X with matrix cores that",
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
    assert_eq!(output.status.code(), Some(2), "{stderr}");
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

/// Their products are wrong, and their instructions are not counted.
#[test]
fn profiles_in_a_directory_have_the_times_of_estimates() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "--kernel", "naive", "--batch", "2000"];
    let (output, stdout, stderr) = run(ferrowave(&arguments)
        .env("FERROWAVE_TIMING", "auto")
        .env("FERROWAVE_TIMING_ESTIMATE", "1")
        .env("FERROWAVE_PROFILE", folder.path()));
    assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
    let json = std::fs::read_to_string(folder.path().join("gemm_naive_f32.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let profile = &json["profiles"][0];
    assert_eq!(profile["launches"], 1);
    assert_eq!(profile["workgroups"], 0);
    assert_eq!(json["timings"].as_array().map(Vec::len), Some(1));
    assert!(json["timings"][0]["workgroups"].as_u64() >= Some(2000));
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

#[test]
fn parameters_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let own = parameters("MI300X");
    for part in ["version = 1", "machine = \"MI300X\"", "# Source: mt4g"] {
        assert!(own.contains(part), "no `{part}` in {own}");
    }
    let profile = |parameters: &str| {
        let arguments = [
            "profile",
            "--kernel",
            "naive",
            "--timing",
            "--parameters",
            parameters,
        ];
        let (output, stdout, stderr) = run(&mut ferrowave(&arguments));
        assert!(output.status.success(), "{stderr}");
        let start = stdout.find("modelled cycles").expect("a time");
        stdout[start..].to_owned()
    };
    let cycles = |text: &str| -> u64 {
        let after = text.split("modelled cycles").nth(1).unwrap_or_default();
        let digits = after.split(';').next().unwrap_or_default();
        digits.trim().parse().expect("cycles")
    };
    let as_printed = profile(&file("own.toml", &own));
    assert!(!as_printed.contains("instead of"), "{as_printed}");
    let slow = changed(&own, "scalar_latency", "90000");
    let slow = file("slow.toml", &slow);
    let slower = profile(&slow);
    assert!(
        slower.contains("parameters        scalar_latency 90000 instead of "),
        "{slower}"
    );
    assert!(
        cycles(&slower) > cycles(&as_printed) + 80_000,
        "{slower} and {as_printed}"
    );
    // The same for unchanged programs.
    let mut program = ferrowave(&["run", "--kernel", "naive"]);
    let (output, _, stderr) = run(program.env("FERROWAVE_TIMING_PARAMETERS", &slow));
    assert!(output.status.success(), "{stderr}");
    assert_eq!(
        cycles(&stderr[stderr.find("modelled cycles").expect("a time")..]),
        cycles(&slower)
    );
    // And in a report.
    let out = folder.path().join("report").display().to_string();
    let report = |extra: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowave"));
        command
            .args([
                "report",
                "--sizes",
                "64",
                "--kernels",
                "naive",
                "--out",
                &out,
            ])
            .args(extra)
            .env("FERROWAVE_DEVICE", "emulator:gfx942")
            .env_remove("FERROWAVE_TIMING_PARAMETERS");
        run(&mut command)
    };
    let (output, stdout, stderr) = report(&["--parameters", &slow]);
    assert!(output.status.success(), "{stderr}");
    let note = "MI300X is modelled with parameters from a file: scalar_latency 90000 instead of ";
    assert!(stdout.contains(note), "{stdout}");
    let page = std::fs::read_to_string(format!("{out}/report.html")).unwrap();
    assert!(page.contains(note), "the page has no note");
    // The rows of an interrupted report are not continued with other parameters.
    let (output, _, stderr) = report(&["--resume"]);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("the report in") && stderr.contains("of another devices"),
        "{stderr}"
    );
}

#[test]
fn files_that_have_no_parameters_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let own = parameters("MI300X");
    let path = folder.path().join("mine.toml").display().to_string();
    for (text, expected) in [
        (
            changed(&own, "l2_latency", "-7"),
            "`: `l2_latency` is -7; allowed are whole numbers from 1 to ",
        ),
        (
            own.replace("l2_latency = ", "l3_latency = "),
            "`: `l2_latency` is missing; allowed are ",
        ),
        (
            format!("{own}\nl3_latency = 5\n"),
            "`: `l3_latency` is not a parameter; known are version, machine, ",
        ),
        (
            parameters("MI210"),
            "the parameters are of MI210, but MI300X is modelled",
        ),
        ("{}".to_owned(), " is not TOML: "),
        (String::new(), "`: `version` is missing; "),
    ] {
        std::fs::write(&path, text).unwrap();
        let arguments = ["profile", "--timing=MI300X", "--parameters", &path];
        let (output, _, stderr) = run(&mut ferrowave(&arguments));
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(expected) && stderr.contains("--parameters: "),
            "{stderr}"
        );
        let mut program = ferrowave(&["run", "--kernel", "naive"]);
        program.env("FERROWAVE_TIMING", "MI300X");
        let (output, _, stderr) = run(program.env("FERROWAVE_TIMING_PARAMETERS", &path));
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("FERROWAVE_TIMING_PARAMETERS: "), "{stderr}");
    }
    let (output, _, stderr) = run(&mut ferrowave(&["profile", "--parameters", &path]));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--parameters needs --timing"), "{stderr}");
    std::fs::remove_file(&path).unwrap();
    let arguments = ["profile", "--timing", "--parameters", &path];
    let (output, _, stderr) = run(&mut ferrowave(&arguments));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("cannot be read: No such file"), "{stderr}");
}

#[test]
fn the_replay_is_written_as_trace_events() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json").display().to_string();
    let arguments = [
        "profile", "--kernel", "mfma_lds", "--timing", "--trace", &file,
    ];
    let (output, _, stderr) = run(&mut ferrowave(&arguments));
    assert!(output.status.success(), "{stderr}");
    let trace: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let has = |category: &str, part: &str| {
        let mut events = events.iter().filter(|event| event["cat"] == category);
        events.any(|event| event["name"].as_str().unwrap_or_default().contains(part))
    };
    assert!(has("wait", "barrier") && has("issue", "s_barrier") && has("matrix core", "v_mfma"));
    let source = |event: &serde_json::Value| {
        let source = event["args"]["source"].as_str().unwrap_or_default();
        source.contains("kernels/src/")
    };
    assert!(
        events.iter().any(source),
        "no event has a line of the kernel"
    );
    // A file that cannot be written is an error before the kernel runs.
    let nowhere = folder
        .path()
        .join("nowhere/trace.json")
        .display()
        .to_string();
    let arguments = [
        "profile", "--kernel", "mfma_lds", "--timing", "--trace", &nowhere,
    ];
    let (output, stdout, stderr) = run(&mut ferrowave(&arguments));
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains(&format!("`{nowhere}` cannot be written: No such file")),
        "{stderr}"
    );
    assert!(stdout.is_empty(), "{stdout}");
    let (output, _, stderr) = run(&mut ferrowave(&["profile", "--trace", &file]));
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--trace needs --timing"), "{stderr}");
}
