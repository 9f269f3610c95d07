//! Hidden costs that a build refuses in its kernels.

use std::fmt;

use ferrowave_gpu::Gpu;

use crate::{FlaggedInstruction, KernelReport};

/// What a build refuses in its kernels.
///
/// Each of these costs far more than the source suggests, and none of them changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Refuses spilled vector registers.
    pub no_spills: bool,
    /// Refuses spilled scalar registers. They usually go to lanes of a vector register, at one instruction per use,
    /// which is harmless outside inner loops.
    pub no_scalar_spills: bool,
    /// Refuses scratch, which is in global memory.
    pub no_scratch: bool,
    /// Refuses `flat_` instructions, which wait for both global memory and LDS.
    pub no_flat: bool,
}

impl Policy {
    /// Refuses all of them.
    pub const STRICT: Policy = Policy {
        no_spills: true,
        no_scalar_spills: true,
        no_scratch: true,
        no_flat: true,
    };

    /// Checks all kernels, so that one run reports every violation.
    ///
    /// # Errors
    /// If a kernel does what the policy refuses.
    pub fn check(self, kernels: &[KernelReport]) -> Result<(), PolicyError> {
        let violations: Vec<_> = kernels
            .iter()
            .flat_map(|kernel| self.violations(kernel))
            .collect();
        if violations.is_empty() {
            return Ok(());
        }
        Err(PolicyError { violations })
    }

    fn violations(self, kernel: &KernelReport) -> Vec<Violation> {
        let mut violations = Vec::new();
        let mut add = |what| {
            violations.push(Violation {
                gpu: kernel.gpu,
                kernel: kernel.name.clone(),
                what,
            });
        };
        let vgprs = kernel.vgpr_spills.unwrap_or(0);
        let sgprs = kernel.sgpr_spills.unwrap_or(0);
        if self.no_spills && vgprs > 0 || self.no_scalar_spills && sgprs > 0 {
            add(Refused::Spills {
                vgprs,
                sgprs,
                first: kernel.scratch.first().cloned(),
            });
        }
        if self.no_scratch
            && (kernel.scratch_bytes > 0 || kernel.uses_dynamic_stack || !kernel.scratch.is_empty())
        {
            add(Refused::Scratch {
                bytes: kernel.scratch_bytes,
                dynamic: kernel.uses_dynamic_stack,
                first: kernel.scratch.first().cloned(),
            });
        }
        if self.no_flat
            && let Some(first) = kernel.flat.first()
        {
            add(Refused::Flat {
                count: kernel.flat.len(),
                first: first.clone(),
            });
        }
        violations
    }
}

/// The error of kernels that do what the policy refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// All violations, in the order of the kernels.
    pub violations: Vec<Violation>,
}

/// A kernel's violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The GPU that it was compiled for.
    pub gpu: Gpu,
    /// The kernel's name.
    pub kernel: String,
    /// What the kernel does.
    pub what: Refused,
}

/// Something that a [`Policy`] refuses, with the first instruction that does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Registers were spilled.
    Spills {
        /// Vector registers.
        vgprs: u32,
        /// Scalar registers.
        sgprs: u32,
        /// The first scratch access, if registers were spilled to scratch.
        first: Option<FlaggedInstruction>,
    },
    /// The kernel uses scratch.
    Scratch {
        /// Bytes per work-item.
        bytes: u32,
        /// Whether calls need a further amount that is not known.
        dynamic: bool,
        /// The first scratch access.
        first: Option<FlaggedInstruction>,
    },
    /// The kernel has `flat_` instructions.
    Flat {
        /// Number of instructions.
        count: usize,
        /// The first one.
        first: FlaggedInstruction,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.violations.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyError {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}` for {} ", self.kernel, self.gpu)?;
        let first = match &self.what {
            Refused::Spills {
                vgprs,
                sgprs,
                first,
            } => {
                write!(f, "spills {vgprs} vector and {sgprs} scalar registers")?;
                first.as_ref()
            }
            Refused::Scratch {
                bytes,
                dynamic,
                first,
            } => {
                write!(f, "uses {bytes} bytes of scratch per work-item")?;
                if *dynamic {
                    f.write_str(" and more at run time")?;
                }
                first.as_ref()
            }
            Refused::Flat { count, first } => {
                write!(
                    f,
                    "has {count} flat_ instruction{}",
                    if *count == 1 { "" } else { "s" }
                )?;
                Some(first)
            }
        };
        match first {
            Some(instruction) => write!(f, ", first {instruction}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for FlaggedInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {:#x}", self.text, self.address)?;
        for (index, location) in self.source.iter().enumerate() {
            let via = if index == 0 { "from" } else { "inlined at" };
            write!(f, "\n    {via} {location}")?;
            if let Some(function) = &location.function {
                write!(f, " ({function})")?;
            }
        }
        Ok(())
    }
}
