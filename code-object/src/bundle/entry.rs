//! What an entry of a bundle is compiled for.

use std::fmt;

use ferrowave_gpu::Gpu;

use crate::FeatureSetting;

/// What an entry is compiled for: `hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryTarget {
    /// The GPU by LLVM's name; not necessarily one of [`Gpu::ALL`].
    pub processor: String,
    /// Retry of memory accesses; [`FeatureSetting::Any`] where nothing is said.
    pub xnack: FeatureSetting,
    /// Error correction of SRAM; [`FeatureSetting::Any`] where nothing is said.
    pub sramecc: FeatureSetting,
}

impl EntryTarget {
    /// Reads an entry's name; `None` if it is no AMD GPU's.
    pub fn parse(name: &str) -> Option<Self> {
        let (kind, rest) = name.split_once('-')?;
        if !matches!(kind, "hip" | "hipv4" | "openmp") {
            return None;
        }
        // The triple has four parts, of which the last (the environment) is mostly empty.
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

    /// How well it suits a device, in the number of features that it says as they are; `None` if it does not run there.
    pub fn fit(&self, gpu: Gpu, xnack: bool, sramecc: bool) -> Option<u32> {
        let runs = self.processor == gpu.name()
            && self.xnack.allows(xnack)
            && self.sramecc.allows(sramecc);
        let says = |setting: FeatureSetting| u32::from(setting != FeatureSetting::Any);
        runs.then(|| says(self.xnack) + says(self.sramecc))
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
