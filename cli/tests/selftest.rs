//! `ferrowave selftest`, as users run it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

use ferrowave::embedded;
use ferrowave_code_object::CodeObject;
use ferrowave_gpu::Gpu;
use serde_json::Value;

/// `s_endpgm`, `s_branch` to itself and `s_trap 2`: *AMD Instinct MI300 ISA*, 12.5, the format SOPP.
const END: u32 = 0xbf81_0000;
const LOOP: u32 = 0xbf82_ffff;
const TRAP: u32 = 0xbf92_0002;

fn selftest(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .arg("selftest")
        .args(arguments)
        .current_dir(folder)
        .env_remove("FERROWAVE_DEVICE")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("it runs")
}

/// A GPU that the kernels are built for, with kernels of all steps, and its code object.
fn built() -> (Gpu, &'static [u8]) {
    let has_all = |(_, object): &(Gpu, &'static [u8])| {
        let object = CodeObject::parse(object).expect("a code object");
        object.kernel("gemm_split_k_f32").is_some()
    };
    let built = embedded::code_objects().find(has_all);
    built.expect("kernels for a GPU of CDNA, which has split_k")
}

/// The GPU as `--device` takes it.
fn device() -> String {
    format!("emulator:{}", built().0)
}

/// The embedded code object with other first instructions of these kernels.
fn planted(file: &Path, plants: &[(&str, u32)]) {
    let object = built().1;
    let parsed = CodeObject::parse(object).expect("a code object");
    let mut bytes = object.to_vec();
    for (symbol, word) in plants {
        let code = parsed.kernel(symbol).expect("the kernel").code.clone();
        let entry = parsed.file_bytes(code.start, 4).expect("its code");
        let place = entry.as_ptr().addr() - parsed.bytes().as_ptr().addr();
        bytes[place..place + 4].copy_from_slice(&word.to_le_bytes());
    }
    fs::write(file, bytes).expect("a file");
}

