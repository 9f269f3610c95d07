//! Tests that compile crates of kernels. One program, because their builds take turns.

mod build;
mod embed;
mod policy;
mod support;
