//! Products of blocks by MFMA, on CDNA.

use super::{F32x16x16x4, LaneMap, Multiply};
#[cfg(ferrowave_gpu = "gfx950")]
use crate::arch::mfma::{Scaled, SixBits};
use crate::{
    arch::{
        self,
        mfma::{self, Halves, Shorts},
    },
    tile::{element::Bf16, operand::Unit},
};
#[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
use core::simd::i32x4;
#[cfg(ferrowave_gpu = "gfx950")]
use core::simd::i32x8;
#[cfg(ferrowave_gpu = "gfx942")]
use core::simd::{f32x2, i32x2};

/// The maps of the instructions with 32 × 32 sums and with 16 × 16 in f64.
type Map32x32 = LaneMap<32, 2, 4>;
/// The first one where A is sparse.
#[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
type SparseMap = LaneMap<32, 2, 4, 2, false>;
#[cfg(not(ferrowave_gpu = "gfx908"))]
type Map16x16F64 = LaneMap<16, 4, 1>;

product! {
    /// f32: `v_mfma_f32_32x32x2_f32`.
    F32: u32 => f32, [f32; 16] in Map32x32, [f32; 4] from [0], mfma::f32_32x32x2_f32
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// xf32: `v_mfma_f32_32x32x4_xf32`.
    Xf32: u32 => f32, [f32; 16] in Map32x32, [f32x2; 2] from [0], mfma::f32_32x32x4_xf32
}

#[cfg(not(ferrowave_gpu = "gfx950"))]
product! {
    /// f16: `v_mfma_f32_32x32x8_f16` (before gfx942: `v_mfma_f32_32x32x8f16`).
    F16: u16 => f16, [f32; 16] in Map32x32, [Halves<4>; 2] from [0], mfma::f32_32x32x8_f16
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// f16: `v_mfma_f32_32x32x16_f16`.
    F16: u16 => f16, [f32; 16] in Map32x32, [Halves<8>; 1] from [0], mfma::f32_32x32x16_f16
}

#[cfg(ferrowave_gpu = "gfx908")]
product! {
    /// bf16: `v_mfma_f32_32x32x4bf16`, which takes two elements per lane and has half the throughput of f16.
    Bfloat16: u16 => Bf16, [f32; 16] in Map32x32, [Shorts<2>; 4] from [0], mfma::f32_32x32x4_bf16
}

#[cfg(not(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx950")))]
product! {
    /// bf16: `v_mfma_f32_32x32x8_bf16` (gfx90a: `v_mfma_f32_32x32x8bf16_1k`).
    Bfloat16: u16 => Bf16, [f32; 16] in Map32x32, [Shorts<4>; 2] from [0], mfma::f32_32x32x8_bf16
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// bf16: `v_mfma_f32_32x32x16_bf16`.
    Bfloat16: u16 => Bf16, [f32; 16] in Map32x32, [Shorts<8>; 1] from [0], mfma::f32_32x32x16_bf16
}

#[cfg(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx90a"))]
product! {
    /// i8: `v_mfma_i32_32x32x8i8`.
    I8: u8 => i32, [i32; 16] in Map32x32, [i32; 4] from [0], mfma::i32_32x32x8_i8
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// i8: `v_mfma_i32_32x32x16_i8`.
    I8: u8 => i32, [i32; 16] in Map32x32, [i64; 2] from [0], mfma::i32_32x32x16_i8
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// i8: `v_mfma_i32_32x32x32_i8`.
    I8: u8 => i32, [i32; 16] in Map32x32, [i32x4; 1] from [0], mfma::i32_32x32x32_i8
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// E4M3 FNUZ: `v_mfma_f32_32x32x16_fp8_fp8`.
    Fp8: u8 => f32, [f32; 16] in Map32x32, [i64; 2] from [0], mfma::f32_32x32x16_fp8_fp8
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// E4M3 of the OCP: `v_mfma_f32_32x32x64_f8f6f4`, which has twice the throughput of
    /// `v_mfma_f32_32x32x16_fp8_fp8` and takes two units per lane.
    Fp8: u8 => f32, [f32; 16] in Map32x32, [i32x8; 1] from [0, 2], mfma::f32_32x32x64_fp8_fp8
}

