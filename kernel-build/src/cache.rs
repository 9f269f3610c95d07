//! Where what all crates share is compiled: `core` for a GPU takes longer than most crates of kernels.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use ferrowave_gpu::Gpu;

use crate::Toolchain;

/// The environment variable that names the directory for what crates of kernels share; with an empty text they share
/// nothing.
pub const CACHE_VARIABLE: &str = "FERROWAVE_CACHE";

/// Cargo's build directory for kernels of a toolchain and a GPU, below `dir` or else the user's directory for such files.
/// Nothing if there is none that can be written. Cargo locks it while it builds, and keeps apart what is compiled from other
/// sources or with other options.
pub(crate) fn build_dir(dir: Option<&Path>, toolchain: &Toolchain, gpu: Gpu) -> Option<PathBuf> {
    let cache = match dir {
        Some(dir) => std::path::absolute(dir).ok()?,
        None => users(|name| env::var_os(name))?,
    };
    let dir = cache
        .join("kernels")
        .join(toolchain.name())
        .join(gpu.name());
    fs::create_dir_all(&dir).ok()?;
    // The directory may belong to another user.
    tempfile::tempfile_in(&dir).ok()?;
    Some(dir)
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
