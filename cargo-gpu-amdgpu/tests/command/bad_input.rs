//! Invalid input is refused with a clear error.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::support::{
    KERNELS, bare_crate, command, empty, run, run_command, scale, softmax, tmp, toolchain,
};

#[test]
fn what_is_no_crate_of_kernels_is_refused() {
    // Outside of the workspace, because the other directories have its manifest above them.
    let nowhere = tempfile::tempdir().expect("a directory");
    fs::write(
        nowhere.path().join("rust-toolchain.toml"),
        include_str!("../../../rust-toolchain.toml"),
    )
    .expect("writes");
    run(nowhere.path(), &["build"]).fails(2, &["could not find `Cargo.toml`"]);
    // Nor does the default toolchain matter then.
    let empty_dir = tempfile::tempdir().expect("a directory");
    run(empty_dir.path(), &["run", "k"]).fails(2, &["could not find `Cargo.toml`", "new"]);
    run(
        nowhere.path(),
        &["build", "--manifest-path", "x/Cargo.toml"],
    )
    .fails(2, &["x/Cargo.toml: there is no such file"]);
    run(nowhere.path(), &["build", "--manifest-path", "."]).fails(2, &["a path to a Cargo.toml"]);

    let none = bare_crate(
        "no kernels",
        "",
        "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }\n",
    );
    run(&none, &["build"]).fails(
        2,
        &["has no kernel for gfx942", "pub extern \"gpu-kernel\" fn"],
    );

    let host = bare_crate("host only", "", "pub fn hello() { println!(\"hello\"); }\n");
    run(&host, &["build"]).fails(1, &["error[E0463]", "A GPU has no `std`"]);

    let program = bare_crate("program only", "", "");
    fs::rename(program.join("src/lib.rs"), program.join("src/main.rs")).expect("renames");
    fs::write(program.join("src/main.rs"), "fn main() {}").expect("writes");
    run(&program, &["build"]).fails(2, &["package `program-only` has no library"]);

    let workspace = empty("workspace");
    fs::write(
        workspace.join("Cargo.toml"),
        "[workspace]\nmembers = [\"a\"]\nresolver = \"3\"\n",
    )
    .expect("writes");
    fs::create_dir_all(workspace.join("a/src")).expect("creates");
    fs::write(
        workspace.join("a/Cargo.toml"),
        "[package]\nname = \"a\"\nedition = \"2024\"\n",
    )
    .expect("writes");
    fs::write(workspace.join("a/src/lib.rs"), "").expect("writes");
    run(&workspace, &["inspect"]).fails(2, &["without a package of its own", ": a"]);
    // In its directory, the package is found.
    fs::write(
        workspace.join("a/Cargo.toml"),
        "[package]\nname = \"a\"\nedition = \"2024\"\n[package.metadata.gpu-amdgpu]\ngpus = [\"gfx1\"]\n",
    )
    .expect("writes");
    run(&workspace.join("a/src"), &["inspect"]).fails(2, &["a/Cargo.toml", "unknown GPU `gfx1`"]);
}

#[test]
fn the_compilers_messages_are_unharmed() {
    let broken = bare_crate(
        "broken",
        "",
        &format!("{KERNELS}const N: u32 = \"text\";\n"),
    );
    let said = run(&broken, &["build"]).fails(1, &["error[E0308]: mismatched types"]);
    assert!(said.contains("\n --> src/lib.rs:5:16\n"), "{said}");
    let warned = bare_crate(
        "warned",
        "",
        &format!(
            "{KERNELS}#[unsafe(no_mangle)] pub extern \"gpu-kernel\" fn nothing() {{ let unused = 1; }}\n"
        ),
    );
    let ran = run(&warned, &["build"]);
    assert!(
        ran.stderr.contains("warning: unused variable: `unused`"),
        "{}",
        ran.stderr
    );
    ran.ok();
}

#[test]
fn manifests_are_read_strictly() {
    let slip = bare_crate(
        "slip",
        "[package.metadata.gpu-amdgpu]\ngpus = [\"gfx1\"]",
        KERNELS,
    );
    run(&slip, &["build"]).fails(
        2,
        &["Cargo.toml: package.metadata.gpu-amdgpu: gpus: unknown GPU `gfx1`"],
    );
}

