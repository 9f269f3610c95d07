//! What device and host must agree on: the kernel catalogue, the argument struct, tile shapes.
//!
//! Every kernel of Ferrowave computes
//!
//! ```text
//! C[i][j] ← α · Σₚ A[i][p] · B[p][j] + β · C[i][j]      i < m, j < n, p < k
//! ```
//!
//! with a row-major C: element `(i, j)` of a matrix with leading dimension `ld` is `i · ld + j`
//! elements after its first one. A and B are row- or column-major, as [`Options`] says, which also
//! adds a bias and operations on C. With β = 0 the old C is not read, so a NaN in it does not
//! survive.
//!
//! [`for_each_kernel`] is the one list of kernels. The device crate makes its entry points from it, and the
//! [`catalogue`] its rows, from which the build derives launch bounds and the host plans launches. The crate
//! knows no other.
#![no_std]

pub mod arguments;
pub mod catalogue;
pub mod element;
pub mod options;
pub mod tile;
pub mod workspace;

mod kernels;

pub use arguments::{GemmArguments, GemmParameters};
pub use catalogue::{CATALOGUE, Kernel, LaunchBounds, Variant};
pub use element::{ElementType, ElementTypes};
pub use ferrowave_gpu::GpuSet;
pub use options::{Bias, FragmentOp, Options};
pub use tile::{BlockShape, BlockTile, Grid, TileOrder};
pub use workspace::Workspace;
