//! What a wavefront's memory access costs: cache lines that its lanes touch, cycles that LDS takes for bank conflicts.

mod banks;
mod lines;

pub use banks::{AccessKind, Banks};
pub use lines::{Lines, distinct_bytes, lines, look_ups};
