//! Verifies products that a device computed.
//!
//! [`Inputs`] makes matrices from a seed, surrounded by elements that must not be read or written.
//! A [`Reference`] compares the device's result with a product in f64, within the bound that rounding
//! analysis gives for each element; there is no chosen tolerance. It computes the product once for all kernels, on all
//! cores, and large ones by [projections](mod@reference).

mod block;
mod bound;
mod canary;
mod fp8;
mod parallel;
mod projection;

pub mod cases;
pub mod elements;
pub mod error;
pub mod inputs;
pub mod reference;

pub use elements::Elements;
pub use error::{Damage, Method, Verdict, Worst};
pub use inputs::{Inputs, InputsError, TAIL_ELEMENTS};
pub use reference::{Reference, verify};
