//! `libamdhip64.so`: the emulator under the names of HIP's functions, for programs that know nothing of it.
//!
//! Put it on the library path, and a HIP program runs without a GPU. `FERROWAVE_DEVICE=emulator:gfx90a` says which GPU
//! it finds. Functions that the emulator has not are there too, and say so.
//!
//! Symbols carry the versions that ROCm's have (`versions.txt`), where the linker lets them: programs that were linked to
//! ROCm's library ask for them.

use ferrowave_emulator::hip::exports;
use ferrowave_hip_abi::{for_each_hip_function, for_each_unsupported_hip_function, hipError_t};

#[cfg(symbol_versions)]
include!(concat!(env!("OUT_DIR"), "/versions.rs"));

/// Gives the symbol of the function that it stands in its version.
#[cfg(symbol_versions)]
macro_rules! mark {
    ($name:ident) => {
        // SAFETY: a directive of the assembler, and no instruction.
        unsafe { std::arch::asm!(version!($name), options(nomem, nostack, preserves_flags)) }
    };
}

#[cfg(not(symbol_versions))]
macro_rules! mark {
    ($name:ident) => {};
}

macro_rules! symbols {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
    )*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are null, or valid for what HIP reads from and writes to them.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            mark!($name);
            // SAFETY: the caller keeps HIP's contract, which is the emulator's too.
            unsafe { exports::$name($($argument),*) }
        }
    )*};
}

for_each_hip_function!(symbols);

macro_rules! unsupported {
    ($($name:ident)*) => {$(
        #[doc = concat!("Returns `hipErrorNotSupported`: the emulator has no `", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> hipError_t {
            mark!($name);
            exports::unsupported::$name()
        }
    )*};
}

for_each_unsupported_hip_function!(unsupported);
