//! Products of blocks by WMMA, on RDNA 4.

use super::{LaneMap, Multiply};
use crate::{
    arch::{
        self,
        wmma::{self, Halves, Shorts},
    },
    tile::{element::Bf16, operand::Unit},
};
use core::simd::i32x2;

/// The map of all of them.
type Map16x16 = LaneMap<16, 2, 8>;

product! {
    /// f16: `v_wmma_f32_16x16x16_f16`.
    F16: u16 => f16, [f32; 8] in Map16x16, [Halves; 1] from [0], wmma::f32_16x16x16_f16
}

product! {
    /// bf16: `v_wmma_f32_16x16x16_bf16`.
    Bfloat16: u16 => Bf16, [f32; 8] in Map16x16, [Shorts; 1] from [0], wmma::f32_16x16x16_bf16
}

// Of types of 8 bits, an instruction takes half a unit.

product! {
    /// i8: `v_wmma_i32_16x16x16_iu8`.
    I8: u8 => i32, [i32; 8] in Map16x16, [i32x2; 2] from [0], wmma::i32_16x16x16_i8
}

product! {
    /// E4M3 of the OCP: `v_wmma_f32_16x16x16_fp8_fp8`.
    Fp8: u8 => f32, [f32; 8] in Map16x16, [i32x2; 2] from [0], wmma::f32_16x16x16_fp8_fp8
}

product! {
    /// E5M2 of the OCP: `v_wmma_f32_16x16x16_bf8_bf8`.
    Bf8: u8 => f32, [f32; 8] in Map16x16, [i32x2; 2] from [0], wmma::f32_16x16x16_bf8_bf8
}

// The instructions take B first, as the map's operands are swapped.

product! {
    /// A in E4M3, B in E5M2: `v_wmma_f32_16x16x16_bf8_fp8`.
    Fp8Bf8: u8 => f32, [f32; 8] in Map16x16, [i32x2; 2] from [0], wmma::f32_16x16x16_bf8_fp8
}

product! {
    /// A in E5M2, B in E4M3: `v_wmma_f32_16x16x16_fp8_bf8`.
    Bf8Fp8: u8 => f32, [f32; 8] in Map16x16, [i32x2; 2] from [0], wmma::f32_16x16x16_fp8_bf8
}
