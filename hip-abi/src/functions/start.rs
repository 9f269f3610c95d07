//! Start, versions, functions by name: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_start {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Initializes HIP. `flags` must be 0. Other calls initialize it implicitly.
            /// `hipErrorNoDevice` or `hipErrorInvalidDevice` if there is no GPU.
            required fn hipInit(flags: ::core::ffi::c_uint) -> $crate::hipError_t;
            /// The driver's version: major × 10⁷ + minor × 10⁵ + patch.
            required fn hipDriverGetVersion(version: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// The runtime's version, in the same form.
            required fn hipRuntimeGetVersion(version: *mut ::core::ffi::c_int) -> $crate::hipError_t;
            /// The address of the function `symbol`, for a program compiled for `version` (major × 100 + minor).
            /// `hipErrorInvalidValue` if there is none; `status`, unless null, says why.
            optional fn hipGetProcAddress(
                symbol: *const ::core::ffi::c_char,
                function: *mut *mut ::core::ffi::c_void,
                version: ::core::ffi::c_int,
                flags: u64,
                status: *mut $crate::hipDriverProcAddressQueryResult,
            ) -> $crate::hipError_t;
            /// As `hipGetProcAddress`, where the null stream is the thread's own.
            optional fn hipGetProcAddress_spt(
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
            /// The name of the function with the profilers' number `id`; `unknown` if there is none.
            optional fn hipApiName(id: u32) -> *const ::core::ffi::c_char;
            /// The name of the kind of work with the profilers' number `operation`, or `Unknown command kind`.
            optional fn hipGetCmdName(operation: ::core::ffi::c_uint) -> *const ::core::ffi::c_char;
            /// Registers a profiler's function for calls and work; a runtime need not call it. Null unregisters it.
            optional fn hipRegisterTracerCallback(function: $crate::hipTracerCallback_t) -> ();
            /// A channel description with the given values.
            optional fn hipCreateChannelDesc(
                x: ::core::ffi::c_int,
                y: ::core::ffi::c_int,
                z: ::core::ffi::c_int,
                w: ::core::ffi::c_int,
                f: $crate::hipChannelFormatKind,
            ) -> $crate::hipChannelFormatDesc;
            /// The precompiled header for compilers of older ROCm; null and 0 if there is none.
            optional fn __hipGetPCH(
                pch: *mut *const ::core::ffi::c_char,
                size: *mut ::core::ffi::c_uint,
            ) -> ();
            /// Converts to the bits of the nearest f16, ties to even.
            optional fn __gnu_f2h_ieee(value: f32) -> u16;
            /// Converts the bits of an f16.
            optional fn __gnu_h2f_ieee(bits: u16) -> f32;
            /// The name of the library's build.
            optional fn amd_dbgapi_get_build_name() -> *const ::core::ffi::c_char;
            /// The commit that the library was built from, as text.
            optional fn amd_dbgapi_get_git_hash() -> *const ::core::ffi::c_char;
            /// The number of the library's build.
            optional fn amd_dbgapi_get_build_id() -> usize;
        }
    };
}
