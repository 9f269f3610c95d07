//! Launches: from a grid of workgroups to waves that run.

mod arguments;
mod error;
mod grid;
mod start;
mod workgroup;

pub use error::{FaultReport, LaunchError};
pub use grid::{LaunchConfig, LaunchSummary, check_launch, launch, launch_observed};
