//! The GPUs that Linux' compute driver (KFD) lists, which any user may read, with or without ROCm.
//!
//! The driver shows a folder for each node of the machine, a CPU or a GPU; its file `properties` has a name and a decimal
//! number in each line. In Linux, `node_show` in `drivers/gpu/drm/amd/amdkfd/kfd_topology.c` writes it:
//!
//! | line | meaning |
//! |---|---|
//! | `gfx_target_version` | LLVM's target: major × 10,000 + minor × 100 + stepping (`kfd_device.c`); 0 for a CPU |
//! | `simd_count`, `simd_per_cu` | SIMDs of the device, all XCDs together, and of a compute unit |
//! | `num_xcc` | XCDs of the device, which may be a partition of a GPU; Linux 6.5 and later |
//! | `domain` | PCI domain |
//! | `location_id` | PCI bus in bits 8 to 15, device in bits 3 to 7, function in bits 0 to 2; the partition in bits 28 to 31 |
//! | `drm_render_minor` | the number of the device's file `/dev/dri/renderD…` |

use std::{format, fs, path::Path, string::String, vec::Vec};

use crate::Gpu;

/// The folder of the nodes, below the root folder.
const NODES: &str = "sys/class/kfd/kfd/topology/nodes";

/// A file that changes with the nodes, below the root folder (`sys_props.generation_count` in Linux).
pub const KFD_GENERATION: &str = "sys/class/kfd/kfd/topology/generation_id";

/// The place of a device on the PCI buses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PciPlace {
    /// Domain.
    pub domain: u32,
    /// Bus.
    pub bus: u32,
    /// Device. Its function is left out: HIP does not tell it.
    pub device: u32,
}

/// A GPU, or a partition of one, that the driver lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KfdGpu {
    /// LLVM's name of the instruction set, such as `gfx942` or `gfx1100`.
    pub target: String,
    /// Compute units, all XCDs together; 0 if the driver does not tell.
    pub compute_units: u32,
    /// XCDs, if the driver tells.
    pub xcds: Option<u32>,
    /// Its place, which all partitions of a GPU share.
    pub pci: PciPlace,
    /// The number of its file `/dev/dri/renderD…`, if it has one.
    pub render_minor: Option<u32>,
}

impl KfdGpu {
    /// The instruction set, if this project knows it.
    pub fn gpu(&self) -> Option<Gpu> {
        self.target.parse().ok()
    }

    /// All that the driver lists, in its order, which is HIP's; none if there is no driver. `root` is the root folder: `/`,
    /// or a test's.
    pub fn all(root: &Path) -> Vec<Self> {
        let Ok(folders) = fs::read_dir(root.join(NODES)) else {
            return Vec::new();
        };
        let mut nodes: Vec<(u32, KfdGpu)> = folders
            .filter_map(|folder| {
                let folder = folder.ok()?;
                let number = folder.file_name().to_str()?.parse().ok()?;
                let text = fs::read_to_string(folder.path().join("properties")).ok()?;
                Some((number, Self::parse(&text)?))
            })
            .collect();
        nodes.sort_by_key(|(number, _)| *number);
        nodes.into_iter().map(|(_, gpu)| gpu).collect()
    }

    /// A node's properties; `None` for a CPU.
    fn parse(properties: &str) -> Option<Self> {
        let property = |name: &str| {
            properties.lines().find_map(|line| {
                let (found, value) = line.trim().split_once(' ')?;
                let value = (found == name).then(|| value.trim().parse::<u32>().ok())?;
                value.filter(|&value| value != 0)
            })
        };
        let location = property("location_id").unwrap_or(0);
        Some(KfdGpu {
            target: target(property("gfx_target_version")?),
            compute_units: property("simd_count").unwrap_or(0)
                / property("simd_per_cu").unwrap_or(4),
            xcds: property("num_xcc"),
            pci: PciPlace {
                domain: property("domain").unwrap_or(0),
                bus: location >> 8 & 0xff,
                device: location >> 3 & 0x1f,
            },
            render_minor: property("drm_render_minor"),
        })
    }
}

/// The GPUs of this machine that this project knows, each once.
pub fn known_gpus(root: &Path) -> Vec<Gpu> {
    let mut gpus: Vec<_> = KfdGpu::all(root).iter().filter_map(KfdGpu::gpu).collect();
    gpus.sort_unstable();
    gpus.dedup();
    gpus
}

