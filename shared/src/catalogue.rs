//! The one list of kernels.

use crate::{BlockShape, BlockTile, ElementTypes, GpuSet, TileOrder};

/// The idea of a kernel: the step of the ladder that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// One thread per element of C, everything from global memory.
    Naive,
    /// Tiles of A and B pass through LDS.
    LdsTiled,
    /// Each thread multiplies a tile of 4 × 4 elements that it holds in registers.
    RegisterTiled,
    /// [`RegisterTiled`](Self::RegisterTiled) with 8 × 8 elements a thread.
    RegisterTiled8x8,
    /// All accesses take 128 bits; A is transposed on its way into LDS.
    Vectorized,
    /// The next tiles are loaded while these are multiplied; one barrier a tile.
    DoubleBuffered,
    /// The matrix cores multiply; C is loaded and stored in each step of k.
    MfmaUncached,
    /// Tiles of A and B pass through LDS on their way to the matrix cores.
    MfmaLds,
    /// The next tiles are fetched into registers while these are multiplied.
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
    /// One wave a SIMD, loads woven between the matrix instructions.
    MfmaInterleaved,
    /// Several workgroups share a tile, each with a part of k.
    SplitK,
    /// The steps of all tiles are dealt out evenly to as many workgroups as run at once.
    StreamK,
}

impl Variant {
    /// The name as the command line and kernel symbols spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::LdsTiled => "lds_tiled",
            Self::RegisterTiled => "register_tiled",
            Self::RegisterTiled8x8 => "register_tiled_8x8",
            Self::Vectorized => "vectorized",
            Self::DoubleBuffered => "double_buffered",
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
            Self::MfmaInterleaved => "mfma_interleaved",
            Self::SplitK => "split_k",
            Self::StreamK => "stream_k",
        }
    }
}

/// How a kernel reaches the elements of A and B in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Element by element: any layout, any alignment.
    Elements,
    /// In pieces of 16 bytes where they are aligned, and else element by element: any layout and any
    /// alignment, but misaligned problems are slow.
    Wide,
    /// In pieces of 16 bytes along k only: A row-major, B column-major, first elements, leading
    /// dimensions and batch strides at multiples of 16 bytes.
    WideAlongK,
}

/// How many workgroups sum up one element of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// One, which walks all of k.
    None,
    /// Each tile has [`parts`](crate::GemmParameters::parts) workgroups, each with an equal share of the
    /// steps of k. The grid has `parts` workgroups for each tile along x, those of one tile side by
    /// side.
    SplitK,
    /// The steps of all tiles, one tile after the other, are cut into
    /// [`parts`](crate::GemmParameters::parts) runs of equal length, one for each workgroup of the grid
    /// along x.
    StreamK,
}

/// What the compiler may assume of every launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchBounds {
    /// Threads per workgroup, never another number.
    pub threads: usize,
    /// Waves that a SIMD must be able to hold; bounds the registers per wave.
    pub waves_per_simd: usize,
}

/// One row of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The kernel's symbol in the code object.
    pub symbol: &'static str,
    /// The idea.
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
    /// How its workgroups share out the tiles.
    pub order: TileOrder,
    /// How it reaches the elements of A and B.
    pub access: Access,
    /// How many workgroups share a tile.
    pub reduction: Reduction,
    /// The GPUs that the kernel is built for.
    pub gpus: GpuSet,
}

impl Kernel {
    /// What the compiler may assume of every launch.
    pub const fn launch_bounds(&self) -> LaunchBounds {
        LaunchBounds {
            threads: self.block.threads(),
            waves_per_simd: self.waves_per_simd,
        }
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

/// All GPUs that the project builds for.
const CDNA: GpuSet = GpuSet::GFX908
    .union(GpuSet::GFX90A)
    .union(GpuSet::GFX942)
    .union(GpuSet::GFX950);

/// Bytes of an f32.
const F32_BYTES: usize = 4;

/// [`Variant::Naive`] in f32. A wave is one row of 64 columns, so that its reads of B and its
/// writes of C are 256 consecutive bytes and its reads of A one address.
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
    gpus: CDNA,
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
    gpus: CDNA,
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
    // Four would leave 64 vector registers a wave on gfx908, some of which would spill to AGPRs.
    waves_per_simd: 2,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: CDNA,
};

/// [`Variant::MfmaFragment`] in f32: 2 × 2 waves of one 16 × 16 tile. Rows are padded in LDS, A's by 2 and
/// B's by 16 elements.
pub const MFMA_FRAGMENT_F32: Kernel = Kernel {
    symbol: "gemm_mfma_fragment_f32",
    variant: Variant::MfmaFragment,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 32,
        n: 32,
        k: 32,
    },
    block: BlockShape { x: 256, y: 1 },
    lds_bytes: (32 * (32 + 2) + 32 * (32 + 16)) * F32_BYTES,
    waves_per_simd: 4,
    order: TileOrder::Plane,
    access: Access::Elements,
    reduction: Reduction::None,
    gpus: CDNA,
};

/// All kernels, in the order of the ladder.
pub const CATALOGUE: &[Kernel] = &[
    NAIVE_F32,
    LDS_TILED_F32,
    REGISTER_TILED_F32,
    MFMA_FRAGMENT_F32,
];

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;

    /// LDS of a workgroup on the GPUs of the catalogue, in bytes (CDNA 1 to 3 ISA documents).
    const LDS_BYTES_PER_WORKGROUP: usize = 64 * 1024;

    #[test]
    fn a_symbol_is_made_of_variant_and_type_and_stands_once() {
        for kernel in CATALOGUE {
            let expected = format!(
                "gemm_{}_{}",
                kernel.variant.name(),
                kernel.types.input.name()
            );
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
                threads.is_multiple_of(64) && threads <= 1024,
                "{}",
                kernel.symbol
            );
            assert!(
                kernel.lds_bytes <= LDS_BYTES_PER_WORKGROUP,
                "{}",
                kernel.symbol
            );
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
