//! `ferrowave profile`, and profiles of unchanged HIP programs.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use ferrowave::embedded;
use ferrowave_gpu::Gpu;
use serde_json::Value;

/// Each of 128 work-items writes its number. No line tables.
const NUMBERS: &str = "
.text
.globl numbers
.p2align 8
.type numbers,@function
numbers:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v0, s[4:5]
  s_endpgm
.Lend:
.size numbers, .Lend-numbers
.rodata
.p2align 6
.amdhsa_kernel numbers
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: numbers
    .symbol: numbers.kd
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
...
.end_amdgpu_metadata
";

fn ferrowave(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrowave"));
    command.args(arguments).env_remove("FERROWAVE_DEVICE");
    command
}

fn output(mut command: Command) -> (Output, String, String) {
    let output = command.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(!error.contains("panicked"), "{error}");
    (output, out, error)
}

/// A GPU that the kernels are built for, as `--device` takes it.
fn device() -> String {
    format!("emulator:{}", embedded::gpus()[0])
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

const SIZE: [&str; 6] = ["--m", "64", "--n", "64", "--k", "64"];

#[test]
fn a_kernel_of_the_ladder() {
    let folder = tempfile::tempdir().unwrap();
    let (page, json) = (folder.path().join("p.html"), folder.path().join("p.json"));
    let device = device();
    let mut arguments = vec!["profile", "--kernel", "naive", "--device", &device];
    arguments.extend(SIZE);
    arguments.extend(["--html", name(&page), "--json", name(&json), "--listing"]);
    let (run, out, error) = output(ferrowave(&arguments));
    assert_eq!(run.status.code(), Some(0), "{error}");
    let title = format!(
        "gemm_naive_f32 on {}: 1 launch, 16 workgroups, 64 waves\n",
        embedded::gpus()[0]
    );
    assert!(out.starts_with(&title), "{out}");
    // Lines with their source text, the calls that they were inlined through, and instructions.
    assert!(out.contains("kernels/src/tile/"), "{out}");
    assert!(out.contains("← s01_naive.rs:"), "{out}");
    let text = "sum.add_outer_product([a], [b]);";
    let source = include_str!("../../kernels/src/steps/s01_naive.rs");
    let number = 1 + source.lines().position(|line| line.trim() == text).unwrap();
    assert!(out.contains(&format!("← s01_naive.rs:{number} ")), "{out}");
    let element = "core::f32::math::mul_add(self, factor, addend)";
    assert!(out.contains(element), "{out}");
    assert!(out.contains("  s_endpgm\n"), "{out}");
    assert!(!out.contains("no line tables"), "{out}");
    let json: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let totals = &json["profiles"][0]["totals"];
    assert_eq!(totals["flops"], 2 * 64 * 64 * 64 + 64 * 64);
    let count = totals["wave_instructions"].as_u64().unwrap();
    let instructions = json["profiles"][0]["instructions"].as_array().unwrap();
    let executions = instructions
        .iter()
        .map(|i| i["executions"].as_u64().unwrap());
    assert_eq!(executions.sum::<u64>(), count);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("heat8"));
}

#[test]
fn a_kernel_of_any_code_object() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("numbers.co");
    let object = ferrowave_kernel_build::assemble(Gpu::Gfx942, NUMBERS).expect("LLVM assembles it");
    fs::write(&file, object).unwrap();
    let (run, out, error) = output(ferrowave(&[
        "profile",
        "--code-object",
        name(&file),
        "--kernel",
        "numbers",
        "--grid",
        "3",
        "--block",
        "128",
        "--arg",
        "zeros:128xu32",
        "--device",
        "emulator:gfx942",
    ]));
    assert_eq!(run.status.code(), Some(0), "{error}");
    assert!(
        out.starts_with("numbers on gfx942: 1 launch, 3 workgroups, 6 waves\n"),
        "{out}"
    );
    assert!(
        out.contains("0 B read, 1,536 B written, in 6 accesses"),
        "{out}"
    );
    assert_eq!(out.matches("no line tables").count(), 1, "{out}");
}

