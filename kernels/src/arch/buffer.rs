//! Buffers: memory whose end the hardware knows.

use crate::tile::operand::Bits;
use core::{mem::transmute_copy, simd::u32x4};

unsafe extern "llvm-intrinsic" {
    #[link_name = "llvm.amdgcn.raw.buffer.load.i8"]
    fn raw_buffer_load_u8(resource: u32x4, lane: u32, scalar: u32, cache: u32) -> u8;

    #[link_name = "llvm.amdgcn.raw.buffer.load.i16"]
    fn raw_buffer_load_u16(resource: u32x4, lane: u32, scalar: u32, cache: u32) -> u16;

    #[link_name = "llvm.amdgcn.raw.buffer.load.i32"]
    fn raw_buffer_load_u32(resource: u32x4, lane: u32, scalar: u32, cache: u32) -> u32;

    #[link_name = "llvm.amdgcn.raw.buffer.load.i64"]
    fn raw_buffer_load_u64(resource: u32x4, lane: u32, scalar: u32, cache: u32) -> u64;
}

/// A part of a matrix, of at most 4 GiB. What is loaded from behind its end is zero.
#[derive(Clone, Copy)]
pub(crate) struct Buffer(u32x4);

impl Buffer {
    /// The last word of a resource (CDNA 3 ISA document, «Buffer Resource Descriptor»): elements of 32 bits. It has no effect
    /// on loads without a format, but with 0 there would be no buffer.
    const DATA_FORMAT: u32 = 4 << 15;

    /// The `bytes` bytes at `start`, both uniform.
    #[inline(always)]
    pub(crate) fn new<T>(start: *const T, bytes: u32) -> Self {
        let start = start.expose_provenance();
        // An address has 48 bits; the rest of its second word says that there is no stride.
        let high = (start >> 32) as u32 & 0xffff;
        Self(u32x4::from_array([
            start as u32,
            high,
            bytes,
            Self::DATA_FORMAT,
        ]))
    }

    /// The element at `lane + scalar` bytes, or zero if it is behind the end. `scalar` is uniform.
    ///
    /// # Safety
    /// The buffer's bytes are readable, no thread writes to them, and it has the element's last byte if it has the first one.
    #[inline(always)]
    pub(crate) unsafe fn load<T: Bits>(&self, lane: u32, scalar: u32) -> T {
        // SAFETY: as the caller promises; the types have the same size, and all bits are elements.
        unsafe {
            match size_of::<T>() {
                1 => transmute_copy(&raw_buffer_load_u8(self.0, lane, scalar, 0)),
                2 => transmute_copy(&raw_buffer_load_u16(self.0, lane, scalar, 0)),
                4 => transmute_copy(&raw_buffer_load_u32(self.0, lane, scalar, 0)),
                _ => transmute_copy(&raw_buffer_load_u64(self.0, lane, scalar, 0)),
            }
        }
    }
}
