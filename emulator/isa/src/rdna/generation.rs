//! Generations of RDNA: the columns of the table.

use ferrowave_gpu::Gpu;

/// A generation, whose GPUs have the same instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Generation {
    /// RDNA 3.
    Gfx11,
    /// RDNA 3.5.
    Gfx11_5,
    /// RDNA 4.
    Gfx12,
}

impl Generation {
    pub(super) const COUNT: usize = Generation::Gfx12 as usize + 1;

    /// A GPU's generation.
    pub(super) fn of(gpu: Gpu) -> Generation {
        match gpu {
            Gpu::Gfx1150 | Gpu::Gfx1151 => Generation::Gfx11_5,
            Gpu::Gfx1200 | Gpu::Gfx1201 => Generation::Gfx12,
            _ => Generation::Gfx11,
        }
    }
}
