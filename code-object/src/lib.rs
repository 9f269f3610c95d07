//! Reads AMD GPU code objects: ELF, metadata, kernel descriptors, line tables.
//!
//! A code object is an ELF file with compiled GPU kernels: machine code, a descriptor for each kernel that the hardware
//! reads to start it, and a note that describes its arguments to the runtime. This crate reads code objects v4 to v6
//! for the GPUs of [`Gpu::ALL`](ferrowave_gpu::Gpu::ALL). The emulator, the kernel build and the host library use it.
//!
//! Invalid bytes give a [`CodeObjectError`], never a panic. All addresses are relative to the load address.
//!
//! ```no_run
//! use ferrowave_code_object::CodeObject;
//!
//! let bytes = std::fs::read("kernels.elf")?;
//! let object = CodeObject::parse(&bytes)?;
//! for kernel in object.kernels() {
//!     println!("{} on {}: {} VGPRs", kernel.metadata.name, object.target(), kernel.descriptor.vgprs());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bundle;
mod code_object;
mod descriptor;
mod dynamic_symbols;
mod error;
mod image;
mod lines;
mod metadata;
mod msgpack;
mod nearest;
mod parameters;
mod symbols;
mod target;

pub use bundle::{
    Bundle, BundleEntry, BundleError, EntryTarget, Found, FoundObject, MAX_BUNDLE_BYTES,
    code_objects, write_bundle,
};
pub use code_object::{CodeObject, Kernel};
pub use descriptor::{Exceptions, FloatDenormMode, FloatRoundMode, KernelDescriptor, UserSgprs};
pub use dynamic_symbols::RelocationTarget;
pub use error::CodeObjectError;

pub use image::{MAX_IMAGE_BYTES, Relocation, RelocationKind, Segment};
pub use lines::{LineTables, SourceLocation};
pub use metadata::{AddressSpace, Argument, KernelKind, KernelMetadata, Metadata, ValueKind};
pub use nearest::nearest;
pub use parameters::{Parameter, Scalar, parameters};
pub use symbols::{Symbol, SymbolKind};
pub use target::{CodeObjectVersion, FeatureSetting, GenericTarget, Target};
