//! The kernel catalogue: for each kernel its types, tile, block, LDS, tile order and GPUs.

use crate::{
    BlockShape, BlockTile, ElementType, ElementTypes, GpuSet, TileOrder,
    element::SCALE_BLOCK,
    for_each_kernel, six_bits,
    tile::{LANES, UNIT_BYTES, lds_rows},
};

/// The GPUs that have kernels.
pub const fn gpus_with_kernels() -> GpuSet {
    let mut gpus = GpuSet::NONE;
    let mut kernel = 0;
    while kernel < CATALOGUE.len() {
        gpus = gpus.union(CATALOGUE[kernel].gpus);
        kernel += 1;
    }
    gpus
}

/// A kernel's algorithm: its step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// One thread per element of C; A and B are read from global memory.
    Naive,
    /// Tiles of A and B pass through LDS.
    LdsTiled,
    /// Each thread computes 4 × 4 elements of C in registers.
    RegisterTiled,
    /// [`RegisterTiled`](Self::RegisterTiled) with 8 × 8 elements per thread.
    RegisterTiled8x8,
    /// All accesses take 128 bits; A is transposed on its way into LDS.
    Vectorized,
    /// The next tiles are loaded while the current ones are multiplied; one barrier per tile.
    DoubleBuffered,
    /// [`DoubleBuffered`](Self::DoubleBuffered) with 16 × 8 elements per thread, for RDNA's dual instructions.
    DoubleBuffered16x8,
    /// The matrix cores multiply; C is loaded and stored in each step of k.
    MfmaUncached,
    /// Tiles of A and B pass through LDS to the matrix cores; C is loaded and stored once per tile.
    MfmaLds,
    /// The next tiles are fetched into registers while the current ones are multiplied.
    MfmaDoubleBuffered,
    /// C stays in the accumulators and is stored once.
    MfmaFragment,
    /// Four blocks of a 64 × 64 tile, one after the other.
    MfmaBlockOrder,
    /// Four blocks of a 64 × 64 tile, all at once.
    MfmaPassOrder,
    /// 16-byte loads and stores, 128 × 128 tiles, large matrix instructions.
    MfmaWide,
    /// [`MfmaWide`](Self::MfmaWide) without bank conflicts in LDS.
    MfmaSwizzled,
    /// Global memory goes straight to LDS, past the registers.
    MfmaDirectToLds,
    /// Half of the waves multiply while the other half loads: 256 × 256 tiles.
    MfmaPingpong,
    /// [`MfmaPingpong`](Self::MfmaPingpong) with 128 × 128 tiles, for smaller problems.
    MfmaPingpongSmall,
    /// [`MfmaPingpong`](Self::MfmaPingpong) with stages of 128 bytes along k: whole cache lines.
    MfmaPingpongLines,
    /// [`MfmaPingpongSmall`](Self::MfmaPingpongSmall) with stages of 128 bytes along k.
    MfmaPingpongSmallLines,
    /// [`MfmaPingpong`](Self::MfmaPingpong) with 160 × 256 tiles, for problems that 256 × 256 tiles divide unevenly among the
    /// compute units.
    MfmaPingpong160x256,
    /// [`MfmaPingpong`](Self::MfmaPingpong) with 224 × 256 tiles, for the same.
    MfmaPingpong224x256,
    /// One wave per SIMD, with loads interleaved between the matrix instructions.
    MfmaInterleaved,
    /// Several workgroups share a tile, each with a part of k.
    SplitK,
    /// The steps of all tiles are divided evenly among as many workgroups as run at once.
    StreamK,
    /// [`SplitK`](Self::SplitK) with 64 × 64 tiles, for small problems.
    SplitK64x64,
    /// [`SplitK`](Self::SplitK) with 32 × 64 tiles, for products of few rows.
    SplitK32x64,
    /// [`SplitK`](Self::SplitK) with 32 × 32 tiles and stages of 128 bytes along k, for the smallest problems.
    SplitK32x32,
    /// [`SplitK`](Self::SplitK) with 80 × 128 tiles, for problems that 128 × 128 tiles divide unevenly among the compute units.
    SplitK80x128,
    /// A and B go straight from global memory to VGPRs, without LDS, for the smallest problems and a short k.
    DirectToVgpr,
    /// [`MfmaWide`](Self::MfmaWide) by WMMA, the matrix instructions of RDNA.
    WmmaWide,
    /// [`MfmaSwizzled`](Self::MfmaSwizzled) by WMMA.
    WmmaSwizzled,
    /// [`MfmaInterleaved`](Self::MfmaInterleaved) by WMMA, with several waves per SIMD.
    WmmaInterleaved,
    /// [`SplitK`](Self::SplitK) by WMMA.
    WmmaSplitK,
    /// [`WmmaSplitK`](Self::WmmaSplitK) with 64 × 64 tiles, for small problems.
    WmmaSplitK64x64,
    /// [`WmmaSplitK`](Self::WmmaSplitK) with 32 × 64 tiles, for products of few rows.
    WmmaSplitK32x64,
    /// [`WmmaSplitK`](Self::WmmaSplitK) with 32 × 32 tiles and stages of 128 bytes along k, for the smallest problems.
    WmmaSplitK32x32,
    /// [`SplitK64x64`](Self::SplitK64x64) by multiply-adds of the vector unit, for f32 on RDNA.
    FmaSplitK64x64,
    /// [`FmaSplitK64x64`](Self::FmaSplitK64x64) with 32 × 32 tiles, for the smallest problems.
    FmaSplitK32x32,
}

