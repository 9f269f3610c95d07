//! Host functions that streams call.

use std::ffi::c_void;

/// A host function with its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostCall {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    /// The argument's address.
    pub(crate) data: usize,
}
