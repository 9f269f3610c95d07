//! Stops builds by a compiler without nightly features with one message instead of eighty errors.

use std::{env, process::Command};

/// The toolchain that the repository pins.
const CHANNEL: &str = "nightly-2026-10-30";

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
    println!(
        "cargo::error=Ferrowave's emulator is built by {CHANNEL}, and this is {}. Write `cargo +{CHANNEL} …` for `cargo …`; `rustup \
         toolchain install {CHANNEL} --component rust-src,llvm-tools` installs it. Without the emulator, with default-features = \
         false and features = [\"prebuilt\"], the library `ferrowave` needs no nightly.",
        version.trim()
    );
}
