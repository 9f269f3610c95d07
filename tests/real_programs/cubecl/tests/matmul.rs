//! cubek-matmul's own tests, as they are on crates.io.

#![allow(unused, clippy::upper_case_acronyms)]

include!(concat!(env!("OUT_DIR"), "/suite.rs"));
