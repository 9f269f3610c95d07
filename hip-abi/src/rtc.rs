//! `hiprtcResult`.
//!
//! Source: `hip/hiprtc.h` of HIP 6.4.

use core::ffi::CStr;

/// The result of a hiprtc call. A struct because a library may return any value.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hiprtcResult(pub u32);

macro_rules! results {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        impl hiprtcResult {
            $(#[doc = concat!("Code ", $code, ": ", $meaning, ".")] pub const $name: Self = Self($code);)*

            /// The name of the code, if it is a hiprtc code.
            pub fn name(self) -> Option<&'static CStr> {
                match self {
                    $(Self::$name => CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()).ok(),)*
                    _ => None,
                }
            }
        }
    };
}

results! {
    HIPRTC_SUCCESS = 0, "success";
    HIPRTC_ERROR_OUT_OF_MEMORY = 1, "out of memory";
    HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2, "the program or its part cannot be made";
    HIPRTC_ERROR_INVALID_INPUT = 3, "an argument is invalid";
    HIPRTC_ERROR_INVALID_PROGRAM = 4, "no such program, or it has not what is asked for";
    HIPRTC_ERROR_INVALID_OPTION = 5, "an option is invalid";
    HIPRTC_ERROR_COMPILATION = 6, "the compiler failed";
    HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7, "a builtin operation failed";
    HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8, "names cannot be added to what is compiled";
    HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9, "there are no lowered names before compilation";
    HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10, "no such name was added";
    HIPRTC_ERROR_INTERNAL_ERROR = 11, "a mistake in the library";
    HIPRTC_ERROR_LINKING = 100, "the linker failed";
}
