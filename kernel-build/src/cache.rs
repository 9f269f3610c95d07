//! The user's cache directory. It keeps `core`, compiled once for each toolchain and GPU, because compiling it takes longer
//! than most crates of kernels.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use ferrowave_gpu::Gpu;

use crate::Toolchain;

/// The environment variable for the directory of what is compiled once for all crates. If it is empty, nothing is kept.
pub const CACHE_VARIABLE: &str = "FERROWAVE_CACHE";

/// Cargo's directory of compiled packages for the GPU, below a build directory: a directory for each package, with one
/// directory in it for each way to compile it.
const UNITS: &str = "amdgcn-amd-amdhsa/release/build";
/// The packages that `-Zbuild-std=core` compiles. No others are shared: in one build directory, Cargo confuses packages
/// of two workspaces that have the same name and the same path in their workspace.
const STANDARD: [&str; 2] = ["core", "compiler_builtins"];

/// The cache directory for a toolchain and a GPU, below `dir` or else the user's cache directory. `None` if neither
/// exists.
pub(crate) fn directory(dir: Option<&Path>, toolchain: &Toolchain, gpu: Gpu) -> Option<PathBuf> {
    let cache = match dir {
        Some(dir) => std::path::absolute(dir).ok()?,
        None => user_cache()?,
    };
    Some(cache.join("core").join(toolchain.name()).join(gpu.name()))
}

/// Copies the cached `core` to a build directory. If none fits, Cargo compiles it.
pub(crate) fn take(cache: &Path, build_dir: &Path) {
    copy_units(cache, &build_dir.join(UNITS));
}

/// Copies a build directory's `core` to the cache. Errors are ignored.
pub(crate) fn keep(cache: &Path, build_dir: &Path) {
    copy_units(&build_dir.join(UNITS), cache);
}

/// Copies units that do not exist yet. If a copy fails, Cargo compiles the unit.
fn copy_units(from: &Path, to: &Path) {
    for name in STANDARD {
        let units = fs::read_dir(from.join(name)).into_iter().flatten();
        for unit in units.flatten() {
            let _ = copy_unit(&unit.path(), &to.join(name), &unit.file_name());
        }
    }
}

/// Copies a directory atomically.
fn copy_unit(from: &Path, parent: &Path, name: &OsStr) -> io::Result<()> {
    let to = parent.join(name);
    if to.exists() {
        return Ok(());
    }
    fs::create_dir_all(parent)?;
    // Not in `parent`, where other builds would take it for a unit.
    let whole = tempfile::tempdir_in(parent.parent().unwrap_or(parent))?;
    let copy = whole.path().join("copy");
    copy_all(from, &copy)?;
    fs::rename(copy, to)
}

/// Copies files with their modification times, by which Cargo decides whether they are up to date.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
        if entry.is_dir() {
            copy_all(&entry, &to)?;
        } else {
            fs::copy(&entry, &to)?;
            let modified = fs::metadata(&entry)?.modified()?;
            let copy = File::options().append(true).open(&to)?;
            copy.set_modified(modified)?;
        }
    }
    Ok(())
}

/// The user's cache directory, for all of Ferrowave. `None` if [`CACHE_VARIABLE`] is empty, or there is no home.
pub fn user_cache() -> Option<PathBuf> {
    users(|name| env::var_os(name))
}

/// The user's cache directory by environment variables.
fn users(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(dir) = variable(CACHE_VARIABLE) {
        return Some(dir)
            .filter(|dir| !dir.is_empty())
            .and_then(|dir| std::path::absolute(dir).ok());
    }
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute())
    };
    let dir = match cfg!(windows) {
        true => absolute("LOCALAPPDATA"),
        // The XDG base directory specification.
        false => absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache"))),
    };
    Some(dir?.join("ferrowave"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(windows))]
    fn the_directory_is_the_users() {
        let with = |set: &[(&str, &str)]| {
            users(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            })
        };
        let home = ("HOME", "/home/me");
        assert_eq!(with(&[home]), Some("/home/me/.cache/ferrowave".into()));
        let xdg = ("XDG_CACHE_HOME", "/var/cache/me");
        assert_eq!(with(&[home, xdg]), Some("/var/cache/me/ferrowave".into()));
        // The specification ignores relative paths.
        let relative = ("XDG_CACHE_HOME", "cache");
        assert_eq!(
            with(&[home, relative]),
            Some("/home/me/.cache/ferrowave".into())
        );
        assert_eq!(with(&[home, ("FERROWAVE_CACHE", "/c")]), Some("/c".into()));
        assert_eq!(with(&[home, ("FERROWAVE_CACHE", "")]), None);
        assert_eq!(with(&[]), None);
    }
}
