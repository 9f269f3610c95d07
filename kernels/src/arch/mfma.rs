//! Intrinsics of the matrix instructions. Which lane holds which element is documented in [`crate::matrix`].
//!
//! All lanes of a wave must reach an instruction together: it also multiplies what inactive lanes hold.

use core::simd::{f32x4, f32x16};

unsafe extern "llvm-intrinsic" {
    #[link_name = "llvm.amdgcn.mfma.f32.16x16x4f32"]
    fn llvm_mfma_f32_16x16x4f32(a: f32, b: f32, c: f32x4, cbsz: i32, abid: i32, blgp: i32)
    -> f32x4;

    #[link_name = "llvm.amdgcn.mfma.f32.16x16x1f32"]
    fn llvm_mfma_f32_16x16x1f32(
        a: f32,
        b: f32,
        c: f32x16,
        cbsz: i32,
        abid: i32,
        blgp: i32,
    ) -> f32x16;
}

/// `v_mfma_f32_16x16x4_f32` (gfx908: `v_mfma_f32_16x16x4f32`): `a · b + c`.
#[inline(always)]
pub(crate) fn f32_16x16x4_f32(a: f32, b: f32, c: [f32; 4]) -> [f32; 4] {
    // SAFETY: every GPU of the catalogue row that instantiates this has the instruction. No
    // broadcast of blocks and no lane permutation: all modifiers are 0.
    unsafe { llvm_mfma_f32_16x16x4f32(a, b, f32x4::from_array(c), 0, 0, 0) }.to_array()
}

/// `v_mfma_f32_16x16x1_4b_f32` (gfx908: `v_mfma_f32_16x16x1f32`): four blocks of `a · b + c`, all with block `BLOCK`
/// of `a`.
#[inline(always)]
pub(crate) fn f32_16x16x1_4b_f32<const BLOCK: i32>(a: f32, b: f32, c: [f32; 16]) -> [f32; 16] {
    /// CBSZ: one block of A for groups of 2² blocks.
    const FOUR_BLOCKS: i32 = 2;
    const { assert!(0 <= BLOCK && BLOCK < 4, "there are four blocks") }
    let c = f32x16::from_array(c);
    // SAFETY: every GPU of the catalogue row that instantiates this has the instruction. No lane
    // permutation: BLGP is 0.
    unsafe { llvm_mfma_f32_16x16x1f32(a, b, c, FOUR_BLOCKS, BLOCK, 0) }.to_array()
}

pub(crate) use large::*;

/// The instructions of the block GEMM.
mod large {
    use core::simd::{Simd, f32x4, f32x16, i32x4, i32x16};

    /// Vectors of f16, which `core::simd` does not support.
    #[derive(Clone, Copy)]
    #[repr(simd)]
    pub(crate) struct Halves<const N: usize>([f16; N]);

    /// Vectors of bf16, which LLVM's intrinsics take as i16.
    pub(crate) type Shorts<const N: usize> = Simd<i16, N>;

    /// Makes a safe function of a matrix intrinsic: `a · b + c`.
    macro_rules! instruction {
        ($name:ident($part:ty) -> [$sum:ty; $sums:literal] as $vector:ty = $intrinsic:literal) => {
            #[inline(always)]
            pub(crate) fn $name(a: $part, b: $part, c: [$sum; $sums]) -> [$sum; $sums] {
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
                let c = <$vector>::from_array(c);
                // SAFETY: the GPU has the instruction, by its `cfg`. No broadcast of blocks and no permutation
                // of lanes: all modifiers are 0.
                unsafe { instruction(a, b, c, 0, 0, 0) }.to_array()
            }
        };
    }

