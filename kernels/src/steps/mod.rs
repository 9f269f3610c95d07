//! The kernels, numbered by their steps of the ladder (`docs/ladder.md`). From step 6 on they use the
//! matrix cores.

mod block_gemm;
mod product;
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
mod s11_mfma_wide;
mod s12_mfma_swizzled;
#[cfg(ferrowave_gpu = "gfx950")]
mod s13_mfma_direct_to_lds;
mod s14_mfma_pingpong;
#[cfg(ferrowave_gpu = "gfx950")]
mod s14_mfma_pingpong_lines;
#[cfg(ferrowave_gpu = "gfx950")]
mod s14_mfma_pingpong_six_bits;
mod s15_mfma_interleaved;
mod s16_split_k;
mod s17_stream_k;
#[cfg(ferrowave_family = "cdna")]
mod s18_direct_to_vgpr;
mod uncached;

use crate::{
    arch::LDS_BANKS,
    matrix::{self, Multiply},
    tile::{length::Len, operand::RowMajor},
};
use block_gemm::{Config, Element, Output, Shares};
use core::{mem::offset_of, ptr::null};
use ferrowave_shared::{
    GemmArguments, GemmParameters, Kernel, ScaleParameters, ScaledGemmArguments, for_each_kernel,
    tile::LANES,
};
use product::{Pointers, Product};
use s12_mfma_swizzled::Swizzled;

/// The layout of no scales.
const NO_SCALES: ScaleParameters = ScaleParameters {
    stride_a: 0,
    stride_b: 0,
};

/// Makes a kernel's entry point: its symbol in the code object, its arguments with the layout of [`GemmArguments`], or of
/// [`ScaledGemmArguments`] with the arguments in brackets, and the call of the step. The parentheses contain the element
/// types of A and B, and of C.
macro_rules! entry {
    ($symbol:ident($input:ty => $output:ty) => $run:expr) => {
        entry!($symbol($input => $output)[] scales(null(), null(), NO_SCALES) => $run);
    };
    (
        $symbol:ident($input:ty => $output:ty)[$($name:ident: $type:ty),*]
        scales($scale_a:expr, $scale_b:expr, $scales:expr) => $run:expr
    ) => {
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
            amax: *mut u32,
            input: *mut $output,
            parameters: GemmParameters,
            $($name: $type,)*
        ) {
            const ROW: Kernel = Kernel::named(stringify!($symbol));
            // SAFETY: the host launches kernels as `GemmArguments` and the row promise.
            unsafe {
                let pointers = Pointers {
                    a,
                    b,
                    c,
                    bias,
                    workspace,
                    amax,
                    input,
                    scale_a: $scale_a,
                    scale_b: $scale_b,
                };
                let product = Product::of_workgroup(pointers, parameters, $scales, &ROW);
                if product.has_tile() {
                    $run(product);
                }
            }
        }
    };
}

/// The first tokens for types with a sparse A, the second for all others.
macro_rules! if_sparse {
    (SPARSE_F16 { $($sparse:tt)* } { $($dense:tt)* }) => { $($sparse)* };
    (SPARSE_BF16 { $($sparse:tt)* } { $($dense:tt)* }) => { $($sparse)* };
    (SPARSE_I8 { $($sparse:tt)* } { $($dense:tt)* }) => { $($sparse)* };
    (SPARSE_FP8 { $($sparse:tt)* } { $($dense:tt)* }) => { $($sparse)* };
    (SPARSE_FP8_FNUZ { $($sparse:tt)* } { $($dense:tt)* }) => { $($sparse)* };
    ($types:ident { $($sparse:tt)* } { $($dense:tt)* }) => { $($dense)* };
}