#[test]
fn unknown_names_are_refused_and_the_nearest_is_named() {
    let dir = scale();
    run(dir, &["build", "--gpu", "gfx94"]).fails(
        2,
        &["known are gfx908 (MI100), gfx90a (MI210, MI250X), gfx942"],
    );
    run(dir, &["build", "--gpu", "gfx942,"]).fails(2, &["unknown GPU ``"]);
    run(dir, &["build", "--launch-bounds", "scal=64"]).fails(2, &["did you mean `scale`?"]);
    run(dir, &["build", "--launch-bounds", "scale=2000"]).fails(2, &["2000", "within 1 to 1024"]);
    run(dir, &["inspect", "--kernel", "scales"]).fails(2, &["did you mean `scale`?"]);
    run(dir, &["asm", "--kernel", "gemm"]).fails(2, &["no kernel `gemm`; kernels are scale"]);
    let launch = ["run", "scalar", "--grid", "1", "--block", "64"];
    run(dir, &launch).fails(2, &["no kernel `scalar`", "did you mean `scale`?"]);
    run(
        dir,
        &[
            "check", "scale", "--grid", "1", "--block", "64", "--device", "hip:0",
        ],
    )
    .fails(2, &["only the emulator"]);
}

#[test]
fn arguments_that_the_kernel_does_not_take_are_refused() {
    let check = |arguments: &[&str], parts: &[&str]| {
        let launch = ["run", "scale", "--grid", "1", "--block", "64"];
        run(scale(), &[&launch[..], arguments].concat()).fails(2, parts);
    };
    let buffer = "--arg=zeros:64xf32";
    check(
        &[buffer],
        &[
            "`scale` takes 2 arguments, but 1 are given",
            "a buffer (`data: *mut f32`), a value of 4 bytes (`factor: f32`)",
        ],
    );
    check(
        &["--arg=f32=1", "--arg=f32=1"],
        &["argument 0 of `scale` is a buffer (`data: *mut f32`), but a value is given"],
    );
    check(
        &[buffer, buffer],
        &["argument 1 of `scale` is a value of 4 bytes (`factor: f32`), but a buffer is given"],
    );
    check(
        &[buffer, "--arg=f64=1"],
        &["argument 1 of `scale` is a value of 4 bytes (`factor: f32`), but 8 bytes are given"],
    );
    // The right length, but of another type.
    check(
        &[buffer, "--arg=u32=1"],
        &["argument 1 of `scale` is a value of 4 bytes (`factor: f32`), but u32 is given"],
    );
    for element in ["i32", "f64", "u16"] {
        check(
            &[&format!("--arg=zeros:64x{element}"), "--arg=f32=1"],
            &[&format!(
                "argument 0 of `scale` is a buffer (`data: *mut f32`), but a buffer of {element} is given"
            )],
        );
    }
    check(&[buffer, "--arg=f32"], &["write f32=1.5"]);
    let factor = "--arg=f32=2";
    check(&[buffer, factor, "--out=2=x"], &["there are 2 arguments"]);
    check(&[buffer, factor, "--out=1=x"], &["it is no buffer"]);
    check(
        &["--arg=zeros:64xbf16", factor, "--out=0=x.npy"],
        &["NumPy has no type bf16"],
    );
    check(
        &[buffer, factor, "--block=65"],
        &["cannot be used multiple times"],
    );
    let large = [
        "run", "scale", "--grid", "1", "--block", "65", buffer, factor,
    ];
    run(scale(), &large).fails(2, &["65 threads, but `scale` takes at most 64"]);
    run(scale(), &["run", "scale", buffer, factor]).fails(2, &["--grid X,Y,Z is missing"]);
    run(scale(), &["run", "scale", "--grid=1", buffer, factor])
        .fails(2, &["--block X,Y,Z is missing"]);
}

