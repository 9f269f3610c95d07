//! The one list of kernels.

use crate::{BlockShape, BlockTile, ElementTypes, GpuSet};

/// The idea of a kernel: the step of the ladder that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// One thread per element of C, everything from global memory.
    Naive,
    /// Tiles of A and B pass through LDS.
    LdsTiled,
    /// Each thread multiplies a small tile that it holds in registers.
    RegisterTiled,
    /// The matrix cores multiply; the sums stay in their accumulators.
    Mfma,
}

impl Variant {
    /// The name as the command line and kernel symbols spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::LdsTiled => "lds_tiled",
            Self::RegisterTiled => "register_tiled",
            Self::Mfma => "mfma",
        }
    }
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

/// The GPUs with f32 matrix instructions that the project builds for.
const CDNA_1_TO_3: GpuSet = GpuSet::GFX908.union(GpuSet::GFX90A).union(GpuSet::GFX942);

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
    gpus: CDNA_1_TO_3,
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
    gpus: CDNA_1_TO_3,
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
    gpus: CDNA_1_TO_3,
};

/// [`Variant::Mfma`] in f32: 2 × 2 waves of one 16 × 16 tile. Rows are padded in LDS, A's by 2 and
/// B's by 16 elements.
pub const MFMA_F32: Kernel = Kernel {
    symbol: "gemm_mfma_f32",
    variant: Variant::Mfma,
    types: ElementTypes::F32,
    tile: BlockTile {
        m: 32,
        n: 32,
        k: 32,
    },
    block: BlockShape { x: 256, y: 1 },
    lds_bytes: (32 * (32 + 2) + 32 * (32 + 16)) * F32_BYTES,
    waves_per_simd: 4,
    gpus: CDNA_1_TO_3,
};

/// All kernels, in the order of the ladder.
pub const CATALOGUE: &[Kernel] = &[NAIVE_F32, LDS_TILED_F32, REGISTER_TILED_F32, MFMA_F32];

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
        assert_eq!(Kernel::by_symbol("gemm_mfma_f32"), Some(&MFMA_F32));
        assert_eq!(Kernel::by_symbol("gemm_mfma"), None);
        let found = Kernel::by_variant("lds_tiled", ElementTypes::F32);
        assert_eq!(found, Some(&LDS_TILED_F32));
        assert_eq!(Kernel::by_variant("fastest", ElementTypes::F32), None);
    }
}
