//! Compiling at run time.

/// Calls the macro `callback` with the functions that compile and link at run time, in the form of
/// [`for_each_hip_function!`](crate::for_each_hip_function).
///
/// They are in `libamdhip64.so` and, alone, in `libhiprtc.so`; a host that needs one of them asks for it by name, so
/// [`Functions`](crate::Functions) has them not. Unless a function says otherwise, it returns
/// `HIPRTC_ERROR_INVALID_INPUT` for a null pointer and `HIPRTC_ERROR_INVALID_PROGRAM` for a program that is none.
///
/// Source: `hip/hiprtc.h` of HIP 6.4.
#[macro_export]
macro_rules! for_each_hiprtc_function {
    ($callback:ident) => {
        $callback! {
            /// The name of a code.
            optional fn hiprtcGetErrorString(result: $crate::hiprtcResult) -> *const ::core::ffi::c_char;
            /// The version of the interface: 9.0 in all of ROCm.
            optional fn hiprtcVersion(
                major: *mut ::core::ffi::c_int,
                minor: *mut ::core::ffi::c_int,
            ) -> $crate::hiprtcResult;
            /// Makes a program of a source text and of headers that it may include by name. `name` is the source's in
            /// messages; null for one that is made up. `HIPRTC_ERROR_INVALID_PROGRAM` if `prog` is null,
            /// `HIPRTC_ERROR_INVALID_INPUT` for an empty text.
            optional fn hiprtcCreateProgram(
                prog: *mut $crate::hiprtcProgram,
                src: *const ::core::ffi::c_char,
                name: *const ::core::ffi::c_char,
                num_headers: ::core::ffi::c_int,
                headers: *mut *const ::core::ffi::c_char,
                include_names: *mut *const ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Compiles a program. `HIPRTC_ERROR_COMPILATION` if that fails: the program's log says why.
            optional fn hiprtcCompileProgram(
                prog: $crate::hiprtcProgram,
                num_options: ::core::ffi::c_int,
                options: *mut *const ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Takes a program away.
            optional fn hiprtcDestroyProgram(prog: *mut $crate::hiprtcProgram) -> $crate::hiprtcResult;
            /// Asks, before compilation, for the name that an expression like `kernel<float>` or `&variable` gets in
            /// the code object. `HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION` afterwards.
            optional fn hiprtcAddNameExpression(
                prog: $crate::hiprtcProgram,
                name_expression: *const ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// That name, which stays until the program goes. `HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION`
            /// before, `HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID` if it was not asked for.
            optional fn hiprtcGetLoweredName(
                prog: $crate::hiprtcProgram,
                name_expression: *const ::core::ffi::c_char,
                lowered_name: *mut *const ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Bytes of what the compiler said, with a NUL; 0 if it said nothing.
            optional fn hiprtcGetProgramLogSize(
                prog: $crate::hiprtcProgram,
                log_size: *mut usize,
            ) -> $crate::hiprtcResult;
            /// What the compiler said, in as many bytes.
            optional fn hiprtcGetProgramLog(
                prog: $crate::hiprtcProgram,
                log: *mut ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Bytes of the code object; 0 if the program was compiled to bitcode, with `-fgpu-rdc`.
            /// `HIPRTC_ERROR_INVALID_PROGRAM` if it is not compiled.
            optional fn hiprtcGetCodeSize(
                prog: $crate::hiprtcProgram,
                code_size: *mut usize,
            ) -> $crate::hiprtcResult;
            /// The code object, in as many bytes.
            optional fn hiprtcGetCode(
                prog: $crate::hiprtcProgram,
                code: *mut ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Bytes of the bitcode. `HIPRTC_ERROR_INVALID_PROGRAM` if the program is not compiled with `-fgpu-rdc`.
            optional fn hiprtcGetBitcodeSize(
                prog: $crate::hiprtcProgram,
                bitcode_size: *mut usize,
            ) -> $crate::hiprtcResult;
            /// The bitcode, in as many bytes.
            optional fn hiprtcGetBitcode(
                prog: $crate::hiprtcProgram,
                bitcode: *mut ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Begins to link bitcode. Values of options are numbers in the place of the pointer, or the pointer.
            /// `HIPRTC_ERROR_INVALID_OPTION` for a pointer that is null and must not be.
            optional fn hiprtcLinkCreate(
                num_options: ::core::ffi::c_uint,
                option_ptr: *mut $crate::hipJitOption,
                option_vals_pptr: *mut *mut ::core::ffi::c_void,
                hip_link_state_ptr: *mut $crate::hiprtcLinkState,
            ) -> $crate::hiprtcResult;
            /// Adds a file of bitcode. `HIPRTC_ERROR_INVALID_INPUT` for what is no bitcode or no such link,
            /// `HIPRTC_ERROR_PROGRAM_CREATION_FAILURE` if the file cannot be read.
            optional fn hiprtcLinkAddFile(
                hip_link_state: $crate::hiprtcLinkState,
                input_type: $crate::hipJitInputType,
                file_path: *const ::core::ffi::c_char,
                num_options: ::core::ffi::c_uint,
                options_ptr: *mut $crate::hipJitOption,
                option_values: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hiprtcResult;
            /// Adds bitcode. `name` may be null. `HIPRTC_ERROR_INVALID_INPUT` for what is no bitcode or no such link.
            optional fn hiprtcLinkAddData(
                hip_link_state: $crate::hiprtcLinkState,
                input_type: $crate::hipJitInputType,
                image: *mut ::core::ffi::c_void,
                image_size: usize,
                name: *const ::core::ffi::c_char,
                num_options: ::core::ffi::c_uint,
                options_ptr: *mut $crate::hipJitOption,
                option_values: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hiprtcResult;
            /// Links for the current device. The code object stays where it is until the link goes.
            /// `HIPRTC_ERROR_LINKING` if that fails.
            optional fn hiprtcLinkComplete(
                hip_link_state: $crate::hiprtcLinkState,
                bin_out: *mut *mut ::core::ffi::c_void,
                size_out: *mut usize,
            ) -> $crate::hiprtcResult;
            /// Takes a link away. `HIPRTC_ERROR_INVALID_INPUT` if it is none.
            optional fn hiprtcLinkDestroy(hip_link_state: $crate::hiprtcLinkState) -> $crate::hiprtcResult;
        }
    };
}
