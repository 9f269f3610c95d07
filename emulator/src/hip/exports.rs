//! The C boundary: each function of the table as C calls it.

use ferrowave_hip_abi::{Functions, for_each_hip_function};

use super::error::guarded;

/// The functions behind the boundary, by HIP's names. One that is missing here does not compile below.
mod bodies {
    pub(super) use super::super::{
        device::*, error::*, event::*, launch::*, memory::*, module::*, properties::*, stream::*,
        symbols::*,
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
            // SAFETY: the caller keeps HIP's contract, which is the body's too.
            guarded(|| unsafe { bodies::$name($($argument),*) })
        }
    )*};
}

for_each_hip_function!(exports);

/// A field's value: what the table may lack, the emulator has.
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
