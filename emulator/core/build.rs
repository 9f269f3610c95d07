//! Stops builds by a compiler without nightly features with one message instead of eighty errors.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_BOOTSTRAP");
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("--version")
        .output();
    // If the compiler cannot be asked, it will report the problem itself.
    let Ok(output) = output else { return };
    let version = String::from_utf8_lossy(&output.stdout);
    let unstable = ["nightly", "dev"].iter().any(|name| version.contains(name));
    if unstable || env::var_os("RUSTC_BOOTSTRAP").is_some() {
        return;
    }
    let toolchain = include_str!("../../rust-toolchain.toml");
    let channel = toolchain
        .lines()
        .find_map(|line| line.strip_prefix("channel = "));
    let channel = channel.unwrap_or("nightly").trim_matches('"');
    println!(
        "cargo::error=Ferrowave is built by {channel}, and this is {}. Write `cargo +{channel} …` for `cargo …`; `rustup toolchain \
         install {channel} --component rust-src,llvm-tools` installs it.",
        version.trim()
    );
}
