//! The list of kernels.

/// Expands the macro `$make` with all kernels, in the order of the ladder.
///
/// `vector` are the kernels of steps 1 to 5, in f32 and for all GPUs, and `matrix` those of steps 6 to 10, in f32 and for
/// CDNA: symbol and row in [`catalogue`](crate::catalogue). `dual` are those of the same steps as `vector` for the GPUs with
/// dual instructions and registers for them: symbol, row and GPUs. `blocks` are those from step 11 on: symbol, step, element types
/// and GPUs; those of RDNA come last. The catalogue's rows and the device crate's entry points are both made from this list.
#[macro_export]
macro_rules! for_each_kernel {
    ($make:ident) => {
        $make! {
            vector {
                gemm_naive_f32: NAIVE_F32;
                gemm_lds_tiled_f32: LDS_TILED_F32;
                gemm_register_tiled_f32: REGISTER_TILED_F32;
                gemm_register_tiled_8x8_f32: REGISTER_TILED_8X8_F32;
                gemm_vectorized_f32: VECTORIZED_F32;
                gemm_double_buffered_f32: DOUBLE_BUFFERED_F32;
            }
            dual {
                gemm_double_buffered_16x8_f32: DOUBLE_BUFFERED_16X8_F32, ["gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201"];
            }
            matrix {
                gemm_mfma_uncached_f32: MFMA_UNCACHED_F32;
                gemm_mfma_lds_f32: MFMA_LDS_F32;
                gemm_mfma_double_buffered_f32: MFMA_DOUBLE_BUFFERED_F32;
                gemm_mfma_fragment_f32: MFMA_FRAGMENT_F32;
                gemm_mfma_block_order_f32: MFMA_BLOCK_ORDER_F32;
                gemm_mfma_pass_order_f32: MFMA_PASS_ORDER_F32;
            }
            blocks {
                gemm_mfma_wide_f32: WIDE, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_wide_xf32: WIDE, XF32, ["gfx942"];
                gemm_mfma_wide_f16: WIDE, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_wide_bf16: WIDE, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_wide_i8: WIDE, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_wide_fp8_fnuz: WIDE, FP8_FNUZ, ["gfx942"];
                gemm_mfma_wide_fp8: WIDE, FP8, ["gfx950"];
                gemm_mfma_wide_mxfp8: WIDE, MXFP8, ["gfx950"];
                gemm_mfma_wide_mxbf8: WIDE, MXBF8, ["gfx950"];
                gemm_mfma_wide_mxfp4: WIDE, MXFP4, ["gfx950"];
                gemm_mfma_wide_f64: WIDE, F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_mfma_swizzled_f32: SWIZZLED, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_swizzled_xf32: SWIZZLED, XF32, ["gfx942"];
                gemm_mfma_swizzled_f16: SWIZZLED, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_swizzled_bf16: SWIZZLED, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_swizzled_i8: SWIZZLED, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_swizzled_fp8_fnuz: SWIZZLED, FP8_FNUZ, ["gfx942"];
                gemm_mfma_swizzled_fp8: SWIZZLED, FP8, ["gfx950"];
                gemm_mfma_swizzled_mxfp8: SWIZZLED, MXFP8, ["gfx950"];
                gemm_mfma_swizzled_mxbf8: SWIZZLED, MXBF8, ["gfx950"];
                gemm_mfma_swizzled_mxfp4: SWIZZLED, MXFP4, ["gfx950"];
                gemm_mfma_swizzled_f64: SWIZZLED, F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_mfma_direct_to_lds_f32: DIRECT_TO_LDS, F32, ["gfx950"];
                gemm_mfma_direct_to_lds_f16: DIRECT_TO_LDS, F16, ["gfx950"];
                gemm_mfma_direct_to_lds_bf16: DIRECT_TO_LDS, BF16, ["gfx950"];
                gemm_mfma_direct_to_lds_i8: DIRECT_TO_LDS, I8, ["gfx950"];
                gemm_mfma_direct_to_lds_fp8: DIRECT_TO_LDS, FP8, ["gfx950"];
                gemm_mfma_direct_to_lds_f64: DIRECT_TO_LDS.one_wave(), F64, ["gfx950"];
                gemm_mfma_pingpong_f32: PINGPONG, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_xf32: PINGPONG, XF32, ["gfx942"];
                gemm_mfma_pingpong_f16: PINGPONG, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_bf16: PINGPONG, BF16, ["gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_i8: PINGPONG, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_fp8_fnuz: PINGPONG, FP8_FNUZ, ["gfx942"];
                gemm_mfma_pingpong_fp8: PINGPONG, FP8, ["gfx950"];
                gemm_mfma_pingpong_f64: PINGPONG.half_the_rows(), F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_small_f32: PINGPONG_SMALL, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_small_xf32: PINGPONG_SMALL, XF32, ["gfx942"];
                gemm_mfma_pingpong_small_f16: PINGPONG_SMALL, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_small_bf16: PINGPONG_SMALL, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_small_i8: PINGPONG_SMALL, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_small_fp8_fnuz: PINGPONG_SMALL, FP8_FNUZ, ["gfx942"];
                gemm_mfma_pingpong_small_fp8: PINGPONG_SMALL, FP8, ["gfx950"];
                gemm_mfma_pingpong_small_f64: PINGPONG_SMALL, F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_lines_f16: PINGPONG_LINES, F16, ["gfx950"];
                gemm_mfma_pingpong_lines_bf16: PINGPONG_LINES, BF16, ["gfx950"];
                gemm_mfma_pingpong_lines_i8: PINGPONG_LINES, I8, ["gfx950"];
                gemm_mfma_pingpong_lines_fp8: PINGPONG_LINES, FP8, ["gfx950"];
                gemm_mfma_pingpong_lines_mxfp8: PINGPONG_LINES, MXFP8, ["gfx950"];
                gemm_mfma_pingpong_lines_mxbf8: PINGPONG_LINES, MXBF8, ["gfx950"];
                gemm_mfma_pingpong_lines_mxfp6: PINGPONG_SIX_BITS, MXFP6, ["gfx950"];
                gemm_mfma_pingpong_lines_mxbf6: PINGPONG_SIX_BITS, MXBF6, ["gfx950"];
                gemm_mfma_pingpong_lines_mxfp4: PINGPONG_LINES, MXFP4, ["gfx950"];
                gemm_mfma_pingpong_small_lines_f16: PINGPONG_SMALL_LINES, F16, ["gfx950"];
                gemm_mfma_pingpong_small_lines_bf16: PINGPONG_SMALL_LINES, BF16, ["gfx950"];
                gemm_mfma_pingpong_small_lines_i8: PINGPONG_SMALL_LINES, I8, ["gfx950"];
                gemm_mfma_pingpong_small_lines_fp8: PINGPONG_SMALL_LINES, FP8, ["gfx950"];
                gemm_mfma_pingpong_small_lines_mxfp8: PINGPONG_SMALL_LINES, MXFP8, ["gfx950"];
                gemm_mfma_pingpong_small_lines_mxbf8: PINGPONG_SMALL_LINES, MXBF8, ["gfx950"];
                gemm_mfma_pingpong_small_lines_mxfp6: PINGPONG_SMALL_SIX_BITS, MXFP6, ["gfx950"];
                gemm_mfma_pingpong_small_lines_mxbf6: PINGPONG_SMALL_SIX_BITS, MXBF6, ["gfx950"];
                gemm_mfma_pingpong_small_lines_mxfp4: PINGPONG_SMALL_LINES, MXFP4, ["gfx950"];
                gemm_mfma_pingpong_160x256_f32: PINGPONG_160X256, F32, ["gfx908", "gfx90a"];
                gemm_mfma_pingpong_160x256_f16: PINGPONG_160X256, F16, ["gfx908", "gfx90a"];
                gemm_mfma_pingpong_160x256_bf16: PINGPONG_160X256, BF16, ["gfx908", "gfx90a"];
                gemm_mfma_pingpong_160x256_i8: PINGPONG_160X256, I8, ["gfx908", "gfx90a"];
                gemm_mfma_pingpong_224x256_xf32: PINGPONG_224X256, XF32, ["gfx942"];
                gemm_mfma_pingpong_224x256_f16: PINGPONG_224X256, F16, ["gfx942"];
                gemm_mfma_pingpong_224x256_bf16: PINGPONG_224X256, BF16, ["gfx942"];
                gemm_mfma_interleaved_f32: INTERLEAVED, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_interleaved_xf32: INTERLEAVED, XF32, ["gfx942"];
                gemm_mfma_interleaved_f16: INTERLEAVED, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_interleaved_bf16: INTERLEAVED, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_interleaved_i8: INTERLEAVED, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_mfma_interleaved_fp8_fnuz: INTERLEAVED, FP8_FNUZ, ["gfx942"];
                gemm_mfma_interleaved_fp8: INTERLEAVED, FP8, ["gfx950"];
                gemm_mfma_interleaved_f64: INTERLEAVED.half_the_rows(), F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_split_k_f32: SPLIT_K, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_xf32: SPLIT_K, XF32, ["gfx942"];
                gemm_split_k_f16: SPLIT_K, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_bf16: SPLIT_K, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_i8: SPLIT_K, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_fp8_fnuz: SPLIT_K, FP8_FNUZ, ["gfx942"];
                gemm_split_k_fp8: SPLIT_K, FP8, ["gfx950"];
                gemm_split_k_f64: SPLIT_K.one_wave(), F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_stream_k_f32: STREAM_K, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_stream_k_xf32: STREAM_K, XF32, ["gfx942"];
                gemm_stream_k_f16: STREAM_K, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_stream_k_bf16: STREAM_K, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_stream_k_i8: STREAM_K, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_stream_k_fp8_fnuz: STREAM_K, FP8_FNUZ, ["gfx942"];
                gemm_stream_k_fp8: STREAM_K.one_wave(), FP8, ["gfx950"];
                gemm_stream_k_f64: STREAM_K.one_wave(), F64, ["gfx942", "gfx950"];
                gemm_split_k_64x64_f32: SPLIT_K_64X64, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_64x64_xf32: SPLIT_K_64X64, XF32, ["gfx942"];
                gemm_split_k_64x64_f16: SPLIT_K_64X64, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_64x64_bf16: SPLIT_K_64X64, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_64x64_i8: SPLIT_K_64X64, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_64x64_fp8_fnuz: SPLIT_K_64X64, FP8_FNUZ, ["gfx942"];
                gemm_split_k_64x64_fp8: SPLIT_K_64X64_LINES, FP8, ["gfx950"];
                gemm_split_k_64x64_f64: SPLIT_K_64X64, F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_split_k_32x64_f32: SPLIT_K_32X64, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_32x64_f16: SPLIT_K_32X64, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_32x64_bf16: SPLIT_K_32X64, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_32x32_f32: SPLIT_K_32X32, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_32x32_f16: SPLIT_K_32X32, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_32x32_bf16: SPLIT_K_32X32, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_32x32_i8: SPLIT_K_32X32, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_split_k_32x32_f64: SPLIT_K_32X32, F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_split_k_80x128_f32: SPLIT_K_80X128, F32, ["gfx90a"];
                gemm_split_k_80x128_f16: SPLIT_K_80X128, F16, ["gfx90a"];
                gemm_split_k_80x128_bf16: SPLIT_K_80X128, BF16, ["gfx90a"];
                gemm_split_k_80x128_i8: SPLIT_K_80X128, I8, ["gfx90a"];
                gemm_direct_to_vgpr_f32: DIRECT_TO_VGPR, F32, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_direct_to_vgpr_f16: DIRECT_TO_VGPR, F16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_direct_to_vgpr_bf16: DIRECT_TO_VGPR, BF16, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_direct_to_vgpr_i8: DIRECT_TO_VGPR, I8, ["gfx908", "gfx90a", "gfx942", "gfx950"];
                gemm_direct_to_vgpr_fp8_fnuz: DIRECT_TO_VGPR, FP8_FNUZ, ["gfx942"];
                gemm_direct_to_vgpr_fp8: DIRECT_TO_VGPR, FP8, ["gfx950"];
                gemm_direct_to_vgpr_f64: DIRECT_TO_VGPR, F64, ["gfx90a", "gfx942", "gfx950"];
                gemm_mfma_pingpong_lines_sparse_f16: PINGPONG_LINES.half_the_line(), SPARSE_F16, ["gfx950"];
                gemm_mfma_pingpong_lines_sparse_bf16: PINGPONG_LINES.half_the_line(), SPARSE_BF16, ["gfx950"];
                gemm_mfma_pingpong_lines_sparse_i8: PINGPONG_LINES.half_the_line(), SPARSE_I8, ["gfx950"];
                gemm_mfma_pingpong_lines_sparse_fp8: PINGPONG_LINES.half_the_line(), SPARSE_FP8, ["gfx950"];
                gemm_mfma_interleaved_sparse_f16: INTERLEAVED, SPARSE_F16, ["gfx942"];
                gemm_mfma_interleaved_sparse_bf16: INTERLEAVED, SPARSE_BF16, ["gfx942"];
                gemm_mfma_interleaved_sparse_i8: INTERLEAVED, SPARSE_I8, ["gfx942"];
                gemm_mfma_interleaved_sparse_fp8_fnuz: INTERLEAVED, SPARSE_FP8_FNUZ, ["gfx942"];
                gemm_split_k_sparse_f16: SPLIT_K, SPARSE_F16, ["gfx942", "gfx950"];
                gemm_split_k_sparse_bf16: SPLIT_K, SPARSE_BF16, ["gfx942", "gfx950"];
                gemm_split_k_sparse_i8: SPLIT_K, SPARSE_I8, ["gfx942", "gfx950"];
                gemm_split_k_sparse_fp8_fnuz: SPLIT_K, SPARSE_FP8_FNUZ, ["gfx942"];
                gemm_split_k_sparse_fp8: SPLIT_K, SPARSE_FP8, ["gfx950"];
                gemm_split_k_64x64_sparse_f16: SPLIT_K_64X64, SPARSE_F16, ["gfx942"];
                gemm_split_k_64x64_sparse_bf16: SPLIT_K_64X64, SPARSE_BF16, ["gfx942"];
                gemm_split_k_64x64_sparse_i8: SPLIT_K_64X64, SPARSE_I8, ["gfx942"];
                gemm_split_k_64x64_sparse_fp8_fnuz: SPLIT_K_64X64, SPARSE_FP8_FNUZ, ["gfx942"];
                gemm_wmma_wide_f16: WMMA_WIDE, F16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_wide_bf16: WMMA_WIDE, BF16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_wide_i8: WMMA_WIDE, I8, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_wide_fp8: WMMA_WIDE, FP8, ["gfx1200", "gfx1201"];
                gemm_wmma_wide_bf8: WMMA_WIDE, BF8, ["gfx1200", "gfx1201"];
                gemm_wmma_swizzled_f16: WMMA_SWIZZLED, F16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_swizzled_bf16: WMMA_SWIZZLED, BF16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_swizzled_i8: WMMA_SWIZZLED, I8, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_swizzled_fp8: WMMA_SWIZZLED, FP8, ["gfx1200", "gfx1201"];
                gemm_wmma_swizzled_bf8: WMMA_SWIZZLED, BF8, ["gfx1200", "gfx1201"];
                gemm_wmma_interleaved_f16: WMMA_INTERLEAVED, F16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_interleaved_bf16: WMMA_INTERLEAVED, BF16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_interleaved_i8: WMMA_INTERLEAVED, I8, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_interleaved_fp8: WMMA_INTERLEAVED, FP8, ["gfx1200", "gfx1201"];
                gemm_wmma_interleaved_bf8: WMMA_INTERLEAVED, BF8, ["gfx1200", "gfx1201"];
                gemm_wmma_split_k_f16: WMMA_SPLIT_K, F16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_bf16: WMMA_SPLIT_K, BF16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_i8: WMMA_SPLIT_K, I8, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_fp8: WMMA_SPLIT_K, FP8, ["gfx1200", "gfx1201"];
                gemm_wmma_split_k_bf8: WMMA_SPLIT_K, BF8, ["gfx1200", "gfx1201"];
                gemm_wmma_split_k_64x64_f16: WMMA_SPLIT_K_64X64, F16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_64x64_bf16: WMMA_SPLIT_K_64X64, BF16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_64x64_i8: WMMA_SPLIT_K_64X64, I8, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_64x64_fp8: WMMA_SPLIT_K_64X64, FP8, ["gfx1200", "gfx1201"];
                gemm_wmma_split_k_64x64_bf8: WMMA_SPLIT_K_64X64, BF8, ["gfx1200", "gfx1201"];
                gemm_wmma_split_k_32x64_f16: WMMA_SPLIT_K_32X64, F16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_32x64_bf16: WMMA_SPLIT_K_32X64, BF16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_32x32_f16: WMMA_SPLIT_K_32X32, F16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_32x32_bf16: WMMA_SPLIT_K_32X32, BF16, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_32x32_i8: WMMA_SPLIT_K_32X32, I8, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_wmma_split_k_32x32_fp8: WMMA_SPLIT_K_32X32, FP8, ["gfx1200", "gfx1201"];
                gemm_wmma_split_k_32x32_bf8: WMMA_SPLIT_K_32X32, BF8, ["gfx1200", "gfx1201"];
                gemm_fma_split_k_64x64_f32: FMA_SPLIT_K_64X64, F32, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
                gemm_fma_split_k_32x32_f32: FMA_SPLIT_K_32X32, F32, ["gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"];
            }
        }
    };
}
