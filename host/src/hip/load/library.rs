//! Loads `libamdhip64.so` at run time.

use std::{env, ffi::c_int};

use ferrowave_hip_abi::{Functions, for_each_hip_function, hipError_t};

use super::{Api, LoadError, Source};
use crate::dynamic::Dynamic;

/// The environment variable that names the HIP library, by path or by a name that the system searches for.
pub const LIBRARY_VARIABLE: &str = "FERROWAVE_HIP_LIBRARY";

/// The environment variable that names the emulator's `libamdhip64.so`, for programs without the feature `emulator`.
pub const EMULATOR_VARIABLE: &str = "FERROWAVE_EMULATOR_LIBRARY";

/// The names of the HIP library, newest first. The last is installed only with development files. ROCm 10 follows 7.14
/// (ROCm/rocm-systems, `projects/clr/CHANGELOG.md`).
pub const LIBRARY_NAMES: [&str; 4] = [
    "libamdhip64.so.10",
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so",
];

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

/// The emulator's library.
#[cfg(not(feature = "emulator"))]
pub(super) fn load_emulator() -> Result<Api, LoadError> {
    let path = env::var_os(EMULATOR_VARIABLE).filter(|path| !path.is_empty());
    let path = path.ok_or(LoadError::NoEmulator)?;
    let error = |reason| LoadError::NotEmulator {
        path: path.clone().into(),
        reason,
    };
    let library = Dynamic::open(&path)
        .map_err(|reason| error(format!("which cannot be loaded: {reason}")))?;
    let api = api(&library).map_err(|reason| error(format!("but {reason}")))?;
    let functions = api.functions();
    match (
        functions.ferrowaveAddDevice,
        functions.ferrowaveRemoveDevice,
    ) {
        (Some(_), Some(_)) => Ok(api),
        _ => Err(error("which is another implementation of HIP".to_owned())),
    }
}

/// Looks up a required or an optional function.
macro_rules! lookup {
    (required, $library:ident, $name:ident) => {
        function($library, stringify!($name)).ok_or_else(|| LoadError::MissingFunction {
            library: $library.path().to_owned(),
            version: version($library),
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

/// The version of HIP: `hipRuntimeGetVersion` answers with major × 10^7 + minor × 10^5 + patch (`HIP_VERSION`).
fn version(library: &Dynamic) -> Option<String> {
    let get: unsafe extern "C" fn(*mut c_int) -> hipError_t =
        function(library, "hipRuntimeGetVersion")?;
    let mut version = 0;
    // SAFETY: HIP's function, in every version, and it writes one number.
    let error = unsafe { get(&mut version) };
    let (major, minor) = (version / 10_000_000, version / 100_000 % 100);
    (error == hipError_t::hipSuccess).then(|| format!("{major}.{minor}"))
}

fn api(library: &Dynamic) -> Result<Api, LoadError> {
    let functions = for_each_hip_function!(table, library);
    // SAFETY: the functions are the library's, which is never unloaded.
    Ok(unsafe { Api::from_functions(functions, Source::Library(library.path().to_owned())) })
}
