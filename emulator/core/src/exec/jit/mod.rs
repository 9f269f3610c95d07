//! The JIT: translates regions of vector instructions to host code.
//!
//! An operation reads its registers from memory and writes them back, which is most of what arithmetic costs. A region
//! of instructions that work on each lane alone is translated as a whole once it has run often enough; values then pass
//! from instruction to instruction in host registers.
//!
//! The passes are `regions` (finds and runs them), `classify` (which instructions take part), `lower` (to `ir`) and
//! `assemble` (to host code).
//!
//! Host code does what the operations do, bit for bit, or leaves it to them. The operations run chunks of lanes with a
//! NaN, or with an address outside LDS or the allocation that the instruction used last. They also run waves with
//! inactive lanes or with a MODE that differs from the host's arithmetic, and all launches with an observer.

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

/// [`Operation::native`](super::operation::Operation::native) of an operation where no region begins.
pub(super) const NONE: u32 = u32::MAX;
