//! `ferrowave report` and `ferrowave compare`, as users run them.

#[path = "../../emulator/hip/lib/tests/built/mod.rs"]
mod built;

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use ferrowave::embedded;
use ferrowave_shared::{CATALOGUE, ElementTypes, catalogue::Access};
use serde_json::Value;

fn ferrowave(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("FERROWAVE_DEVICE")
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn results(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("results")).expect("JSON")
}

/// The first GPU that the kernels are built for.
fn gpu() -> &'static str {
    embedded::gpus()[0].name()
}

#[test]
fn a_report_compares_all_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let output = ferrowave(
        folder.path(),
        &[
            "report",
            "--sizes",
            "32,5x6x7,64",
            "--gpus",
            gpu(),
            "--out",
            "a report",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let kernels: Vec<_> = CATALOGUE
        .iter()
        .filter(|kernel| kernel.types == ElementTypes::F32 && kernel.gpus.contains(gpu()))
        .filter(|kernel| kernel.access != Access::WideAlongK)
        .collect();
    // The ladder of the largest cube, and the path of the page.
    let table = text(&output.stdout);
    for kernel in &kernels {
        assert!(table.contains(kernel.variant.name()), "{table}");
    }
    assert!(table.contains(", f32 → f32, 64×64×64\n"), "{table}");
    let count = 3 * kernels.len();
    let verdict = format!("All {count} computed products are correct.");
    assert!(table.contains(&verdict), "{table}");
    assert!(table.contains("they were not measured on a GPU"), "{table}");
    assert!(table.trim_end().ends_with("report.html"), "{table}");
    let out = folder.path().join("a report");
    let written = results(&out.join("results.json"));
    assert_eq!(
        (&written["schema"], &written["complete"]),
        (&1.into(), &true.into())
    );
    let run = &written["run"];
    let notes = run["notes"].as_array().unwrap();
    // One note for both libraries if the emulator's own is not beside the command, as after `cargo test` alone; else one for each.
    for library in ["rocBLAS", "hipBLASLt"] {
        let says = |note: &str| note.contains(library) && note.contains("left out");
        let note = notes.iter().find(|note| says(note.as_str().unwrap()));
        assert!(note.is_some() && says(&table), "{run}");
    }
    assert_eq!(run["command"][1], "report");
    assert!(
        run["toolchain"].as_str().unwrap().starts_with("rustc "),
        "{run}"
    );
    assert!(run["date"].as_str().unwrap().ends_with('Z'), "{run}");
    assert_eq!(run["devices"][0]["emulated"], true);
    let rows = written["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3 * kernels.len());
    for row in rows {
        assert_eq!(row["outcome"]["passed"], true, "{row}");
        assert!(row["measured"].is_null(), "no GPU ran: {row}");
        assert!(row["modelled"]["seconds"].as_f64().unwrap() > 0.0, "{row}");
        assert!(
            row["counters"]["wave_instructions"].as_u64().unwrap() > 0,
            "{row}"
        );
        assert_eq!(row["built"]["vgpr_spills"], 0, "{row}");
        let share = row["figures"]["share_of_roofline"].as_f64().unwrap();
        assert!(share > 0.0 && share <= 1.0, "{row}");
    }
    for file in ["report.html", "report.md", "results.csv"] {
        let text = fs::read_to_string(out.join(file)).unwrap();
        for kernel in &kernels {
            assert!(
                text.contains(kernel.variant.name()),
                "{file}: {}",
                kernel.symbol
            );
        }
    }
    let plots = fs::read_dir(&out).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".svg")
    });
    assert_eq!(plots.count(), 5);
}

