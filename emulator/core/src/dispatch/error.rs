//! Launches that cannot be, or that came to grief.

use std::fmt;

use super::LimitReport;
use crate::exec::{Fault, FaultKind};
use crate::memory::{MemoryError, View};
use crate::program::Kernel;

/// Why a launch failed.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A grid or block without work-items, or with more than a launch may have.
    #[error("{what} {value:?}: each dimension must be from 1 to {limit}")]
    Shape {
        /// `grid` or `block`.
        what: &'static str,
        /// What was asked for.
        value: [u32; 3],
        /// The most in one dimension.
        limit: u32,
    },
    /// More work-items in a workgroup than the kernel was compiled for.
    #[error("a block of {threads} threads, but `{kernel}` takes at most {limit}")]
    BlockTooLarge {
        /// The kernel.
        kernel: String,
        /// Threads asked for.
        threads: u64,
        /// The most it takes.
        limit: u32,
    },
    /// More LDS than a workgroup can have.
    #[error("{requested} bytes of LDS, but a workgroup on {gpu} has at most {limit}")]
    TooMuchLds {
        /// Bytes asked for, the kernel's own included.
        requested: u64,
        /// The device's GPU.
        gpu: ferrowave_gpu::Gpu,
        /// The most there is.
        limit: u32,
    },
    /// More workgroups than can run side by side.
    #[error("a cooperative launch of {workgroups} workgroups; it may have at most {limit}")]
    TooManyAtOnce {
        /// Workgroups asked for.
        workgroups: u64,
        /// The most there may be.
        limit: u64,
    },
    /// Fewer argument bytes than the kernel's explicit arguments take.
    #[error("{given} bytes of arguments, but `{kernel}` takes {needed}")]
    Arguments {
        /// The kernel.
        kernel: String,
        /// Bytes given.
        given: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// The environment's limit is none.
    #[error("{variable} is `{value}`: {reason}")]
    Setting {
        /// The environment variable.
        variable: &'static str,
        /// What it is set to.
        value: String,
        /// What it should be.
        reason: String,
    },
    /// No memory for the launch's own data.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The launch took more than its limits allow.
    #[error(transparent)]
    Limit(Box<LimitReport>),
    /// A wave could not go on.
    #[error(transparent)]
    Fault(Box<FaultReport>),
}

/// A fault, with everything that tells where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// The kernel.
    pub kernel: String,
    /// What went wrong.
    pub kind: FaultKind,
    /// Source file, line and column, where the code object has line tables.
    pub source: Option<String>,
    /// The instruction's text.
    pub instruction: String,
    /// Its offset in the code object's image, in bytes.
    pub offset: u64,
    /// The workgroup.
    pub workgroup: [u32; 3],
    /// The wave in the workgroup.
    pub wave: u32,
    /// For global memory: the allocation next to the address, and how far from it.
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
                    true => ", which cannot be accessed so",
                    false => "",
                };
                Some(view.place(address, bytes) + denied)
            }
            _ => None,
        };
        FaultReport {
            kernel: kernel.name().to_owned(),
            // A panic says its place itself.
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

/// The source of the instruction at `offset`: the innermost line, and the kernel's own if it was inlined there.
pub(super) fn source(kernel: &Kernel, offset: u64) -> Option<String> {
    /// Instructions that the compiler added have no line: they take that of the instruction before them.
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
