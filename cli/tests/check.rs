//! `ferrowave check`: the ladder has no findings, and planted bugs are found, printed and written.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use ferrowave::embedded;
use ferrowave_gpu::Gpu;
use ferrowave_shared::{CATALOGUE, ElementTypes};
use serde_json::Value;

/// Each workgroup of 128 work-items writes the same 128 dwords of its argument, and its waves read each other's LDS
/// without a barrier.
const RACY: &str = "
.text
.globl racy
.p2align 8
.type racy,@function
racy:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  v_xor_b32_e32 v2, 0x100, v1
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[4:5]
  s_endpgm
.Lend:
.size racy, .Lend-racy
.rodata
.p2align 6
.amdhsa_kernel racy
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 512
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: racy
    .symbol: racy.kd
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
    .kernarg_segment_size: 8
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
...
.end_amdgpu_metadata
";

fn ferrowave(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(arguments)
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Checks the racy kernel, with its buffer as `argument` says and more command-line arguments.
fn check_racy(folder: &Path, argument: &str, more: &[&str]) -> Output {
    let file = folder.join("racy kernel.co");
    let object = ferrowave_kernel_build::assemble(Gpu::Gfx942, RACY).expect("LLVM assembles it");
    fs::write(&file, object).expect("a file");
    let file = file.to_str().expect("a path in UTF-8");
    let mut arguments = vec![
        "check",
        "--device",
        "emulator:gfx942",
        "--code-object",
        file,
        "--kernel",
        "racy",
        "--grid",
        "3",
        "--block",
        "128",
        "--arg",
        argument,
    ];
    arguments.extend(more);
    ferrowave(&arguments)
}

#[test]
fn the_ladder_is_clean() {
    let gpus: Vec<Gpu> = embedded::gpus();
    let mut checked = 0;
    for gpu in gpus {
        for types in ElementTypes::ALL {
            let has = |kernel: &ferrowave_shared::Kernel| {
                kernel.types == *types && kernel.gpus.contains(gpu.name())
            };
            if !CATALOGUE.iter().any(has) {
                continue;
            }
            // The GPU decides the encoding.
            let name = types.name().trim_end_matches("_fnuz");
            // Odd extents: edges, remainders of k, and more than one stage of each pipeline. The old C is read, too.
            let output = ferrowave(&[
                "check",
                "--device",
                &format!("emulator:{gpu}"),
                "--kernel",
                "all",
                "--type",
                name,
                "--m",
                "130",
                "--n",
                "141",
                "--k",
                if types.block() > 1 { "352" } else { "331" },
                "--beta",
                "2",
            ]);
            let said = text(&output.stdout) + &text(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{gpu} {name}: {said}");
            assert!(said.contains("nothing found"), "{said}");
            checked += 1;
        }
    }
    assert!(checked > 0);
}

#[test]
fn findings_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = check_racy(folder.path(), "zeros:128xu32", &[]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in [
        "lds-race: ",
        "`ds_read_b32 v3, v2`",
        "global-race: ",
        "`global_store_dword v1, v3, s[4:5]`",
        "device allocation of 512 bytes",
        "no line tables",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // A single check finds what it is for.
    let output = check_racy(folder.path(), "zeros:128xu32", &["--checks", "races"]);
    let said = text(&output.stdout);
    assert!(
        said.contains("global-race") && !said.contains("lds-race"),
        "{said}"
    );
    let output = check_racy(
        folder.path(),
        "zeros:128xu32",
        &["--checks", "memory,waits"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    // The writes stay in the page, so that the launch ends well.
    let output = check_racy(folder.path(), "zeros:100xu32", &["--checks", "memory"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("out-of-bounds: lanes 36 to 63, each writes 4 bytes"),
        "{said}"
    );
}

#[test]
fn findings_are_written_for_tools() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = check_racy(folder.path(), "zeros:128xu32", &["--format", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["version"], 1);
    let findings = json["findings"].as_array().expect("a list");
    let race = findings
        .iter()
        .find(|finding| finding["kind"] == "global-race")
        .expect("the race");
    assert_eq!(race["kernel"], "racy");
    assert_eq!(race["memory"]["space"], "global");
    assert_eq!(race["memory"]["allocation"]["bytes"], 512);
    assert_ne!(race["workgroup"], race["other"]["workgroup"]);
    assert!(
        race["instruction"]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("global_store"))
    );
    let file = folder.path().join("findings.sarif");
    let name = file.to_str().expect("a path in UTF-8");
    let output = check_racy(
        folder.path(),
        "zeros:128xu32",
        &["--format", "sarif", "--output", name],
    );
    assert_eq!(output.status.code(), Some(3));
    let sarif: Value = serde_json::from_slice(&fs::read(&file).expect("the file")).expect("JSON");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in run["results"].as_array().expect("results") {
        let rule = result["ruleIndex"].as_u64().expect("a number") as usize;
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        assert_eq!(
            result["locations"][0]["logicalLocations"][0]["name"],
            "racy"
        );
    }
}

#[test]
fn findings_are_not_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere = folder.path().join("missing").join("findings.json");
    let name = nowhere.to_str().expect("a path in UTF-8");
    let output = check_racy(folder.path(), "zeros:128xu32", &["--output", name]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.contains("global-race") && said.contains("cannot be written"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_checked_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let racy = |argument, more: &[&str]| check_racy(folder.path(), argument, more);
    for (output, code, part) in [
        (
            ferrowave(&["check", "--checks", "race"]),
            2,
            "unknown check `race`; known are memory, lds, races",
        ),
        (
            ferrowave(&["check", "--checks", ""]),
            2,
            "no check is named",
        ),
        (
            ferrowave(&["check", "--device", "hip:0"]),
            2,
            "only the emulator checks kernels",
        ),
        (ferrowave(&["check", "--kernel", "nothing"]), 2, "nothing"),
        (ferrowave(&["check", "--grid", "1"]), 2, "--code-object"),
        (racy("ones:3xf32", &[]), 2, "`ones` is no kind of buffer"),
        (
            racy("f32=1", &[]),
            2,
            "argument 0 of `racy` is a buffer, but a value is given",
        ),
        (
            racy("zeros:3xf32", &["--arg", "f32=1"]),
            2,
            "takes 1 arguments, but 2 are given",
        ),
        (
            racy("zeros:3xf32", &["--lds", "99999999"]),
            2,
            "100000511 bytes of LDS",
        ),
        (racy("file:/nowhere", &[]), 1, "/nowhere"),
    ] {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(part), "{part}: {said}");
        assert_eq!(text(&output.stdout), "", "nothing ran: {part}");
    }
}

#[test]
fn any_program_is_checked_as_the_environment_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("found.json");
    let run = |checks: &str| {
        Command::new(env!("CARGO_BIN_EXE_ferrowave"))
            .args([
                "run",
                "--device",
                "emulator:gfx942",
                "--m",
                "40",
                "--n",
                "30",
                "--k",
                "20",
            ])
            .env("FERROWAVE_CHECK", checks)
            .env("FERROWAVE_CHECK_OUTPUT", &file)
            .output()
            .expect("it runs")
    };
    let output = run("all");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&fs::read(&file).expect("the file")).expect("JSON");
    assert_eq!(json["findings"], Value::Array(Vec::new()));
    let output = run("everything");
    assert_ne!(output.status.code(), Some(0));
    assert!(
        text(&output.stderr).contains("unknown check `everything`"),
        "{}",
        text(&output.stderr)
    );
}