#[test]
fn one_row_as_json_against_a_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = |out: &'static str| {
        [
            "report",
            "--sizes",
            "48",
            "--kernels",
            "naive,lds_tiled",
            "--gpus",
            gpu(),
            "--out",
            out,
        ]
    };
    let output = ferrowave(folder.path(), &[&arguments("a")[..], &["--json"]].concat());
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, results(&folder.path().join("a/results.json")));
    assert_eq!(printed["rows"].as_array().unwrap().len(), 2);
    // Modelled times do not vary.
    let output = ferrowave(
        folder.path(),
        &[&arguments("b")[..], &["--baseline", "a"]].concat(),
    );
    assert!(
        text(&output.stdout).contains("0 faster, 0 slower, 2 the same"),
        "{output:?}"
    );
    let output = ferrowave(
        folder.path(),
        &["compare", "a", "b/results.json", "--fail-under", "1"],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");

    // A kernel that became slower, and one whose result became wrong.
    let file = folder.path().join("b/results.json");
    let mut later = results(&file);
    let seconds = later["rows"][0]["modelled"]["seconds"].as_f64().unwrap();
    later["rows"][0]["modelled"]["seconds"] = (1.25 * seconds).into();
    fs::write(&file, later.to_string()).unwrap();
    let compare = ["compare", "a", "b"];
    let output = ferrowave(folder.path(), &compare);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output.stdout).contains("0 faster, 1 slower, 1 the same"),
        "{output:?}"
    );
    let output = ferrowave(
        folder.path(),
        &[&compare[..], &["--fail-under", "0.75"]].concat(),
    );
    assert_eq!(output.status.code(), Some(0));
    let output = ferrowave(
        folder.path(),
        &[&compare[..], &["--fail-under", "0.9"]].concat(),
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("naive 48×48×48 f32: slower"),
        "{output:?}"
    );
    later["rows"][1]["outcome"]["passed"] = false.into();
    later["complete"] = false.into();
    fs::write(&file, later.to_string()).unwrap();
    let output = ferrowave(folder.path(), &[&compare[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let pairs: Value = serde_json::from_slice(&output.stdout).unwrap();
    let speedup = pairs[0]["speedup"].as_f64().unwrap();
    assert!((speedup - 0.8).abs() < 1e-9, "{speedup}");
    assert_eq!(pairs[1]["change"], "WRONG NOW");
    assert!(
        text(&output.stderr).contains("`b` is from an interrupted run"),
        "{output:?}"
    );

    // Results with a later schema are refused.
    later["schema"] = 9.into();
    fs::write(&file, later.to_string()).unwrap();
    for arguments in [
        &compare[..],
        &[&arguments("c")[..], &["--baseline", "b"]].concat(),
    ] {
        let output = ferrowave(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains("is of schema 9; this program reads up to 1"));
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let output = ferrowave(
        folder.path(),
        &[
            "report",
            "--sizes",
            "4096",
            "--gpus",
            gpu(),
            "--out",
            "file/below",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("file/below` cannot be written"),
        "{output:?}"
    );
}

/// Repeated sizes and kernels run once; file names need not be UTF-8.
#[cfg(unix)]
#[test]
fn repeated_arguments_run_once_and_any_folder_will_do() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    let folder = tempfile::tempdir().unwrap();
    let out = OsStr::from_bytes(b"bad\xff");
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(["report", "--sizes", "8,8x8x8,9", "--gpus", gpu()])
        .args(["--kernels", "naive,gemm_naive_f32,naive", "--out"])
        .arg(out)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let results = results(&folder.path().join(out).join("results.json"));
    assert_eq!(results["rows"].as_array().unwrap().len(), 2, "{results}");
}

/// An estimate runs only as far as the timing model needs, but its time is that of the whole product.
#[test]
fn an_estimate_computes_nothing_and_has_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let output = ferrowave(
        folder.path(),
        &[
            "report",
            "--sizes",
            "512",
            "--estimate",
            "512,2048",
            "--gpus",
            gpu(),
            "--kernels",
            "mfma_lds",
            "--json",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = printed["rows"].as_array().unwrap();
    let estimated: Vec<_> = rows.iter().map(|row| row["estimated"] == true).collect();
    assert_eq!(estimated, [false, true, true]);
    for row in rows {
        assert_eq!(row["outcome"]["passed"], row["estimated"] != true, "{row}");
        assert!(row["outcome"]["complaint"].is_null(), "{row}");
    }
    let seconds = |row: &Value| row["modelled"]["seconds"].as_f64().unwrap();
    assert_eq!(seconds(&rows[0]), seconds(&rows[1]));
    // 64 times the operations, on more of the compute units.
    let ratio = seconds(&rows[2]) / seconds(&rows[0]);
    assert!((4.0..64.0).contains(&ratio), "{ratio}");
    // Only the largest problem has its main loop, and the loop contains the products.
    assert!(rows[0]["main_loop"].is_null());
    let instructions = rows[2]["main_loop"]["instructions"].as_array().unwrap();
    let has = |start| {
        let text = |i: &Value| i["text"].as_str().unwrap().starts_with(start);
        instructions.iter().any(text)
    };
    assert!(
        has("v_mfma") && has("ds_read") && has("s_cbranch"),
        "{instructions:?}"
    );
    assert!(!has("s_endpgm"), "{instructions:?}");
    let page = fs::read_to_string(folder.path().join("ferrowave-report/report.html")).unwrap();
    assert!(page.contains("2 were modelled and not computed"));
}

/// The rows of a report.
fn rows(arguments: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let all = [&["report", "--gpus", gpu(), "--json"], arguments].concat();
    let output = ferrowave(folder.path(), &all);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    printed["rows"].as_array().expect("rows").clone()
}

/// What an estimate leaves out changes no time.
#[test]
fn estimates_of_all_kernels_have_the_times_of_whole_products() {
    let times = |size| {
        let product = ["--layout", "TN", "--beta", "0.5", "--bias", "row"];
        let arguments = [&[size, "300x200x100", "--epilogue", "gelu"], &product[..]].concat();
        let rows = rows(&arguments).into_iter();
        let times = rows.map(|row| [row["kernel"].clone(), row["modelled"].clone()]);
        times.collect::<Vec<_>>()
    };
    let whole = times("--sizes");
    assert!(whole.len() > 4 && whole[0][1].is_object(), "{whole:?}");
    assert_eq!(times("--estimate"), whole);
}

/// Each type has its rows once.
#[test]
fn several_types_are_compared() {
    let rows = rows(&["--type", "i8,f16,i8", "--sizes", "32"]);
    let mut types: Vec<_> = rows.iter().map(|row| &row["problem"]["input"]).collect();
    let count = |types: ElementTypes| {
        let all = CATALOGUE.iter();
        all.filter(|kernel| kernel.types == types && kernel.gpus.contains(gpu()))
            .filter(|kernel| kernel.access != Access::WideAlongK)
            .count()
    };
    let all = count(ElementTypes::I8) + count(ElementTypes::F16);
    assert_eq!(types.len(), all, "{types:?}");
    types.dedup();
    assert_eq!(types, ["i8", "f16"]);
}

/// An interrupted run says what it kept, can be resumed, and can be rendered.
#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_where_it_stood() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "report",
        "--sizes",
        "16,512",
        "--kernels",
        "naive",
        "--out",
        "o",
        "--gpus",
        gpu(),
    ];
    let child = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(arguments)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let file = folder.path().join("o/results.json");
    while !file.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let said = text(&output.stderr);
    assert!(
        said.contains("has 1 of 2 rows") && said.contains("--resume"),
        "{said}"
    );

    let output = ferrowave(folder.path(), &["report", "--render", "o"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = folder.path().join("o/report.html");
    let interrupted = fs::read_to_string(&page).unwrap();
    assert!(interrupted.contains("The run was interrupted") && interrupted.contains("16×16×16"));

    // The existing row stays as it is.
    let mut kept = results(&file);
    kept["rows"][0]["emulation_seconds"] = 1234.5.into();
    fs::write(&file, kept.to_string()).unwrap();
    let resume = [&arguments[..], &["--resume"]].concat();
    let output = ferrowave(folder.path(), &resume);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let whole = results(&file);
    assert_eq!(whole["complete"], true);
    assert_eq!(whole["rows"].as_array().unwrap().len(), 2);
    assert_eq!(whole["rows"][0]["emulation_seconds"], 1234.5);

    // The same results give the same page, whether the folder or the file is named.
    let written = fs::read_to_string(&page).unwrap();
    fs::remove_file(&page).unwrap();
    let output = ferrowave(folder.path(), &["report", "--render", "o/results.json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read_to_string(&page).unwrap(), written);

    // Rows of another run are not mixed with these.
    let output = ferrowave(folder.path(), &[&resume[..], &["--seed", "7"]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        text(&output.stderr).contains("is of another seed"),
        "{output:?}"
    );
    let output = ferrowave(folder.path(), &["report", "--render", "missing"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("missing"), "{output:?}");
}

/// The rows of an interrupted run are shown, and marked as incomplete.
#[test]
fn an_interrupted_run_leaves_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(["report", "--sizes", "16,2048", "--gpus", gpu()])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let file = folder.path().join("ferrowave-report/results.json");
    while !file.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let written = results(&file);
    assert_eq!(written["complete"], false);
    assert!(!written["rows"].as_array().unwrap().is_empty());
}

/// How a report on a GPU runs kernels in other processes.
#[test]
fn rows_alone_are_those_of_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let report = [
        "report",
        "--sizes",
        "32,5x6x7",
        "--kernels",
        "naive,lds_tiled",
        "--alpha",
        "inf",
        "--gpus",
        gpu(),
    ];
    let all = ferrowave(folder.path(), &[&report[..], &["--json"]].concat());
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    fs::remove_dir_all(folder.path().join("ferrowave-report")).unwrap();
    // Two kernels for each problem.
    for (name, numbers) in [("0", 0..2), ("1", 1..2), ("2", 2..4), ("3", 3..4)] {
        let rows = ferrowave(folder.path(), &[&report[..], &["--row", name]].concat());
        assert_eq!(rows.status.code(), Some(0), "{rows:?}");
        let text = String::from_utf8(rows.stdout).unwrap();
        let rows: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(rows.len(), numbers.len(), "{text}");
        for (row, number) in rows.iter().zip(numbers) {
            for field in ["kernel", "problem", "outcome", "modelled", "built"] {
                assert_eq!(row[field], all["rows"][number][field], "{field} of {row}");
            }
        }
    }
    assert!(!folder.path().join("ferrowave-report").exists());
    let none = ferrowave(folder.path(), &[&report[..], &["--row", "4"]].concat());
    assert_eq!(none.status.code(), Some(2), "{none:?}");
}

/// The timing model has no parameters of some Radeons.
#[test]
fn without_a_model_rows_have_results_and_counts() {
    let untimed = "gfx1100";
    let mut built = embedded::gpus().into_iter();
    assert!(
        built.any(|gpu| gpu.name() == untimed),
        "build with FERROWAVE_GPUS that have {untimed}, as `make test` does"
    );
    let folder = tempfile::tempdir().unwrap();
    let report = |more: &[&str]| {
        let arguments = ["report", "--gpus", "RX 7900 XT", "--out", "out"];
        ferrowave(folder.path(), &[&arguments, more].concat())
    };
    let output = report(&["--sizes", "32", "--kernels", "naive"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let table = text(&output.stdout);
    assert!(
        table.contains("no parameters of AMD Radeon RX 7900 XT"),
        "{table}"
    );
    assert!(!table.contains("TFLOP/s"), "{table}");
    let row = &results(&folder.path().join("out/results.json"))["rows"][0];
    assert_eq!(row["outcome"]["passed"], true);
    assert!(row["modelled"].is_null() && row["measured"].is_null());
    assert!(row["counters"]["wave_instructions"].as_u64() > Some(0));
    let output = report(&["--estimate", "512"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = text(&output.stderr);
    assert!(
        error.contains("--estimate") && error.contains("RX 7900 XT"),
        "{error}"
    );
}

/// The library of `host/src/vendor/tests` computes on the host, so that it launches nothing. `tests/real_programs/report.sh` has
/// AMD's own.
#[test]
fn a_library_runs_where_the_emulator_is_hips_library() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = |name: &str| folder.path().join(name);
    let report = |out: &str| {
        Command::new(path("ferrowave"))
            .args(["report", "--gpus", "MI300X", "--sizes", "20"])
            .args(["--kernels", "naive", "--out", out])
            .current_dir(folder.path())
            .env("FERROWAVE_CACHE", path("cache"))
            .env("FERROWAVE_ROCBLAS_LIBRARY", path("libblas.so"))
            .env("FERROWAVE_HIPBLASLT_LIBRARY", path("absent.so"))
            .env_remove("FERROWAVE_DEVICE")
            .output()
            .expect("it runs")
    };
    fs::copy(env!("CARGO_BIN_EXE_ferrowave"), path("ferrowave")).unwrap();
    let output = report("without");
    let note = "rocBLAS and hipBLASLt are left out: libamdhip64.so is not there";
    assert!(text(&output.stdout).contains(note), "{output:?}");

    fs::copy(built::library("libamdhip64.so"), path("libamdhip64.so")).unwrap();
    let source = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../host/src/vendor/tests/blas.c"
    );
    let status = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", source, "-o"])
        .arg(path("libblas.so"))
        .status();
    assert!(status.expect("a C compiler, cc").success());
    let output = report("with");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for note in [
        "rocBLAS is left out for 20×20×20: none of its launches was modelled",
        "hipBLASLt is left out for 20×20×20: hipBLASLt: `",
    ] {
        assert!(text(&output.stdout).contains(note), "{output:?}");
    }
}
