//! `libamdhip64.so`, found at run time.

use std::{
    env,
    error::Error as _,
    ffi::OsStr,
    mem::ManuallyDrop,
    path::{Path, PathBuf},
};

use ferrowave_hip_abi::{Functions, for_each_hip_function};
use libloading::Library;

use super::{Api, LoadError, Source};

/// The environment variable that names the HIP library, by path or by a name for the system to find.
pub const LIBRARY_VARIABLE: &str = "FERROWAVE_HIP_LIBRARY";

/// What the HIP library is called, newest first; the last is there only with development files.
pub const LIBRARY_NAMES: [&str; 3] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"];

pub(super) fn load() -> Result<Api, LoadError> {
    if let Some(path) = env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
        return match open(&path) {
            Ok(library) => library.api(),
            Err(reason) => Err(LoadError::Named {
                path: path.into(),
                reason,
            }),
        };
    }
    let mut tried = Vec::new();
    for name in LIBRARY_NAMES {
        match open(OsStr::new(name)) {
            Ok(library) => return library.api(),
            Err(reason) => tried.push(reason),
        }
    }
    Err(LoadError::NotFound { tried })
}

/// A library that stays loaded: the functions in a table have no lifetime, and ROCm's own threads may run on.
struct Opened {
    library: ManuallyDrop<Library>,
    path: PathBuf,
}

fn open(path: &OsStr) -> Result<Opened, String> {
    // SAFETY: loading runs the library's initializers. The user names the library, or it is the system's HIP.
    let library = unsafe { Library::new(path) }.map_err(|error| match error.source() {
        // The loader's own message, which names the library.
        Some(reason) => reason.to_string(),
        None => format!("{}: {error}", path.display()),
    })?;
    Ok(Opened {
        library: ManuallyDrop::new(library),
        path: Path::new(path).to_owned(),
    })
}

/// A function that the table must or may have.
macro_rules! lookup {
    (required, $library:ident, $name:ident) => {
        $library
            .function(stringify!($name))
            .ok_or_else(|| LoadError::MissingFunction {
                library: $library.path.clone(),
                function: stringify!($name),
            })?
    };
    (optional, $library:ident, $name:ident) => {
        $library.function(stringify!($name))
    };
}

macro_rules! table {
    ($library:ident; $(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($arguments:tt)*) -> $result:ty;
    )*) => {
        Functions { $($name: lookup!($kind, $library, $name),)* }
    };
}

impl Opened {
    /// A function by name; `F` is inferred from the table's field.
    fn function<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: a HIP library's functions have HIP's signatures, which the fields of the table are.
        unsafe { self.library.get::<F>(name) }
            .ok()
            .map(|function| *function)
    }

    fn api(self) -> Result<Api, LoadError> {
        let library = &self;
        let functions = for_each_hip_function!(table, library);
        // SAFETY: the functions are the library's, which is never unloaded.
        Ok(unsafe { Api::from_functions(functions, Source::Library(self.path)) })
    }
}
