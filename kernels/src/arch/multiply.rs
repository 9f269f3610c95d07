//! The matrix-core instructions of the large blocks, for each element type the widest that the GPU
//! has. What their lanes hold is the business of [`crate::blocks`].

use super::LDS_BANKS;
use crate::{
    blocks::{Multiply, spill_16x16_f64, spill_32x32},
    tile::{element::Bf16, lds_layout::Unit},
};
use core::simd::{f32x16, f64x4, i32x16};

/// Defines the type of a product and how it multiplies two units of 16 bytes by as many instructions as
/// take them.
macro_rules! multiply {
    (
        $(#[$doc:meta])*
        $name:ident: $element:ty => $output:ty, $sum:ty, $vector:ty,
        $intrinsic:literal($part:ty) x $parts:literal
    ) => {
        $(#[$doc])*
        pub(crate) struct $name;

        const _: () = {
            unsafe extern "llvm-intrinsic" {
                #[link_name = $intrinsic]
                fn instruction(
                    a: $part,
                    b: $part,
                    c: $vector,
                    cbsz: i32,
                    abid: i32,
                    blgp: i32,
                ) -> $vector;
            }

            impl Multiply<4> for $name {
                type Element = $element;
                type Output = $output;
                type Sum = $sum;
                type Sums = [$sum; 16];
                type Operand = [$part; $parts];

                const EDGE: usize = 32;
                const STEP_UNITS: usize = 2;
                const OPERAND_UNITS: usize = 1;
                const INSTRUCTIONS: usize = $parts;
                const ZERO: Self::Sums = [0 as $sum; 16];

                #[inline(always)]
                fn operand(unit: impl Fn(u32) -> Unit) -> Self::Operand {
                    // SAFETY: both have 16 bytes, and all bits are elements.
                    unsafe { core::mem::transmute(unit(0)) }
                }

                #[inline(always)]
                fn multiply(
                    part: usize,
                    a: Self::Operand,
                    b: Self::Operand,
                    sums: Self::Sums,
                ) -> Self::Sums {
                    let sums = <$vector>::from_array(sums);
                    // Exchanged, so that a lane's sums are neighbours in a row of C.
                    // SAFETY: the GPU has the instruction, by the `cfg` of this type. No broadcast of
                    // blocks and no permutation of lanes: all modifiers are 0.
                    unsafe { instruction(b[part], a[part], sums, 0, 0, 0) }.to_array()
                }

                #[inline(always)]
                unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit) {
                    // SAFETY: as the caller promises.
                    unsafe { spill_32x32::<_, LDS_BANKS>(lane, sums, block) };
                }
            }
        };
    };
}

/// Vectors that `core::simd` has not, since their elements are no numbers to it.
#[derive(Clone, Copy)]
#[repr(simd)]
pub(crate) struct Halves<const N: usize>([f16; N]);

type Shorts<const N: usize> = core::simd::Simd<i16, N>;

multiply! {
    /// f32: `v_mfma_f32_32x32x2_f32`.
    F32: u32 => f32, f32, f32x16, "llvm.amdgcn.mfma.f32.32x32x2f32"(f32) x 4
}

#[cfg(ferrowave_gpu = "gfx942")]
multiply! {
    /// xf32: `v_mfma_f32_32x32x4_xf32`.
    Xf32: u32 => f32, f32, f32x16, "llvm.amdgcn.mfma.f32.32x32x4.xf32"(core::simd::f32x2) x 2
}

#[cfg(not(ferrowave_gpu = "gfx950"))]
multiply! {
    /// f16: `v_mfma_f32_32x32x8_f16`.
    F16: u16 => f16, f32, f32x16, "llvm.amdgcn.mfma.f32.32x32x8f16"(Halves<4>) x 2
}

#[cfg(ferrowave_gpu = "gfx950")]
multiply! {
    /// f16: `v_mfma_f32_32x32x16_f16`.
    F16: u16 => f16, f32, f32x16, "llvm.amdgcn.mfma.f32.32x32x16.f16"(Halves<8>) x 1
}

#[cfg(any(ferrowave_gpu = "gfx90a", ferrowave_gpu = "gfx942"))]
multiply! {
    /// bf16: `v_mfma_f32_32x32x8_bf16` (gfx90a: `v_mfma_f32_32x32x8bf16_1k`).
    Bfloat16: u16 => Bf16, f32, f32x16, "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"(Shorts<4>) x 2
}

#[cfg(ferrowave_gpu = "gfx950")]
multiply! {
    /// bf16: `v_mfma_f32_32x32x16_bf16`.
    Bfloat16: u16 => Bf16, f32, f32x16, "llvm.amdgcn.mfma.f32.32x32x16.bf16"(Shorts<8>) x 1
}

#[cfg(ferrowave_gpu = "gfx90a")]
multiply! {
    /// i8: `v_mfma_i32_32x32x8i8`.
    I8: u8 => i32, i32, i32x16, "llvm.amdgcn.mfma.i32.32x32x8i8"(i32) x 4
}

#[cfg(ferrowave_gpu = "gfx942")]
multiply! {
    /// i8: `v_mfma_i32_32x32x16_i8`.
    I8: u8 => i32, i32, i32x16, "llvm.amdgcn.mfma.i32.32x32x16.i8"(i64) x 2
}

#[cfg(ferrowave_gpu = "gfx950")]
multiply! {
    /// i8: `v_mfma_i32_32x32x32_i8`.
    I8: u8 => i32, i32, i32x16, "llvm.amdgcn.mfma.i32.32x32x32.i8"(core::simd::i32x4) x 1
}

#[cfg(ferrowave_gpu = "gfx942")]
multiply! {
    /// E4M3 FNUZ: `v_mfma_f32_32x32x16_fp8_fp8`.
    Fp8: u8 => f32, f32, f32x16, "llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8"(i64) x 2
}

/// E4M3 of the OCP: `v_mfma_f32_32x32x64_f8f6f4`, which does twice the operations of
/// `v_mfma_f32_32x32x16_fp8_fp8` in the same time and takes two units of a lane.
#[cfg(ferrowave_gpu = "gfx950")]
pub(crate) struct Fp8;

#[cfg(ferrowave_gpu = "gfx950")]
const _: () = {
    use core::simd::i32x8;

    unsafe extern "llvm-intrinsic" {
        #[link_name = "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v8i32.v8i32"]
        fn instruction(
            a: i32x8,
            b: i32x8,
            c: f32x16,
            cbsz: i32,
            blgp: i32,
            scale_a_byte: i32,
            scale_a: i32,
            scale_b_byte: i32,
            scale_b: i32,
        ) -> f32x16;
    }

    impl Multiply<4> for Fp8 {
        type Element = u8;
        type Output = f32;
        type Sum = f32;
        type Sums = [f32; 16];
        type Operand = i32x8;

        const EDGE: usize = 32;
        const STEP_UNITS: usize = 4;
        const OPERAND_UNITS: usize = 2;
        const INSTRUCTIONS: usize = 1;
        const ZERO: Self::Sums = [0.0; 16];

        #[inline(always)]
        fn operand(unit: impl Fn(u32) -> Unit) -> Self::Operand {
            // SAFETY: both have 32 bytes, and all bits are elements.
            unsafe { core::mem::transmute([unit(0), unit(2)]) }
        }

        #[inline(always)]
        fn multiply(
            _part: usize,
            a: Self::Operand,
            b: Self::Operand,
            sums: Self::Sums,
        ) -> Self::Sums {
            let sums = f32x16::from_array(sums);
            // cbsz and blgp 0 mean E4M3 for both. LLVM chooses the form without scales for scales
            // that are the constant 0.
            // SAFETY: the GPU has the instruction, by the `cfg`.
            unsafe { instruction(b, a, sums, 0, 0, 0, 0, 0, 0) }.to_array()
        }

        #[inline(always)]
        unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit) {
            // SAFETY: as the caller promises.
            unsafe { spill_32x32::<_, LDS_BANKS>(lane, sums, block) };
        }
    }
};

