//! Which commit the build script says that the library was built from.

#[path = "../build/commit.rs"]
mod commit;

use std::{fs, path::Path, process::Command};

use commit::commit;

/// Runs git in a directory.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with one commit, and the commit.
fn repository(directory: &Path) -> String {
    fs::create_dir_all(directory).expect("creates");
    git(directory, &["init", "--quiet"]);
    fs::write(directory.join("a"), "a").expect("writes");
    git(directory, &["add", "a"]);
    git(directory, &["commit", "--quiet", "--message", "a"]);
    git(directory, &["rev-parse", "--short=12", "HEAD"])
}

#[test]
fn a_repository_has_its_own_commit() {
    let caller = tempfile::tempdir().expect("a directory");
    repository(caller.path());
    // As a git submodule or a path dependency of the caller's.
    let own = caller.path().join("own");
    let hash = repository(&own);
    assert_eq!(commit(&own).as_deref(), Some(&*hash));
    fs::write(own.join("a"), "b").expect("writes");
    assert_eq!(commit(&own), Some(format!("{hash}-dirty")));
}

#[test]
fn sources_in_the_callers_repository_have_no_commit() {
    let caller = tempfile::tempdir().expect("a directory");
    repository(caller.path());
    let copied = caller.path().join("vendor/ferrowave");
    fs::create_dir_all(&copied).expect("creates");
    assert_eq!(commit(&copied), None);
}

#[test]
fn a_package_has_the_commit_that_it_was_made_of() {
    let caller = tempfile::tempdir().expect("a directory");
    repository(caller.path());
    let note = |text: &str| {
        fs::write(caller.path().join(".cargo_vcs_info.json"), text).expect("writes");
        commit(caller.path())
    };
    let hash = "0123456789abcdef0123456789abcdef01234567";
    // The two forms of cargo's documentation.
    let clean =
        format!("{{\n  \"git\": {{\n    \"sha1\": \"{hash}\"\n  }},\n  \"path_in_vcs\": \"\"\n}}");
    assert_eq!(note(&clean).as_deref(), Some("0123456789ab"));
    let dirty =
        format!("{{\"git\": {{\"sha1\": \"{hash}\", \"dirty\": true}}, \"path_in_vcs\": \"\"}}");
    assert_eq!(note(&dirty).as_deref(), Some("0123456789ab-dirty"));
    for text in [
        "",
        "{}",
        "{\"git\": {\"sha1\": \"main\"}}",
        "{\"git\": {\"sha1\"",
    ] {
        assert_eq!(note(text), None, "{text}");
    }
}
