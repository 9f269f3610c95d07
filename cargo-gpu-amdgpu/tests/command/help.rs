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
