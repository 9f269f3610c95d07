//! `hipLink…`: the functions of hiprtc's linker with HIP's error codes.

#![expect(clippy::too_many_arguments, reason = "HIP's signatures")]

use std::ffi::{c_char, c_uint, c_void};

use ferrowave_hip_abi::{hipError_t, hipJitInputType, hipJitOption, hipLinkState_t, hiprtcResult};

use super::{
    hiprtcLinkAddData, hiprtcLinkAddFile, hiprtcLinkComplete, hiprtcLinkCreate, hiprtcLinkDestroy,
};
use crate::error::{Failure, RtcFailure};

/// HIP's documentation names one code for bad arguments and one for a link that fails.
fn converted(failure: RtcFailure) -> Failure {
    let code = match failure.code {
        hiprtcResult::HIPRTC_ERROR_INVALID_INPUT | hiprtcResult::HIPRTC_ERROR_INVALID_OPTION => {
            hipError_t::hipErrorInvalidValue
        }
        _ => hipError_t::hipErrorInvalidConfiguration,
    };
    Failure::new(code, failure.detail)
}

macro_rules! links {
    ($($name:ident = $function:ident($($argument:ident: $type:ty),*);)*) => {$(
        pub(in crate) unsafe fn $name($($argument: $type),*) -> Result<(), Failure> {
            // SAFETY: the caller upholds the same contract.
            unsafe { $function($($argument),*) }.map_err(converted)
        }
    )*};
}

links! {
    hipLinkCreate = hiprtcLinkCreate(
        count: c_uint, options: *mut hipJitOption, values: *mut *mut c_void, link: *mut hipLinkState_t
    );
    hipLinkAddFile = hiprtcLinkAddFile(
        link: hipLinkState_t, input: hipJitInputType, path: *const c_char, count: c_uint, options: *mut hipJitOption,
        values: *mut *mut c_void
    );
    hipLinkAddData = hiprtcLinkAddData(
        link: hipLinkState_t, input: hipJitInputType, image: *mut c_void, bytes: usize, name: *const c_char,
        count: c_uint, options: *mut hipJitOption, values: *mut *mut c_void
    );
    hipLinkComplete = hiprtcLinkComplete(link: hipLinkState_t, code: *mut *mut c_void, bytes: *mut usize);
    hipLinkDestroy = hiprtcLinkDestroy(link: hipLinkState_t);
}
