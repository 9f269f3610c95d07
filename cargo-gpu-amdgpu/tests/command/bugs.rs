//! The worked examples of `docs/bugs.md`: every command finds what the page shows.

use std::{fs, path::Path};

use crate::support::{empty, page_commands, run};

const PAGE: &str = include_str!("../../../docs/bugs.md");

/// Whether a line of output is one of the page, in which `…` stands for any text.
fn is_line(said: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = parts.next().and_then(|first| said.strip_prefix(first)) else {
        return false;
    };
    let mut ends_anywhere = false;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        ends_anywhere = part.is_empty();
    }
    rest.is_empty() || ends_anywhere
}

/// Whether the output has the page's lines one after the other. A line `…` stands for any lines; any may follow the last.
fn shows(said: &[&str], shown: &[&str]) -> bool {
    match shown.split_first() {
        None => true,
        Some((line, rest)) if line.trim() == "…" => {
            (0..=said.len()).any(|skipped| shows(&said[skipped..], rest))
        }
        Some((line, rest)) => said
            .split_first()
            .is_some_and(|(first, said)| is_line(first.trim_end(), line) && shows(said, rest)),
    }
}

#[test]
fn the_page_shows_what_the_commands_say() {
    // A copy: cargo writes a lock file.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let dir = empty("bugs");
    let from = repository.join("examples/bugs");
    fs::create_dir(dir.join("src")).expect("creates");
    for file in ["rust-toolchain.toml", "src/lib.rs", "src/kernels.rs"] {
        fs::copy(from.join(file), dir.join(file)).expect("copies");
    }
    let panic = repository.join("kernel-build/panic");
    let panic = panic.to_str().expect("UTF-8").replace('\\', "/");
    let manifest = fs::read_to_string(from.join("Cargo.toml")).expect("reads");
    let manifest = manifest.replace("../../kernel-build/panic", &panic);
    fs::write(dir.join("Cargo.toml"), manifest).expect("writes");

    let mut findings = 0;
    let mut ran = 0;
    for (command, shown) in page_commands(PAGE) {
        let Some(arguments) = command.strip_prefix("cargo gpu-amdgpu ") else {
            assert_eq!(command, "cd examples/bugs", "nothing runs `{command}`");
            continue;
        };
        let arguments: Vec<_> = arguments.split(' ').collect();
        let ran_now = run(&dir, &arguments);
        let finds = shown.iter().any(|line| line.contains(" findings ("));
        let code = if finds { 3 } else { 0 };
        assert_eq!(ran_now.code, code, "{command}: {ran_now:?}");
        let said: Vec<_> = ran_now.stdout.lines().collect();
        assert!(!shown.is_empty(), "the page shows nothing of `{command}`");
        assert!(
            shows(&said, &shown),
            "{command}: the page shows\n{}\nof\n{}",
            shown.join("\n"),
            ran_now.stdout
        );
        findings += usize::from(finds);
        ran += 1;
    }
    assert_eq!((ran, findings), (6, 2));
}

#[test]
fn lines_are_compared_in_order() {
    let said = ["one", "two 2", "three", "four"];
    for shown in [
        &["one", "two …"][..],
        &["…", "three"],
        &["…", "two 2", "…", "four"],
        &["one", "t… 2"],
    ] {
        assert!(shows(&said, shown), "{shown:?}");
    }
    for shown in [
        &["two 2"][..],
        &["one", "three"],
        &["…", "three", "…", "two 2"],
        &["…", "five"],
        &["on"],
        &["one", "t…3"],
    ] {
        assert!(!shows(&said, shown), "{shown:?}");
    }
}
