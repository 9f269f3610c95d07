//! The one table of functions, grouped in files by topic, and the struct made from it.

mod arrays;
mod copies;
mod devices;
mod errors;
mod execution_contexts;
mod graphs;
mod launches;
mod memory;
mod modules;
mod per_thread;
mod rtc;
mod start;
mod streams;
mod textures;
mod unsupported;

/// Calls the macro `callback` with all HIP functions that this project uses or provides.
///
/// Each row has the form `KIND fn NAME(ARGUMENT: TYPE, …) -> TYPE;`, preceded by its doc comment. Types are absolute
/// paths, so that the callback needs no imports. `KIND` is
/// - `required`: every `libamdhip64.so` since ROCm 6.0 has the function; a library without it is refused;
/// - `optional`: some libraries lack it, or this project does not need it. A missing function is `None` in
///   [`Functions`].
///
/// Tokens after the callback's name precede the list: `for_each_hip_function!(export, prefix tokens)` calls `export! {
/// prefix tokens; … }`.
///
/// Unless a function says otherwise, it returns `hipErrorInvalidValue` for a null pointer to a result,
/// `hipErrorInvalidHandle` for an invalid handle, and `hipErrorNoDevice` if there is no device.
#[macro_export]
macro_rules! for_each_hip_function {
    ($callback:ident $(, $($prefix:tt)*)?) => {
        // Each of these macros appends its rows and calls the next. The last one calls the callback.
        $crate::__hip_functions_start! {
            __hip_functions_errors __hip_functions_devices __hip_functions_memory __hip_functions_copies
            __hip_functions_modules __hip_functions_launches __hip_functions_streams __hip_functions_graphs
            __hip_functions_execution_contexts __hip_functions_arrays __hip_functions_textures __hip_functions_per_thread
            __hip_functions_end $callback [$($($prefix)*;)?]
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_end {
    ($callback:ident [$($prefix:tt)*] $($rows:tt)*) => {
        $callback! { $($prefix)* $($rows)* }
    };
}

/// The type of a field: an optional function is an `Option`.
macro_rules! field {
    (required, $type:ty) => { $type };
    (optional, $type:ty) => { Option<$type> };
}

macro_rules! functions {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
    )*) => {
        /// The addresses of all HIP functions, from a library or an emulator.
        ///
        /// The code that fills it guarantees that each function has this signature and stays loaded while the table is used.
        #[derive(Clone, Copy, Debug)]
        pub struct Functions {
            $(
                $(#[$meta])*
                pub $name: field!($kind, unsafe extern "C" fn($($argument: $type),*) -> $result),
            )*
        }
    };
}

for_each_hip_function!(functions);
