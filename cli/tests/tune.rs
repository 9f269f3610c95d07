//! `ferrowave tune`: the table of a machine, and winners that are measured on a device (the emulator).

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn ferrowave(cache: &Path, tuning: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(arguments)
        .env("FERROWAVE_CACHE", cache)
        .env("FERROWAVE_TUNING", tuning)
        .env_remove("FERROWAVE_DEVICE")
        .output()
        .expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", text(&output.stderr));
}

const RUN: [&str; 13] = [
    "run",
    "--device",
    "gfx90a",
    "--m",
    "48",
    "--n",
    "80",
    "--k",
    "64",
    "--type",
    "f16",
    "--verbose",
    "--timeout=60s",
];

#[test]
fn winners_are_measured_kept_and_used_as_the_environment_says() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    let run = |tuning| {
        let output = ferrowave(cache, tuning, &RUN);
        succeeded(&output);
        text(&output.stderr)
    };
    assert!(run("read").contains("by the table of MI210, modelled"));
    let size = ["--sizes", "48x80x64", "--type", "f16"];
    let tuned = ferrowave(
        cache,
        "read",
        &[&["tune", "--device", "gfx90a"], &size[..]].concat(),
    );
    succeeded(&tuned);
    assert!(text(&tuned.stdout).contains("measured on this device"));
    assert!(text(&tuned.stdout).contains("is second"));
    assert!(text(&tuned.stdout).contains("times of the emulation"));
    assert!(run("").contains("measured on this device"));
    assert!(run("off").contains("by the table of MI210, modelled"));

    // A truncated file.
    let mut files = fs::read_dir(cache.join("tuning")).unwrap().flatten();
    let file = files
        .find(|file| file.path().extension().is_some_and(|e| e == "csv"))
        .expect("a file of winners")
        .path();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 2]).unwrap();
    let said = run("read");
    assert!(said.contains("1 of its lines can't be read"), "{said}");
    assert!(said.contains("by the table of MI210"), "{said}");

    let refused = ferrowave(cache, "sometimes", &RUN);
    assert!(!refused.status.success());
    let expected = "FERROWAVE_TUNING is `sometimes`; expected off, read or on";
    assert!(
        text(&refused.stderr).contains(expected),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn a_table_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.csv");
    let name = file.to_str().unwrap();
    let tune = || {
        let arguments = [
            "tune",
            "--gpu",
            "MI210",
            "--types",
            "f64",
            "--kernels",
            "split_k_64x64",
            "--out",
            name,
        ];
        ferrowave(folder.path(), "read", &arguments)
    };
    let first = tune();
    succeeded(&first);
    assert!(text(&first.stdout).starts_with("4 rows modelled"));
    // As an interrupted command leaves it.
    let table = fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = table.lines().collect();
    fs::write(&file, lines[..lines.len() - 1].join("\n")).unwrap();
    let second = tune();
    succeeded(&second);
    assert!(text(&second.stdout).starts_with("1 rows modelled"));
    assert!(text(&second.stdout).contains("3 kept"));
    // The model gives the same costs again.
    assert_eq!(fs::read_to_string(&file).unwrap(), table);

    fs::write(&file, "gemm_split_k_64x64_f64,NN,0,1\n").unwrap();
    let refused = tune();
    assert!(!refused.status.success());
    let said = text(&refused.stderr);
    assert!(
        said.contains("line 1 of the table: 1 numbers, but there are 17 columns"),
        "{said}"
    );
}
