//! Functions for compiling and linking at run time.

/// Calls the macro `callback` with the functions that compile and link at run time, in the form of
/// [`for_each_hip_function!`](crate::for_each_hip_function).
///
/// These functions are in `libamdhip64.so` and, alone, in `libhiprtc.so`. A host that needs one looks it up by name, so
/// [`Functions`](crate::Functions) does not have them. Unless a function says otherwise, it returns
/// `HIPRTC_ERROR_INVALID_INPUT` for a null pointer and `HIPRTC_ERROR_INVALID_PROGRAM` for an invalid program.
///
/// Source: `hip/hiprtc.h` of HIP 6.4.
#[macro_export]
macro_rules! for_each_hiprtc_function {
    ($callback:ident) => {
        $callback! {
            /// The name of an error code.
            optional fn hiprtcGetErrorString(result: $crate::hiprtcResult) -> *const ::core::ffi::c_char;
            /// The API version: 9.0 in all ROCm versions.
            optional fn hiprtcVersion(
                major: *mut ::core::ffi::c_int,
                minor: *mut ::core::ffi::c_int,
            ) -> $crate::hiprtcResult;
            /// Creates a program from source text and headers that it may include by name. `name` is the source's name
            /// in messages, or null for a default. `HIPRTC_ERROR_INVALID_PROGRAM` if `prog` is null,
            /// `HIPRTC_ERROR_INVALID_INPUT` for an empty text.
            optional fn hiprtcCreateProgram(
                prog: *mut $crate::hiprtcProgram,
                src: *const ::core::ffi::c_char,
                name: *const ::core::ffi::c_char,
                num_headers: ::core::ffi::c_int,
                headers: *mut *const ::core::ffi::c_char,
                include_names: *mut *const ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Compiles a program. `HIPRTC_ERROR_COMPILATION` if that fails; the program's log gives the reason.
            optional fn hiprtcCompileProgram(
                prog: $crate::hiprtcProgram,
                num_options: ::core::ffi::c_int,
                options: *mut *const ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Destroys a program.
            optional fn hiprtcDestroyProgram(prog: *mut $crate::hiprtcProgram) -> $crate::hiprtcResult;
            /// Requests the name that an expression like `kernel<float>` or `&variable` gets in the code object.
            /// `HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION` after compilation.
            optional fn hiprtcAddNameExpression(
                prog: $crate::hiprtcProgram,
                name_expression: *const ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// The requested name, valid until the program is destroyed.
            /// `HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION` before compilation,
            /// `HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID` if it was not requested.
            optional fn hiprtcGetLoweredName(
                prog: $crate::hiprtcProgram,
                name_expression: *const ::core::ffi::c_char,
                lowered_name: *mut *const ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Size of the compiler's log in bytes, including the NUL; 0 if it is empty.
            optional fn hiprtcGetProgramLogSize(
                prog: $crate::hiprtcProgram,
                log_size: *mut usize,
            ) -> $crate::hiprtcResult;
            /// The compiler's log. The buffer must have `hiprtcGetProgramLogSize` bytes.
            optional fn hiprtcGetProgramLog(
                prog: $crate::hiprtcProgram,
                log: *mut ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Size of the code object in bytes; 0 if the program was compiled to bitcode, with `-fgpu-rdc`.
            /// `HIPRTC_ERROR_INVALID_PROGRAM` if it has not been compiled.
            optional fn hiprtcGetCodeSize(
                prog: $crate::hiprtcProgram,
                code_size: *mut usize,
            ) -> $crate::hiprtcResult;
            /// The code object. The buffer must have `hiprtcGetCodeSize` bytes.
            optional fn hiprtcGetCode(
                prog: $crate::hiprtcProgram,
                code: *mut ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Size of the bitcode in bytes. `HIPRTC_ERROR_INVALID_PROGRAM` if it is not compiled with `-fgpu-rdc`.
            optional fn hiprtcGetBitcodeSize(
                prog: $crate::hiprtcProgram,
                bitcode_size: *mut usize,
            ) -> $crate::hiprtcResult;
            /// The bitcode. The buffer must have `hiprtcGetBitcodeSize` bytes.
            optional fn hiprtcGetBitcode(
                prog: $crate::hiprtcProgram,
                bitcode: *mut ::core::ffi::c_char,
            ) -> $crate::hiprtcResult;
            /// Creates a link state. An option's value is the pointer itself, or a number in its place.
            /// `HIPRTC_ERROR_INVALID_OPTION` for a pointer that must not be null.
            optional fn hiprtcLinkCreate(
                num_options: ::core::ffi::c_uint,
                option_ptr: *mut $crate::hipJitOption,
                option_vals_pptr: *mut *mut ::core::ffi::c_void,
                hip_link_state_ptr: *mut $crate::hiprtcLinkState,
            ) -> $crate::hiprtcResult;
            /// Adds a bitcode file. `HIPRTC_ERROR_INVALID_INPUT` if it is not bitcode or the link state is invalid,
            /// `HIPRTC_ERROR_PROGRAM_CREATION_FAILURE` if the file cannot be read.
            optional fn hiprtcLinkAddFile(
                hip_link_state: $crate::hiprtcLinkState,
                input_type: $crate::hipJitInputType,
                file_path: *const ::core::ffi::c_char,
                num_options: ::core::ffi::c_uint,
                options_ptr: *mut $crate::hipJitOption,
                option_values: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hiprtcResult;
            /// Adds bitcode. `name` may be null. Errors are those of `hiprtcLinkAddFile`.
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
            /// Links for the current device. The code object is valid until the link state is destroyed.
            /// `HIPRTC_ERROR_LINKING` if that fails.
            optional fn hiprtcLinkComplete(
                hip_link_state: $crate::hiprtcLinkState,
                bin_out: *mut *mut ::core::ffi::c_void,
                size_out: *mut usize,
            ) -> $crate::hiprtcResult;
            /// Destroys a link state. `HIPRTC_ERROR_INVALID_INPUT` if it is invalid.
            optional fn hiprtcLinkDestroy(hip_link_state: $crate::hiprtcLinkState) -> $crate::hiprtcResult;
        }
    };
}
