//! Functions by name.

use std::ffi::{c_char, c_int, c_void};

use ferrowave_hip_abi::{
    for_each_hip_function, for_each_unsupported_hip_function,
    hipDriverProcAddressQueryResult as Query,
};

use super::{
    error::{Failure, out, text},
    // `exports` and this file depend on each other: `hipGetProcAddress` returns functions of the C boundary, and is one
    // itself.
    exports,
    objects::stream::per_thread,
};

/// From this version on, the plain name means the newer struct (major × 100 + minor).
const R0600_VERSION: c_int = 600;

macro_rules! by_name {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($arguments:tt)*) -> $result:ty;
    )*) => {
        fn address(name: &str) -> Option<*mut c_void> {
            match name {
                $(stringify!($name) => Some(exports::$name as *mut c_void),)*
                _ => unsupported(name),
            }
        }
    };
}

for_each_hip_function!(by_name);

macro_rules! unsupported_by_name {
    ($($name:ident $(($($pointer:ident),*))?)*) => {
        fn unsupported(name: &str) -> Option<*mut c_void> {
            match name {
                $(stringify!($name) => Some(exports::unsupported::$name as *mut c_void),)*
                _ => None,
            }
        }
    };
}

for_each_unsupported_hip_function!(unsupported_by_name);

pub(super) unsafe fn hipGetDriverEntryPoint(
    symbol: *const c_char,
    function: *mut *mut c_void,
    flags: u64,
    status: *mut Query,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipGetProcAddress(symbol, function, c_int::MAX, flags, status) }
}

pub(super) unsafe fn hipGetDriverEntryPoint_spt(
    symbol: *const c_char,
    function: *mut *mut c_void,
    flags: u64,
    status: *mut Query,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    per_thread(|| unsafe { hipGetDriverEntryPoint(symbol, function, flags, status) })
}

pub(super) unsafe fn hipGetProcAddress_spt(
    symbol: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    flags: u64,
    status: *mut Query,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    per_thread(|| unsafe { hipGetProcAddress(symbol, function, version, flags, status) })
}

pub(super) unsafe fn hipGetProcAddress(
    symbol: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    flags: u64,
    status: *mut Query,
) -> Result<(), Failure> {
    let function = out!(function);
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    // SAFETY: HIP's contract: a C string.
    let asked = unsafe { text(symbol, "symbol") }?.to_string_lossy();
    let name = match &*asked {
        "hipGetDeviceProperties" if version >= R0600_VERSION => "hipGetDevicePropertiesR0600",
        name => name,
    };
    let address = address(name);
    if !status.is_null() {
        out!(status).set(match address {
            Some(_) => Query::HIP_GET_PROC_ADDRESS_SUCCESS,
            None => Query::HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        });
    }
    function.set(address.unwrap_or(std::ptr::null_mut()));
    match address {
        Some(_) => Ok(()),
        None => Err(Failure::value(format_args!(
            "there is no function `{asked}`"
        ))),
    }
}