// The instructions of maps with swapped operands take B first.

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// E5M2 FNUZ: `v_mfma_f32_32x32x16_bf8_bf8`.
    Bf8: u8 => f32, [f32; 16] in Map32x32, [i64; 2] from [0], mfma::f32_32x32x16_bf8_bf8
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// A in E4M3 FNUZ, B in E5M2 FNUZ: `v_mfma_f32_32x32x16_bf8_fp8`.
    Fp8Bf8: u8 => f32, [f32; 16] in Map32x32, [i64; 2] from [0], mfma::f32_32x32x16_bf8_fp8
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// A in E5M2 FNUZ, B in E4M3 FNUZ: `v_mfma_f32_32x32x16_fp8_bf8`.
    Bf8Fp8: u8 => f32, [f32; 16] in Map32x32, [i64; 2] from [0], mfma::f32_32x32x16_fp8_bf8
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// E5M2 of the OCP, as E4M3.
    Bf8: u8 => f32, [f32; 16] in Map32x32, [i32x8; 1] from [0, 2], mfma::f32_32x32x64_bf8_bf8
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// A in E4M3 of the OCP, B in E5M2.
    Fp8Bf8: u8 => f32, [f32; 16] in Map32x32, [i32x8; 1] from [0, 2], mfma::f32_32x32x64_bf8_fp8
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// A in E5M2 of the OCP, B in E4M3.
    Bf8Fp8: u8 => f32, [f32; 16] in Map32x32, [i32x8; 1] from [0, 2], mfma::f32_32x32x64_fp8_bf8
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// MXFP8: `v_mfma_scale_f32_32x32x64_f8f6f4` with E4M3.
    Mxfp8: u8 => f32, [f32; 16] in Map32x32, [Scaled<i32x8>; 1] from [0, 2] scaled 32,
    mfma::f32_32x32x64_mxfp8::<0>
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// MXFP8 with E5M2.
    Mxbf8: u8 => f32, [f32; 16] in Map32x32, [Scaled<i32x8>; 1] from [0, 2] scaled 32,
    mfma::f32_32x32x64_mxbf8::<0>
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// MXFP8, A with E4M3 and B with E5M2.
    Mxfp8Mxbf8: u8 => f32, [f32; 16] in Map32x32, [Scaled<i32x8>; 1] from [0, 2] scaled 32,
    mfma::f32_32x32x64_mxbf8_mxfp8::<0>
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// MXFP8, A with E5M2 and B with E4M3.
    Mxbf8Mxfp8: u8 => f32, [f32; 16] in Map32x32, [Scaled<i32x8>; 1] from [0, 2] scaled 32,
    mfma::f32_32x32x64_mxfp8_mxbf8::<0>
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// MXFP4: `v_mfma_scale_f32_32x32x64_f8f6f4` with E2M1, in half the time of MXFP8. An element is a byte here: two of
    /// them.
    Mxfp4: u8 => f32, [f32; 16] in Map32x32, [Scaled<i32x4>; 1] from [0] scaled 16,
    mfma::f32_32x32x64_mxfp4::<0>
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// MXFP6: `v_mfma_scale_f32_32x32x64_f8f6f4` with E2M3, in the time of MXFP4. A lane has a unit and a half.
    Mxfp6: u8 => f32, [f32; 16] in Map32x32, [Scaled<SixBits>; 1] from [0, 1] scaled 24,
    mfma::f32_32x32x64_mxfp6::<0>
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// MXFP6 with E3M2.
    Mxbf6: u8 => f32, [f32; 16] in Map32x32, [Scaled<SixBits>; 1] from [0, 1] scaled 24,
    mfma::f32_32x32x64_mxbf6::<0>
}

/// Elements of six bits, whose scales can be in any byte of a word.
#[cfg(ferrowave_gpu = "gfx950")]
pub(crate) trait SixBitFormat:
    Multiply<
        Element = u8,
        Operand = [Scaled<SixBits>; 1],
        OperandB = [Scaled<SixBits>; 1],
        Sums = [f32; 16],
    >
{
    /// A lane's part of A or of B, from its elements and the word with its scales.
    #[inline(always)]
    fn of_words(words: [u32; 6], scale: u32) -> Self::Operand {
        let elements = SixBits(words);
        [Scaled { elements, scale }]
    }

    /// As [`multiply`](Multiply::multiply), with the scales in byte number `BYTE` of their words.
    fn multiply_scaled<const BYTE: i32>(
        a: Self::Operand,
        b: Self::OperandB,
        sums: Self::Sums,
    ) -> Self::Sums;
}

