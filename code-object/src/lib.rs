//! Reads AMD GPU code objects: ELF, metadata, kernel descriptors, line tables.

mod gpu;

pub use gpu::{Gpu, UnknownGpu};
