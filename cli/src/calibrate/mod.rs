//! The timing model's parameters, measured by microbenchmarks (`cli/calibration/`) on a device.

pub(crate) mod bench;
pub(crate) mod kernels;
pub(crate) mod measurements;
