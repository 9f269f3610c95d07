//! Runs of vector instructions as host code.
//!
//! An operation of a wave reads its registers from memory and writes them there, which is most of what arithmetic costs. A
//! run of instructions that work on each lane alone is therefore translated as a whole, once it has been run often enough:
//! what one instruction gives to the next stays in the host's registers.
//!
//! The translation does what the operations do, bit for bit, or nothing: a chunk of lanes with a NaN, or with an address
//! outside LDS or the allocation that the instruction used last, is left to the operations, as is a wave with inactive
//! lanes or a MODE that the host's arithmetic is not right for. Whoever watches a launch sees every instruction alone,
//! and never comes here.

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(target_arch = "x86_64")]
mod assemble;
#[cfg(target_arch = "x86_64")]
mod memory;
#[cfg(target_arch = "x86_64")]
mod runs;
#[cfg(target_arch = "x86_64")]
mod select;
#[cfg(target_arch = "x86_64")]
mod shape;
#[cfg(target_arch = "x86_64")]
mod values;

#[cfg(not(target_arch = "x86_64"))]
pub(super) use absent::{Policy, Runs};
#[cfg(target_arch = "x86_64")]
pub(super) use runs::{Policy, Runs};

/// No run begins at an operation.
pub(super) const NONE: u32 = u32::MAX;
