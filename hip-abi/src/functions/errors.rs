//! Error codes and texts: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_errors {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// The name of an error code; never null.
            required fn hipGetErrorName(error: $crate::hipError_t) -> *const ::core::ffi::c_char;
            /// The meaning of an error code; never null.
            required fn hipGetErrorString(error: $crate::hipError_t) -> *const ::core::ffi::c_char;
            /// The error of the calling thread's last failed call. Clears it.
            required fn hipGetLastError() -> $crate::hipError_t;
            /// The error of the calling thread's last failed call. Does not clear it.
            required fn hipPeekAtLastError() -> $crate::hipError_t;
            /// A Ferrowave extension: details of the error of the calling thread's last failed call, as UTF-8. Returns
            /// the text's length in bytes without the NUL, 0 if there is none, and writes at most `bytes` bytes of
            /// text and NUL to `text`, which may be null if `bytes` is 0.
            optional fn ferrowaveGetLastErrorDetail(text: *mut ::core::ffi::c_char, bytes: usize) -> usize;
            /// The name of an error code. `hipErrorInvalidValue` and null if the code is unknown.
            optional fn hipDrvGetErrorName(
                hip_error: $crate::hipError_t,
                error_string: *mut *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// The meaning of an error code. `hipErrorInvalidValue` and null if the code is unknown.
            optional fn hipDrvGetErrorString(
                hip_error: $crate::hipError_t,
                error_string: *mut *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// As `hipGetLastError`.
            optional fn hipExtGetLastError() -> $crate::hipError_t;
            /// Sets what AMD's runtime logs. Accepted without an effect: the emulator has traces of its own.
            optional fn hipExtSetLoggingParams(
                log_level: usize,
                log_size: usize,
                log_mask: usize,
            ) -> $crate::hipError_t;
            /// As `hipExtSetLoggingParams`: begins to log.
            optional fn hipExtEnableLogging() -> $crate::hipError_t;
            /// As `hipExtSetLoggingParams`: ends it.
            optional fn hipExtDisableLogging() -> $crate::hipError_t;
        }
    };
}
