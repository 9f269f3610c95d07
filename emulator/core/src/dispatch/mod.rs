//! Launches: running the workgroups of a grid, and the waves of each workgroup.

mod arguments;
mod error;
mod grid;
mod hostcall;
mod limit;
mod meter;
mod printf;
mod printf_buffer;
mod scratch;
mod start;
mod suspended;
mod workers;
mod workgroup;

pub use error::{FaultReport, LaunchError};
pub use grid::{
    GridGroup, LaunchConfig, LaunchSummary, Observed, check_launch, launch, launch_observed,
    launch_some, on_all_threads,
};
pub use limit::{
    INSTRUCTION_LIMIT_VARIABLE, Limit, LimitReport, Limits, Standing, TIMEOUT_VARIABLE, WavePlace,
    parse_instructions, parse_time,
};
pub use meter::{Progress, follow_launches, progress};

/// What registers, LDS and private memory hold before a kernel writes to them. On a GPU that is what earlier waves left, or
/// the zeros that Linux's driver writes after a reset (`gfx_v9_4_2_do_edc_gpr_workarounds`). With zeros, programs that read
/// them by mistake get the results that they get on a GPU, as MAGMA's `trmv` does; `check` reports such reads.
const INITIAL: u32 = 0;
