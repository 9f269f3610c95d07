//! Reads AMD GPU code objects: ELF, metadata, kernel descriptors, line tables.
//!
//! A code object is what a compiler makes of GPU kernels: an ELF file with machine code, a descriptor for each kernel
//! from which the hardware starts it, and a note from which the runtime learns its arguments. This crate reads all of
//! it for the GPUs of [`Gpu::ALL`](ferrowave_gpu::Gpu::ALL) and code objects v4 to v6. It is a crate of its own because three parties read them:
//! the emulator to run them, the build to check them, the host to check launches.
//!
//! Whatever the bytes, reading them ends with a value or a [`CodeObjectError`]. All addresses are relative to where the
//! image is loaded.
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
pub use target::{CodeObjectVersion, FeatureSetting, Target};
