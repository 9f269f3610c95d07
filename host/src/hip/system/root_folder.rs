//! The root folder of the files that tell about the computer.

use std::{env, path::PathBuf};

/// The environment variable that names another root folder than `/` for the files of [`system`](super): for tests.
pub const ROOT_VARIABLE: &str = "FERROWAVE_SYSTEM_ROOT";

/// The root folder.
pub fn root() -> PathBuf {
    let named = env::var_os(ROOT_VARIABLE).filter(|path| !path.is_empty());
    named.map_or_else(|| PathBuf::from("/"), PathBuf::from)
}
