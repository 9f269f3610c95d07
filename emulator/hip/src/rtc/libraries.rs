//! AMD's libraries that are loaded when they are needed.

use std::{env, error::Error as _, ffi::OsString, fmt::Write as _, path::PathBuf};

use libloading::Library;

/// Where ROCm is if nothing says otherwise.
const ROCM: &str = "/opt/rocm";

/// A library and where it was found.
pub(super) struct Loaded {
    pub(super) library: Library,
    pub(super) place: OsString,
}

/// ROCm's folders: those that the environment names, in HIP's order, then the usual one.
fn roots() -> Vec<PathBuf> {
    let named = ["HIP_PATH", "ROCM_PATH"].map(env::var_os);
    let named = named.into_iter().flatten().filter(|path| !path.is_empty());
    named
        .chain([OsString::from(ROCM)])
        .map(PathBuf::from)
        .collect()
}

/// Where a library of these names may be: first where the system looks for libraries, then in ROCm.
pub(super) fn places(names: &[&str]) -> Vec<OsString> {
    let system = names.iter().map(OsString::from);
    let rocm = roots().into_iter().flat_map(|root| {
        let folder = root.join("lib");
        names
            .iter()
            .map(move |name| folder.join(name).into_os_string())
    });
    system.chain(rocm).collect()
}

/// Loads the first that can be loaded, or says line by line why none can.
pub(super) fn first(places: &[OsString]) -> Result<Loaded, String> {
    let mut tried = String::new();
    for place in places {
        // SAFETY: AMD's libraries do nothing as they are loaded but set themselves up.
        match unsafe { Library::new(place) } {
            Ok(library) => {
                let place = place.clone();
                return Ok(Loaded { library, place });
            }
            Err(error) => {
                // The system's words are its cause.
                let why = error
                    .source()
                    .map_or_else(|| error.to_string(), ToString::to_string);
                let _ = writeln!(tried, "  {}: {why}", place.display());
            }
        }
    }
    Err(tried)
}
