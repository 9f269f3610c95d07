//! Runs the kernels of AMD GPU code objects on a CPU.

#![feature(cfg_sanitize, f16, portable_simd, stmt_expr_attributes)]
// 16-byte atomics, on hosts that have them.
#![cfg_attr(target_has_atomic = "128", feature(integer_atomics))]

pub mod dispatch;
pub mod exec;
pub mod memory;
pub mod program;
