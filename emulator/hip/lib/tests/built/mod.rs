//! The library that Cargo built for a test.

use std::{env, fs, path::Path, path::PathBuf};

pub(crate) const NAME: &str = "libamdhip64.so";

/// The library that Cargo built for this test.
///
/// Cargo does not report its path. Depending on Cargo's layout, it is in the test's directory, in one beside it, or in one
/// of its own package. Cargo has just built it, so the newest file is taken.
pub(crate) fn library() -> PathBuf {
    let test = env::current_exe().expect("the test has a path");
    let beside = |directory: &Path| {
        let mut places = vec![directory.join(NAME)];
        for folder in [directory, &directory.join("ferrowave-libamdhip64")] {
            let here = fs::read_dir(folder).into_iter().flatten().flatten();
            places.extend(here.map(|entry| entry.path().join("out").join(NAME)));
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
