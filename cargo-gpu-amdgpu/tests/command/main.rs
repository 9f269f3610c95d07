//! The command, run as by a user. One test program, because its builds share a target directory and take turns.

mod bad_input;
mod bugs;
mod build;
mod help;
mod launch;
mod show;
mod support;
mod tutorial;
