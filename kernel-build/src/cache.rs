//! `core`, compiled once for each toolchain and GPU: it takes longer than most crates of kernels.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use ferrowave_gpu::Gpu;

use crate::Toolchain;

/// The environment variable that names the directory where compiled `core`s are kept; with an empty text none are.
pub const CACHE_VARIABLE: &str = "FERROWAVE_CACHE";

/// Where Cargo keeps what it has compiled for the GPU, below a build directory.
const UNITS: &str = "amdgcn-amd-amdhsa/release/build";
/// What `-Zbuild-std=core` compiles. Cargo tells crates of two workspaces with the same name and place apart by nothing, so
/// that they must not have one build directory; these are the toolchain's.
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

/// Gives a build directory the `core` that is there, if it has none. Without one, Cargo compiles it.
pub(crate) fn take(cache: &Path, build_dir: &Path) {
    for name in STANDARD {
        let _ = link(&cache.join(name), &build_dir.join(UNITS).join(name));
    }
}

/// Keeps a build directory's `core` for others, if there is none yet. A cache that cannot be written stays as it is.
pub(crate) fn keep(cache: &Path, build_dir: &Path) {
    for name in STANDARD {
        let _ = link(&build_dir.join(UNITS).join(name), &cache.join(name));
    }
}

/// Makes `to` a directory with the files of `from`, as hard links or copies with the same times; Cargo replaces files and
/// does not write into them. Whole or not at all, and only if `to` is not there.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let Some(parent) = to.parent() else {
        return Ok(());
    };
    if to.exists() {
        return Ok(());
    }
    fs::create_dir_all(parent)?;
    let whole = tempfile::tempdir_in(parent)?;
    let copy = whole.path().join("copy");
    link_all(from, &copy)?;
    fs::rename(copy, to)
}

fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
        if entry.is_dir() {
            link_all(&entry, &to)?;
        } else if fs::hard_link(&entry, &to).is_err() {
            fs::copy(&entry, &to)?;
            let modified = fs::metadata(&entry)?.modified()?;
            File::options()
                .append(true)
                .open(&to)?
                .set_modified(modified)?;
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
