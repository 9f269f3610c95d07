//! Host functions that streams call.

use std::ffi::{c_uint, c_void};

use ferrowave_hip_abi::{hipHostFn_t, hipStream_t, hipStreamCallback_t};

use super::{
    error::{Failure, present},
    objects::{
        host_call::HostCall,
        operation::{Callback, Operation},
        stream::stream,
    },
};

/// A host function with its argument.
pub(super) fn host_call(function: hipHostFn_t, data: *mut c_void) -> Result<HostCall, Failure> {
    let function = function.ok_or_else(|| Failure::value("the function is null"))?;
    present(function as *const c_void, "the function")?;
    Ok(HostCall {
        function,
        data: data.expose_provenance(),
    })
}

pub(super) unsafe fn hipLaunchHostFunc(
    stream: hipStream_t,
    function: hipHostFn_t,
    data: *mut c_void,
) -> Result<(), Failure> {
    let stream = self::stream(stream)?;
    stream.submit(Operation::Host(host_call(function, data)?))
}

pub(super) unsafe fn hipStreamAddCallback(
    stream: hipStream_t,
    function: hipStreamCallback_t,
    data: *mut c_void,
    flags: c_uint,
) -> Result<(), Failure> {
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    let function = function.ok_or_else(|| Failure::value("the function is null"))?;
    let callback = Callback {
        function,
        stream: stream.addr(),
        data: data.expose_provenance(),
    };
    self::stream(stream)?.submit(Operation::Callback(callback))
}
