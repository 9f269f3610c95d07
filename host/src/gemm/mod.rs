//! Matrix products on a device.
//!
//! A [`Request`] is a product as the caller describes it, with unchecked numbers. Checking it gives a [`Problem`].
//! [`choose()`] picks the kernel for it on a [`Machine`], a [`Plan`] lists the launches of one kernel that compute it,
//! and [`Gemm`] does all this and runs the launches on [`Operands`].

mod access;
mod launch_split;
mod winners;
mod workspace;

pub mod buffers;
pub mod choose;
pub mod element;
pub mod error;
pub mod group;
pub mod launch;
pub mod layout;
pub mod machine;
pub mod names;
pub mod operands;
pub mod operation;
pub mod plan;
pub mod problem;
pub mod request;
pub mod run;
pub mod sparse;
pub mod tiles;
pub mod tune;
pub mod tuned;

pub use access::Misfit;
pub use buffers::InputBuffers;
pub use choose::{Choice, Decision, NoKernel, Second, choose};
pub use element::{Bf8, Bf8Fnuz, E8m0, Element, Fp8, Fp8Fnuz, Mxbf8, Mxfp4Pair, Mxfp6Quad, Mxfp8};
pub use error::GemmError;
pub use group::{GroupError, choose_for_group};
pub use launch::Gemm;
pub use layout::{Layout, Order};
pub use machine::{GridLimits, Machine};
pub use names::{UnknownKernel, kernel_named};
pub use operands::{Addresses, OperandError, Operands, Source, Target};
pub use operation::{Operation, UnknownOperation};
pub use plan::{Launch, Plan, PlanError, WorkspaceBytes};
pub use problem::Problem;
pub use request::{ProblemError, Request};
pub use run::{Computed, ComputedGroup};
pub use tune::{Measured, Tuned};