#[test]
fn what_cannot_be_is_said() {
    let refused = |arguments: &[&str], code, part| {
        let (run, _, error) = output(ferrowave(arguments));
        assert_eq!(run.status.code(), Some(code), "{error}");
        assert!(error.contains(part), "{error}");
    };
    refused(
        &["profile", "--device", "hip:0"],
        2,
        "only the emulator counts what kernels do",
    );
    refused(&["profile", "--kernel", "nave"], 2, "nave");
    // If the file cannot be written because its folder is missing, its content is printed anyway.
    let device = device();
    let mut arguments = vec!["profile", "--kernel", "naive", "--device", &device];
    arguments.extend(SIZE);
    arguments.extend(["--html", "/nowhere/at all/p.html"]);
    refused(&arguments, 1, "`/nowhere/at all/p.html` cannot be written");
    refused(&arguments, 1, "  s_endpgm\n");
}

#[test]
fn programs_leave_profiles_in_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("made/for it");
    let device = device();
    let mut arguments = vec!["run", "--kernel", "naive", "--device", &device];
    arguments.extend(SIZE);
    let mut command = ferrowave(&arguments);
    command.env("FERROWAVE_PROFILE", &directory);
    let (run, _, error) = output(command);
    assert_eq!(run.status.code(), Some(0), "{error}");
    let mut files: Vec<_> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let expected = ["html", "json", "txt"].map(|ending| format!("gemm_naive_f32.{ending}"));
    assert_eq!(files, expected);
    let text = fs::read_to_string(directory.join("gemm_naive_f32.txt")).unwrap();
    assert!(text.contains("1 launch, 16 workgroups, 64 waves"), "{text}");
    let json = fs::read(directory.join("gemm_naive_f32.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        json["profiles"][0]["totals"]["flops"],
        2 * 64 * 64 * 64 + 64 * 64
    );
}

#[test]
fn launches_add_up_and_checks_see_them_too() {
    let folder = tempfile::tempdir().unwrap();
    let device = device();
    let report = folder.path().join("report");
    let arguments = [
        "report",
        "--out",
        report.to_str().unwrap(),
        "--sizes",
        "16,32",
        "--kernels",
        "naive,lds_tiled",
        "--device",
        &device,
    ];
    let mut command = ferrowave(&arguments);
    command
        .env("FERROWAVE_PROFILE", folder.path().join("profiles"))
        .env("FERROWAVE_CHECK", "memory,lds");
    let (run, _, error) = output(command);
    assert_eq!(run.status.code(), Some(0), "{error}");
    for kernel in ["gemm_naive_f32", "gemm_lds_tiled_f32"] {
        let file = folder.path().join(format!("profiles/{kernel}.json"));
        let json = fs::read(file).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let profile = &json["profiles"][0];
        assert_eq!(profile["launches"], 2, "{kernel}");
        let stored: u64 = 4 * (16 * 16 + 32 * 32);
        assert_eq!(
            profile["totals"]["global_written_bytes"], stored,
            "{kernel}"
        );
    }
}

#[test]
fn profiles_that_cannot_be_written_go_to_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let device = device();
    let mut arguments = vec!["run", "--kernel", "naive", "--device", &device];
    arguments.extend(SIZE);
    let mut command = ferrowave(&arguments);
    command.env("FERROWAVE_PROFILE", file.join("below"));
    let (run, out, error) = output(command);
    // The program continues.
    assert_eq!(run.status.code(), Some(0), "{error}");
    assert!(out.contains("correct"), "{out}");
    assert!(
        error.contains("the profile of gemm_naive_f32 cannot be written"),
        "{error}"
    );
    assert!(
        error.contains("1 launch, 16 workgroups, 64 waves"),
        "{error}"
    );
    assert!(error.contains("  s_endpgm\n"), "{error}");
}
