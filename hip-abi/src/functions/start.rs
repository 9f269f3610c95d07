//! Start, versions, functions by name: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_start {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Initializes HIP, for which `flags` must be 0. Other calls do so themselves.
            /// `hipErrorNoDevice` or `hipErrorInvalidDevice` if there is no GPU.
            required fn hipInit(flags: ::core::ffi::c_uint) -> $crate::hipError_t;
            /// The driver's version: major × 10⁷ + minor × 10⁵ + patch.
            required fn hipDriverGetVersion(version: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// The runtime's version, likewise.
            required fn hipRuntimeGetVersion(version: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// The address of the function `symbol` as a program compiled for `version` (major × 100 + minor) means it.
            /// `hipErrorInvalidValue` if there is none; `status`, unless null, says why.
            optional fn hipGetProcAddress(
                symbol: *const ::core::ffi::c_char,
                function: *mut *mut ::core::ffi::c_void,
                version: ::core::ffi::c_int,
                flags: u64,
                status: *mut $crate::hipDriverProcAddressQueryResult,
            ) -> $crate::hipError_t;
            /// As `hipGetProcAddress` for the newest version. `hipErrorInvalidValue` if there is none;
            /// `driver_status`, unless null, says why.
            optional fn hipGetDriverEntryPoint(
                symbol: *const ::core::ffi::c_char,
                func_ptr: *mut *mut ::core::ffi::c_void,
                flags: u64,
                driver_status: *mut $crate::hipDriverProcAddressQueryResult,
            ) -> $crate::hipError_t;
        }
    };
}
