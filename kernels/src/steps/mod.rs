//! The kernels, in the order in which to read them. Their numbers are those of the ladder, on which
//! the matrix cores begin with 6.

#[cfg(not(ferrowave_gpu = "gfx908"))]
mod matrix;
mod product;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod reduction;
mod s01_naive;
mod s02_lds_tiled;
mod s03_register_tiled;
mod s04_vectorized;
mod s05_double_buffered;
mod s06_mfma_uncached;
mod s07_mfma_lds;
mod s08_mfma_double_buffered;
mod s09_mfma_fragment;
mod s10_mfma_blocks;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod s11_mfma_wide;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod s12_mfma_swizzled;
#[cfg(ferrowave_gpu = "gfx950")]
mod s13_mfma_direct_to_lds;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod s14_mfma_pingpong;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod s15_mfma_interleaved;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod s16_split_k;
#[cfg(not(ferrowave_gpu = "gfx908"))]
mod s17_stream_k;
mod uncached;

use crate::arch;
#[cfg(not(ferrowave_gpu = "gfx908"))]
use crate::tile::{
    element::Bf16,
    lds_layout::{Plain, Swizzled},
};
use ferrowave_shared::{CATALOGUE, GemmArguments, GemmParameters, Kernel, catalogue};
#[cfg(not(ferrowave_gpu = "gfx908"))]
use matrix::BlockGemm;
use product::{Pointers, Product};

/// Makes a kernel's entry point: the symbol in the code object, its arguments as
/// [`GemmArguments`] lays them out, and the call of the step. In brackets the GPUs that have it,
/// in parentheses the types of A's and B's and of C's elements.
///
/// There is one such table, so that it can be compared with the catalogue.
macro_rules! entries {
    ($([$($gpu:literal),*] $symbol:ident($input:ty => $output:ty) = $row:ident => $step:expr;)*) => {
        $(
            #[cfg(any($(ferrowave_gpu = $gpu),*))]
            #[expect(
                improper_gpu_kernel_arg,
                reason = "the parameters by value are laid out by the C rules; the host compares \
                          the segment's size with the metadata"
            )]
            #[unsafe(no_mangle)]
            unsafe extern "gpu-kernel" fn $symbol(
                a: *const $input,
                b: *const $input,
                c: *mut $output,
                bias: *const $output,
                workspace: *mut u8,
                parameters: GemmParameters,
            ) {
                // SAFETY: the host launches what `GemmArguments` and the row promise.
                unsafe {
                    let pointers = Pointers { a, b, c, bias, workspace };
                    $step(Product::of_workgroup(pointers, parameters, &catalogue::$row));
                }
            }
        )*

        /// The kernels that this crate has for its GPU.
        const ENTRIES: &[(&str, Kernel)] = &[
            $(#[cfg(any($(ferrowave_gpu = $gpu),*))] (stringify!($symbol), catalogue::$row),)*
        ];
    };
}

/// The step on large blocks, from CDNA 2 on, for a product of blocks, an arrangement of LDS, `M` x `N` blocks a wave and
/// so many units a thread of A and of B, which must be those of the row.
#[cfg(not(ferrowave_gpu = "gfx908"))]
macro_rules! blocks {
    ($step:ident, $product:ident, $arrangement:ty, $m:literal x $n:literal, $a:literal + $b:literal, $row:ident) => {{
        const {
            assert!(
                BlockGemm::<arch::$product, $arrangement, _, $m, $n, $a, $b>::fits(
                    &catalogue::$row
                ),
                "the parameters must fit the row"
            );
        }
        $step::run::<arch::$product, $arrangement, _, $m, $n, $a, $b>
    }};
}

/// Step 14 with stages of 128 bytes along k, for the same parameters.
#[cfg(ferrowave_gpu = "gfx950")]
macro_rules! lines {
    ($product:ident, $m:literal x $n:literal, $a:literal + $b:literal, $row:ident) => {{
        type Lines = Swizzled<1, { arch::LDS_BANKS }, 8>;
        const {
            assert!(
                BlockGemm::<arch::$product, Lines, _, $m, $n, $a, $b>::fits(&catalogue::$row),
                "the parameters must fit the row"
            );
        }
        s14_mfma_pingpong::run_lines::<arch::$product, Lines, _, $m, $n, $a, $b>
    }};
}