impl Variant {
    /// The name on the command line and in kernel symbols.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::LdsTiled => "lds_tiled",
            Self::RegisterTiled => "register_tiled",
            Self::RegisterTiled8x8 => "register_tiled_8x8",
            Self::Vectorized => "vectorized",
            Self::DoubleBuffered => "double_buffered",
            Self::DoubleBuffered16x8 => "double_buffered_16x8",
            Self::MfmaUncached => "mfma_uncached",
            Self::MfmaLds => "mfma_lds",
            Self::MfmaDoubleBuffered => "mfma_double_buffered",
            Self::MfmaFragment => "mfma_fragment",
            Self::MfmaBlockOrder => "mfma_block_order",
            Self::MfmaPassOrder => "mfma_pass_order",
            Self::MfmaWide => "mfma_wide",
            Self::MfmaSwizzled => "mfma_swizzled",
            Self::MfmaDirectToLds => "mfma_direct_to_lds",
            Self::MfmaPingpong => "mfma_pingpong",
            Self::MfmaPingpongSmall => "mfma_pingpong_small",
            Self::MfmaPingpongLines => "mfma_pingpong_lines",
            Self::MfmaPingpongSmallLines => "mfma_pingpong_small_lines",
            Self::MfmaPingpong160x256 => "mfma_pingpong_160x256",
            Self::MfmaPingpong224x256 => "mfma_pingpong_224x256",
            Self::MfmaInterleaved => "mfma_interleaved",
            Self::SplitK => "split_k",
            Self::StreamK => "stream_k",
            Self::SplitK64x64 => "split_k_64x64",
            Self::SplitK32x64 => "split_k_32x64",
            Self::SplitK32x32 => "split_k_32x32",
            Self::SplitK80x128 => "split_k_80x128",
            Self::DirectToVgpr => "direct_to_vgpr",
            Self::WmmaWide => "wmma_wide",
            Self::WmmaSwizzled => "wmma_swizzled",
            Self::WmmaInterleaved => "wmma_interleaved",
            Self::WmmaSplitK => "wmma_split_k",
            Self::WmmaSplitK64x64 => "wmma_split_k_64x64",
            Self::WmmaSplitK32x64 => "wmma_split_k_32x64",
            Self::WmmaSplitK32x32 => "wmma_split_k_32x32",
            Self::FmaSplitK64x64 => "fma_split_k_64x64",
            Self::FmaSplitK32x32 => "fma_split_k_32x32",
        }
    }

    /// What the kernel multiplies with.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Naive
            | Self::LdsTiled
            | Self::RegisterTiled
            | Self::RegisterTiled8x8
            | Self::Vectorized
            | Self::DoubleBuffered
            | Self::DoubleBuffered16x8
            | Self::FmaSplitK64x64
            | Self::FmaSplitK32x32 => Unit::Vector,
            Self::WmmaWide
            | Self::WmmaSwizzled
            | Self::WmmaInterleaved
            | Self::WmmaSplitK
            | Self::WmmaSplitK64x64
            | Self::WmmaSplitK32x64
            | Self::WmmaSplitK32x32 => Unit::Wmma,
            Self::MfmaUncached
            | Self::MfmaLds
            | Self::MfmaDoubleBuffered
            | Self::MfmaFragment
            | Self::MfmaBlockOrder
            | Self::MfmaPassOrder
            | Self::MfmaWide
            | Self::MfmaSwizzled
            | Self::MfmaDirectToLds
            | Self::MfmaPingpong
            | Self::MfmaPingpongSmall
            | Self::MfmaPingpongLines
            | Self::MfmaPingpongSmallLines
            | Self::MfmaPingpong160x256
            | Self::MfmaPingpong224x256
            | Self::MfmaInterleaved
            | Self::SplitK
            | Self::StreamK
            | Self::SplitK64x64
            | Self::SplitK32x64
            | Self::SplitK32x32
            | Self::SplitK80x128
            | Self::DirectToVgpr => Unit::Mfma,
        }
    }
}

