//! A panic handler for kernels. It ends the launch and leaves the message and the location in registers.
//!
//! A crate of kernels names it once: `use ferrowave_panic as _;`. On a GPU, a panic then ends the launch with a queue
//! exception, as `abort` does. The emulator prints the message, the source line, the workgroup and the lane.
//!
//! # Registers
//! At `s_trap 2`, for the first lane that panics:
//!
//! | registers | value |
//! |---|---|
//! | `s[0:1]` | the bytes `rpanic` and two zeros, which mark that the other registers hold this |
//! | `s[2:3]`, `s4` | address and length of the file's name |
//! | `s5`, `s6` | line and column |
//! | `s[8:9]`, `s[10:11]` | the two words of the message's [`core::fmt::Arguments`] |
//!
//! Nothing is formatted on the GPU: formatting calls functions through pointers, for which the compiler would give
//! every kernel that may panic 16 KiB of private memory per lane.
#![no_std]
#![cfg_attr(target_arch = "amdgpu", feature(asm_experimental_arch))]

#[cfg(target_arch = "amdgpu")]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    use core::{arch::asm, fmt::Arguments, mem::transmute_copy, panic::PanicMessage};

    const {
        assert!(size_of::<PanicMessage<'_>>() == size_of::<&Arguments<'_>>());
        assert!(size_of::<Arguments<'_>>() == size_of::<[u64; 2]>());
    }
    // SAFETY: a `PanicMessage` is a reference to `Arguments`, which are two words in the toolchain that this crate is
    // pinned to.
    let [text, values] = unsafe { *transmute_copy::<PanicMessage<'_>, &[u64; 2]>(&info.message()) };
    let (file, line, column) = match info.location() {
        Some(place) => (place.file(), place.line(), place.column()),
        None => ("", 0, 0),
    };
    let file_address = file.as_ptr() as u64;
    // SAFETY: the wave ends here.
    unsafe {
        asm!(
            "v_readfirstlane_b32 s2, {file_low}",
            "v_readfirstlane_b32 s3, {file_high}",
            "v_readfirstlane_b32 s4, {file_bytes}",
            "v_readfirstlane_b32 s5, {line}",
            "v_readfirstlane_b32 s6, {column}",
            "v_readfirstlane_b32 s8, {text_low}",
            "v_readfirstlane_b32 s9, {text_high}",
            "v_readfirstlane_b32 s10, {values_low}",
            "v_readfirstlane_b32 s11, {values_high}",
            "s_mov_b32 s0, 0x6e617072",
            "s_mov_b32 s1, 0x6369",
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
            "s_trap 2",
            "s_endpgm",
            file_low = in(vgpr32) file_address as u32,
            file_high = in(vgpr32) (file_address >> 32) as u32,
            file_bytes = in(vgpr32) file.len() as u32,
            line = in(vgpr32) line,
            column = in(vgpr32) column,
            text_low = in(vgpr32) text as u32,
            text_high = in(vgpr32) (text >> 32) as u32,
            values_low = in(vgpr32) values as u32,
            values_high = in(vgpr32) (values >> 32) as u32,
            options(noreturn),
        )
    }
}
