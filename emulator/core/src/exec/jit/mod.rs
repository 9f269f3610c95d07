//! The JIT: regions of vector instructions as host code.
//!
//! An operation reads its registers from memory and writes them there, which is most of what arithmetic costs. A region of
//! instructions that work on each lane alone is translated as a whole once it has run often enough: what one instruction
//! gives to the next stays in the host's registers.
//!
//! The passes are `regions` (finds and runs them), `classify` (which instructions take part), `lower` (to `ir`) and
//! `assemble` (to host code).
//!
//! The translation does what the operations do, bit for bit, or nothing. A chunk of lanes with a NaN, or with an address
//! outside LDS or the allocation that the instruction used last, is left to the operations; so is a wave with inactive
//! lanes or a MODE that differs from the host's. Launches with an observer run every instruction alone.

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(target_arch = "x86_64")]
mod assemble;
#[cfg(target_arch = "x86_64")]
mod classify;
#[cfg(target_arch = "x86_64")]
mod ir;
#[cfg(target_arch = "x86_64")]
mod lower;
#[cfg(target_arch = "x86_64")]
mod memory;
#[cfg(target_arch = "x86_64")]
mod regions;

#[cfg(not(target_arch = "x86_64"))]
pub(super) use absent::{Policy, Regions};
#[cfg(target_arch = "x86_64")]
pub(super) use regions::{Policy, Regions};

/// No region begins at an operation.
pub(super) const NONE: u32 = u32::MAX;
