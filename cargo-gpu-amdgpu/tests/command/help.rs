//! Help, completions and the man page.

use crate::support::{run, tmp};

const COMMANDS: [&str; 10] = [
    "new",
    "build",
    "inspect",
    "asm",
    "run",
    "check",
    "profile",
    "test",
    "completions",
    "man",
];

#[test]
fn every_command_is_in_help_man_page_and_completions() {
    let dir = tmp("help");
    let help = run(&dir, &["--help"]).ok();
    let man = run(&dir, &["man"]).ok();
    assert!(man.starts_with(".ie") || man.contains(".TH cargo"), "{man}");
    for command in COMMANDS {
        assert!(help.contains(command), "{command}");
        let own = run(&dir, &[command, "--help"]).ok();
        assert!(own.contains("Usage: cargo gpu-amdgpu"), "{own}");
        assert!(man.contains(&command.to_uppercase()), "{command}");
    }
    let check = run(&dir, &["check", "--help"]).ok();
    assert!(check.contains("Exit code 3"), "{check}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = run(&dir, &["completions", shell]).ok();
        for command in COMMANDS {
            assert!(text.contains(command), "{shell}: {command}");
        }
    }
    run(&dir, &["completions", "dos"]).fails(2, &["bash", "zsh"]);
}

/// The table of commands in `docs/reference.md`: names and descriptions.
#[test]
fn the_reference_has_the_commands_of_the_help() {
    let page = include_str!("../../../docs/reference.md");
    let (_, table) = page.split_once("## `cargo gpu-amdgpu`").expect("a table");
    let (table, _) = table.split_once("## ").expect("an end");
    let mut help = run(&tmp("help"), &["--help"]).ok();
    let start = help.find("Commands:").expect("commands");
    let end = help.find("Options:").expect("options");
    // Descriptions are broken into lines.
    help = help[start..end]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let mut rows = 0;
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let name = cells.next().expect("a name").trim_matches('`');
        let about = cells.next().expect("a description");
        assert!(help.contains(&format!("{name} {about}")), "{row}\n{help}");
        let own = run(&tmp("help"), &[name, "--help"]).ok();
        let has_code = cells.next().expect("exit codes").starts_with("3: findings");
        assert_eq!(own.contains("Exit code 3"), has_code, "{row}");
        rows += 1;
    }
    assert_eq!(rows, COMMANDS.len());
}
