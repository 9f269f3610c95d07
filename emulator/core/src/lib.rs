//! Runs the kernels of AMD GPU code objects on a CPU.

#![feature(cfg_sanitize, f16, portable_simd, stmt_expr_attributes)]
// 16-byte atomics, on hosts that have them, where `memory::shared` takes atomics.
#![cfg_attr(
    all(
        target_has_atomic = "128",
        not(all(target_arch = "x86_64", unix, not(miri), not(sanitize = "thread")))
    ),
    feature(integer_atomics)
)]

pub mod dispatch;
pub mod exec;
pub mod memory;
pub mod program;
