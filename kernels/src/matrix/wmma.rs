//! Products of blocks by WMMA, on RDNA 3 and 3.5.

use super::{LaneMap, Multiply};
use crate::{
    arch::{
        self,
        wmma::{self, Halves, Shorts},
    },
    tile::{element::Bf16, operand::Unit},
};
use core::simd::i32x4;

/// The map of all of them.
type Map16x16 = LaneMap<16, 2, 1, 1>;

product! {
    /// f16: `v_wmma_f32_16x16x16_f16`.
    F16: u16 => f16, [f32; 8] in Map16x16, [Halves; 1] from [0, 1], wmma::f32_16x16x16_f16
}

product! {
    /// bf16: `v_wmma_f32_16x16x16_bf16`.
    Bfloat16: u16 => Bf16, [f32; 8] in Map16x16, [Shorts; 1] from [0, 1], wmma::f32_16x16x16_bf16
}

product! {
    /// i8: `v_wmma_i32_16x16x16_iu8`, twice: a step has as many bytes as that of the other types.
    I8: u8 => i32, [i32; 8] in Map16x16, [i32x4; 2] from [0, 1], wmma::i32_16x16x16_i8
}
