//! The matrix instructions of the block GEMM: for each element type the widest that the GPU has, with its operands and
//! sums.
//!
//! A product of blocks takes whole units of 16 bytes along k: one per lane, which feeds one or more instructions, or
//! two per lane for an instruction with operands of 32 bytes. The units of all lanes of a wave are a step of k. Which
//! lane multiplies which k does not matter, as long as A and B agree.
//!
//! The intrinsics are in `arch::mfma`, the maps of lanes to elements in [`lane_map`].

pub mod lane_map;

pub use lane_map::{F32x16x16x1By4, F32x16x16x4, FourBlocks, LaneMap, SUM_UNITS, sum_position};

use crate::tile::{
    element::{Accumulator, Stored},
    operand::{Bits, Unit},
};

/// A product of blocks.
pub trait Mfma {
    /// The type of the elements of A and B, as bits.
    type Element: Bits;
    /// The type of the elements of C.
    type Output: Stored<Sum = Self::Sum>;
    /// The type of a sum.
    type Sum: Accumulator;
    /// A lane's sums of one block.
    type Sums: Copy;
    /// A lane's part of an operand in one step.
    type Operand: Copy;

    /// Rows, and columns, of a block.
    const EDGE: usize;
    /// Units of a row in one step, over all lanes that share the row.
    const STEP_UNITS: usize;
    /// Units of a lane in one step.
    const OPERAND_UNITS: usize;
    /// Instructions of one product of blocks.
    const INSTRUCTIONS: usize;
    /// Sums that are all 0.
    const ZERO: Self::Sums;

    /// A lane's part of an operand, where `unit(u)` reads unit `u + ⌊lane / EDGE⌋` of a step of the lane's row.
    fn operand(unit: impl Fn(u32) -> Unit) -> Self::Operand;

    /// Instruction number `part` of the [`INSTRUCTIONS`](Self::INSTRUCTIONS) that compute `sums + a · b`. All lanes of
    /// the wave must reach it together.
    fn multiply(part: usize, a: Self::Operand, b: Self::Operand, sums: Self::Sums) -> Self::Sums;

    /// Writes a lane's sums to the block of sums at `block`: `EDGE` rows of 128 bytes, with their units at
    /// [`sum_position`] for the GPU's banks.
    ///
    /// # Safety
    /// `block` points to `8 · EDGE` units, and no other thread writes the part of this `lane`.
    unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit);
}

/// Makes the type of a product of blocks from the element types of A and B and of C, a lane's sums, their lane map, the
/// lane's part of an operand as the instruction takes it, the units of a step in this part, and the instruction.
#[cfg(target_arch = "amdgpu")]
macro_rules! mfma {
    (
        $(#[$doc:meta])*
        $name:ident: $element:ty => $output:ty, [$sum:ty; $sums:literal] in $map:ty,
        [$part:ty; $parts:literal] from [$($unit:literal),*], $instruction:ident
    ) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Mfma for $name {
            type Element = $element;
            type Output = $output;
            type Sum = $sum;
            type Sums = [$sum; $sums];
            type Operand = [$part; $parts];

            const EDGE: usize = <$map>::EDGE;
            const STEP_UNITS: usize = Self::OPERAND_UNITS * <$map>::GROUPS;
            const OPERAND_UNITS: usize = [$($unit),*].len();
            const INSTRUCTIONS: usize = $parts;
            const ZERO: Self::Sums = [0 as $sum; $sums];

            #[inline(always)]
            fn operand(unit: impl Fn(u32) -> Unit) -> Self::Operand {
                // SAFETY: both have the same size, and any bits are elements.
                unsafe { core::mem::transmute([$(unit($unit)),*]) }
            }

            #[inline(always)]
            fn multiply(
                part: usize,
                a: Self::Operand,
                b: Self::Operand,
                sums: Self::Sums,
            ) -> Self::Sums {
                if <$map>::SWAPPED {
                    arch::mfma::$instruction(b[part], a[part], sums)
                } else {
                    arch::mfma::$instruction(a[part], b[part], sums)
                }
            }

            #[inline(always)]
            unsafe fn stage_to_lds(lane: u32, sums: &Self::Sums, block: *mut Unit) {
                // SAFETY: as the caller promises.
                unsafe { <$map>::stage_to_lds::<_, $sums, { arch::LDS_BANKS }>(lane, sums, block) };
            }
        }
    };
}

