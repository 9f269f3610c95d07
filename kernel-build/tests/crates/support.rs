//! Copies of the fixture crates, and builds of them that share one compiled `core`.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ferrowave_kernel_build::{Build, BuildError, Built};

/// A directory with a copy of the fixture crates, kept for the next run.
pub(crate) struct Fixture {
    pub(crate) root: PathBuf,
}

impl Fixture {
    pub(crate) fn new(test: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        // Undo changes of an earlier run.
        for name in ["kernels", "common", "embedding"] {
            let to = root.join(name);
            if to.exists() {
                fs::remove_dir_all(&to).expect("removes");
            }
            copy(
                &Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("tests/fixtures")
                    .join(name),
                &to,
            );
        }
        // The target directory may be outside the workspace, where rustup would select another toolchain.
        fs::write(
            root.join("rust-toolchain.toml"),
            include_str!("../../../rust-toolchain.toml"),
        )
        .expect("writes");
        Fixture { root }
    }

    pub(crate) fn kernels(&self) -> PathBuf {
        self.root.join("kernels")
    }

    /// Replaces text in a file of the fixture.
    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.root.join(file);
        let text = fs::read_to_string(&path).expect("reads");
        assert!(text.contains(from), "{file} has no {from:?}");
        fs::write(&path, text.replace(from, to)).expect("writes");
    }

    pub(crate) fn build(&self) -> Build {
        Build::new(self.kernels()).target_dir(shared_target_dir())
    }
}

pub(crate) fn shared_target_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels")
}

/// Runs one build at a time, because all builds write to the same path in the target directory.
pub(crate) fn run(build: &Build) -> Result<Vec<Built>, BuildError> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    build.run()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("creates");
    for entry in fs::read_dir(from).expect("lists") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copies");
        }
    }
}