/// The instructions that a kernel multiplies with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Multiply-adds of the vector unit.
    Vector,
    /// Matrix instructions of CDNA.
    Mfma,
    /// Matrix instructions of RDNA.
    Wmma,
}

/// How a kernel accesses A and B in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Any layout and any alignment, all at the same speed: element by element, or in unaligned pieces
    /// of 16 bytes.
    Elements,
    /// In units of 16 bytes, in any layout and at any alignment (amdhsa enables unaligned access). Units
    /// straddle cache lines if rows or columns don't begin at multiples of 16 bytes. Operands with fewer than 16 bytes of
    /// contiguous elements go element by element.
    Wide,
    /// In units of 16 bytes along k only: A row-major, B column-major, with first elements, leading
    /// dimensions and batch strides at multiples of 16 bytes.
    WideAlongK,
}

/// How many workgroups contribute to one element of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// One, which sums over all of k.
    None,
    /// Each tile has [`parts`](crate::GemmParameters::parts) workgroups, each with an equal share of the
    /// steps of k, to within one. See [`split_k`](crate::workspace::split_k).
    SplitK,
    /// The steps of all tiles, one tile after the other, are divided into
    /// [`parts`](crate::GemmParameters::parts) contiguous shares of equal length, to within one step: one
    /// for each workgroup along x of the grid.
    StreamK,
}

/// What the compiler may assume of every launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchBounds {
    /// Exactly how many threads a workgroup has.
    pub threads: usize,
    /// Waves that a SIMD must be able to hold; bounds the registers per wave.
    pub waves_per_simd: usize,
}

/// One row of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The kernel's symbol in the code object.
    pub symbol: &'static str,
    /// The algorithm.
    pub variant: Variant,
    /// The element types.
    pub types: ElementTypes,
    /// What one workgroup computes.
    pub tile: BlockTile,
    /// The threads of one workgroup.
    pub block: BlockShape,
    /// LDS per workgroup, which the host passes at launch.
    pub lds_bytes: usize,
    /// Waves that a SIMD must be able to hold.
    pub waves_per_simd: usize,
    /// How tiles are assigned to workgroups.
    pub order: TileOrder,
    /// How it accesses A and B.
    pub access: Access,
    /// Whether and how several workgroups share a tile.
    pub reduction: Reduction,
    /// The GPUs that the kernel is built for.
    pub gpus: GpuSet,
}

impl Kernel {
    /// The types that C may have, its own first.
    pub const fn outputs(&self) -> &'static [ElementType] {
        self.types.outputs()
    }

    /// Whether it computes products of these types.
    pub fn computes(&self, types: ElementTypes) -> bool {
        self.types == types.of_kernels() && self.outputs().contains(&types.output)
    }

    /// Whether it computes [groups](crate::Options::is_group), several products of different extents in one launch. A group's
    /// members take the place of split-K's workspace.
    pub const fn computes_groups(&self) -> bool {
        matches!(self.reduction, Reduction::SplitK)
    }

    /// Whether it is chosen by its cost. Of the kernels that access element by element, the first steps of the ladder, only one
    /// is faster than all others for some problems: for large ones in f32 on RDNA.
    pub const fn has_costs(&self) -> bool {
        !matches!(self.access, Access::Elements)
            || matches!(self.variant, Variant::DoubleBuffered16x8)
    }

    /// The main loop multiplies a multiple of this many elements along k. The rest takes longer.
    pub const fn loop_k(&self) -> usize {
        use Variant as V;
        match self.variant {
            _ if self.types.a.bits() == 6 => self.tile.k,
            V::MfmaPingpong
            | V::MfmaPingpongSmall
            | V::MfmaPingpong160x256
            | V::MfmaPingpong224x256
            | V::MfmaInterleaved
            | V::SplitK
            | V::StreamK
            | V::SplitK64x64
            | V::SplitK32x64
            | V::SplitK32x32
            | V::SplitK80x128
            | V::WmmaInterleaved
            | V::WmmaSplitK
            | V::WmmaSplitK64x64
            | V::WmmaSplitK32x64
            | V::WmmaSplitK32x32
            | V::FmaSplitK64x64
            | V::FmaSplitK32x32 => self.tile.k / 2,
            _ => self.tile.k,
        }
    }

    /// What the compiler may assume of every launch.
    pub const fn launch_bounds(&self) -> LaunchBounds {
        LaunchBounds {
            threads: self.block.threads(),
            waves_per_simd: self.waves_per_simd,
        }
    }

    /// The row with this symbol; usable in constants.
    ///
    /// # Panics
    /// If the catalogue has none.
    pub const fn named(symbol: &str) -> Self {
        let mut i = 0;
        while !is_same(CATALOGUE[i].symbol, symbol) {
            i += 1;
        }
        CATALOGUE[i]
    }

    /// The row with this symbol.
    pub fn by_symbol(symbol: &str) -> Option<&'static Self> {
        CATALOGUE.iter().find(|kernel| kernel.symbol == symbol)
    }

    /// The row of the variant called `variant`, for these element types.
    pub fn by_variant(variant: &str, types: ElementTypes) -> Option<&'static Self> {
        CATALOGUE
            .iter()
            .find(|kernel| kernel.variant.name() == variant && kernel.types == types)
    }
}