/// The entry point of a kernel from step 11 on: the types decide whether it has scales or indices.
macro_rules! block_entry {
    (MXFP8, $($entry:tt)*) => {
        block_entry!(scaled, $($entry)*);
    };
    (MXBF8, $($entry:tt)*) => {
        block_entry!(scaled, $($entry)*);
    };
    (MXFP8_MXBF8, $($entry:tt)*) => {
        block_entry!(scaled, $($entry)*);
    };
    (MXBF8_MXFP8, $($entry:tt)*) => {
        block_entry!(scaled, $($entry)*);
    };
    (MXBF6, $($entry:tt)*) => {
        block_entry!(scaled, $($entry)*);
    };
    (MXFP6, $($entry:tt)*) => {
        block_entry!(scaled, $($entry)*);
    };
    (MXFP4, $($entry:tt)*) => {
        block_entry!(scaled, $($entry)*);
    };
    (sparse, $symbol:ident($input:ty => $output:ty) => $run:expr) => {
        entry!(
            $symbol($input => $output)
            [indices: *const u8, _scale_b: *const u8, scales: ScaleParameters]
            scales(indices, null(), scales) => $run
        );
    };
    (scaled, $symbol:ident($input:ty => $output:ty) => $run:expr) => {
        entry!(
            $symbol($input => $output)
            [scale_a: *const u8, scale_b: *const u8, scales: ScaleParameters]
            scales(scale_a, scale_b, scales) => $run
        );
    };
    ($types:ident, $($entry:tt)*) => {
        if_sparse! { $types { block_entry!(sparse, $($entry)*); } { entry!($($entry)*); } }
    };
}

