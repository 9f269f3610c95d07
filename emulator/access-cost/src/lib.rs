//! The cost of a wavefront's memory access: the cache lines that its lanes touch, and the cycles of LDS bank conflicts.

mod banks;
mod lines;

pub use banks::{AccessKind, Banks};
pub use lines::{Lines, distinct_bytes, lines, look_ups};