/// Whether two strings are equal; usable in constants.
const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut i = 0;
    while i < left.len() && i < right.len() && left[i] == right[i] {
        i += 1;
    }
    i == left.len() && i == right.len()
}

/// The GPUs with matrix instructions for f32.
const CDNA: GpuSet = GpuSet::GFX908
    .union(GpuSet::GFX90A)
    .union(GpuSet::GFX942)
    .union(GpuSet::GFX950);

/// All GPUs that the project builds for.
const ALL: GpuSet = CDNA
    .union(GpuSet::GFX1100)
    .union(GpuSet::GFX1101)
    .union(GpuSet::GFX1102)
    .union(GpuSet::GFX1150)
    .union(GpuSet::GFX1151)
    .union(GpuSet::GFX1200)
    .union(GpuSet::GFX1201);

/// Lanes of a wave on RDNA, in kernels from step 11 on.
const RDNA_LANES: usize = 32;

/// Bytes of an f32.
const F32_BYTES: usize = 4;

/// [`Variant::Naive`] in f32. A wave covers one row and 64 columns of C: it reads 256 consecutive
/// bytes of B and a single address of A, and writes 256 consecutive bytes of C.
pub const NAIVE_F32: Kernel = Kernel {
    symbol: "gemm_naive_f32",
    variant: Variant::Naive,
    types: ElementTypes::F32,
    tile: BlockTile { m: 4, n: 64, k: 1 },
    block: BlockShape { x: 64, y: 4 },
    lds_bytes: 0,
    waves_per_simd: 4,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: ALL,
};

/// [`Variant::LdsTiled`] in f32: 16 × 16 tiles of A and of B, one thread per element of each.
pub const LDS_TILED_F32: Kernel = Kernel {
    symbol: "gemm_lds_tiled_f32",
    variant: Variant::LdsTiled,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 16,
        n: 16,
        k: 16,
    },
    block: BlockShape { x: 16, y: 16 },
    lds_bytes: (16 * 16 + 16 * 16) * F32_BYTES,
    waves_per_simd: 4,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: ALL,
};

/// [`Variant::RegisterTiled`] in f32: 2 × 2 waves of 16 × 4 threads of 4 × 4 elements. A row of A
/// is padded by 4 elements in LDS.
pub const REGISTER_TILED_F32: Kernel = Kernel {
    symbol: "gemm_register_tiled_f32",
    variant: Variant::RegisterTiled,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 128,
        n: 32,
        k: 16,
    },
    block: BlockShape { x: 256, y: 1 },
    lds_bytes: (128 * (16 + 4) + 16 * 32) * F32_BYTES,
    // With four, a wave on gfx908 would have 64 VGPRs, and some values would spill to AGPRs.
    waves_per_simd: 2,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: ALL,
};

/// [`Variant::RegisterTiled8x8`] in f32: 2 × 2 waves of 8 × 8 threads of 8 × 8 elements, rows of A padded as
/// in [`REGISTER_TILED_F32`].
pub const REGISTER_TILED_8X8_F32: Kernel = Kernel {
    symbol: "gemm_register_tiled_8x8_f32",
    variant: Variant::RegisterTiled8x8,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 128,
        n: 128,
        k: 8,
    },
    block: BlockShape { x: 256, y: 1 },
    lds_bytes: (128 * (8 + 4) + 8 * 128) * F32_BYTES,
    waves_per_simd: 2,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: ALL,
};

/// [`Variant::Vectorized`] in f32: 2 × 2 waves of 8 × 8 threads of 8 × 8 elements, without padding.
pub const VECTORIZED_F32: Kernel = Kernel {
    symbol: "gemm_vectorized_f32",
    variant: Variant::Vectorized,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 128,
        n: 128,
        k: 8,
    },
    block: BlockShape { x: 256, y: 1 },
    lds_bytes: (8 * 128 + 8 * 128) * F32_BYTES,
    waves_per_simd: 2,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: ALL,
};

/// [`Variant::DoubleBuffered`] in f32: the tiles of [`VECTORIZED_F32`], in two LDS buffers.
pub const DOUBLE_BUFFERED_F32: Kernel = Kernel {
    symbol: "gemm_double_buffered_f32",
    variant: Variant::DoubleBuffered,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 128,
        n: 128,
        k: 8,
    },
    block: BlockShape { x: 256, y: 1 },
    lds_bytes: 2 * VECTORIZED_F32.lds_bytes,
    waves_per_simd: 2,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: ALL,
};

