//! Loads `libamdhip64.so` at run time.

use std::env;

use ferrowave_hip_abi::{Functions, for_each_hip_function};

use super::{Api, LoadError, Source};
use crate::dynamic::Dynamic;

/// The environment variable that names the HIP library, by path or by a name that the system searches for.
pub const LIBRARY_VARIABLE: &str = "FERROWAVE_HIP_LIBRARY";

/// The names of the HIP library, newest first. The last is installed only with development files.
pub const LIBRARY_NAMES: [&str; 3] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"];

/// The library of ROCm 5, which is loaded only to say that it is too old.
const OLD_NAMES: [&str; 1] = ["libamdhip64.so.5"];

pub(super) fn load() -> Result<Api, LoadError> {
    if let Some(path) = env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
        return match Dynamic::open(&path) {
            Ok(library) => api(&library),
            Err(reason) => Err(LoadError::Named {
                path: path.into(),
                reason,
            }),
        };
    }
    let old = Dynamic::candidates(&OLD_NAMES);
    let candidates = Dynamic::candidates(&LIBRARY_NAMES).into_iter().chain(old);
    Dynamic::first(candidates, |library| api(&library))
        .map_err(|(refused, tried)| refused.unwrap_or(LoadError::NotFound { tried }))
}

/// Looks up a required or an optional function.
macro_rules! lookup {
    (required, $library:ident, $name:ident) => {
        function($library, stringify!($name)).ok_or_else(|| LoadError::MissingFunction {
            library: $library.path().to_owned(),
            function: stringify!($name),
        })?
    };
    (optional, $library:ident, $name:ident) => {
        function($library, stringify!($name))
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

/// HIP's function with a name; `F` is inferred from the table's field.
fn function<F: Copy>(library: &Dynamic, name: &str) -> Option<F> {
    // SAFETY: a HIP library's functions have HIP's signatures, which are those of the table's fields.
    unsafe { library.function(name) }
}

fn api(library: &Dynamic) -> Result<Api, LoadError> {
    let functions = for_each_hip_function!(table, library);
    // SAFETY: the functions are the library's, which is never unloaded.
    Ok(unsafe { Api::from_functions(functions, Source::Library(library.path().to_owned())) })
}
