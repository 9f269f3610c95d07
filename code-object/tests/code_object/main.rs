//! Code objects that LLVM made, read here and by LLVM's own tools.

mod bundle;
mod descriptor;
mod header;
mod image;
mod lines;
mod metadata;
mod parameters;
mod robust;
mod support;
