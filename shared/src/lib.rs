//! What device and host must agree on: the kernel catalogue, the argument struct, tile shapes.
//!
//! Every kernel of Ferrowave computes
//!
//! ```text
//! C[i][j] ← α · Σₚ A[i][p] · B[p][j] + β · C[i][j]      i < m, j < n, p < k
//! ```
//!
//! C is row-major: element `(i, j)` of a matrix with leading dimension `ld` is `i · ld + j`
//! elements after the first one. [`Options`] select row- or column-major A and B, a bias, and
//! operations on C. With β = 0 the old C is not read, so a NaN in it does not survive.
//!
//! [`for_each_kernel`] is the one list of kernels. The device crate's entry points and the rows of the
//! [`catalogue`] are made from it; the build takes launch bounds from the catalogue, and the host plans launches
//! from it.
#![no_std]

pub mod arguments;
pub mod catalogue;
pub mod element;
pub mod options;
pub mod six_bits;
pub mod sparse;
pub mod tile;
pub mod workspace;

mod kernels;

pub use arguments::{
    GemmArguments, GemmParameters, GroupMember, ScaleParameters, ScaledGemmArguments,
};
pub use catalogue::{CATALOGUE, Kernel, LaunchBounds, Variant, gpus_with_kernels};
pub use element::{ElementType, ElementTypes, SCALE_BLOCK};
pub use ferrowave_gpu::GpuSet;
pub use options::{Bias, FragmentOp, Options, OutputType};
pub use tile::{BlockShape, BlockTile, Grid, TileOrder};
pub use workspace::Workspace;

/// Where this crate's sources are. The build of `ferrowave` compiles them for GPUs.
pub const DIRECTORY: &str = env!("CARGO_MANIFEST_DIR");
