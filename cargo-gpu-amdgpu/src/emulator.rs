//! The emulator's library, for crates whose host part is built without the emulator: compiled once for all crates.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use ferrowave_kernel_build::{Toolchain, user_cache};
use ferrowave_launch::{Failure, HIP_LIBRARY, library_places};

use crate::new::installed_from;

/// The library, and a link to it in `products`, where the configuration of a new crate names it for `cargo run`. Returns
/// the link.
pub(crate) fn library(products: &Path) -> Result<PathBuf, Failure> {
    let library = match installed_from() {
        Some(sources) => build(sources, products)?,
        None => installed()?,
    };
    let link = products.join(HIP_LIBRARY);
    replace(&library, &link).map_err(|error| {
        Failure::failed(format!("{} can't be written: {error}", link.display()))
    })?;
    Ok(link)
}

/// The library that was installed with this command, as a wheel does.
fn installed() -> Result<PathBuf, Failure> {
    let program = env::current_exe().map_err(Failure::failed)?;
    let files = library_places(&program).map(|place| place.join(HIP_LIBRARY));
    let found = files.into_iter().find(|file| file.is_file());
    found.ok_or_else(|| {
        Failure::failed(
            "the crate's host part is built without the emulator, and the sources from which this command would build the \
             emulator's library are gone; give the crate's ferrowave-host its default features, or install this command again",
        )
    })
}

/// Builds the library from the sources that this command was installed from, in the user's cache directory or else in
/// `products`.
fn build(sources: &Path, products: &Path) -> Result<PathBuf, Failure> {
    // The emulator's toolchain. The crate's may be another one.
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).map_err(Failure::failed)?;
    let target = user_cache()
        .unwrap_or_else(|| products.to_owned())
        .join("emulator");
    let built = target.join("release").join(HIP_LIBRARY);
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
    Ok(built)
}

/// Makes `link` lead to `file`, atomically.
fn replace(file: &Path, link: &Path) -> io::Result<()> {
    let products = link.parent().unwrap_or(link);
    fs::create_dir_all(products)?;
    let new = tempfile::tempdir_in(products)?;
    let new = new.path().join(HIP_LIBRARY);
    #[cfg(unix)]
    std::os::unix::fs::symlink(file, &new)?;
    #[cfg(not(unix))]
    fs::copy(file, &new)?;
    fs::rename(new, link)
}
