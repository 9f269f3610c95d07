//! The command line, run as in a terminal.

use std::process::{Command, Output};

use ferrowave::embedded;
use ferrowave_gpu::Product;
use ferrowave_shared::{CATALOGUE, ElementTypes, Kernel, catalogue::Access};

fn ferrowave(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        // Cargo adds its target directory, which may hold the emulator's HIP library.
        .env_remove("LD_LIBRARY_PATH")
        .args(arguments)
        .env_remove("FERROWAVE_DEVICE")
        .output()
        .expect("the binary runs")
}

/// A GPU that the kernels are built for, as `--device` takes it.
fn device() -> String {
    format!("emulator:{}", embedded::gpus()[0])
}

fn run<'a>(device: &'a str, extra: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", "--device", device];
    arguments.extend(extra);
    arguments
}

const SIZE: [&str; 6] = ["--m", "8", "--n", "8", "--k", "8"];

/// Asserts the exit code, and that standard error holds all of `parts` and no panic.
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

/// The kernels with these types for the first GPU that they are built for.
fn kernels(types: ElementTypes) -> impl Iterator<Item = &'static Kernel> {
    let gpu = embedded::gpus()[0];
    CATALOGUE
        .iter()
        .filter(move |kernel| kernel.types == types && kernel.gpus.contains(gpu.name()))
}

