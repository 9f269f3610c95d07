//! `libamdhip64.so`: the emulator behind HIP's C functions, for any HIP program.
//!
//! With this library on the library path, a HIP program runs without a GPU. `FERROWAVE_DEVICE=emulator:gfx90a` selects
//! the emulated GPU. Functions that the emulator does not support are exported too, and return an error.
//!
//! Kernels may access memory as far as a GPU lets them:
//!
//! - Accesses to memory of `hipMalloc` may extend to the next multiple of 2 MiB from the allocation's first address: ROCm
//!   takes a GPU's memory from the driver in such blocks. Here no other allocation lies in them. On other systems than
//!   Linux, and for other memory, accesses may extend to the end of the allocation's last page of 4 KiB. Bytes past the
//!   end of an allocation are 0x5a in the last page and 0 behind it, until a kernel writes them.
//! - For memory of `hipHostRegister`, the host's 4 KiB pages count, and only for reads: past its end lie other bytes of
//!   the program.
//! - An access past that ends the launch. The call that waits for it returns `hipErrorIllegalAddress`; the message names
//!   the kernel, instruction, lane and nearest allocation. Host copies and memsets that leave an allocation are rejected.
//! - With `HSA_XNACK=1`, kernels on GPUs that retry page faults also reach all memory that the process has mapped.
//! - With `FERROWAVE_CHECK=memory`, and under `ferrowave check`, an access that leaves an allocation but not its block
//!   or page is a finding, and the launch continues. A scalar load is not a finding if it starts in the allocation and
//!   ends in the aligned block of 64 bytes that holds the allocation's end: LLVM widens loads up to there.
//!
//! Programs are compiled at run time with AMD's `libamd_comgr.so`, if it can be loaded. ROCm has these functions in
//! this library and in `libhiprtc.so`; a link of that name to this file replaces it.
//!
//! Symbols carry the versions of ROCm's symbols (`versions.txt`), if the linker supports it, because programs linked
//! against ROCm's library request them.

use std::ffi::c_void;

use ferrowave_hip::exports;
use ferrowave_hip_abi::{
    for_each_hip_function, for_each_hiprtc_function, for_each_unsupported_hip_function, hipError_t,
    hipEvent_t, hipFunction_t, hipStream_t,
};

#[cfg(symbol_versions)]
include!(concat!(env!("OUT_DIR"), "/versions.rs"));

/// Gives the symbol of the enclosing function its version.
#[cfg(symbol_versions)]
macro_rules! mark {
    ($name:ident) => {
        // SAFETY: an assembler directive, not an instruction.
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
            // SAFETY: the caller upholds HIP's contract, which is also the emulator's.
            unsafe { exports::$name($($argument),*) }
        }
    )*};
}

for_each_hip_function!(symbols);
for_each_hiprtc_function!(symbols);

/// Exports a function of the table under its mangled C++ name too, because its header declares it outside `extern "C"`.
macro_rules! mangled {
    ($mangled:ident is $name:ident($($argument:ident: $type:ty),*)) => {
        #[doc = concat!("`", stringify!($name), "` under its name in C++.")]
        ///
        /// # Safety
        /// As for the function itself.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $mangled($($argument: $type),*) -> hipError_t {
            mark!($mangled);
            // SAFETY: the caller upholds the same contract.
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
    ($($name:ident $(($($pointer:ident),*))?)*) => {$(
        #[doc = concat!("Returns `hipErrorNotSupported`: the emulator has no `", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($($pointer: *const c_void),*)?) -> hipError_t {
            mark!($name);
            exports::unsupported::$name($($($pointer),*)?)
        }
    )*};
}

for_each_unsupported_hip_function!(unsupported);