/// Compiles an item in the part that has the kernels of these element types, and where the crate is compiled as a whole. The
/// compiler takes about as long for each of the two parts.
macro_rules! of_part {
    (F32 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (XF32 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (F64 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (I8 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (MXFP8 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (MXBF8 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (MXFP8_MXBF8 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (MXBF8_MXFP8 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (MXBF6 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (MXFP6 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    (MXFP4 $item:item) => {
        #[cfg(not(ferrowave_part = "1"))]
        $item
    };
    ($types:ident $item:item) => {
        if_sparse! {
            $types
            {
                #[cfg(not(ferrowave_part = "1"))]
                $item
            }
            {
                #[cfg(not(ferrowave_part = "0"))]
                $item
            }
        }
    };
}

/// Makes the entry points of the kernels that the list has for this GPU, and the [`Config`] of each kernel from step 11
/// on.
macro_rules! entries {
    (
        vector { $($vector:ident: $vector_row:ident;)* }
        dual { $($dual:ident: $dual_row:ident, [$($dual_gpu:tt),*];)* }
        matrix { $($matrix:ident: $matrix_row:ident;)* }
        blocks { $($symbol:ident: $step:ident $(.$change:ident())?, $types:ident, [$($gpu:tt),*];)* }
    ) => {
        $(of_part! { F32 entry!($vector(f32 => f32) => step!($vector_row)); })*
        $(
            #[cfg(any($(ferrowave_gpu = $dual_gpu),*))]
            of_part! { F32 entry!($dual(f32 => f32) => step!($dual_row)); }
        )*
        $(
            #[cfg(ferrowave_family = "cdna")]
            of_part! { F32 entry!($matrix(f32 => f32) => step!($matrix_row)); }
        )*
        $(
            #[cfg(any($(ferrowave_gpu = $gpu),*))]
            of_part! { $types const _: () = {
                type Instruction = instruction!($step, $types);
                type Layout = if_sparse! {
                    $types
                    {
                        Swizzled<
                            { size_of::<<Instruction as Multiply>::Element>() },
                            { LDS_BANKS },
                            { <Instruction as Multiply>::READERS },
                        >
                    }
                    {
                        layout!(
                            $step,
                            size_of::<<Instruction as Multiply>::Element>(),
                            <Instruction as Multiply>::READERS
                        )
                    }
                };
                // Rows of B have twice the bytes of those of a sparse A.
                type LayoutB = if_sparse! {
                    $types
                    {
                        Swizzled<
                            { size_of::<<Instruction as Multiply>::Element>() },
                            { LDS_BANKS },
                            { <Instruction as Multiply>::READERS },
                            8,
                        >
                    }
                    { Layout }
                };
                const SHARES: Shares =
                    Shares::of::<Instruction, Layout, LayoutB>(&Kernel::named(stringify!($symbol)));

                #[derive(Clone, Copy)]
                struct Row;

                impl Config for Row {
                    type Multiply = Instruction;
                    type Layout = Layout;
                    type LayoutB = LayoutB;
                    type M = Len<{ SHARES.m }>;
                    type N = Len<{ SHARES.n }>;
                    type AVecs = Len<{ SHARES.a_vecs }>;
                    type BVecs = Len<{ SHARES.b_vecs }>;
                    const BESIDE: usize = SHARES.beside;
                    const LDS_ROWS: (usize, usize) = SHARES.lds_rows;
                    const STORING: (usize, usize) = SHARES.storing;
                    const IS_PADDED: bool = SHARES.is_padded;
                    type Scales = Len<{ SHARES.scales }>;
                    const SCALE_PIECE: usize = SHARES.scale_piece;
                    type Indices = Len<{ SHARES.indices }>;
                }

                block_entry!($types, $symbol(Element<Row> => Output<Row>) => step!($step, Row));
            }; }
        )*
    };
}

/// The function of a row of steps 1 to 10, or of a step from 11 on with its configuration.
macro_rules! step {
    (NAIVE_F32) => {
        s01_naive::run
    };
    (LDS_TILED_F32) => {
        s02_lds_tiled::run
    };
    (REGISTER_TILED_F32) => {
        s03_register_tiled::run_4x4
    };
    (REGISTER_TILED_8X8_F32) => {
        s03_register_tiled::run_8x8
    };
    (VECTORIZED_F32) => {
        s04_vectorized::run
    };
    (DOUBLE_BUFFERED_F32) => {
        s05_double_buffered::run_8x8
    };
    (DOUBLE_BUFFERED_16X8_F32) => {
        s05_double_buffered::run_16x8
    };
    (MFMA_UNCACHED_F32) => {
        s06_mfma_uncached::run
    };
    (MFMA_LDS_F32) => {
        s07_mfma_lds::run
    };
    (MFMA_DOUBLE_BUFFERED_F32) => {
        s08_mfma_double_buffered::run
    };
    (MFMA_FRAGMENT_F32) => {
        s09_mfma_fragment::run
    };
    (MFMA_BLOCK_ORDER_F32) => {
        s10_mfma_blocks::run_block_order
    };
    (MFMA_PASS_ORDER_F32) => {
        s10_mfma_blocks::run_pass_order
    };
    (WIDE, $row:ty) => {
        s11_mfma_wide::run::<$row>
    };
    // Step 12 changes the layout only.
    (SWIZZLED, $row:ty) => {
        s11_mfma_wide::run::<$row>
    };
    (DIRECT_TO_LDS, $row:ty) => {
        s13_mfma_direct_to_lds::run::<$row>
    };
    (PINGPONG, $row:ty) => {
        s14_mfma_pingpong::run::<$row>
    };
    (PINGPONG_SMALL, $row:ty) => {
        s14_mfma_pingpong::run::<$row>
    };
    // Other tiles of step 14.
    (PINGPONG_160X256, $row:ty) => {
        s14_mfma_pingpong::run::<$row>
    };
    (PINGPONG_224X256, $row:ty) => {
        s14_mfma_pingpong::run::<$row>
    };
    (PINGPONG_LINES, $row:ty) => {
        s14_mfma_pingpong_lines::run::<$row>
    };
    (PINGPONG_SMALL_LINES, $row:ty) => {
        s14_mfma_pingpong_lines::run::<$row>
    };
    (PINGPONG_SIX_BITS, $row:ty) => {
        s14_mfma_pingpong_six_bits::run::<$row>
    };
    (PINGPONG_SMALL_SIX_BITS, $row:ty) => {
        s14_mfma_pingpong_six_bits::run::<$row>
    };
    (INTERLEAVED, $row:ty) => {
        s15_mfma_interleaved::run::<$row>
    };
    (SPLIT_K, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (STREAM_K, $row:ty) => {
        s17_stream_k::run::<$row>
    };
    // Other tiles of step 16.
    (SPLIT_K_64X64, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (SPLIT_K_64X64_LINES, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (SPLIT_K_32X64, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (SPLIT_K_32X32, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (SPLIT_K_80X128, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (DIRECT_TO_VGPR, $row:ty) => {
        s18_direct_to_vgpr::run::<$row>
    };
    // The same steps on RDNA, in waves of 32 lanes.
    (WMMA_WIDE, $row:ty) => {
        s11_mfma_wide::run::<$row>
    };
    (WMMA_SWIZZLED, $row:ty) => {
        s11_mfma_wide::run::<$row>
    };
    (WMMA_INTERLEAVED, $row:ty) => {
        s15_mfma_interleaved::run::<$row>
    };
    (WMMA_SPLIT_K, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (WMMA_SPLIT_K_64X64, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (WMMA_SPLIT_K_32X64, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (WMMA_SPLIT_K_32X32, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (FMA_SPLIT_K_64X64, $row:ty) => {
        s16_split_k::run::<$row>
    };
    (FMA_SPLIT_K_32X32, $row:ty) => {
        s16_split_k::run::<$row>
    };
}

/// The LDS layout of a step from 11 on, for elements of `$size` bytes of which `$readers` lanes read the same unit.
macro_rules! layout {
    (WIDE, $size:expr, $readers:expr) => { RowMajor };
    (WMMA_WIDE, $size:expr, $readers:expr) => { RowMajor };
    (DIRECT_TO_VGPR, $size:expr, $readers:expr) => { RowMajor };
    // Six-bit elements have a layout of their own.
    (PINGPONG_SIX_BITS, $size:expr, $readers:expr) => { RowMajor };
    (PINGPONG_SMALL_SIX_BITS, $size:expr, $readers:expr) => { RowMajor };
    (PINGPONG_LINES, $size:expr, $readers:expr) => {
        Swizzled<{ $size }, { LDS_BANKS }, { $readers }, 8>
    };
    (PINGPONG_SMALL_LINES, $size:expr, $readers:expr) => {
        Swizzled<{ $size }, { LDS_BANKS }, { $readers }, 8>
    };
    (SPLIT_K_64X64_LINES, $size:expr, $readers:expr) => {
        Swizzled<{ $size }, { LDS_BANKS }, { $readers }, 8>
    };
    (SPLIT_K_32X32, $size:expr, $readers:expr) => {
        Swizzled<{ $size }, { LDS_BANKS }, { $readers }, 8>
    };
    (WMMA_SPLIT_K_32X32, $size:expr, $readers:expr) => {
        Swizzled<{ $size }, { LDS_BANKS }, { $readers }, 8>
    };
    ($step:ident, $size:expr, $readers:expr) => {
        Swizzled<{ $size }, { LDS_BANKS }, { $readers }>
    };
}

/// The matrix instruction of a step for element types.
macro_rules! instruction {
    // 80 rows are 5 blocks of 16.
    (SPLIT_K_80X128, F32) => {
        matrix::F32By16
    };
    (SPLIT_K_80X128, F16) => {
        matrix::F16By16
    };
    (SPLIT_K_80X128, BF16) => {
        matrix::Bfloat16By16
    };
    (SPLIT_K_80X128, I8) => {
        matrix::I8By16
    };
    // Four waves share the sums of a small tile.
    (SPLIT_K_64X64, F16) => {
        matrix::F16Of64x64
    };
    (SPLIT_K_64X64, BF16) => {
        matrix::Bfloat16Of64x64
    };
    (SPLIT_K_64X64, I8) => {
        matrix::I8Of64x64
    };
    (SPLIT_K_64X64, FP8_FNUZ) => {
        matrix::Fp8By16
    };
    (SPLIT_K_64X64, BF8_FNUZ) => {
        matrix::Bf8By16
    };
    (SPLIT_K_64X64, FP8_BF8_FNUZ) => {
        matrix::Fp8Bf8By16
    };
    (SPLIT_K_64X64, BF8_FP8_FNUZ) => {
        matrix::Bf8Fp8By16
    };
    (SPLIT_K_32X64, F32) => {
        matrix::F32By16
    };
    (SPLIT_K_32X64, F16) => {
        matrix::F16By16
    };
    (SPLIT_K_32X64, BF16) => {
        matrix::Bfloat16By16
    };
    (SPLIT_K_32X32, F32) => {
        matrix::F32By16
    };
    (SPLIT_K_32X32, F16) => {
        matrix::F16By16
    };
    (SPLIT_K_32X32, BF16) => {
        matrix::Bfloat16By16
    };
    (SPLIT_K_32X32, I8) => {
        matrix::I8By16
    };
    (DIRECT_TO_VGPR, F32) => {
        matrix::F32By16
    };
    (DIRECT_TO_VGPR, F16) => {
        matrix::F16By16
    };
    (DIRECT_TO_VGPR, BF16) => {
        matrix::Bfloat16By16
    };
    (DIRECT_TO_VGPR, I8) => {
        matrix::I8By16
    };
    (DIRECT_TO_VGPR, FP8_FNUZ) => {
        matrix::Fp8By16
    };
    (DIRECT_TO_VGPR, FP8) => {
        matrix::Fp8By16
    };
    ($step:ident, F32) => {
        matrix::F32
    };
    ($step:ident, XF32) => {
        matrix::Xf32
    };
    ($step:ident, F16) => {
        matrix::F16
    };
    ($step:ident, BF16) => {
        matrix::Bfloat16
    };
    ($step:ident, I8) => {
        matrix::I8
    };
    ($step:ident, FP8_FNUZ) => {
        matrix::Fp8
    };
    ($step:ident, FP8) => {
        matrix::Fp8
    };
    ($step:ident, BF8) => {
        matrix::Bf8
    };
    ($step:ident, BF8_FNUZ) => {
        matrix::Bf8
    };
    ($step:ident, FP8_BF8) => {
        matrix::Fp8Bf8
    };
    ($step:ident, FP8_BF8_FNUZ) => {
        matrix::Fp8Bf8
    };
    ($step:ident, BF8_FP8) => {
        matrix::Bf8Fp8
    };
    ($step:ident, BF8_FP8_FNUZ) => {
        matrix::Bf8Fp8
    };
    ($step:ident, MXFP8) => {
        matrix::Mxfp8
    };
    ($step:ident, MXBF8) => {
        matrix::Mxbf8
    };
    ($step:ident, MXFP8_MXBF8) => {
        matrix::Mxfp8Mxbf8
    };
    ($step:ident, MXBF8_MXFP8) => {
        matrix::Mxbf8Mxfp8
    };
    ($step:ident, MXBF6) => {
        matrix::Mxbf6
    };
    ($step:ident, MXFP6) => {
        matrix::Mxfp6
    };
    ($step:ident, MXFP4) => {
        matrix::Mxfp4
    };
    ($step:ident, SPARSE_F16) => {
        matrix::SparseF16
    };
    ($step:ident, SPARSE_BF16) => {
        matrix::SparseBfloat16
    };
    ($step:ident, SPARSE_I8) => {
        matrix::SparseI8
    };
    ($step:ident, SPARSE_FP8) => {
        matrix::SparseFp8
    };
    ($step:ident, SPARSE_FP8_FNUZ) => {
        matrix::SparseFp8
    };
    ($step:ident, F64) => {
        matrix::F64
    };
}

for_each_kernel!(entries);

// The entry points take seven pointers, then the parameters.
const _: () = assert!(offset_of!(GemmArguments, parameters) == 56);
const _: () = assert!(offset_of!(ScaledGemmArguments, scales) == size_of::<GemmArguments>() + 16);
const _: () = assert!(LANES == crate::tile::index::LANES);
