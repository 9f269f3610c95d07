//! The GPUs that Ferrowave knows: names, limits, occupancy, specifications. Nothing else describes a GPU.
//!
//! A [`Gpu`] is an instruction set, named as in LLVM, of a [`Family`]; its [`GpuLimits`] are the limits that a kernel must respect. A
//! [`Product`] is a card with that instruction set; its [`Specifications`] are the figures that programs query and that
//! affect performance. Latencies and throughputs belong to the timing model.
//!
//! ```
//! use ferrowave_gpu::{GpuLimits, Product};
//!
//! let product: Product = "MI300X".parse()?;
//! assert_eq!(product.gpu().name(), "gfx942");
//! assert_eq!(product.specifications().compute_units, 304);
//! assert_eq!(GpuLimits::of(product.gpu()).lds_bytes, 65536);
//! # Ok::<(), ferrowave_gpu::UnknownGpu>(())
//! ```
#![no_std]

#[cfg(feature = "std")]
extern crate std;

mod family;
mod gpu;
#[cfg(feature = "std")]
mod kfd;
mod limits;
#[cfg(feature = "std")]
mod names;
#[cfg(feature = "std")]
mod occupancy;
mod product;
mod set;
mod specifications;

pub use family::Family;
pub use gpu::Gpu;
#[cfg(feature = "std")]
pub use kfd::{KFD_GENERATION, KfdGpu, PciPlace, known_gpus};
pub use limits::{GpuLimits, WaitCounters};
#[cfg(feature = "std")]
pub use names::UnknownGpu;
#[cfg(feature = "std")]
pub use occupancy::{Limiter, Occupancy, Resources};
pub use product::Product;
pub use set::GpuSet;
pub use specifications::{PCI_VENDOR_ID, Specifications};

/// Where this crate's sources are. The build of `ferrowave` compiles them for GPUs.
pub const DIRECTORY: &str = env!("CARGO_MANIFEST_DIR");
