//! Whether a product that a device computed is right.
//!
//! [`Inputs`] makes matrices from a seed, with what must not be read or written around them.
//! [`verify`] compares what the device made of them with a product in f64, and with the bound that
//! rounding analysis gives for every element; the verdict has no chosen tolerance.

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
