//! A table of functions that all fail; tests replace some of them.

use std::ffi::c_char;

use ferrowave_hip_abi::{Functions, for_each_hip_function, hipError_t};

use super::{Api, Source};

/// The result of a function that does nothing.
trait Nothing {
    const NOTHING: Self;
}

impl Nothing for hipError_t {
    const NOTHING: Self = hipError_t::hipErrorNotSupported;
}

impl Nothing for *const c_char {
    const NOTHING: Self = c"hipErrorFromTheLibrary".as_ptr();
}

impl Nothing for usize {
    const NOTHING: Self = 0;
}

macro_rules! present {
    (required, $function:expr) => {
        $function
    };
    (optional, $function:expr) => {
        None
    };
}

macro_rules! table {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
    )*) => {
        /// Functions that return `hipErrorNotSupported`; optional functions are absent.
        pub(crate) const FUNCTIONS: Functions = Functions {
            $($name: present!($kind, {
                unsafe extern "C" fn nothing($(_: $type),*) -> $result {
                    Nothing::NOTHING
                }
                nothing
            }),)*
        };
    };
}

for_each_hip_function!(table);

pub(crate) fn api(functions: Functions) -> Api {
    // SAFETY: the functions do nothing, or are the test's.
    unsafe { Api::from_functions(functions, Source::Library("fake".into())) }
}
