//! Intrinsics of RDNA 4's matrix instructions. Which lane holds which element is documented in [`crate::matrix`].
//!
//! All lanes of a wave must reach an instruction together: it also multiplies what inactive lanes hold.

use core::simd::{Simd, f32x8, i32x2, i32x8};

/// 8 elements of f16, which `core::simd` does not support.
#[derive(Clone, Copy)]
#[repr(simd)]
pub(crate) struct Halves([f16; 8]);

/// 8 elements of bf16, which LLVM's intrinsics take as i16.
pub(crate) type Shorts = Simd<i16, 8>;

/// Makes a safe function of a matrix intrinsic: `a · b + c`.
macro_rules! instruction {
    ($name:ident($part:ty) = $intrinsic:literal) => {
        #[inline(always)]
        pub(crate) fn $name(a: $part, b: $part, c: [f32; 8]) -> [f32; 8] {
            unsafe extern "llvm-intrinsic" {
                #[link_name = $intrinsic]
                fn instruction(a: $part, b: $part, c: f32x8) -> f32x8;
            }
            // SAFETY: every GPU that this module compiles for has the instruction.
            unsafe { instruction(a, b, f32x8::from_array(c)) }.to_array()
        }
    };
}

instruction!(f32_16x16x16_f16(Halves) = "llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16");
instruction!(f32_16x16x16_bf16(Shorts) = "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16");
instruction!(f32_16x16x16_fp8_fp8(i32x2) = "llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8.v8f32.v2i32");
instruction!(f32_16x16x16_fp8_bf8(i32x2) = "llvm.amdgcn.wmma.f32.16x16x16.fp8.bf8.v8f32.v2i32");
instruction!(f32_16x16x16_bf8_fp8(i32x2) = "llvm.amdgcn.wmma.f32.16x16x16.bf8.fp8.v8f32.v2i32");
instruction!(f32_16x16x16_bf8_bf8(i32x2) = "llvm.amdgcn.wmma.f32.16x16x16.bf8.bf8.v8f32.v2i32");

/// `v_wmma_i32_16x16x16_iu8` of signed integers: `a · b + c`, which wraps around.
#[inline(always)]
pub(crate) fn i32_16x16x16_i8(a: i32x2, b: i32x2, c: [i32; 8]) -> [i32; 8] {
    unsafe extern "llvm-intrinsic" {
        #[link_name = "llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v2i32"]
        fn instruction(
            is_a_signed: bool,
            a: i32x2,
            is_b_signed: bool,
            b: i32x2,
            c: i32x8,
            clamp: bool,
        ) -> i32x8;
    }
    // SAFETY: as above.
    unsafe { instruction(true, a, true, b, i32x8::from_array(c), false) }.to_array()
}
