//! `core`, compiled once for each toolchain and GPU: it takes longer than most crates of kernels.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use ferrowave_gpu::Gpu;

use crate::Toolchain;

/// The environment variable that names the directory where compiled `core`s are kept; with an empty text none are.
pub const CACHE_VARIABLE: &str = "FERROWAVE_CACHE";

/// Where Cargo keeps what it has compiled for the GPU, below a build directory: a directory for each package, and in it one
/// for each way to compile it.
const UNITS: &str = "amdgcn-amd-amdhsa/release/build";
/// The packages that `-Zbuild-std=core` compiles. No others are shared: in one build directory, Cargo confuses packages of
/// two workspaces whose names and places in the workspace are the same.
const STANDARD: [&str; 2] = ["core", "compiler_builtins"];

/// The directory for what is compiled once for a toolchain and a GPU, below `dir` or else the user's directory for such
/// files; nothing if there is none.
pub(crate) fn directory(dir: Option<&Path>, toolchain: &Toolchain, gpu: Gpu) -> Option<PathBuf> {
    let cache = match dir {
        Some(dir) => std::path::absolute(dir).ok()?,
        None => users(|name| env::var_os(name))?,
    };
    Some(cache.join("core").join(toolchain.name()).join(gpu.name()))
}

/// Gives a build directory the `core` that is there. Without one that fits, Cargo compiles it.
pub(crate) fn take(cache: &Path, build_dir: &Path) {
    copy_units(cache, &build_dir.join(UNITS));
}

/// Keeps a build directory's `core` for others. A cache that cannot be written stays as it is.
pub(crate) fn keep(cache: &Path, build_dir: &Path) {
    copy_units(&build_dir.join(UNITS), cache);
}

/// Copies what is not there yet. What cannot be copied is compiled.
fn copy_units(from: &Path, to: &Path) {
    for name in STANDARD {
        let units = fs::read_dir(from.join(name)).into_iter().flatten();
        for unit in units.flatten() {
            let _ = copy_unit(&unit.path(), &to.join(name), &unit.file_name());
        }
    }
}

/// Copies a directory whole or not at all.
fn copy_unit(from: &Path, parent: &Path, name: &OsStr) -> io::Result<()> {
    let to = parent.join(name);
    if to.exists() {
        return Ok(());
    }
    fs::create_dir_all(parent)?;
    // Outside of `parent`, where others would take it for a unit.
    let whole = tempfile::tempdir_in(parent.parent().unwrap_or(parent))?;
    let copy = whole.path().join("copy");
    copy_all(from, &copy)?;
    fs::rename(copy, to)
}

/// Copies files with their times, by which Cargo knows whether they are up to date.
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

/// The user's directory for what can be made again, as the variables name it.
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
        // As the specification has it, relative paths are ignored.
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