/// [`Variant::DoubleBuffered16x8`] in f32: the tiles of [`DOUBLE_BUFFERED_F32`], with 1 × 2 groups of 8 × 8 threads of
/// 16 × 8 elements.
pub const DOUBLE_BUFFERED_16X8_F32: Kernel = Kernel {
    symbol: "gemm_double_buffered_16x8_f32",
    variant: Variant::DoubleBuffered16x8,
    block: BlockShape { x: 128, y: 1 },
    // Those of the list of kernels.
    gpus: GpuSet::NONE,
    ..DOUBLE_BUFFERED_F32
};

/// [`Variant::MfmaUncached`] in f32: 2 × 2 waves of one 16 × 16 tile, by `v_mfma_f32_16x16x4_f32`.
pub const MFMA_UNCACHED_F32: Kernel = Kernel {
    symbol: "gemm_mfma_uncached_f32",
    variant: Variant::MfmaUncached,
    types: ElementTypes::F32,
    tile: BlockTile { m: 32, n: 32, k: 4 },
    block: BlockShape { x: 128, y: 2 },
    lds_bytes: 0,
    waves_per_simd: 4,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: CDNA,
};

/// [`Variant::MfmaLds`] in f32: the waves of [`MFMA_UNCACHED_F32`]. The tiles fill the LDS of most GPUs, so
/// a compute unit holds one workgroup and a SIMD one wave.
pub const MFMA_LDS_F32: Kernel = Kernel {
    symbol: "gemm_mfma_lds_f32",
    variant: Variant::MfmaLds,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 32,
        n: 32,
        k: 256,
    },
    block: BlockShape { x: 128, y: 2 },
    lds_bytes: (32 * 256 + 256 * 32) * F32_BYTES,
    waves_per_simd: 1,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: CDNA,
};

/// [`Variant::MfmaDoubleBuffered`] in f32: the tiles of [`MFMA_LDS_F32`].
pub const MFMA_DOUBLE_BUFFERED_F32: Kernel = Kernel {
    symbol: "gemm_mfma_double_buffered_f32",
    variant: Variant::MfmaDoubleBuffered,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 32,
        n: 32,
        k: 256,
    },
    block: BlockShape { x: 128, y: 2 },
    lds_bytes: MFMA_LDS_F32.lds_bytes,
    waves_per_simd: 1,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: CDNA,
};

/// [`Variant::MfmaFragment`] in f32: the tiles of [`MFMA_LDS_F32`].
pub const MFMA_FRAGMENT_F32: Kernel = Kernel {
    symbol: "gemm_mfma_fragment_f32",
    variant: Variant::MfmaFragment,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 32,
        n: 32,
        k: 256,
    },
    block: BlockShape { x: 128, y: 2 },
    lds_bytes: MFMA_LDS_F32.lds_bytes,
    waves_per_simd: 1,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: CDNA,
};

/// [`Variant::MfmaBlockOrder`] in f32: one wave, 4 blocks of 16 × 64 by `v_mfma_f32_16x16x1_4b_f32`.
pub const MFMA_BLOCK_ORDER_F32: Kernel = Kernel {
    symbol: "gemm_mfma_block_order_f32",
    variant: Variant::MfmaBlockOrder,
    types: ElementTypes::F32,
    tile: BlockTile { m: 64, n: 64, k: 4 },
    block: BlockShape { x: 64, y: 1 },
    lds_bytes: 0,
    waves_per_simd: 2,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: CDNA,
};

/// [`Variant::MfmaPassOrder`] in f32: the tile of [`MFMA_BLOCK_ORDER_F32`].
pub const MFMA_PASS_ORDER_F32: Kernel = Kernel {
    symbol: "gemm_mfma_pass_order_f32",
    variant: Variant::MfmaPassOrder,
    types: ElementTypes::F32,
    tile: BlockTile { m: 64, n: 64, k: 4 },
    block: BlockShape { x: 64, y: 1 },
    lds_bytes: 0,
    waves_per_simd: 2,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: CDNA,
};

/// The common part of the rows of a step from 11 on.
#[derive(Clone, Copy)]
struct Step {
    variant: Variant,
    /// Rows and columns of C per workgroup.
    tile: (usize, usize),
    /// Rows and columns of waves.
    waves: (usize, usize),
    /// Lanes of a wave.
    lanes: usize,
    /// Bytes along k of a row of a tile in LDS.
    row_bytes: usize,
    /// Stages, each of a tile of A and a tile of B, that LDS holds at the same time.
    stages: usize,
    /// Stages in one round of the main loop.
    round: usize,
    waves_per_simd: usize,
    order: TileOrder,
    access: Access,
    reduction: Reduction,
}

