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
//! Programs are compiled at run time over AMD's `libamd_comgr.so`, if that can be loaded. ROCm has these functions in
//! this library and in `libhiprtc.so`, too: a link of that name to this file stands for it.
//!
//! Symbols carry the versions that ROCm's have (`versions.txt`), where the linker lets them: programs that were linked to
//! ROCm's library ask for them.

use std::ffi::c_void;

use ferrowave_hip::exports;
use ferrowave_hip_abi::{
    for_each_hip_function, for_each_hiprtc_function, for_each_unsupported_hip_function, hipError_t,
    hipEvent_t, hipFunction_t, hipStream_t,
};

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
for_each_hiprtc_function!(symbols);

/// Exports a function of the table under what C++ programs call it, too: its header declares it outside of
/// `extern "C"`.
macro_rules! mangled {
    ($mangled:ident is $name:ident($($argument:ident: $type:ty),*)) => {
        #[doc = concat!("`", stringify!($name), "` under its name in C++.")]
        ///
        /// # Safety
        /// The same.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $mangled($($argument: $type),*) -> hipError_t {
            mark!($mangled);
            // SAFETY: the same contract.
            unsafe { exports::$name($($argument),*) }
        }
    };
}

mangled! {
    _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
    is hipExtModuleLaunchKernel(
        f: hipFunction_t, items_x: u32, items_y: u32, items_z: u32, block_x: u32, block_y: u32, block_z: u32,
        lds: usize, stream: hipStream_t, parameters: *mut *mut c_void, extra: *mut *mut c_void, start: hipEvent_t,
        stop: hipEvent_t, flags: u32
    )
}

mangled! {
    _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_
    is hipHccModuleLaunchKernel(
        f: hipFunction_t, items_x: u32, items_y: u32, items_z: u32, block_x: u32, block_y: u32, block_z: u32,
        lds: usize, stream: hipStream_t, parameters: *mut *mut c_void, extra: *mut *mut c_void, start: hipEvent_t,
        stop: hipEvent_t
    )
}

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