/// f64: `v_mfma_f64_16x16x4_f64`.
pub(crate) struct F64;

const _: () = {
    unsafe extern "llvm-intrinsic" {
        #[link_name = "llvm.amdgcn.mfma.f64.16x16x4f64"]
        fn instruction(a: f64, b: f64, c: f64x4, cbsz: i32, abid: i32, blgp: i32) -> f64x4;
    }

    impl Multiply<2> for F64 {
        type Element = u64;
        type Output = f64;
        type Sum = f64;
        type Sums = [f64; 4];
        type Operand = [f64; 2];

        const EDGE: usize = 16;
        const STEP_UNITS: usize = 4;
        const OPERAND_UNITS: usize = 1;
        const INSTRUCTIONS: usize = 2;
        const ZERO: Self::Sums = [0.0; 4];

        #[inline(always)]
        fn operand(unit: impl Fn(u32) -> Unit) -> Self::Operand {
            // SAFETY: both have 16 bytes, and all bits are elements.
            unsafe { core::mem::transmute(unit(0)) }
        }

        #[inline(always)]
        fn multiply(
            part: usize,
            a: Self::Operand,
            b: Self::Operand,
            sums: Self::Sums,
        ) -> Self::Sums {
            let sums = f64x4::from_array(sums);
            // SAFETY: the GPU has the instruction, by the `cfg`; all modifiers are 0.
            unsafe { instruction(a[part], b[part], sums, 0, 0, 0) }.to_array()
        }

        #[inline(always)]
        unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit) {
            // SAFETY: as the caller promises.
            unsafe { spill_16x16_f64::<LDS_BANKS>(lane, sums, block) };
        }
    }
};
