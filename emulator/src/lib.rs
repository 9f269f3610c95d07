//! Runs AMD GPU code objects on a CPU behind the HIP API.

#![feature(f16, portable_simd, stmt_expr_attributes)]

pub mod check;
pub mod dispatch;
pub mod exec;
pub mod gpu;
pub mod hip;
pub mod isa;
pub mod memory;
pub mod profile;
pub mod program;
pub mod timing;
