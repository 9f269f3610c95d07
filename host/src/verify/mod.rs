//! Verifies products that a device computed.
//!
//! [`Inputs`] makes matrices from a seed, surrounded by elements that must not be read or written.
//! [`verify`] compares the device's result with a product in f64, within the bound that rounding
//! analysis gives for each element; there is no chosen tolerance.

mod bound;
mod canary;
mod fp8;

pub mod elements;
pub mod error;
pub mod inputs;
pub mod reference;

pub use elements::Elements;
pub use error::{Damage, Verdict, Worst, verify};
pub use inputs::{Inputs, InputsError, TAIL_ELEMENTS};
