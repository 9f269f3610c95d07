//! Runs the kernels of AMD GPU code objects on a CPU.

#![feature(cfg_sanitize, f16, portable_simd, stmt_expr_attributes)]

pub mod dispatch;
pub mod exec;
pub mod memory;
pub mod program;
