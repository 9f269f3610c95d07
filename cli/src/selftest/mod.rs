//! Tests kernels on a device.

pub(crate) mod kernel;
pub(crate) mod results;
