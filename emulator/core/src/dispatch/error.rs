//! Why a launch was refused or failed.

use std::fmt;

use super::LimitReport;
use crate::exec::{Fault, FaultKind};
use crate::memory::{MemoryError, View};
use crate::program::Kernel;

/// Why a launch failed.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A grid or block that is empty or exceeds a limit in one dimension.
    #[error("{what} {value:?}: each dimension must be from 1 to {limit}")]
    Shape {
        /// `grid` or `block`.
        what: &'static str,
        /// The requested size.
        value: [u32; 3],
        /// The maximum in one dimension.
        limit: u32,
    },
    /// A partial workgroup that is no smaller than the others.
    #[error(
        "partial workgroups of {partial:?}: each dimension must be 0 or less than that of the block {block:?}"
    )]
    Partial {
        /// The requested sizes.
        partial: [u32; 3],
        /// The size of the other workgroups.
        block: [u32; 3],
    },
    /// More work-items in a workgroup than the kernel was compiled for.
    #[error("a block of {threads} threads, but `{kernel}` takes at most {limit}")]
    BlockTooLarge {
        /// The kernel.
        kernel: String,
        /// The requested threads.
        threads: u64,
        /// The kernel's maximum.
        limit: u32,
        /// The device's GPU.
        gpu: ferrowave_gpu::Gpu,
    },
    /// More LDS than a workgroup may have.
    #[error("{requested} bytes of LDS, but a workgroup on {gpu} has at most {limit}")]
    TooMuchLds {
        /// Requested bytes, including the kernel's static LDS.
        requested: u64,
        /// The device's GPU.
        gpu: ferrowave_gpu::Gpu,
        /// The maximum.
        limit: u32,
    },
    /// More workgroups than can run at the same time.
    #[error("a cooperative launch of {workgroups} workgroups; it may have at most {limit}")]
    TooManyAtOnce {
        /// The requested workgroups.
        workgroups: u64,
        /// The maximum.
        limit: u64,
    },
    /// The kernel has explicit arguments, and none are given.
    #[error("no arguments, but `{kernel}` takes {needed} bytes of them")]
    NoArguments {
        /// The kernel.
        kernel: String,
        /// Bytes needed.
        needed: usize,
    },
    /// It waited for another launch, which failed.
    #[error("another launch of its group failed")]
    GroupFailed,
    /// The kernel printed in a form that ROCm's HIP runtime cannot read.
    #[error(
        "kernel `{kernel}` prints as OpenCL's `printf` does, which ROCm's HIP runtime cannot read; HIP code is compiled with \
         -mprintf-kind=buffered or hostcall"
    )]
    OpenClPrintf {
        /// The kernel.
        kernel: String,
    },
    /// An invalid limit in the environment.
    #[error("{variable} is `{value}`: {reason}")]
    Setting {
        /// The environment variable.
        variable: &'static str,
        /// What it is set to.
        value: String,
        /// What is expected.
        reason: String,
    },
    /// Not enough memory for the launch's own data.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The launch exceeded its limits.
    #[error(transparent)]
    Limit(Box<LimitReport>),
    /// A wave cannot continue.
    #[error(transparent)]
    Fault(Box<FaultReport>),
}

/// A fault and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// The kernel.
    pub kernel: String,
    /// The kind of the fault.
    pub kind: FaultKind,
    /// Source file, line and column, if the code object has line tables.
    pub source: Option<String>,
    /// The instruction's text.
    pub instruction: String,
    /// Its offset in the code object's image, in bytes.
    pub offset: u64,
    /// The workgroup.
    pub workgroup: [u32; 3],
    /// The wave in the workgroup.
    pub wave: u32,
    /// For global memory: the nearest allocation, and the distance to it.
    pub nearest: Option<String>,
}

impl std::error::Error for FaultReport {}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: {}", self.kernel, self.kind)?;
        if let Some(nearest) = &self.nearest {
            write!(f, ", {nearest}")?;
        }
        let [x, y, z] = self.workgroup;
        write!(f, "\n  in workgroup ({x}, {y}, {z}), wave {}", self.wave)?;
        write!(
            f,
            "\n  at `{}` (offset {:#x})",
            self.instruction, self.offset
        )?;
        if let Some(source) = &self.source {
            write!(f, "\n  from {source}")?;
        }
        Ok(())
    }
}

impl FaultReport {
    pub(super) fn new(
        kernel: &Kernel,
        fault: Fault,
        view: &View,
        workgroup: [u32; 3],
        wave: u32,
    ) -> Self {
        let code = kernel.code();
        let offset = kernel.offset_of(fault.operation);
        let instruction = match code.instruction(fault.operation) {
            Some(instruction) => instruction.text(kernel.gpu()).to_string(),
            None => "no instruction".to_owned(),
        };
        let nearest = match fault.kind {
            FaultKind::Memory { address, bytes, .. } => {
                let denied = match view.holds(address, bytes) {
                    true => ", which does not allow this kind of access",
                    false => "",
                };
                Some(view.place(address, bytes) + denied)
            }
            _ => None,
        };
        FaultReport {
            kernel: kernel.name().to_owned(),
            // A panic's message already contains its place.
            source: match fault.kind {
                FaultKind::Panic(_) => None,
                _ => source(kernel, offset),
            },
            kind: fault.kind,
            instruction,
            offset,
            workgroup,
            wave,
            nearest,
        }
    }
}

/// The source of the instruction at `offset`: the innermost line, and the outermost one if it was inlined.
pub(super) fn source(kernel: &Kernel, offset: u64) -> Option<String> {
    /// Instructions that the compiler added have no line. They get the line of the nearest instruction before, within
    /// this distance.
    const SEARCHED_BYTES: u64 = 64;
    let lines = kernel.object().lines();
    let start = kernel.description().code.start;
    let first = offset.saturating_sub(SEARCHED_BYTES).max(start);
    let frames = (first..=offset)
        .rev()
        .step_by(4)
        .map(|offset| {
            let mut frames = lines.frames(offset);
            frames.retain(|frame| frame.line.is_some());
            frames
        })
        .find(|frames| !frames.is_empty())?;
    let (innermost, outermost) = (frames.first()?, frames.last()?);
    Some(if innermost == outermost {
        innermost.to_string()
    } else {
        format!("{innermost}, inlined into {outermost}")
    })
}