impl Step {
    const fn row(self, symbol: &'static str, types: ElementTypes, gpus: GpuSet) -> Kernel {
        let (m, n) = self.tile;
        let block = BlockShape {
            x: self.lanes * self.waves.1,
            y: self.waves.0,
        };
        // A row of B has all of k.
        let b_row_bytes = self.row_bytes * types.compression() as usize;
        Kernel {
            symbol,
            variant: self.variant,
            types,
            tile: BlockTile {
                m,
                n,
                k: self.round * b_row_bytes * 8 / types.a.bits(),
            },
            block,
            lds_bytes: match types.a.bits() {
                6 => six_bits::lds_bytes(m + n),
                _ => {
                    self.stages
                        * (tile_bytes(m, self.row_bytes, block)
                            + tile_bytes(n, b_row_bytes, block)
                            + (m + n) * scale_bytes(self.row_bytes, types))
                }
            },
            waves_per_simd: self.waves_per_simd,
            order: self.order,
            access: self.access,
            reduction: self.reduction,
            gpus,
        }
    }

    /// With one wave per SIMD, which doubles its registers: for f64, whose sums and operands need twice as many, and
    /// for fp8 on gfx950, whose operands have 32 bytes.
    const fn one_wave(self) -> Self {
        Self {
            waves_per_simd: 1,
            ..self
        }
    }

    /// With half of the bytes along k in a row of A: for a sparse A. Those of B are twice as many.
    const fn half_the_line(self) -> Self {
        Self {
            row_bytes: self.row_bytes / 2,
            ..self
        }
    }

    /// With half as many rows of C per wave: for f64, whose sums take twice the registers.
    const fn half_the_rows(self) -> Self {
        let (m, n) = self.tile;
        Self {
            tile: (m / 2, n),
            ..self
        }
    }
}

/// Bytes of a tile of A or B in LDS.
const fn tile_bytes(rows: usize, row_bytes: usize, block: BlockShape) -> usize {
    lds_rows(rows, row_bytes / UNIT_BYTES, block.threads()) * row_bytes
}

/// Bytes of the scales of a row of a tile in LDS.
const fn scale_bytes(row_bytes: usize, types: ElementTypes) -> usize {
    match types.a.is_scaled() {
        true => row_bytes * 8 / types.a.bits() / SCALE_BLOCK as usize,
        false => 0,
    }
}

/// [`Variant::MfmaWide`]: 2 × 2 waves of 64 × 64.
const WIDE: Step = Step {
    variant: Variant::MfmaWide,
    tile: (128, 128),
    waves: (2, 2),
    lanes: LANES,
    row_bytes: 64,
    stages: 1,
    round: 1,
    waves_per_simd: 2,
    order: TileOrder::Linear,
    access: Access::Wide,
    reduction: Reduction::None,
};

/// [`Variant::MfmaSwizzled`].
const SWIZZLED: Step = Step {
    variant: Variant::MfmaSwizzled,
    ..WIDE
};

/// [`Variant::MfmaDirectToLds`]: four stages in LDS.
const DIRECT_TO_LDS: Step = Step {
    variant: Variant::MfmaDirectToLds,
    stages: 4,
    round: 4,
    access: Access::WideAlongK,
    ..WIDE
};

/// [`Variant::MfmaPingpong`]: 2 × 4 waves of 128 × 64, two per SIMD.
const PINGPONG: Step = Step {
    variant: Variant::MfmaPingpong,
    tile: (256, 256),
    waves: (2, 4),
    stages: 2,
    round: 2,
    ..WIDE
};

/// [`Variant::MfmaPingpong160x256`]: 1 × 8 waves of 160 × 32.
const PINGPONG_160X256: Step = Step {
    variant: Variant::MfmaPingpong160x256,
    tile: (160, 256),
    waves: (1, 8),
    ..PINGPONG
};

/// [`Variant::MfmaPingpong224x256`]: 1 × 8 waves of 224 × 32.
const PINGPONG_224X256: Step = Step {
    variant: Variant::MfmaPingpong224x256,
    tile: (224, 256),
    waves: (1, 8),
    ..PINGPONG
};

/// [`Variant::MfmaPingpongLines`].
const PINGPONG_LINES: Step = Step {
    variant: Variant::MfmaPingpongLines,
    row_bytes: 128,
    ..PINGPONG
};

/// [`Variant::MfmaPingpongSmallLines`].
const PINGPONG_SMALL_LINES: Step = Step {
    variant: Variant::MfmaPingpongSmallLines,
    tile: (128, 128),
    ..PINGPONG_LINES
};

/// [`Variant::MfmaPingpongLines`] for elements of six bits: panels of three lines ([`six_bits`]).
const PINGPONG_SIX_BITS: Step = Step {
    row_bytes: six_bits::PANEL_BYTES,
    round: 1,
    ..PINGPONG_LINES
};