/// Without bank conflicts on the GPU that this is compiled for.
#[cfg(not(ferrowave_gpu = "gfx908"))]
type Swizzle<const SIZE: usize> = Swizzled<SIZE, { arch::LDS_BANKS }>;

entries! {
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_naive_f32(f32 => f32) = NAIVE_F32 => s01_naive::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_lds_tiled_f32(f32 => f32) = LDS_TILED_F32 => s02_lds_tiled::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_register_tiled_f32(f32 => f32) = REGISTER_TILED_F32 => s03_register_tiled::run_4x4;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_register_tiled_8x8_f32(f32 => f32) = REGISTER_TILED_8X8_F32 => s03_register_tiled::run_8x8;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_vectorized_f32(f32 => f32) = VECTORIZED_F32 => s04_vectorized::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_double_buffered_f32(f32 => f32) = DOUBLE_BUFFERED_F32 => s05_double_buffered::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_mfma_uncached_f32(f32 => f32) = MFMA_UNCACHED_F32 => s06_mfma_uncached::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_mfma_lds_f32(f32 => f32) = MFMA_LDS_F32 => s07_mfma_lds::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_mfma_double_buffered_f32(f32 => f32) = MFMA_DOUBLE_BUFFERED_F32 => s08_mfma_double_buffered::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_mfma_fragment_f32(f32 => f32) = MFMA_FRAGMENT_F32 => s09_mfma_fragment::run;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_mfma_block_order_f32(f32 => f32) = MFMA_BLOCK_ORDER_F32 => s10_mfma_blocks::run_block_order;
    ["gfx908", "gfx90a", "gfx942", "gfx950"] gemm_mfma_pass_order_f32(f32 => f32) = MFMA_PASS_ORDER_F32 => s10_mfma_blocks::run_pass_order;
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_wide_f32(u32 => f32) = MFMA_WIDE_F32 => blocks!(s11_mfma_wide, F32, Plain, 2 x 2, 2 + 2, MFMA_WIDE_F32);
    ["gfx942"] gemm_mfma_wide_xf32(u32 => f32) = MFMA_WIDE_XF32 => blocks!(s11_mfma_wide, Xf32, Plain, 2 x 2, 2 + 2, MFMA_WIDE_XF32);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_wide_f16(u16 => f16) = MFMA_WIDE_F16 => blocks!(s11_mfma_wide, F16, Plain, 2 x 2, 2 + 2, MFMA_WIDE_F16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_wide_bf16(u16 => Bf16) = MFMA_WIDE_BF16 => blocks!(s11_mfma_wide, Bfloat16, Plain, 2 x 2, 2 + 2, MFMA_WIDE_BF16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_wide_i8(u8 => i32) = MFMA_WIDE_I8 => blocks!(s11_mfma_wide, I8, Plain, 2 x 2, 2 + 2, MFMA_WIDE_I8);
    ["gfx942"] gemm_mfma_wide_fp8_fnuz(u8 => f32) = MFMA_WIDE_FP8_FNUZ => blocks!(s11_mfma_wide, Fp8, Plain, 2 x 2, 2 + 2, MFMA_WIDE_FP8_FNUZ);
    ["gfx950"] gemm_mfma_wide_fp8(u8 => f32) = MFMA_WIDE_FP8 => blocks!(s11_mfma_wide, Fp8, Plain, 2 x 2, 2 + 2, MFMA_WIDE_FP8);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_wide_f64(u64 => f64) = MFMA_WIDE_F64 => blocks!(s11_mfma_wide, F64, Plain, 4 x 4, 2 + 2, MFMA_WIDE_F64);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_swizzled_f32(u32 => f32) = MFMA_SWIZZLED_F32 => blocks!(s12_mfma_swizzled, F32, Swizzle<4>, 2 x 2, 2 + 2, MFMA_SWIZZLED_F32);
    ["gfx942"] gemm_mfma_swizzled_xf32(u32 => f32) = MFMA_SWIZZLED_XF32 => blocks!(s12_mfma_swizzled, Xf32, Swizzle<4>, 2 x 2, 2 + 2, MFMA_SWIZZLED_XF32);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_swizzled_f16(u16 => f16) = MFMA_SWIZZLED_F16 => blocks!(s12_mfma_swizzled, F16, Swizzle<2>, 2 x 2, 2 + 2, MFMA_SWIZZLED_F16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_swizzled_bf16(u16 => Bf16) = MFMA_SWIZZLED_BF16 => blocks!(s12_mfma_swizzled, Bfloat16, Swizzle<2>, 2 x 2, 2 + 2, MFMA_SWIZZLED_BF16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_swizzled_i8(u8 => i32) = MFMA_SWIZZLED_I8 => blocks!(s12_mfma_swizzled, I8, Swizzle<1>, 2 x 2, 2 + 2, MFMA_SWIZZLED_I8);
    ["gfx942"] gemm_mfma_swizzled_fp8_fnuz(u8 => f32) = MFMA_SWIZZLED_FP8_FNUZ => blocks!(s12_mfma_swizzled, Fp8, Swizzle<1>, 2 x 2, 2 + 2, MFMA_SWIZZLED_FP8_FNUZ);
    ["gfx950"] gemm_mfma_swizzled_fp8(u8 => f32) = MFMA_SWIZZLED_FP8 => blocks!(s12_mfma_swizzled, Fp8, Swizzle<1>, 2 x 2, 2 + 2, MFMA_SWIZZLED_FP8);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_swizzled_f64(u64 => f64) = MFMA_SWIZZLED_F64 => blocks!(s12_mfma_swizzled, F64, Swizzle<8>, 4 x 4, 2 + 2, MFMA_SWIZZLED_F64);
    ["gfx950"] gemm_mfma_direct_to_lds_f32(u32 => f32) = MFMA_DIRECT_TO_LDS_F32 => blocks!(s13_mfma_direct_to_lds, F32, Swizzle<4>, 2 x 2, 2 + 2, MFMA_DIRECT_TO_LDS_F32);
    ["gfx950"] gemm_mfma_direct_to_lds_f16(u16 => f16) = MFMA_DIRECT_TO_LDS_F16 => blocks!(s13_mfma_direct_to_lds, F16, Swizzle<2>, 2 x 2, 2 + 2, MFMA_DIRECT_TO_LDS_F16);
    ["gfx950"] gemm_mfma_direct_to_lds_bf16(u16 => Bf16) = MFMA_DIRECT_TO_LDS_BF16 => blocks!(s13_mfma_direct_to_lds, Bfloat16, Swizzle<2>, 2 x 2, 2 + 2, MFMA_DIRECT_TO_LDS_BF16);
    ["gfx950"] gemm_mfma_direct_to_lds_i8(u8 => i32) = MFMA_DIRECT_TO_LDS_I8 => blocks!(s13_mfma_direct_to_lds, I8, Swizzle<1>, 2 x 2, 2 + 2, MFMA_DIRECT_TO_LDS_I8);
    ["gfx950"] gemm_mfma_direct_to_lds_fp8(u8 => f32) = MFMA_DIRECT_TO_LDS_FP8 => blocks!(s13_mfma_direct_to_lds, Fp8, Swizzle<1>, 2 x 2, 2 + 2, MFMA_DIRECT_TO_LDS_FP8);
    ["gfx950"] gemm_mfma_direct_to_lds_f64(u64 => f64) = MFMA_DIRECT_TO_LDS_F64 => blocks!(s13_mfma_direct_to_lds, F64, Swizzle<8>, 4 x 4, 2 + 2, MFMA_DIRECT_TO_LDS_F64);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_f32(u32 => f32) = MFMA_PINGPONG_F32 => blocks!(s14_mfma_pingpong, F32, Swizzle<4>, 4 x 2, 2 + 2, MFMA_PINGPONG_F32);
    ["gfx942"] gemm_mfma_pingpong_xf32(u32 => f32) = MFMA_PINGPONG_XF32 => blocks!(s14_mfma_pingpong, Xf32, Swizzle<4>, 4 x 2, 2 + 2, MFMA_PINGPONG_XF32);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_f16(u16 => f16) = MFMA_PINGPONG_F16 => blocks!(s14_mfma_pingpong, F16, Swizzle<2>, 4 x 2, 2 + 2, MFMA_PINGPONG_F16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_bf16(u16 => Bf16) = MFMA_PINGPONG_BF16 => blocks!(s14_mfma_pingpong, Bfloat16, Swizzle<2>, 4 x 2, 2 + 2, MFMA_PINGPONG_BF16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_i8(u8 => i32) = MFMA_PINGPONG_I8 => blocks!(s14_mfma_pingpong, I8, Swizzle<1>, 4 x 2, 2 + 2, MFMA_PINGPONG_I8);
    ["gfx942"] gemm_mfma_pingpong_fp8_fnuz(u8 => f32) = MFMA_PINGPONG_FP8_FNUZ => blocks!(s14_mfma_pingpong, Fp8, Swizzle<1>, 4 x 2, 2 + 2, MFMA_PINGPONG_FP8_FNUZ);
    ["gfx950"] gemm_mfma_pingpong_fp8(u8 => f32) = MFMA_PINGPONG_FP8 => blocks!(s14_mfma_pingpong, Fp8, Swizzle<1>, 4 x 2, 2 + 2, MFMA_PINGPONG_FP8);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_f64(u64 => f64) = MFMA_PINGPONG_F64 => blocks!(s14_mfma_pingpong, F64, Swizzle<8>, 4 x 4, 1 + 2, MFMA_PINGPONG_F64);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_small_f32(u32 => f32) = MFMA_PINGPONG_SMALL_F32 => blocks!(s14_mfma_pingpong, F32, Swizzle<4>, 2 x 1, 1 + 1, MFMA_PINGPONG_SMALL_F32);
    ["gfx942"] gemm_mfma_pingpong_small_xf32(u32 => f32) = MFMA_PINGPONG_SMALL_XF32 => blocks!(s14_mfma_pingpong, Xf32, Swizzle<4>, 2 x 1, 1 + 1, MFMA_PINGPONG_SMALL_XF32);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_small_f16(u16 => f16) = MFMA_PINGPONG_SMALL_F16 => blocks!(s14_mfma_pingpong, F16, Swizzle<2>, 2 x 1, 1 + 1, MFMA_PINGPONG_SMALL_F16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_small_bf16(u16 => Bf16) = MFMA_PINGPONG_SMALL_BF16 => blocks!(s14_mfma_pingpong, Bfloat16, Swizzle<2>, 2 x 1, 1 + 1, MFMA_PINGPONG_SMALL_BF16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_small_i8(u8 => i32) = MFMA_PINGPONG_SMALL_I8 => blocks!(s14_mfma_pingpong, I8, Swizzle<1>, 2 x 1, 1 + 1, MFMA_PINGPONG_SMALL_I8);
    ["gfx942"] gemm_mfma_pingpong_small_fp8_fnuz(u8 => f32) = MFMA_PINGPONG_SMALL_FP8_FNUZ => blocks!(s14_mfma_pingpong, Fp8, Swizzle<1>, 2 x 1, 1 + 1, MFMA_PINGPONG_SMALL_FP8_FNUZ);
    ["gfx950"] gemm_mfma_pingpong_small_fp8(u8 => f32) = MFMA_PINGPONG_SMALL_FP8 => blocks!(s14_mfma_pingpong, Fp8, Swizzle<1>, 2 x 1, 1 + 1, MFMA_PINGPONG_SMALL_FP8);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_pingpong_small_f64(u64 => f64) = MFMA_PINGPONG_SMALL_F64 => blocks!(s14_mfma_pingpong, F64, Swizzle<8>, 4 x 2, 1 + 1, MFMA_PINGPONG_SMALL_F64);
    ["gfx950"] gemm_mfma_pingpong_lines_fp8(u8 => f32) = MFMA_PINGPONG_LINES_FP8 => lines!(Fp8, 4 x 2, 4 + 4, MFMA_PINGPONG_LINES_FP8);
    ["gfx950"] gemm_mfma_pingpong_small_lines_fp8(u8 => f32) = MFMA_PINGPONG_SMALL_LINES_FP8 => lines!(Fp8, 2 x 1, 2 + 2, MFMA_PINGPONG_SMALL_LINES_FP8);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_interleaved_f32(u32 => f32) = MFMA_INTERLEAVED_F32 => blocks!(s15_mfma_interleaved, F32, Swizzle<4>, 4 x 2, 4 + 2, MFMA_INTERLEAVED_F32);
    ["gfx942"] gemm_mfma_interleaved_xf32(u32 => f32) = MFMA_INTERLEAVED_XF32 => blocks!(s15_mfma_interleaved, Xf32, Swizzle<4>, 4 x 2, 4 + 2, MFMA_INTERLEAVED_XF32);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_interleaved_f16(u16 => f16) = MFMA_INTERLEAVED_F16 => blocks!(s15_mfma_interleaved, F16, Swizzle<2>, 4 x 2, 4 + 2, MFMA_INTERLEAVED_F16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_interleaved_bf16(u16 => Bf16) = MFMA_INTERLEAVED_BF16 => blocks!(s15_mfma_interleaved, Bfloat16, Swizzle<2>, 4 x 2, 4 + 2, MFMA_INTERLEAVED_BF16);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_interleaved_i8(u8 => i32) = MFMA_INTERLEAVED_I8 => blocks!(s15_mfma_interleaved, I8, Swizzle<1>, 4 x 2, 4 + 2, MFMA_INTERLEAVED_I8);
    ["gfx942"] gemm_mfma_interleaved_fp8_fnuz(u8 => f32) = MFMA_INTERLEAVED_FP8_FNUZ => blocks!(s15_mfma_interleaved, Fp8, Swizzle<1>, 4 x 2, 4 + 2, MFMA_INTERLEAVED_FP8_FNUZ);
    ["gfx950"] gemm_mfma_interleaved_fp8(u8 => f32) = MFMA_INTERLEAVED_FP8 => blocks!(s15_mfma_interleaved, Fp8, Swizzle<1>, 4 x 2, 4 + 2, MFMA_INTERLEAVED_FP8);
    ["gfx90a", "gfx942", "gfx950"] gemm_mfma_interleaved_f64(u64 => f64) = MFMA_INTERLEAVED_F64 => blocks!(s15_mfma_interleaved, F64, Swizzle<8>, 4 x 4, 2 + 2, MFMA_INTERLEAVED_F64);
    ["gfx90a", "gfx942", "gfx950"] gemm_split_k_f32(u32 => f32) = SPLIT_K_F32 => blocks!(s16_split_k, F32, Swizzle<4>, 2 x 2, 2 + 2, SPLIT_K_F32);
    ["gfx942"] gemm_split_k_xf32(u32 => f32) = SPLIT_K_XF32 => blocks!(s16_split_k, Xf32, Swizzle<4>, 2 x 2, 2 + 2, SPLIT_K_XF32);
    ["gfx90a", "gfx942", "gfx950"] gemm_split_k_f16(u16 => f16) = SPLIT_K_F16 => blocks!(s16_split_k, F16, Swizzle<2>, 2 x 2, 2 + 2, SPLIT_K_F16);
    ["gfx90a", "gfx942", "gfx950"] gemm_split_k_bf16(u16 => Bf16) = SPLIT_K_BF16 => blocks!(s16_split_k, Bfloat16, Swizzle<2>, 2 x 2, 2 + 2, SPLIT_K_BF16);
    ["gfx90a", "gfx942", "gfx950"] gemm_split_k_i8(u8 => i32) = SPLIT_K_I8 => blocks!(s16_split_k, I8, Swizzle<1>, 2 x 2, 2 + 2, SPLIT_K_I8);
    ["gfx942"] gemm_split_k_fp8_fnuz(u8 => f32) = SPLIT_K_FP8_FNUZ => blocks!(s16_split_k, Fp8, Swizzle<1>, 2 x 2, 2 + 2, SPLIT_K_FP8_FNUZ);
    ["gfx950"] gemm_split_k_fp8(u8 => f32) = SPLIT_K_FP8 => blocks!(s16_split_k, Fp8, Swizzle<1>, 2 x 2, 2 + 2, SPLIT_K_FP8);
    ["gfx90a", "gfx942", "gfx950"] gemm_split_k_f64(u64 => f64) = SPLIT_K_F64 => blocks!(s16_split_k, F64, Swizzle<8>, 4 x 4, 2 + 2, SPLIT_K_F64);
    ["gfx90a", "gfx942", "gfx950"] gemm_stream_k_f32(u32 => f32) = STREAM_K_F32 => blocks!(s17_stream_k, F32, Swizzle<4>, 2 x 2, 2 + 2, STREAM_K_F32);
    ["gfx942"] gemm_stream_k_xf32(u32 => f32) = STREAM_K_XF32 => blocks!(s17_stream_k, Xf32, Swizzle<4>, 2 x 2, 2 + 2, STREAM_K_XF32);
    ["gfx90a", "gfx942", "gfx950"] gemm_stream_k_f16(u16 => f16) = STREAM_K_F16 => blocks!(s17_stream_k, F16, Swizzle<2>, 2 x 2, 2 + 2, STREAM_K_F16);
    ["gfx90a", "gfx942", "gfx950"] gemm_stream_k_bf16(u16 => Bf16) = STREAM_K_BF16 => blocks!(s17_stream_k, Bfloat16, Swizzle<2>, 2 x 2, 2 + 2, STREAM_K_BF16);
    ["gfx90a", "gfx942", "gfx950"] gemm_stream_k_i8(u8 => i32) = STREAM_K_I8 => blocks!(s17_stream_k, I8, Swizzle<1>, 2 x 2, 2 + 2, STREAM_K_I8);
    ["gfx942"] gemm_stream_k_fp8_fnuz(u8 => f32) = STREAM_K_FP8_FNUZ => blocks!(s17_stream_k, Fp8, Swizzle<1>, 2 x 2, 2 + 2, STREAM_K_FP8_FNUZ);
    ["gfx950"] gemm_stream_k_fp8(u8 => f32) = STREAM_K_FP8 => blocks!(s17_stream_k, Fp8, Swizzle<1>, 2 x 2, 2 + 2, STREAM_K_FP8);
    ["gfx942", "gfx950"] gemm_stream_k_f64(u64 => f64) = STREAM_K_F64 => blocks!(s17_stream_k, F64, Swizzle<8>, 4 x 4, 2 + 2, STREAM_K_F64);
}

/// The crate has the kernels of the catalogue for its GPU, under its symbols and in its order.
const _: () = {
    let mut next = 0;
    let mut i = 0;
    while i < CATALOGUE.len() {
        if CATALOGUE[i].gpus.intersects(arch::GPU) {
            assert!(next < ENTRIES.len(), "a row of the catalogue has no kernel");
            let (symbol, row) = ENTRIES[next];
            assert!(
                same(symbol, row.symbol),
                "a kernel must have the symbol of its row"
            );
            assert!(
                same(symbol, CATALOGUE[i].symbol),
                "kernels must stand in the catalogue's order"
            );
            next += 1;
        }
        i += 1;
    }
    assert!(
        next == ENTRIES.len(),
        "a kernel is built for a GPU that its row has not"
    );
    // The pointers, then the parameters: what the entry points take.
    assert!(core::mem::offset_of!(GemmArguments, parameters) == 40);
};

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut i = 0;
    while i < left.len() {
        if left[i] != right[i] {
            return false;
        }
        i += 1;
    }
    true
}
