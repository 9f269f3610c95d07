//! Matrix products on a device.
//!
//! A [`Request`] is what somebody asks for, in numbers that may be nonsense. Checking it gives a
//! [`Problem`]. A [`Plan`] says which launches of one kernel compute it on one GPU.

pub mod launch;
pub mod layout;
pub mod plan;
pub mod problem;

pub use launch::{Gemm, GemmError};
pub use layout::Layout;
pub use plan::{GridLimits, Launch, Plan, PlanError, UnknownKernel, kernel_named};
pub use problem::{Problem, ProblemError, Request};