/// [`Variant::MfmaPingpongSmallLines`] for elements of six bits.
const PINGPONG_SMALL_SIX_BITS: Step = Step {
    variant: Variant::MfmaPingpongSmallLines,
    tile: (128, 128),
    ..PINGPONG_SIX_BITS
};

/// [`Variant::MfmaPingpongSmall`]: 2 × 4 waves of 64 × 32.
const PINGPONG_SMALL: Step = Step {
    variant: Variant::MfmaPingpongSmall,
    tile: (128, 128),
    ..PINGPONG
};

/// [`Variant::MfmaInterleaved`]: 2 × 2 waves of 128 × 64, one per SIMD.
const INTERLEAVED: Step = Step {
    variant: Variant::MfmaInterleaved,
    tile: (256, 128),
    waves: (2, 2),
    waves_per_simd: 1,
    ..PINGPONG
};

/// [`Variant::SplitK`]: 2 × 2 waves of 64 × 64.
const SPLIT_K: Step = Step {
    variant: Variant::SplitK,
    tile: (128, 128),
    waves_per_simd: 2,
    reduction: Reduction::SplitK,
    ..INTERLEAVED
};

/// [`Variant::StreamK`].
const STREAM_K: Step = Step {
    variant: Variant::StreamK,
    reduction: Reduction::StreamK,
    ..SPLIT_K
};

/// [`Variant::SplitK64x64`]: 2 × 2 waves of 32 × 32, for most types in blocks of 16 × 16; four workgroups on a compute unit.
const SPLIT_K_64X64: Step = Step {
    variant: Variant::SplitK64x64,
    tile: (64, 64),
    waves_per_simd: 4,
    ..SPLIT_K
};

/// The same with stages of whole cache lines, for gfx950, whose compute units have LDS for four workgroups of it.
const SPLIT_K_64X64_LINES: Step = Step {
    row_bytes: 128,
    ..SPLIT_K_64X64
};

/// [`Variant::SplitK32x64`]: 1 × 4 waves of 32 × 16.
const SPLIT_K_32X64: Step = Step {
    variant: Variant::SplitK32x64,
    tile: (32, 64),
    waves: (1, 4),
    waves_per_simd: 4,
    ..SPLIT_K
};

/// [`Variant::SplitK32x32`]: 2 × 2 waves of 16 × 16.
const SPLIT_K_32X32: Step = Step {
    variant: Variant::SplitK32x32,
    tile: (32, 32),
    row_bytes: 128,
    waves_per_simd: 4,
    ..SPLIT_K
};

/// [`Variant::SplitK80x128`]: 1 × 4 waves of 80 × 32, in blocks of 16 × 16.
const SPLIT_K_80X128: Step = Step {
    variant: Variant::SplitK80x128,
    tile: (80, 128),
    waves: (1, 4),
    ..SPLIT_K
};

/// [`Variant::DirectToVgpr`]: a wave. Only elements along k are loaded in units.
const DIRECT_TO_VGPR: Step = Step {
    variant: Variant::DirectToVgpr,
    tile: (16, 16),
    waves: (1, 1),
    stages: 0,
    order: TileOrder::Plane,
    ..WIDE
};

/// [`Variant::WmmaWide`]: 2 × 4 waves of 64 × 32. With four waves per SIMD, a wave has 256 VGPRs on all GPUs of RDNA.
const WMMA_WIDE: Step = Step {
    variant: Variant::WmmaWide,
    waves: (2, 4),
    lanes: RDNA_LANES,
    waves_per_simd: 4,
    ..WIDE
};

/// [`Variant::WmmaSwizzled`].
const WMMA_SWIZZLED: Step = Step {
    variant: Variant::WmmaSwizzled,
    ..WMMA_WIDE
};

/// [`Variant::WmmaInterleaved`].
const WMMA_INTERLEAVED: Step = Step {
    variant: Variant::WmmaInterleaved,
    stages: 2,
    round: 2,
    ..WMMA_WIDE
};

/// [`Variant::WmmaSplitK`].
const WMMA_SPLIT_K: Step = Step {
    variant: Variant::WmmaSplitK,
    reduction: Reduction::SplitK,
    ..WMMA_INTERLEAVED
};

/// [`Variant::WmmaSplitK64x64`]: 2 × 2 waves of 32 × 32.
const WMMA_SPLIT_K_64X64: Step = Step {
    variant: Variant::WmmaSplitK64x64,
    tile: (64, 64),
    waves: (2, 2),
    ..WMMA_SPLIT_K
};

/// [`Variant::WmmaSplitK32x64`]: 1 × 2 waves of 32 × 32.
const WMMA_SPLIT_K_32X64: Step = Step {
    variant: Variant::WmmaSplitK32x64,
    tile: (32, 64),
    waves: (1, 2),
    ..WMMA_SPLIT_K
};

