//! Finding the toolchain, and the messages if something is missing.

use std::fs;

use ferrowave_kernel_build::{Toolchain, ToolchainError};

#[test]
fn the_tested_channel_is_the_one_the_workspace_pins() {
    let pinned = include_str!("../../rust-toolchain.toml");
    assert!(
        pinned.contains(&format!("channel = \"{}\"", Toolchain::TESTED_CHANNEL)),
        "{pinned}"
    );
}

#[test]
fn the_toolchain_of_this_workspace_is_complete() {
    let toolchain = Toolchain::find(env!("CARGO_MANIFEST_DIR").as_ref()).expect("a toolchain");
    assert_eq!(
        toolchain,
        Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the same toolchain")
    );
    assert!(toolchain.name().starts_with(Toolchain::TESTED_CHANNEL));
    assert!(
        toolchain.release().contains("LLVM"),
        "{}",
        toolchain.release()
    );
    for tool in [
        toolchain.cargo(),
        toolchain.rustc(),
        toolchain.llc(),
        toolchain.llvm_objdump(),
        toolchain.llvm_readobj(),
        toolchain.rust_lld(),
    ] {
        assert!(tool.is_file(), "{}", tool.display());
    }
}

#[test]
fn a_toolchain_that_is_not_installed_names_the_command() {
    let command = "rustup toolchain install nightly-2015-05-16";
    let error = Toolchain::channel("nightly-2015-05-16").expect_err("too old to be here");
    assert!(
        matches!(error, ToolchainError::NotInstalled { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains(command), "{error}");

    let dir = tempfile::tempdir().expect("a directory");
    fs::write(
        dir.path().join("rust-toolchain.toml"),
        "[toolchain]\nchannel = \"nightly-2015-05-16\"\n",
    )
    .expect("writes");
    let error = Toolchain::find(dir.path()).expect_err("too old to be here");
    assert!(error.to_string().contains(command), "{error}");
}

/// A toolchain directory in which only `rustc` runs, and only prints its version.
#[cfg(unix)]
fn fake_sysroot(release: &str, components: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let mut files = vec![];
    if components.contains(&"rust-src") {
        files.push("lib/rustlib/src/rust/library/core/Cargo.toml");
    }
    if components.contains(&"llvm-tools") {
        files.extend([
            "lib/rustlib/fake-host/bin/llc",
            "lib/rustlib/fake-host/bin/llvm-objdump",
            "lib/rustlib/fake-host/bin/llvm-readobj",
            "lib/rustlib/fake-host/bin/rust-lld",
        ]);
    }
    for file in files {
        let file = dir.path().join(file);
        fs::create_dir_all(file.parent().expect("a parent")).expect("creates");
        fs::write(file, "").expect("writes");
    }
    fs::create_dir_all(dir.path().join("bin")).expect("creates");
    fs::write(
        dir.path().join("bin/version"),
        format!("release: {release}\nhost: fake-host\nLLVM version: 23.1.4\n"),
    )
    .expect("writes");
    std::os::unix::fs::symlink(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake-rustc"),
        dir.path().join("bin/rustc"),
    )
    .expect("links");
    dir
}

#[cfg(unix)]
#[test]
fn missing_components_name_the_command() {
    let check = |components: &[&str], missing: &str| {
        let sysroot = fake_sysroot("1.101.0-nightly", components);
        let error = Toolchain::at_sysroot(sysroot.path()).expect_err("incomplete");
        let command = format!("rustup component add {missing} --toolchain ");
        assert!(error.to_string().contains(&command), "{error}");
    };
    check(&[], "rust-src llvm-tools");
    check(&["rust-src"], "llvm-tools");
    check(&["llvm-tools"], "rust-src");

    let sysroot = fake_sysroot("1.101.0-nightly", &["rust-src", "llvm-tools"]);
    Toolchain::at_sysroot(sysroot.path()).expect("complete");
}

#[cfg(unix)]
#[test]
fn a_stable_toolchain_is_refused() {
    let sysroot = fake_sysroot("1.95.0", &["rust-src", "llvm-tools"]);
    let error = Toolchain::at_sysroot(sysroot.path()).expect_err("stable");
    assert!(error.to_string().contains("gives 1.95.0"), "{error}");
}

#[test]
fn a_sysroot_without_a_compiler_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let error = Toolchain::at_sysroot(dir.path()).expect_err("empty");
    assert!(error.to_string().contains("rustc"), "{error}");
}
