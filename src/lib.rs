//! Matrix multiplication for AMD GPUs in Rust.
