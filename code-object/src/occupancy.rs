//! How many waves a GPU's compute unit holds at once, and what limits them.

use crate::Gpu;

/// What a compute unit of a GPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuLimits {
    /// Vector registers are allocated to a wave in multiples of this.
    pub vgpr_granule: u32,
    /// Scalar registers are allocated to a wave in multiples of this.
    pub sgpr_granule: u32,
}

impl GpuLimits {
    /// The limits of a GPU.
    pub const fn of(gpu: Gpu) -> Self {
        GpuLimits {
            vgpr_granule: match gpu {
                Gpu::Gfx908 => 4,
                Gpu::Gfx90a | Gpu::Gfx942 | Gpu::Gfx950 => 8,
            },
            sgpr_granule: 16,
        }
    }
}
