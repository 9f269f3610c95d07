//! Launches: from a grid of workgroups to waves that run.

mod arguments;
mod aside;
mod error;
mod grid;
mod limit;
mod private;
mod start;
mod workers;
mod workgroup;

pub use error::{FaultReport, LaunchError};
pub(crate) use grid::launch_some;
pub use grid::{LaunchConfig, LaunchSummary, Observed, check_launch, launch, launch_observed};
pub use limit::{
    INSTRUCTION_LIMIT_VARIABLE, LimitReport, Standing, WavePlace,
    instruction_limit_from_environment,
};
