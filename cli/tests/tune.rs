//! `ferrowave tune`: the table of a machine, and winners that are measured on a device (the emulator).

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn command(cache: &Path, tuning: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowave"));
    command
        .args(arguments)
        .env("FERROWAVE_CACHE", cache)
        .env("FERROWAVE_TUNING", tuning)
        .env_remove("FERROWAVE_DEVICE");
    command
}

fn ferrowave(cache: &Path, tuning: &str, arguments: &[&str]) -> Output {
    command(cache, tuning, arguments)
        .output()
        .expect("it starts")
}

/// The file of winners.
fn winners(cache: &Path) -> PathBuf {
    let mut files = fs::read_dir(cache.join("tuning")).expect("reads").flatten();
    let file = files.find(|file| file.path().extension().is_some_and(|e| e == "csv"));
    file.expect("a file of winners").path()
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
    let file = winners(cache);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 2]).unwrap();
    let said = run("read");
    assert!(said.contains("1 of its lines can't be read"), "{said}");
    assert!(said.contains("by the table of MI210"), "{said}");
    // A file of another version.
    let table = String::from_utf8(whole).unwrap();
    fs::write(&file, table.replacen("tuning 2", "tuning 1", 1)).unwrap();
    let said = run("read");
    assert!(
        said.contains("truncated or of another version; its winners are not used"),
        "{said}"
    );
    assert!(said.contains("by the table of MI210"), "{said}");
    // A problem without a winner is measured first, which replaces the file.
    assert!(run("on").contains("measured on this device"));
    assert_eq!(
        fs::read_to_string(&file).unwrap().lines().next(),
        table.lines().next()
    );
    assert!(run("read").contains("measured on this device"));

    // A folder that can't be written: the winner is used, and lost.
    let not_a_folder = cache.join("file");
    fs::write(&not_a_folder, "").unwrap();
    let output = ferrowave(&not_a_folder, "on", &RUN);
    succeeded(&output);
    let said = text(&output.stderr);
    assert!(said.contains("the winner is not kept: `"), "{said}");
    assert!(said.contains("measured on this device"), "{said}");

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
fn what_was_measured_before_an_interruption_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    // The second size takes minutes.
    let arguments = [
        "tune",
        "--device",
        "gfx90a",
        "--sizes",
        "48x80x64,8192",
        "--type",
        "f16",
    ];
    let mut child = command(folder.path(), "read", &arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut line).expect("a line");
    assert!(line.starts_with("48×80×64: "), "{line}");
    // A size has its line once its winner is kept.
    child.kill().expect("it still runs");
    child.wait().expect("it ended");
    assert!(winners(folder.path()).exists());
    let run = ferrowave(folder.path(), "read", &RUN);
    succeeded(&run);
    assert!(text(&run.stderr).contains("measured on this device"));
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
        said.contains("line 1 of the table: 1 numbers, but there are 24 columns"),
        "{said}"
    );
}
