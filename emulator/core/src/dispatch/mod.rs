//! Launches: running the workgroups of a grid, and the waves of each workgroup.

mod arguments;
mod error;
mod grid;
mod limit;
mod meter;
mod scratch;
mod start;
mod suspended;
mod workers;
mod workgroup;

pub use error::{FaultReport, LaunchError};
pub use grid::{
    LaunchConfig, LaunchSummary, Observed, check_launch, launch, launch_observed, launch_some,
    on_all_threads,
};
pub use limit::{
    INSTRUCTION_LIMIT_VARIABLE, Limit, LimitReport, Limits, Standing, TIMEOUT_VARIABLE, WavePlace,
    parse_instructions, parse_time,
};
pub use meter::{Progress, follow_launches, progress};

/// The initial value of registers, LDS and private memory: a NaN, the same in every run.
const UNDEFINED: u32 = 0x7fc5_5a5a;
