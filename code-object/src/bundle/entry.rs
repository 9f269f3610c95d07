//! Targets of bundle entries.

use std::fmt;

use ferrowave_gpu::Gpu;

use crate::{FeatureSetting, GenericTarget};

/// The target of a bundle entry, parsed from a name like `hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryTarget {
    /// LLVM's name of the GPU, not necessarily one of [`Gpu::ALL`].
    pub processor: String,
    /// Retry of memory accesses; [`FeatureSetting::Any`] if the name does not say.
    pub xnack: FeatureSetting,
    /// Error correction of SRAM; [`FeatureSetting::Any`] if the name does not say.
    pub sramecc: FeatureSetting,
}

impl EntryTarget {
    /// Parses an entry's name; `None` if it does not name an AMD GPU.
    pub fn parse(name: &str) -> Option<Self> {
        let (kind, rest) = name.split_once('-')?;
        if !matches!(kind, "hip" | "hipv4" | "openmp") {
            return None;
        }
        // The triple has four parts. The last, the environment, is usually empty.
        let rest = rest.strip_prefix("amdgcn-amd-amdhsa-")?;
        let (_environment, target) = rest.split_once('-')?;
        let mut parts = target.split(':');
        let mut entry = EntryTarget {
            processor: parts.next().filter(|name| !name.is_empty())?.to_owned(),
            xnack: FeatureSetting::Any,
            sramecc: FeatureSetting::Any,
        };
        for feature in parts {
            match feature {
                "xnack+" => entry.xnack = FeatureSetting::On,
                "xnack-" => entry.xnack = FeatureSetting::Off,
                "sramecc+" => entry.sramecc = FeatureSetting::On,
                "sramecc-" => entry.sramecc = FeatureSetting::Off,
                _ => return None,
            }
        }
        Some(entry)
    }

    /// How specifically the entry matches a device: whether it is for this GPU and not for a generic target, then the number
    /// of features that it states. `None` if it does not run there.
    pub fn fit(&self, gpu: Gpu, xnack: bool, sramecc: bool) -> Option<(bool, u32)> {
        let is_own = self.processor == gpu.name();
        let is_generic = || {
            GenericTarget::ALL
                .iter()
                .any(|generic| self.processor == generic.name && generic.gpus.contains(&gpu))
        };
        let runs =
            (is_own || is_generic()) && self.xnack.allows(xnack) && self.sramecc.allows(sramecc);
        let says = |setting: FeatureSetting| u32::from(setting != FeatureSetting::Any);
        runs.then(|| (is_own, says(self.xnack) + says(self.sramecc)))
    }
}

impl fmt::Display for EntryTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, setting) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match setting {
                FeatureSetting::On => write!(f, ":{name}+")?,
                FeatureSetting::Off => write!(f, ":{name}-")?,
                FeatureSetting::Any | FeatureSetting::Unsupported => {}
            }
        }
        Ok(())
    }
}
