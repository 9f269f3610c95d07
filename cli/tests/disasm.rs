//! `ferrowave disasm` prints what `llvm-objdump -d` prints.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Output},
};

use ferrowave::embedded;
use ferrowave_kernel_build::Toolchain;

fn ferrowave(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .arg("disasm")
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn text(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A file that is removed when it is dropped.
struct File(PathBuf);

impl File {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = env::temp_dir().join(format!("ferrowave-{}-{name}", std::process::id()));
        fs::write(&path, bytes).expect("a temporary file");
        File(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the path is UTF-8")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The lines except those that name the file and its format.
fn lines(listing: &str) -> Vec<&str> {
    let is_heading = |line: &&str| {
        line.is_empty() || line.contains("file format") || line.contains(".amdgcn_target")
    };
    listing.lines().filter(|line| !is_heading(line)).collect()
}

#[test]
fn it_prints_what_llvm_prints() {
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    for (gpu, object) in embedded::code_objects() {
        let file = File::new(&format!("{gpu}.co"), object);
        let llvm = Command::new(toolchain.llvm_objdump())
            .args(["--disassemble", "--disassemble-zeroes", file.path()])
            .output()
            .expect("llvm-objdump runs");
        let (theirs, ours) = (text(&llvm), text(&ferrowave(&[file.path()])));
        let (theirs, ours) = (lines(&theirs), lines(&ours));
        assert!(ours.len() > 1000, "{gpu}: {} lines", ours.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{gpu}");
        }
        assert_eq!(ours.len(), theirs.len(), "{gpu}");
    }
}

/// A bundle of these entries, as clang's document `ClangOffloadBundler` describes it.
fn bundle(entries: &[(String, &[u8])]) -> Vec<u8> {
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend((entries.len() as u64).to_le_bytes());
    let names: usize = entries.iter().map(|(name, _)| 24 + name.len()).sum();
    let mut offset = bundle.len() + names;
    for (name, bytes) in entries {
        for number in [offset, bytes.len(), name.len()] {
            bundle.extend((number as u64).to_le_bytes());
        }
        bundle.extend(name.bytes());
        offset += bytes.len();
    }
    for (_, bytes) in entries {
        bundle.extend(*bytes);
    }
    bundle
}

#[test]
fn it_picks_from_bundles_and_says_what_it_cannot_find() {
    let (gpu, object) = embedded::code_objects().next().unwrap();
    let entries = [
        ("host-x86_64-unknown-linux-gnu-".to_owned(), &[][..]),
        ("hipv4-amdgcn-amd-amdhsa--gfx1030".to_owned(), object),
        (format!("hipv4-amdgcn-amd-amdhsa--{gpu}"), object),
    ];
    let packed = File::new("bundle.hipfb", &bundle(&entries));
    let plain = File::new("plain.co", object);
    let all = text(&ferrowave(&[packed.path()]));
    assert!(all.contains(&format!("(hipv4-amdgcn-amd-amdhsa--{gpu}):\tfile format")));
    assert_eq!(lines(&all), lines(&text(&ferrowave(&[plain.path()]))));

    let name = ferrowave_code_object::CodeObject::parse(object)
        .expect("the build made it")
        .kernels()[0]
        .metadata
        .name
        .clone();
    let one = text(&ferrowave(&[
        packed.path(),
        "--kernel",
        &name,
        "--gpu",
        gpu.name(),
    ]));
    assert!(one.contains(&format!("<{name}>:")));
    assert!(lines(&one).len() < lines(&all).len());

    let other = ["gfx908", "gfx950"]
        .into_iter()
        .find(|other| *other != gpu.name());
    let other = other.expect("one of them is another");
    let text = File::new("text.txt", b"no code object at all");
    for (arguments, part) in [
        (vec!["/nowhere/at.all"], "/nowhere/at.all: No such file"),
        (
            vec![text.path()],
            "neither a code object nor an offload bundle",
        ),
        (
            vec![env!("CARGO_BIN_EXE_ferrowave")],
            "it has no section `.hip_fatbin`",
        ),
        (
            vec![packed.path(), "--kernel", "absent"],
            "no kernel `absent`, only: ",
        ),
        (
            vec![packed.path(), "--gpu", other],
            "holds no code object for",
        ),
    ] {
        let output = ferrowave(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(error.contains(part), "{arguments:?}: {error}");
    }
}
