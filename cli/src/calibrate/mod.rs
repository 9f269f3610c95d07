//! The timing model's parameters, measured by microbenchmarks (`calibration/`) on a device.

pub(crate) mod bench;
pub(crate) mod kernels;
pub(crate) mod measurements;
