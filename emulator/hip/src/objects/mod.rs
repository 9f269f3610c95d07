//! Objects.

pub(crate) mod allocation;
pub(crate) mod graph_memory;
pub(crate) mod place;
