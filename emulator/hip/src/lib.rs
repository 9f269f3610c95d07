//! `libamdhip64.so`: the emulator under the names of HIP's functions, for programs that know nothing of it.
//!
//! Put it on the library path, and a HIP program runs without a GPU. `FERROWAVE_DEVICE=emulator:gfx90a` says which GPU
//! it finds. Functions that the emulator has not are there too, and say so.
//!
//! What a kernel may do to memory is what a GPU lets it do unnoticed, and no more:
//!
//! - Reads end with the last page of 4 KiB of an allocation, counted from its first address (of memory that the program
//!   has lent with `hipHostRegister`, with the last page of the host's 4 KiB). So loads that a compiler has widened, or
//!   that take a whole block of 64 bytes, succeed. Bytes behind the allocation read as 0x5a each, always; behind memory
//!   that was lent they are what the program has there.
//! - Reads that go beyond that page, and writes and atomic operations that leave the allocation by a byte, end the launch:
//!   who waits for it gets `hipErrorIllegalAddress`, and the message names kernel, instruction, lane and the nearest
//!   allocation. Copies and fills by the host that leave an allocation are refused.
//! - With `FERROWAVE_CHECK=memory`, and under `ferrowave check`, reads that leave an allocation but not its page are
//!   findings, and the launch goes on. Loads of the scalar unit are none where they begin in the allocation and end in the
//!   aligned block of 64 bytes in which it ends: these are what LLVM's widening reads.
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
