//! Where the emulator's libraries are.

use std::path::{Path, PathBuf};

/// The emulator as a shared library.
pub const HIP_LIBRARY: &str = "libamdhip64.so";

/// The folders where a program finds the emulator's libraries: its own, which is Cargo's in a checkout, and the one that a
/// wheel installs beside the folder for programs.
pub fn library_places(program: &Path) -> [PathBuf; 2] {
    let folder = program.parent().unwrap_or(Path::new("/"));
    let prefix = folder.parent().unwrap_or(Path::new("/"));
    [folder.to_owned(), prefix.join("lib").join("ferrowave")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_beside_the_program_or_where_a_wheel_puts_it() {
        assert_eq!(
            library_places(Path::new("/venv/bin/ferrowave")),
            [Path::new("/venv/bin"), Path::new("/venv/lib/ferrowave")]
        );
    }
}
