//! The command, run as by a user. One test program, because its builds share a target directory and take turns.

mod bad_input;
mod bugs;
mod build;
#[path = "../../../emulator/hip/lib/tests/built/mod.rs"]
mod built;
mod help;
mod launch;
mod library;
mod show;
mod support;
mod tutorial;
