//! Sets of GPUs.

use core::fmt;

use crate::Gpu;

/// A set of GPUs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct GpuSet(u32);

impl GpuSet {
    /// No GPU.
    pub const NONE: Self = Self(0);
    /// MI100 (CDNA 1).
    pub const GFX908: Self = Self::only(Gpu::Gfx908);
    /// MI210, MI250X (CDNA 2).
    pub const GFX90A: Self = Self::only(Gpu::Gfx90a);
    /// MI300A, MI300X, MI325X (CDNA 3).
    pub const GFX942: Self = Self::only(Gpu::Gfx942);
    /// MI350X, MI355X (CDNA 4).
    pub const GFX950: Self = Self::only(Gpu::Gfx950);
    /// Radeon RX 7900, PRO W7900 (RDNA 3).
    pub const GFX1100: Self = Self::only(Gpu::Gfx1100);
    /// Radeon RX 7800 XT (RDNA 3).
    pub const GFX1101: Self = Self::only(Gpu::Gfx1101);
    /// Radeon RX 7600 (RDNA 3).
    pub const GFX1102: Self = Self::only(Gpu::Gfx1102);
    /// Radeon 890M (RDNA 3.5).
    pub const GFX1150: Self = Self::only(Gpu::Gfx1150);
    /// Radeon 8060S (RDNA 3.5).
    pub const GFX1151: Self = Self::only(Gpu::Gfx1151);
    /// Radeon RX 9060 XT (RDNA 4).
    pub const GFX1200: Self = Self::only(Gpu::Gfx1200);
    /// Radeon RX 9070 (RDNA 4).
    pub const GFX1201: Self = Self::only(Gpu::Gfx1201);

    /// One GPU.
    #[must_use]
    pub const fn only(gpu: Gpu) -> Self {
        Self(1 << gpu as u32)
    }

    /// The GPUs of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set contains the GPU that LLVM calls `name`. A device may have a name that is not in [`Gpu::ALL`].
    pub fn contains(self, name: &str) -> bool {
        self.iter().any(|gpu| gpu.name() == name)
    }

    /// Whether a GPU is in both sets.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no GPU in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, oldest first.
    pub fn iter(self) -> impl Iterator<Item = Gpu> + Clone {
        Gpu::ALL
            .into_iter()
            .filter(move |&gpu| self.intersects(Self::only(gpu)))
    }
}

impl fmt::Display for GpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no GPU");
        }
        for (position, gpu) in self.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            f.write_str(gpu.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for GpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{format, string::ToString, vec::Vec};

    #[test]
    fn each_constant_holds_the_gpu_it_is_named_for() {
        for (set, gpu) in [
            (GpuSet::GFX908, Gpu::Gfx908),
            (GpuSet::GFX90A, Gpu::Gfx90a),
            (GpuSet::GFX942, Gpu::Gfx942),
            (GpuSet::GFX950, Gpu::Gfx950),
            (GpuSet::GFX1100, Gpu::Gfx1100),
            (GpuSet::GFX1101, Gpu::Gfx1101),
            (GpuSet::GFX1102, Gpu::Gfx1102),
            (GpuSet::GFX1150, Gpu::Gfx1150),
            (GpuSet::GFX1151, Gpu::Gfx1151),
        ] {
            assert_eq!(set.iter().collect::<Vec<_>>(), [gpu]);
            assert!(set.contains(gpu.name()));
        }
    }

    #[test]
    fn a_union_holds_its_parts_and_nothing_else() {
        let set = GpuSet::GFX942.union(GpuSet::GFX908);
        assert!(set.contains("gfx942") && set.contains("gfx908"));
        assert!(!set.contains("gfx90a") && !set.contains("gfx1100") && !set.contains(""));
        assert!(set.intersects(GpuSet::GFX942) && !set.intersects(GpuSet::GFX90A));
        assert_eq!(set.to_string(), "gfx908, gfx942");
        assert_eq!(format!("{set:?}"), "{Gfx908, Gfx942}");
    }

    #[test]
    fn the_empty_set_says_so() {
        assert!(GpuSet::NONE.is_empty());
        assert_eq!(GpuSet::NONE.to_string(), "no GPU");
    }
}