#[test]
fn a_product_is_run_and_verified() {
    let device = device();
    for kernel in kernels(ElementTypes::F32) {
        if kernel.access == Access::WideAlongK {
            continue;
        }
        let kernel = kernel.variant.name();
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
fn layouts_bias_and_operations_are_computed() {
    let device = device();
    for layout in ["NN", "nt", "TN", "TT"] {
        let arguments = [
            "--m",
            "37",
            "--n",
            "53",
            "--k",
            "29",
            "--layout",
            layout,
            "--bias",
            "column",
            "--beta",
            "2",
            "--prologue",
            "scale=-0.1",
            "--epilogue",
            "gelu",
            "--json",
            "--verbose",
        ];
        let output = ferrowave(&run(&device, &arguments));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["passed"], true);
        assert_eq!(report["layout"], layout.to_uppercase());
        assert_eq!(report["bias_elements"], 53);
        assert_eq!(report["prologue"], "scale=-0.1");
        assert_eq!(report["epilogue"], "gelu");
        let chosen = format!("kernel {}", report["kernel"].as_str().unwrap());
        assert!(said.contains(&chosen), "{said}");
    }
}

/// Where the reference has only NaN and infinities, nothing finite is compared.
#[test]
fn products_that_are_not_finite_are_judged_as_such() {
    let device = device();
    for extra in [
        &["--alpha", "nan"][..],
        &["--epilogue", "set=nan"],
        &["--epilogue", "set=inf", "--beta", "2"],
        &["--beta", "inf", "--prologue", "set=1"],
        &["--alpha", "-inf", "--beta", "-nan"],
    ] {
        let output = ferrowave(&run(&device, &[&SIZE[..], extra].concat()));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{extra:?}: {said}");
        assert!(said.contains("no finite element was compared"), "{said}");
        assert!(!said.contains("bias of 0"), "{said}");
        let json = ferrowave(&run(&device, &[&SIZE[..], extra, &["--json"]].concat()));
        let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert!(report["relative_error"].is_null(), "{report}");
    }
}

/// Nothing is compared, which is said.
#[test]
fn a_product_without_elements_is_said_to_be_empty() {
    let device = device();
    for extra in [
        &["--m", "0", "--n", "8", "--k", "8"][..],
        &["--m", "8", "--n", "8", "--k", "8", "--batch", "0"],
    ] {
        let output = ferrowave(&run(&device, extra));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{extra:?}: {said}");
        assert!(said.contains("none: C has no elements"), "{said}");
        assert!(
            said.contains("correct: there is nothing to compute"),
            "{said}"
        );
    }
}

/// Messages that cannot be written change neither the result nor the exit code.
#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_is_no_failure() {
    let device = device();
    let product = run(&device, &SIZE);
    for (arguments, code) in [
        (&product[..], 0),
        (&["disasm", "nowhere"], 1),
        (&["fly"], 2),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let status = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
            .args(arguments)
            .env_remove("FERROWAVE_DEVICE")
            .stdout(std::process::Stdio::null())
            .stderr(full.unwrap())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

/// A device may have no end.
#[cfg(target_os = "linux")]
#[test]
fn devices_are_not_read_as_files() {
    let what = "it is a device, not a file";
    refused(&["disasm", "/dev/zero"], 1, &["/dev/zero", what]);
    refused(
        &["compare", "/dev/zero", "/dev/zero"],
        2,
        &["/dev/zero", what],
    );
    refused(
        &["report", "--render", "/dev/zero"],
        2,
        &["/dev/zero", what],
    );
    let object = ["--code-object", "/dev/zero", "--kernel", "k", "--grid", "1"];
    refused(
        &[&["check"], &object[..], &["--block", "1"]].concat(),
        1,
        &["/dev/zero", what],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_argument_that_is_not_utf8_is_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(["run", "--m"])
        .arg(std::ffi::OsStr::from_bytes(b"8\xff"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("`8\u{fffd}` is not UTF-8"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_help_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .arg("--help")
        .stdout(full.unwrap())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("standard output cannot be written"),
        "{error}"
    );
}

#[test]
fn a_preset_gives_the_sizes_that_are_not_given() {
    let device = device();
    let arguments = ["--preset", "seeds", "--m", "8", "--k", "16", "--json"];
    let output = ferrowave(&run(&device, &arguments));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["m"], &report["n"], &report["k"]),
        (&8.into(), &1024.into(), &16.into())
    );
}

#[test]
fn options_that_cannot_be_are_refused_with_those_that_can() {
    let device = device();
    let with = |changed: &[&'static str]| {
        let mut arguments = run(&device, &SIZE);
        arguments.extend(changed);
        arguments
    };
    refused(
        &with(&["--type", "f8"]),
        2,
        &[
            "f8",
            "f32, xf32, f16, bf16, i8, fp8, bf8, fp8_bf8, bf8_fp8, mxfp8, mxbf8, mxfp8_mxbf8, mxbf8_mxfp8, mxfp6, mxbf6, mxfp4, sparse_f16, sparse_bf16, sparse_i8, sparse_fp8, f64",
        ],
    );
    refused(&with(&["--layout", "NX"]), 2, &["NX", "NN, NT, TN or TT"]);
    refused(
        &with(&["--bias", "both"]),
        2,
        &["both", "none, row, column"],
    );
    refused(
        &with(&["--prologue", "tanh"]),
        2,
        &["tanh", "set=C, scale=C, relu"],
    );
    refused(&with(&["--epilogue", "scale"]), 2, &["scale", "scale=C"]);
    refused(
        &with(&["--prologue", "gelu"]),
        2,
        &[
            "the prologue gelu is not supported",
            "none, set, scale, relu",
        ],
    );
    refused(
        &with(&["--type", "f64", "--epilogue", "gelu"]),
        2,
        &["the epilogue gelu is not supported", "sums in f64"],
    );
    refused(
        &with(&["--type", "i8", "--alpha", "0.5"]),
        2,
        &["alpha is 0.5", "integer"],
    );
    refused(
        &with(&["--type", "i8", "--prologue", "set=2147483648"]),
        2,
        &["the prologue's constant is 2147483648", "integer"],
    );
    refused(&with(&["--preset", "mine"]), 2, &["mine", "seeds"]);
    // B has 7 columns and 8 rows.
    refused(
        &with(&["--layout", "NT", "--ldb", "7"]),
        2,
        &["ldb is 7", "from 8 (k)"],
    );
    // A kernel of another type.
    refused(
        &with(&["--type", "f16", "--kernel", "mfma_uncached"]),
        2,
        &["`mfma_uncached` is for f32, not for f16; for f16 on gfx"],
    );
    refused(
        &["report", "--preset", "seeds", "--sizes", "8"],
        2,
        &["--preset", "--sizes"],
    );
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
    refused(&with(&m("x")), 2, &["--m", "x", "from 0 to 2147483647"]);
    let seed = [SIZE.as_slice(), &["--seed", "-1"]].concat();
    refused(
        &with(&seed),
        2,
        &["--seed", "-1", "from 0 to 18446744073709551615"],
    );
    let alpha = [SIZE.as_slice(), &["--alpha", "1e400"]].concat();
    refused(&with(&alpha), 2, &["--alpha", "1e400", "too large"]);
    refused(
        &["report", "--sizes", "8", "--beta", "nan"],
        2,
        &["--beta is NaN", "infinities"],
    );
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
    // A kernel of other GPUs: those of this one are named.
    if embedded::code_object("gfx1100").is_some() {
        let other = [["--kernel", "mfma_wide"].as_slice(), &SIZE].concat();
        refused(
            &run("gfx1100", &other),
            2,
            &[
                "`mfma_wide` is for gfx908",
                "not for gfx1100; for f32 on gfx1100 there are naive",
            ],
        );
    }
    let naive = [["--kernel", "naive"].as_slice(), &SIZE].concat();
    refused(
        &run("emulator:gfx1030", &naive),
        2,
        &["emulator:gfx1030", "gfx942 (MI300X)"],
    );
    refused(&run("cuda:0", &naive), 2, &["cuda:0", "hip:N"]);
    refused(&["list", "--gpu", "gfx900"], 2, &["gfx900", "gfx942"]);
    refused(&["report", "--sizes", "8x8"], 2, &["8x8", "37x53x29"]);
    refused(&["report", "--kernels", "fastest"], 2, &["fastest"]);
    refused(
        &["report", "--gpus", "H100"],
        2,
        &["H100", "MI210", "gfx90a"],
    );
    refused(&["report", "--sizes", "500000"], 2, &["500000", "GB"]);
    refused(
        &["compare", "nowhere", "nowhere"],
        2,
        &["`nowhere` cannot be read"],
    );
    refused(
        &["compare", "a", "b", "--fail-under", "2"],
        2,
        &["--fail-under", "0.95"],
    );
    refused(&["fly"], 2, &["fly"]);
}

/// Every command takes the name of the GPU and of the product, in upper or lower case.
#[test]
fn gpus_have_their_names_everywhere() {
    let gpu = embedded::gpus()[0];
    let product = Product::of(gpu).name();
    for name in [gpu.name(), product, &product.to_lowercase()] {
        for arguments in [
            run(name, &SIZE),
            vec!["list", "--gpu", name],
            vec![
                "check", "--device", name, "--m", "8", "--n", "8", "--k", "8",
            ],
        ] {
            let output = ferrowave(&arguments);
            assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        }
    }
    let output = ferrowave(&[&run(product, &SIZE)[..], &["--json", "--verbose"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("compute units at up to"), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let device = report["device"].as_str().unwrap();
    assert!(device.len() < 100, "{device}");
    let devices = String::from_utf8(ferrowave(&["devices"]).stdout).unwrap();
    assert!(devices.contains("emulator:MI250X"), "{devices}");
    let names = "gfx908 (MI100), gfx90a (MI210, MI250X), gfx942 (MI300X), gfx950 (MI355X)";
    for arguments in [
        run("H100", &SIZE),
        vec!["list", "--gpu", "H100"],
        vec!["disasm", "nowhere", "--gpu", "H100"],
        vec!["report", "--gpus", "H100"],
        vec!["profile", "--timing=H100"],
    ] {
        refused(&arguments, 2, &["H100", names]);
    }
}

#[test]
fn launches_can_be_limited() {
    let device = device();
    let limited = [&SIZE[..], &["--limit", "10"]].concat();
    refused(
        &run(&device, &limited),
        1,
        &[
            "was ended after 10 wave-instructions",
            "workgroup (0, 0, 0)",
        ],
    );
    let ends = [&SIZE[..], &["--timeout", "10m", "--limit", "100000000"]].concat();
    assert_eq!(ferrowave(&run(&device, &ends)).status.code(), Some(0));
}

/// The help names the variables of the table in `docs/emulator.md`.
#[test]
fn variables_are_in_the_help() {
    let table = include_str!("../../docs/emulator.md");
    let variables = table.split('`').filter(|name| {
        ["FERROWAVE_", "HSA_"]
            .iter()
            .any(|start| name.starts_with(start))
            && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    });
    let help = String::from_utf8(ferrowave(&["--help"]).stdout).unwrap();
    let mut count = 0;
    for variable in variables {
        assert!(help.contains(variable), "{variable}");
        count += 1;
    }
    assert!(count > 10, "{count}");
}

#[test]
fn the_help_of_a_command_has_its_exit_code() {
    let help = String::from_utf8(ferrowave(&["check", "--help"]).stdout).unwrap();
    assert!(help.contains("Exit code 3"), "{help}");
}

#[test]
fn what_is_not_there_is_said() {
    let naive = [["--kernel", "naive"].as_slice(), &SIZE].concat();
    // Only gfx942 has xf32.
    let xf32 = [["--type", "xf32"].as_slice(), &SIZE].concat();
    refused(
        &run("emulator:gfx90a", &xf32),
        2,
        &[
            "no kernel computes f32 from xf32 on gfx90a",
            "there are kernels for f32",
        ],
    );
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(run("hip:0", &naive))
        .env("FERROWAVE_HIP_LIBRARY", "/nowhere/libamdhip64.so")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.contains("/nowhere/libamdhip64.so") && error.contains("hip:0"),
        "{error}"
    );
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(["report", "--sizes", "8"])
        .env("FERROWAVE_DEVICE", "gfx9")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.contains("FERROWAVE_DEVICE") && error.contains("MI250X"),
        "{error}"
    );
}

#[test]
fn invalid_variables_are_invalid_requests() {
    let variables = [
        ("FERROWAVE_TIMEOUT", "soon"),
        ("FERROWAVE_INSTRUCTION_LIMIT", "-1"),
        ("FERROWAVE_MATRIX", "quick"),
        ("FERROWAVE_TUNING", "maybe"),
        ("FERROWAVE_CHECK", "race"),
        ("FERROWAVE_CHECK_SEEDS", "many"),
        ("FERROWAVE_CHECK_SCHEDULE", "first"),
        ("FERROWAVE_TIMING", "MI1"),
        ("FERROWAVE_TIMING_PARAMETERS", "/nowhere/parameters.toml"),
        ("FERROWAVE_TIMING_ESTIMATE", "maybe"),
    ];
    let device = device();
    let mut run = run(&device, &["--kernel", "naive"]);
    run.extend(SIZE);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    let commands = [
        run,
        vec!["selftest", "--quick", "--out", &out],
        vec!["report", "--sizes", "8", "--out", &out],
        vec!["tune", "--sizes", "8"],
        vec!["tune", "--gpu", "MI300X", "--out", &out],
        vec!["calibrate"],
    ];
    for (variable, value) in variables {
        for command in &commands {
            let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
                .env_remove("LD_LIBRARY_PATH")
                .args(command)
                .env_remove("FERROWAVE_DEVICE")
                .env(variable, value)
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                output.status.code(),
                Some(2),
                "{variable}, {command:?}: {error}"
            );
            assert!(
                error.contains(variable) && error.contains(value),
                "{variable}, {command:?}: {error}"
            );
            assert!(
                !folder.path().join("out").exists(),
                "{variable}, {command:?}"
            );
        }
    }
}

/// A computer whose driver lists an MI300X, and which has no HIP.
#[test]
fn a_gpu_that_hip_cannot_use_is_warned_about_once() {
    let root = tempfile::tempdir().unwrap();
    let node = root.path().join("sys/class/kfd/kfd/topology/nodes/1");
    for folder in [&node, &root.path().join("dev")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(node.join("properties"), "gfx_target_version 90402\n").unwrap();
    std::fs::write(root.path().join("dev/kfd"), "").unwrap();
    let stderr = |root: &std::path::Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
            .arg("devices")
            .env_remove("FERROWAVE_DEVICE")
            .env("FERROWAVE_SYSTEM_ROOT", root)
            .env("FERROWAVE_HIP_LIBRARY", "/no/library.so")
            .output()
            .expect("the binary runs");
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let warned = stderr(root.path());
    let warning = "warning: this computer has an AMD GPU (gfx942), but HIP cannot use it; the emulator runs instead";
    assert_eq!(warned.matches(warning).count(), 1, "{warned}");
    assert!(
        warned.contains(": correct or unset FERROWAVE_HIP_LIBRARY"),
        "{warned}"
    );
    // A computer without a GPU says nothing.
    assert_eq!(stderr(&root.path().join("nothing")), "");
}

#[test]
fn kernels_and_devices_are_listed() {
    let output = ferrowave(&["list", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    let built = embedded::gpus().into_iter().map(|gpu| {
        let kernels = CATALOGUE.iter();
        kernels
            .filter(|kernel| kernel.gpus.contains(gpu.name()))
            .count()
    });
    assert_eq!(rows.len(), built.sum::<usize>());
    for row in rows {
        assert!(row["vgprs"].as_u64().unwrap() > 0 && row["waves_per_simd"].as_u64().unwrap() > 0);
        for column in ["order", "access", "reduction", "accumulator"] {
            assert!(row[column].is_string(), "{column}: {row}");
        }
    }
    let output = ferrowave(&["devices", "--json"]);
    let devices: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let emulated = devices["devices"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["emulated"] == true);
    // Every product is listed, such as MI210 and MI250X of gfx90a.
    assert_eq!(emulated.count(), Product::ALL.len());
}
