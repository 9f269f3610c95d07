//! The libraries that Cargo built for a test.

use std::{env, fs, path::Path, path::PathBuf};

/// The library `name` that Cargo built for this test, of a package such as `ferrowave-libamdhip64` for `libamdhip64.so`.
///
/// Cargo does not report its path. Depending on Cargo's layout, it is in the test's directory, in one beside it, or in one
/// of its own package. Cargo has just built it, so the newest file is taken.
pub(crate) fn library(name: &str) -> PathBuf {
    let stem = name.trim_end_matches(".so").replace('_', "-");
    let package = format!("ferrowave-{stem}");
    let test = env::current_exe().expect("the test has a path");
    let beside = |directory: &Path| {
        let mut places = vec![directory.join(name)];
        for folder in [directory, &directory.join(&package)] {
            let here = fs::read_dir(folder).into_iter().flatten().flatten();
            places.extend(here.map(|entry| entry.path().join("out").join(name)));
        }
        places.into_iter().filter_map(|path| {
            let built = path.metadata().and_then(|metadata| metadata.modified());
            Some((built.ok()?, path))
        })
    };
    let newest = test
        .ancestors()
        .skip(1)
        .find_map(|directory| beside(directory).max());
    newest.expect("cargo builds the library with its tests").1
}