    instruction!(f32_32x32x2_f32(f32) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x2f32");
    #[cfg(not(ferrowave_gpu = "gfx908"))]
    instruction!(f64_16x16x4_f64(f64) -> [f64; 4] as core::simd::f64x4 = "llvm.amdgcn.mfma.f64.16x16x4f64");

    #[cfg(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx90a"))]
    instruction!(i32_32x32x8_i8(i32) -> [i32; 16] as i32x16 = "llvm.amdgcn.mfma.i32.32x32x8i8");

    #[cfg(not(ferrowave_gpu = "gfx950"))]
    instruction!(f32_32x32x8_f16(Halves<4>) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x8f16");
    #[cfg(ferrowave_gpu = "gfx908")]
    instruction!(f32_32x32x4_bf16(Shorts<2>) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x4bf16");
    #[cfg(not(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx950")))]
    instruction!(f32_32x32x8_bf16(Shorts<4>) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x8bf16.1k");

    #[cfg(not(ferrowave_gpu = "gfx950"))]
    instruction!(f32_16x16x16_f16(Halves<4>) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x16f16");
    #[cfg(ferrowave_gpu = "gfx908")]
    instruction!(f32_16x16x8_bf16(Shorts<2>) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x8bf16");
    #[cfg(not(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx950")))]
    instruction!(f32_16x16x16_bf16(Shorts<4>) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x16bf16.1k");
    #[cfg(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx90a"))]
    instruction!(i32_16x16x16_i8(i32) -> [i32; 4] as i32x4 = "llvm.amdgcn.mfma.i32.16x16x16i8");

    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(f32_32x32x4_xf32(core::simd::f32x2) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x4.xf32");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(i32_32x32x16_i8(i64) -> [i32; 16] as i32x16 = "llvm.amdgcn.mfma.i32.32x32x16.i8");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(i32_16x16x32_i8(i64) -> [i32; 4] as i32x4 = "llvm.amdgcn.mfma.i32.16x16x32.i8");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(f32_32x32x16_fp8_fp8(i64) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x16.fp8.fp8");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(f32_32x32x16_fp8_bf8(i64) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x16.fp8.bf8");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(f32_32x32x16_bf8_fp8(i64) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x16.bf8.fp8");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(f32_32x32x16_bf8_bf8(i64) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x16.bf8.bf8");
    #[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
    instruction!(f32_16x16x32_fp8_fp8(i64) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(f32_16x16x32_fp8_bf8(i64) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x32.fp8.bf8");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(f32_16x16x32_bf8_fp8(i64) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x32.bf8.fp8");
    #[cfg(ferrowave_gpu = "gfx942")]
    instruction!(f32_16x16x32_bf8_bf8(i64) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x32.bf8.bf8");

    #[cfg(ferrowave_gpu = "gfx950")]
    instruction!(f32_32x32x16_f16(Halves<8>) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x16.f16");
    #[cfg(ferrowave_gpu = "gfx950")]
    instruction!(f32_32x32x16_bf16(Shorts<8>) -> [f32; 16] as f32x16 = "llvm.amdgcn.mfma.f32.32x32x16.bf16");
    #[cfg(ferrowave_gpu = "gfx950")]
    instruction!(i32_32x32x32_i8(i32x4) -> [i32; 16] as i32x16 = "llvm.amdgcn.mfma.i32.32x32x32.i8");

    #[cfg(ferrowave_gpu = "gfx950")]
    instruction!(f32_16x16x32_f16(Halves<8>) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x32.f16");
    #[cfg(ferrowave_gpu = "gfx950")]
    instruction!(f32_16x16x32_bf16(Shorts<8>) -> [f32; 4] as f32x4 = "llvm.amdgcn.mfma.f32.16x16x32.bf16");
    #[cfg(ferrowave_gpu = "gfx950")]
    instruction!(i32_16x16x64_i8(i32x4) -> [i32; 4] as i32x4 = "llvm.amdgcn.mfma.i32.16x16x64.i8");

    /// Makes a safe function of a matrix intrinsic with a sparse A: `a · b + c`. `PART` says which of the indices are those of
    /// `a`: the first ones that an instruction takes, or those behind them.
    #[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
    macro_rules! sparse_instruction {
        ($name:ident($part:ty, $part_b:ty) -> [$sum:ty; 16] as $vector:ty = $intrinsic:literal) => {
            #[inline(always)]
            pub(crate) fn $name<const PART: i32>(
                a: $part,
                b: $part_b,
                indices: u32,
                c: [$sum; 16],
            ) -> [$sum; 16] {
                unsafe extern "llvm-intrinsic" {
                    #[link_name = $intrinsic]
                    fn instruction(
                        a: $part,
                        b: $part_b,
                        c: $vector,
                        indices: i32,
                        cbsz: i32,
                        abid: i32,
                    ) -> $vector;
                }
                let c = <$vector>::from_array(c);
                // SAFETY: the GPU has the instruction, by its `cfg`. CBSZ 0: ABID chooses the indices.
                unsafe { instruction(a, b, c, indices.cast_signed(), 0, PART) }.to_array()
            }
        };
    }

    #[cfg(ferrowave_gpu = "gfx942")]
    sparse_instruction!(sparse_f32_32x32x16_f16(Halves<4>, Halves<8>) -> [f32; 16] as f32x16 = "llvm.amdgcn.smfmac.f32.32x32x16.f16");
    #[cfg(ferrowave_gpu = "gfx942")]
    sparse_instruction!(sparse_f32_32x32x16_bf16(Shorts<4>, Shorts<8>) -> [f32; 16] as f32x16 = "llvm.amdgcn.smfmac.f32.32x32x16.bf16");
    #[cfg(ferrowave_gpu = "gfx942")]
    sparse_instruction!(sparse_i32_32x32x32_i8(core::simd::i32x2, i32x4) -> [i32; 16] as i32x16 = "llvm.amdgcn.smfmac.i32.32x32x32.i8");
    #[cfg(ferrowave_gpu = "gfx942")]
    sparse_instruction!(sparse_f32_32x32x32_fp8(core::simd::i32x2, i32x4) -> [f32; 16] as f32x16 = "llvm.amdgcn.smfmac.f32.32x32x32.fp8.fp8");

    #[cfg(ferrowave_gpu = "gfx950")]
    sparse_instruction!(sparse_f32_32x32x32_f16(Halves<8>, Halves<16>) -> [f32; 16] as f32x16 = "llvm.amdgcn.smfmac.f32.32x32x32.f16");
    #[cfg(ferrowave_gpu = "gfx950")]
    sparse_instruction!(sparse_f32_32x32x32_bf16(Shorts<8>, Shorts<16>) -> [f32; 16] as f32x16 = "llvm.amdgcn.smfmac.f32.32x32x32.bf16");
    #[cfg(ferrowave_gpu = "gfx950")]
    sparse_instruction!(sparse_i32_32x32x64_i8(i32x4, core::simd::i32x8) -> [i32; 16] as i32x16 = "llvm.amdgcn.smfmac.i32.32x32x64.i8");
    #[cfg(ferrowave_gpu = "gfx950")]
    sparse_instruction!(sparse_f32_32x32x64_fp8(i32x4, core::simd::i32x8) -> [f32; 16] as f32x16 = "llvm.amdgcn.smfmac.f32.32x32x64.fp8.fp8");

    /// A lane's elements of one row, and the scale of one block of [`SCALE_BLOCK`](ferrowave_shared::SCALE_BLOCK)
    /// elements: of the row's first block in lanes 0 to 31, of its second in lanes 32 to 63.
    #[cfg(ferrowave_gpu = "gfx950")]
    #[derive(Clone, Copy)]
    pub(crate) struct Scaled<V> {
        pub(crate) elements: V,
        pub(crate) scale: u32,
    }

    /// A lane's 32 elements of six bits.
    #[cfg(ferrowave_gpu = "gfx950")]
    #[derive(Clone, Copy)]
    #[repr(simd)]
    pub(crate) struct SixBits(pub(crate) [u32; 6]);

    /// Makes a safe function of `v_mfma_scale_f32_32x32x64_f8f6f4` with these formats of both operands, whose scales are in byte
    /// number `BYTE` of their words: `a · b + c`.
    #[cfg(ferrowave_gpu = "gfx950")]
    macro_rules! scaled_instruction {
        ($name:ident($part:ty) = $intrinsic:literal, formats $format_a:expr, $format_b:expr) => {
            #[inline(always)]
            pub(crate) fn $name<const BYTE: i32>(
                a: Scaled<$part>,
                b: Scaled<$part>,
                c: [f32; 16],
            ) -> [f32; 16] {
                unsafe extern "llvm-intrinsic" {
                    #[link_name = $intrinsic]
                    fn instruction(
                        a: $part,
                        b: $part,
                        c: f32x16,
                        cbsz: i32,
                        blgp: i32,
                        scale_a_byte: i32,
                        scale_a: i32,
                        scale_b_byte: i32,
                        scale_b: i32,
                    ) -> f32x16;
                }
                const { assert!(0 <= BYTE && BYTE < 4, "a word has four bytes") }
                let c = f32x16::from_array(c);
                let (scale_a, scale_b) = (a.scale.cast_signed(), b.scale.cast_signed());
                // SAFETY: the GPU has the instruction, by its `cfg`.
                unsafe {
                    instruction(
                        a.elements, b.elements, c, $format_a, $format_b, BYTE, scale_a, BYTE,
                        scale_b,
                    )
                }
                .to_array()
            }
        };
    }

    /// The formats of `v_mfma_f32_32x32x64_f8f6f4`, as CBSZ and BLGP have them.
    #[cfg(ferrowave_gpu = "gfx950")]
    mod format {
        pub(super) const E4M3: i32 = 0;
        pub(super) const E5M2: i32 = 1;
        pub(super) const E2M3: i32 = 2;
        pub(super) const E3M2: i32 = 3;
        pub(super) const E2M1: i32 = 4;
    }

    #[cfg(ferrowave_gpu = "gfx950")]
    scaled_instruction!(f32_32x32x64_mxfp8(core::simd::i32x8) = "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v8i32.v8i32", formats format::E4M3, format::E4M3);
    #[cfg(ferrowave_gpu = "gfx950")]
    scaled_instruction!(f32_32x32x64_mxbf8(core::simd::i32x8) = "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v8i32.v8i32", formats format::E5M2, format::E5M2);
    #[cfg(ferrowave_gpu = "gfx950")]
    scaled_instruction!(f32_32x32x64_mxfp8_mxbf8(core::simd::i32x8) = "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v8i32.v8i32", formats format::E4M3, format::E5M2);
    #[cfg(ferrowave_gpu = "gfx950")]
    scaled_instruction!(f32_32x32x64_mxbf8_mxfp8(core::simd::i32x8) = "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v8i32.v8i32", formats format::E5M2, format::E4M3);
    #[cfg(ferrowave_gpu = "gfx950")]
    scaled_instruction!(f32_32x32x64_mxfp6(SixBits) = "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v6i32.v6i32", formats format::E2M3, format::E2M3);
    #[cfg(ferrowave_gpu = "gfx950")]
    scaled_instruction!(f32_32x32x64_mxbf6(SixBits) = "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v6i32.v6i32", formats format::E3M2, format::E3M2);
    #[cfg(ferrowave_gpu = "gfx950")]
    scaled_instruction!(f32_32x32x64_mxfp4(i32x4) = "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v4i32.v4i32", formats format::E2M1, format::E2M1);

    /// Makes a safe function of `v_mfma_f32_32x32x64_f8f6f4` from that with scales: LLVM selects the form without scales if the
    /// scales are the constant 0.
    #[cfg(ferrowave_gpu = "gfx950")]
    macro_rules! unscaled_instruction {
        ($name:ident, $scaled:ident) => {
            #[inline(always)]
            pub(crate) fn $name(
                a: core::simd::i32x8,
                b: core::simd::i32x8,
                c: [f32; 16],
            ) -> [f32; 16] {
                let a = Scaled {
                    elements: a,
                    scale: 0,
                };
                let b = Scaled {
                    elements: b,
                    scale: 0,
                };
                $scaled::<0>(a, b, c)
            }
        };
    }

    #[cfg(ferrowave_gpu = "gfx950")]
    unscaled_instruction!(f32_32x32x64_fp8_fp8, f32_32x32x64_mxfp8);
    #[cfg(ferrowave_gpu = "gfx950")]
    unscaled_instruction!(f32_32x32x64_fp8_bf8, f32_32x32x64_mxfp8_mxbf8);
    #[cfg(ferrowave_gpu = "gfx950")]
    unscaled_instruction!(f32_32x32x64_bf8_fp8, f32_32x32x64_mxbf8_mxfp8);
    #[cfg(ferrowave_gpu = "gfx950")]
    unscaled_instruction!(f32_32x32x64_bf8_bf8, f32_32x32x64_mxbf8);
}
