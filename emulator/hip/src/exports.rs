//! The C boundary: each function of the table as an `extern "C"` function.

use ferrowave_hip_abi::{Functions, for_each_hip_function, for_each_hiprtc_function};

use super::{
    error::guarded,
    trace::{self, Argument, ByPointer as _, ByValue as _, First as _, FirstOfPointer as _},
};

/// The functions' bodies, by HIP's names. A missing body is a compile error below.
mod bodies {
    pub(super) use super::super::{
        advice::*, allocation::*, array::*, array_copy::*, callback::*, context::*, copy::*,
        copy_batch::*, device::*, error::*, event::*, execution_context::*, fill::*, function::*,
        graph::attributes::*, graph::capture::*, graph::dot::*, graph::executable::*,
        graph::generic::*, graph::memory::*, graph::nodes::*, graph::query::*,
        graph::user_objects::*, graph::*, ipc::*, launch::*, library::*, module::*, per_thread::*,
        pointer::*, pool::*, pool_sharing::*, profiler::*, properties::*, registry::*, removal::*,
        rtc::driver::*, rtc::*, stream::*, stream_attributes::*, stream_memory::*, symbols::*,
        texture::*, texture_reference::*, values::*, virtual_memory::*,
    };
}

macro_rules! exports {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
    )*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are null, or valid for what HIP reads from and writes to them.
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            let call = trace::calls().map(|trace| {
                trace.call(stringify!($name), &[$((stringify!($argument), &|| (&Argument($argument)).text())),*])
            });
            // SAFETY: the caller upholds HIP's contract, which is also the body's.
            let result: $result = guarded(|| unsafe { bodies::$name($($argument),*) });
            if let Some(call) = call {
                call.end(&|| (&Argument(result)).text(), &|| first!($($argument)*));
            }
            result
        }
    )*};
}

/// The value that a call has written through its first argument.
macro_rules! first {
    () => {
        None
    };
    ($first:ident $($rest:ident)*) => {
        (&Argument($first)).first()
    };
}

for_each_hip_function!(exports);
for_each_hiprtc_function!(exports);

/// The value of a table field. The emulator has all optional functions too.
macro_rules! present {
    (required, $name:ident) => {
        $name
    };
    (optional, $name:ident) => {
        Some($name)
    };
}

macro_rules! table {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($arguments:tt)*) -> $result:ty;
    )*) => {
        /// The emulator's table of functions.
        pub const FUNCTIONS: Functions = Functions {
            $($name: present!($kind, $name),)*
        };
    };
}

for_each_hip_function!(table);

/// Functions that the emulator does not support. Each returns an error.
pub mod unsupported {
    use std::ffi::c_void;

    use ferrowave_hip_abi::{for_each_unsupported_hip_function, hipError_t};

    use crate::error::{Failure, guarded};

    macro_rules! refuse {
        ($($name:ident $(($($pointer:ident),*))?)*) => {$(
            #[doc = concat!("Returns `hipErrorNotSupported`: the emulator has no `", stringify!($name), "`.")]
            ///
            /// A null pointer is an error of its own. All other arguments are ignored.
            pub extern "C" fn $name($($($pointer: *const c_void),*)?) -> hipError_t {
                guarded(|| {
                    $($(if $pointer.is_null() {
                        return Err(Failure::value(concat!(stringify!($pointer), " is null")));
                    })*)?
                    Err::<(), _>(Failure::new(
                        hipError_t::hipErrorNotSupported,
                        concat!("the emulator has no ", stringify!($name)),
                    ))
                })
            }
        )*};
    }

    for_each_unsupported_hip_function!(refuse);
}
