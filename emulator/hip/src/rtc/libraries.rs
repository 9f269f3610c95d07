//! AMD's libraries, which are loaded on first use.

use std::{env, error::Error as _, ffi::OsString, fmt::Write as _, path::PathBuf};

use libloading::Library;

/// ROCm's default directory.
const ROCM: &str = "/opt/rocm";

/// A loaded library and its path.
pub(super) struct Loaded {
    pub(super) library: Library,
    pub(super) place: OsString,
}

/// ROCm's directories: those that the environment names, in HIP's order, then the default.
fn roots() -> Vec<PathBuf> {
    let named = ["HIP_PATH", "ROCM_PATH"].map(env::var_os);
    let named = named.into_iter().flatten().filter(|path| !path.is_empty());
    named
        .chain([OsString::from(ROCM)])
        .map(PathBuf::from)
        .collect()
}

/// Candidate paths of a library with these names: first the system's search path, then ROCm's directories.
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

/// Loads the first library that can be loaded. The error has one line per candidate.
pub(super) fn first(places: &[OsString]) -> Result<Loaded, String> {
    let mut tried = String::new();
    for place in places {
        // SAFETY: AMD's libraries only initialize themselves when they are loaded.
        match unsafe { Library::new(place) } {
            Ok(library) => {
                let place = place.clone();
                return Ok(Loaded { library, place });
            }
            Err(error) => {
                // The cause has the system's message.
                let why = error
                    .source()
                    .map_or_else(|| error.to_string(), ToString::to_string);
                let _ = writeln!(tried, "  {}: {why}", place.display());
            }
        }
    }
    Err(tried)
}