#[test]
fn files_that_are_not_what_they_should_be_are_refused() {
    let dir = tmp("files");
    fs::write(dir.join("x.elf"), "no code object").expect("writes");
    fs::write(dir.join("x.npy"), "no array").expect("writes");
    fs::write(dir.join("empty"), "").expect("writes");
    run(&dir, &["inspect", "x.elf"]).fails(1, &["x.elf: neither a code object nor"]);
    run(&dir, &["inspect", "y.elf"]).fails(1, &["y.elf: No such file"]);
    run(scale(), &["build"]).ok();
    let other = crate::support::target_dir().join("gpu-amdgpu/gfx942/scale.elf");
    let other = other.display().to_string();
    run(&dir, &["asm", &other, "--gpu", "gfx908"])
        .fails(1, &["no code object for gfx908, only: gfx942"]);
    for (file, complaint) in [
        ("x.npy", "not an array"),
        ("empty", "it has no elements"),
        ("missing", "No such file"),
    ] {
        let argument = format!("file:{}", dir.join(file).display());
        let launch = [
            "run", "scale", "--grid", "1", "--block", "64", "--arg", &argument, "--arg", "f32=1",
        ];
        run(scale(), &launch).fails(1, &[file, complaint]);
    }
    let launch = [
        "run",
        "scale",
        "--grid=1",
        "--block=64",
        "--arg=zeros:64xf32",
        "--arg=f32=1",
        "--out=0=/nonexistent/x",
    ];
    run(scale(), &launch).fails(1, &["`/nonexistent/x` cannot be written"]);
}

#[test]
fn directories_that_cannot_be_written_are_named() {
    // Even root cannot write there.
    let target = Path::new("/sys/kernel");
    assert!(target.is_dir());
    run(scale(), &["build", "--target-dir", "/sys/kernel"]).fails(1, &["/sys/kernel/gpu-amdgpu"]);
    let file = tmp("taken").join("file");
    fs::write(&file, "").expect("writes");
    let given = file.display().to_string();
    run(scale(), &["build", "--target-dir", &given]).fails(1, &[&given]);
    run(scale(), &["build", &format!("--bundle={given}/x")]).fails(1, &["cannot be written"]);
}

/// A directory with a fake `rustup`. It has no toolchain until `install` or `add` is called, and records its calls.
fn fake_rustup(name: &str, sysroot: &Path) -> std::path::PathBuf {
    let dir = empty(name);
    let rustc = sysroot.join("bin/rustc");
    let script = format!(
        r#"#!/bin/sh
here="$(dirname "$0")"
echo "$*" >> "$here/asked"
if [ "$1" = which ]; then
    if [ -e "$here/installed" ]; then echo '{}'; exit 0; fi
    echo "error: toolchain 'nightly-2026-10-30' is not installed" >&2
    exit 1
fi
touch "$here/installed"
"#,
        rustc.display()
    );
    let path = dir.join("rustup");
    fs::write(&path, script).expect("writes");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("sets");
    dir
}

#[test]
fn what_is_missing_is_named_and_installed_when_asked() {
    let real = toolchain();
    let dir = fake_rustup("rustup", real.sysroot());
    let path = |dir: &Path| {
        let old = std::env::var("PATH").expect("a path");
        format!("{}:{old}", dir.display())
    };
    let build = |arguments: &[&str], dir: &Path| {
        run_command(command(scale(), arguments).env("PATH", path(dir)))
    };
    let install =
        "rustup toolchain install nightly-2026-10-30 --profile minimal --component rust-src";
    build(&["build"], &dir).fails(1, &[install, "or add --install"]);
    assert!(!dir.join("installed").exists());
    build(&["build", "--install"], &dir).ok();
    let asked = fs::read_to_string(dir.join("asked")).expect("what was asked");
    assert!(
        asked.contains("toolchain install nightly-2026-10-30 --profile minimal"),
        "{asked}"
    );

    // A toolchain without Rust's sources and LLVM's tools, like rustup's profile `minimal`.
    let bare = empty("bare toolchain");
    fs::create_dir_all(bare.join("bin")).expect("creates");
    std::os::unix::fs::symlink(real.rustc(), bare.join("bin/rustc")).expect("links");
    let dir = fake_rustup("bare rustup", &bare);
    fs::write(dir.join("installed"), "").expect("writes");
    build(&["build"], &dir).fails(
        1,
        &[
            "lacks rust-src and llvm-tools",
            "rustup component add rust-src llvm-tools",
        ],
    );
}

#[test]
fn new_crates_replace_nothing() {
    let dir = empty("new");
    run(&dir, &["new", "a b"]).fails(2, &["`a b` can't be a crate's name"]);
    run(&dir, &["new", "std"]).fails(2, &["Rust's own"]);
    run(&dir, &["new", ".."]).fails(2, &["does not end in a name"]);
    run(&dir, &["new", "x", "--ferrowave", "/nonexistent"]).fails(2, &["no sources of Ferrowave"]);
    assert_eq!(fs::read_dir(&dir).expect("lists").count(), 0);
    let taken = softmax().display().to_string();
    run(&dir, &["new", &taken]).fails(2, &["exists already"]);
}
