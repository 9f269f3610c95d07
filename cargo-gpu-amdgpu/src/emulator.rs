//! The emulator's library, for crates whose host part is built without the emulator: compiled once for all crates.

use std::{
    env,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
};

use ferrowave_host::hip::EMULATOR_VARIABLE;
use ferrowave_kernel_build::{Toolchain, user_cache};
use ferrowave_launch::{Failure, HIP_LIBRARY, library_places, say};

use crate::new::installed_from;

/// This command's file.
const COMMAND: &str = if cfg!(windows) {
    concat!(env!("CARGO_PKG_NAME"), ".exe")
} else {
    env!("CARGO_PKG_NAME")
};

/// The given library or else the one of this command, and a link to it in `products`, where the configuration of a new crate
/// names it for `cargo run`. Returns the link.
pub(crate) fn library(given: Option<PathBuf>, products: &Path) -> Result<PathBuf, Failure> {
    let library = match (given, installed_from(), installed()?) {
        (Some(library), _, _) => library.canonicalize().map_err(|error| {
            Failure::usage(format!(
                "{EMULATOR_VARIABLE} is {}: {error}",
                library.display()
            ))
        })?,
        (None, Some(sources), _) => build(sources, &["--locked"], &Place::of(sources, products))?,
        (None, None, Some(library)) => library,
        (None, None, None) => {
            let project = cache(products).join("emulator-release");
            write_project(&project).map_err(|error| {
                Failure::failed(format!("{} can't be written: {error}", project.display()))
            })?;
            build(
                &project,
                &[],
                &Place::Cache(cache(products).join("emulator")),
            )?
        }
    };
    let link = products.join(HIP_LIBRARY);
    replace(&library, &link).map_err(|error| {
        Failure::failed(format!("{} can't be written: {error}", link.display()))
    })?;
    Ok(link)
}

/// The library that was installed with this command, as a wheel does.
fn installed() -> Result<Option<PathBuf>, Failure> {
    let program = env::current_exe().map_err(Failure::failed)?;
    let mut files = library_places(&program)
        .into_iter()
        .map(|place| place.join(HIP_LIBRARY));
    Ok(files.find(|file| file.is_file()))
}

/// The user's cache directory, or else `products`.
fn cache(products: &Path) -> PathBuf {
    user_cache().unwrap_or_else(|| products.to_owned())
}

/// An empty crate that depends on the library's package, for a command that was installed from a registry.
fn write_project(project: &Path) -> io::Result<()> {
    let manifest = format!(
        "[package]\nname = \"emulator\"\nedition = \"2024\"\n\n[dependencies]\nferrowave-libamdhip64 = \"={}\"\n\n[workspace]\n",
        env!("CARGO_PKG_VERSION")
    );
    fs::create_dir_all(project.join("src"))?;
    for (file, text) in [("Cargo.toml", &*manifest), ("src/lib.rs", "")] {
        let path = project.join(file);
        if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            fs::write(path, text)?;
        }
    }
    Ok(())
}

/// Where the library is compiled.
enum Place {
    /// The target directory of the sources, where `cargo install --path` compiled this command: what the library depends on is
    /// compiled there, too.
    Sources(PathBuf),
    /// A directory of its own in the user's cache, or beside the products.
    Cache(PathBuf),
}

impl Place {
    fn of(sources: &Path, products: &Path) -> Self {
        let target = sources.join("target");
        match target.join("release").join(COMMAND).is_file() {
            true => Place::Sources(target),
            false => Place::Cache(cache(products).join("emulator")),
        }
    }

    /// The arguments for a cargo that builds the library's package there.
    fn arguments(&self) -> Vec<&OsStr> {
        match self {
            // Features of dependencies are those that all chosen packages need: with both, as for this command.
            Place::Sources(target) => ["--package", env!("CARGO_PKG_NAME"), "--target-dir"]
                .map(OsStr::new)
                .into_iter()
                .chain([target.as_os_str()])
                .collect(),
            Place::Cache(target) => vec![OsStr::new("--target-dir"), target.as_os_str()],
        }
    }
}

/// Builds the library of a project.
fn build(project: &Path, options: &[&str], place: &Place) -> Result<PathBuf, Failure> {
    // The emulator's toolchain. The crate's may be another one.
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).map_err(Failure::failed)?;
    let (Place::Sources(target) | Place::Cache(target)) = place;
    if !target.join("release").join(HIP_LIBRARY).exists() {
        say(format_args!(
            "Compiling the emulator's library, once for all crates. This takes a minute or two.\n"
        ));
    }
    let mut command = toolchain.inner_cargo();
    command
        .current_dir(project)
        .args(["build", "--release", "--quiet"])
        .args(options)
        .args(["--message-format", "json-render-diagnostics"])
        .args(["--package", "ferrowave-libamdhip64"])
        .args(place.arguments())
        .stderr(Stdio::inherit());
    if let Place::Cache(target) = place {
        // Overrides the user's configuration.
        command.env("CARGO_BUILD_BUILD_DIR", target);
    }
    let output = command
        .output()
        .map_err(|error| Failure::failed(format!("{command:?} can't be started: {error}")))?;
    if !output.status.success() {
        return Err(Failure::failed(format!(
            "the emulator's library was not built from {}: cargo ended with {}",
            project.display(),
            output.status
        )));
    }
    built_library(&output.stdout)
        .ok_or_else(|| Failure::failed(format!("{command:?} built no {HIP_LIBRARY}")))
}

/// The library among the files that cargo says it built.
fn built_library(messages: &[u8]) -> Option<PathBuf> {
    String::from_utf8_lossy(messages).lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let files = message.get("filenames")?.as_array()?.iter();
        let mut files = files.filter_map(|file| Some(PathBuf::from(file.as_str()?)));
        files.find(|file| file.file_name().is_some_and(|name| name == HIP_LIBRARY))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_compiled_where_the_command_was() {
        let sources = tempfile::tempdir().expect("a directory");
        let products = Path::new("products");
        let is_of_sources = || matches!(Place::of(sources.path(), products), Place::Sources(_));
        assert!(!is_of_sources());
        let release = sources.path().join("target/release");
        fs::create_dir_all(&release).expect("a directory");
        assert!(!is_of_sources());
        fs::write(release.join(COMMAND), "").expect("writes");
        assert!(is_of_sources());
    }
}