/// LLVM's name of a target: minor version and stepping are hexadecimal digits.
fn target(version: u32) -> String {
    let (major, minor, stepping) = (version / 10_000, version / 100 % 100, version % 100);
    format!("gfx{major}{minor:x}{stepping:x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// Versions as in Linux' `kfd_device.c`, names as in LLVM's `AMDGPUUsage`.
    #[test]
    fn versions_are_names() {
        for (version, name) in [
            (90_008, "gfx908"),
            (90_010, "gfx90a"),
            (90_402, "gfx942"),
            (90_500, "gfx950"),
            (100_306, "gfx1036"),
            (110_000, "gfx1100"),
            (120_001, "gfx1201"),
        ] {
            assert_eq!(target(version), name);
        }
    }

    fn machine(nodes: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (number, properties) in nodes {
            let folder = root.path().join(NODES).join(number);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("properties"), properties).unwrap();
        }
        root
    }

    const CPU: &str = "cpu_cores_count 96\nsimd_count 0\nlocation_id 0\ngfx_target_version 0\n";
    const RADEON: &str = "cpu_cores_count 0\nsimd_count 192\nsimd_per_cu 2\ngfx_target_version 110000\nlocation_id 768\n\
                          domain 0\ndrm_render_minor 128\nnum_xcc 1\n";
    const MI300X: &str = "cpu_cores_count 0\nsimd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nvendor_id 4098\n\
                          location_id 1280\ndomain 2\ndrm_render_minor 136\nnum_xcc 8\nunique_id 10957205436173428511\n";

    #[test]
    fn gpus_are_listed_in_the_order_of_their_numbers() {
        // Folders come in any order, and 10 follows 2.
        let root = machine(&[("10", MI300X), ("0", CPU), ("2", RADEON)]);
        let gpus = KfdGpu::all(root.path());
        let targets: Vec<_> = gpus.iter().map(|gpu| gpu.target.as_str()).collect();
        assert_eq!(targets, ["gfx1100", "gfx942"]);
        assert_eq!(
            (gpus[0].gpu(), gpus[0].compute_units),
            (Some(Gpu::Gfx1100), 96)
        );
        let place = PciPlace {
            domain: 2,
            bus: 5,
            device: 0,
        };
        assert_eq!(
            gpus[1],
            KfdGpu {
                target: "gfx942".to_string(),
                compute_units: 304,
                xcds: Some(8),
                pci: place,
                render_minor: Some(136),
            }
        );
        assert_eq!(known_gpus(root.path()), [Gpu::Gfx942, Gpu::Gfx1100]);
    }

    #[test]
    fn partitions_share_a_place() {
        let partition = |number: u32| {
            let location = number << 28 | 0x1 << 8 | 2 << 3 | 1;
            format!(
                "simd_count 152\nsimd_per_cu 4\ngfx_target_version 90402\nlocation_id {location}\nnum_xcc 1\n"
            )
        };
        let (first, second) = (partition(0), partition(7));
        let root = machine(&[("1", &first), ("2", &second)]);
        let gpus = KfdGpu::all(root.path());
        assert_eq!(gpus.len(), 2);
        assert_eq!(gpus[0].pci, gpus[1].pci);
        assert_eq!((gpus[1].pci.bus, gpus[1].pci.device), (1, 2));
        assert_eq!((gpus[1].compute_units, gpus[1].xcds), (38, Some(1)));
        assert_eq!(known_gpus(root.path()), [Gpu::Gfx942]);
    }

    #[test]
    fn other_machines_have_none() {
        let root = machine(&[("0", CPU), ("1", "no number\n"), ("x", MI300X)]);
        assert_eq!(KfdGpu::all(root.path()), []);
        assert_eq!(known_gpus(&root.path().join("nothing")), []);
        // Linux before 6.5 does not tell the XCDs.
        let old = machine(&[(
            "1",
            "gfx_target_version 90008\nsimd_count 480\nsimd_per_cu 4\n",
        )]);
        let gpus = KfdGpu::all(old.path());
        assert_eq!((gpus[0].compute_units, gpus[0].xcds), (120, None));
    }
}
