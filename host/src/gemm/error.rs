//! Why a product was not computed.

use super::{choose::NoKernel, group::GroupError, operands::OperandError, plan::PlanError};
use crate::hip::{BufferError, HipError, LaunchError, ModuleError};
use thiserror::Error;

/// Why a product was not computed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GemmError {
    /// No kernel on this GPU has the problem's element types.
    #[error(transparent)]
    NoKernel(#[from] NoKernel),
    /// The kernel can't compute the problem on this GPU.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The products can't be computed as a group.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// The code object can't be loaded, or does not contain the kernel.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The launch was refused.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A matrix does not fit the problem.
    #[error(transparent)]
    Operand(#[from] OperandError),
    /// The kernel's workspace can't be allocated.
    #[error("no workspace of {bytes} bytes: {error}")]
    Workspace {
        /// Its size.
        bytes: u64,
        /// Why it can't be allocated.
        error: BufferError,
    },
    /// The workspace would exceed the address space.
    #[error("the workspace for the parts of k would exceed the address space")]
    NoAddresses,
    /// The environment asks for no mode of tuning.
    #[error("{0}")]
    Tuning(String),
    /// No kernel computes the problem on this device.
    #[error("every kernel for this product fails on this device: {}", .0.join("; "))]
    NoneRuns(Vec<String>),
    /// An error of HIP, such as a kernel's access outside its memory.
    #[error(transparent)]
    Hip(#[from] HipError),
}