/// The products of blocks that the GPU has instructions for.
#[cfg(target_arch = "amdgpu")]
mod products {
    use super::{LaneMap, Mfma};
    use crate::{
        arch::{
            self,
            mfma::{Halves, Shorts},
        },
        tile::{element::Bf16, operand::Unit},
    };

    /// The maps of the instructions with 32 × 32 sums and with 16 × 16 in f64.
    type Map32x32 = LaneMap<32, 2, 4>;
    type Map16x16F64 = LaneMap<16, 4, 1>;

    mfma! {
        /// f32: `v_mfma_f32_32x32x2_f32`.
        F32: u32 => f32, [f32; 16] in Map32x32, [f32; 4] from [0], f32_32x32x2_f32
    }

    #[cfg(ferrowave_gpu = "gfx942")]
    mfma! {
        /// xf32: `v_mfma_f32_32x32x4_xf32`.
        Xf32: u32 => f32, [f32; 16] in Map32x32, [core::simd::f32x2; 2] from [0], f32_32x32x4_xf32
    }

    #[cfg(not(ferrowave_gpu = "gfx950"))]
    mfma! {
        /// f16: `v_mfma_f32_32x32x8_f16`.
        F16: u16 => f16, [f32; 16] in Map32x32, [Halves<4>; 2] from [0], f32_32x32x8_f16
    }

    #[cfg(ferrowave_gpu = "gfx950")]
    mfma! {
        /// f16: `v_mfma_f32_32x32x16_f16`.
        F16: u16 => f16, [f32; 16] in Map32x32, [Halves<8>; 1] from [0], f32_32x32x16_f16
    }

    #[cfg(not(ferrowave_gpu = "gfx950"))]
    mfma! {
        /// bf16: `v_mfma_f32_32x32x8_bf16` (gfx90a: `v_mfma_f32_32x32x8bf16_1k`).
        Bfloat16: u16 => Bf16, [f32; 16] in Map32x32, [Shorts<4>; 2] from [0], f32_32x32x8_bf16
    }

    #[cfg(ferrowave_gpu = "gfx950")]
    mfma! {
        /// bf16: `v_mfma_f32_32x32x16_bf16`.
        Bfloat16: u16 => Bf16, [f32; 16] in Map32x32, [Shorts<8>; 1] from [0], f32_32x32x16_bf16
    }

    #[cfg(ferrowave_gpu = "gfx90a")]
    mfma! {
        /// i8: `v_mfma_i32_32x32x8i8`.
        I8: u8 => i32, [i32; 16] in Map32x32, [i32; 4] from [0], i32_32x32x8_i8
    }

    #[cfg(ferrowave_gpu = "gfx942")]
    mfma! {
        /// i8: `v_mfma_i32_32x32x16_i8`.
        I8: u8 => i32, [i32; 16] in Map32x32, [i64; 2] from [0], i32_32x32x16_i8
    }

    #[cfg(ferrowave_gpu = "gfx950")]
    mfma! {
        /// i8: `v_mfma_i32_32x32x32_i8`.
        I8: u8 => i32, [i32; 16] in Map32x32, [core::simd::i32x4; 1] from [0], i32_32x32x32_i8
    }

    #[cfg(ferrowave_gpu = "gfx942")]
    mfma! {
        /// E4M3 FNUZ: `v_mfma_f32_32x32x16_fp8_fp8`.
        Fp8: u8 => f32, [f32; 16] in Map32x32, [i64; 2] from [0], f32_32x32x16_fp8_fp8
    }

    #[cfg(ferrowave_gpu = "gfx950")]
    mfma! {
        /// E4M3 of the OCP: `v_mfma_f32_32x32x64_f8f6f4`, which has twice the throughput of
        /// `v_mfma_f32_32x32x16_fp8_fp8` and takes two units per lane.
        Fp8: u8 => f32, [f32; 16] in Map32x32, [core::simd::i32x8; 1] from [0, 2], f32_32x32x64_fp8
    }

    mfma! {
        /// f64: `v_mfma_f64_16x16x4_f64`.
        F64: u64 => f64, [f64; 4] in Map16x16F64, [f64; 2] from [0], f64_16x16x4_f64
    }
}

#[cfg(target_arch = "amdgpu")]
pub(crate) use products::*;