#[cfg(ferrowave_gpu = "gfx950")]
macro_rules! six_bit_format {
    ($name:ident, $instruction:ident) => {
        impl SixBitFormat for $name {
            #[inline(always)]
            fn multiply_scaled<const BYTE: i32>(
                [a]: Self::Operand,
                [b]: Self::OperandB,
                sums: Self::Sums,
            ) -> Self::Sums {
                const { assert!(Map32x32::SWAPPED) }
                mfma::$instruction::<BYTE>(b, a, sums)
            }
        }
    };
}

#[cfg(ferrowave_gpu = "gfx950")]
six_bit_format!(Mxfp6, f32_32x32x64_mxfp6);
#[cfg(ferrowave_gpu = "gfx950")]
six_bit_format!(Mxbf6, f32_32x32x64_mxbf6);

#[cfg(not(ferrowave_gpu = "gfx908"))]
product! {
    /// f64: `v_mfma_f64_16x16x4_f64`.
    F64: u64 => f64, [f64; 4] in Map16x16F64, [f64; 2] from [0], mfma::f64_16x16x4_f64
}

// Blocks of 16 × 16, of which tiles can have other numbers of rows, and small tiles several waves.

product! {
    /// f32: `v_mfma_f32_16x16x4_f32`.
    F32By16: u32 => f32, [f32; 4] in F32x16x16x4, [f32; 4] from [0], mfma::f32_16x16x4_f32
}

#[cfg(not(ferrowave_gpu = "gfx950"))]
product! {
    /// f16: `v_mfma_f32_16x16x16_f16` (before gfx942: `v_mfma_f32_16x16x16f16`).
    F16By16: u16 => f16, [f32; 4] in F32x16x16x4, [Halves<4>; 2] from [0], mfma::f32_16x16x16_f16
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// f16: `v_mfma_f32_16x16x32_f16`.
    F16By16: u16 => f16, [f32; 4] in F32x16x16x4, [Halves<8>; 1] from [0], mfma::f32_16x16x32_f16
}

#[cfg(ferrowave_gpu = "gfx908")]
product! {
    /// bf16: `v_mfma_f32_16x16x8bf16`, which takes two elements per lane.
    Bfloat16By16: u16 => Bf16, [f32; 4] in F32x16x16x4, [Shorts<2>; 4] from [0], mfma::f32_16x16x8_bf16
}

#[cfg(not(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx950")))]
product! {
    /// bf16: `v_mfma_f32_16x16x16_bf16` (gfx90a: `v_mfma_f32_16x16x16bf16_1k`).
    Bfloat16By16: u16 => Bf16, [f32; 4] in F32x16x16x4, [Shorts<4>; 2] from [0], mfma::f32_16x16x16_bf16
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// bf16: `v_mfma_f32_16x16x32_bf16`.
    Bfloat16By16: u16 => Bf16, [f32; 4] in F32x16x16x4, [Shorts<8>; 1] from [0], mfma::f32_16x16x32_bf16
}

#[cfg(any(ferrowave_gpu = "gfx908", ferrowave_gpu = "gfx90a"))]
product! {
    /// i8: `v_mfma_i32_16x16x16i8`.
    I8By16: u8 => i32, [i32; 4] in F32x16x16x4, [i32; 4] from [0], mfma::i32_16x16x16_i8
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// i8: `v_mfma_i32_16x16x32_i8`.
    I8By16: u8 => i32, [i32; 4] in F32x16x16x4, [i64; 2] from [0], mfma::i32_16x16x32_i8
}

#[cfg(ferrowave_gpu = "gfx950")]
product! {
    /// i8: `v_mfma_i32_16x16x64_i8`.
    I8By16: u8 => i32, [i32; 4] in F32x16x16x4, [i32x4; 1] from [0], mfma::i32_16x16x64_i8
}

