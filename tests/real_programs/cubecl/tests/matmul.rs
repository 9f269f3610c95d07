//! cubek-matmul's own tests from crates.io.

#![allow(unused, clippy::upper_case_acronyms)]

include!(concat!(env!("OUT_DIR"), "/suite.rs"));