/// [`Variant::WmmaSplitK32x32`]: 2 × 2 waves of 16 × 16.
const WMMA_SPLIT_K_32X32: Step = Step {
    variant: Variant::WmmaSplitK32x32,
    tile: (32, 32),
    waves: (2, 2),
    row_bytes: 128,
    ..WMMA_SPLIT_K
};

/// [`Variant::FmaSplitK64x64`]: 1 × 2 waves of 64 × 32.
const FMA_SPLIT_K_64X64: Step = Step {
    variant: Variant::FmaSplitK64x64,
    tile: (64, 64),
    waves: (1, 2),
    ..WMMA_SPLIT_K
};

/// [`Variant::FmaSplitK32x32`]: 1 × 2 waves of 32 × 16.
const FMA_SPLIT_K_32X32: Step = Step {
    variant: Variant::FmaSplitK32x32,
    tile: (32, 32),
    waves: (1, 2),
    ..WMMA_SPLIT_K
};

/// Makes the catalogue from the list of kernels.
macro_rules! catalogue {
    (
        vector { $($vector:ident: $vector_row:ident;)* }
        dual { $($dual:ident: $dual_row:ident, [$($dual_gpu:tt),*];)* }
        matrix { $($matrix:ident: $matrix_row:ident;)* }
        blocks { $($symbol:ident: $step:ident $(.$change:ident())?, $types:ident, [$($gpu:tt),*];)* }
    ) => {
        /// All kernels, in the order of the ladder.
        pub const CATALOGUE: &[Kernel] = &[
            $($vector_row,)*
            $(Kernel {
                gpus: GpuSet::NONE$(.union(gpu!($dual_gpu)))*,
                ..$dual_row
            },)*
            $($matrix_row,)*
            $($step$(.$change())?.row(
                stringify!($symbol),
                ElementTypes::$types,
                GpuSet::NONE$(.union(gpu!($gpu)))*,
            ),)*
        ];
    };
}

/// The set of one GPU.
macro_rules! gpu {
    ("gfx908") => {
        GpuSet::GFX908
    };
    ("gfx90a") => {
        GpuSet::GFX90A
    };
    ("gfx942") => {
        GpuSet::GFX942
    };
    ("gfx950") => {
        GpuSet::GFX950
    };
    ("gfx1100") => {
        GpuSet::GFX1100
    };
    ("gfx1101") => {
        GpuSet::GFX1101
    };
    ("gfx1102") => {
        GpuSet::GFX1102
    };
    ("gfx1150") => {
        GpuSet::GFX1150
    };
    ("gfx1151") => {
        GpuSet::GFX1151
    };
    ("gfx1200") => {
        GpuSet::GFX1200
    };
    ("gfx1201") => {
        GpuSet::GFX1201
    };
}

for_each_kernel!(catalogue);

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;

    /// LDS of a workgroup on the GPUs of the catalogue, in bytes (CDNA 1 to 3 ISA documents).
    const LDS_BYTES_PER_WORKGROUP: usize = 64 * 1024;

    /// On gfx950 (CDNA 4 ISA document).
    const LDS_BYTES_OF_GFX950: usize = 160 * 1024;

    #[test]
    fn a_symbol_is_made_of_variant_and_type_and_stands_once() {
        for kernel in CATALOGUE {
            let expected = format!("gemm_{}_{}", kernel.variant.name(), kernel.types.name());
            assert_eq!(kernel.symbol, expected);
            let same = CATALOGUE
                .iter()
                .filter(|other| other.symbol == kernel.symbol);
            assert_eq!(same.count(), 1, "{}", kernel.symbol);
        }
    }

    #[test]
    fn every_row_fits_a_workgroup_of_every_gpu() {
        for kernel in CATALOGUE {
            let threads = kernel.block.threads();
            assert!(
                threads.is_multiple_of(LANES) && threads <= 1024,
                "{}",
                kernel.symbol
            );
            let only_gfx950 = kernel.gpus == GpuSet::GFX950;
            let lds_bytes = if only_gfx950 {
                LDS_BYTES_OF_GFX950
            } else {
                LDS_BYTES_PER_WORKGROUP
            };
            assert!(kernel.lds_bytes <= lds_bytes, "{}", kernel.symbol);
            assert!(!kernel.gpus.is_empty(), "{}", kernel.symbol);
        }
    }

    #[test]
    fn rows_are_found_by_symbol_and_by_variant() {
        assert_eq!(
            Kernel::by_symbol("gemm_mfma_fragment_f32"),
            Some(&MFMA_FRAGMENT_F32)
        );
        assert_eq!(Kernel::by_symbol("gemm_mfma_fragment"), None);
        let found = Kernel::by_variant("lds_tiled", ElementTypes::F32);
        assert_eq!(found, Some(&LDS_TILED_F32));
        assert_eq!(Kernel::by_variant("fastest", ElementTypes::F32), None);
    }
}
