//! Libraries that are found at run time.

use std::{
    error::Error as _,
    ffi::OsStr,
    mem::ManuallyDrop,
    path::{Path, PathBuf},
};

use libloading::Library;

/// A library that stays loaded: functions taken from it have no lifetime, and ROCm's own threads may run on.
pub(crate) struct Dynamic {
    library: ManuallyDrop<Library>,
    path: PathBuf,
}

impl Dynamic {
    /// Loads a library by its path, or by a name for the system to find. The error is what the system said.
    pub(crate) fn open(path: &OsStr) -> Result<Self, String> {
        // SAFETY: loading runs the library's initializers. The user names the library, or it is one of the system's ROCm.
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

    /// The name that it was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A function by name.
    ///
    /// # Safety
    /// `F` is the function's type.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: the caller's.
        unsafe { self.library.get::<F>(name) }
            .ok()
            .map(|function| *function)
    }
}