#[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
product! {
    /// E4M3, on gfx942 FNUZ: `v_mfma_f32_16x16x32_fp8_fp8`.
    Fp8By16: u8 => f32, [f32; 4] in F32x16x16x4, [i64; 2] from [0], mfma::f32_16x16x32_fp8_fp8
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// E5M2 FNUZ: `v_mfma_f32_16x16x32_bf8_bf8`.
    Bf8By16: u8 => f32, [f32; 4] in F32x16x16x4, [i64; 2] from [0], mfma::f32_16x16x32_bf8_bf8
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// A in E4M3 FNUZ, B in E5M2 FNUZ: `v_mfma_f32_16x16x32_bf8_fp8`.
    Fp8Bf8By16: u8 => f32, [f32; 4] in F32x16x16x4, [i64; 2] from [0], mfma::f32_16x16x32_bf8_fp8
}

#[cfg(ferrowave_gpu = "gfx942")]
product! {
    /// A in E5M2 FNUZ, B in E4M3 FNUZ: `v_mfma_f32_16x16x32_fp8_bf8`.
    Bf8Fp8By16: u8 => f32, [f32; 4] in F32x16x16x4, [i64; 2] from [0], mfma::f32_16x16x32_fp8_bf8
}

// The products of tiles of 64 × 64 have small blocks. On gfx908, the waves of such a tile have too few registers for them.
#[cfg(ferrowave_gpu = "gfx908")]
pub(crate) use {Bfloat16 as Bfloat16Of64x64, F16 as F16Of64x64, I8 as I8Of64x64};
#[cfg(not(ferrowave_gpu = "gfx908"))]
pub(crate) use {Bfloat16By16 as Bfloat16Of64x64, F16By16 as F16Of64x64, I8By16 as I8Of64x64};

// A sparse A. On gfx942 a lane's units of B belong to its unit of A. On gfx950 the first units of both groups of lanes belong
// to the A of the first group, and the second ones to that of the second.

#[cfg(ferrowave_gpu = "gfx942")]
sparse_product! {
    /// f16: `v_smfmac_f32_32x32x16_f16`.
    SparseF16: u16 => f16, [f32; 16] in SparseMap, [Halves<4>, Halves<8>; 2] from [0, 1] with 1, sparse_f32_32x32x16_f16
}

#[cfg(ferrowave_gpu = "gfx950")]
sparse_product! {
    /// f16: `v_smfmac_f32_32x32x32_f16`.
    SparseF16: u16 => f16, [f32; 16] in SparseMap, [Halves<8>, Halves<16>; 1] from [0, 2] with 1, sparse_f32_32x32x32_f16
}

#[cfg(ferrowave_gpu = "gfx942")]
sparse_product! {
    /// bf16: `v_smfmac_f32_32x32x16_bf16`.
    SparseBfloat16: u16 => Bf16, [f32; 16] in SparseMap, [Shorts<4>, Shorts<8>; 2] from [0, 1] with 1, sparse_f32_32x32x16_bf16
}

#[cfg(ferrowave_gpu = "gfx950")]
sparse_product! {
    /// bf16: `v_smfmac_f32_32x32x32_bf16`.
    SparseBfloat16: u16 => Bf16, [f32; 16] in SparseMap, [Shorts<8>, Shorts<16>; 1] from [0, 2] with 1, sparse_f32_32x32x32_bf16
}

#[cfg(ferrowave_gpu = "gfx942")]
sparse_product! {
    /// i8: `v_smfmac_i32_32x32x32_i8`.
    SparseI8: u8 => i32, [i32; 16] in SparseMap, [i32x2, i32x4; 2] from [0, 1] with 2, sparse_i32_32x32x32_i8
}

#[cfg(ferrowave_gpu = "gfx950")]
sparse_product! {
    /// i8: `v_smfmac_i32_32x32x64_i8`.
    SparseI8: u8 => i32, [i32; 16] in SparseMap, [i32x4, i32x8; 1] from [0, 2] with 2, sparse_i32_32x32x64_i8
}

#[cfg(ferrowave_gpu = "gfx942")]
sparse_product! {
    /// E4M3 FNUZ: `v_smfmac_f32_32x32x32_fp8_fp8`.
    SparseFp8: u8 => f32, [f32; 16] in SparseMap, [i32x2, i32x4; 2] from [0, 1] with 2, sparse_f32_32x32x32_fp8
}

#[cfg(ferrowave_gpu = "gfx950")]
sparse_product! {
    /// E4M3 of the OCP: `v_smfmac_f32_32x32x64_fp8_fp8`.
    SparseFp8: u8 => f32, [f32; 16] in SparseMap, [i32x4, i32x8; 1] from [0, 2] with 2, sparse_f32_32x32x64_fp8
}
