//! The emulator's library, for crates whose host part is built without the emulator: compiled once for all crates.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ferrowave_kernel_build::{Toolchain, user_cache};
use ferrowave_launch::Failure;

use crate::new::installed_from;

/// The library's file.
const NAME: &str = "libamdhip64.so";

/// Builds the library from the sources that this command was installed from, in the user's cache directory or else in
/// `products`, and links it in `products`, where the configuration of a new crate names it for `cargo run`. Returns the
/// link.
pub(crate) fn library(products: &Path) -> Result<PathBuf, Failure> {
    let sources = installed_from().ok_or_else(|| {
        Failure::failed(
            "the crate's host part is built without the emulator, and the sources from which this command would build the \
             emulator's library are gone; give the crate's ferrowave-host its default features, or install this command again",
        )
    })?;
    // The emulator's toolchain. The crate's may be another one.
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).map_err(Failure::failed)?;
    let target = user_cache()
        .unwrap_or_else(|| products.to_owned())
        .join("emulator");
    let built = target.join("release").join(NAME);
    if !built.exists() {
        eprintln!(
            "Compiling the emulator's library, once for all crates. This takes a minute or two."
        );
    }
    let mut command = toolchain.inner_cargo();
    command
        .current_dir(sources)
        .args(["build", "--release", "--quiet", "--locked"])
        .args(["--package", "ferrowave-libamdhip64", "--target-dir"])
        .arg(&target)
        // Overrides the user's configuration.
        .env("CARGO_BUILD_BUILD_DIR", &target);
    let status = command
        .status()
        .map_err(|error| Failure::failed(format!("{command:?} can't be started: {error}")))?;
    if !status.success() {
        return Err(Failure::failed(format!(
            "the emulator's library was not built from {}: cargo ended with {status}",
            sources.display()
        )));
    }
    let link = products.join(NAME);
    replace(&built, &link).map_err(|error| {
        Failure::failed(format!("{} can't be written: {error}", link.display()))
    })?;
    Ok(link)
}

/// Makes `link` lead to `file`, atomically.
fn replace(file: &Path, link: &Path) -> io::Result<()> {
    let products = link.parent().unwrap_or(link);
    fs::create_dir_all(products)?;
    let new = tempfile::tempdir_in(products)?;
    let new = new.path().join(NAME);
    #[cfg(unix)]
    std::os::unix::fs::symlink(file, &new)?;
    #[cfg(not(unix))]
    fs::copy(file, &new)?;
    fs::rename(new, link)
}
