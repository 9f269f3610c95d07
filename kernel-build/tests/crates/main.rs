//! Tests that compile crates of kernels: one program, because their builds take turns.

mod build;
mod embed;
mod policy;
mod support;
