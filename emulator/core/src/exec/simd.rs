//! Host vectors of 16 lanes, for three levels of x86-64 instructions.
//!
//! Element-wise code is written once over [`std::simd`] and inlined into an entry point per level
//! ([`super::operation::bind`]), so the compiler emits AVX-512, AVX2 and plain code for it. The level is chosen at run
//! time.

use std::simd::{Mask, Simd};

use crate::memory::shared::Moves;

/// Sixteen 32-bit lanes.
pub(crate) type U = Simd<u32, 16>;
/// Sixteen signed 32-bit lanes.
pub(crate) type I = Simd<i32, 16>;
/// Sixteen f32 lanes.
pub(crate) type F = Simd<f32, 16>;
/// Sixteen 64-bit lanes.
pub(crate) type D = Simd<u64, 16>;
/// Sixteen f64 lanes.
pub(crate) type E = Simd<f64, 16>;
/// A mask of sixteen lanes.
pub(crate) type M = Mask<i32, 16>;

/// Lanes of the widest wavefront: a register has room for them, a lane mask has a bit for each.
pub const LANES: usize = 64;
/// Host vectors of the widest wavefront.
pub(crate) const CHUNKS: usize = LANES / 16;

/// Which host instructions the emulator uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// What every host of the target has.
    Portable,
    /// AVX2, FMA and F16C.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and CD.
    Avx512,
}

impl SimdLevel {
    /// All levels, lowest first.
    pub const ALL: [SimdLevel; 3] = [SimdLevel::Portable, SimdLevel::Avx2, SimdLevel::Avx512];

    /// The highest level that the host has.
    pub fn detect() -> Self {
        Self::ALL
            .into_iter()
            .rev()
            .find(|level| level.is_available())
            .unwrap_or(SimdLevel::Portable)
    }

    /// Whether the host has this level.
    pub fn is_available(self) -> bool {
        match self {
            SimdLevel::Portable => true,
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => {
                std::is_x86_feature_detected!("avx2")
                    && std::is_x86_feature_detected!("fma")
                    && std::is_x86_feature_detected!("f16c")
                    && std::is_x86_feature_detected!("bmi1")
                    && std::is_x86_feature_detected!("bmi2")
                    && std::is_x86_feature_detected!("lzcnt")
                    && std::is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => {
                SimdLevel::Avx2.is_available()
                    && std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512bw")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512vl")
                    && std::is_x86_feature_detected!("avx512cd")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// How operations of this level access shared memory.
    pub(crate) const fn moves(self) -> Moves {
        match self {
            SimdLevel::Portable => Moves::Portable,
            SimdLevel::Avx2 => Moves::Avx,
            SimdLevel::Avx512 => Moves::Avx512,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            SimdLevel::Portable => "portable",
            SimdLevel::Avx2 => "avx2",
            SimdLevel::Avx512 => "avx512",
        }
    }
}

impl std::fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The mask of all lanes of `chunks` host vectors.
pub(crate) const fn all_lanes(chunks: usize) -> u64 {
    !0 >> (16 * (CHUNKS - chunks))
}

/// The bits of a chunk in a lane mask.
#[inline(always)]
pub(crate) fn chunk_mask(mask: u64, chunk: usize) -> M {
    M::from_bitmask((mask >> (16 * chunk)) & 0xffff)
}
