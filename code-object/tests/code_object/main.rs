//! Code objects made by LLVM, read by this crate and by LLVM's tools.

mod bundle;
mod descriptor;
mod header;
mod image;
mod lines;
mod metadata;
mod parameters;
mod robust;
mod support;