fn results(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("results")).expect("JSON")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn correct_kernels_pass_with_all_that_a_report_needs() {
    let folder = tempfile::tempdir().unwrap();
    let symbols = "gemm_naive_f32,gemm_split_k_f32,gemm_split_k_i8";
    let output = selftest(
        folder.path(),
        &["--quick", "--device", &device(), "--kernels", symbols],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = text(&output.stdout);
    assert!(said.contains("All 3 kernels passed"), "{said}");
    assert!(text(&output.stderr).contains("3 of 3"), "{output:?}");
    let results = results(&folder.path().join("ferrowave-selftest.json"));
    assert_eq!(results["complete"], true);
    assert_eq!(results["device"]["emulated"], true);
    assert_eq!(results["command"][1], "selftest");
    assert!(results["toolchain"].as_str().unwrap().starts_with("rustc "));
    let object = &results["code_object"];
    assert!(object["file"].is_null());
    assert_eq!(object["bytes"], built().1.len());
    let kernels = results["kernels"].as_array().unwrap();
    let tested: Vec<_> = kernels.iter().map(|kernel| &kernel["symbol"]).collect();
    assert_eq!(tested.len(), 3, "{tested:?}");
    for kernel in kernels {
        assert_eq!(kernel["passed"], true, "{kernel}");
        // 10 corners, 4 shapes around the tile, 2 with special elements, and the one that is repeated.
        assert_eq!(kernel["cases"], 17, "{kernel}");
        assert_eq!(
            (&kernel["runs"], &kernel["failures"]),
            (&2.into(), &Value::Array(Vec::new()))
        );
        assert_eq!(kernel["compared_with_emulator"], 0, "it is the emulator");
    }
}

#[test]
fn wrong_trapping_and_endless_kernels_fail_and_the_others_are_tested() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("planted.elf");
    planted(
        &object,
        &[
            ("gemm_naive_f32", END),
            ("gemm_double_buffered_f32", LOOP),
            ("gemm_lds_tiled_f32", TRAP),
        ],
    );
    let started = Instant::now();
    let output = selftest(
        folder.path(),
        &[
            "--quick",
            "--device",
            &device(),
            "--code-object",
            "planted.elf",
            "--kernels",
            "gemm_naive_f32,gemm_double_buffered_f32,gemm_lds_tiled_f32,gemm_register_tiled_f32",
            "--time-limit",
            "15s",
            "--out",
            "out.json",
        ],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(started.elapsed() < Duration::from_secs(90));
    let said = text(&output.stdout);
    assert!(said.contains("3 of 4 kernels FAILED"), "{said}");
    assert!(said.contains("did not end within 15 s"), "{said}");
    let results = results(&folder.path().join("out.json"));
    assert_eq!(results["complete"], true);
    let file = results["code_object"]["file"].as_str().unwrap();
    assert_eq!(file, "planted.elf");
    let kernel = |symbol: &str| {
        let kernels = results["kernels"].as_array().unwrap();
        kernels
            .iter()
            .find(|kernel| kernel["symbol"] == symbol)
            .unwrap()
    };
    // It wrote nothing: C still has its poison, NaN.
    let wrong = kernel("gemm_naive_f32");
    let first = &wrong["failures"][0];
    let element = &first["first_wrong"];
    assert_eq!(element["got_bits"], "0x7fc00000", "{wrong}");
    assert_eq!(
        (&element["row"], &element["column"]),
        (&0.into(), &0.into())
    );
    assert_ne!(element["expected"], "NaN");
    assert!(
        first["case"]
            .as_str()
            .unwrap()
            .contains("m: 1, n: 1, k: 1,"),
        "{first}"
    );
    assert!(
        first["what"]
            .as_str()
            .unwrap()
            .contains("elements are wrong"),
        "{first}"
    );
    assert_eq!(
        wrong["failures"].as_array().unwrap().len(),
        5,
        "the first are kept"
    );
    assert!(wrong["failed_cases"].as_u64().unwrap() > 10, "{wrong}");
    let endless = kernel("gemm_double_buffered_f32");
    assert_eq!(endless["passed"], false);
    let end = endless["process"].as_str().unwrap();
    assert!(end.contains("was killed"), "{endless}");
    assert!(
        said.contains("gemm_double_buffered_f32: its process failed during case 1×1×1, seed 0"),
        "{said}"
    );
    let trap = kernel("gemm_lds_tiled_f32");
    let what = trap["failures"][0]["what"].as_str().unwrap();
    assert!(what.contains("s_trap") || what.contains("trap"), "{trap}");
    assert_eq!(
        trap["failed_cases"], 1,
        "nothing follows an error of the device"
    );
    assert_eq!(kernel("gemm_register_tiled_f32")["passed"], true);
}

/// As ROCm does with a kernel that faults. Here the limit of a process's time is its end.
#[test]
fn a_kernel_whose_process_is_killed_is_named_and_the_others_are_tested() {
    let folder = tempfile::tempdir().unwrap();
    planted(
        &folder.path().join("planted.elf"),
        &[("gemm_naive_f32", LOOP)],
    );
    let output = Command::new("sh")
        .args(["-c", "ulimit -t 4; exec \"$0\" selftest \"$@\""])
        .args([env!("CARGO_BIN_EXE_ferrowave"), "--quick", "--device"])
        .args([&device(), "--code-object", "planted.elf", "--kernels"])
        .arg("gemm_naive_f32,gemm_lds_tiled_f32")
        .current_dir(folder.path())
        .env_remove("FERROWAVE_DEVICE")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stdout);
    assert!(said.contains("1 of 2 kernels FAILED"), "{said}");
    let results = results(&folder.path().join("ferrowave-selftest.json"));
    let [killed, passed] = [&results["kernels"][0], &results["kernels"][1]];
    let end = killed["process"].as_str().unwrap();
    assert!(end.contains("it was ended by"), "{killed}");
    let lines = killed["said"].as_array().unwrap();
    assert_eq!(lines.last().unwrap(), "case 1×1×1, seed 0");
    assert_eq!(passed["passed"], true, "{passed}");
}

#[test]
fn bad_input_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("text.elf"), "no code").unwrap();
    let device = device();
    for (arguments, parts) in [
        (
            &["--kernels", "navie"][..],
            &["unknown kernel `navie`", "split_k"][..],
        ),
        (
            &["--out", "no/such/folder.json"],
            &["no/such/folder.json", "--out"],
        ),
        (
            &["--code-object", "nothing.elf"],
            &["nothing.elf", "cannot be read"],
        ),
        (
            &["--code-object", "text.elf"],
            &["text.elf", "no code object"],
        ),
        (&["--runs", "0"], &["--runs"]),
        (&["--time-limit", "soon"], &["--time-limit"]),
    ] {
        let output = selftest(folder.path(), &[&["--device", &device], arguments].concat());
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        for part in parts {
            assert!(error.contains(part), "{arguments:?}: {error}");
        }
        assert!(
            !error.contains("panicked") && !error.contains("1 of"),
            "{error}"
        );
    }
    let output = selftest(folder.path(), &["--device", "hip:99"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("hip:99"), "{output:?}");
}
