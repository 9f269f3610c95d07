//! Which commit is built.

use std::{fs, path::Path, process::Command};

/// The commit of the sources in `root`, for reports: of a package, what cargo noted when it was made; else what git says, if
/// `root` is the top of a repository. `None` for sources inside of another repository, such as the caller's.
pub(crate) fn commit(root: &Path) -> Option<String> {
    let package = root.join(".cargo_vcs_info.json");
    if package.is_file() {
        return packaged(&fs::read_to_string(package).ok()?);
    }
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        // These lead to another repository, for example in a hook.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
            command.env_remove(name);
        }
        let output = command.arg("-C").arg(root).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(top).ok()? != fs::canonicalize(root).ok()? {
        return None;
    }
    // This file grows with every commit.
    let log = root.join(git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(&[
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ])
}

/// The commit in cargo's note, in the form that `git describe` gives.
fn packaged(note: &str) -> Option<String> {
    let (_, rest) = note.split_once("\"sha1\"")?;
    let hash = rest.split('"').nth(1)?;
    if hash.len() < 12 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let dirty = rest
        .split_once("\"dirty\"")
        .is_some_and(|(_, rest)| rest.trim_start_matches([':', ' ']).starts_with("true"));
    Some(format!(
        "{}{}",
        &hash[..12],
        if dirty { "-dirty" } else { "" }
    ))
}
