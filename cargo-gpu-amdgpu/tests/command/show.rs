//! `inspect` and `asm`, compared with LLVM's tools.

use std::{fs, process::Command};

use ferrowave_code_object::CodeObject;
use serde_json::Value;

use crate::support::{command, run, run_command, scale, softmax, target_dir, tmp, toolchain};

/// The code object of a crate's last build.
fn product(name: &str) -> std::path::PathBuf {
    target_dir().join(format!("gpu-amdgpu/gfx942/{name}.elf"))
}

#[test]
fn what_is_shown_is_what_llvm_reads() {
    let shown = run(softmax(), &["inspect", "--json"]).ok();
    let rows: Value = serde_json::from_str(&shown).expect("JSON");
    let rows = rows.as_array().expect("rows");
    let notes = Command::new(toolchain().llvm_readobj())
        .arg("--notes")
        .arg(product("softmax"))
        .output()
        .expect("llvm-readobj runs");
    let notes = String::from_utf8_lossy(&notes.stdout).into_owned();
    // The note is YAML; the values of a key are in the order of the kernels.
    let values = |key: &str| -> Vec<u64> {
        notes
            .lines()
            .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix(key))
            .map(|value| value.trim().parse().expect("a number"))
            .collect()
    };
    assert_eq!(rows.len(), 2);
    for (column, key) in [
        ("vgprs", ".vgpr_count:"),
        ("agprs", ".agpr_count:"),
        ("sgprs", ".sgpr_count:"),
        ("vgpr_spills", ".vgpr_spill_count:"),
        ("sgpr_spills", ".sgpr_spill_count:"),
        ("lds_bytes", ".group_segment_fixed_size:"),
        ("scratch_bytes", ".private_segment_fixed_size:"),
        ("max_workgroup_size", ".max_flat_workgroup_size:"),
    ] {
        let shown: Vec<_> = rows
            .iter()
            .map(|row| row[column].as_u64().expect(column))
            .collect();
        assert_eq!(shown, values(key), "{column}");
    }
    let kinds: Vec<_> = rows[1]["arguments"]
        .as_array()
        .expect("arguments")
        .iter()
        .map(|argument| {
            (
                argument["kind"].as_str().expect("a kind"),
                &argument["size_bytes"],
            )
        })
        .map(|(kind, size)| format!("{kind} {size}"))
        .collect();
    assert_eq!(kinds, ["buffer 8", "buffer 8", "value 4", "value 4"]);
}

#[test]
fn lds_limits_the_occupancy() {
    // Three times 20000 bytes fit into 65536: three workgroups of four waves on four SIMDs.
    let arguments = ["inspect", "--kernel", "softmax", "--lds", "20000", "--json"];
    let rows: Value = serde_json::from_str(&run(softmax(), &arguments).ok()).expect("JSON");
    assert_eq!(rows.as_array().expect("rows").len(), 1);
    assert_eq!(rows[0]["workgroups_per_compute_unit"], 3);
    assert_eq!(rows[0]["waves_per_simd"], 3);
    assert_eq!(rows[0]["limited_by"][0], "LDS");
    run(softmax(), &["inspect", "--block", "300"]).fails(2, &["300 work-items", "takes 1 to 256"]);
}

#[test]
fn instructions_are_llvms_under_lines_of_the_source() {
    let listing = run(softmax(), &["asm", "--kernel", "softmax"]).ok();
    let file = fs::read(product("softmax")).expect("the code object");
    let object = CodeObject::parse(&file).expect("a code object");
    let code = object.kernel("softmax").expect("the kernel").code.clone();
    let expected: Vec<_> = toolchain()
        .disassemble(&file)
        .expect("llvm-objdump runs")
        .into_iter()
        .filter(|line| code.contains(&line.address))
        .map(|line| format!("{:x}  {}", line.address - code.start, line.text))
        .collect();
    // Only lines with an instruction begin with a number, after the bars.
    let shown: Vec<_> = listing
        .lines()
        .map(|line| line.trim_start_matches(['│', ' ']))
        .filter(|line| {
            line.split_once("  ")
                .is_some_and(|(offset, _)| u64::from_str_radix(offset, 16).is_ok())
        })
        .map(str::to_owned)
        .collect();
    assert_eq!(shown, expected);

    let source = "src/kernels.rs:37  largest = largest.max(unsafe { *input.add(start + column) });";
    assert!(listing.contains(source), "{listing}");
    let begun = listing.matches("┌ loop ").count();
    // At least the three loops over columns. The compiler may unroll those of the reductions.
    assert!(
        begun >= 3 && begun == listing.matches("└ loop ").count(),
        "{listing}"
    );
    // The loop of the maximum has a load and no store.
    let loops = listing.lines().filter(|line| line.contains("┌ loop "));
    assert!(
        loops
            .clone()
            .any(|line| line.contains(" 1 vector memory, ")),
        "{listing}"
    );
}

#[test]
fn differences_are_those_of_the_code() {
    let before = tmp("diff").join("before.elf");
    run(scale(), &["build"]).ok();
    fs::copy(product("scale"), &before).expect("copies");
    let before = before.display().to_string();
    let same = run(scale(), &["asm", "--diff", &before]).ok();
    assert_eq!(same, "scale on gfx942: the same\n");
    let tuned = run(
        scale(),
        &[
            "asm",
            "--kernel",
            "scale",
            "--features",
            "tuned",
            "--diff",
            &before,
        ],
    )
    .ok();
    let added = |line: &str| line.starts_with("+v_") && line.contains("1.0");
    assert!(tuned.lines().any(added), "{tuned}");
    assert!(tuned.contains("VGPRs") && tuned.contains("@@"), "{tuned}");
    let other = run(
        softmax(),
        &["asm", "--kernel", "softmax", "--diff", &before],
    )
    .ok();
    assert_eq!(other, "softmax on gfx942: not in the other build\n");
}

#[test]
fn output_may_be_closed_and_not_full() {
    for arguments in [&["inspect"][..], &["asm"], &["inspect", "--json"], &["man"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let closed = run_command(command(scale(), arguments).stdout(writer));
        assert_eq!(closed.code, 0, "{arguments:?}: {}", closed.stderr);
        let full = fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("opens");
        run_command(command(scale(), arguments).stdout(full))
            .fails(1, &["standard output cannot be written"]);
    }
}
