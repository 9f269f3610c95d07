//! Libraries that are loaded at run time.

use std::{
    env,
    error::Error as _,
    ffi::OsStr,
    fs,
    mem::ManuallyDrop,
    path::{Path, PathBuf},
};

use libloading::Library;

use crate::hip::system::rocm::rocm_folders;
use crate::hip::system::root_folder::root;

/// A library that is never unloaded: functions taken from it have no lifetime, and threads of ROCm may still run.
pub(crate) struct Dynamic {
    library: ManuallyDrop<Library>,
    path: PathBuf,
}

impl Dynamic {
    /// Loads a library by its path, or by a name that the system searches for. The error is the system's message.
    pub(crate) fn open(path: &OsStr) -> Result<Self, String> {
        // SAFETY: loading runs the library's initializers. The library is named by the user, or is part of the system's
        // ROCm.
        let library = unsafe { Library::new(path) }.map_err(|error| match error.source() {
            // The loader's own message, which names the library.
            Some(reason) => reason.to_string(),
            None => format!("{}: {error}", path.display()),
        })?;
        Ok(Dynamic {
            library: ManuallyDrop::new(library),
            path: found(Path::new(path)),
        })
    }

    /// The candidates for a library of ROCm with these names: the names, for which the system searches, and then the files
    /// in ROCm's folders.
    pub(crate) fn candidates(names: &[&str]) -> Vec<PathBuf> {
        let folders = rocm_folders(&root(), |name| env::var_os(name));
        let files = folders
            .iter()
            .flat_map(|folder| names.iter().map(|name| folder.join(name)));
        let names = names.iter().map(PathBuf::from);
        names.chain(files.filter(|file| file.exists())).collect()
    }

    /// The first candidate that can be loaded and that `take` takes. The error is the first of `take`, if there is one, and
    /// the system's messages.
    pub(crate) fn first<T, E>(
        candidates: impl IntoIterator<Item = PathBuf>,
        take: impl Fn(Dynamic) -> Result<T, E>,
    ) -> Result<T, (Option<E>, Vec<String>)> {
        let (mut refused, mut tried) = (None, Vec::new());
        for candidate in candidates {
            match Self::open(candidate.as_os_str()).map(&take) {
                Ok(Ok(taken)) => return Ok(taken),
                Ok(Err(error)) => refused = refused.or(Some(error)),
                Err(reason) => tried.push(reason),
            }
        }
        Err((refused, tried))
    }

    /// The path with which it was opened; for a name, the file that the system found, if it tells.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A function by name.
    ///
    /// # Safety
    /// `F` is the function's type.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: as the caller promises.
        unsafe { self.library.get::<F>(name) }
            .ok()
            .map(|function| *function)
    }
}

/// The file that is loaded for a name: Linux lists it in `/proc/self/maps`, with the version that links lead to.
fn found(name: &Path) -> PathBuf {
    let is_path = name.components().count() > 1;
    let maps = match is_path {
        true => String::new(),
        false => fs::read_to_string("/proc/self/maps").unwrap_or_default(),
    };
    let start = name.to_string_lossy();
    let files = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let mut named = files.filter(|file| {
        let file = file.file_name().map(OsStr::to_string_lossy);
        file.is_some_and(|file| file.starts_with(&*start))
    });
    named.next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_the_file_that_was_loaded() {
        // The C library is loaded in each program.
        let library = Dynamic::open(OsStr::new("libc.so.6")).unwrap();
        assert!(library.path().is_absolute(), "{}", library.path().display());
        assert!(library.path().exists());
        assert_eq!(found(Path::new("no library")), Path::new("no library"));
    }

    #[test]
    fn the_first_that_is_taken_wins() {
        let candidates = ["no library", "libc.so.6", "libm.so.6"].map(PathBuf::from);
        let take = |wanted: &'static str| {
            Dynamic::first(candidates.clone(), move |library| {
                let name = library.path().to_string_lossy().into_owned();
                if name.contains(wanted) {
                    Ok(())
                } else {
                    Err(name)
                }
            })
        };
        assert_eq!(take("libm"), Ok(()));
        let Err((refused, tried)) = take("nothing") else {
            panic!("none is taken");
        };
        assert!(refused.is_some_and(|name| name.contains("libc")));
        assert_eq!(tried.len(), 1);
        assert!(tried[0].contains("no library"));
    }
}
