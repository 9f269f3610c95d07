//! Libraries that are loaded at run time.

use std::{
    error::Error as _,
    ffi::OsStr,
    mem::ManuallyDrop,
    path::{Path, PathBuf},
};

use libloading::Library;

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
            path: Path::new(path).to_owned(),
        })
    }

    /// The path or name with which it was opened.
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
