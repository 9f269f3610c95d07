//! The properties of a device that planning needs.

use crate::hip::Device;
use ferrowave_gpu::{Family, Gpu, GpuLimits};
use ferrowave_shared::Kernel;

/// The largest grid that a device launches, in workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridLimits {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl GridLimits {
    /// HIP's limits on every AMD GPU.
    pub const HIP: Self = Self {
        x: i32::MAX as u32,
        y: u16::MAX as u32,
        z: u16::MAX as u32,
    };
}

/// The properties of a device that planning needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// LLVM's name of the GPU, such as `gfx942`.
    pub gpu: String,
    /// The largest grid.
    pub limits: GridLimits,
    /// Compute units, all XCDs together.
    pub compute_units: u32,
    /// XCDs, over which the hardware distributes workgroups round-robin.
    pub xcds: u32,
    /// LDS of a compute unit, in bytes.
    pub lds_bytes: u32,
}

impl Machine {
    /// The properties that a device reports.
    pub fn of(device: &Device) -> Self {
        let properties = device.properties();
        let [x, y, z] = properties.max_grid;
        // Of RDNA, HIP counts workgroup processors, which are two compute units each.
        let gpu: Option<Gpu> = properties.gpu_name().parse().ok();
        let each = match gpu.map(Gpu::family) {
            Some(Family::Rdna) => 2,
            Some(Family::Cdna) | None => 1,
        };
        Self {
            gpu: properties.gpu_name().to_owned(),
            limits: GridLimits { x, y, z },
            compute_units: properties.compute_units.max(1).saturating_mul(each),
            xcds: device.xcds().count.clamp(1, u16::MAX.into()),
            lds_bytes: properties.lds_bytes,
        }
    }

    /// A GPU with one compute unit, to plan for without a device.
    pub fn smallest(gpu: &str) -> Self {
        Self {
            gpu: gpu.to_owned(),
            limits: GridLimits::HIP,
            compute_units: 1,
            xcds: 1,
            lds_bytes: 1 << 16,
        }
    }

    /// Workgroups of `kernel` that run at the same time. On each compute unit they are limited by the row's waves per
    /// SIMD and by LDS; at least one.
    pub fn workgroups_at_once(&self, kernel: &Kernel) -> u32 {
        // There are no kernels for a GPU without a row.
        let limits = GpuLimits::of(self.gpu.parse().unwrap_or(Gpu::Gfx942));
        let waves = kernel.block.threads().div_ceil(limits.wave_size as usize);
        let by_waves = kernel.waves_per_simd * limits.simds as usize / waves.max(1);
        let by_lds = (self.lds_bytes as usize)
            .checked_div(kernel.lds_bytes)
            .unwrap_or(usize::MAX);
        let each = u32::try_from(by_waves.min(by_lds).max(1)).unwrap_or(u32::MAX);
        self.compute_units.saturating_mul(each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_shared::{BlockShape, catalogue::NAIVE_F32};

    #[test]
    fn workgroups_at_once_are_limited_by_waves_and_by_lds() {
        let machine = Machine {
            compute_units: 10,
            ..Machine::smallest("gfx942")
        };
        let kernel = |threads, waves_per_simd, lds_bytes| Kernel {
            block: BlockShape { x: threads, y: 1 },
            waves_per_simd,
            lds_bytes,
            ..NAIVE_F32
        };
        // 4 SIMDs of 4 waves hold 4 workgroups of 4 waves.
        assert_eq!(machine.workgroups_at_once(&kernel(256, 4, 0)), 40);
        assert_eq!(machine.workgroups_at_once(&kernel(256, 4, 20_000)), 30);
        assert_eq!(machine.workgroups_at_once(&kernel(512, 2, 1 << 16)), 10);
        assert_eq!(machine.workgroups_at_once(&kernel(1024, 1, 0)), 10);
    }
}
