//! What the computer tells without HIP: where ROCm is, why HIP does not work, and the clock of a GPU.

mod clock;
mod rocm;
mod trouble;

use std::{env, path::PathBuf};

pub use clock::engine_clock_hz;
pub use rocm::rocm_folders;
pub use trouble::{System, Trouble};

/// The environment variable that names another root folder than `/` for the files of this module: for tests.
pub const ROOT_VARIABLE: &str = "FERROWAVE_SYSTEM_ROOT";

/// The root folder.
pub fn root() -> PathBuf {
    let named = env::var_os(ROOT_VARIABLE).filter(|path| !path.is_empty());
    named.map_or_else(|| PathBuf::from("/"), PathBuf::from)
}
