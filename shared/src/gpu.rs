//! Sets of GPUs, by LLVM's processor names.

use core::fmt;

/// The GPUs that a [`GpuSet`] can hold; the position in this list is the bit in the set.
const NAMES: [&str; 4] = ["gfx908", "gfx90a", "gfx942", "gfx950"];

/// A set of GPUs.
///
/// GPUs go by LLVM's names here, so that this crate needs no other's list of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct GpuSet(u32);

impl GpuSet {
    /// No GPU.
    pub const NONE: Self = Self(0);
    /// MI100 (CDNA 1).
    pub const GFX908: Self = Self(1 << 0);
    /// MI210, MI250X (CDNA 2).
    pub const GFX90A: Self = Self(1 << 1);
    /// MI300A, MI300X, MI325X (CDNA 3).
    pub const GFX942: Self = Self(1 << 2);
    /// MI350X, MI355X (CDNA 4).
    pub const GFX950: Self = Self(1 << 3);

    /// The GPUs of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the GPU that LLVM calls `name` is in the set. A name that this crate does not know
    /// is in no set.
    pub fn contains(self, name: &str) -> bool {
        self.names().any(|member| member == name)
    }

    /// Whether a GPU is in both sets.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no GPU in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// LLVM's names of the members, oldest GPU first.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        NAMES
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| self.0 >> bit & 1 != 0)
            .map(|(_, name)| name)
    }
}

impl fmt::Display for GpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no GPU");
        }
        for (position, name) in self.names().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

impl fmt::Debug for GpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{format, string::ToString, vec::Vec};

    #[test]
    fn each_constant_holds_the_gpu_it_is_named_for() {
        for (set, name) in [
            (GpuSet::GFX908, "gfx908"),
            (GpuSet::GFX90A, "gfx90a"),
            (GpuSet::GFX942, "gfx942"),
            (GpuSet::GFX950, "gfx950"),
        ] {
            assert_eq!(set.names().collect::<Vec<_>>(), [name]);
            assert!(set.contains(name));
        }
    }

    #[test]
    fn a_union_holds_its_parts_and_nothing_else() {
        let set = GpuSet::GFX942.union(GpuSet::GFX908);
        assert!(set.contains("gfx908") && set.contains("gfx942"));
        assert!(!set.contains("gfx90a") && !set.contains("gfx1100") && !set.contains(""));
        assert!(set.intersects(GpuSet::GFX942) && !set.intersects(GpuSet::GFX90A));
        assert_eq!(set.to_string(), "gfx908, gfx942");
        assert_eq!(format!("{set:?}"), r#"{"gfx908", "gfx942"}"#);
    }

    #[test]
    fn the_empty_set_says_so() {
        assert!(GpuSet::NONE.is_empty());
        assert_eq!(GpuSet::NONE.to_string(), "no GPU");
    }
}
